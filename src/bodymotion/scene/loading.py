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
VALUES = (Body, Motion, KeyPoses, Skeleton, RobotScript)
"""What is shown; anything else names a file."""
MAX_LOADING = 600.0
"""[s] Time in which the files of a viewer are loaded again."""
MAX_LISTED_GROUPS = 10  # Number of rules that are listed on stderr.
MAX_LOCATIONS = 3  # Number of locations that are listed for one rule.


class Inputs(NamedTuple):
    """At most one body with its motions; or one script alone."""

    body: Body | None
    motions: tuple[Motion, ...]
    script: RobotScript | None


def files_of(
    *values: Body | Motion | KeyPoses | RobotScript | Skeleton | None,
) -> tuple[Path, ...]:
    """Return the files that values were read from, those that a model names included."""
    sources = [value.source for value in values if value is not None]
    return tuple(
        path
        for source in sources
        for path in (source.path, *source.parts)
        if path is not None
    )


def load_inputs(
    *sources: Showable,
    done: str = "shown",
    max_motions: int = 1,
    output: str | PathLike[str] | None = None,
    by_position: bool = False,
    **options: Any,  # noqa: ANN401
) -> Inputs:
    """Return sources, objects or files in any order, sorted by their kind.

    `done` with them is for messages: "shown", "plotted".

    `options` are those of readers, see `bodymotion.load`.

    Raises FormatError when a file cannot be read; WrongUseError when there are two
    bodies, too many motions, or a script and something else, or when `output` is a
    file that is read.
    """
    if output is not None:
        check_not_read(output, [one for one in sources if not isinstance(one, VALUES)])
    loaded = load_together(sources, by_position=by_position, **options)
    scripts = [value for value in loaded if isinstance(value, RobotScript)]
    if max_motions == len(scripts) == len(loaded) == 2:
        loaded = play_together(scripts)
    values: list[Any] = []
    for value in loaded:
        if isinstance(value, Skeleton) or is_fixed_script(value):
            values += value.body_and_motion()
        else:
            values.append(value)
    bodies = [value for value in values if isinstance(value, Body)]
    motions = [value for value in values if isinstance(value, Motion)]
    adjustable = [value for value in values if isinstance(value, RobotScript)]
    if any(isinstance(value, KeyPoses) for value in values):
        raise WrongUseError(
            f"key poses are {done} on the body that they are for: name its model, too"
        )
    if adjustable:
        _check_alone(adjustable, bodies, motions, done)
    if len(bodies) > 1 or len(motions) > max_motions:
        if max_motions == 1:
            most = "one motion"
        else:
            most = "two motions"
        numbers = (
            f"{counted(len(bodies), 'model')} and {counted(len(motions), 'motion')}"
        )
        raise WrongUseError(
            f"found {numbers}; at most one model and {most} can be {done}"
        )
    if output is not None:
        check_not_read(output, files_of(*loaded))
    return Inputs(
        bodies[0] if bodies else None,
        tuple(motions),
        adjustable[0] if adjustable else None,
    )


def is_fixed_script(value: object) -> bool:
    """Return whether a value is a script that is played without settings."""
    kind = kind_of(value)
    return (
        isinstance(value, RobotScript)
        and kind is not None
        and kind.function("playback") is None
    )


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
    return call_within_limits(
        partial(_load_scene, sources, **without_time_limit(settings)),
        files=files,
        limits=limits,
    )


def load_scene_apart(*sources: Showable, **options: Any) -> Scene:  # noqa: ANN401
    """Return the scene of `load_scene`, of files that are read in a child process.

    One that they end is not this one.
    """
    files = [one for one in sources if isinstance(one, (str, PathLike))]
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
    """Return the scene of `load_scene`, of files that are read in this process."""
    body, motions, script = load_inputs(
        *sources, max_motions=2, output=output, by_position=by_position, **options
    )
    if ghost and len(motions) < 2:
        raise WrongUseError(
            "a ghost is the second of two motions, and there is only one"
        )
    sound = load_music(music) if isinstance(music, (str, PathLike)) else music
    if script is not None:
        tempo = bpm if bpm is not None or sound is None else sound.tempo or None
        return replace(
            script_scene(script, arm, PlaybackSettings(tempo, slices)),
            music=sound,
        )
    if (arm, bpm, slices) != (None, None, None):
        names = [
            with_article(f"{kind.robot} {kind.noun}")
            for kind in kinds()
            if kind.has_tempo
        ]
        raise WrongUseError(
            f"arm, tempo and slices apply to {' or '.join(names) or 'a script'} only"
        )
    if body is None and motions:
        body = _body_for(motions[0])
    first = replace(make_scene(body, motions[0] if motions else None), music=sound)
    if len(motions) < 2:
        return first
    return side_by_side(first, make_scene(body, motions[1]), ghost)


