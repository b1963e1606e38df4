"""Options that several commands have, and checks of the values of options."""

from __future__ import annotations

import math
from collections.abc import Callable, Container
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from typer import Option

ReaderOptions: TypeAlias = dict[str, Any]
"""The options of readers that were used."""
ByPosition: TypeAlias = Annotated[
    bool, Option("--by-position", help="Read joint columns by position, whatever their names.")
]
AsJson: TypeAlias = Annotated[bool, Option("--json", help="Print JSON.")]
Arm: TypeAlias = Annotated[
    bool | None,
    Option("--arm/--no-arm", help="Play an animation with or without arm; by default as the animation needs."),
]
Bpm: TypeAlias = Annotated[
    float | None, Option("--bpm", metavar="BPM", help="Tempo at which an animation is played, in beats per minute.")
]
Slices: TypeAlias = Annotated[
    float | None, Option("--slices", metavar="N", help="Length of the playback in slices (quarter beats).")
]


def positive(value: float | None) -> float | None:
    """Return the value of an option, which must be finite and greater than 0, or None."""
    if value is not None and not 0 < value < math.inf:
        raise typer.BadParameter(f"{value:g} is not a finite number greater than 0")
    return value


def not_negative(value: float) -> float:
    """Return the value of an option, which must be finite and at least 0."""
    if not 0 <= value < math.inf:
        raise typer.BadParameter(f"{value:g} is not a finite number of at least 0")
    return value


def numbers(
    option: str,
    text: str,
    counts: Container[int],
    expected: str,
    kind: type[int] | type[float] = float,
    separator: str = ",",
) -> list[Any]:
    """Return finite numbers, separated by `separator`, in the text of an option; their count must be in `counts`, else wrong use."""
    try:
        found = [kind(part) for part in text.split(separator)]
    except ValueError:
        found = []
    if len(found) not in counts or not all(map(math.isfinite, found)):
        reason = ": a number is not finite" if len(found) in counts else ""
        raise typer.BadParameter(f"{text!r} is not {expected}{reason}", param_hint=option)
    return found


def names(text: str | None) -> tuple[str, ...]:
    """Return the names in a text that separates them by commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def name_list(text: str | None) -> list[str] | None:
    """Return the names in the text of an option, None where it is not used."""
    return text.split(",") if text else None


def reading_options(
    allow_outside: Annotated[
        bool | None,
        Option(
            "--allow-outside/--untrusted",
            help="Read parts of a model also by absolute paths and by symbolic links out of its folder, or only those in its "
            "folder. By default, relative paths are followed.",
        ),
    ] = None,
    package_paths: Annotated[
        list[Path] | None,
        Option(
            "--package-path", metavar="FOLDER", help="A folder with packages of package:// in a URDF; may be repeated."
        ),
    ] = None,
    apply_humanoid_pose: Annotated[
        bool | None, Option("--apply-humanoid-pose", help="Move a .wrl as its Humanoid node says.")
    ] = None,
    layout: Annotated[Literal["unitree"] | None, Option(help="The columns of a .csv without names.")] = None,
    columns: Annotated[
        str | None, Option(metavar="A,B,…", callback=name_list, help="Names for the columns of a .csv.")
    ] = None,
    joint_names: Annotated[
        str | None, Option(metavar="A,B,…", callback=name_list, help="Names for the joints of an .npz.")
    ] = None,
    link_names: Annotated[
        str | None, Option(metavar="A,B,…", callback=name_list, help="Names for the links of an .npz.")
    ] = None,
    frame_rate: Annotated[
        float | None,
        Option(
            "--input-rate",
            metavar="HZ",
            callback=positive,
            help="The frame rate of a .csv without times, or of an .amc.",
        ),
    ] = None,
    degrees: Annotated[
        bool | None,
        Option("--input-degrees/--input-radians", help="Unit of angles in a .csv whose names do not give it."),
    ] = None,
    quaternion_order: Annotated[
        Literal["wxyz", "xyzw"] | None, Option(help="Order of quaternions in a .csv whose column names do not give it.")
    ] = None,
    asf: Annotated[Path | None, Option(metavar="FILE", help="The skeleton (.asf) of an .amc.")] = None,
    from_zero: Annotated[
        bool | None, Option("--from-zero", help="Subtract the first time of a table from all its times.")
    ] = None,
) -> None:
    """Define the options of readers, with the names that `bodymotion.load` has for them."""


def reads_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with the options of readers; its parameter `reading` gets those that were used.

    A command that has a parameter of the same name as one of them has its own option instead.
    """
    own = signature(command, eval_str=True).parameters
    added = [one for name, one in signature(reading_options, eval_str=True).parameters.items() if name not in own]

    @wraps(command)
    def run(**given: Any) -> Any:  # noqa: ANN401
        used = {one.name: given.pop(one.name) for one in added}
        return command(
            **given, reading={name: value for name, value in used.items() if value is not None and value != []}
        )

    kept = [one for name, one in own.items() if name != "reading"]
    run.__signature__ = signature(command).replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    return run


def flag_of(name: str, command: Callable[..., Any]) -> str:
    """Return the option of a command that sets a parameter: `--input-rate` for frame_rate."""
    (option,) = signature(command, eval_str=True).parameters[name].annotation.__metadata__
    declared = [text for text in (option.default, *option.param_decls) if isinstance(text, str)]
    return (*declared, f"--{name.replace('_', '-')}")[0].partition("/")[0]
