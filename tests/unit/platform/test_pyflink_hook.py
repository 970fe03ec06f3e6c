"""``import pyflink...`` gives Wiesel's modules; what Wiesel lacks is named; a real PyFlink is never mixed with it."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import wiesel
from wiesel.core.errors import ConfigurationError
from wiesel.platform import pyflink_hook

# A public package in miniature: the tests are about the mapping, not about what the facades hold.
_PARTS = {
    "wiesel/metrics/__init__.py": "from wiesel.metrics.meter import Meter\n",
    "wiesel/metrics/meter.py": "class Meter:\n    pass\n",
    "wiesel/metrics/deep/__init__.py": "",
    "wiesel/metrics/deep/relative.py": "def late():\n    from ..meter import Meter\n    return Meter\n",
    "wiesel/inner/__init__.py": "",
}


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put a stand-in for ``wiesel.metrics`` first in Wiesel's path, and the hook in place."""
    for name, text in _PARTS.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    real = {name: module for name, module in sys.modules.items() if name == "wiesel.metrics" or name.startswith("wiesel.metrics.")}
    for name in real:
        del sys.modules[name]
    monkeypatch.setattr(wiesel, "__path__", [str(tmp_path / "wiesel"), *wiesel.__path__])
    monkeypatch.delattr(wiesel, "metrics", raising=False)
    importlib.invalidate_caches()
    pyflink_hook.install()
    yield
    pyflink_hook.uninstall()
    for name in [name for name in sys.modules if name.startswith(("wiesel.metrics", "wiesel.inner"))]:
        del sys.modules[name]
    vars(wiesel).pop("metrics", None)
    sys.modules.update(real)
    if "wiesel.metrics" in real:
        wiesel.metrics = real["wiesel.metrics"]  # type: ignore[attr-defined]


def load(name: str) -> ModuleType:
    return importlib.import_module(name)


def test_both_names_give_the_same_module(parts: None) -> None:
    assert load("pyflink") is wiesel
    assert load("pyflink.metrics") is load("wiesel.metrics")
    assert load("pyflink.metrics.meter") is load("wiesel.metrics.meter")
    assert load("pyflink.metrics").Meter is load("wiesel.metrics.meter").Meter


def test_the_order_of_imports_does_not_matter(parts: None) -> None:
    by_wiesel = load("wiesel.metrics.deep.relative")
    assert load("pyflink.metrics.deep.relative") is by_wiesel


def test_a_module_keeps_its_own_spec_so_relative_imports_go_on_working(parts: None) -> None:
    module = load("pyflink.metrics.deep.relative")
    assert module.__name__ == "wiesel.metrics.deep.relative"
    assert module.__spec__ is not None
    assert module.__spec__.name == "wiesel.metrics.deep.relative"
    assert module.late() is load("wiesel.metrics.meter").Meter


def test_import_statements_in_a_program(parts: None) -> None:
    scope: dict[str, object] = {}
    exec("import pyflink.metrics.meter as m\nfrom pyflink.metrics import Meter\nimport pyflink", scope)
    assert scope["m"] is load("wiesel.metrics.meter")
    assert scope["pyflink"] is wiesel


def test_pickles_name_wiesel_and_those_that_name_pyflink_can_be_read(parts: None) -> None:
    meter = load("pyflink.metrics").Meter
    pickled = pickle.dumps(meter(), protocol=0)
    assert b"wiesel.metrics.meter" in pickled
    assert b"pyflink" not in pickled
    assert type(pickle.loads(pickled.replace(b"wiesel.metrics", b"pyflink.metrics"))) is meter


def test_errors_of_catalogs_are_found_where_pyflink_has_them(parts: None) -> None:
    assert load("pyflink.util.exceptions").TableNotExistException is load("wiesel.spi.table.catalog_errors").TableNotExistException
    with pytest.raises(ModuleNotFoundError, match="internal to PyFlink but for util"):
        load("pyflink.util.java_utils")
    pyflink_hook.uninstall()
    assert not [name for name in sys.modules if name.split(".")[0] == "pyflink"]


def test_install_twice_is_install_once(parts: None) -> None:
    before = list(sys.meta_path)
    pyflink_hook.install()
    assert sys.meta_path == before
    assert pyflink_hook.is_installed()


def test_uninstall_forgets_the_names_but_not_wiesel(parts: None) -> None:
    module = load("pyflink.metrics.meter")
    pyflink_hook.uninstall()
    assert not pyflink_hook.is_installed()
    assert not [name for name in sys.modules if name.split(".")[0] == "pyflink"]
    assert sys.modules["wiesel.metrics.meter"] is module
    assert module.__spec__ is not None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("pyflink.metrics.metr", "did you mean pyflink.metrics.meter?"),
        ("pyflink.metrics.nothing", "pyflink.metrics has: deep, meter."),
        ("pyflink.java_gateway", "there is no gateway to a JVM"),
        ("pyflink.fn_execution.state_impl", "user functions run in Spark's Python workers"),
        ("pyflink.nonsense", "docs/coverage.md"),
        ("pyflink.table.nothing", "pyflink.table has: catalog, changelog_mode, compiled_plan, data_view, environment_settings, "),
        ("pyflink.table.shema", "did you mean pyflink.table.schema?"),
    ],
)
def test_what_is_missing_is_named_with_a_way_out(parts: None, name: str, told: str) -> None:
    with pytest.raises(ModuleNotFoundError) as caught:
        load(name)
    # The import system asks for the parents first, so that is where it may end.
    assert caught.value.name is not None
    assert name.startswith(caught.value.name)
    assert f"Wiesel has no counterpart of {caught.value.name}" in str(caught.value)
    assert told in str(caught.value)


def test_inner_packages_of_wiesel_are_not_reachable_as_pyflink(parts: None) -> None:
    assert load("wiesel.inner")
    for name in ("pyflink.inner", "pyflink.core", "pyflink.runtime"):
        with pytest.raises(ModuleNotFoundError):
            load(name)


def test_a_real_pyflink_that_is_already_imported_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ModuleType("pyflink")
    real.__file__ = "site-packages/pyflink/__init__.py"
    monkeypatch.setitem(sys.modules, "pyflink", real)
    with pytest.raises(ConfigurationError, match=r"already imported.*site-packages/pyflink"):
        pyflink_hook.install()
    assert not pyflink_hook.is_installed()


def test_a_real_pyflink_on_the_path_is_found_unless_the_hook_is_installed(tmp_path: Path) -> None:
    (tmp_path / "pyflink").mkdir()
    (tmp_path / "pyflink" / "__init__.py").write_text("real = True\n")
    program = (
        "import sys; from wiesel.platform import pyflink_hook\n"
        "if 'hook' in sys.argv: pyflink_hook.install()\n"
        "import pyflink; print(getattr(pyflink, 'real', False))"
    )

    def real_is_found(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=tmp_path, capture_output=True, text=True, check=True, timeout=150,
        ).stdout.strip()  # fmt: skip

    assert real_is_found() == "True"
    assert real_is_found("hook") == "False"
