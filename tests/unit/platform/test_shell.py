"""``wiesel shell``: a Python prompt with environments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# The plain prompt, whether IPython is installed here or not.
BEGIN = """\
import importlib.util, sys
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *package: None if name == "IPython" else find_spec(name, *package)
sys.argv[0] = "wiesel"
from wiesel.platform.cli import main
main()
"""
TYPED = """\
def double(n):
    return n * 2

_ = env.from_collection([1, 2, 3]).map(double).print()
_ = env.execute()
class Plus(MapFunction):
    def map(self, value):
        return value + 1

print(sorted(s_env.from_collection([1, 2]).map(Plus()).execute_and_collect()))
print(list(bt_env.sql_query("SELECT a + 1 FROM (VALUES 1) AS t (a)").execute().collect()))
print(list(st_env.from_elements([(1, 'a')], ['n', 's']).select(col('n') + 1).execute().collect()))
from pyflink.datastream import StreamExecutionEnvironment as Flinks
print(Flinks is StreamExecutionEnvironment, env.get_parallelism())
nosuch
print("still here")
"""


def test_environments_and_names_are_there(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", BEGIN, "shell", "-p", "3", "-D", "wiesel.engine=local"]
    ended = subprocess.run(arguments, input=TYPED, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False)
    assert ended.returncode == 0, ended.stderr
    first, second, third, *others = [said for line in ended.stdout.splitlines() if (said := line.replace(">>> ", "").replace("... ", ""))]
    assert sorted(line.partition("> ")[2] for line in (first, second, third)) == ["2", "4", "6"]
    assert others == ["[2, 3]", "[<Row(2)>]", "[<Row(2)>]", "True 3", "still here"]
    assert "NameError: name 'nosuch' is not defined" in ended.stderr
    assert "env      the StreamExecutionEnvironment" in ended.stderr
