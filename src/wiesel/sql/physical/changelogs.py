"""Internal. Changes as rows, and rows as changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.core.errors import ProgramError
from wiesel.core.options import RUNTIME_MODE
from wiesel.runtime.table.changelog.conversion import ChangelogSpec
from wiesel.types.row import RowKind

if TYPE_CHECKING:
    from wiesel.graph.transformations import Transformation
    from wiesel.sql.physical.translator import Translator
    from wiesel.sql.plan.changelog_relations import FromChangelog, ToChangelog

__all__ = ["from_changelog", "to_changelog"]

_NUMBERS = {str(kind): kind.value for kind in RowKind}


def to_changelog(translator: Translator, relation: ToChangelog) -> Transformation:
    """Return each change as a new row with a code."""
    _refuse_batch(translator, "TO_CHANGELOG")
    codes = {_NUMBERS[kind]: code for kind, code in relation.codes}
    spec = ChangelogSpec(codes=codes, kinds={}, op=0, schema=translator.schema(relation))
    return translator.operator("ToChangelog", "table_to_changelog", spec, [translator.translate(relation.input)])


def from_changelog(translator: Translator, relation: FromChangelog) -> Transformation:
    """Return the changes encoded in rows."""
    _refuse_batch(translator, "FROM_CHANGELOG")
    kinds = {code: _NUMBERS[kind] for code, kind in relation.codes}
    spec = ChangelogSpec(codes={}, kinds=kinds, op=relation.op, schema=translator.schema(relation))
    return translator.operator("FromChangelog", "table_from_changelog", spec, [translator.translate(relation.input)])


def _refuse_batch(translator: Translator, name: str) -> None:
    if translator.environment._config.get(RUNTIME_MODE) == "BATCH":
        hint = "run the query in streaming mode: SET 'execution.runtime-mode' = 'streaming'"
        raise ProgramError(f"{name} runs in streaming mode only, as in Flink: in batch mode there are no changes", hint=hint)
