"""Convert between animations and the vendor's message objects.

The vendor's package is an extra and is imported only when needed.
"""

import hashlib
from pathlib import Path
from typing import Any

from bodymotion.spot.animation import TRACKS, Animation
from bodymotion.spot.cha_proto.reader import from_bytes
from bodymotion.spot.cha_proto.writer import message_times, to_bytes
from bodymotion.system.deferred import need

_MESSAGES = "bosdyn.api.spot.choreography_sequence_pb2"
# What Choreographer shows for an animation without a description.
_DESCRIPTION = "Animated dance move."


def to_proto(
    animation: Animation, *, move_params_config: str | Path | None = None
) -> Any:  # noqa: ANN401
    """Return an animation as the vendor's message Animation.

    The class is `bosdyn.api.spot.choreography_sequence_pb2.Animation`.

    Arguments and errors are those of `to_bytes`.

    Raises
    ------
    ImportError
        When the extra `spot` is not installed.
    """
    pb = need(_MESSAGES, "spot", "to_proto")
    return pb.Animation.FromString(
        to_bytes(animation, move_params_config=move_params_config)
    )


def from_proto(message: Any) -> Animation:  # noqa: ANN401
    """Return the animation of the vendor's message Animation.

    1e-6 becomes 0 again.

    Raises
    ------
    FormatError
        As `from_bytes` does.
    """
    return from_bytes(message.SerializeToString())


def to_move_info(animation: Animation) -> Any:  # noqa: ANN401
    """Return the vendor's message MoveInfo of an animation.

    With its length, colour and description for Choreographer.

    With `bpm` the length is in slices, else in seconds. A move that can only be
    shortened has it as its maximum, one that can only be stretched as its minimum.

    Raises
    ------
    ImportError
        When the extra `spot` is not installed.
    ValueError
        When there is no keyframe, or the length in slices is beyond what the message
        holds.
    """
    pb = need(_MESSAGES, "spot", "to_move_info")
    if not len(animation.keyframes):
        raise ValueError("an animation without keyframes has no length")
    options = animation.options
    info = pb.MoveInfo()
    info.name = animation.name.encode("utf-8", "replace").decode()
    longer = bool(options.get("extendable"))
    shorter = bool(options.get("truncatable"))
    info.is_extendable = longer or shorter
    duration = float(message_times(animation)[-1])
    if animation.bpm is not None:
        slices = duration / 60.0 * (4 * animation.bpm)  # a slice is a quarter of a beat
        if not abs(slices) < 1 << 31:
            # The length in slices is an int32.
            raise ValueError(
                f"{duration} s at {animation.bpm} beats per minute are too many slices"
            )
        info.move_length_slices = int(slices)
    else:
        info.move_length_time = duration
    # An animation whose length may change in only one direction has its length as the
    # bound in the other.
    if shorter and not longer:
        info.max_time, info.max_move_length_slices = (
            info.move_length_time,
            info.move_length_slices,
        )
    elif longer and not shorter:
        info.min_time, info.min_move_length_slices = (
            info.move_length_time,
            info.move_length_slices,
        )
    for track in TRACKS:
        setattr(info, f"controls_{track}", track in animation.controls)
    # Display in Choreographer: category, colour, description.
    display = info.display
    display.category = pb.ChoreographerDisplayInfo.CATEGORY_ANIMATION
    color = options.get("display_rgb")
    if not (isinstance(color, tuple) and len(color) == 3):
        # As the vendor's converter chooses it.
        color = hashlib.md5(
            animation.name.encode("utf-8", "replace"), usedforsecurity=False
        ).digest()[:3]
    display.color.r, display.color.g, display.color.b = map(int, color)
    display.color.a = 1.0
    text = options.get("description")
    if text is None:
        text = _DESCRIPTION
    else:
        # One line without quotation marks.
        text = " ".join(str(text).split()).replace('"', "")
    display.description = text.encode("utf-8", "replace").decode()
    # An animation ends in a stand, and begins in one unless it says otherwise.
    if options.get("starts_sitting"):
        start = pb.MoveInfo.TRANSITION_STATE_SIT
    else:
        start = pb.MoveInfo.TRANSITION_STATE_STAND
    info.entrance_states.append(start)
    info.exit_state = pb.MoveInfo.TRANSITION_STATE_STAND
    return info
