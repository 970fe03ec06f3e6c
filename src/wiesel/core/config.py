"""Internal. Option definitions and configuration values.

An option is declared once (:mod:`wiesel.core.options`), with Flink's key, its type and its default. A :class:`Configuration` stores the set
values under the keys used; reading an option checks its key first, then its deprecated keys, then returns the default. Keys and values are
checked when they are set, so that an error refers to the line that is wrong:

* a key of ours: the value must be readable as the option's type;
* a key of Flink that Wiesel has no use for (``pipeline.jars``, ``taskmanager.memory.process.size``, ...): kept, with a note;
* any other key in a namespace of Flink (``execution.``, ``pipeline.``, ...), or one that is almost a key of ours or, below ``table.``, of
  Flink: kept, as in Flink, with a warning that names the most similar keys;
* an unknown key below ``wiesel.``: refused;
* everything else belongs to the user and is kept.
"""

from __future__ import annotations

import builtins
import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

from wiesel.core.durations import Duration, format_duration
from wiesel.core.errors import ConfigurationError
from wiesel.core.html import html_table
from wiesel.core.logs import get_logger
from wiesel.core.memory_size import MemorySize
from wiesel.core.option_values import OptionType, convert, to_text
from wiesel.core.secrets import HIDDEN, is_secret, without_secrets

__all__ = ["ConfigOption", "ConfigOptions", "Configuration", "declared_options", "find_option", "process_defaults", "set_process_defaults"]

T = TypeVar("T")
D = TypeVar("D")
_log = get_logger("wiesel.config")


@dataclass(frozen=True)
class ConfigOption(Generic[T]):
    """One option.

    Attributes:
        key: Flink's key.
        type: How values are read.
        default: What holds when nothing is set; ``None`` for options without a default.
        default: The default value; ``None`` for options without a default.
        deprecated_keys: Deprecated keys of the option, in order of precedence.
        choices: The values of an enumeration, as documented.
        minimum: Smallest value allowed, for numbers; durations count in ms, sizes in bytes.
        maximum: Largest value allowed.
    """

    key: str
    type: OptionType = "str"
    default: T | None = None
    description: str = field(default="", compare=False)
    deprecated_keys: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    def parse(self, value: Any, key: str | None = None) -> T:
        """Return ``value`` (a string or already of the right type) as the option's type.

        Raises:
            ConfigurationError: If it cannot be parsed or is out of bounds; names the key, the value and the expected type.
        """
        try:
            parsed = convert(value, self.type, self.choices)
        except ConfigurationError as e:
            raise ConfigurationError(f"option {key or self.key}: {e.message}", hint=e.hint, key=self.key) from e
        self._check_bounds(parsed, key or self.key)
        return parsed  # type: ignore[no-any-return]

    def _check_bounds(self, value: Any, key: str) -> None:
        size = value.to_millis() if isinstance(value, Duration) else value.bytes if isinstance(value, MemorySize) else value
        too_small = self.minimum is not None and size < self.minimum
        if too_small or (self.maximum is not None and size > self.maximum):
            bounds = f"at least {_bound(self.minimum)}" if too_small else f"at most {_bound(self.maximum)}"
            unit = " ms" if isinstance(value, Duration) else " bytes" if isinstance(value, MemorySize) else ""
            raise ConfigurationError(
                f"option {key}: {to_text(value)} is {'too small' if too_small else 'too large'}", hint=f"give {bounds}{unit}", key=self.key
            )

    @property
    def default_text(self) -> str:
        """The default in the notation of options; ``(none)`` without one."""
        return "(none)" if self.default is None else to_text(self.default)


def _bound(bound: Any) -> str:
    # Integers in full: the bounds of 64-bit numbers have 19 digits.
    return str(bound) if isinstance(bound, int) else f"{bound:g}"


class ConfigOptions:
    """Builds options in programs, as PyFlink's ``ConfigOptions.key("k").int_type().default_value(3)``."""

    @staticmethod
    def key(key: str) -> ConfigOptions.OptionBuilder:
        """Start an option with this key."""
        return ConfigOptions.OptionBuilder(key)

    class OptionBuilder:
        """Has a key, wants a type."""

        def __init__(self, key: str) -> None:
            self._key = key

        def boolean_type(self) -> ConfigOptions.TypedConfigOptionBuilder[bool]:
            """Values are ``true`` and ``false``."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "bool")

        def int_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Set the type to integer."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "int")

        def long_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Set the type to integer."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "int")

        def float_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Values are numbers."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "float")

        def double_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Values are numbers."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "float")

        def string_type(self) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            """Set the type to string."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "str")

    class TypedConfigOptionBuilder(Generic[T]):
        """Has a key and a type, wants a default or none."""

        def __init__(self, key: str, option_type: OptionType) -> None:
            self._key = key
            self._type = option_type

        def default_value(self, value: T) -> ConfigOption[T]:
            """Return the option with a default."""
            return ConfigOption(self._key, self._type, value)

        def no_default_value(self) -> ConfigOption[T]:
            """Return the option without a default."""
            return ConfigOption(self._key, self._type)


