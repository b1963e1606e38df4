"""What notebooks show of an animation: its summary, and its keyframes as a table."""

from bodymotion.diagnostics.text import counted, html_text
from bodymotion.geometry.arrays import Floats
from bodymotion.notebooks.summaries import beside, card, drawing, folded, html_table
from bodymotion.spot.animation import Animation


def columns_of(animation: Animation) -> tuple[Floats, dict[str, Floats]]:
    """Return the times (N,) [s] of keyframes, and their values (N,) by column."""
    keyframes = animation.keyframes
    columns = dict(zip(keyframes.columns, keyframes.values.T, strict=True))
    return keyframes.times, columns


def summary_of(animation: Animation) -> str:
    """Return the summary of an animation as HTML."""
    keyframes = animation.keyframes
    tracks = animation.options.get("controls", ())
    facts = [f"{animation.duration:.4g} s", counted(len(keyframes), "keyframe")]
    facts += (
        [f"controls {', '.join(map(str, tracks))}"]
        if isinstance(tracks, tuple) and tracks
        else []
    )
    options = [
        (name, "" if value is True else str(value))
        for name, value in animation.options.items()
        if name != "controls"
    ]
    parameters = []
    for name, one in animation.parameters.items():
        limits = (one.minimum, one.default, one.maximum)
        texts = ["" if value is None else f"{value:g}" for value in limits]
        parameters.append((name, *texts))
    if options:
        inside = folded(
            counted(len(options), "option"),
            html_table(("option", "value"), options, len(options)),
        )
    else:
        inside = ""
    if parameters:
        table = html_table(
            ("parameter", "minimum", "default", "maximum"), parameters, len(parameters)
        )
        inside += folded(counted(len(parameters), "parameter"), table)
    columns = ", ".join(keyframes.columns) or "none"
    inside += f'<div style="font-size:85%">columns: {html_text(columns, 600)}</div>'
    return card(
        "Animation",
        animation.title,
        facts,
        animation.problems,
        beside(_first_pose(animation), inside),
    )


def _first_pose(animation: Animation) -> str:
    """Return a drawing of Spot at the first keyframe."""
    if not len(animation.keyframes):
        return ""
    try:
        body, motion = animation.body_and_motion()
        poses = body.link_poses(motion)
    except ValueError:
        return ""
    return drawing(body, poses[0], 150)
