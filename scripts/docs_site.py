"""Hooks of MkDocs: pages that are not in docs/ (API reference, CONTRIBUTING.md, CHANGELOG.md), and links of the repository on the site."""

from __future__ import annotations

import importlib
import inspect
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "overview.md"}
"""Files outside of docs/ that are pages of the site."""

API = {
    "common": ("wiesel.common", "wiesel.common.watermark_strategy"),
    "datastream": (
        "wiesel.datastream",
        "wiesel.datastream.functions",
        "wiesel.datastream.state",
        "wiesel.datastream.window",
        "wiesel.datastream.async_retry_strategies",
        "wiesel.datastream.async_retry_predicates",
    ),
    "connectors": (
        "wiesel.datastream.connectors",
        "wiesel.datastream.connectors.base",
        "wiesel.datastream.connectors.file_system",
        "wiesel.datastream.connectors.datagen",
        "wiesel.datastream.connectors.number_seq",
    ),
    "table": ("wiesel.table", "wiesel.table.expressions", "wiesel.table.udf", "wiesel.table.window", "wiesel.table.catalog"),
    "cep": ("wiesel.cep",),
    "dataset": ("wiesel.dataset",),
    "iteration": ("wiesel.iteration",),
    "state_processor": ("wiesel.state_processor",),
    "testing": ("wiesel.testing",),
    "metrics": ("wiesel.metrics",),
    "spi": ("wiesel.spi.functions", "wiesel.spi.source", "wiesel.spi.sink", "wiesel.spi.table.factory", "wiesel.spi.table.lookup"),
}
"""Pages of the API reference -> the modules whose ``__all__`` they describe; each object is on the first page that has it."""

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
_ROLE = re.compile(r":(?:class|meth|func|mod|attr|data|exc|obj):<code>(~?)([^<]*)</code>")


def on_files(files: Files, config: Any) -> Files:
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    described: dict[str, str] = {}
    for page, modules in API.items():
        files.append(File.generated(config, f"api/{page}.md", content=_api_page(page, modules, described)))
    files.append(File.generated(config, "api/index.md", content=_api_index()))
    return files


def _api_page(page: str, modules: tuple[str, ...], described: dict[str, str]) -> str:
    parts = [f"# {modules[0]}" if page != "spi" else "# wiesel.spi"]
    about = inspect.getdoc(importlib.import_module(modules[0]))
    if about and page != "spi":
        parts.append(about)
    for name in modules:
        module = importlib.import_module(name)
        new = []
        for each in module.__all__:
            found = getattr(module, each)
            path = f"{getattr(found, '__module__', '')}.{getattr(found, '__qualname__', '')}"
            if (inspect.isclass(found) or inspect.isfunction(found)) and path.startswith("wiesel.") and path not in described:
                described[path] = page
                new.append(f"::: {path}")
        if name != modules[0] and new:
            parts.append(f"*From `{name}`:*")
        parts += new
    return "\n\n".join(parts) + "\n"


def _api_index() -> str:
    rows = [f"- [{modules[0] if page != 'spi' else 'wiesel.spi'}]({page}.md)" for page, modules in API.items()]
    return "# API\n\nThe public classes and functions, from their docstrings. Names and modules are PyFlink's.\n\n" + "\n".join(rows) + "\n"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links to files outside of docs/ into links to pages, or into names of files where they are no pages."""
    source = next((name for name, target in PAGES.items() if target == page.file.src_uri), f"docs/{page.file.src_uri}")

    def on_site(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path.startswith("docs/") and (path.endswith(".md") or source.startswith("docs/")):
            return found[0] if source.startswith("docs/") else f"[{text}]({path.removeprefix('docs/')}{anchor})"
        if path in PAGES:
            return f"[{text}]({posixpath.relpath(PAGES[path], posixpath.dirname(page.file.src_uri) or '.')}{anchor})"
        if not (ROOT / path).exists():
            raise PluginError(f"{source} links to {target}, and there is no {path}")
        return f"{text} (`{path}`)" if text.strip("`") != path else text

    return _LINK.sub(on_site, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Show roles of Sphinx in docstrings as names."""
    return _ROLE.sub(lambda found: f"<code>{found[2].rpartition('.')[2] if found[1] else found[2]}</code>", html)