class Configuration:
    """Values of options by key; PyFlink's ``Configuration`` with typed access by option in addition.

    Values are stored as set and converted when read. Picklable; iterates over its keys in insertion order.
    """

    __slots__ = ("_values",)

    def __init__(self, other: Configuration | None = None) -> None:
        self._values: dict[str, Any] = {} if other is None else dict(other._values)

    @classmethod
    def from_dict(cls, map: Mapping[str, Any]) -> Configuration:  # noqa: A002 - PyFlink's name
        """Return a configuration with these keys and values.

        Raises:
            ConfigurationError: See :meth:`set`.
        """
        config = cls()
        for key, value in map.items():
            config.set(key, value)
        return config

    # By option.

    @overload
    def get(self, option: ConfigOption[T]) -> T: ...
    @overload
    def get(self, option: ConfigOption[T], default: D) -> T | D: ...
    @overload
    def get(self, option: str, default: Any = None) -> Any: ...
    def get(self, option: ConfigOption[Any] | str, default: Any = None) -> Any:
        """Return the value of an option (or of a key, read as the option declared for it), else its default.

        Args:
            option: The option; for options without a default the result may be ``None``.
            default: Returned instead of the option's own default if the option is not set.
        """
        if isinstance(option, str):
            declared = find_option(option)
            if declared is None:
                return self._values.get(option, default)
            option = declared
        for key in (option.key, *option.deprecated_keys):
            if key in self._values:
                return option.parse(self._values[key], key)
        return option.default if default is None else default

    def set(self, option: ConfigOption[Any] | str, value: Any) -> Configuration:
        """Set the value of an option or key, given as a string or as the option's type.

        Raises:
            ConfigurationError: If the key is unknown or the value cannot be parsed.
        """
        if isinstance(option, ConfigOption):
            option.parse(value)
            self._values[option.key] = value
        else:
            check_setting(option, value)
            self._values[option] = value
        return self

    def contains(self, option: ConfigOption[Any]) -> bool:
        """Return whether the option is set, under its key or a deprecated key."""
        return any(key in self._values for key in (option.key, *option.deprecated_keys))

    def with_prefix(self, prefix: str) -> dict[str, str]:
        """Return the settings whose keys start with ``prefix``, as strings, without the prefix."""
        return {key[len(prefix) :]: to_text(value) for key, value in self._values.items() if key.startswith(prefix)}

    def merged(self, other: Configuration | Mapping[str, Any]) -> Configuration:
        """Return a copy in which the settings of ``other`` take precedence.

        Settings under a deprecated key and under the present key are the same setting.
        """
        result = Configuration(self)
        theirs = other._values if isinstance(other, Configuration) else Configuration.from_dict(other)._values
        for key, value in theirs.items():
            declared = find_option(key)
            for name in () if declared is None else (declared.key, *declared.deprecated_keys):
                if name not in theirs:
                    result._values.pop(name, None)
            result._values[key] = value
        return result

    # As in PyFlink, by key.

    def get_string(self, key: str, default_value: str) -> str:
        """Return a value as a string."""
        return to_text(self._values[key]) if key in self._values else default_value

    def set_string(self, key: str, value: str) -> Configuration:
        """Set a string."""
        return self.set(key, value)

    def get_integer(self, key: str, default_value: int) -> int:
        """Return a value as an integer."""
        return self._as(key, "int", default_value)

    def set_integer(self, key: str, value: int) -> Configuration:
        """Set an integer."""
        return self.set(key, value)

    def get_boolean(self, key: str, default_value: bool) -> bool:
        """Return a value as a boolean."""
        return self._as(key, "bool", default_value)

    def set_boolean(self, key: str, value: bool) -> Configuration:
        """Set a boolean."""
        return self.set(key, value)

    def get_float(self, key: str, default_value: float) -> float:
        """Return a value as a number."""
        return self._as(key, "float", float(default_value))

    def set_float(self, key: str, value: float) -> Configuration:
        """Set a number."""
        return self.set(key, float(value))

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        """Return a value that was set as bytes."""
        return bytearray(self._values.get(key, default_value))

    def set_bytearray(self, key: str, value: bytearray) -> Configuration:
        """Set bytes."""
        return self.set(key, bytes(value))

    def _as(self, key: str, option_type: OptionType, default: T) -> T:
        if key not in self._values:
            return default
        return ConfigOption[T](key, option_type).parse(self._values[key])

    @staticmethod
    def parse_list_value(value: str) -> list[str]:
        """Return the parts of a list option (``a;b`` or ``[a, b]``)."""
        return convert(value, "list", ())  # type: ignore[no-any-return]

    def key_set(self) -> builtins.set[str]:
        """Return the keys that are set."""
        return set(self._values)

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        """Add all settings to a dict, as strings."""
        target_dict.update(self.to_dict())

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        """Add all settings of another configuration, with ``prefix`` before their keys."""
        for key, value in other._values.items():
            self.set(f"{prefix or ''}{key}", value)
        return self

    def contains_key(self, key: str) -> bool:
        """Return whether exactly this key is set."""
        return key in self._values

    def to_dict(self) -> dict[str, str]:
        """Return all settings as strings."""
        return {key: to_text(value) for key, value in self._values.items()}

    def remove_config(self, key: str) -> bool:
        """Remove a setting; return whether it was set."""
        return self._values.pop(key, self) is not self

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __deepcopy__(self, memo: Any = None) -> Configuration:
        return Configuration(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and self._values == other._values

    def __hash__(self) -> int:
        # Java sums up the hashes of the keys as well: values may be lists and dicts.
        return hash(frozenset(self._values))

    def __str__(self) -> str:
        return "{" + ", ".join(f"{key}={value}" for key, value in self._shown()) + "}"

    def _shown(self) -> list[tuple[str, str]]:
        return [(key, HIDDEN if is_secret(key) else without_secrets(to_text(value))) for key, value in self._values.items()]

    def _repr_html_(self) -> str:
        count = f"{len(self)} setting{'' if len(self) == 1 else 's'}"
        return html_table(f"Configuration, {count}", ("option", "value"), sorted(self._shown()))

    def __repr__(self) -> str:
        return f"Configuration({self})"


# The registry, filled by wiesel.core.options, which is imported lazily.

_registry: dict[str, ConfigOption[Any]] = {}
_process_defaults: dict[str, str] = {}
_noted: set[str] = set()


def declare(option: ConfigOption[T]) -> ConfigOption[T]:
    """Add an option to the registry and return it.

    Raises:
        ConfigurationError: If one of its keys is used by another option.
    """
    for key in (option.key, *option.deprecated_keys):
        if _registry.setdefault(key, option) is not option:
            raise ConfigurationError(f"two options are declared with the key {key}")
    return option


def _all_options() -> dict[str, ConfigOption[Any]]:
    from wiesel.core import options  # noqa: F401 - declares them; not at the top, because that module needs this one

    return _registry


def declared_options() -> list[ConfigOption[Any]]:
    """Return all options, sorted by key."""
    return sorted(set(_all_options().values()), key=lambda option: option.key)


def find_option(key: str) -> ConfigOption[Any] | None:
    """Return the option with this key or older name, or ``None``."""
    return _all_options().get(key)


def set_process_defaults(settings: Mapping[str, str]) -> None:
    """Set defaults of all environments of this process (the command line's ``-D key=value``), replacing earlier ones.

    Raises:
        ConfigurationError: If a key is unknown or a value cannot be parsed.
    """
    for key, value in settings.items():
        check_setting(key, value)
    _process_defaults.clear()
    _process_defaults.update(settings)


def process_defaults() -> dict[str, str]:
    """Return a copy of the settings of :func:`set_process_defaults`."""
    return dict(_process_defaults)


def check_setting(key: str, value: Any, note: Callable[[str], None] = _log.warning) -> None:
    """Check that a key is known and its value can be parsed (see the module's docstring).

    Args:
        key: The key.
        value: String or a value of the option's type.
        note: Called once per process for each key of Flink that has no effect here, and each unknown key.

    Raises:
        ConfigurationError: If not.
    """
    option = find_option(key)
    if option is not None:
        option.parse(value, key)
        return
    from wiesel.core import flink_keys, table_keys

    meant = table_keys.misspelt(key) if key.startswith("table.") else None
    why = None if meant else flink_keys.reason(key) if flink_keys.is_ignored(key) else table_keys.reason(key)
    if why is not None:
        _note_once(key, f"option {key} of Flink has no effect in Wiesel: {why}", note)
    elif meant is not None:
        _note_once(key, f"unknown option {key!r} has no effect: did you mean {meant}?", note)
    elif not flink_keys.is_free(key):
        namespaces = {name.split(".", 1)[0] for name in _registry} | set(flink_keys.NAMESPACES)
        ours = key.split(".", 1)[0] in namespaces
        similar = difflib.get_close_matches(key, _registry, n=3, cutoff=0.6 if ours else 0.9)
        hint = "docs/configuration.md lists the options; keys of the user start with 'user.'"
        if similar:
            hint = f"did you mean {' or '.join(similar)}?"
        if key.startswith("wiesel."):
            # No program of Flink sets it, so it can only be a mistake.
            raise ConfigurationError(f"unknown option {key!r}", hint=hint, key=key)
        if ours or similar:
            _note_once(key, f"unknown option {key!r} has no effect: {hint}", note)


def _note_once(key: str, message: str, note: Callable[[str], None]) -> None:
    if key not in _noted:
        _noted.add(key)
        note(message)


def describe_value(value: Any) -> str:
    """Return a value as it is shown to people: durations and sizes with their unit."""
    return format_duration(value) if isinstance(value, Duration) else to_text(value)
