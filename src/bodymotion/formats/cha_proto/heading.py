"""What an animation's message holds besides its keyframes: name, tracks, options, parameters; and the MoveInfo that goes with it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bodymotion.animation import TRACKS, Animation, Parameter
from bodymotion.diagnostics import Problem, losses
from bodymotion.formats.cha_proto.fields import ARM_PLAYBACKS, MESSAGES
from bodymotion.formats.cha_proto.messages import Tree

__all__ = ["FLAGS", "LIMITS", "TINY", "color", "description", "heading", "limits_of", "parameter_paths"]

TINY = 1e-6
"""What stands for 0: a plain 0 is not written at all, and the robot minds numbers that are sometimes there and sometimes not."""

FLAGS = (
    "extendable",
    "truncatable",
    "neutral_start",
    "precise_steps",
    "track_swing_trajectories",
    "assume_zero_roll_and_pitch",
    "retime_to_integer_slices",
    "arm_required",
    "arm_prohibited",
    "no_looping",
    "starts_sitting",
    "custom_gait_cycle",
)
"""The options without values that are fields of the same name."""

LIMITS = {"minimum_parameters": "minimum", "default_parameters": "default", "maximum_parameters": "maximum"}
"""The three messages of parameters, and what of a Parameter is in each."""

_IN_MOVE_INFO = ("description", "display_rgb")
_ELSEWHERE = ("controls", "frequency", "bpm", "arm_playback", "timing_adjustability", "precise_timing")
_INT32 = 1 << 31
_DESCRIPTION = "Animated dance move."
"""What Choreographer shows where an animation says nothing of itself."""


def parameter_paths() -> dict[str, tuple[tuple[str, ...], str]]:
    """Give, for the name of each parameter, its path through AnimateParams, and "double" or "int32"."""
    paths: dict[str, tuple[tuple[str, ...], str]] = {}
    for name, one in MESSAGES["AnimateParams"].items():
        inner = MESSAGES.get(one.kind, {})
        if "value" in inner:
            paths[name] = (name, "value"), inner["value"].kind
        else:
            paths |= {f"{name}.{part}": ((name, part, "value"), "double") for part in inner}
    return paths


def limits_of(config: str | Path | None) -> dict[str, Parameter]:
    """Read the robot's limits of parameters out of its MoveParamsConfig: the text, or its file.

    That has a block of lines for each move, blank lines between them. In the one whose first line names ``animate_params``, each further
    line is the name of a parameter, its minimum, default and maximum.
    """
    if config is None:
        return {}
    text = config.read_text(encoding="utf-8") if isinstance(config, Path) else config
    found: dict[str, Parameter] = {}
    inside = False
    for line in text.splitlines():
        words = line.split()
        if "animate_params" in line:
            inside = True
        elif inside and not words:
            break
        elif inside and len(words) >= 4:
            try:
                found[words[0]] = Parameter(*(float(word) for word in words[1:4]))
            except ValueError:
                continue
    return found


def heading(animation: Animation, config: str | Path | None = None) -> tuple[Tree, list[Problem]]:
    """Return the message of an animation without its keyframes, and what it cannot hold."""
    problems: list[Problem] = []
    name = animation.name
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        name = name.encode("utf-8", "replace").decode()
        problems.append(losses.TEXT.problem(f"the name {animation.name!r}"))
    tree: Tree = {"name": name}
    tree |= {f"controls_{track}": True for track in TRACKS if track in animation.controls}
    for keyword, value in animation.options.items():
        _option(tree, keyword, value, problems)
    tree |= _parameters(animation.parameters, limits_of(config), problems)
    return tree, problems


def _option(tree: Tree, keyword: str, value: object, problems: list[Problem]) -> None:
    if keyword in FLAGS:
        tree[keyword] = True
    elif keyword in ("bpm", "timing_adjustability") and isinstance(value, (int, float)):
        tree[keyword] = float(value)
    elif keyword == "precise_timing":
        tree["timing_adjustability"] = -1.0
    elif keyword == "arm_playback":
        tree[keyword] = ARM_PLAYBACKS.index(value) if value in ARM_PLAYBACKS else 0
    elif keyword in _IN_MOVE_INFO:
        problems.append(losses.DISPLAY.problem(f"{keyword} is not in the message Animation"))
    elif keyword not in _ELSEWHERE:
        problems.append(losses.NO_FIELD.problem(f"the option {keyword} has no field"))


def _parameters(
    parameters: Mapping[str, Parameter], limits: Mapping[str, Parameter], problems: list[Problem]
) -> dict[str, Tree]:
    trees: dict[str, Tree] = {}
    paths = parameter_paths()
    for name, given in parameters.items():
        if name not in paths:
            problems.append(losses.NO_FIELD.problem(f"the parameter {name} has no field"))
            continue
        parameter = given
        if given == Parameter():
            if name not in limits:
                problems.append(losses.NO_LIMITS.problem(f"the parameter {name} has no limits of its own"))
                continue
            parameter = limits[name]
        path, kind = paths[name]
        for message, limit in LIMITS.items():
            value = getattr(parameter, limit)
            if value is not None:
                _put(trees.setdefault(message, {}), path, _held(name, value, kind, problems))
    return trees


def _held(name: str, value: float, kind: str, problems: list[Problem]) -> float | int:
    value = TINY if value == 0 else value
    if kind == "double":
        return value
    whole = int(max(min(value, _INT32 - 1), -_INT32)) if not math.isnan(value) else 0
    if whole != value and value != TINY:
        problems.append(losses.WHOLE.problem(f"the parameter {name}: {value} becomes {whole}"))
    return whole


def _put(tree: Tree, path: tuple[str, ...], value: Any) -> None:  # noqa: ANN401
    for part in path[:-1]:
        tree = tree.setdefault(part, {})
    tree[path[-1]] = value


def color(animation: Animation) -> tuple[int, int, int]:
    """Return the colour of an animation's block, each 0 to 255: its own, else one that follows from its name (the first bytes of its MD5)."""
    given = animation.options.get("display_rgb")
    if isinstance(given, tuple) and len(given) == 3:
        return int(given[0]), int(given[1]), int(given[2])
    digest = hashlib.md5(animation.name.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return digest[0], digest[1], digest[2]


def description(animation: Animation) -> str:
    """Return what Choreographer shows of an animation: its own description, without quotation marks, else the usual one."""
    given = animation.options.get("description")
    return _DESCRIPTION if given is None else " ".join(str(given).split()).replace('"', "")
