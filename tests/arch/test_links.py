"""Links between pages lead to files and headings that exist, and pages of docs/ are in the navigation of the site.

`make docs` checks the same of the site that it builds, with packages that tests do without.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.arch.repository import ROOT, read, tracked

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
# Pages of the site that are made of other files.
MADE = {"api/index.md", "overview.md", "changelog.md", "contributing.md"}


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    found: list[str] = []
    for heading in re.findall(r"^#{1,6} (.+)$", FENCE.sub("", read(page)), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return frozenset(found)


def broken(page: Path, text: str) -> list[str]:
    """Return the links of a page that lead nowhere."""
    found = []
    for target, anchor in LINK.findall(CODE.sub("", FENCE.sub("", text))):
        if "://" in target:
            continue
        path = ((ROOT / page).parent / target).resolve() if target else ROOT / page
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path.relative_to(ROOT))):
            found.append(f"{target}#{anchor}" if anchor else target)
    return found


@pytest.mark.parametrize("page", tracked(".md"), ids=str)
def test_links_lead_to_what_exists(page: Path) -> None:
    assert not broken(page, read(page))


def test_what_does_not_exist_is_found() -> None:
    page = Path("docs/index.md")
    assert broken(page, "[a](nowhere.md) [b](sql.md#no-such-heading) [c](sql.md#windows)") == ["nowhere.md", "sql.md#no-such-heading"]
    assert not broken(page, "`[a](nowhere.md)`, [b](https://example.org/x#y), [c](../README.md)\n```\n[d](nowhere.md)\n```\n")


def test_every_page_is_in_the_navigation_once() -> None:
    listed = [page for page in re.findall(r"[\w/-]+\.md", read("mkdocs.yml").partition("\nnav:")[2]) if not page.startswith("api/")]
    assert sorted(set(listed) - MADE) == sorted(str(page.relative_to("docs")) for page in tracked(".md", "docs"))
    assert len(listed) == len(set(listed))


def test_files_that_contributors_are_sent_to_exist() -> None:
    paths = re.findall(r"`((?:src|tests|docs|scripts|benchmarks|examples)/[\w./-]*\w)`", read("CONTRIBUTING.md"))
    assert len(paths) > 15
    assert not [path for path in paths if not (ROOT / path).exists()]