def scenes_as_read(*sources: Showable, **options: Any) -> Iterator[Scene]:  # noqa: ANN401
    """Yield the scene of `load_scene`.

    At first without mesh files that take long to read, then with more of them, at last
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
        while passes.left and (path := scene.body.source.path) is not None:
            yield replace(scene, num_unread=len(passes.left))
            passes.start()
            row = find_format(path)
            body: Body = context.run(
                load, path, format=row.name, **row.options_of(options)
            )
            # Links that are as before keep what is computed of their shapes.
            links = (
                old if old == new else new
                for old, new in zip(scene.body.links, body.links, strict=True)
            )
            body = replace(body, links=tuple(links))
            scene = replace(
                scene,
                body=body,
                compared=scene.compared and replace(scene.compared, body=body),
            )
    yield scene


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
    others = group.locations(MAX_LOCATIONS + 1)[1:]
    also = ", ".join(
        place_after(place, first.location) for place in others[: MAX_LOCATIONS - 1]
    )
    if also:
        also = f" (also at {also}{' …' if group.count > MAX_LOCATIONS else ''})"
    else:
        also = ""
    place = first.location
    if place.path:
        path = Path(place.path).name
    else:
        path = None
    where = (
        ":".join(
            str(part) for part in (path, place.line, place.column) if part is not None
        )
        or place.inside
        or ""
    )
    if place.inside and place.inside != where:
        inside = f" ({place.inside})"
    else:
        inside = ""
    if first.hint:
        hint = f" [{first.hint}]"
    else:
        hint = ""
    return f"{where}{': ' if where else ''}{group.title} {first.message}{inside}{also}{hint}"


def groups_html(
    groups: Sequence[Group],
    limit: int = 40,
    before: Callable[[Group], str] = lambda group: "",
) -> str:
    """Return findings as a list in HTML.

    A line for each rule, with the text `before` it, and how many rules are left out.
    """
    items = "".join(
        f'<li style="margin-bottom:4px"><b>{before(group)}</b>{html_text(group_text(group))}</li>'
        for group in groups[:limit]
    )
    more = len(groups) - limit
    return f"<ul>{items}{f'<li>… and {more} more</li>' if more > 0 else ''}</ul>"


def table_html(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values (HTML) as a table of a panel."""
    cells = "".join(
        '<tr><td style="opacity:0.65;padding-right:8px;vertical-align:top;white-space:nowrap">'
        f"{html_text(name)}</td><td>{value}</td></tr>"
        for name, value in rows
    )
    return f"<table>{cells}</table>"


def report_problems(
    scene: Scene, suffix: str = "", *, only_mismatches: bool = False
) -> None:
    """Write to stderr how many findings there are, and the first rules, or only the mismatches of motion and body.

    And notes.
    """
    groups = scene.findings
    lines = []
    if groups:
        lines = [f"bodymotion: {severities(groups)} in the files{suffix}"]
        if only_mismatches:
            groups = tuple(
                group for group in groups if group.problems[0] in scene.mismatches
            )
        lines += [
            f"  {shown(group_text(group), 500)}" for group in groups[:MAX_LISTED_GROUPS]
        ]
        if len(groups) > MAX_LISTED_GROUPS:
            lines.append(
                f"  … and {counted(len(groups) - MAX_LISTED_GROUPS, 'more rule')}"
            )
    lines += [f"bodymotion: {note}" for note in scene.warnings + scene.notes]
    if lines:
        print("\n".join(lines), file=sys.stderr, flush=True)
