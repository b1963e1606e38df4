"""The tab Links: the tree of links with a search; and the card of the selected link, which is above the tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bodymotion.diagnostics.text import counted, fixed, html_text, shown
from bodymotion.model.body import Body
from bodymotion.model.links import Link
from bodymotion.scene.loading import table_html
from bodymotion.scene.scene import limits_text
from bodymotion.viewer.joint_panel import value_text
from bodymotion.viewer.plot_panel import filled, svg_of

if TYPE_CHECKING:
    from bodymotion.viewer.app import Viewer

MAX_LISTED_LINKS = 2000
JOINT_KINDS = {"rotate": "⟳", "slide": "↔", "crawler": "⛓", "free": "✥", "fixed": ""}  # The sign of each joint type.


def tree_html(body: Body) -> str:
    """Return the links as a tree in HTML, with a field to search; `live.js` makes both work."""
    depths: list[int] = []
    rows = []
    for link in body.links[:MAX_LISTED_LINKS]:
        depths.append(0 if link.parent < 0 else depths[link.parent] + 1)
        joint = link.joint
        other = f" · {shown(joint.name)}" if joint.name and joint.name != link.name else ""
        number = f" {joint.id}" if joint.id >= 0 else ""
        note = html_text(f"{JOINT_KINDS[joint.type]}{number}{other}") if link.index else ""
        rows.append(
            f'<div data-bodymotion-link="{link.index}" style="cursor:pointer;padding:1px 0 1px {0.9 * min(depths[-1], 14)}em">'
            f'{html_text(link.name) or f"link {link.index}"} <span style="opacity:0.6">{note}</span></div>'
        )
    more = len(body.links) - MAX_LISTED_LINKS
    rows += [f"<div>… and {counted(more, 'more link')}</div>"] if more > 0 else []
    field = "width:100%;box-sizing:border-box;margin:0.4em 0;padding:0.3em;font:inherit;color:inherit;background:none"
    return (
        '<div style="padding:0 1em;font-size:0.85em;overflow-wrap:anywhere"><input class="bodymotion-search" '
        f'placeholder="Search links and joints" style="{field};border:1px solid #8888;border-radius:4px">'
        f"{''.join(rows)}</div>"
    )


class LinkCard:
    """The name, joint, value, limits, mass and plot of the selected link; hidden while none is selected."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._card = viewer.server.gui.add_html("", visible=False)
        self._plot = viewer.server.gui.add_html("", visible=False)

    def update(self) -> None:
        """Show the selected link of the viewer, and the plot of its joint."""
        link, scene = self._viewer.selected_link, self._viewer.scene
        name = "" if link is None else link.joint.name
        curve = next((curve for curve in scene.curves if name and curve.name == name), None)
        self._plot.visible = curve is not None and scene.num_frames > 1
        if curve is not None and self._plot.visible:
            times = scene.timeline.times
            plot = svg_of(times, [filled(curve, len(times))])
            self._plot.content = f'<div class="bodymotion-plot" style="cursor:crosshair">{plot}</div>'
        self.sync()

    def sync(self) -> None:
        """Show the current value of the joint."""
        link = self._viewer.selected_link
        self._card.visible = link is not None
        if link is None:
            return
        table = table_html((name, html_text(text)) for name, text in _facts(self._viewer, link))
        self._card.content = (
            '<div style="margin:0.3em 0.8em;padding:0.4em 0.6em;border:1px solid #228be6;border-radius:6px;font-size:0.85em;'
            'overflow-wrap:anywhere"><span data-bodymotion-link="-1" title="Close" style="float:right;cursor:pointer">✕</span>'
            f"<b>{html_text(link.name) or f'link {link.index}'}</b>{table}</div>"
        )


def _facts(viewer: Viewer, link: Link) -> list[tuple[str, str]]:
    body, joint = viewer.scene.body, link.joint
    parent = body.links[link.parent].name if link.parent >= 0 else "the world"
    facts = [("Joint", f"{joint.name or 'without a name'}: {joint.type}, to {parent or f'link {link.parent}'}")]
    column = next((k for k, index in enumerate(body.joint_links) if index == link.index), None)
    if column is not None and joint.type in ("rotate", "slide"):
        facts.append(("Value", value_text(joint, float(viewer.scene_view.q[column]))))
        axis = " ".join(f"{part:.3g}" for part in joint.axis)
        facts.append(("Limits", f"{limits_text(joint)}, axis {axis}, column {column}"))
    center = " ".join(fixed(part, 3) for part in link.center_of_mass)
    facts.append(("Mass", f"{link.mass:.4g} kg, centre at {center} m" if link.mass > 0 else "none"))
    position = viewer.scene_view.link_poses()[link.index, :3]
    facts.append(("Position", f"{' '.join(fixed(part, 3) for part in position)} m"))
    return facts
