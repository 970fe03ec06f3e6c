"""What catalogs refuse, by the names of ``pyflink.util.exceptions``. Catalogs of users raise these, too."""

# ruff: noqa: N818 - the names are PyFlink's

from __future__ import annotations

from wiesel.core.errors import ProgramError

__all__ = [
    "CatalogException",
    "DatabaseAlreadyExistException",
    "DatabaseNotEmptyException",
    "DatabaseNotExistException",
    "FunctionAlreadyExistException",
    "FunctionNotExistException",
    "ModelAlreadyExistException",
    "ModelNotExistException",
    "PartitionAlreadyExistsException",
    "PartitionNotExistException",
    "PartitionSpecInvalidException",
    "TableAlreadyExistException",
    "TableException",
    "TableNotExistException",
    "TableNotPartitionedException",
]

# PyFlink's name for the errors of tables and statements in general.
TableException = ProgramError


class CatalogException(ProgramError):
    """A catalog cannot do what is asked for, or is not there."""


class DatabaseAlreadyExistException(ProgramError):
    """There is a database of the name already."""


class DatabaseNotEmptyException(ProgramError):
    """A database that is to be dropped has tables, views, functions or models."""


class DatabaseNotExistException(ProgramError):
    """There is no database of the name."""


class FunctionAlreadyExistException(ProgramError):
    """There is a function of the name already."""


class FunctionNotExistException(ProgramError):
    """There is no function of the name."""


class ModelAlreadyExistException(ProgramError):
    """There is a model of the name already."""


class ModelNotExistException(ProgramError):
    """There is no model of the name."""


class PartitionAlreadyExistsException(ProgramError):
    """There is a partition of these values already."""


class PartitionNotExistException(ProgramError):
    """There is no partition of these values, or no table with such partitions."""


class PartitionSpecInvalidException(ProgramError):
    """A partition is told by other columns than the table is partitioned by."""


class TableAlreadyExistException(ProgramError):
    """There is a table or view of the name already."""


class TableNotExistException(ProgramError):
    """There is no table or view of the name."""


class TableNotPartitionedException(ProgramError):
    """The table has no partitions."""
