"""Internal. Compiled plans: the plan of inserts as a text that other sessions, and later versions, run as it is.

Nothing is planned anew when it runs, so operators keep their uids, and a savepoint fits, whatever the optimiser does by then. Tables are
looked up again by their names, as in Flink: those that a catalog has must have the columns of the plan, and of their options those that are
no part of what the plan is (``forward_options`` of a connector) are taken from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from wiesel import __version__
from wiesel.columnar.functions.user_functions import UserFunction
from wiesel.core.config import Configuration
from wiesel.core.errors import ProgramError
from wiesel.runtime.table.process.spec import UserProcessFunction
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.sql.binding.set_operations import REPLICAS
from wiesel.sql.catalog.documents import model_of, text_of_model
from wiesel.sql.catalog.manager import CatalogManager
from wiesel.sql.catalog.models import Asked, prediction
from wiesel.sql.catalog.named_models import CatalogModels
from wiesel.sql.catalog.table_factories import forwarded_options, with_metadata
from wiesel.sql.catalog.user_functions import UserTableFunction
from wiesel.sql.dml.insert import Insertion
from wiesel.sql.plan.documents import PlanReader, PlanWriter, table_document, table_of_document

__all__ = ["FORCE_RECOMPILE", "PlanParts", "changed_settings", "plan_parts", "plan_text"]

_VERSION = 1
FORCE_RECOMPILE = "table.plan.force-recompile"
"""Let COMPILE PLAN overwrite an existing file."""

_COMPILE_OBJECTS = "table.plan.compile.catalog-objects"
_RESTORE_OBJECTS = "table.plan.restore.catalog-objects"
_KEPT = (
    "table.exec.sink.keyed-shuffle",
    "table.exec.sink.nested-constraint-enforcer",
    "table.exec.sink.not-null-enforcer",
    "table.exec.sink.require-on-conflict",
    "table.exec.sink.type-length-enforcer",
    "table.exec.sink.upsert-materialize",
    "table.exec.state.ttl",
)
"""Options that make another job of the same plan; those of the session in which it was compiled count."""

_IN_PROGRAM = "$internal"


@dataclass(frozen=True)
class PlanParts:
    """The contents of a compiled plan.

    Attributes:
        insertions: What is written, by plans that are optimised.
        options: The options of the session in which it was compiled, None for those that were not set.
        mode: ``STREAMING`` or ``BATCH``.
        version: The version of Wiesel that compiled it.
    """

    insertions: tuple[Insertion, ...]
    options: Mapping[str, str | None]
    mode: str
    version: str


def plan_text(insertions: Sequence[Insertion], catalogs: CatalogManager, options: Configuration, mode: str) -> str:
    """Return the plan of inserts, whose relations are optimised, as JSON.

    Raises:
        ProgramError: If a part of it lives in the program alone: a stream, rows, or a function without a name.
    """
    kept = options.get_string(_COMPILE_OBJECTS, "ALL").upper()

    def written(identifier: ObjectIdentifier, table: CatalogTable) -> dict[str, Any]:
        document = table_document(identifier, table)
        if kept == "IDENTIFIER" or identifier in catalogs.temporary:
            del document["resolved"]
        elif kept == "SCHEMA":
            document["resolved"] |= {"options": {}}
        return document

    writer = PlanWriter(lambda function: _name_of(function, catalogs, kept), written)
    sinks = [
        {
            "table": written(insertion.identifier, insertion.table),
            "input": writer.number(insertion.relation),
            "overwrite": insertion.overwrite,
            "conflict": insertion.conflict,
        }
        for insertion in insertions
    ]
    session = {key: options.get_string(key, "") if options.contains_key(key) else None for key in _KEPT}
    document = {
        "planVersion": _VERSION,
        "wieselVersion": __version__,
        "mode": mode,
        "options": session,
        "nodes": writer.nodes,
        "sinks": sinks,
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def plan_parts(text: str, catalogs: CatalogManager, options: Configuration) -> PlanParts:
    """Return what a text of :func:`plan_text` says, with tables and functions as they are now.

    Raises:
        ProgramError: If it is no such text, or one of a later version; if a table or function is not there any more, or has other columns.
    """
    document = _document(text)
    restore = options.get_string(_RESTORE_OBJECTS, "ALL").upper()
    restored = _restorer(catalogs, restore)
    try:
        reader = PlanReader(document["nodes"], restored, lambda name: _function_of(name, catalogs, restore))
        insertions = []
        for sink in document["sinks"]:
            identifier, table = restored(sink["table"])
            insertions.append(Insertion(identifier, table, reader.relation(sink["input"]), sink["overwrite"], sink["conflict"]))
        return PlanParts(tuple(insertions), document["options"], document["mode"], document["wieselVersion"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ProgramError(f"the plan cannot be read: {error!r}", hint="compile it anew: COMPILE PLAN ... FOR ...") from error


def _document(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ProgramError(f"this is no compiled plan: {error}", hint="name a file that COMPILE PLAN wrote") from error
    if isinstance(document, dict) and "flinkVersion" in document:
        raise ProgramError("this is a compiled plan of Flink", hint="compile the statement here: COMPILE PLAN ... FOR ...")
    if not isinstance(document, dict) or not isinstance(document.get("planVersion"), int):
        raise ProgramError("this is no compiled plan", hint="name a file that COMPILE PLAN wrote")
    if document["planVersion"] > _VERSION:
        found = document.get("wieselVersion", "a later version")
        raise ProgramError(f"the plan was compiled by Wiesel {found}, whose plans this version cannot read", hint="use that version")
    return document


@contextmanager
def changed_settings(options: Configuration, changed: Mapping[str, str | None]) -> Iterator[None]:
    """Let these options count in place of those of the session; None for the default."""
    before = {key: options.get_string(key, "") if options.contains_key(key) else None for key in changed}
    _set_all(options, changed)
    try:
        yield
    finally:
        _set_all(options, before)


def _set_all(options: Configuration, values: Mapping[str, str | None]) -> None:
    for key, value in values.items():
        options.remove_config(key)
        if value is not None:
            options.set(key, value)


# Tables


def _restorer(catalogs: CatalogManager, restore: str) -> Callable[[Mapping[str, Any]], tuple[ObjectIdentifier, CatalogTable]]:
    def restored(document: Mapping[str, Any]) -> tuple[ObjectIdentifier, CatalogTable]:
        identifier = ObjectIdentifier(*document["identifier"])
        kept = table_of_document(document)[1] if "resolved" in document else None
        found = catalogs.get(identifier)
        known = found[0] if found is not None and isinstance(found[0], CatalogTable) else None
        if known is not None and document["metadata"]:
            known = with_metadata(identifier, known)
        if kept is not None and known is not None and kept.schema != known.schema:
            raise ProgramError(
                f"the columns of table {identifier.sql} are not those of the plan\n  plan: {kept.schema}\n  catalog: {known.schema}",
                hint="compile the plan anew, or make the table as it was",
            )
        if kept is None or (restore == "IDENTIFIER" and known is None):
            return identifier, _looked_up(identifier, known, restore)
        if known is None or restore == "ALL_ENFORCED":
            return identifier, kept
        options = _options(kept, known, restore, temporary=bool(found and found[1]))
        return identifier, replace(kept, options=options, made_at=known.made_at)

    return restored


def _looked_up(identifier: ObjectIdentifier, known: CatalogTable | None, restore: str) -> CatalogTable:
    """Return a table of which the plan has the name only."""
    if restore == "ALL_ENFORCED":
        hint = f"compile the plan with '{_COMPILE_OBJECTS}' = 'ALL', or set '{_RESTORE_OBJECTS}' to 'ALL'"
        raise ProgramError(f"the plan does not say what table {identifier.sql} is", hint=hint)
    if known is None:
        hint = f"make the table again, or compile the plan with '{_COMPILE_OBJECTS}' = 'ALL' and tables that are not temporary"
        raise ProgramError(f"table {identifier.sql} of the plan was not found", hint=hint)
    return known


def _options(kept: CatalogTable, known: CatalogTable, restore: str, *, temporary: bool) -> Mapping[str, str]:
    """Return the options by which a table of a plan and of a catalog is read or written."""
    if restore == "IDENTIFIER" or not kept.options:
        return known.options
    if temporary:
        return kept.options
    return {**kept.options, **{key: known.options[key] for key in forwarded_options(kept) if key in known.options}}


# Functions


def _name_of(function: Any, catalogs: CatalogManager, kept: str) -> list[str] | dict[str, Any] | None:
    """Return the database and name by which a function is called, and which part of it the plan calls; of one that asks a model, that."""
    if function is REPLICAS:
        return [_IN_PROGRAM, "", "", ""]
    if not isinstance(function, UserFunction | UserProcessFunction) and not getattr(function, "is_aggregate", False):
        return None
    if isinstance(function, UserFunction) and isinstance(function.origin, Asked):
        return _model_document(function.origin, catalogs, kept)
    visible = catalogs.visible_functions(*catalogs.current)
    for name in visible:
        try:
            known = visible[name]
        except ProgramError:
            continue  # one whose code is not there is not the one that is called
        if known is function:
            return [*catalogs.current, name, ""]
        if isinstance(known, UserTableFunction) and known.listing is function:
            return [*catalogs.current, name, "listing"]
    return None


def _function_of(name: Sequence[str] | Mapping[str, Any], catalogs: CatalogManager, restore: str) -> Any:
    if isinstance(name, Mapping):
        return _prediction_of(name, catalogs, restore)
    catalog, database, called, part = name
    if catalog == _IN_PROGRAM:
        return REPLICAS
    found = catalogs.visible_functions(catalog, database).get(called)
    if found is None:
        hint = "create it before the plan runs: CREATE FUNCTION, or create_temporary_system_function()"
        raise ProgramError(f"the function {called.lower()!r} of the plan was not found", hint=hint)
    return getattr(found, part) if part else found


# Models


def _model_document(asked: Asked, catalogs: CatalogManager, kept: str) -> dict[str, Any]:
    """Return what a plan knows of a model: all but its options, or its name only, if the option says so or it is temporary."""
    identifier = asked.identifier
    names = [identifier.catalog_name, identifier.database_name, identifier.object_name]
    document: dict[str, Any] = {"model": names, "config": dict(asked.config)}
    if kept != "IDENTIFIER" and identifier not in catalogs.temporary_models:
        model = replace(asked.model, options={}) if kept == "SCHEMA" else asked.model
        document["resolved"] = json.loads(text_of_model(model))
    return document


def _prediction_of(document: Mapping[str, Any], catalogs: CatalogManager, restore: str) -> UserFunction:
    """Return the function that asks a model of a plan, which is found as tables are."""
    identifier = ObjectIdentifier(*document["model"])
    kept = model_of(json.dumps(document["resolved"])) if "resolved" in document else None
    known = CatalogModels(catalogs).get(identifier)
    if kept is not None and known is not None and (kept.inputs, kept.outputs) != (known.inputs, known.outputs):
        hint = "compile the plan anew, or make the model as it was"
        raise ProgramError(f"the inputs and outputs of model {identifier.sql} are not those of the plan", hint=hint)
    if restore == "IDENTIFIER":
        model = known
    elif known is None or restore == "ALL_ENFORCED":
        model = kept
    else:
        model = kept if kept is not None and kept.options else known
    if model is None:
        hint = f"make the model again, or compile the plan with '{_COMPILE_OBJECTS}' = 'ALL' and models that are not temporary"
        raise ProgramError(f"model {identifier.sql} of the plan was not found", hint=hint)
    return prediction(identifier, model, document["config"])
