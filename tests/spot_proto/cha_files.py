"""Animation files made up by hypothesis, as text: what both the vendor's converter and our reader take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from bodymotion.spot.animation import GROUPS, Animation, Keyframes

LEGS = ("fl", "fr", "hl", "hr")
ZEROS = ("0", "0.0", "0.000", "-0", "-0.0", "0e5", "+0", "00")
NUMBERS = st.one_of(
    st.sampled_from(ZEROS),
    st.sampled_from(
        (
            "1e-6",
            "1E-6",
            "0.000001",
            "1",
            "-1",
            "1e-300",
            "5e-324",
            "0.30000000000000004",
        )
    ),
    st.floats(-10, 10, allow_nan=False).map(repr),
    st.integers(-3, 3).map(str),
)
CONTACTS = st.sampled_from(("0", "1", "0.0", "1.0"))
FLAGS = (
    "extendable",
    "truncatable",
    "neutral_start",
    "precise_steps",
    "track_swing_trajectories",
    "retime_to_integer_slices",
    "arm_required",
    "arm_prohibited",
    "no_looping",
    "starts_sitting",
    "custom_gait_cycle",
    "assume_zero_roll_and_pitch",
    "precise_timing",
)
PARAMETERS = (
    "speed",
    "offset_slices",
    "body_entry_slices",
    "body_exit_slices",
    "translation_multiplier.x",
    "translation_multiplier.y",
    "translation_multiplier.z",
    "rotation_multiplier.roll",
    "rotation_multiplier.pitch",
    "rotation_multiplier.yaw",
    "body_tracking_stiffness",
    "arm_entry_slices",
    "shoulder_0_offset",
    "shoulder_1_offset",
    "elbow_0_offset",
    "elbow_1_offset",
    "wrist_0_offset",
    "wrist_1_offset",
    "gripper_offset",
    "gripper_multiplier",
    "gripper_strength_fraction",
    "arm_dance_frame_id",
)
VENDOR_CRASHES = {"hand_x", "hand_y", "hand_z"}
"""Single columns on which the vendor's converter fails."""


def single_or_group(draw: st.DrawFn, group: str) -> list[str]:
    """Return a group's keyword or some of its single columns, in any order."""
    if draw(st.booleans()):
        return [group]
    singles = [name for name in GROUPS[group] if name not in VENDOR_CRASHES]
    return (
        draw(st.lists(st.sampled_from(singles), min_size=1, unique=True))
        if singles
        else [group]
    )


@st.composite
def headers(draw: st.DrawFn) -> tuple[set[str], list[str]]:
    """Return tracks and columns of them, of all alternatives one."""
    tracks = draw(
        st.sets(st.sampled_from(("legs", "body", "arm", "gripper")), min_size=1)
    )
    columns: list[str] = []
    if "gripper" in tracks or draw(st.booleans()):
        columns.append("gripper")
    if "arm" in tracks:
        if draw(st.booleans()):
            columns += single_or_group(draw, "arm_joints")
        else:
            columns.append("hand_pos")
            columns += draw(
                st.sampled_from(
                    (
                        [],
                        ["hand_quat_wxyz"],
                        ["hand_quat_xyzw"],
                        ["hand_euler_rpy"],
                        list(GROUPS["hand_quat_xyzw"]),
                    )
                )
            )
    if "body" in tracks:
        columns += single_or_group(draw, draw(st.sampled_from(("body_pos", "com_pos"))))
        turn = draw(
            st.sampled_from(("", "body_quat_wxyz", "body_quat_xyzw", "body_euler_rpy"))
        )
        if turn == "body_euler_rpy":
            columns += single_or_group(draw, turn)
        elif turn:
            columns += draw(st.sampled_from(([turn], list(GROUPS[turn]))))
    if "legs" in tracks:
        if draw(st.booleans()):
            columns.append(draw(st.sampled_from(("leg_joints", "foot_pos"))))
        else:
            for leg in LEGS:
                group = draw(st.sampled_from((f"{leg}_angles", f"{leg}_pos")))
                columns += draw(st.sampled_from(([group], list(GROUPS[group]))))
        contact = draw(st.sampled_from(("", "contact", "singles")))
        columns += (
            ["contact"]
            if contact == "contact"
            else list(GROUPS["contact"])
            if contact
            else []
        )
    return tracks, list(draw(st.permutations(columns)))


