"""Internal. Named objects of an environment: catalogs, databases, modules, models and functions."""

from __future__ import annotations

from typing import Any

from wiesel.core.argument_checks import require_built, require_instance
from wiesel.core.errors import ProgramError
from wiesel.core.user_location import AtUsersLine
from wiesel.sql.catalog.manager import CatalogManager
from wiesel.sql.catalog.named_models import CatalogModels
from wiesel.sql.ddl.information import named_functions
from wiesel.table.catalog import Catalog, CatalogDescriptor
from wiesel.table.catalogs.functions import function_of
from wiesel.table.catalogs.stored_catalog import KeptCatalog
from wiesel.table.catalogs.user_catalog import UserCatalog
from wiesel.table.model_descriptor import ModelDescriptor
from wiesel.table.module import Module, ModuleEntry

__all__ = ["NamesOfEnvironment"]


class NamesOfEnvironment:
    """The methods of an environment that list, add and remove what has a name."""

    _catalogs: CatalogManager

    # Catalogs, databases and tables

    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor) -> None:
        """Add a catalog.

        Args:
            catalog_name: Its name.
            catalog_descriptor: Its options, ``type`` among them.

        Raises:
            ProgramError: If there is one of the name, or the options name no type that there is.
        """
        hint = "give CatalogDescriptor.of(name, Configuration())"
        require_instance(catalog_descriptor, CatalogDescriptor, "what describes a catalog", hint)
        with AtUsersLine():
            options, comment = catalog_descriptor._options, catalog_descriptor._comment
            self._catalogs.create_catalog(catalog_name, options, comment, ignore_if_exists=False)

    def register_catalog(self, catalog_name: str, catalog: Catalog) -> None:
        """Add a catalog: one of the user's own, or one that :meth:`get_catalog` returned, under another name. No catalog store keeps it.

        Args:
            catalog_name: Its name.
            catalog: The catalog.

        Raises:
            CatalogException: If there is one of the name.
        """
        require_instance(catalog, Catalog, "a catalog", "give an object of a subclass of wiesel.table.catalog.Catalog")
        with AtUsersLine():
            if isinstance(catalog, KeptCatalog):
                self._catalogs.add_catalog(catalog_name, catalog._catalog)
                return
            added = UserCatalog(catalog_name, catalog)
            self._catalogs.add_catalog(catalog_name, added)
            added.open()

    def get_catalog(self, catalog_name: str) -> Catalog | None:
        """Return a catalog, whose databases, tables, functions and models can be told and changed; None if there is none of the name."""
        with AtUsersLine():
            if not self._catalogs.has_catalog(catalog_name):
                return None
            found = self._catalogs.catalog(catalog_name)
            return found.catalog if isinstance(found, UserCatalog) else KeptCatalog(catalog_name, found)

    def list_catalogs(self) -> list[str]:
        """Return the names of all catalogs, in order."""
        return sorted(self._catalogs.catalogs)

    def list_databases(self) -> list[str]:
        """Return the names of the databases of the current catalog, in order."""
        return sorted(self._catalogs.catalog(self._catalogs.current[0]).databases)

    def list_tables(self) -> list[str]:
        """Return the names of all tables and views of the current database, in order."""
        return self._catalogs.table_names()

    def list_views(self) -> list[str]:
        """Return the names of all views of the current database, in order."""
        return self._catalogs.names(*self._catalogs.current, views_only=True)

    def list_materialized_tables(self) -> list[str]:
        """Return the names of all materialized tables of the current database: there are none."""
        return []

    def list_temporary_tables(self) -> list[str]:
        """Return the names of the temporary tables and views of the current database, in order."""
        return self._catalogs.names(*self._catalogs.current, temporary_only=True)

    def list_temporary_views(self) -> list[str]:
        """Return the names of the temporary views of the current database, in order."""
        return self._catalogs.names(*self._catalogs.current, temporary_only=True, views_only=True)

    def list_modules(self) -> list[str]:
        """Return the names of the modules in use."""
        return self._catalogs.modules.used()

    def list_full_modules(self) -> list[ModuleEntry]:
        """Return all modules that are loaded, those in use first."""
        return [ModuleEntry(name, used) for name, used in self._catalogs.modules.all()]

    def load_module(self, module_name: str, module: Module) -> None:
        """Load a module and use it, behind the others.

        Args:
            module_name: Its name, which is ``core`` or ``hive``.
            module: What it is, such as ``HiveModule()``.

        Raises:
            ProgramError: If it is loaded already, or has another name.
        """
        require_instance(module, Module, "a module", "give HiveModule()")
        with AtUsersLine():
            if module_name != module._kind:
                raise ProgramError(f"the module has the name {module._kind!r}, not {module_name!r}", hint="load it by its name")
            self._catalogs.modules.load(module_name, module._options)

    def unload_module(self, module_name: str) -> None:
        """Take a module away.

        Raises:
            ProgramError: If it is not loaded.
        """
        with AtUsersLine():
            self._catalogs.modules.unload(module_name)

    def use_modules(self, *module_names: str) -> None:
        """Use these modules, in this order, and no others.

        Raises:
            ProgramError: If one of them is not loaded or named twice.
        """
        with AtUsersLine():
            self._catalogs.modules.use(module_names)

    # Models

    def create_model(self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool | None = False) -> None:
        """Put a model into a catalog, for ``ML_PREDICT``.

        Args:
            model_path: The path.
            model_descriptor: Describes the model.
            ignore_if_exists: Do nothing if there is a model of this path, instead of raising an error.

        Raises:
            ProgramError: If the model exists, has inputs without outputs, or the catalog keeps no models.
        """
        self._create_model("create_model()", model_path, model_descriptor, temporary=False, ignore_if_exists=bool(ignore_if_exists))

    def create_temporary_model(self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool | None = False) -> None:
        """Create a model known under a path, as long as the environment lives.

        Args:
            model_path: The path.
            model_descriptor: Describes the model.
            ignore_if_exists: Do nothing if there is a temporary model of this path, instead of raising an error.

        Raises:
            ProgramError: If the model exists, or has inputs without outputs.
        """
        method = "create_temporary_model()"
        self._create_model(method, model_path, model_descriptor, temporary=True, ignore_if_exists=bool(ignore_if_exists))

    def _create_model(self, method: str, path: str, descriptor: ModelDescriptor, *, temporary: bool, ignore_if_exists: bool) -> None:
        require_built(descriptor, ModelDescriptor, method)
        with AtUsersLine():
            model, identifier = descriptor._to_catalog_model(), self._catalogs.qualify(path)
            CatalogModels(self._catalogs).create(identifier, model, temporary=temporary, ignore_if_exists=ignore_if_exists)

    def drop_model(self, model_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a model from its catalog; returns whether there was one."""
        with AtUsersLine():
            identifier = self._catalogs.qualify(model_path)
            return CatalogModels(self._catalogs).drop(identifier, temporary=False, if_exists=bool(ignore_if_not_exists))

    def drop_temporary_model(self, model_path: str) -> bool:
        """Forget a temporary model; returns whether there was one."""
        with AtUsersLine():
            return CatalogModels(self._catalogs).drop(self._catalogs.qualify(model_path), temporary=True, if_exists=True)

    def list_models(self) -> list[str]:
        """Return the names of all models of the current database, in order."""
        return CatalogModels(self._catalogs).names(*self._catalogs.current)

    def list_temporary_models(self) -> list[str]:
        """Return the names of the temporary models of the current database, in order."""
        return CatalogModels(self._catalogs).names(*self._catalogs.current, temporary_only=True)

    # Functions

    def create_temporary_system_function(self, name: str, function: Any) -> None:
        """Create a function known by a name everywhere; it comes before one of Flink's with that name.

        Args:
            name: Its name; capitals and small letters are the same.
            function: What :func:`~wiesel.table.udf.udf` returned.

        Raises:
            ProgramError: If there is one already, or it is no such function.
        """
        with AtUsersLine():
            self._catalogs.functions.create_of_system(name, function_of(function))

    def create_temporary_function(self, path: str, function: Any) -> None:
        """Create a function known in a database.

        Args:
            path: Its name, maybe with catalog and database.
            function: What :func:`~wiesel.table.udf.udf` returned.

        Raises:
            ProgramError: If there is one already, or it is no such function.
        """
        with AtUsersLine():
            self._catalogs.functions.create(self._catalogs.qualify(path), function_of(function))

    def drop_temporary_system_function(self, name: str) -> bool:
        """Forget a temporary function of the system; returns whether there was one."""
        return self._catalogs.functions.drop_of_system(name, if_exists=True)

    def drop_temporary_function(self, path: str) -> bool:
        """Forget a temporary function of a database; returns whether there was one."""
        with AtUsersLine():
            return self._catalogs.functions.drop(self._catalogs.qualify(path), if_exists=True)

    def drop_function(self, path: str) -> bool:
        """Remove a function from its catalog; returns whether there was one."""
        with AtUsersLine():
            return self._catalogs.forget_function(self._catalogs.qualify(path))

    def list_user_defined_functions(self) -> list[str]:
        """Return the names of the functions that users have named, in order."""
        return self._catalogs.function_names()

    def list_functions(self) -> list[str]:
        """Return the names of all functions, in order."""
        return named_functions(self._catalogs)

    def get_current_catalog(self) -> str:
        """Return the name of the current catalog."""
        return self._catalogs.current[0]

    def use_catalog(self, catalog_name: str) -> None:
        """Create a catalog the current one, and its default database."""
        with AtUsersLine():
            self._catalogs.use_catalog(catalog_name)

    def get_current_database(self) -> str:
        """Return the name of the current database."""
        return self._catalogs.current[1]

    def use_database(self, database_name: str) -> None:
        """Create a database of the current catalog the current one."""
        with AtUsersLine():
            self._catalogs.use_database(self._catalogs.current[0], database_name)
