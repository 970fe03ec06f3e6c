"""Internal. Execution of SQL scripts, statement by statement, and output of their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wiesel.core.errors import ConfigurationError, ConnectorError, JobExecutionError, ProgramError, WieselError
from wiesel.platform.cli._jobs import cancel_job, listed_jobs, stop_job
from wiesel.sql.language import statements as s
from wiesel.sql.language.errors import parse_error
from wiesel.sql.language.parser import parse_script
from wiesel.sql.session.tableau import lines_by_content
from wiesel.table import TableEnvironment, TableResult
from wiesel.table.statements.runner import run_statement

if TYPE_CHECKING:
    from wiesel.sql.dml.insert import Insertion

__all__ = ["SqlSession", "placed"]

_WIDEST_NAME = 60
_PLANNED = (s.Query, s.Insert, s.StatementSet, s.CompilePlan, s.ExecutePlan)


def placed(text: str, statement: s.Statement, error: WieselError) -> WieselError:
    """Return the error with the statement's position if it has no position of its own."""
    if isinstance(error, JobExecutionError):
        return _of_line(error, _line_of(text, statement))
    if "line" in error.details or not isinstance(error, ProgramError | ConfigurationError | ConnectorError):
        return error
    span = (statement.span.start, min(statement.span.end, statement.span.start + 60))
    return parse_error(text, span, error.message, hint=error.hint)


def _line_of(text: str, statement: s.Statement) -> int:
    return text.count("\n", 0, statement.span.start) + 1


def _of_line(error: JobExecutionError, line: int) -> JobExecutionError:
    """Return the failure of a job with the line of the statement that has started it."""
    if "line" in error.details:
        return error
    failed = JobExecutionError(f"the statement of line {line}: {error.message}", hint=error.hint, **{**error.details, "line": line})
    failed.__cause__ = error.__cause__
    return failed


class SqlSession:
    """Session that runs statements in order in one environment.

    Args:
        t_env: The environment.
        write: Writes a line.
        explain_only: Print the plans of queries and inserts without running them.
    """

    def __init__(self, t_env: TableEnvironment, write: Callable[[str], None], *, explain_only: bool = False) -> None:
        self.t_env = t_env
        self._write = write
        self._explain_only = explain_only
        self._set: list[Insertion] | None = None
        self._jobs: list[TableResult] = []
        self._lines: dict[TableResult, int] = {}
        self._line = 0
        """Jobs of the running statement; background jobs are retained to report their outcome."""
        self.show_query: Callable[[TableResult], None] = self.write_lines

    @property
    def running_jobs(self) -> int:
        """Return the number of running insert jobs."""
        clients = [result.get_job_client() for result in self._jobs]
        return sum(client is not None and not client.get_job_execution_result().done() for client in clients)

    def run(self, text: str) -> None:
        """Run the statements of a script. The whole script is parsed first.

        Raises:
            WieselError: If a statement fails; the statements behind it do not run.
        """
        for statement in parse_script(text, self.t_env._script_options()):
            self._line = _line_of(text, statement)
            try:
                self._run(text, statement)
            except WieselError as error:
                raise placed(text, statement, error) from error

    def run_init(self, text: str) -> None:
        """Run the statements of an initialization script, without output for those that succeed.

        Raises:
            WieselError: If a statement fails, or is a query or an insert.
        """
        for statement in parse_script(text, self.t_env._script_options()):
            try:
                if isinstance(statement, (*_PLANNED, s.BeginStatementSet)):
                    raise ProgramError("a script for the beginning has no queries and no inserts", hint="give it with -f")
                run_statement(self.t_env, text, statement)
            except WieselError as error:
                raise placed(text, statement, error) from error

    def finish(self) -> None:
        """Wait for the jobs that inserts have started.

        Raises:
            ProgramError: If a statement set was begun and not ended.
            JobExecutionError: If a job failed.
        """
        if self._set is not None:
            raise ProgramError("BEGIN STATEMENT SET has no END", hint="write END; behind the inserts")
        while self._jobs:
            # # Keep the job in the set until it has ended, so that an interrupt cancels it.
            try:
                self._jobs[0].wait()
            except JobExecutionError as error:
                raise _of_line(error, self._lines[self._jobs[0]]) from error
            del self._jobs[0]

    def cancel(self) -> int:
        """Cancel the running jobs, wait for their end, and return their number."""
        running = self.running_jobs
        while self._jobs:
            self._jobs.pop().cancel()
        return running

    def _run(self, text: str, statement: s.Statement) -> None:
        if isinstance(statement, s.BeginStatementSet):
            self._begin(text, statement)
        elif isinstance(statement, s.EndStatementSet):
            self._end()
        elif self._set is not None:
            if not isinstance(statement, s.Insert):
                raise ProgramError("between BEGIN STATEMENT SET and END stand inserts only", hint="write END; first")
            self._set.append(self.t_env._insertion_of(text, statement))
        elif self._explain_only and isinstance(statement, _PLANNED):
            self._write(self.t_env._explain_statement(text, statement, ()))
        elif isinstance(statement, s.StopJob):
            self._stop_job(statement)
        elif isinstance(statement, s.Show) and statement.what == "JOBS":
            self._write_jobs(listed_jobs())
        elif isinstance(statement, s.Describe) and statement.kind == "JOB":
            self._write_jobs([job for job in listed_jobs() if job["job"] == statement.path[0]])
        else:
            self._show(statement, run_statement(self.t_env, text, statement))

    def _write_jobs(self, jobs: list[dict[str, Any]]) -> None:
        """Write a table with Flink's columns."""
        rows = [(str(job["job"]), str(job["name"]), str(job["state"]), str(job["since"])) for job in jobs]
        for line in lines_by_content(("job id", "job name", "status", "start time"), rows, _WIDEST_NAME):
            self._write(line)

    def _stop_job(self, statement: s.StopJob) -> None:
        if not statement.with_savepoint:
            self._write(f"[INFO] job {cancel_job(statement.job_id)} is cancelled")
            return
        job_id, path = stop_job(statement.job_id, drain=statement.with_drain)
        self._write(f"[INFO] job {job_id} has ended with the savepoint {path}")

    def _begin(self, text: str, statement: s.Statement) -> None:
        if self._set is not None:
            raise ProgramError("a statement set was begun already", hint="write END; first")
        self._set = []

    def _end(self) -> None:
        if self._set is None:
            raise ProgramError("there is no statement set to end", hint="write BEGIN STATEMENT SET; before the inserts")
        insertions, self._set = self._set, None
        if self._explain_only:
            self._write(self.t_env._explain_insertions(insertions, ()))
        else:
            self._started(self.t_env._start_insertions(insertions))

    def _started(self, result: TableResult) -> None:
        client = result.get_job_client()
        if client is not None:
            self._write(f"[INFO] the job was submitted: {client.get_job_id()}")
            self._jobs.append(result)
            self._lines[result] = self._line

    def _show(self, statement: s.Statement, result: TableResult) -> None:
        if not isinstance(statement, s.Query) and result.get_job_client() is not None:
            self._started(result)
            return
        if isinstance(statement, s.Query):
            self.show_query(result)
        else:
            self.write_lines(result)

    def write_lines(self, result: TableResult) -> None:
        """Write the rows of a result as they arrive; cancel its job when writing ends."""
        try:
            for line in result.lines():
                self._write(line)
        except BaseException:
            result.cancel()
            raise
