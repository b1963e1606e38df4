"""The table of formats: how each is known, what reads it and what writes it.

A file is known by its content first (`sniff` looks at the first `HEAD` bytes), then by its extension, then by more of its content.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics import Findings, Location, Problem, Rule
from bodymotion.system.open_files import pipes_kept, read_head

if TYPE_CHECKING:
    from bodymotion.motion import Motion

__all__ = ["FORMATS", "HEAD", "Format", "find_format", "load", "named_format", "save", "target_format"]

HEAD = 65536
"""How many bytes of a file are looked at to know its format."""
LONG_HEAD = 1 << 20
"""And how many where these and the extension do not tell: long comments may stand before the first key of a file."""

UNWRITABLE = Rule(
    "FMT003",
    "error",
    "A thing is written in a format that is made for it.",
    "judgement",
    example=("save(body, 'robot.seq')", "save(body, 'robot.wrl')"),
)
UNREADABLE = Rule(
    "FMT002",
    "error",
    "The file cannot be opened.",
    "judgement",
    example=("a path where nothing is", "the path of a file"),
)


@dataclass(frozen=True)
class Format:
    """A row of the table.

    `sniff(head)` says from the first bytes whether a file is of this format, `read(path, **options)` reads it,
    `write(thing, path, **options)` writes what `holds` names and gives what was lost. `check(path)` gives every problem of a file in one
    run, errors among them, where a reader of the format stops at the first error; for a motion also what is to be said of its numbers.
    That of a model takes the options of its reader, and is asked only where that one gives up.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    read: Callable[..., Any]
    sniff: Callable[[bytes], bool] = lambda head: False
    write: Callable[..., tuple[Problem, ...]] | None = None
    holds: str = "Motion"
    check: Callable[..., tuple[Problem, ...]] | None = None


def _later(module: str, function: str) -> Callable[..., Any]:
    """Return a function whose module is imported when it is called."""

    def call(*things: Any, **options: Any) -> Any:  # noqa: ANN401
        return getattr(import_module(f"bodymotion.formats.{module}"), function)(*things, **options)

    return call


def _write_seq(motion: Motion, path: Path, **options: Any) -> tuple[Problem, ...]:  # noqa: ANN401
    from bodymotion.formats.seq.writing import write_seq
    from bodymotion.system.atomic_files import whole_file

    if path.suffix.lower() == ".json" and options.get("style") is None:
        options["style"] = "json"
    with whole_file(path) as stream:
        return write_seq(motion, stream, **options)


FORMATS: tuple[Format, ...] = (
    Format(
        "openhrp",
        "OpenHRP model (VRML97)",
        (".wrl",),
        _later("openhrp", "read_openhrp"),
        _later("vrml", "looks_like_vrml"),
        _later("openhrp.writing", "write_openhrp"),
        holds="Body",
        check=_later("openhrp", "check_openhrp"),
    ),
    Format(
        "body",
        "Choreonoid model",
        (".body",),
        _later("choreonoid_body", "read_body"),
        _later("choreonoid_body", "looks_like_body"),
        holds="Body",
        check=_later("choreonoid_body", "check_body_file"),
    ),
    Format(
        "urdf",
        "URDF model",
        (".urdf",),
        _later("urdf", "read_urdf"),
        lambda head: b"<robot" in head and _later("urdf", "looks_like_urdf")(head),
        _later("urdf", "write_urdf"),
        holds="Body",
        check=_later("urdf", "check_urdf"),
    ),
    Format(
        "mjcf",
        "MuJoCo model (MJCF)",
        (".xml", ".mjcf"),
        _later("mjcf", "read_mjcf"),
        _later("mjcf", "looks_like_mjcf"),
        _later("mjcf", "write_mjcf"),
        holds="Body",
        check=_later("mjcf", "check_mjcf"),
    ),
    Format(
        "seq",
        "Choreonoid body motion",
        (".seq", ".yaml", ".yml", ".json"),
        _later("seq", "read_seq"),
        _later("seq", "looks_like_seq"),
        _write_seq,
        check=_later("seq", "check_seq"),
    ),
    Format(
        "csv", "table of comma-separated values", (".csv",), _later("csv", "read_csv"), write=_later("csv", "write_csv")
    ),
    Format(
        "npz",
        "NumPy archive",
        (".npz",),
        _later("npz", "read_npz"),
        _later("npz", "looks_like_npz"),
        _later("npz", "write_npz"),
    ),
    Format(
        "openhrp-text",
        "OpenHRP plain text",
        (".pos", ".waist", ".hip", ".zmp"),
        _later("openhrp_text", "read_openhrp_text"),
        write=_later("openhrp_text", "write_openhrp_text"),
    ),
    Format(
        "cha",
        "Spot animation",
        (".cha",),
        _later("cha", "read_cha"),
        _later("cha", "looks_like_cha"),
        _later("cha", "write_cha"),
        holds="Animation",
        check=_later("cha", "check_cha"),
    ),
    Format(
        "cap",
        "Spot animation as a message, text",
        (".cap", ".pbtxt", ".textproto"),
        _later("cha_proto", "read_animation_message"),
        _later("cha_proto", "looks_like_animation_text"),
        _later("cha_proto", "write_message_text"),
        holds="Animation",
        check=_later("cha_proto", "check_animation_message"),
    ),
    Format(
        "cap-bytes",
        "Spot animation as a message, bytes",
        (".pb", ".binpb"),
        _later("cha_proto", "read_animation_message"),
        _later("cha_proto", "looks_like_animation_bytes"),
        _later("cha_proto", "write_message_bytes"),
        holds="Animation",
        check=_later("cha_proto", "check_animation_message"),
    ),
    Format(
        "state-log",
        "log of the states of a Spot",
        (),
        _later("cha_proto", "read_state_log"),
        _later("cha_proto", "looks_like_log"),
        holds="Animation",
        check=_later("cha_proto", "check_state_log"),
    ),
)


