"""What workers need besides the program: packed once, unpacked once, in place while a task runs and gone afterwards."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pytest

from tests.servers.counting import serve
from wiesel.common import Configuration
from wiesel.core.errors import ConfigurationError, ProgramError, ResourceError
from wiesel.datastream import MapFunction, RuntimeContext, StreamExecutionEnvironment
from wiesel.engine.dependencies import dependencies_of, in_place, pack, unpack
from wiesel.runtime.distributed_cache import DistributedCache


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "bundles").mkdir()
    return tmp_path


def bundle(here: Path, **options: str) -> str:
    keys = {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
    return pack(dependencies_of(Configuration.from_dict(keys)), str(here / "bundles"))


def wheel(directory: Path, name: str, text: str) -> None:
    """Write a package as pip wants it."""
    info = f"{name}-1.0.dist-info"
    directory.mkdir()
    with zipfile.ZipFile(directory / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", text)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


def test_python_files_of_all_kinds_can_be_imported_while_the_task_runs(here: Path) -> None:
    (here / "one_module.py").write_text("VALUE = 1\n")
    package = here / "folder" / "one_package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("VALUE = 2\n")
    with zipfile.ZipFile(here / "zipped.zip", "w") as archive:
        archive.writestr("zipped_module.py", "VALUE = 3\n")
    before = list(sys.path)
    with in_place(unpack(bundle(here, python_files=f"{here}/one_module.py,{here}/folder,{here}/zipped.zip"))):
        assert [importlib.import_module(m).VALUE for m in ("one_module", "one_package", "zipped_module")] == [1, 2, 3]
    assert sys.path == before
    assert not {"one_module", "one_package", "zipped_module"} & set(sys.modules)


def test_archives_are_unpacked_in_the_working_directory(here: Path) -> None:
    (here / "x.txt").write_text("hello")
    with tarfile.open(here / "a.tar.gz", "w:gz") as tar:
        tar.add(here / "x.txt", "x.txt")
    with zipfile.ZipFile(here / "b.zip", "w") as archive:
        archive.write(here / "x.txt", "deep/x.txt")
    before = os.getcwd()
    with in_place(unpack(bundle(here, python_archives=f"{here}/a.tar.gz#data,{here}/b.zip"))):
        assert Path("data/x.txt").read_text() == Path("b.zip/deep/x.txt").read_text() == "hello"
    assert os.getcwd() == before


def test_requirements_are_installed_from_the_directory_that_came_with_them(here: Path) -> None:
    wheel(here / "wheels", "wiesel_test_requirement", "VALUE = 4\n")
    (here / "requirements.txt").write_text("wiesel-test-requirement==1.0\n")
    with in_place(unpack(bundle(here, python_requirements=f"{here}/requirements.txt#{here}/wheels"))):
        assert importlib.import_module("wiesel_test_requirement").VALUE == 4


def test_requirements_that_cannot_be_had_say_so_and_leave_nothing_behind(here: Path) -> None:
    (here / "wheels").mkdir()
    (here / "requirements.txt").write_text("wiesel-test-requirement==1.0\n")
    path = bundle(here, python_requirements=f"{here}/requirements.txt#{here}/wheels")
    for _ in range(2):
        with pytest.raises(ResourceError, match="wiesel-test-requirement"):
            unpack(path)
    assert sorted(p.suffix for p in (here / "bundles").iterdir()) == [".lock", ".zip"]


def test_cached_files_are_found_by_name_and_keep_what_they_can(here: Path) -> None:
    (here / "tool.sh").write_text("#!/bin/sh\n")
    (here / "tables").mkdir()
    (here / "tables" / "t.csv").write_text("1,2")
    files = f"name:tool,path:{here}/tool.sh,executable:true;name:tables,path:{here}/tables,executable:false"
    with in_place(unpack(bundle(here, pipeline_cached__files=files))):
        cache = DistributedCache()
        assert os.access(cache.get_file("tool"), os.X_OK)
        assert Path(cache.get_file("tables"), "t.csv").read_text() == "1,2"
        with pytest.raises(ProgramError, match="no cached file 'other'; registered: tables, tool"):
            cache.get_file("other")
    with pytest.raises(ProgramError, match="registered: nothing"):
        DistributedCache().get_file("tool")


def test_i12_a_cached_file_of_another_file_system_is_read_once_by_each_machine(here: Path) -> None:
    with serve(words=b"one two") as served:
        shipped = bundle(here, pipeline_cached__files=f"name:w,path:{served.address}/words")
        assert served.reads == {}, "the program's machine only looks whether it is there"
        for machine in ("first", "second"):
            (here / machine).mkdir()
            copy = shutil.copy(shipped, here / machine)
            with ThreadPoolExecutor(4) as pool:
                roots = set(pool.map(unpack, [copy] * 8))
            (root,) = roots
            with in_place(root):
                assert Path(DistributedCache().get_file("w")).read_bytes() == b"one two"
        assert served.reads == {"words": 2}
        # It may have changed by the time of the next job.
        served.files["words"] = b"three"
        again = bundle(here, pipeline_cached__files=f"name:w,path:{served.address}/words")
        with in_place(unpack(again)):
            assert Path(DistributedCache().get_file("w")).read_bytes() == b"three"


def test_directories_of_other_file_systems_are_cached_whole(here: Path) -> None:
    # A file system of fsspec that is in the memory of this process.
    files = fsspec.filesystem("memory")
    for name in ("a.txt", "deep/b.txt", "_hidden.txt"):
        files.pipe(f"/cached/tables/{name}", name.encode())
    with in_place(unpack(bundle(here, pipeline_cached__files="name:t,path:memory://cached/tables,executable:false"))):
        tables = Path(DistributedCache().get_file("t"))
        found = {file.relative_to(tables).as_posix(): file.read_text() for file in tables.rglob("*") if file.is_file()}
    assert found == {name: name for name in ("a.txt", "deep/b.txt", "_hidden.txt")}


def test_a_cached_file_that_is_gone_when_a_worker_wants_it_is_an_error_with_its_address(here: Path) -> None:
    with serve(words=b"one two") as served:
        shipped = bundle(here, pipeline_cached__files=f"name:w,path:{served.address}/words")
        served.files.clear()
        with pytest.raises(ResourceError, match=f"{served.address}/words.* could not be brought"):
            unpack(shipped)


@pytest.mark.parametrize("address", ["{server}/nothing", "http://127.0.0.1:1/x", "nosuch://host/x"])
def test_addresses_that_lead_nowhere_are_told_before_the_job_starts(address: str) -> None:
    with serve() as served:
        entry = f"name:a,path:{address.format(server=served.address)}"
        with pytest.raises(ConfigurationError, match=r"pipeline\.cached-files"):
            dependencies_of(Configuration.from_dict({"pipeline.cached-files": entry}))


def test_the_same_contents_are_the_same_bundle_and_are_unpacked_once(here: Path) -> None:
    (here / "m.py").write_text("VALUE = 1\n")
    first = bundle(here, python_files=f"{here}/m.py")
    os.utime(here / "m.py", (0, 0))
    assert bundle(here, python_files=f"{here}/m.py") == first
    with ThreadPoolExecutor(4) as pool:
        roots = set(pool.map(unpack, [first] * 8))
    assert len(roots) == 1
    (root,) = roots
    stamp = os.stat(root).st_mtime_ns
    unpack(first)
    assert os.stat(root).st_mtime_ns == stamp
    (here / "m.py").write_text("VALUE = 2\n")
    assert bundle(here, python_files=f"{here}/m.py") != first


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("python.files", "no/such.py"),
        ("python.archives", "no/such.zip#data"),
        ("python.requirements", "no/such.txt"),
        ("pipeline.cached-files", "name:a,path:no/such"),
        ("pipeline.cached-files", "path:x"),
    ],
)
def test_what_does_not_exist_is_told_before_the_job_starts(key: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=key):
        dependencies_of(Configuration.from_dict({key: value}))


@pytest.mark.parametrize("name", ["_j_stream_execution_environment", "get_java_anything"])
def test_who_reaches_for_java_objects_is_told_what_to_use(name: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    for thing in (env, env.from_collection([1])):
        with pytest.raises(AttributeError, match=f"no {name}: there are no Java objects.*set_string"):
            getattr(thing, name)
        assert not hasattr(thing, name)
        with pytest.raises(AttributeError, match="has no attribute 'typo'"):
            thing.typo  # noqa: B018


class ReadsCached(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.text = Path(runtime_context.get_distributed_cache().get_file("words")).read_text()

    def map(self, value: int) -> str:
        return self.text * value


def test_the_local_engine_finds_cached_files_where_they_are(here: Path) -> None:
    (here / "words.txt").write_text("ab")
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    env.register_cached_file(str(here / "words.txt"), "words")
    with env.from_collection([1, 2]).map(ReadsCached()).execute_and_collect() as results:
        assert list(results) == ["ab", "abab"]


def test_the_local_engine_brings_cached_files_of_other_file_systems_once() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"})).set_parallelism(3)
    with serve(words=b"ab") as served:
        env.register_cached_file(f"{served.address}/words", "words")
        with env.from_collection([1, 2]).rebalance().map(ReadsCached()).execute_and_collect() as results:
            assert sorted(results) == ["ab", "abab"]
        assert served.reads == {"words": 1}
