"""Errors of catalogs, with the names of ``pyflink.util.exceptions``. User-defined catalogs raise them, too."""

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
    """A catalog does not support an operation, or does not exist."""


class DatabaseAlreadyExistException(ProgramError):
    """A database of this name exists already."""


class DatabaseNotEmptyException(ProgramError):
    """A database to be dropped has tables, views, functions or models."""


class DatabaseNotExistException(ProgramError):
    """No database has this name."""


class FunctionAlreadyExistException(ProgramError):
    """A function of this name exists already."""


class FunctionNotExistException(ProgramError):
    """No function has this name."""


class ModelAlreadyExistException(ProgramError):
    """A model of this name exists already."""


class ModelNotExistException(ProgramError):
    """No model has this name."""


class PartitionAlreadyExistsException(ProgramError):
    """A partition with these values exists already."""


class PartitionNotExistException(ProgramError):
    """No partition has these values, or the table has no such partitions."""


class PartitionSpecInvalidException(ProgramError):
    """A partition is specified by other columns than the partition columns."""


class TableAlreadyExistException(ProgramError):
    """A table or view of this name exists already."""


class TableNotExistException(ProgramError):
    """No table or view has this name."""


class TableNotPartitionedException(ProgramError):
    """The table has no partitions."""
