"""What is said of what is shown, and what was odd in its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bodymotion.viewer.animation_panel import in_short
from bodymotion.viewer.text import counted, html_text

if TYPE_CHECKING:
    from bodymotion.viewer.app import Viewer

__all__ = ["about"]

MOST_PROBLEMS = 40


def about(viewer: Viewer) -> str:
    """Say as HTML what is shown, and what was odd in the files."""
    take = viewer.take
    facts = [
        ("Body", "none; the poses of the motion are shown as frames") if take.motion_alone else
        ("Body", f"{take.body.name or 'without a name'}: {len(take.body.links)} links, {take.body.num_joints} joint columns, "
                 f"{take.body.mass:.3g} kg"),
    ]  # fmt: skip
    facts += [(f"File {i + 1}", path.name) for i, path in enumerate(viewer.files)]
    if take.motion is not None:
        rate = take.timeline.frame_rate
        facts.append(("Motion", f"{take.num_frames} frames" + (f" at {rate:g} Hz" if rate else " with time stamps")))
    if viewer.switches.stand:
        facts.append(("Ground", "The motion says nothing of the root, so the body stands on its lowest point."
                      if take.motion is not None else "The body stands on its lowest point."))  # fmt: skip
    facts += [("Note", note) for note in take.notes]
    rows = "".join(
        f'<tr><td style="opacity:0.65;padding-right:8px;vertical-align:top;white-space:nowrap">{html_text(k)}</td>'
        f"<td>{html_text(v)}</td></tr>"
        for k, v in facts
    )
    found = "".join(
        f'<li style="margin-bottom:4px">{html_text(in_short(problem))}</li>'
        for problem in take.problems[:MOST_PROBLEMS]
    )
    if len(take.problems) > MOST_PROBLEMS:
        found += f"<li>… and {len(take.problems) - MOST_PROBLEMS} more</li>"
    listed = f"<b>{counted(len(take.problems), 'problem')} in the files</b><ul>{found}</ul>" if take.problems else ""
    return (
        '<div style="padding:0 1em;font-size:0.82em;overflow-wrap:anywhere">'
        f'<table>{rows}</table><br>{listed}<span style="opacity:0.65">Keys: space play · ← → frame · shift ← → 0.1 s · '
        "Home End · [ ] speed · L loop · F follow</span></div>"
    )
