"""Select parts of a motion: components by content, frames by time or by index."""

from bodymotion.motion import Motion


def keep(motion: Motion, *contents: str) -> Motion:
    """Return the motion with only the components of these contents ("JointDisplacement", "LinkPosition", "ZMP", …), in their order.

    Raises
    ------
    ValueError
        When the motion has no component of a content; the message lists the existing ones.
    """
    _check(motion, contents)
    return motion.replaced(*(c for c in motion.components if c.content in contents))


def drop(motion: Motion, *contents: str) -> Motion:
    """Return the motion without the components of these contents; errors are those of `keep`."""
    _check(motion, contents)
    return motion.replaced(*(c for c in motion.components if c.content not in contents))


def _check(motion: Motion, contents: tuple[str, ...]) -> None:
    existing = [c.content for c in motion.components]
    missing = [content for content in contents if content not in existing]
    if missing:
        raise ValueError(f"no component {', '.join(missing)}; existing components: {', '.join(existing) or 'none'}")


def trim(motion: Motion, start: float | None = None, end: float | None = None) -> Motion:
    """Return the frames from time `start` to time `end` [s], both included; None means from the beginning, or to the end.

    Each component keeps its frames with start ≤ t ≤ end (within a microsecond). At a fixed rate the first frame that is kept becomes
    frame 0; time stamps count from `start`. Components of unknown types are not trimmed; `problems` reports them.

    Raises
    ------
    ValueError
        When `end` is before `start`, or a component with frames has none in between; the message gives the times of its frames.
    """
    return motion.between(start, end)


def trim_frames(motion: Motion, first: int = 0, last: int | None = None) -> Motion:
    """Return frames `first` to `last`, both included and counted from 0; negative indices count from the end.

    Time stamps count from that of the first frame.

    Raises
    ------
    ValueError
        When the components do not share a timeline, or there are no such frames.
    """
    count = motion.num_frames
    begin = first + count if first < 0 else first
    stop = count - 1 if last is None else last + count if last < 0 else last
    if not 0 <= begin <= stop < count:
        message = f"no frames {first} to {'the end' if last is None else last}: the motion has frames 0 to {count - 1}"
        raise ValueError(message)
    return motion[begin : stop + 1]
