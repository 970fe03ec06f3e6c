"""Servers that the tests start themselves, on 127.0.0.1: an S3 (moto) and a Hadoop file system of one machine."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_PATIENCE_S = 300


@contextmanager
def _running(command: list[str], log: Path, ready: Callable[[], bool]) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=log.parent, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
    try:
        limit_s = time.monotonic() + _PATIENCE_S
        while not ready():
            assert process.poll() is None and time.monotonic() < limit_s, f"{command[0]} did not start:\n{log.read_text()[-3000:]}"
            time.sleep(0.1)
        yield process
    finally:
        process.kill()
        process.wait(60)


@dataclass(frozen=True)
class S3Server:
    """An S3 server: its address, and its process, which tests may stop for a while."""

    endpoint: str
    pid: int


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 server."""
    log = tmp_path_factory.mktemp("s3") / "log"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with _running(command, log, lambda: "Running on http" in log.read_text()) as process:
        found = re.search(r"Running on (http://127\.0\.0\.1:\d+)", log.read_text())
        assert found is not None
        yield S3Server(found[1], process.pid)


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a bucket of its own; the environment says where the server is, and who asks."""
    import boto3

    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    bucket = f"bucket-{uuid4().hex}"
    boto3.client("s3").create_bucket(Bucket=bucket)
    return f"s3://{bucket}"


@pytest.fixture(scope="session")
def namenode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """``host:port`` of a name node's HTTP server, with a data node beside it."""
    folder = tmp_path_factory.mktemp("hdfs")
    jars = [sys.executable, str(_ROOT / "scripts" / "hadoop_jars.py"), str(_ROOT / "build" / "hadoop")]
    class_path = subprocess.run(jars, check=True, stdout=subprocess.PIPE, text=True, timeout=900).stdout.strip()
    details, config = folder / "details.json", folder / "config.xml"
    command = ["java", "-Xmx384m", "-cp", class_path, "org.apache.hadoop.test.MiniDFSClusterManager", "-format"]
    command += ["-writeConfig", str(config), "-writeDetails", str(details)]
    # The details are written last.
    with _running(command, folder / "log", lambda: details.exists() and details.read_text().endswith("}")):
        found = re.search(r"dfs\.namenode\.http-address</name><value>localhost:(\d+)", config.read_text())
        assert found is not None
        yield f"127.0.0.1:{found[1]}"


@pytest.fixture
def hdfs(namenode: str) -> str:
    """The address of a directory of its own, as the user who owns the file system."""
    import getpass

    return f"webhdfs://{getpass.getuser()}@{namenode}/{uuid4().hex}"
