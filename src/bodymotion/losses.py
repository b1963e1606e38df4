"""What a save can not keep: rules with codes ``LOSS…``, all warnings. The command exits with 3 when there was one."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = [
    "COMPONENT",
    "CONTENT",
    "EXTRA",
    "FRAMES",
    "LABELS",
    "NOT_FINITE",
    "ORIENTATION",
    "PRECISION",
    "RATE",
    "STAMPS",
    "TEXT",
    "VALUE",
]

STAMPS = Rule(
    "LOSS001",
    "warning",
    "The target holds no time stamps: the frames are put on a fixed rate, each held from its time on.",
    "judgement",
    "Motion.resample() and `--rate` with `--method` put them on a rate in other ways",
)
NOT_FINITE = Rule(
    "LOSS002",
    "warning",
    "Numbers that are not finite are written as .nan, .inf and -.inf, which not every reader takes for numbers.",
    "judgement",
)
CONTENT = Rule(
    "LOSS003",
    "warning",
    "A content keeps its meaning under the names of the target's version.",
    "judgement",
)
VALUE = Rule(
    "LOSS004",
    "warning",
    "Unknown keys hold what YAML can hold, under names that mean nothing else.",
    "judgement",
)
ORIENTATION = Rule(
    "LOSS005",
    "warning",
    "Roll, pitch and yaw, and the poses of tables, hold the turn of a quaternion, not its length.",
    "judgement",
    "the orders XYZQWQXQYQZ and XYZQXQYQZQW keep it",
)
TEXT = Rule("LOSS006", "warning", "Texts are Unicode: halves of surrogate pairs become '\\ufffd'.", "judgement")
COMPONENT = Rule("LOSS007", "warning", "The target has no place for this component.", "judgement")
EXTRA = Rule("LOSS008", "warning", "The target has no place for keys of its own.", "judgement")
LABELS = Rule("LOSS009", "warning", "The target has no place for these labels.", "judgement")
RATE = Rule(
    "LOSS010", "warning", "The target has one time for all components, or a rate that it does not say.", "judgement"
)
FRAMES = Rule("LOSS011", "warning", "The target has equally many frames of every component.", "judgement")
PRECISION = Rule("LOSS012", "warning", "The target holds numbers in single precision, of about 7 digits.", "judgement")
MASS_GIVEN = Rule(
    "LOSS045",
    "warning",
    "A moving link without mass gets a small one, since simulators refuse it otherwise.",
    "judgement",
    "give it a mass in the model",
)
INERTIA_GIVEN = Rule(
    "LOSS046",
    "warning",
    "A moving link without inertia gets that of a solid as large as its shapes, since simulators refuse it otherwise.",
    "judgement",
    "give it an inertia in the model",
)
INERTIA_CHANGED = Rule(
    "LOSS047",
    "warning",
    "An inertia that no rigid body has becomes the nearest one that a body can have, along the same axes.",
    "judgement",
    "mend the inertia in the model",
)
INERTIA_NOT_FINITE = Rule(
    "LOSS048", "warning", "Masses and inertias that are no numbers, and negative masses, become 0.", "judgement"
)
