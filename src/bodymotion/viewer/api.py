"""`view`: a body, a motion, or both, in the browser or as a page."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bodymotion.body import Body
from bodymotion.diagnostics import Problem
from bodymotion.motion import Motion

if TYPE_CHECKING:
    from bodymotion.viewer.app import Viewer
    from bodymotion.viewer.switches import Switches
    from bodymotion.viewer.take import Take

__all__ = ["Showable", "WrongUseError", "load_take", "view"]

MOST_LISTED = 10
"""So many problems are said in words on stderr where there is no panel that lists them."""

Showable: TypeAlias = Body | Motion | str | PathLike[str]


class WrongUseError(ValueError):
    """What was asked for makes no sense, whatever the files hold."""


def view(
    body: Showable,
    motion: Showable | None = None,
    *,
    html: str | PathLike[str] | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = True,
    block: bool = True,
    watch: bool = False,
    play: bool = True,
    allow_outside: bool = False,
    show: Iterable[str] = (),
) -> Viewer | None:
    """Show a robot and its motion in the browser; or write a page that does.

    A body alone can be posed with sliders; a motion alone is shown as frames. A motion that does not say where the root is stands on the
    ground.

    Parameters
    ----------
    body, motion:
        A Body and a Motion, or files of them, in any order; one of the two is enough.
    html:
        Write one self-contained page to this file instead, which plays without a server.
    host, port:
        Where to listen; the next free port is taken when that one is in use.
    open_browser:
        Open the page in a browser. The address is printed on stderr anyway.
    block:
        Return only after Ctrl-C; otherwise give the running `Viewer`, which has `url`, `play`, `pause`, `seek`, `stop`.
    watch:
        Load the files again when they are saved, and keep the time.
    play:
        Begin to play as soon as a browser is there.
    allow_outside:
        Also read parts of a model that lie outside its folder.
    show:
        What to switch on at first, such as "devices", "frames", "axes", "mass", "collisions".

    Raises
    ------
    FormatError
        When nothing can be made of a file.
    ValueError
        When motion and body do not fit, or there is nothing to show; `WrongUseError` when it is not one body and one motion at most, or
        when nothing has the name of what is to be switched on.
    OSError
        When the host can not be listened at, or the page can not be written.
    """
    sources = [source for source in (body, motion) if source is not None]
    files = [Path(source) for source in sources if not isinstance(source, (Body, Motion))]
    switches = _switches(show)
    if html is not None and not Path(html).parent.is_dir():
        raise OSError(f"{html} can not be written: there is no folder {Path(html).parent}")
    take = load_take(*sources, allow_outside=allow_outside)
    if html is not None:
        from bodymotion.viewer.html import write_page

        try:
            sampling = write_page(take, Path(html), switches)
        except OSError as error:
            raise OSError(f"{html} can not be written: {error.strerror or error}") from error
        print(f"{html}: {sampling}", file=sys.stderr, flush=True)
        _say_problems(take.problems, "")
        return None
    from bodymotion.viewer.app import Viewer

    viewer = Viewer(take, host=host, port=port, files=files, switches=switches, play=play)
    print(f"bodymotion: showing at {viewer.url}", file=sys.stderr, flush=True)
    _say_problems(take.problems, "; the panel lists them", take.misfits)
    if watch and files:
        _watch(viewer, sources, files, allow_outside)
    if open_browser:
        _open(viewer.url)
    if not block:
        return viewer
    print("Press Ctrl-C to end.", file=sys.stderr, flush=True)
    viewer.wait()
    return None


def _say_problems(problems: tuple[Problem, ...], where: str, spelt_out: tuple[Problem, ...] | None = None) -> None:
    """Say on stderr how many problems there are, and some of them in words: those `spelt_out`, or the first few."""
    if not problems:
        return
    from bodymotion.viewer.text import counted, shown

    listed = problems[:MOST_LISTED] if spelt_out is None else spelt_out
    lines = [f"bodymotion: {counted(len(problems), 'problem')} in the files{where}"]
    lines += [f"  {shown(str(problem), 500)}" for problem in listed]
    if spelt_out is None and len(problems) > MOST_LISTED:
        lines.append(f"  … and {len(problems) - MOST_LISTED} more")
    print("\n".join(lines), file=sys.stderr, flush=True)


def _open(url: str) -> None:
    """Open a browser if there is a screen to show it on; a text browser would take the terminal."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    import webbrowser

    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(url)


def load_take(*sources: Showable, allow_outside: bool = False) -> Take:
    """Make what is shown of a body, a motion, or both, given as things or as files, in any order.

    Raises
    ------
    FormatError
        When nothing can be made of a file.
    ValueError
        When there are two bodies or two motions, or what they hold does not fit.
    """
    from bodymotion.formats.table import load
    from bodymotion.viewer.take import make_take

    bodies: list[Body] = []
    motions: list[Motion] = []
    for source in sources:
        thing = source if isinstance(source, (Body, Motion)) else load(Path(source), allow_outside=allow_outside)
        if isinstance(thing, Body):
            bodies.append(thing)
        elif isinstance(thing, Motion):
            motions.append(thing)
        else:
            raise WrongUseError(f"{source}: neither a body nor a motion, but a {type(thing).__name__}")
    if len(bodies) > 1 or len(motions) > 1:
        raise WrongUseError(f"one body and one motion can be shown, not {len(bodies)} and {len(motions)}")
    return make_take(bodies[0] if bodies else None, motions[0] if motions else None)


def _watch(viewer: Viewer, sources: list[Showable], files: list[Path], allow_outside: bool) -> None:
    from bodymotion.viewer.watch import Watcher

    def reload() -> None:
        try:
            take = load_take(*sources, allow_outside=allow_outside)
        except (ValueError, OSError) as error:
            viewer.say(f"Not reloaded, the last good one is shown: {error}", bad=True)
            return
        viewer.replace(take)
        watcher.watch([*files, *take.body.source.parts])

    watcher = Watcher([*files, *viewer.take.body.source.parts], reload)
    viewer.on_stop(watcher.stop)
    watcher.start()


def _switches(show: Iterable[str]) -> Switches:
    from bodymotion.viewer.switches import LABELS, Switches

    switches = Switches()
    for name in show:
        if name not in LABELS or name not in {f.name for f in fields(switches)}:
            raise WrongUseError(f"nothing called {name!r} can be switched on; there are: {', '.join(LABELS)}")
        setattr(switches, name, True)
    return switches
