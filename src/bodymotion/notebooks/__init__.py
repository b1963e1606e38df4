"""What a notebook shows of a body, a motion or a script.

A summary with a drawing, and a page that plays inline.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path

from bodymotion.diagnostics import ShortRepr
from bodymotion.notebooks.summaries import html_of
from bodymotion.scene.loading import Showable, files_of, load_inputs, load_scene
from bodymotion.scene.options import DisplayOptions
from bodymotion.system.files import check_not_read, whole_file

__all__ = ["InlinePage", "html_of", "inline"]


@dataclass(frozen=True)
class InlinePage(ShortRepr):
    """An HTML page that needs no server.

    A notebook shows it in a frame of `height` [px].
    """

    html: str = field(repr=False)
    title: str = ""
    height: int = 560
    files: tuple[Path, ...] = field(default=(), repr=False)
    """The files that were read for it, which `save` never overwrites."""

    def _repr_html_(self) -> str:
        # The page is in the notebook itself. `sandbox` lets its scripts run, but not
        # reach the notebook.
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" '
            f'title="{escape(self.title, quote=True)}" '
            f'style="width:100%;height:{self.height}px;border:0;border-radius:6px" '
            'sandbox="allow-scripts"></iframe>'
        )

    def save(self, output: str | PathLike[str]) -> None:
        """Write the page to a file.

        OSError when that fails, WrongUseError when the file is one of those that were
        read.
        """
        check_not_read(output, self.files)
        with whole_file(Path(output)) as stream:
            stream.write(self.html.encode("utf-8"))


def inline(
    value: Showable,
    other: Showable | None = None,
    *,
    height: int = 560,
    show: Iterable[str] = (),
) -> InlinePage:
    """Return the page; see `bodymotion.system.deferred.NotebookDisplay.view`."""
    from bodymotion.viewer.page import page

    read = load_inputs(*(one for one in (value, other) if one is not None))
    values = [one for one in (read.body, *read.motions, read.script) if one is not None]
    scene = load_scene(*values)
    return InlinePage(
        page(scene, DisplayOptions.with_names(show)),
        scene.title,
        height,
        files_of(*values),
    )
