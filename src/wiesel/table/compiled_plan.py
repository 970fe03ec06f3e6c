"""Plans of jobs that can be kept, and run as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from wiesel.core.errors import ProgramError
from wiesel.sql.session.compiled_plans import FORCE_RECOMPILE
from wiesel.table.explain_detail import ExplainDetail
from wiesel.table.table_config import TableConfig
from wiesel.table.table_result import TableResult

if TYPE_CHECKING:
    from wiesel.table.table_environment import TableEnvironment

__all__ = ["CompiledPlan", "recompiles"]


def recompiles(config: TableConfig) -> bool:
    """Return whether files of plans are written over."""
    return config.get(FORCE_RECOMPILE, "false").lower() == "true"


class CompiledPlan:
    """The plan of inserts. Made by ``compile_plan_sql()``, ``compile_plan()`` and ``load_plan()``.

    It is run as it is: operators keep their uids, so that a savepoint of its job fits, whatever the optimiser of a later version does.
    """

    def __init__(self, text: str, t_env: TableEnvironment) -> None:
        self._text = text
        self._t_env = t_env

    def __str__(self) -> str:
        return self._text

    def as_json_string(self) -> str:
        """Return the plan as JSON."""
        return self._text

    def print_json_string(self) -> None:
        """Print the plan as JSON."""
        print(self._text)

    def write_to_file(self, file: str | Path, ignore_if_exists: bool = False) -> None:
        """Write the plan to a file, as JSON.

        Args:
            file: The path of the file.
            ignore_if_exists: Do nothing if it is there.

        Raises:
            ProgramError: If the file is there and ``table.plan.force-recompile`` is not set; if it cannot be written.
        """
        path = Path(file)
        if path.exists() and not recompiles(self._t_env.get_config()):
            if ignore_if_exists:
                return
            hint = f"remove the file, write IF NOT EXISTS, or set '{FORCE_RECOMPILE}' to 'true' while you try things out"
            raise ProgramError(f"the plan {str(file)!r} is there already", hint=hint)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._text, encoding="utf-8")
        except OSError as error:
            raise ProgramError(f"the plan {str(file)!r} cannot be written: {error}", hint="name a file in a folder of yours") from error

    def get_wiesel_version(self) -> str:
        """Return the version of Wiesel that compiled the plan."""
        return str(json.loads(self._text)["wieselVersion"])

    def execute(self) -> TableResult:
        """Start the job.

        Raises:
            ProgramError: If a table or function of the plan is not there any more, or a table has other columns.
        """
        return self._t_env._start_plan(self._text)

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return the plan as text.

        Args:
            extra_details: What to tell besides.
        """
        return self._t_env._explain_plan(self._text, extra_details)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the plan."""
        print(self.explain(*extra_details))
