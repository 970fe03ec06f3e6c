"""The Python snippets of the documents run.

The snippets of a page are one module, in their order. What they define as ``test_...`` is run on its own, the rest when it is
imported. A snippet that is not to be run is no ```python block.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.arch.repository import ROOT, read, tracked_files
from wiesel.core import config

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def source_of(text: str) -> str:
    """Return the snippets of a page as one module whose lines have the numbers that they have in the page."""
    lines = [""] * text.count("\n")
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        snippet = block.group(1).splitlines()
        lines[first : first + len(snippet)] = snippet
    return "\n".join(lines)


def pages() -> list[str]:
    documents = [p for p in tracked_files() if p.suffix == ".md" and (len(p.parts) == 1 or p.parts[0] == "docs")]
    return [str(p) for p in documents if BLOCK.search(read(p))]


@pytest.fixture
def local_engine() -> Iterator[None]:
    """Programs that run jobs run them in this process."""
    before = config.process_defaults()
    config.set_process_defaults({"wiesel.engine": "local"})
    yield
    config.set_process_defaults(before)


def load(page: str, directory: Path) -> ModuleType:
    name = f"snippets_of_{Path(page).stem}"
    file = directory / f"{name}.py"
    file.write_text(source_of(read(ROOT / page)))
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("local_engine")
@pytest.mark.parametrize("page", pages())
def test_snippets_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What pages write stays out of the repository; what they read of it is there.
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    module = load(page, tmp_path)
    try:
        for name, value in list(vars(module).items()):
            if name.startswith("test_"):
                value()
    finally:
        del sys.modules[module.__name__]


@pytest.mark.usefixtures("local_engine")
def test_the_quick_start_prints_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = load("docs/quickstart-datastream.md", tmp_path)
    del sys.modules[module.__name__]
    lines = sorted(capsys.readouterr().out.splitlines())
    assert lines == ["11.0", "12.0", "22.0", "30.0", "attic is silent since second 70", "cellar is silent since second 130"]


def test_the_pages_with_snippets_are_found() -> None:
    assert {"README.md", "docs/testing.md"} <= set(pages())


def test_lines_keep_their_numbers() -> None:
    text = "# Title\n\n```python\na = 1\n```\ntext\n```bash\nls\n```\n```python\nb = a\nc = b\n```\n"
    assert source_of(text).splitlines()[3] == "a = 1"
    assert source_of(text).splitlines()[10:12] == ["b = a", "c = b"]
    assert "ls" not in source_of(text)
