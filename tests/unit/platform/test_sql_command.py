"""``wiesel sql check`` as a user meets it."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from wiesel.platform.cli import main


def test_scripts_are_read_and_their_errors_shown(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.sql", tmp_path / "wrong.sql"
    right.write_text("CREATE TABLE t (a INT) WITH ('connector' = 'datagen');\nSELECT a FROM t;\n")
    wrong.write_text("SELECT a FROM t;\nSELECT a b c FROM t;\nINSRT INTO t SELECT 1;\n")
    result = CliRunner().invoke(main, ["sql", "check", str(right), str(wrong)])
    assert result.exit_code == 1
    assert f"{right}: 2 statements, all read" in result.output
    assert f"{wrong}: 3 statements, 2 wrong" in result.output
    assert f"{wrong}: line 2, column 12" in result.output
    assert "did you mean INSERT?" in result.output


def test_the_standard_input_is_a_script() -> None:
    result = CliRunner().invoke(main, ["sql", "check", "-"], input="select 1")
    assert result.exit_code == 0 and "-: 1 statement, all read" in result.output
