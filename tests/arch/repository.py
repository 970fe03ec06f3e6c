"""What the tests of the house share: where the repository is and which files belong to it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


@cache
def tracked_files() -> tuple[Path, ...]:
    """The files under version control that exist, relative to the root; at least the house itself."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30).stdout
    files = tuple(Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file())
    assert Path("pyproject.toml") in files
    return files


def tracked(suffix: str, *folders: str) -> list[Path]:
    """Tracked files with this suffix, in these folders or anywhere."""
    return [path for path in tracked_files() if path.suffix == suffix and (not folders or path.parts[0] in folders)]


def read(path: Path | str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def load_script(name: str) -> ModuleType:
    """Import a file of ``scripts/``, which is no package."""
    spec = importlib.util.spec_from_file_location(f"scripts_{name}", ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
