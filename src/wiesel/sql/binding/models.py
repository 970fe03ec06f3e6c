"""Internal. ML_PREDICT: rows with what a model returns for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import InputRef
from wiesel.columnar.functions.registry import cast
from wiesel.columnar.functions.user_functions import user_call
from wiesel.spi.table.catalog import CatalogModel
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.binding.selection import unique_names
from wiesel.sql.binding.table_arguments import map_of_strings, named_arguments, table_argument
from wiesel.sql.catalog.models import prediction
from wiesel.sql.dml.sink_types import is_writable
from wiesel.sql.language import nodes
from wiesel.sql.plan.lateral_relations import Unnest
from wiesel.sql.plan.relations import Field, Relation
from wiesel.types.logical import quoted

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["ML_PREDICT", "ml_predict"]

ML_PREDICT = "ML_PREDICT"
_ARGUMENTS = ("INPUT", "MODEL", "ARGS", "[CONFIG]")
_HOW = "ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(a, b))"


def ml_predict(queries: QueryBinder, node: exp.Expr) -> Relation:
    """Return the plan of ``ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(a))``: the columns of the table, then those that the model returns.

    Raises:
        SqlParseError: If it cannot be called like that; if the columns are not those that the model is asked with.
    """
    given = named_arguments(queries.sql, node, ML_PREDICT, _ARGUMENTS, f"write {_HOW}")
    data, descriptor = given["INPUT"], given["ARGS"]
    if not isinstance(given["MODEL"], nodes.ModelArgument):
        raise problem(queries.sql, given["MODEL"], "the second argument of ML_PREDICT is a model", f"write {_HOW}")
    if not isinstance(data, nodes.TableArgument) or not isinstance(descriptor, nodes.Descriptor):
        raise problem(queries.sql, node, "ML_PREDICT takes a table, a model and a descriptor", f"write {_HOW}")
    relation = table_argument(queries, data)
    identifier, model = queries.model(given["MODEL"].this)
    operands = _operands(queries, relation, model, descriptor)
    with at(queries.sql, node):
        call = user_call(prediction(identifier, model, map_of_strings(queries, given.get("CONFIG"), "CONFIG")), operands)
    outputs = [Field(field.name, field.data_type) for field in model.outputs.physical_row_type]
    both = (*relation.fields, *outputs)
    labels = unique_names([field.name for field in both])
    columns = tuple(Field(label, field.data_type, field.time) for label, field in zip(labels, both, strict=True))
    return Unnest(relation, call, False, False, columns)


def _operands(queries: QueryBinder, relation: Relation, model: CatalogModel, descriptor: nodes.Descriptor) -> list[Any]:
    inputs = list(model.inputs.physical_row_type)
    names = descriptor.expressions
    if len(names) != len(inputs):
        message = f"the descriptor names {len(names)} columns, but the model is asked with {len(inputs)}"
        raise problem(queries.sql, descriptor, message, f"name a column for each of {', '.join(quoted(field.name) for field in inputs)}")
    scope = Scope([Source(None, relation.fields, 0)])
    found = []
    for name, field in zip(names, inputs, strict=True):
        with at(queries.sql, name):
            column = scope.resolve(name.name)
        assert isinstance(column, InputRef)  # noqa: S101 - there is nothing else in the scope
        if not is_writable(column.data_type, field.data_type):
            own, wanted = column.data_type.as_summary_string(), field.data_type.as_summary_string()
            message = f"column {quoted(name.name)} is {own}, but the model is asked with {wanted} for {quoted(field.name)}"
            raise problem(queries.sql, name, message, "cast it in a query: ML_PREDICT(TABLE (SELECT ...), ...)")
        found.append(cast(column, field.data_type))
    return found
