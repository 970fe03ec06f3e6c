"""Slot sharing groups."""

from __future__ import annotations

from typing import Any

from wiesel.core import memory_size
from wiesel.core.argument_checks import require_count, require_instance
from wiesel.core.user_location import program_error

__all__ = ["MemorySize", "SlotSharingGroup"]


class MemorySize(memory_size.MemorySize):
    """A number of bytes, with PyFlink's names."""

    __slots__ = ()

    def __init__(self, bytes_size: int) -> None:
        super().__init__(bytes_size)

    @staticmethod
    def of_mebi_bytes(mebi_bytes: int) -> MemorySize:
        """Return this many MiB."""
        return MemorySize(mebi_bytes << 20)

    def get_bytes(self) -> int:
        """Return the number of bytes."""
        return self.bytes

    def get_kibi_bytes(self) -> int:
        """Return the number of whole KiB."""
        return self.bytes >> 10

    def get_mebi_bytes(self) -> int:
        """Return the number of whole MiB."""
        return self.bytes >> 20

    def get_gibi_bytes(self) -> int:
        """Return the number of whole GiB."""
        return self.bytes >> 30

    def get_tebi_bytes(self) -> int:
        """Return the number of whole TiB."""
        return self.bytes >> 40


class SlotSharingGroup:
    """A named group of operators that may share slots.

    Resources can be set as in Flink; slots of Spark executors are all of one size, so they are informative only.
    """

    def __init__(
        self,
        name: str,
        cpu_cores: float | None = None,
        task_heap_memory: MemorySize | None = None,
        task_off_heap_memory: MemorySize | None = None,
        managed_memory: MemorySize | None = None,
        external_resources: dict[str, float] | None = None,
    ) -> None:
        self._name = name
        self._cpu_cores = cpu_cores
        self._task_heap_memory = task_heap_memory
        self._task_off_heap_memory = task_off_heap_memory
        self._managed_memory = managed_memory
        self._external_resources = dict(external_resources or {})

    def get_name(self) -> str:
        """Return the name of the group."""
        return self._name

    def get_managed_memory(self) -> MemorySize | None:
        """Return the managed memory of a slot, or None."""
        return self._managed_memory

    def get_task_heap_memory(self) -> MemorySize | None:
        """Return the task heap memory of a slot, or None."""
        return self._task_heap_memory

    def get_task_off_heap_memory(self) -> MemorySize | None:
        """Return the task off-heap memory of a slot, or None."""
        return self._task_off_heap_memory

    def get_cpu_cores(self) -> float | None:
        """Return the CPU cores of a slot, or None."""
        return self._cpu_cores

    def get_external_resources(self) -> dict[str, float]:
        """Return further resources of a slot by name."""
        return dict(self._external_resources)

    @staticmethod
    def builder(name: str) -> SlotSharingGroup.Builder:
        """Return a builder for a group of this name."""
        return SlotSharingGroup.Builder(name)

    def _parts(self) -> tuple[Any, ...]:
        resources = tuple(sorted(self._external_resources.items()))
        return (self._name, self._cpu_cores, self._task_heap_memory, self._task_off_heap_memory, self._managed_memory, resources)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SlotSharingGroup) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"SlotSharingGroup({self._name!r})"

    class Builder:
        """Collects the parts of a group."""

        def __init__(self, name: str) -> None:
            require_instance(name, str, "the name of a slot sharing group", "give a text")
            self._name = name
            self._parts: dict[str, Any] = {}
            self._external_resources: dict[str, float] = {}

        def set_cpu_cores(self, cpu_cores: float) -> SlotSharingGroup.Builder:
            """Set the CPU cores of a slot, more than 0."""
            require_instance(cpu_cores, (int, float), "the number of cores", "give e.g. 1.0")
            if cpu_cores <= 0:
                raise program_error(f"the number of cores must be above 0, got {cpu_cores}", "give e.g. 1.0")
            self._parts["cpu_cores"] = float(cpu_cores)
            return self

        def set_task_heap_memory(self, task_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the task heap memory of a slot."""
            self._parts["task_heap_memory"] = task_heap_memory
            return self

        def set_task_heap_memory_mb(self, task_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the task heap memory of a slot in MiB."""
            return self.set_task_heap_memory(_mebi_bytes(task_heap_memory_mb, "task_heap_memory_mb"))

        def set_task_off_heap_memory(self, task_off_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the task off-heap memory of a slot."""
            self._parts["task_off_heap_memory"] = task_off_heap_memory
            return self

        def set_task_off_heap_memory_mb(self, task_off_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the task off-heap memory of a slot in MiB."""
            return self.set_task_off_heap_memory(_mebi_bytes(task_off_heap_memory_mb, "task_off_heap_memory_mb"))

        def set_managed_memory(self, managed_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the managed memory of a slot."""
            self._parts["managed_memory"] = managed_memory
            return self

        def set_managed_memory_mb(self, managed_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the managed memory of a slot in MiB."""
            return self.set_managed_memory(_mebi_bytes(managed_memory_mb, "managed_memory_mb"))

        def set_external_resource(self, name: str, value: float) -> SlotSharingGroup.Builder:
            """Set a further resource of a slot."""
            self._external_resources[name] = value
            return self

        def build(self) -> SlotSharingGroup:
            """Return the group.

            Raises:
                ProgramError: If resources were set but not both cores and heap memory, which Flink requires.
            """
            if (self._parts or self._external_resources) and not {"cpu_cores", "task_heap_memory"} <= set(self._parts):
                raise program_error(
                    f"the slot sharing group {self._name!r} names resources, but not both CPU cores and task heap memory",
                    "call set_cpu_cores() and set_task_heap_memory(), or name no resources",
                )
            defaults = {"task_off_heap_memory": MemorySize(0), "managed_memory": MemorySize(0)} if self._parts else {}
            return SlotSharingGroup(self._name, **{**defaults, **self._parts}, external_resources=self._external_resources)


def _mebi_bytes(value: int, what: str) -> MemorySize:
    return MemorySize.of_mebi_bytes(require_count(value, what, minimum=0))
