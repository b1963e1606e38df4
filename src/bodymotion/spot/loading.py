"""`load_animation` and `load_choreography`.

They return the type of their value.
"""

from os import PathLike
from typing import Any, cast

from bodymotion.formats.registry import load_of_kind
from bodymotion.spot.animation import Animation
from bodymotion.spot.choreography.values import Choreography


def load_animation(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    **options: Any,  # noqa: ANN401
) -> Animation:
    """Read a Spot animation.

    Arguments and errors as for `load`. A file that holds something else is an error
    (FMT004).
    """
    return cast("Animation", load_of_kind("Animation", path, format, options))


def load_choreography(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    **options: Any,  # noqa: ANN401
) -> Choreography:
    """Read a Spot choreography.

    Arguments and errors as for `load`. A file that holds something else is an error
    (FMT004).
    """
    return cast("Choreography", load_of_kind("Choreography", path, format, options))
