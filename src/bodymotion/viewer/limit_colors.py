"""The share of its limit that each joint uses, as the colour of the link that it moves.

Green, yellow, red; violet beyond the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import fixed, html_text, shown
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.meshes import TRIANGLES, surface_parts
from bodymotion.viewer.analysis import MotionAnalysis

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.scene_view import RobotNodes

# The kinds of limits, and the measured quantity of each.
LIMITS: dict[str, str] = {"velocity": "joint_velocities", "torque": "torques"}
COLOR_STOPS = np.array(
    [[38, 150, 70], [245, 205, 30], [215, 35, 30]], dtype=np.float64
)  # The colours at 0, 50 and 100 % of the limit.
BEYOND_COLOR = (140, 0, 150)
NO_LIMIT_COLOR = (150, 154, 162)
COLOR_STEPS = 40  # Number of different colours; a link whose colour stays is not sent.


def shares(values: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike) -> Floats:
    """Return the shares of their limits that values (T, J) use.

    1 at the limit of their sign, NaN without limits.
    """
    v, low, high = (np.asarray(x, dtype=np.float64) for x in (values, lower, upper))
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.where(
            v >= 0,
            v / np.where(high > 0, high, np.nan),
            v / np.where(low < 0, low, np.nan),
        )
    return frozen(np.where(np.isfinite(low) | np.isfinite(high), np.abs(used), np.nan))


def color_of(share: float) -> tuple[int, int, int]:
    """Return the colour of a share of a limit."""
    if not np.isfinite(share):
        return NO_LIMIT_COLOR
    if share > 1.0:
        return BEYOND_COLOR
    at = round(share * COLOR_STEPS) / COLOR_STEPS * 2.0
    low = min(int(at), 1)
    mixed = COLOR_STOPS[low] + (at - low) * (COLOR_STOPS[low + 1] - COLOR_STOPS[low])
    return int(mixed[0]), int(mixed[1]), int(mixed[2])


class LimitColors:
    """Coloured copies of the links, which are shown instead of the links.

    `shares` (T, J) are those of the joint columns.
    """

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis, kind: str) -> None:
        from bodymotion.dynamics import series

        assert analysis.measures is not None
        self._body = body = nodes.scene.body
        self._times = analysis.measures.times
        self.kind = kind
        of = series(analysis.measures, LIMITS[kind])
        lower = -np.inf if of.lower is None else of.lower
        self.shares = shares(of.values, lower, np.inf if of.upper is None else of.upper)
        self._meshes: dict[int, viser.MeshHandle] = {}
        self._colors: dict[int, tuple[int, int, int]] = {}
        self._columns = {
            int(link): column
            for column, link in enumerate(body.joint_links)
            if link >= 0
        }
        for link in body.links:
            parts = [
                part
                for part in surface_parts(nodes.scene.shapes[link.index])
                if part.surface.mode == TRIANGLES
            ]
            if not parts:
                continue
            starts = np.cumsum([0, *(part.count for part in parts)])
            indices = [
                np.concatenate(part.indices) + start
                for part, start in zip(parts, starts, strict=False)
            ]
            vertices = np.concatenate(
                [position for part in parts for position in part.positions]
            )
            name = f"{nodes.names[link.index]}/limit"
            faces = np.concatenate(indices).reshape(-1, 3)
            mesh = nodes.server.scene.add_mesh_simple(
                name, vertices, faces, color=NO_LIMIT_COLOR, side="double"
            )
            self._meshes[link.index] = mesh
            self._colors[link.index] = NO_LIMIT_COLOR

    @property
    def exist(self) -> bool:
        """Whether any joint has such a limit."""
        return bool(np.isfinite(self.shares).any())

    def place(self, frame: int | None) -> None:
        """Set the colours of a frame.

        Without one all links are grey.
        """
        for link, mesh in self._meshes.items():
            column = self._columns.get(link)
            if frame is None or column is None:
                color = NO_LIMIT_COLOR
            else:
                color = color_of(float(self.shares[frame, column]))
            if color != self._colors[link]:
                mesh.color = self._colors[link] = color

    def describe(self, frame: int) -> str:
        """Return which joint uses the largest share of its limit.

        At a frame, and in the whole motion.
        """
        if not self.exist:
            return f"no {self.kind} limits in the model"
        known = np.nan_to_num(self.shares, nan=-1.0)
        now = int(known[frame].argmax())
        worst, column = divmod(int(known.argmax()), known.shape[1])
        return (
            f"now {self._name(now)} {_percent(known[frame, now])}; max "
            f"{self._name(column)} {_percent(known[worst, column])} "
            f"at {fixed(self._times[worst], 2)} s"
        )

    def _name(self, column: int) -> str:
        return shown(self._body.joints[column].name) or f"joint {column}"

    def remove(self) -> None:
        """Remove the coloured links."""
        for mesh in self._meshes.values():
            mesh.remove()


def legend(kind: str, text: str, exist: bool = True) -> str:
    """Return the legend of the colours as HTML, with a `text` about the current frame.

    The text alone where no joint has such a limit.
    """
    if not exist:
        return f'<div style="padding:0 1em;font-size:0.8em">{html_text(text)}</div>'
    stops = ", ".join(f"rgb{color_of(share)}" for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    chips = " &nbsp; ".join(
        f'<span style="color:rgb{color}">■</span> {label}'
        for color, label in ((BEYOND_COLOR, "beyond"), (NO_LIMIT_COLOR, "no limit"))
    )
    return (
        f'<div style="padding:0 1em;font-size:0.8em"><div '
        f'style="height:9px;border-radius:3px;'
        f'background:linear-gradient(to right, {stops})"></div><div '
        f'style="display:flex;justify-content:space-between">'
        f"<span>0 %</span><span>50 %</span><span>100 % of the {html_text(kind)} "
        f"limit</span></div>{chips}<br>"
        f"{html_text(text)}</div>"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
