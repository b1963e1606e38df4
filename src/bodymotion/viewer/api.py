"""`view`: a body, a motion, both, or an animation, in the browser or as a page."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from bodymotion.animation import Animation
from bodymotion.diagnostics import FormatError, Problem, WrongUseError
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.scene.given import Showable, sort_out
from bodymotion.system.atomic_files import check_place

if TYPE_CHECKING:
    from bodymotion.viewer.app import Viewer
    from bodymotion.viewer.performance import Wishes
    from bodymotion.viewer.switches import Switches
    from bodymotion.viewer.take import Take

__all__ = ["PAGES", "load_take", "say_notes", "say_problems", "view"]

PAGES = (".html", ".htm")
"""How the names of pages end."""

MOST_FAULTS = 3
"""So many faults of a file that was saved are said in the panel."""
MOST_LISTED = 10
"""So many problems are said in words on stderr where there is no panel that lists them."""


def view(
    body: Showable,
    motion: Showable | Sequence[Showable] | None = None,
    *,
    ghost: bool = False,
    html: str | PathLike[str] | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = True,
    block: bool = True,
    watch: bool = False,
    play: bool = True,
    allow_outside: bool = False,
    show: Iterable[str] = (),
    dark: bool = False,
    arm: bool | None = None,
    bpm: float | None = None,
    slices: float | None = None,
) -> Viewer | None:
    """Show a robot and its motion in the browser; or write a page that does.

    A body alone can be posed with sliders; a motion alone is shown as frames. A motion that does not say where the root is stands on the
    ground. An animation is played by our Spot. So is a motion alone whose joints are those of Spot.

    Parameters
    ----------
    body, motion:
        A Body and a Motion, or files of them, in any order; one of the two is enough. Or an Animation, or its file, alone. Of a list of
        two motions the second is shown beside the first, on the same time line, with what differs.
    ghost:
        Show the second motion as a see-through robot in the place of the first.
    html:
        Write one self-contained page to this file (.html or .htm) instead, which plays without a server.
    host, port:
        Where to listen; the next free port is taken when that one is in use.
    open_browser:
        Open the page in a browser. The address is printed on stderr anyway.
    block:
        Return only after Ctrl-C; otherwise give the running `Viewer`, which has `url`, `play`, `pause`, `seek`, `stop`.
    watch:
        Load the files again when they are saved, and keep the time.
    play:
        Begin to play as soon as a browser is there, or the page is opened.
    allow_outside:
        Also read parts of a model that lie outside its folder.
    show:
        What to switch on at first, such as "devices", "frames", "axes", "mass", "support", "velocity_limits".
    dark:
        Begin with the dark look.
    arm, bpm, slices:
        Of an animation: whether Spot has its arm (by default what fits), the script's tempo and the length at first.

    Raises
    ------
    FormatError
        When nothing can be made of a file.
    ValueError
        When motion and body do not fit, or there is nothing to show, or an animation cannot be played so; `WrongUseError` when it is not
        one body and one motion at most, or one animation, when nothing has the name of what is to be switched on, or the page
        is one of the files that are read.
    OSError
        When the host cannot be listened at, or the page cannot be written.
    """
    sources = [body, *_listed(motion)]
    files = [Path(source) for source in sources if not isinstance(source, (Body, Motion, Animation))]
    switches = _switches((*show, "dark") if dark else show)
    if html is not None:
        check_place(Path(html))
        if Path(html).suffix.lower() not in PAGES:
            raise WrongUseError(f"{html}: what is written is a page, {' or '.join(PAGES)}")
    wishes = _wishes(bpm, slices)
    take = load_take(*sources, ghost=ghost, allow_outside=allow_outside, arm=arm, wishes=wishes, output=html)
    if html is not None:
        from bodymotion.viewer.html import write_page

        try:
            sampling = write_page(take, Path(html), switches, play=play)
        except OSError as error:
            raise OSError(f"{html} cannot be written: {error.strerror or error}") from error
        print(f"{html}: {sampling}", file=sys.stderr, flush=True)
        say_problems(take.problems)
        say_notes(take.notes)
        return None
    from bodymotion.viewer.app import Viewer

    viewer = Viewer(take, host=host, port=port, files=files, switches=switches, play=play)
    print(f"bodymotion: showing at {viewer.url}", file=sys.stderr, flush=True)
    say_problems(take.problems, "; the panel lists them", take.misfits)
    if watch and files:
        _watch(viewer, sources, files, ghost, allow_outside, arm)
    if open_browser:
        _open(viewer.url)
    if not block:
        return viewer
    print("Press Ctrl-C to end.", file=sys.stderr, flush=True)
    viewer.wait()
    return None


def say_problems(problems: tuple[Problem, ...], where: str = "", spelt_out: tuple[Problem, ...] | None = None) -> None:
    """Say on stderr how many problems there are, and some of them in words: those `spelt_out`, or the first few."""
    if not problems:
        return
    from bodymotion.diagnostics.text import shown
    from bodymotion.viewer.text import counted

    listed = problems[:MOST_LISTED] if spelt_out is None else spelt_out
    lines = [f"bodymotion: {counted(len(problems), 'problem')} in the files{where}"]
    lines += [f"  {shown(str(problem), 500)}" for problem in listed]
    if spelt_out is None and len(problems) > MOST_LISTED:
        lines.append(f"  … and {len(problems) - MOST_LISTED} more")
    print("\n".join(lines), file=sys.stderr, flush=True)


def say_notes(notes: tuple[str, ...]) -> None:
    """Say on stderr what is not shown as it is."""
    if notes:
        print("\n".join(f"bodymotion: {note}" for note in notes), file=sys.stderr, flush=True)


def _open(url: str) -> None:
    """Open a browser if there is a screen to show it on; a text browser would take the terminal."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    import webbrowser

    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(url)


