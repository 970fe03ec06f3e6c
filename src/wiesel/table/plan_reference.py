"""References to compiled plans."""

from __future__ import annotations

from pathlib import Path

from wiesel.core.argument_checks import require_instance
from wiesel.core.errors import ProgramError

__all__ = ["FilePlanReference", "JsonContentPlanReference", "PlanReference"]


class PlanReference:
    """Tells where a plan is, for ``TableEnvironment.load_plan()`` and ``execute_plan()``.

    >>> PlanReference.from_json_string("{}").get_content()
    '{}'
    """

    @staticmethod
    def from_file(path: str | Path) -> FilePlanReference:
        """Return a reference to a file that ``COMPILE PLAN`` or ``CompiledPlan.write_to_file()`` wrote."""
        require_instance(path, (str, Path), "from_file() takes the path of a file: it", "give a text or a Path")
        return FilePlanReference(Path(path))

    @staticmethod
    def from_json_string(json_string: str) -> JsonContentPlanReference:
        """Return a reference to what ``CompiledPlan.as_json_string()`` returned."""
        require_instance(json_string, str, "from_json_string() takes a plan as text: it", "give what as_json_string() returned")
        return JsonContentPlanReference(json_string)

    def __str__(self) -> str:
        return type(self).__name__

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).items()))

    def _text(self) -> str:
        raise ProgramError("a PlanReference tells nothing by itself", hint="call PlanReference.from_file(...)")


class FilePlanReference(PlanReference):
    """A plan in a file. Made by :meth:`PlanReference.from_file`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get_file(self) -> Path:
        """Return the path of the file."""
        return self._path.resolve()

    def __str__(self) -> str:
        return f"Plan from file '{self._path}'"

    def _text(self) -> str:
        try:
            return self._path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ProgramError(
                f"the plan {str(self._path)!r} cannot be read: {error}", hint="name a file that COMPILE PLAN wrote"
            ) from error


class JsonContentPlanReference(PlanReference):
    """A plan as text. Made by :meth:`PlanReference.from_json_string`."""

    def __init__(self, content: str) -> None:
        self._content = content

    def get_content(self) -> str:
        """Return the text."""
        return self._content

    def __str__(self) -> str:
        return f"Plan:\n{self._content}"

    def _text(self) -> str:
        return self._content
