"""Keep or drop components, by what they hold."""

from __future__ import annotations

from bodymotion.motion import Motion

__all__ = ["drop", "keep"]


def keep(motion: Motion, *contents: str) -> Motion:
    """Return the motion with only the components of these contents ("JointDisplacement", "LinkPosition", "ZMP", …), in their order.

    Raises
    ------
    ValueError
        When the motion has none of a content; the message lists what it has.
    """
    _check(motion, contents)
    return motion.replaced(*(c for c in motion.components if c.content in contents))


def drop(motion: Motion, *contents: str) -> Motion:
    """Return the motion without the components of these contents; errors are those of `keep`."""
    _check(motion, contents)
    return motion.replaced(*(c for c in motion.components if c.content not in contents))


def _check(motion: Motion, contents: tuple[str, ...]) -> None:
    there = [c.content for c in motion.components]
    missing = [content for content in contents if content not in there]
    if missing:
        raise ValueError(f"no component {', '.join(missing)}; there are: {', '.join(there) or 'none'}")
