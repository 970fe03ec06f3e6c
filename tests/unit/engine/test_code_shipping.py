"""Classes of the program on workers where its modules are not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = """
import sys, {module}
from wiesel.engine.code_shipping import program_classes, ship_program_modules
ship_program_modules()
sys.stdout.buffer.write(program_classes())
"""

WORKER = """
import pickle, sys
from wiesel.engine.code_shipping import install_program_classes
install_program_classes(sys.stdin.buffer.read())
from {module} import Order
order = pickle.loads(pickle.dumps(Order(3), 5))
assert type(order) is Order and order.number == 3
import {module}
print(Order.__module__, file=sys.stderr)
"""


def run(program: str, given: bytes, *modules: Path) -> subprocess.CompletedProcess[bytes]:
    paths = os.pathsep.join([*map(str, modules), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, timeout=150, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    return done


@pytest.mark.parametrize("module", ["orders_of_the_shop", "shop_of_orders.model.orders"])
def test_records_of_classes_in_modules_beside_the_program_are_pickled(tmp_path: Path, module: str) -> None:
    file = tmp_path.joinpath(*module.split(".")).with_suffix(".py")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("from dataclasses import dataclass\n\n\n@dataclass\nclass Order:\n    number: int\n")
    shipped = run(DRIVER.format(module=module), b"", tmp_path).stdout
    assert run(WORKER.format(module=module), shipped).stderr.decode().strip() == module
