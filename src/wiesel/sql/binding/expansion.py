"""Internal. The expanded text of a view's query, as Flink writes it: with full names, backquotes and named columns.

The text is that of Calcite's unparser over a validated query: ``*`` is expanded, columns are qualified by their table, tables have their
full names, and parentheses are only those that precedence needs. A query with parts that are not known here has no expanded text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlglot import exp

from wiesel.sql.language import nodes
from wiesel.sql.plan.window_relations import WINDOW_COLUMNS
from wiesel.types import logical as t
from wiesel.types.logical import quoted

__all__ = ["Names", "expanded"]

_OR, _AND, _NOT, _IS, _COMPARISON, _LIKE, _ADDITIVE, _MULTIPLICATIVE, _PREFIX, _ATOM = 22, 24, 26, 28, 30, 32, 40, 60, 80, 100
_UNION, _INTERSECT, _QUERY = 12, 18, 5

_BINARY: dict[type[exp.Expr], tuple[str, int]] = {
    exp.Or: ("OR", _OR),
    exp.And: ("AND", _AND),
    exp.EQ: ("=", _COMPARISON),
    exp.NEQ: ("<>", _COMPARISON),
    exp.LT: ("<", _COMPARISON),
    exp.LTE: ("<=", _COMPARISON),
    exp.GT: (">", _COMPARISON),
    exp.GTE: (">=", _COMPARISON),
    exp.NullSafeNEQ: ("IS DISTINCT FROM", _COMPARISON),
    exp.NullSafeEQ: ("IS NOT DISTINCT FROM", _COMPARISON),
    exp.Add: ("+", _ADDITIVE),
    exp.Sub: ("-", _ADDITIVE),
    exp.Mul: ("*", _MULTIPLICATIVE),
    exp.Div: ("/", _MULTIPLICATIVE),
    exp.Mod: ("%", _MULTIPLICATIVE),
    exp.DPipe: ("||", _MULTIPLICATIVE),
}
_SAME_TYPES = {"INT": "INTEGER", "DEC": "DECIMAL", "NUMERIC": "DECIMAL"}
_CLOCKS = frozenset("CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP".split())
_OPERATORS = frozenset(
    """
    ABS ACOS APPROX_COUNT_DISTINCT ARRAY_AGG ASCII ASIN ATAN ATAN2 AVG BIN CARDINALITY CEIL CHARACTER_LENGTH CHAR_LENGTH CHR
    COALESCE COLLECT CONCAT CONCAT_WS CONVERT_TZ COS COSH COT COUNT CUME_DIST CURRENT_DATABASE CURRENT_ROW_TIMESTAMP DATE_FORMAT
    DECODE DEGREES DENSE_RANK E ELEMENT ENCODE EXP FIRST_VALUE FLOOR FROM_BASE64 FROM_UNIXTIME GROUPING GROUPING_ID GROUP_ID
    HASH_CODE HEX HOP HOP_END HOP_PROCTIME HOP_ROWTIME HOP_START IF INITCAP INSTR IS_ALPHA IS_DECIMAL IS_DIGIT LAG LAST_VALUE LEAD
    LEFT LISTAGG LN LOCATE LOG LOG10 LOG2 LOWER LPAD LTRIM MAX MD5 MIN MOD NOW NTILE PARSE_URL PERCENT_RANK PI POWER PRINT
    PROCTIME RADIANS RAND RAND_INTEGER RANK REGEXP REGEXP_EXTRACT REGEXP_REPLACE REPEAT REPLACE REVERSE RIGHT ROUND ROW ROW_NUMBER
    RPAD RTRIM SESSION SESSION_END SESSION_PROCTIME SESSION_ROWTIME SESSION_START SHA1 SHA2 SHA224 SHA256 SHA384 SHA512 SIGN SIN
    SINGLE_VALUE SINH SPLIT_INDEX SQRT STDDEV STDDEV_POP STDDEV_SAMP STR_TO_MAP SUBSTR SUBSTRING SUM TAN TANH TO_BASE64 TO_DATE
    TO_TIMESTAMP TRUNCATE TRY_PARSE_JSON TUMBLE TUMBLE_END TUMBLE_PROCTIME TUMBLE_ROWTIME TUMBLE_START UNIX_TIMESTAMP UPPER UUID
    VARIANCE VAR_POP VAR_SAMP
    """.split()
)
"""Functions of Calcite's tables of operators; Flink writes the names of others in backquotes."""
_NULLS = {
    "JSON_OBJECT": "NULL ON NULL",
    "JSON_OBJECTAGG": "NULL ON NULL",
    "JSON_ARRAY": "ABSENT ON NULL",
    "JSON_ARRAYAGG": "ABSENT ON NULL",
}
"""Default null treatment of the call."""
_GROUP_WINDOWS = frozenset(["TUMBLE", "HOP", "SESSION"])
_SET_OPERATIONS: dict[type[exp.Expr], tuple[str, int]] = {
    exp.Union: ("UNION", _UNION),
    exp.Except: ("EXCEPT", _UNION),
    exp.Intersect: ("INTERSECT", _INTERSECT),
}
_PARTS = {"YEAR", "QUARTER", "MONTH", "WEEK", "HOUR", "MINUTE", "SECOND", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK"}


class Names(Protocol):
    """Lookup of full names and columns of tables and views, and of user functions."""

    @property
    def user_functions(self) -> Mapping[str, Any]:
        """Functions of users, by what they are called in capitals."""
        ...

    def columns_of(self, path: tuple[str, ...]) -> tuple[str, list[str]]:
        """Return the full name of a table or view with backquotes, and the names of its columns."""
        ...


class _UnknownPartError(Exception):
    """A query has a part that cannot be expanded."""


@dataclass
class _Source:
    """A table of FROM."""

    alias: str
    columns: list[str]


@dataclass
class _Scope:
    """The names that can be read in a SELECT.

    Attributes:
        sources: The tables of FROM.
        outer: The names of the query around it.
        shared: Columns that USING compares: each with the tables that have it.
    """

    outer: _Scope | None
    sources: list[_Source] = field(default_factory=list)
    shared: dict[str, list[str]] = field(default_factory=dict)

    def column(self, name: str) -> str | None:
        """Return a column with its table; None if there is none."""
        found = [source for source in self.sources if name in source.columns]
        if name in self.shared:
            return f"COALESCE({', '.join(f'{quoted(alias)}.{quoted(name)}' for alias in self.shared[name])})"
        if found:
            return f"{quoted(found[0].alias)}.{quoted(name)}"
        return self.outer.column(name) if self.outer is not None else None

    def has_source(self, alias: str) -> bool:
        """Return whether there is a table of a name."""
        return any(source.alias == alias for source in self.sources) or (self.outer is not None and self.outer.has_source(alias))


def expanded(query: exp.Expr, names: Names) -> str | None:
    """Return the expanded text of a query that was bound; None if it has a part that cannot be expanded, such as a user's function."""
    try:
        return _Expander(names).query(query, None)[0]
    except _UnknownPartError:
        return None


class _Expander:
    """Writes one query."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._named: dict[str, list[str]] = {}
        self._unnamed = 0

    # Queries

    def query(self, node: exp.Expr, outer: _Scope | None, above: int = 0, *, right: bool = False) -> tuple[str, list[str]]:
        """Return the text of a query and the names of its columns.

        Args:
            node: The query.
            outer: The names of the query around it.
            above: The precedence of the set operation that it is a side of; 0 if it is none.
            right: Whether it is the right side.
        """
        while isinstance(node, exp.Subquery) and not node.args.get("alias") and not _is_ordered(node):
            node = node.this
        named = dict(self._named)
        with_text = self._with(node, outer)
        if isinstance(node, exp.Values) or (isinstance(node, exp.Select) and _is_values(node)):
            text, names = self._values(node if isinstance(node, exp.Values) else node.args["from_"].this)
        elif type(node) in _SET_OPERATIONS:
            text, names = self._set_operation(node, outer)
        elif isinstance(node, exp.Select):
            text, names = self._select(node, outer)
        else:
            raise _UnknownPartError
        self._named = named
        if type(node) in _SET_OPERATIONS and above:
            own = _SET_OPERATIONS[type(node)][1]
            text = f"({text})" if own < above or (right and own == above) else text
        return with_text + text, names

    def _with(self, node: exp.Expr, outer: _Scope | None) -> str:
        with_ = node.args.get("with_")
        if with_ is None:
            return ""
        if with_.args.get("recursive"):
            raise _UnknownPartError
        parts = []
        for each in with_.expressions:
            text, names = self.query(each.this, outer)
            given = [column.name for column in each.args["alias"].args.get("columns") or ()]
            self._named[each.alias] = given or names
            listed = f" ({', '.join(map(quoted, given))})" if given else ""
            parts.append(f"{quoted(each.alias)}{listed} AS ({text})")
        return f"WITH {', '.join(parts)} "

    def _set_operation(self, node: Any, outer: _Scope | None) -> tuple[str, list[str]]:
        word, precedence = _SET_OPERATIONS[type(node)]
        left, names = self.query(node.this, outer, precedence)
        right, _ = self.query(node.expression, outer, precedence, right=True)
        text = f"{left}\n{word}{'' if node.args.get('distinct') else ' ALL'}\n{right}"
        return text + self._order(node, _Scope(outer), names), names

    def _values(self, node: Any) -> tuple[str, list[str]]:
        scope = _Scope(None)
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
        text = ",\n".join(f"ROW({', '.join(self.text(each, scope) for each in row)})" for row in rows)
        alias = node.args.get("alias")
        given = [column.name for column in alias.args.get("columns") or ()] if alias is not None else []
        return f"VALUES {text}", given or [f"EXPR${place}" for place in range(len(rows[0]))]

    def _select(self, node: exp.Select, outer: _Scope | None) -> tuple[str, list[str]]:
        _refuse(
            node,
            {
                "expressions",
                "from_",
                "joins",
                "where",
                "group",
                "having",
                "order",
                "limit",
                "offset",
                "distinct",
                "with_",
                "hint",
                "windows",
            },
        )
        scope = _Scope(outer)
        from_ = self._from(node, scope)
        items = [item for each in node.expressions for item in self._items(each, scope)]
        names = [name if name is not None else f"EXPR${place}" for place, (_, name) in enumerate(items)]
        hints = node.args.get("hint")
        words = "SELECT" + (f"\n{_hints(hints.expressions)}\n" if hints is not None else " ")
        distinct = "DISTINCT " if node.args.get("distinct") else ""
        text = f"{words}{distinct}{', '.join(item for item, _ in items)}{from_}"
        if node.args.get("where") is not None:
            text += f"\nWHERE {self.text(node.args['where'].this, scope)}"
        if node.args.get("group") is not None:
            text += f"\nGROUP BY {self._groups(node.args['group'], scope)}"
        if node.args.get("having") is not None:
            text += f"\nHAVING {self.text(node.args['having'].this, scope)}"
        windows = [f"{quoted(each.this.name)} AS ({self._window(each, scope)})" for each in node.args.get("windows") or ()]
        text += f"\nWINDOW {', '.join(windows)}" if windows else ""
        return text + self._order(node, scope, names), names

    def _items(self, node: exp.Expr, scope: _Scope) -> list[tuple[str, str | None]]:
        """Return the text and name of an item of SELECT; of ``*`` those of all columns."""
        inner = node.this if isinstance(node, exp.Alias) else node
        if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
            if scope.shared:
                raise _UnknownPartError
            of = inner.args.get("table")
            chosen = [source for source in scope.sources if of is None or source.alias == of.name]
            return [(f"{quoted(source.alias)}.{quoted(name)}", name) for source in chosen for name in source.columns]
        text = self.text(inner, scope)
        if isinstance(node, exp.Alias):
            return [(f"{text} AS {quoted(node.alias)}", node.alias)]
        name = inner.name if isinstance(inner, exp.Column | exp.Dot) else None
        if text.startswith("COALESCE(") and isinstance(inner, exp.Column):
            text += f" AS {quoted(inner.name)}"
        return [(text, name)]

    def _groups(self, group: exp.Expr, scope: _Scope) -> str:
        written = []
        for each in group.expressions:
            if isinstance(each, exp.GroupingSets | exp.Rollup | exp.Cube):
                word = {exp.GroupingSets: "GROUPING SETS", exp.Rollup: "ROLLUP", exp.Cube: "CUBE"}[type(each)]
                written.append(f"{word}({', '.join(self._group(part, scope) for part in each.expressions)})")
            elif isinstance(each, exp.Anonymous) and each.name.upper() in _GROUP_WINDOWS:
                written.append(f"${self.text(each, scope)}")
            else:
                written.append(self._group(each, scope))
        return ", ".join(written)

    def _group(self, node: exp.Expr, scope: _Scope) -> str:
        if isinstance(node, exp.Tuple):
            return f"({', '.join(self.text(each, scope) for each in node.expressions)})"
        return self.text(node, scope)

    def _order(self, node: exp.Expr, scope: _Scope, names: Sequence[str]) -> str:
        """Return ORDER BY, OFFSET and FETCH; keys that are columns of the result stay as they are."""
        text = ""
        order = node.args.get("order")
        if order is not None:
            text += f"\nORDER BY {', '.join(self._ordered(each, scope, names) for each in order.expressions)}"
        if node.args.get("offset") is not None:
            text += f"\nOFFSET {node.args['offset'].expression.name} ROWS"
        limit = node.args.get("limit")
        if limit is not None:
            count = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.expression
            text += f"\nFETCH NEXT {count.name if count is not None else 1} ROWS ONLY"
        return text

    def _ordered(self, node: Any, scope: _Scope, names: Sequence[str] = ()) -> str:
        key, descending = node.this, bool(node.args.get("desc"))
        is_name = isinstance(key, exp.Column) and not key.table and key.name in names
        text = quoted(key.name) if is_name else self.text(key, scope)
        first = bool(node.args.get("nulls_first"))
        nulls = "" if first != descending else f" NULLS {'FIRST' if first else 'LAST'}"
        return f"{text}{' DESC' if descending else ''}{nulls}"

    # FROM

    def _from(self, node: exp.Select, scope: _Scope) -> str:
        if node.args.get("from_") is None:
            return ""
        text = f"\nFROM {self._table(node.args['from_'].this, scope)}"
        for join in node.args.get("joins") or ():
            text += self._join(join, scope)
        return text

    def _join(self, join: Any, scope: _Scope) -> str:
        _refuse(join, {"this", "side", "kind", "on", "using", "method"})
        if join.args.get("method"):
            raise _UnknownPartError
        table = self._table(join.this, scope)
        kind, side = (join.args.get("kind") or "").upper(), (join.args.get("side") or "").upper()
        if join.args.get("using"):
            columns = [each.name for each in join.args["using"]]
            for column in columns:
                scope.shared[column] = [source.alias for source in scope.sources if column in source.columns]
            condition = f" USING ({', '.join(map(quoted, columns))})"
        else:
            condition = f" ON {self.text(join.args['on'], scope)}" if join.args.get("on") is not None else ""
        if kind == "CROSS":
            return f"\nCROSS JOIN {table}"
        if not condition and not side and kind != "INNER":
            return f",\n{table}"
        if kind not in ("", "INNER", "OUTER") or side not in ("", "LEFT", "RIGHT", "FULL"):
            raise _UnknownPartError
        return f"\n{side or 'INNER'} JOIN {table}{condition}"

    def _table(self, node: Any, scope: _Scope) -> str:
        """Return a table of FROM, and add its columns to the names."""
        alias = node.args.get("alias")
        name = alias.name if alias is not None and alias.this is not None else None
        given = [column.name for column in alias.args.get("columns") or ()] if alias is not None else []
        lateral, table = isinstance(node, exp.Lateral), node
        if lateral:
            node = node.this
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous):
            name, text, columns = self._function(node.this, scope, name)
        elif isinstance(node, exp.Table) and not isinstance(node.this, exp.Func):
            _refuse(node, {"this", "db", "catalog", "alias", "hints", "version"})
            name, text, columns = self._plain_table(node, scope, name)
        elif isinstance(node, exp.Subquery) and not _is_ordered(node):
            name = name or self._next_name()
            inner, columns = self.query(node.this, scope if lateral else scope.outer)
            text = f"({inner})"
        elif isinstance(node, exp.Values):
            inner, columns = self._values(node)
            name, text = name or self._next_name(), f"({inner})"
        elif isinstance(node, exp.Unnest) and not node.args.get("offset"):
            text = f"UNNEST({', '.join(self.text(each, scope) for each in node.expressions)})"
            name, columns = name or self._next_name(), given
            if not given:
                raise _UnknownPartError
        else:
            raise _UnknownPartError
        scope.sources.append(_Source(name, given or columns))
        listed = f" ({', '.join(map(quoted, given))})" if given else ""
        return f"{'LATERAL ' if lateral and table is not node else ''}{text} AS {quoted(name)}{listed}"

    def _plain_table(self, node: Any, scope: _Scope, name: str | None) -> tuple[str, str, list[str]]:
        path = tuple(part.name for part in (node.args.get("catalog"), node.args.get("db"), node.this) if part)
        if len(path) == 1 and path[0] in self._named:
            text, columns = quoted(path[0]), self._named[path[0]]
        else:
            text, columns = self._names.columns_of(path)
        if node.args.get("hints"):
            text += f"\n{_hints(node.args['hints'])}"
        version = node.args.get("version")
        if version is not None:
            text += f" FOR SYSTEM_TIME AS OF {self.text(version.expression, scope)}"
        return name or path[-1], text, columns

    def _function(self, call: Any, scope: _Scope, name: str | None) -> tuple[str, str, list[str]]:
        """Return a function of a table that assigns rows to windows."""
        word = call.name.upper()
        if word not in ("TUMBLE", "HOP", "CUMULATE", "SESSION"):
            raise _UnknownPartError
        name = name or self._next_name()
        columns: list[str] = []
        written = []
        for argument in call.expressions:
            value = argument.expression if isinstance(argument, nodes.NamedArgument) else argument
            if isinstance(value, nodes.TableArgument):
                text, columns = self._table_argument(value, scope)
            elif isinstance(value, nodes.Descriptor):
                text = f"DESCRIPTOR({', '.join(quoted(each.name) for each in value.expressions)})"
            else:
                text = self.text(value, scope)
            prefix = f"{quoted(argument.this.name)} => " if isinstance(argument, nodes.NamedArgument) else ""
            written.append(prefix + text)
        return name, f"TABLE({word}({', '.join(written)}))", [*columns, *WINDOW_COLUMNS]

    def _table_argument(self, node: Any, scope: _Scope) -> tuple[str, list[str]]:
        if not isinstance(node.this, exp.Table) or node.args.get("order"):
            raise _UnknownPartError
        inner = _Scope(scope.outer)
        table = self._table(node.this, inner)
        source = inner.sources[0]
        listed = ", ".join(f"{quoted(source.alias)}.{quoted(column)}" for column in source.columns)
        text = f"(SELECT {listed}\nFROM {table})"
        if node.args.get("partition_by"):
            text += f" PARTITION BY {', '.join(quoted(each.name) for each in node.args['partition_by'])}"
        return text, source.columns

    def _next_name(self) -> str:
        self._unnamed += 1
        return f"EXPR${self._unnamed - 1}"

    # Expressions

    def text(self, node: exp.Expr, scope: _Scope, above: int = 0, *, right: bool = False) -> str:
        """Return an expression, in parentheses if it binds less than the operator around it."""
        while isinstance(node, exp.Paren):
            node = node.this
        text, precedence = self._expression(node, scope)
        return f"({text})" if precedence < above or (right and precedence == above) else text

    def all(self, expressions: Sequence[exp.Expr], scope: _Scope) -> str:
        """Return expressions with commas between them."""
        return ", ".join(self.text(each, scope) for each in expressions)

    def _expression(self, node: exp.Expr, scope: _Scope) -> tuple[str, int]:
        if type(node) in _BINARY:
            sign, precedence = _BINARY[type(node)]
            left = self.text(node.this, scope, precedence)
            return f"{left} {sign} {self.text(node.expression, scope, precedence, right=True)}", precedence
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            raise _UnknownPartError
        found = handler(self, node, scope)
        return found if isinstance(found, tuple) else (found, _ATOM)

    def _column(self, node: Any, scope: _Scope) -> str:
        parts: list[str] = [part.name for part in node.parts]
        for place in range(len(parts) - 1):
            if scope.has_source(parts[place]) and (place or len(parts) < 3 or not scope.column(parts[0])):  # noqa: PLR2004 - a full name
                return ".".join(map(quoted, parts[place:]))
        found = scope.column(parts[0])
        if found is not None:
            return ".".join([found, *map(quoted, parts[1:])])
        word = parts[0].upper()
        if len(parts) == 1 and word in _CLOCKS:
            return word
        raise _UnknownPartError

    def _call(self, node: Any, scope: _Scope) -> str | tuple[str, int]:
        name = node.name.upper()
        if name in self._names.user_functions:
            raise _UnknownPartError
        if name == "NULLIF":
            first, second = (self.text(each, scope, _COMPARISON) for each in node.expressions)
            return f"CASE WHEN {first} = {second} THEN NULL ELSE {first} END"
        if name in ("TIMESTAMPADD", "TIMESTAMPDIFF"):
            return f"{name}({node.expressions[0].name.upper()}, {self.all(node.expressions[1:], scope)})"
        if name in _PARTS and len(node.expressions) == 1:
            part = {"DAYOFYEAR": "DOY", "DAYOFMONTH": "DAY", "DAYOFWEEK": "DOW"}.get(name, name)
            return f"EXTRACT({part} FROM {self.all(node.expressions, scope)})"
        name = "CEIL" if name == "CEILING" else name
        return f"{name if name in _OPERATORS else quoted(node.name)}({self.all(node.expressions, scope)})"

    def _distinct(self, node: Any, scope: _Scope) -> str:
        return f"DISTINCT {self.all(node.expressions, scope)}"

    def _case(self, node: Any, scope: _Scope) -> str:
        tested = node.args.get("this")
        branches = []
        for each in node.args["ifs"]:
            condition = self.text(each.this, scope, _COMPARISON if tested is not None else 0, right=tested is not None)
            condition = condition if tested is None else f"{self.text(tested, scope, _COMPARISON)} = {condition}"
            branches.append(f"WHEN {condition} THEN {self.text(each.args['true'], scope)}")
        default = node.args.get("default")
        return f"CASE {' '.join(branches)} ELSE {'NULL' if default is None else self.text(default, scope)} END"

    def _not(self, node: Any, scope: _Scope) -> tuple[str, int]:
        inner = node.this
        negated = {exp.In: _in, exp.Between: _between, exp.Is: _is, exp.Like: _like, exp.SimilarTo: _like, exp.Escape: _escape}.get(
            type(inner)
        )
        if negated is not None:
            return negated(self, inner, scope, "NOT ")
        return f"NOT {self.text(inner, scope, _NOT)}", _NOT

    def _window(self, node: Any, scope: _Scope) -> str:
        parts = [f"PARTITION BY {self.all(node.args['partition_by'], scope)}"] if node.args.get("partition_by") else []
        if node.args.get("order") is not None:
            parts.append(f"ORDER BY {', '.join(self._ordered(each, scope) for each in node.args['order'].expressions)}")
        spec = node.args.get("spec")
        if spec is not None:
            begin = self._bound(spec.args.get("start"), spec.args.get("start_side"), scope)
            end = self._bound(spec.args.get("end"), spec.args.get("end_side"), scope) if spec.args.get("end") else None
            parts.append(f"{spec.args['kind']} {begin}" if end is None else f"{spec.args['kind']} BETWEEN {begin} AND {end}")
        return " ".join(parts)

    def _bound(self, bound: Any, side: str | None, scope: _Scope) -> str:
        word = bound if isinstance(bound, str) else self.text(bound, scope)
        return f"{word} {side}" if side else str(word)

    def _over(self, node: Any, scope: _Scope) -> str:
        alias = node.args.get("alias")
        window = quoted(alias.name) if alias is not None else f"({self._window(node, scope)})"
        return f"{self.text(node.this, scope)} OVER {window}"


def _refuse(node: exp.Expr, known: set[str]) -> None:
    """Refuse a node with parts that are not known."""
    if any(value and name not in known and not name.startswith("_") for name, value in node.args.items()):
        raise _UnknownPartError


def _is_ordered(node: exp.Expr) -> bool:
    return any(node.args.get(name) is not None for name in ("order", "limit", "offset"))


def _is_values(node: exp.Select) -> bool:
    """Return whether a SELECT is one of ``*`` that sqlglot puts around VALUES."""
    from_ = node.args.get("from_")
    values = from_.this if from_ is not None else None
    return isinstance(values, exp.Values) and values.alias == "_values"


def _hints(hints: Sequence[Any]) -> str:
    written = []
    for hint in hints:
        arguments = [f"{_string(each[0])} = {_string(each[1])}" if isinstance(each, tuple) else _string(each) for each in hint.arguments]
        written.append(f"{quoted(str(hint.this))}({', '.join(arguments)})")
    return f"/*+ {', '.join(written)} */"


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _literal(expander: _Expander, node: Any, scope: _Scope) -> str:
    if node.is_string:
        return _string(node.this)
    return str(node.this).upper()


def _cast(expander: _Expander, node: Any, scope: _Scope) -> str:
    operand = expander.text(node.this, scope)
    if not isinstance(node.args["to"], nodes.DataTypeNode):
        return f"{node.args['to'].this.name} {operand}"
    word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    return f"{word}({operand} AS {_written_type(node.args['to'])})"


def _written_type(node: nodes.DataTypeNode) -> str:
    """Return a type as Calcite writes it: a plain one with the precision that was given."""
    if "<" in node.this or not isinstance(node.data_type, t.AtomicType):
        return _type(node.data_type)
    name, *rest = re.sub(r"\s*([(),])\s*", r"\1", node.this.upper()).replace(",", ", ").replace(")", ") ").split(" ", 1)
    bare, bracket, length = name.partition("(")
    return " ".join([_SAME_TYPES.get(bare, bare) + bracket + length, *rest]).strip()


def _type(of: t.DataType) -> str:
    """Return a type as Calcite writes it."""
    if isinstance(of, t.ArrayType):
        return f"ARRAY< {_type(of.element_type)} >"
    if isinstance(of, t.MultisetType):
        return f"MULTISET< {_type(of.element_type)} >"
    if isinstance(of, t.MapType):
        return f"MAP< {_type(of.key_type)}, {_type(of.value_type)} >"
    if isinstance(of, t.RowType):
        return f"ROW< {', '.join(f'{quoted(field.name)} {_type(field.data_type)}' for field in of)} >"
    return "INTEGER" if isinstance(of, t.IntType) else of.nullable().as_summary_string()


def _in(expander: _Expander, node: Any, scope: _Scope, negation: str = "") -> tuple[str, int]:
    tested = expander.text(node.this, scope, _LIKE)
    query = node.args.get("query")
    if query is not None:
        return f"{tested} {negation}IN ({expander.query(query, scope)[0]})", _LIKE
    return f"{tested} {negation}IN ({expander.all(node.expressions, scope)})", _LIKE


def _between(expander: _Expander, node: Any, scope: _Scope, negation: str = "") -> tuple[str, int]:
    tested, low, high = (expander.text(each, scope, _LIKE, right=True) for each in (node.this, node.args["low"], node.args["high"]))
    kind = "SYMMETRIC" if node.args.get("symmetric") else "ASYMMETRIC"
    return f"{tested} {negation}BETWEEN {kind} {low} AND {high}", _LIKE


def _is(expander: _Expander, node: Any, scope: _Scope, negation: str = "") -> tuple[str, int]:
    tested, what = expander.text(node.this, scope, _IS), node.expression
    if isinstance(what, exp.Null):
        return f"{tested} IS {negation}NULL", _IS
    if isinstance(what, exp.Boolean):
        return f"{tested} IS {negation}{'TRUE' if what.this else 'FALSE'}", _IS
    if isinstance(what, exp.JSON):
        return f"{tested} IS {negation}JSON {what.this or 'VALUE'}", _IS
    raise _UnknownPartError


def _like(expander: _Expander, node: Any, scope: _Scope, negation: str = "") -> tuple[str, int]:
    negation = "NOT " if node.args.get("negate") else negation
    word = "LIKE" if isinstance(node, exp.Like) else "SIMILAR TO"
    tested, pattern = expander.text(node.this, scope, _LIKE), expander.text(node.expression, scope, _LIKE, right=True)
    return f"{tested} {negation}{word} {pattern}", _LIKE


def _escape(expander: _Expander, node: Any, scope: _Scope, negation: str = "") -> tuple[str, int]:
    if not isinstance(node.this, exp.Like | exp.SimilarTo):
        raise _UnknownPartError
    return f"{_like(expander, node.this, scope, negation)[0]} ESCAPE {expander.text(node.expression, scope)}", _LIKE


def _interval(expander: _Expander, node: Any, scope: _Scope) -> str:
    value, unit = node.this, node.args["unit"]
    sign = "-" if isinstance(value, exp.Neg) else ""
    value = value.this if sign else value
    if not isinstance(value, exp.Literal):
        raise _UnknownPartError
    span = isinstance(unit, exp.IntervalSpan)
    units = f"{unit.this.name.upper()} TO {unit.expression.name.upper()}" if span else unit.name.upper()
    return f"INTERVAL {sign}{_string(value.this)} {units}"


def _trim(expander: _Expander, node: Any, scope: _Scope) -> str:
    removed = node.args.get("expression")
    characters = "' '" if removed is None else expander.text(removed, scope)
    return f"TRIM({(node.args.get('position') or 'BOTH').upper()} {characters} FROM {expander.text(node.this, scope)})"


def _rounded(name: str) -> Callable[[_Expander, Any, _Scope], str]:
    def write(expander: _Expander, node: Any, scope: _Scope) -> str:
        unit = node.args.get("to")
        return f"{name}({expander.text(node.this, scope)}{f' TO {unit.name.upper()}' if unit is not None else ''})"

    return write


def _overlay(expander: _Expander, node: Any, scope: _Scope) -> str:
    length = node.args.get("for_")
    text = (
        f"{expander.text(node.this, scope)} PLACING {expander.text(node.expression, scope)} FROM {expander.text(node.args['from_'], scope)}"
    )
    return f"OVERLAY({text}{f' FOR {expander.text(length, scope)}' if length is not None else ''})"


def _position(expander: _Expander, node: Any, scope: _Scope) -> str:
    start = node.args.get("position")
    text = f"{expander.text(node.args['substr'], scope)} IN {expander.text(node.this, scope)}"
    return f"POSITION({text}{f' FROM {expander.text(start, scope)}' if start is not None else ''})"


def _substring(expander: _Expander, node: Any, scope: _Scope) -> str:
    parts = [node.this, node.args["start"], *([node.args["length"]] if node.args.get("length") is not None else [])]
    return f"SUBSTRING({expander.all(parts, scope)})"


def _bracket(expander: _Expander, node: Any, scope: _Scope) -> str:
    begin = node.this
    inside = expander.all(node.expressions, scope)
    if isinstance(begin, exp.Column) and not begin.table and not begin.this.args.get("quoted") and begin.name.upper() == "MAP":
        return f"MAP[{inside}]"
    return f"{expander.text(begin, scope, _ATOM)}[{inside}]"


def _json(expander: _Expander, node: Any, scope: _Scope) -> str:
    """Return a JSON function with all of its words."""
    name, words, returning = node.this, list(node.args.get("words") or ()), node.args.get("returning")
    defaults = [expander.text(each, scope) for each in node.args.get("defaults") or ()]
    operands = [expander.text(each, scope) for each in node.expressions]
    if name in ("JSON_OBJECT", "JSON_OBJECTAGG"):
        operands = [f"KEY {key} VALUE {value}" for key, value in zip(operands[::2], operands[1::2], strict=True)]
    if name in _NULLS:
        words = words or [_NULLS[name]]
    elif name == "JSON_QUERY":
        words = _query_words(words)
    if returning is not None and name != "JSON_VALUE":
        raise _UnknownPartError
    parts = [", ".join(operands)] if operands else []
    parts += [f"RETURNING {_written_type(returning)}"] if returning is not None else []
    return f"{name}({' '.join([*parts, *(f'DEFAULT {defaults.pop(0)}' if word == 'DEFAULT' else word for word in words)])})"


def _query_words(words: list[str]) -> list[str]:
    """Return the words of JSON_QUERY with those that are implied."""
    wrapper = next((word for word in words if word.endswith("WRAPPER")), "WITHOUT WRAPPER")
    kind = wrapper.replace("ARRAY ", "").removesuffix(" WRAPPER").replace("WITH UNCONDITIONAL", "WITH")
    kind = {"WITH": "WITH UNCONDITIONAL"}.get(kind, kind)
    empty = next((word for word in words if word.endswith("ON EMPTY")), "NULL ON EMPTY")
    error = next((word for word in words if word.endswith("ON ERROR")), "NULL ON ERROR")
    return [f"{kind} ARRAY WRAPPER", empty, error]


def _filter(expander: _Expander, node: Any, scope: _Scope) -> str:
    return f"{expander.text(node.this, scope)} FILTER (WHERE {expander.text(node.expression.this, scope)})"


def _scalar(expander: _Expander, node: Any, scope: _Scope) -> str:
    if _is_ordered(node):
        raise _UnknownPartError
    return f"((({expander.query(node.this, scope)[0]})))"  # as Calcite's unparser has it


_EXPRESSIONS: dict[type[exp.Expr], Callable[[Any, Any, _Scope], str | tuple[str, int]]] = {
    exp.Column: _Expander._column,
    exp.Anonymous: _Expander._call,
    exp.Distinct: _Expander._distinct,
    exp.Case: _Expander._case,
    exp.Not: _Expander._not,
    exp.Window: _Expander._over,
    exp.Literal: _literal,
    exp.Boolean: lambda expander, node, scope: "TRUE" if node.this else "FALSE",
    exp.Null: lambda expander, node, scope: "NULL",
    exp.Star: lambda expander, node, scope: "*",
    exp.Neg: lambda expander, node, scope: (
        f"-{'' if isinstance(node.this, exp.Literal) else ' '}{expander.text(node.this, scope, _PREFIX)}",
        _PREFIX,
    ),
    exp.HexString: lambda expander, node, scope: f"X'{node.this}'",
    exp.Array: lambda expander, node, scope: f"ARRAY[{expander.all(node.expressions, scope)}]",
    exp.Tuple: lambda expander, node, scope: f"ROW({expander.all(node.expressions, scope)})",
    exp.Bracket: _bracket,
    exp.Dot: lambda expander, node, scope: f"{expander.text(node.this, scope, _ATOM)}.{quoted(node.expression.name)}",
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Like: _like,
    exp.SimilarTo: _like,
    exp.Escape: _escape,
    exp.Exists: lambda expander, node, scope: f"EXISTS ({expander.query(node.this, scope)[0]})",
    exp.Subquery: _scalar,
    exp.Interval: _interval,
    exp.Trim: _trim,
    exp.Ceil: _rounded("CEIL"),
    exp.Floor: _rounded("FLOOR"),
    exp.Extract: lambda expander, node, scope: f"EXTRACT({node.this.name.upper()} FROM {expander.text(node.expression, scope)})",
    exp.Overlay: _overlay,
    exp.StrPosition: _position,
    exp.Substring: _substring,
    exp.If: lambda expander, node, scope: (
        f"IF({expander.all([node.this, node.args['true'], *([node.args['false']] if node.args.get('false') else [exp.Null()])], scope)})"
    ),
    exp.Filter: _filter,
    nodes.Call: _json,
    exp.CurrentDate: lambda expander, node, scope: "CURRENT_DATE",
    exp.CurrentTime: lambda expander, node, scope: "CURRENT_TIME",
    exp.CurrentTimestamp: lambda expander, node, scope: "CURRENT_TIMESTAMP",
}
