"""Make a scene from what a caller passes.

A body, motions, or a script, as objects or as files, in any order.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from bodymotion.diagnostics import Group, WrongUseError
from bodymotion.diagnostics.text import (
    counted,
    html_text,
    place_after,
    severities,
    shown,
    with_article,
)
from bodymotion.extensions import functions_for, kind_of, kinds
from bodymotion.formats.registry import (
    find_format,
    load,
    load_together,
)
from bodymotion.formats.resources import MESH_PASSES, MeshPasses
from bodymotion.formats.untrusted import (
    call_within_limits,
    requested_limits,
    without_time_limit,
)
from bodymotion.keyposes import KeyPoses
from bodymotion.model.body import Body
from bodymotion.model.scripts import RobotScript, play_together
from bodymotion.motion import Motion
from bodymotion.scene.compared_motion import side_by_side
from bodymotion.scene.music import Music, load_music
from bodymotion.scene.playback import Playback, PlaybackSettings
from bodymotion.scene.scene import Scene, make_scene
from bodymotion.skeleton import Skeleton
from bodymotion.system.files import check_not_read, pipes_kept
from bodymotion.system.limited import ProcessLimits

Showable: TypeAlias = (
    Body | Motion | KeyPoses | Skeleton | RobotScript | str | PathLike[str]
)
# What is shown; anything else names a file.
VALUES = (Body, Motion, KeyPoses, Skeleton, RobotScript)
# [s] Time in which the files of a viewer are loaded again.
MAX_LOADING = 600.0
# Rules that are listed on stderr.
MAX_LISTED_GROUPS = 10
# Locations that are listed for one rule.
MAX_LOCATIONS = 3
# Characters of a line about one rule on stderr.
MAX_LINE = 500


class Inputs(NamedTuple):
    """At most one body with its motions; or one script alone."""

    body: Body | None
    motions: tuple[Motion, ...]
    script: RobotScript | None


def files_of(
    *values: Body | Motion | KeyPoses | RobotScript | Skeleton | None,
) -> tuple[Path, ...]:
    """Return the files that values were read from, with those that a model names."""
    files: list[Path] = []
    for value in values:
        if value is not None:
            paths = (value.source.path, *value.source.parts)
            files += [path for path in paths if path is not None]
    return tuple(files)


def load_inputs(
    *sources: Showable,
    done: str = "shown",
    max_motions: int = 1,
    output: str | PathLike[str] | None = None,
    by_position: bool = False,
    **options: Any,  # noqa: ANN401
) -> Inputs:
    """Return sources, objects or files in any order, sorted by their kind.

    `done` with them is for messages: "shown", "plotted". `options` are those of
    readers, see `bodymotion.load`.

    Raises FormatError when a file cannot be read; WrongUseError when there are two
    bodies, too many motions, or a script and something else, or when `output` is a
    file that is read.
    """
    if output is not None:
        check_not_read(output, [one for one in sources if not isinstance(one, VALUES)])
    loaded = load_together(sources, by_position=by_position, **options)
    scripts = [value for value in loaded if isinstance(value, RobotScript)]
    # Two dances may be compared: both are played on one robot.
    if max_motions == len(scripts) == len(loaded) == 2:
        loaded = play_together(scripts)
    bodies: list[Body] = []
    motions: list[Motion] = []
    adjustable: list[RobotScript] = []
    for value in _with_bodies(loaded):
        if isinstance(value, Body):
            bodies.append(value)
        elif isinstance(value, Motion):
            motions.append(value)
        elif isinstance(value, RobotScript):
            adjustable.append(value)
        elif isinstance(value, KeyPoses):
            raise WrongUseError(
                f"key poses are {done} on the body that they are for: name its model, "
                "too"
            )
    if adjustable:
        _check_alone(adjustable, bodies, motions, done)
    _check_numbers(bodies, motions, max_motions, done)
    if output is not None:
        check_not_read(output, files_of(*loaded))
    return Inputs(
        bodies[0] if bodies else None,
        tuple(motions),
        adjustable[0] if adjustable else None,
    )


def _with_bodies(loaded: Iterable[Any]) -> Iterator[object]:
    """Yield values, with a body and a motion in place of recordings and dances."""
    for value in loaded:
        if isinstance(value, Skeleton) or is_fixed_script(value):
            yield from value.body_and_motion()
        else:
            yield value


def _check_numbers(
    bodies: Sequence[Body], motions: Sequence[Motion], max_motions: int, done: str
) -> None:
    """Raise WrongUseError where there are too many bodies or motions."""
    if len(bodies) <= 1 and len(motions) <= max_motions:
        return
    most = "one motion" if max_motions == 1 else "two motions"
    raise WrongUseError(
        f"found {counted(len(bodies), 'model')} and {counted(len(motions), 'motion')}; "
        f"at most one model and {most} can be {done}"
    )


def is_fixed_script(value: object) -> bool:
    """Return whether a value is a script that is played without settings."""
    kind = kind_of(value)
    if kind is None or not isinstance(value, RobotScript):
        return False
    return kind.function("playback") is None


def _check_alone(
    scripts: Sequence[RobotScript],
    bodies: Sequence[Body],
    motions: Sequence[Motion],
    done: str,
) -> None:
    """Raise WrongUseError unless there is one script and nothing else."""
    kind = kind_of(scripts[0])
    assert kind is not None
    if len(scripts) > 1:
        raise WrongUseError(f"one {kind.noun} can be {done}, not {len(scripts)}")
    if bodies or motions:
        other = "body" if bodies else "motion"
        raise WrongUseError(
            f"{with_article(kind.noun)} is {done} alone, on the body of {kind.robot}: "
            f"leave out the {other}"
        )


def load_scene(
    *sources: Showable,
    ghost: bool = False,
    arm: bool | None = None,
    bpm: float | None = None,
    slices: float | None = None,
    music: str | PathLike[str] | Music | None = None,
    output: str | PathLike[str] | None = None,
    by_position: bool = False,
    **options: Any,  # noqa: ANN401
) -> Scene:
    """Return the scene of a body, of one motion or two, of both, or of a script.

    See `load_inputs` and `bodymotion.view`.

    Raises FormatError when a file cannot be read; ValueError when there are two bodies
    or three motions, a script and something else, or when body and motion do not
    fit.
    """
    settings = {
        "ghost": ghost,
        "arm": arm,
        "bpm": bpm,
        "slices": slices,
        "music": music,
        "output": output,
        "by_position": by_position,
        **options,
    }
    limits = requested_limits(settings)
    files = [one for one in sources if isinstance(one, (str, PathLike))]
    if limits is None or len(files) < len(sources) or not files:
        return _load_scene(sources, **settings)
    # Time and memory limits need a process of their own.
    return call_within_limits(
        partial(_load_scene, sources, **without_time_limit(settings)),
        files=files,
        limits=limits,
    )


def load_scene_apart(*sources: Showable, **options: Any) -> Scene:  # noqa: ANN401
    """Return the scene of files that are read in a child process; see `load_scene`.

    A file that ends this process does not end the caller.
    """
    files = [source for source in sources if isinstance(source, (str, PathLike))]
    has_limits = requested_limits(options) is not None
    if has_limits or len(files) < len(sources) or not files:
        return load_scene(*sources, **options)
    return call_within_limits(
        partial(load_scene, *sources, **options),
        files=files,
        limits=ProcessLimits(deadline=MAX_LOADING),
    )


def _load_scene(
    sources: Sequence[Showable],
    *,
    ghost: bool,
    arm: bool | None,
    bpm: float | None,
    slices: float | None,
    music: str | PathLike[str] | Music | None,
    output: str | PathLike[str] | None,
    by_position: bool,
    **options: Any,  # noqa: ANN401
) -> Scene:
    """Return the scene of files that are read in this process; see `load_scene`."""
    body, motions, script = load_inputs(
        *sources, max_motions=2, output=output, by_position=by_position, **options
    )
    if ghost and len(motions) < 2:
        raise WrongUseError(
            "a ghost is the second of two motions, and there is only one"
        )
    if isinstance(music, (str, PathLike)):
        music = load_music(music)
    if script is not None:
        if bpm is None and music is not None:
            bpm = music.tempo or None
        scene = script_scene(script, arm, PlaybackSettings(bpm, slices))
        return replace(scene, music=music)
    if (arm, bpm, slices) != (None, None, None):
        raise _no_script_error()
    if body is None and motions:
        body = _body_for(motions[0])
    scene = make_scene(body, motions[0] if motions else None)
    scene = replace(scene, music=music)
    if len(motions) < 2:
        return scene
    return side_by_side(scene, make_scene(body, motions[1]), ghost)


def _no_script_error() -> WrongUseError:
    """Return the error of settings of a script where there is none."""
    scripts = [f"{kind.robot} {kind.noun}" for kind in kinds() if kind.has_tempo]
    names = " or ".join(map(with_article, scripts)) or "a script"
    return WrongUseError(f"arm, tempo and slices apply to {names} only")


def scenes_as_read(
    *sources: Showable,
    **options: Any,  # noqa: ANN401
) -> Iterator[Scene]:
    """Yield the scene of `load_scene` as its mesh files are read.

    At first without those that take long to read, then with more of them, at last
    whole.
    """
    if requested_limits(options) is not None:
        yield load_scene(*sources, **options)
        return
    passes = MeshPasses()
    with pipes_kept():
        context = copy_context()
        context.run(MESH_PASSES.set, passes)
        scene = context.run(load_scene, *sources, **options)
        # The mesh files left over: show what there is, then read more of them.
        while passes.left and (path := scene.body.source.path) is not None:
            yield replace(scene, num_unread=len(passes.left))
            passes.start()
            row = find_format(path)
            body: Body = context.run(
                load, path, format=row.name, **row.options_of(options)
            )
            scene = _with_body(scene, body)
    yield scene


def _with_body(scene: Scene, body: Body) -> Scene:
    """Return a scene with a body that has more shapes."""
    # Links that are as before keep what is computed of their shapes.
    links = []
    for before, link in zip(scene.body.links, body.links, strict=True):
        links.append(before if before == link else link)
    body = replace(body, links=tuple(links))
    compared = scene.compared
    if compared is not None:
        compared = replace(compared, body=body)
    return replace(scene, body=body, compared=compared)


def script_scene(
    script: RobotScript, arm: bool | None, settings: PlaybackSettings
) -> Scene:
    """Return the scene of a script that is played with settings."""
    kind = kind_of(script)
    play = None if kind is None else kind.function("playback")
    assert play is not None
    playback: Playback = play(script, settings, arm)
    return make_scene(playback.body, playback.motion, playback)


def _body_for(motion: Motion) -> Body | None:
    """Return the robot of an extension whose joints a motion names, in its order."""
    for find in functions_for("body_for"):
        body: Body | None = find(motion)
        if body is not None:
            return body
    return None


def group_text(group: Group) -> str:
    """Return the findings of one rule in a line.

    `SR1.wrl:12:3: WRL135 ×24 message (also at 15:3, 18:3 …) [hint]`.
    """
    first = group.problems[0]
    location = first.location
    name = Path(location.path).name if location.path else None
    parts = (name, location.line, location.column)
    start = ":".join(str(part) for part in parts if part is not None)
    start = start or location.inside or ""
    text = f"{group.title} {first.message}"
    if start:
        text = f"{start}: {text}"
    if location.inside and location.inside != start:
        text += f" ({location.inside})"
    others = group.locations(MAX_LOCATIONS)[1:]
    places = ", ".join(place_after(other, location) for other in others)
    if places:
        more = " …" if group.count > MAX_LOCATIONS else ""
        text += f" (also at {places}{more})"
    if first.hint:
        text += f" [{first.hint}]"
    return text


def groups_html(
    groups: Sequence[Group],
    limit: int = 40,
    before: Callable[[Group], str] = lambda group: "",
) -> str:
    """Return findings as a list in HTML.

    A line for each rule, with the text `before` it, and how many rules are left out.
    """
    items = "".join(
        f'<li style="margin-bottom:4px"><b>{before(group)}</b>'
        f"{html_text(group_text(group))}</li>"
        for group in groups[:limit]
    )
    num_more = len(groups) - limit
    if num_more > 0:
        items += f"<li>… and {num_more} more</li>"
    return f"<ul>{items}</ul>"


def table_html(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values (HTML) as a table of a panel."""
    style = "opacity:0.65;padding-right:8px;vertical-align:top;white-space:nowrap"
    cells = "".join(
        f'<tr><td style="{style}">{html_text(name)}</td><td>{value}</td></tr>'
        for name, value in rows
    )
    return f"<table>{cells}</table>"


def report_problems(
    scene: Scene, suffix: str = "", *, only_mismatches: bool = False
) -> None:
    """Write to stderr how many findings there are, the first rules, and notes.

    `only_mismatches`: only the rules about motion and body together.
    """
    groups = scene.findings
    lines = []
    if groups:
        lines = [f"bodymotion: {severities(groups)} in the files{suffix}"]
        if only_mismatches:
            groups = tuple(
                group for group in groups if group.problems[0] in scene.mismatches
            )
        for group in groups[:MAX_LISTED_GROUPS]:
            lines.append(f"  {shown(group_text(group), MAX_LINE)}")
        num_more = len(groups) - MAX_LISTED_GROUPS
        if num_more > 0:
            lines.append(f"  … and {counted(num_more, 'more rule')}")
    lines += [f"bodymotion: {note}" for note in scene.warnings + scene.notes]
    if lines:
        print("\n".join(lines), file=sys.stderr, flush=True)