@dataclass
class ChaFile:
    """A file, and the parts it was put together from."""

    options: list[str]
    parameters: list[str]
    header: list[str]
    rows: list[list[str]]

    @property
    def text(self) -> str:
        parameters = self.parameters or ["no parameters"]
        rows = [" ".join(row) for row in self.rows]
        return "\n".join(
            [*self.options, "", *parameters, "", " ".join(self.header), *rows, ""]
        )

    def write(self, folder: Path) -> Path:
        path = folder / "generated.cha"
        path.write_text(self.text)
        return path


@st.composite
def cha_files(draw: st.DrawFn) -> ChaFile:
    """Return a file that obeys the document."""
    tracks, columns = draw(headers())
    options = ["controls " + " ".join(draw(st.permutations(sorted(tracks))))]
    options += draw(st.lists(st.sampled_from(FLAGS), unique=True))
    if draw(st.booleans()):
        options.append(f"bpm {draw(st.integers(1, 240))}")
    if draw(st.booleans()):
        options.append(
            f"timing_adjustability {draw(st.sampled_from(('0', '-1', '1', '0.25')))}"
        )
    if draw(st.booleans()):
        options.append(
            f"arm_playback {draw(st.sampled_from(('jointspace', 'workspace', 'workspace_dance_frame')))}"
        )
    if draw(st.booleans()):
        options.append(
            f"display_rgb {draw(st.integers(0, 255))} 0 {draw(st.integers(0, 255))}"
        )
    if draw(st.booleans()):
        options.append(
            "description " + draw(st.sampled_from(("a wave", '"two  blanks"', "it's")))
        )
    frequency = draw(st.sampled_from(("", "30", "12.5", "7")))
    if frequency:
        options.append(f"frequency {frequency}")
    options = draw(st.permutations(options))
    names = draw(st.lists(st.sampled_from(PARAMETERS), unique=True, max_size=5))
    limits = st.sampled_from(("0 1 2", "-1 0 1", "0 0 0", "0.5 0.5 7", "1 2 2.0"))
    parameters = [
        f"{name} {'0 1 2' if name == 'arm_dance_frame_id' else draw(limits)}"
        for name in names
    ]
    header = [*columns] if frequency else draw(st.permutations([*columns, "time"]))
    rows = []
    for number in range(draw(st.integers(1, 4))):
        row: list[str] = []
        for keyword in header:
            if keyword == "time":
                row.append(
                    draw(st.sampled_from(("0", "0.0")))
                    if number == 0
                    else repr(number / 3)
                )
                continue
            strategy = CONTACTS if keyword.endswith("contact") else NUMBERS
            row += [draw(strategy) for _ in GROUPS.get(keyword, ("",))]
        rows.append(row)
    return ChaFile(list(options), parameters, list(header), rows)


def by_hand(header: list[str], rows: list[list[str]]) -> Animation:
    """Make an animation of columns and rows without a reader."""
    columns = tuple(
        single
        for keyword in header
        for single in GROUPS.get(keyword, (keyword,))
        if keyword != "time"
    )
    texts = np.array(rows).reshape(len(rows), -1)
    place = [
        single for keyword in header for single in GROUPS.get(keyword, (keyword,))
    ].index("time")
    others = np.delete(texts, place, axis=1)
    return Animation(
        name="generated",
        options={"controls": ()},
        keyframes=Keyframes(
            columns=columns,
            values=others.astype(float),
            times=texts[:, place].astype(float),
            header=tuple(header),
            exact_zeros=others == "0",
        ),
    )
