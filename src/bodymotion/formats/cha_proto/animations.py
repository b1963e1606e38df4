"""From a message Animation that was read to an animation."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bodymotion.animation import TRACKS, Animation, Keyframes, Parameter
from bodymotion.diagnostics import FormatError, Location, Problem
from bodymotion.diagnostics.source import Source
from bodymotion.formats.cha_proto.columns import PATHS, TIME
from bodymotion.formats.cha_proto.fields import ARM_PLAYBACKS
from bodymotion.formats.cha_proto.heading import FLAGS, LIMITS, TINY, parameter_paths
from bodymotion.formats.cha_proto.messages import Tree
from bodymotion.formats.cha_proto.recording import KINDS, Recording, filled
from bodymotion.formats.cha_proto.rules import CHANGES, NAME, NO_FRAMES, PARTLY
from bodymotion.formats.cha_proto.trees import row_tree
from bodymotion.geometry.arrays import Floats

__all__ = ["animation_of", "check_choices"]


def animation_of(recording: Recording, path: Path | None = None) -> Animation:
    """Make an animation of a message.

    What stands for a zero, 1e-6, becomes a zero again, marked as one that was the bare text 0; other zeros are not. Times that are sums of
    one step from 0 on become the option `frequency`.

    Raises
    ------
    FormatError
        When there are no keyframes (CAP006), or some of them say a thing in another way than others (CAP003).
    """
    if not recording.count:
        raise NO_FRAMES.error("there is no keyframe in it", recording.location)
    check_choices(recording)
    values, places = filled(recording), recording.places
    names = [name for name, slot in PATHS.items() if slot in places]
    table = values[:, [places[PATHS[name]] for name in names]]
    exact = table == TINY
    for number, name in enumerate(names):
        if name.endswith("_contact"):
            exact[:, number] = table[:, number] == 0
    table[exact] = 0.0
    times = values[:, places[TIME]]
    frequency = _frequency(times)
    if frequency is not None:
        times = np.arange(len(times)) / frequency
    keyframes = Keyframes(
        columns=tuple(names),
        values=table,
        times=np.where(times == TINY, 0.0, times),
        exact_zeros=exact,
    )
    tree = recording.tree
    problems = list(recording.problems)
    return Animation(
        name=tree.get("name") or (path.name.split(".")[0] if path is not None else ""),
        options=_options(tree, frequency),
        parameters=_parameters(tree, recording.location, problems),
        keyframes=keyframes,
        problems=tuple(problems),
        source=Source("cap", path),
    )


def check_choices(recording: Recording) -> None:
    """Raise FormatError when two members of a choice are both in use, in different rows."""
    nodes = row_tree(KINDS[recording.kind][1]).nodes
    for node in nodes:
        if node.rival >= 0 and {node.path, nodes[node.rival].path} <= recording.nodes:
            message = f"some keyframes have {node.path}, others {nodes[node.rival].path}"
            raise _changes(message, recording.location)


def _changes(message: str, location: Location) -> FormatError:
    return CHANGES.error(message, location)


def _frequency(times: Floats) -> float | None:
    """Return the frequency [Hz] whose steps add up to these times, to the last bit as the vendor's converter adds them; or None."""
    if len(times) < 2 or times[0] != 0 or not times[1] > 0:
        return None
    with np.errstate(over="ignore"):
        guess = float(1.0 / times[1])
    if not np.isfinite(guess):
        return None
    for frequency in (float(round(guess)), float(f"{guess:.6g}"), guess):
        steps = np.full(len(times), 1.0 / frequency if frequency else 0.0)
        steps[0] = 0.0
        if np.array_equal(np.cumsum(steps), times):
            return frequency
    return None


def _options(tree: Tree, frequency: float | None) -> dict[str, object]:
    options: dict[str, object] = {"controls": tuple(track for track in TRACKS if tree.get(f"controls_{track}"))}
    for keyword in ("bpm", "timing_adjustability"):
        if tree.get(keyword):
            options[keyword] = tree[keyword]
    if tree.get("precise_timing") and "timing_adjustability" not in options:
        options["precise_timing"] = True
    if frequency is not None:
        options["frequency"] = frequency
    playback = tree.get("arm_playback", 0)
    if 0 < playback < len(ARM_PLAYBACKS):
        options["arm_playback"] = ARM_PLAYBACKS[playback]
    options |= {keyword: True for keyword in FLAGS if tree.get(keyword)}
    return options


def _parameters(tree: Tree, location: Location, problems: list[Problem]) -> dict[str, Parameter]:
    parameters: dict[str, Parameter] = {}
    partly: list[str] = []
    for name, (path, _) in parameter_paths().items():
        limits = [_limit(tree.get(message, {}), path) for message in LIMITS]
        if all(limit is None for limit in limits):
            continue
        minimum, default, maximum = limits
        if None in limits:
            partly.append(name)
            known = [limit for limit in limits if limit is not None]
            default = known[0] if default is None else default
            minimum = min(known) if minimum is None else minimum
            maximum = max(known) if maximum is None else maximum
        parameters[name] = Parameter(minimum, default, maximum)
    if partly:
        problems.append(PARTLY.problem(f"not all three limits are there of {', '.join(partly)}", location))
    if any(tree.get(message, {}).get("animation_name") for message in LIMITS):
        problems.append(NAME.problem("animation_name in the parameters is passed over", location))
    return parameters


def _limit(parameters: Tree, path: tuple[str, ...]) -> float | None:
    """Return a limit; None where its wrapper is missing. A wrapper without a value holds 0."""
    for part in path[:-1]:
        if part not in parameters:
            return None
        parameters = parameters[part]
    value = float(parameters.get(path[-1], 0))
    return 0.0 if value == TINY else value
