"""Rules about the numbers of a motion, and what resampling changes.

They hold whatever its format.
"""

from bodymotion.diagnostics import Location, Problem, judgement

ROUNDING = 1e-3  # Accepted error of a quaternion's length: files have few digits.

# With a larger error of its length, four numbers are probably no quaternion: they are
# not normalized in a file.
MAX_LENGTH_ERROR = 0.1

MOTION_NOT_FINITE = judgement.error(
    "MOT101",
    "The numbers of a motion are finite.",
    "the program that wrote them may have divided by zero",
    example=("0.1, nan", "0.1, 0.2"),
)
MOTION_QUATERNION = judgement.warning(
    "MOT102",
    "The quaternion of a pose has length 1. A length that is off by up to 10 % is "
    "normalized.",
    fixable=True,
    example=("1.05, 0, 0, 0", "1, 0, 0, 0"),
)
MOTION_ZERO_QUATERNION = judgement.warning(
    "MOT103",
    "The quaternion of a pose is not zero.",
    "0 0 0 0 is not an orientation; write 1 0 0 0",
    example=("0, 0, 0, 0", "1, 0, 0, 0"),
)
MOTION_QUATERNION_LENGTH = judgement.error(
    "MOT104",
    "The length of a quaternion differs from 1 by at most 10 %.",
    "are these angles? A quaternion consists of the cosine and the sines of half an "
    "angle",
    example=("0, 0, 45, 0", "0.92388, 0, 0.382683, 0"),
)
TIME_ORDER = judgement.error(
    "MOT105",
    "The time of each frame is greater than that of the frame before it.",
    example=("0.0,0.3", "0.1,0.3"),
)
FRAME_RATE = judgement.error(
    "MOT106",
    "The frame rate is a positive, finite number.",
    example=("frameRate: -1", "frameRate: 100"),
)
SLOW_RATE = judgement.warning(
    "MOT107",
    "Frames are at most a second apart.",
    "is it a rate in place of the time between two frames, or the reverse? "
    "frame_rate=… (--input-rate) states the rate",
    example=("Frame Time: 30", "Frame Time: 0.033333"),
)
WRAPPED = judgement.warning(
    "EDIT101",
    "An interpolated joint angle does not jump by a full turn. The joint would rotate "
    "back through all angles between.",
    "remove the jumps first (unwrap=True, `bodymotion retime --unwrap`), or hold "
    "values",
    example=("interpolating 3.1, then -3.1", "interpolating 3.1, then 3.2"),
)
NOT_EDITED = judgement.warning(
    "EDIT102",
    "An edit changes the components whose meaning is known, and leaves the others as "
    "they are.",
    "keep or drop components by their content",
    example=(
        "mirroring a motion with an unknown 'Torque'",
        "mirroring one with JointDisplacement alone",
    ),
)
FILTER_GAPS = judgement.warning(
    "EDIT106",
    "Low-pass filtered values are finite. Others are replaced by straight lines, and "
    "the frames nearest to them become nan.",
    example=("a low-pass over 0.1, nan, 0.3", "a low-pass over 0.1, 0.2, 0.3"),
)


def unknown_component(kind: str, content: str, edit: str) -> Problem:
    """Return the problem that a component of an unknown type does not change.

    `edit` is a participle: "trimmed", "reversed".
    """
    message = (
        f"the {kind} {content!r} is not {edit}: the meaning of its frames is unknown"
    )
    return NOT_EDITED.problem(
        message,
        Location(inside=content or None),
        data={"type": kind, "content": content},
    )
