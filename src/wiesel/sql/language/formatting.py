"""Internal. Lays scripts out: one way for each statement, with its comments and without a change of its meaning.

What fits into a line stands in one. Else a statement is broken before its clauses, a clause behind its commas and before AND and OR,
brackets around their content. Reserved words are written in capitals; names, functions and strings stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from wiesel.core.errors import SqlParseError, invariant
from wiesel.sql.language import statements as s
from wiesel.sql.language.errors import parse_error
from wiesel.sql.language.parser import parse_script
from wiesel.sql.language.pieces import Comment, Group, Piece, Word, pieces_of, signature, units
from wiesel.sql.language.spacing import CAPITALS, CAPITALS_BEFORE, CAPITALS_BEHIND, joined, stands_apart

__all__ = ["format_script"]

_WIDTH = 100
_INDENT = 2
_JOINS = frozenset({"LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "JOIN"})
_CLAUSES = frozenset(
    {
        *("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "OFFSET", "FETCH", "UNION", "INTERSECT", "EXCEPT"),
        *("VALUES", "WINDOW", "INSERT", "END", "WITH", "COMMENT", "PARTITIONED", "DISTRIBUTED", "LIKE", *_JOINS),
    }
)
_PARTS = frozenset(("PARTITION BY", "ORDER BY", "ROWS", "RANGE", "MEASURES", "ONE", "AFTER", "PATTERN", "WITHIN", "SUBSET", "DEFINE"))
_LISTED = frozenset({"SELECT", "FROM", "GROUP BY", "ORDER BY", "PARTITION BY", "VALUES", "WITH", "MEASURES", "DEFINE", "WINDOW", "SET"})
_CONDITIONS = frozenset({"AND", "OR"})
_QUERY_STARTS = frozenset({"SELECT", "VALUES", "WITH"})


def format_script(sql: str) -> str:
    """Return a script in the one layout.

    >>> print(format_script("select a,b from t where a>1;"), end="")
    SELECT a, b FROM t WHERE a > 1;

    Raises:
        SqlParseError: If a statement cannot be read.
    """
    statements = parse_script(sql)
    of_hive = next((each for each in statements if each.ignores_case), None)
    if of_hive is not None:
        raise parse_error(
            sql,
            (of_hive.span.start, of_hive.span.end),
            "statements of Hive's dialect are not laid out",
            hint="keep them in a file of their own",
        )
    before = _without_strings(statements)
    formatted = _laid_out(sql, capitals=True)
    if not _means(formatted, before):
        formatted = _laid_out(sql, capitals=False)  # a word that is reserved in Flink is a name here
    invariant(_means(formatted, before) and signature(formatted) == signature(sql), "formatting changed the meaning of a script")
    return formatted


def _means(sql: str, statements: list[s.Statement]) -> bool:
    try:
        return _without_strings(parse_script(sql)) == statements
    except SqlParseError:
        return False


def _without_strings(statements: list[s.Statement]) -> list[s.Statement]:
    """Return statements without the strings of views, which may be laid out in another way."""
    return [replace(each, query_text="") if isinstance(each, s.CreateView | s.AlterView) else each for each in statements]


def _laid_out(sql: str, *, capitals: bool) -> str:
    lines: list[str] = []
    for unit in units(_in_capitals(pieces_of(sql)) if capitals else pieces_of(sql)):
        _part_columns_from_name(unit)
        if lines and unit[0].blank_before:
            lines.append("")
        lines += _render(unit, 0, top=True)
    return "\n".join([*lines, ""]) if lines else ""


def _part_columns_from_name(unit: list[Piece]) -> None:
    """Let a space stand before the brackets behind the name of a table, as the statement is no call of it."""
    words = [piece.upper if isinstance(piece, Word) else "" for piece in unit]
    query = next((place for place, word in enumerate(words) if word in ("AS", *_QUERY_STARTS)), len(unit))
    first = next((piece for piece in unit[:query] if isinstance(piece, Group)), None)
    if first is not None and next(filter(None, words), "") in ("CREATE", "INSERT", "ALTER"):
        first.spaced = True


def _in_capitals(pieces: list[Piece]) -> list[Piece]:
    found: list[Piece] = []
    for place, piece in enumerate(pieces):
        if isinstance(piece, Group):
            found.append(Group(piece.opening, _in_capitals(piece.content), piece.spaced, piece.blank_before))
        elif isinstance(piece, Word) and _is_reserved(pieces, place) and not _beside_dot(pieces, place):
            found.append(Word(piece.upper, piece.upper, piece.spaced, piece.blank_before))
        else:
            found.append(piece)
    return found


def _is_reserved(pieces: Sequence[Piece], place: int) -> bool:
    word = _word(pieces, place)
    return (
        word in CAPITALS
        or _word(pieces, place - 1) in CAPITALS_BEHIND.get(word, ())
        or _word(pieces, place + 1) in CAPITALS_BEFORE.get(word, ())
    )


def _beside_dot(pieces: Sequence[Piece], place: int) -> bool:
    return any(isinstance(each, Word) and each.text == "." for each in (*pieces[max(0, place - 1) : place], *pieces[place + 1 : place + 2]))


# Layout


def _render(pieces: list[Piece], indent: int, *, top: bool = False) -> list[str]:
    """Return lines without the indent of the first; each of the others has all of its own."""
    flat = joined(pieces)
    if top and (begin := _inner_insert(pieces)):
        return [*_render(pieces[:begin], indent), *_render(pieces[begin:], indent, top=True)]
    if flat is not None and indent + len(flat) <= _WIDTH:
        return [" " * indent + flat]
    leading = 0
    while leading < len(pieces) and _is_line(pieces[leading]):
        leading += 1
    if leading:
        return [*_comment_lines(pieces[:leading], indent), *(_render(pieces[leading:], indent, top=top) if leading < len(pieces) else [])]
    clauses = _split_clauses(pieces, top=top)
    if len(clauses) > 1:
        return [line for clause in clauses for line in _render(clause, indent)]
    return _render_clause(pieces, indent)


def _inner_insert(pieces: list[Piece]) -> int:
    """Return the place of the INSERT that follows the BEGIN of a statement set; 0 if there is none."""
    places = range(1, len(pieces))
    return next((place for place in places if _word(pieces, place - 1) == "BEGIN" and _word(pieces, place) == "INSERT"), 0)


def _is_line(piece: Piece) -> bool:
    return isinstance(piece, Comment) and (piece.own_line or piece.ends_line)


def _comment_lines(pieces: Sequence[Piece], indent: int) -> list[str]:
    lines: list[str] = []
    for place, piece in enumerate(pieces):
        assert isinstance(piece, Comment)  # noqa: S101 - for the type checker
        if place and piece.blank_before:
            lines.append("")
        lines.append(" " * indent + piece.text)
    return lines


def _split_clauses(pieces: list[Piece], *, top: bool) -> list[list[Piece]]:
    words = {piece.upper for piece in pieces if isinstance(piece, Word)}
    starts = _CLAUSES if top or words & _QUERY_STARTS else _PARTS
    return _split(pieces, lambda place: _begins(pieces, place, starts))


def _begins(pieces: list[Piece], place: int, starts: frozenset[str]) -> bool:
    piece = pieces[place]
    if not isinstance(piece, Word) or piece.upper not in starts:
        return False
    before, behind = _word(pieces, place - 1), _word(pieces, place + 1)
    if piece.upper in _JOINS:
        return before not in _JOINS and before != "OUTER" and (piece.upper == "JOIN" or behind in {*_JOINS, "OUTER", "SEMI", "ANTI"})
    if piece.upper == "WITH":
        return place + 1 < len(pieces) and isinstance(pieces[place + 1], Group)
    if piece.upper in ("LIKE", "COMMENT"):
        return isinstance(pieces[place - 1], Group) and place > 0 and _word(pieces, 0) == "CREATE"
    if piece.upper == "END":
        return place == 0
    if piece.upper == "INSERT":
        return before in ("FOR", "")
    return True


def _word(pieces: Sequence[Piece], place: int) -> str:
    if not 0 <= place < len(pieces):
        return ""
    piece = pieces[place]
    return piece.upper or piece.text if isinstance(piece, Word) else "("


def _split(pieces: list[Piece], begins: Callable[[int], bool]) -> list[list[Piece]]:
    """Return the pieces in parts; comments on lines of their own belong to what follows them, others to what they follow."""
    parts: list[list[Piece]] = [[]]
    held: list[Piece] = []
    due = False
    for place, piece in enumerate(pieces):
        due = due or (place > 0 and begins(place))
        if isinstance(piece, Comment):
            (held if piece.own_line else parts[-1]).append(piece)
            continue
        if due and any(not isinstance(each, Comment) for each in parts[-1]):
            parts.append([])
        due = False
        parts[-1] += [*held, piece]
        held = []
    if held:
        parts.append(held)
    return [part for part in parts if part]


def _render_clause(pieces: list[Piece], indent: int) -> list[str]:
    head = _head(pieces)
    rest = pieces[head:]
    by_comma = _split(rest, lambda place: _word(rest, place - 1) == ",")
    listed = not head or _word(pieces, 0) in _LISTED
    if len(by_comma) > 1 and listed:
        inner = indent + _INDENT if head else indent
        lines = _render(pieces[:head], indent) if head else []
        return [*lines, *(line for part in by_comma for line in _render(part, inner))]
    conditions = _split(pieces, lambda place: _word(pieces, place) in _CONDITIONS and not _of_between(pieces, place))
    if len(conditions) > 1:
        return [line for place, part in enumerate(conditions) for line in _render(part, indent + _INDENT * (place > 0))]
    cases = _case_parts(pieces)
    if len(cases) > 1:
        return [line for shift, part in cases for line in _flow(part, indent + shift)]
    return _flow(pieces, indent)


def _head(pieces: list[Piece]) -> int:
    """Return how many pieces are the words that begin a clause."""
    head = 0
    if _word(pieces, 0) not in _LISTED:
        return 0
    head = 1
    while head < len(pieces):
        piece = pieces[head]
        is_word = isinstance(piece, Word) and (piece.upper in ("DISTINCT", "ALL") or piece.text.startswith("/*+"))
        if not is_word and not (isinstance(piece, Comment) and not piece.own_line):
            break
        head += 1
    return head


def _of_between(pieces: list[Piece], place: int) -> bool:
    """Return whether the AND of a place belongs to a BETWEEN, or it is within a CASE."""
    depth = 0
    for before in range(place - 1, -1, -1):
        word = _word(pieces, before)
        if word == "END":
            depth += 1
        elif word == "CASE":
            if not depth:
                return True
            depth -= 1
        elif not depth and word == "BETWEEN":
            return _word(pieces, place) == "AND"
        elif not depth and word in _CONDITIONS:
            return False
    return False


def _case_parts(pieces: list[Piece]) -> list[tuple[int, list[Piece]]]:
    """Return the parts of the outermost CASE with their further indents: what stands before it and CASE, its branches, END and the rest."""
    parts: list[tuple[int, list[Piece]]] = [(0, [])]
    depth = 0
    for piece in pieces:
        word = piece.upper if isinstance(piece, Word) else ""
        if word == "CASE":
            depth += 1
        elif depth == 1 and word in ("WHEN", "ELSE"):
            parts.append((_INDENT, []))
        elif word == "END" and depth:
            depth -= 1
            if not depth:
                parts.append((0, []))
        parts[-1][1].append(piece)
    return parts


def _flow(pieces: list[Piece], indent: int) -> list[str]:
    """Return a run of pieces: brackets that do not fit are broken, and comments that end a line end it."""
    lines = [" " * indent]
    for place, piece in enumerate(pieces):
        before = pieces[place - 1] if place else None
        if isinstance(piece, Comment) and piece.own_line and lines[-1].strip():
            lines.append(" " * (indent + _INDENT))
        gap = " " if lines[-1].strip() and stands_apart(before, piece) else ""
        if isinstance(piece, Group):
            _add_group(lines, gap, piece, pieces[place + 1 :], indent)
        else:
            lines[-1] += gap + piece.text
        if isinstance(piece, Comment) and (piece.ends_line or piece.own_line) and place + 1 < len(pieces):
            lines.append(" " * (indent + _INDENT))
    return [line.rstrip() for line in lines]


def _add_group(lines: list[str], gap: str, group: Group, behind: list[Piece], indent: int) -> None:
    flat = joined([group])
    # What follows up to the next bracket stays on the line as well.
    following = 0
    for piece in behind:
        if not isinstance(piece, Word):
            break
        following += len(piece.text) + 1
    if flat is not None and (len(lines[-1]) + len(gap) + len(flat) + following <= _WIDTH or not group.content):
        lines[-1] += gap + flat
        return
    lines[-1] += gap + group.opening
    lines += _render(group.content, indent + _INDENT)
    lines.append(" " * indent + group.closing)
