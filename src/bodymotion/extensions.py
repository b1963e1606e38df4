"""The table of extensions: packages that add a robot with its formats, rules, fixes,
commands and views.

General code asks this table, and knows no extension by name. An extension is described
by a module `extension` with a value
`EXTENSION`. The modules that it names are imported when they are first used:

- a package of bodymotion has the module in its folder;
- another distribution names its module in an entry point of the group
`bodymotion.extensions`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

# The group of entry points, each with the module of an extension.
GROUP = "bodymotion.extensions"


@dataclass(frozen=True)
class Function:
    """A function "module:name", whose module is imported when it is first called."""

    place: str

    def __call__(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        """Call the function."""
        return self.find()(*arguments, **options)

    def find(self) -> Callable[..., Any]:
        """Import the module and return the function."""
        module, _, name = self.place.partition(":")
        function: Callable[..., Any] = getattr(import_module(module), name)
        return function


@dataclass(frozen=True)
class Kind:
    """A kind of value that files of an extension hold, or `Motion` to describe what is
    made of one.

    Attributes
    ----------
    name:
        The name of its class, as in the column `holds` of the table of formats.
    place:
        The class, as "module:name".
    noun, plural:
        What messages call one, "script", and many of them, "Spam scripts".
    robot:
        The name of the robot for people: "Spam".
    has_tempo:
        Whether it is played at a tempo that can be chosen.
    from_motion_options, to_motion_options:
        The options of `bodymotion convert` that its functions "from_motion" and
        "to_motion" take.
    functions:
        Functions "module:name" by what they are for; see
        docs/developing/a-robot-of-your-own.md.
    """

    name: str
    place: str
    noun: str
    plural: str
    robot: str
    has_tempo: bool = False
    from_motion_options: tuple[str, ...] = ()
    to_motion_options: tuple[str, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict)

    @property
    def type(self) -> type:
        """The class of the values."""
        found = Function(self.place).find()
        assert isinstance(found, type)
        return found

    def function(self, purpose: str) -> Function | None:
        """Return the function for a purpose; None where the kind has none."""
        place = self.functions.get(purpose)
        return None if place is None else Function(place)


@dataclass(frozen=True)
class Extension:
    """What a package adds to bodymotion.

    Attributes
    ----------
    name:
        The name of its robot, for commands; the key in `Motion.extra` of what it keeps
        about a motion that it made.
    package:
        The package with the modules of the formats, and with a module `sniffing` where
        formats are recognised by their content.
    formats:
        A table as `formats/formats.txt`.
    kinds:
        The kinds of values that the formats hold.
    text_formats:
        The formats whose line endings are checked.
    rules:
        Modules and packages that define rules.
    fixes:
        For a format the module whose `edits_of(data, path)` fixes its files.
    commands:
        The module of each command, which has the command as a function or group of its
        name.
    examples:
        Lines for the examples in the help of commands, by command.
    renamed:
        Former names of public things that are in the extension now, with the present
        ones; they work with a DeprecationWarning.
    tracks:
        The order of the tracks of its dances.
    functions:
        Functions "module:name" by what they are for; see
        docs/developing/a-robot-of-your-own.md.
    """

    name: str
    package: str
    formats: str = ""
    kinds: tuple[Kind, ...] = ()
    text_formats: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    fixes: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    tracks: tuple[str, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict)

    def function(self, purpose: str) -> Function | None:
        """Return the function for a purpose; None where the extension has none."""
        place = self.functions.get(purpose)
        return None if place is None else Function(place)

    def needed_function(self, purpose: str) -> Function:
        """Return the function for a purpose.

        Raises ValueError where the extension has none.
        """
        function = self.function(purpose)
        if function is None:
            raise ValueError(f"the extension {self.name!r} has no function {purpose!r}")
        return function


@cache
def extensions() -> tuple[Extension, ...]:
    """Return the extensions: those of bodymotion by name, then those of other
    distributions.
    """
    folder = Path(__file__).parent
    own = sorted(path.parent.name for path in folder.glob("*/extension.py"))
    modules = [f"{__package__}.{name}.extension" for name in own]
    return tuple(
        import_module(name).EXTENSION for name in (*modules, *_installed_modules())
    )


def _installed_modules() -> list[str]:
    """Return the modules that entry points of installed distributions name."""
    heading = f"[{GROUP}]".encode()
    # `importlib.metadata` takes as long to import as all of the command line, and few
    # environments have an extension: it is imported only where one is declared.
    declarations: list[Path] = []
    for folder in sys.path:
        declarations += Path(folder).glob("*.*-info/entry_points.txt")
    if not any(heading in path.read_bytes() for path in declarations):
        return []
    from importlib.metadata import entry_points

    return sorted(point.value for point in entry_points(group=GROUP))


def kinds() -> Iterator[Kind]:
    """Yield the kinds of values of all extensions."""
    for extension in extensions():
        yield from extension.kinds


def kind_named(name: str) -> Kind | None:
    """Return the kind of value of a class's name; None for those of bodymotion."""
    return next((kind for kind in kinds() if kind.name == name), None)


def kind_of(value: object) -> Kind | None:
    """Return the kind of a value; None for those of bodymotion."""
    # The module is compared, too: another class may have the name.
    place = f"{type(value).__module__}:{type(value).__name__}"
    return next((kind for kind in kinds() if kind.place == place), None)


def functions_for(purpose: str) -> list[Function]:
    """Return the functions of all extensions for a purpose."""
    found = (extension.function(purpose) for extension in extensions())
    return [function for function in found if function is not None]
