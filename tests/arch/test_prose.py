"""Check that docstrings begin with an imperative or a noun phrase, and that prose uses the standard terms of the field.

Both checks are ratchets: a package without an entry has no violations, and an entry has to equal the number found.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.arch.repository import read, tracked

VAGUE_OPENING = re.compile(r"(?:Internal\. )?(?:What|Which|Whether|That|Who|Where|When|How|By which|If|It|They|There)\b")

# Colloquial phrase -> standard term. Blanks match line breaks, too.
REPLACED = {
    r"shar(?:e|es|ed|ing) (?:\w+ ){0,3}out": "distribute, partition",
    r"(?:take|takes|taken|taking|took) (?:\w+ )?back": "retract",
    r"put(?:s|ting)? (?:\w+ )?together": "merge, combine, join",
    r"(?:tell|tells|told|telling) of": "report, return, emit",
    r"without a word": "silently",
    r"st(?:and|ands|anding|ood) in the": "is in the",
    r"as it has been said": "as declared",
    r"(?:lie|lies|lay|lying) (?:in|at|on) the": "is stored in the",
    r"worth (?:its|their) while": "worthwhile",
    r"strangers?": "unauthenticated peer",
    r"comes? and goe?s?": "changelog",
    r"borders?": "bounds",
    r"texts": "strings",
    r"kept values?": "value multiset",
    r"in the open": "publicly",
    r"(?:what|which) becomes of": "the handling of",
}
PHRASES = re.compile("|".join(rf"\b(?:{phrase})\b" for phrase in REPLACED).replace(" ", r"\s+(?:#\s+)?"), re.IGNORECASE)

OPENINGS_ALLOWED: dict[str, int] = {}
PHRASES_ALLOWED: dict[str, int] = {}


def docstrings(tree: ast.AST) -> Iterator[str]:
    """Yield docstrings of modules, classes, functions and attributes."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
                yield statement.value.value


def package_of(path: Path) -> str:
    return path.parts[2].removesuffix(".py") if path.parts[0] == "src" else path.parts[0]


def vague_openings() -> dict[str, int]:
    return dict(
        Counter(
            package_of(path) for path in tracked(".py", "src") for text in docstrings(ast.parse(read(path))) if VAGUE_OPENING.match(text)
        )
    )


def replaced_phrases() -> dict[str, int]:
    paths = [*tracked(".py", "src"), *tracked(".md", "docs"), Path("README.md")]
    return dict(Counter(package_of(path) for path in paths for _ in PHRASES.finditer(read(path))))


def test_docstrings_begin_with_an_imperative_or_a_noun_phrase() -> None:
    assert vague_openings() == OPENINGS_ALLOWED


def test_prose_uses_standard_terms() -> None:
    assert replaced_phrases() == PHRASES_ALLOWED


def test_the_patterns_match_what_they_reject() -> None:
    assert VAGUE_OPENING.match("Whether it is") and VAGUE_OPENING.match("Internal. What holds")
    assert not VAGUE_OPENING.match("Return whether")
    for text in ("rows are shared out", "taken\n    # back", "put rows together", "it tells of rows", "Borders", "what becomes of it"):
        assert PHRASES.search(text), text
    assert not PHRASES.search("a share of the output; contexts; a stand-in")
