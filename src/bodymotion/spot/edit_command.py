"""The steps of `bodymotion edit` for animations."""

from pathlib import Path

import click

from bodymotion.cli.edit import EditContext, length_in_seconds, time_span
from bodymotion.cli.options import load_script
from bodymotion.extensions import kind_of
from bodymotion.spot import editing
from bodymotion.spot.animation import Animation


def edit_animation(
    animation: Animation, step: str, text: str, context: EditContext
) -> Animation:
    """Return an animation after a step with the text of its option."""
    option = f"--{step.replace('_', '-')}"
    match step:
        case "trim":
            return editing.trim(animation, *time_span(option, text, float))
        case "append":
            other = _load_other(animation, Path(text), option, context)
            return editing.append(animation, other, blend=context.blend or None)
        case "length":
            speed = animation.duration / length_in_seconds(option, text)
            return editing.change_speed(animation, speed)
        case "reverse":
            return editing.reverse(animation)
        case "mirror":
            return editing.mirror(animation)
    raise click.BadParameter(
        "is not for animations; `bodymotion convert IN.cha OUT.seq` makes a motion",
        param_hint=option,
    )


def _load_other(
    animation: Animation, path: Path, option: str, context: EditContext
) -> Animation:
    """Read another animation; a file with something else is wrong use."""
    kind = kind_of(animation)
    assert kind is not None
    other: Animation = load_script(path, context.reading, kind, option)
    return other
