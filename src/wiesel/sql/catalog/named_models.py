"""Internal. The models that an environment knows, by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogModel, ObjectIdentifier
from wiesel.sql.catalog.manager import CatalogManager
from wiesel.types.logical import quoted

__all__ = ["CatalogModels"]


class CatalogModels:
    """The models of the catalogs of an environment, and its temporary ones, which hide those of catalogs that have their names."""

    def __init__(self, catalogs: CatalogManager) -> None:
        self._catalogs = catalogs

    def _kept(self, identifier: ObjectIdentifier) -> Mapping[str, CatalogModel]:
        return self._catalogs.database(identifier.catalog_name, identifier.database_name).models

    def create(self, identifier: ObjectIdentifier, model: CatalogModel, *, temporary: bool, ignore_if_exists: bool) -> None:
        """Add a model.

        Raises:
            ProgramError: If there is one of the name, no such database, or the catalog keeps no models.
        """
        own = self._catalogs.temporary_models
        if identifier in own if temporary else identifier.object_name in self._kept(identifier):
            if ignore_if_exists:
                return
            raise ProgramError(f"model {identifier.sql} already exists", hint="give the new one another name, or write IF NOT EXISTS")
        if temporary:
            own[identifier] = model
        else:
            self._catalogs.catalog(identifier.catalog_name).put_model(identifier.database_name, identifier.object_name, model)

    def find(self, path: str | tuple[str, ...]) -> tuple[ObjectIdentifier, CatalogModel, bool]:
        """Return the full name, the model, and whether it is temporary.

        Raises:
            ProgramError: If there is none; tells those there are.
        """
        identifier = self._catalogs.qualify(path)
        if identifier in self._catalogs.temporary_models:
            return identifier, self._catalogs.temporary_models[identifier], True
        model = self._kept(identifier).get(identifier.object_name)
        if model is None:
            raise ProgramError(f"model {identifier.sql} was not found", hint=self._near(identifier))
        return identifier, model, False

    def get(self, identifier: ObjectIdentifier) -> CatalogModel | None:
        """Return a model; None if there is none."""
        if identifier in self._catalogs.temporary_models:
            return self._catalogs.temporary_models[identifier]
        known = self._catalogs.catalogs.get(identifier.catalog_name)
        database = None if known is None else known.databases.get(identifier.database_name)
        return None if database is None else database.models.get(identifier.object_name)

    def drop(self, identifier: ObjectIdentifier, *, temporary: bool, if_exists: bool) -> bool:
        """Remove a model; returns whether it was there.

        Raises:
            ProgramError: If it is not there and ``if_exists`` is not set.
        """
        known = self._catalogs.temporary_models if temporary else self._kept(identifier)
        if (identifier if temporary else identifier.object_name) not in known:
            if if_exists:
                return False
            kind = "temporary model" if temporary else "model"
            raise ProgramError(f"{kind} {identifier.sql} was not found", hint=self._near(identifier))
        if temporary:
            del self._catalogs.temporary_models[identifier]
        else:
            self._catalogs.catalog(identifier.catalog_name).put_model(identifier.database_name, identifier.object_name, None)
        return True

    def replace(self, identifier: ObjectIdentifier, model: CatalogModel) -> None:
        """Set what a model of a catalog (that is there) is."""
        self._catalogs.catalog(identifier.catalog_name).put_model(identifier.database_name, identifier.object_name, model)

    def with_options(self, identifier: ObjectIdentifier, model: CatalogModel, changed: Mapping[str, str | None]) -> None:
        """Set options of a model of a catalog; those that are None are left out."""
        options = {key: value for key, value in {**model.options, **changed}.items() if value is not None}
        self.replace(identifier, replace(model, options=options))

    def rename(self, identifier: ObjectIdentifier, target: ObjectIdentifier, model: CatalogModel) -> None:
        """Give a model of a catalog another name.

        Raises:
            ProgramError: If there is one of that name.
        """
        self.create(target, model, temporary=False, ignore_if_exists=False)
        self.drop(identifier, temporary=False, if_exists=False)

    def names(self, catalog: str, database: str, *, temporary_only: bool = False) -> list[str]:
        """Return the names of the models of a database, temporary ones among them, in order."""
        hiding = {
            identifier.object_name
            for identifier in self._catalogs.temporary_models
            if (identifier.catalog_name, identifier.database_name) == (catalog, database)
        }
        return sorted(hiding if temporary_only else {*hiding, *self._catalogs.database(catalog, database).models})

    def _near(self, identifier: ObjectIdentifier) -> str:
        known = self.names(identifier.catalog_name, identifier.database_name)
        near = difflib.get_close_matches(identifier.object_name, known, n=1)
        return f"did you mean {quoted(near[0])}?" if near else "SHOW MODELS tells those that there are"
