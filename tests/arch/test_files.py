"""Rules for the files of the repository: size, names, and what must not stand in them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.arch.repository import ROOT, load_script, read, tracked, tracked_files

LINES_MAX = 1000
FUNCTION_LINES_MAX = 70
BYTES_MAX = 1_000_000

# Written in pieces, so that this file does not find itself.
MACHINE_PATH = re.compile("/(work|farm|" + "root)/|/tmp/" + "v/|/home/" + r"\w+/")
REGISTRY_HOST = re.compile(r"repo1?\.mav" + r"en|py" + r"pi\.org|files\.python" + r"hosted|registry\.np" + r"mjs|deb\.deb" + "ian")
UNFINISHED = re.compile(r"\b(TO" + "DO|FIX" + "ME|X" + r"XX)\b")


def lines_with(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    return [
        f"{path}:{number}: {line.strip()[:100]}"
        for path in paths
        for number, line in enumerate(read(path).splitlines(), start=1)
        if pattern.search(line)
    ]


def text_files() -> list[Path]:
    return [path for path in tracked_files() if b"\0" not in (ROOT / path).read_bytes()[:8000]]


def test_no_file_is_longer_than_a_topic() -> None:
    long = {str(path): count for path in tracked(".py") if (count := len(read(path).splitlines())) > LINES_MAX}
    assert not long


def test_no_function_is_longer_than_two_screens() -> None:
    long = []
    for path in tracked(".py", "src", "scripts"):
        for node in ast.walk(ast.parse(read(path))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count = (node.end_lineno or node.lineno) - node.lineno + 1
                if count > FUNCTION_LINES_MAX:
                    long.append(f"{path}:{node.lineno} {node.name}: {count} lines")
    assert not long


def test_no_module_is_a_drawer_for_everything() -> None:
    names = {"util", "utils", "misc", "helpers"}
    assert not [str(path) for path in tracked_files() if names & {part.removesuffix(".py") for part in path.parts}]


def test_no_path_of_a_machine_and_no_registry_host_is_tracked() -> None:
    assert not lines_with(MACHINE_PATH, text_files())
    assert not lines_with(REGISTRY_HOST, text_files())


def test_the_patterns_find_what_they_are_for() -> None:
    assert MACHINE_PATH.search("see /" + "work/main") and not MACHINE_PATH.search("src/wiesel/network/x")
    assert REGISTRY_HOST.search("https://py" + "pi.org/simple")
    assert UNFINISHED.search("# TO" + "DO: later") and not UNFINISHED.search("mastodon")


def test_nothing_is_marked_as_unfinished() -> None:
    assert not lines_with(UNFINISHED, tracked(".py"))


def test_no_large_file_is_tracked() -> None:
    assert not [str(path) for path in tracked_files() if (ROOT / path).stat().st_size > BYTES_MAX]


def test_every_folder_of_tests_is_run_by_a_group() -> None:
    runner = load_script("run_tests")
    grouped = {folder for group in runner.GROUPS for folder in group.folders} | set(runner.ELSEWHERE)
    found = {path.parts[1] for path in tracked(".py", "tests") if path.name.startswith("test_")}
    assert found <= grouped


def test_links_in_documents_lead_somewhere() -> None:
    broken = []
    for path in tracked(".md"):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(path)):
            if "://" not in target and not (ROOT / path.parent / target).exists():
                broken.append(f"{path}: {target}")
    assert not broken
