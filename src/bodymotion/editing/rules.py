"""The rules of edits: what an edit does not change, or loses."""

from bodymotion.diagnostics import Problem, judgement
from bodymotion.motion import Motion, OtherSeq
from bodymotion.motion.rules import NOT_EDITED, unknown_component

__all__ = [
    "HARD_CUT",
    "IDLE",
    "LOST",
    "NOT_EDITED",
    "NOT_SYMMETRIC",
    "SLIPPING",
    "unknown_components",
]

NOT_SYMMETRIC = judgement.warning(
    "EDIT103",
    "The links on both sides of a mirrored body are mirror images of each other.",
    "give the pairs of links; otherwise the mirrored motion has this error",
    example=(
        "mirroring on a body with one arm",
        "mirroring on a body with two equal arms",
    ),
)
IDLE = judgement.warning(
    "EDIT105",
    "A motion has the components that an edit changes.",
    example=("smoothing a motion without components", "smoothing one with joints"),
)
SLIPPING = judgement.warning(
    "EDIT107",
    "A motion is repeated from a pose that is like its first one; motions are joined "
    "where no foot slips.",
    "begin and end at the same phase of a step (`edit --trim`); `edit --body` "
    "measures the slip, `edit --foot auto` keeps a foot in place",
    example=(
        "a walk repeated from the left step to the right one",
        "a walk repeated from one left step to another",
    ),
)
HARD_CUT = judgement.warning(
    "EDIT108",
    "Where motions are joined without a blend, joints and the root continue: they "
    "move by no more than elsewhere in one frame.",
    "fade one motion into the other (`edit --blend SECONDS`), or join them at poses "
    "that are alike",
    example=(
        "a knee that is at 0.2 rad in one frame and at 0.7 rad in the next",
        "one that is at 0.2 rad in both motions",
    ),
)
LOST = judgement.warning(
    "LOSS101",
    "Motions that are joined have the same components. Others are left out.",
    example=(
        "joining a motion with a ZMP and one without",
        "joining two motions with a ZMP",
    ),
)


def unknown_components(motion: Motion, edit: str) -> tuple[Problem, ...]:
    """Return a problem for each component of an unknown type, which does not change.

    `edit` is a participle: "trimmed", "reversed".
    """
    return tuple(
        unknown_component(c.type, c.content, edit)
        for c in motion.components
        if isinstance(c, OtherSeq)
    )