def load_take(
    *sources: Showable,
    ghost: bool = False,
    allow_outside: bool = False,
    arm: bool | None = None,
    wishes: Wishes | None = None,
    output: str | PathLike[str] | None = None,
) -> Take:
    """Make what is shown of a body, a motion or two, or both, given as things or as files, in any order; or of an animation.

    The second motion is shown beside the first, or as a `ghost` in its place. `arm` and `wishes` say how an animation is played.
    `output` is the file that will be written, which is none of those that are read.

    Raises
    ------
    FormatError
        When nothing can be made of a file.
    ValueError
        When there are two bodies or three motions, an animation and something else, or what they hold does not fit.
    """
    from bodymotion.viewer.take import make_take

    body, motions, animation = sort_out(*sources, most=2, allow_outside=allow_outside, output=output)
    if ghost and len(motions) < 2:
        raise WrongUseError("a ghost is the second of two motions")
    if animation is not None:
        return _performed(animation, arm, wishes)
    if arm is not None or wishes is not None:
        raise WrongUseError("with or without arm, tempo and slices are for a Spot animation, and this is none")
    if body is None and motions:
        body = _spot_of(motions[0])
    first = make_take(body, motions[0] if motions else None)
    if len(motions) < 2:
        return first
    from bodymotion.viewer.second import together

    return together(first, make_take(body, motions[1]), ghost)


def _performed(animation: Animation, arm: bool | None, wishes: Wishes | None) -> Take:
    from bodymotion.viewer.performance import perform
    from bodymotion.viewer.take import make_take

    done = perform(animation, wishes, arm)
    return make_take(done.body, done.motion, done)


def _spot_of(motion: Motion) -> Body | None:
    """Return our Spot for a motion whose joint columns have the names of its joints, in its order; else None."""
    from bodymotion.spot.playback import JOINT_NAMES, spot_body

    joints = motion.joint_displacement
    labels = joints.part_labels if joints is not None else ()
    for arm in (True, False):
        if labels == JOINT_NAMES[: 19 if arm else 12]:
            return spot_body(arm=arm)
    return None


def _listed(motion: Showable | Sequence[Showable] | None) -> list[Showable]:
    if motion is None:
        return []
    if isinstance(motion, (Body, Motion, Animation, str, PathLike)):
        return [motion]
    return list(motion)


def _wishes(bpm: float | None, slices: float | None) -> Wishes | None:
    if bpm is None and slices is None:
        return None
    from bodymotion.viewer.performance import Wishes

    return Wishes(bpm, slices)


def _watch(
    viewer: Viewer, sources: list[Showable], files: list[Path], ghost: bool, allow_outside: bool, arm: bool | None
) -> None:
    from bodymotion.viewer.watch import Watcher

    def reload() -> None:
        try:
            take = load_take(*sources, ghost=ghost, allow_outside=allow_outside, arm=arm)
            if take.performance is not None and viewer.take.performance is not None:
                wishes = viewer.take.performance.wishes.within(take.performance.animation)
                take = _performed(take.performance.animation, arm, wishes)
        except (ValueError, OSError, MemoryError) as error:
            viewer.say(f"Not reloaded, the last good one is shown: {_why(error)}", bad=True)
            return
        viewer.replace(take)
        watcher.watch([*files, *take.body.source.parts])

    watcher = Watcher([*files, *viewer.take.body.source.parts], reload)
    viewer.on_stop(watcher.stop)
    watcher.start()


def _why(error: Exception) -> str:
    """Say why a file cannot be shown: its first faults with line and column, and how many more there are."""
    if not isinstance(error, FormatError):
        return str(error)
    from bodymotion.viewer.animation_panel import in_short

    faults = [problem for problem in error.problems if problem.severity == "error"] or [error.problem]
    more = f" … and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
    return " · ".join(map(in_short, faults[:MOST_FAULTS])) + more


def _switches(show: Iterable[str]) -> Switches:
    from bodymotion.viewer.switches import LABELS, Switches

    switches = Switches()
    for name in show:
        if name not in LABELS or name not in {f.name for f in fields(switches)}:
            raise WrongUseError(f"nothing called {name!r} can be switched on; there are: {', '.join(LABELS)}")
        setattr(switches, name, True)
    return switches