def _extensions(kind: str) -> str:
    return ", ".join(extension for row in FORMATS if row.holds == kind for extension in row.extensions)


UNKNOWN = Rule(
    "FMT001",
    "error",
    "The file is of no format that bodymotion reads.",
    "judgement",
    f"bodymotion reads models ({_extensions('Body')}), motions ({_extensions('Motion')}) and Spot animations ({_extensions('Animation')})",
    example=("notes.docx", "walk.seq"),
)


def named_format(name: str) -> Format:
    """Return the format of this name.

    Raises
    ------
    ValueError
        When there is none; the message lists those that exist.
    """
    for candidate in FORMATS:
        if candidate.name == name:
            return candidate
    raise ValueError(f"there is no format {name!r}; there are: {', '.join(f.name for f in FORMATS)}")


def find_format(path: str | Path) -> Format:
    """Say of which format a file is, by its content, then by its extension.

    Raises
    ------
    FormatError
        When it is of none (FMT001), or cannot be opened (FMT002).
    """
    path = Path(path)
    try:
        head = read_head(path, HEAD)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UNREADABLE.error(reason, Location(str(path)), "") from error
    for candidate in FORMATS:
        if candidate.sniff(head):
            return candidate
    for candidate in FORMATS:
        if path.suffix.lower() in candidate.extensions:
            return candidate
    if len(head) == HEAD and path.is_file():
        head = read_head(path, LONG_HEAD)
        for candidate in FORMATS:
            if candidate.sniff(head):
                return candidate
    raise UNKNOWN.error("not known by its content, nor by its extension", Location(str(path)))


def load(path: str | Path, *, format: str | None = None, **options: Any) -> Any:  # noqa: ANN401
    """Read a file: a `Body` from an OpenHRP `.wrl` or Choreonoid `.body`, a `Motion` from a `.seq`, an `Animation` from a `.cha`.

    Parameters
    ----------
    path:
        The file. Its content decides what it is; only where that leaves it open, its extension does. A pipe is read as a whole first.
    format:
        The name of a format of `FORMATS`, to read the file as one of that whatever it looks like.
    options:
        Those of the format's reader, such as `allow_outside=True` for models whose Inline parts lie outside their folder; motions have no
        parts, so to them it means nothing.

    Raises
    ------
    FormatError
        When nothing can be made of the file, with line, column and rule; `problems` of the error are all that were found.
    """
    path = Path(path)
    with pipes_kept():
        found = find_format(path) if format is None else named_format(format)
        if found.holds != "Body":
            options.pop("allow_outside", None)
        return found.read(path, **options)


def target_format(thing: object, path: str | Path, format: str | None = None) -> Format:
    """Say in which format a thing is written to `path`: that of the extension, or the one named.

    Raises
    ------
    FormatError
        When no format for such things has the extension, or the one named cannot be written (FMT003).
    """
    path, kind = Path(path), type(thing).__name__
    able = [f for f in FORMATS if f.write is not None and f.holds == kind]
    known = ", ".join(extension for f in able for extension in f.extensions)
    one = f"{'an' if kind[0] in 'AEIO' else 'a'} {kind}"
    hint = f"{one} can be written as {known}" if able else ""
    if format is not None:
        found = named_format(format)
        if found not in able:
            raise UNWRITABLE.error(f"{one} is not written as {found.title}", Location(str(path)), hint)
        return found
    for candidate in able:
        if path.suffix.lower() in candidate.extensions:
            return candidate
    said = f"the extension {path.suffix!r}" if path.suffix else "a name without extension"
    raise UNWRITABLE.error(f"{said} names no format that {one} is written in", Location(str(path)), hint)


def save(thing: object, path: str | Path, *, format: str | None = None, **options: Any) -> Findings:  # noqa: ANN401
    """Write a body, a motion or a Spot animation to a file, whole or not at all; what was there before is replaced.

    Parameters
    ----------
    thing:
        A `Body`, a `Motion` or an `Animation`.
    path:
        The file; its extension names the format.
    format:
        The name of a format of `FORMATS`, whatever the extension.
    options:
        Those of the format's writer; for .seq: `version`, `style`, `se3_format`, `frame_time`, `digits`
        (see `bodymotion.formats.seq.writing.write_seq`); for .cha: `style`; for .wrl: `mesh`; for .urdf: `mesh`, `package`, `extension`;
        for MJCF: `mesh`, `fix_inertia`.

    Returns
    -------
    Findings
        What the file does not hold of the thing, and what the file that it was read from has and the thing has not: `report.losses`.

    Raises
    ------
    FormatError
        When the thing is not written in such a format (FMT003).
    OSError
        When the file cannot be written; the old one is as it was.
    """
    found = target_format(thing, path, format)
    assert found.write is not None
    left_out = tuple(problem for problem in getattr(thing, "problems", ()) if problem.leaves_out)
    return Findings((*left_out, *found.write(thing, Path(path), **options)))
