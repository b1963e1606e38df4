"""`view`: show a robot and its motion in the browser, or write a page that does."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics import FormatError, grouped
from bodymotion.diagnostics.text import counted
from bodymotion.model.body import Body
from bodymotion.model.links import Link
from bodymotion.scene.loading import (
    VALUES,
    Showable,
    group_text,
    load_scene,
    load_scene_apart,
    report_problems,
    scenes_as_read,
    script_scene,
)
from bodymotion.scene.options import DisplayOptions
from bodymotion.scene.scene import Scene, make_scene

if TYPE_CHECKING:
    from bodymotion.viewer.app import Viewer

MAX_LISTED_FAULTS = (
    3  # Number of rules that the panel lists when a saved file has errors.
)
TIME_TO_LOAD = 1.0
# [s] Of files that take longer to load, the viewer is started before. Seconds between
# two messages about it.
LOADING_INTERVAL = 0.5
WATCH_INTERVAL = 0.25  # [s] between two looks at the files.


def view(
    body: Showable,
    motion: Showable | Sequence[Showable] | None = None,
    *,
    ghost: bool = False,
    output: str | PathLike[str] | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = True,
    block: bool = True,
    watch: bool = False,
    play: bool = True,
    by_position: bool = False,
    show: Iterable[str] = (),
    dark: bool = False,
    arm: bool | None = None,
    bpm: float | None = None,
    slices: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,  # noqa: ANN401
) -> Viewer | None:
    """Show a robot and its motion in the browser, or write a page that does.

    A body alone can be posed with sliders; a motion alone is shown as frames. A motion
    without root poses is shown standing on the ground. A script is played on its
    robot; a motion alone is shown on a built-in robot whose joints it names.

    Parameters
    ----------
    body, motion:
        A Body and a Motion, or files of them, in any order; one of the two is enough.
        Or a script, or its file, alone. With a list of two motions, the second is
        shown beside the first, on the same timeline, with the differences.
    ghost:
        Show the second motion transparent at the position of the first.
    output:
        Write one self-contained page to this file (.html or .htm) instead. It plays
        without a server.
    host, port:
        Where to listen; the next free port is used when that one is in use.
    open_browser:
        Open the page in a browser. The address is printed on stderr in any case.
    block:
        Return only after Ctrl-C. Otherwise return the running `Viewer`, which has
        `url`, `play`, `pause`, `seek`, `stop`.
    watch:
        Load the files again when they are saved, and keep the time.
    play:
        Start to play when a browser connects, or the page is opened.
    by_position:
        Read joint columns by position, whatever their names.
    options:
        Those of readers (see `bodymotion.load`): `allow_outside`, `layout` …; and
        `music`, a file or `Music`, which plays in step.
    show:
        Display options to switch on, such as "devices", "frames", "axes", "mass",
        "support", "velocity_limits".
    dark:
        Start in dark mode.
    arm, bpm, slices:
        Of a script: whether the robot has its arm (by default as it needs it), tempo
        [beats per minute] and length [slices].
    progress:
        Called with the number of steps that are done, and of all steps, while a page is
        written.

    Raises
    ------
    FormatError
        When a file cannot be read.
    ValueError
        When motion and body do not fit, or there is nothing to show, or a script
        cannot be played. `WrongUseError` when there is more than one body and two
        motions, or more than one script, when a display option does not exist, or
        the page is one of the files that are read.
    OSError
        When the host cannot be listened at, or the page cannot be written.
    """
    motions = [motion] if isinstance(motion, (*VALUES, str, PathLike)) else motion or []
    sources = [body, *motions]
    files = [Path(source) for source in sources if not isinstance(source, VALUES)]
    display = DisplayOptions.with_names((*show, "dark") if dark else show)
    if output is not None:
        from bodymotion.viewer.page import check_page_path, write_page

        check_page_path(Path(output))
    report = progress or (lambda done, total: None)
    reading = {"by_position": by_position, "ghost": ghost, **options}
    loading = {"arm": arm, "bpm": bpm, "slices": slices, **reading}
    if output is not None:
        report(0, 2)
        scene = load_scene(*sources, output=output, **loading)
        report(1, 2)
        try:
            sampling = write_page(scene, Path(output), display, play=play)
        except OSError as error:
            raise OSError(
                f"{output} cannot be written: {error.strerror or error}"
            ) from error
        report(2, 2)
        print(f"{output}: {sampling}", file=sys.stderr, flush=True)
        report_problems(scene)
        return None
    from bodymotion.viewer.app import Viewer

    def start(scene: Scene) -> Viewer:
        viewer = Viewer(
            scene, host=host, port=port, files=files, options=display, play=play
        )
        print(f"bodymotion: showing at {viewer.url}", file=sys.stderr, flush=True)
        if open_browser:
            _open(viewer.url)
        return viewer

    viewer = _started(
        scenes_as_read(*sources, **loading),
        start,
        ", ".join(file.name for file in files),
    )
    report_problems(viewer.scene, "; the panel lists them", only_mismatches=True)
    if watch and files:
        _watch(viewer, sources, files, arm, reading)
    if not block:
        return viewer
    print("Press Ctrl-C to end.", file=sys.stderr, flush=True)
    viewer.wait()
    return None


def _started(
    scenes: Iterator[Scene], start: Callable[[Scene], Viewer], names: str
) -> Viewer:
    """Start a viewer of the last of `scenes`.

    Of the first one that comes, or before it, where that takes long.

    Errors in loading, and Ctrl-C, stop the viewer.
    """
    found: SimpleQueue[Scene | BaseException] = SimpleQueue()

    def work() -> None:
        try:
            for scene in scenes:
                _ = scene.extent  # of large meshes it takes as long as to load them
                found.put(scene)
        except BaseException as error:  # raised again in the thread of the caller
            found.put(error)

    # A daemon: Ctrl-C must not wait for a file to be read.
    begin = monotonic()
    viewer = None
    scene = None
    threading.Thread(target=work, name="bodymotion-loading", daemon=True).start()
    try:
        while scene is None or scene.num_unread:
            try:
                loaded = found.get(
                    timeout=TIME_TO_LOAD if viewer is None else LOADING_INTERVAL
                )
                if isinstance(loaded, BaseException):
                    raise loaded
                if viewer is None:
                    viewer = start(loaded)
                elif (
                    loaded.num_unread
                    and scene is not None
                    and viewer.scene_view.is_as_large(loaded)
                ):
                    viewer.draw(loaded)
                else:
                    viewer.replace(
                        loaded,
                        reset_camera=scene is None
                        or not viewer.scene_view.is_as_large(loaded),
                    )
                scene = loaded
            except Empty:
                viewer = viewer or start(
                    make_scene(Body(name="Loading …", links=(Link(),)), None)
                )
            if scene is None or scene.num_unread:
                if scene is not None:
                    left = f"{counted(scene.num_unread, 'mesh file')} left, "
                else:
                    left = ""
                viewer.show_message(
                    f"Loading {names}: {left}{monotonic() - begin:.0f} s"
                )
    except BaseException:
        if viewer is not None:
            viewer.stop()
        raise
    assert viewer is not None
    return viewer


def _open(url: str) -> None:
    """Open a graphical browser, if there is a screen.

    A text browser would occupy the terminal.
    """
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return
    import webbrowser

    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(url)


def _watch(
    viewer: Viewer,
    sources: list[Showable],
    files: list[Path],
    arm: bool | None,
    reading: dict[str, Any],
) -> None:
    def reload() -> None:
        try:
            scene = load_scene_apart(*sources, arm=arm, **reading)
            if scene.playback is not None and viewer.scene.playback is not None:
                settings = scene.playback.allowed(viewer.scene.playback.settings)
                scene = script_scene(scene.playback.script, arm, settings)
        except (ValueError, OSError, MemoryError) as error:
            message = (
                f"Not reloaded; the last version without errors is shown: "
                f"{_error_text(error)}"
            )
            viewer.show_message(message, bad=True)
            return
        viewer.replace(scene)
        if (named := [*files, *scene.body.source.parts]) != list(watcher.files):
            watcher.watch(named)

    watcher = FileWatcher([*files, *viewer.scene.body.source.parts], reload)
    viewer.on_stop(watcher.stop)
    watcher.start()


def _error_text(error: Exception) -> str:
    """Return why a file cannot be shown.

    The first errors with line and column, and the number of further ones.
    """
    if not isinstance(error, FormatError):
        return str(error)
    errors = [problem for problem in error.problems if problem.severity == "error"] or [
        error.problem
    ]
    groups = grouped(errors)
    if len(groups) > MAX_LISTED_FAULTS:
        more = f" … and {len(groups) - MAX_LISTED_FAULTS} more"
    else:
        more = ""
    return " · ".join(map(group_text, groups[:MAX_LISTED_FAULTS])) + more


class FileWatcher:
    """Call `saved()` each time one of the files is saved.

    It is called in a thread of its own, until `stop`.

    It polls the files, which works on every kind of file system, also when an editor
    replaces a file. A file counts as saved when it has not changed between two looks.
    """

    def __init__(
        self,
        files: Sequence[Path],
        saved: Callable[[], None],
        interval: float = WATCH_INTERVAL,
    ) -> None:
        self._saved = saved
        self._interval = interval
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name="bodymotion-watch", daemon=True
        )
        self.start = self._thread.start
        self.watch(files)

    def watch(self, files: Sequence[Path]) -> None:
        """Watch these files from now on."""
        self.files = tuple(files)
        self._known = self._last = self._states()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=2.0)

    def check(self) -> bool:
        """Look at the files once.

        Return whether one has been saved and does not change any more.
        """
        now = self._states()
        unchanged = now == self._last
        self._last = now
        if unchanged and now != self._known and None not in now:
            self._known = now
            return True
        return False

    def _states(self) -> list[tuple[int, int, int] | None]:
        found: list[tuple[int, int, int] | None] = []
        for path in self.files:
            try:
                one = path.stat()
                found.append((one.st_mtime_ns, one.st_size, one.st_ino))
            except OSError:
                found.append(None)
        return found

    def _run(self) -> None:
        while not self._stopped.wait(self._interval):
            if self.check():
                self._saved()
