"""When frames happen, and what is between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.geometry import rotations
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation import held_frames

increasing = st.lists(st.floats(0.001, 2), min_size=1, max_size=30).map(np.cumsum)


def values(timeline, columns=1, content="JointDisplacement"):
    table = (
        np.arange(timeline.num_frames * columns, dtype=float).reshape(-1, columns) + 1
    )
    return MultiValueSeq(content=content, timeline=timeline, values=table)


def test_a_timeline_has_a_rate_or_stamps():
    assert np.allclose(Timeline.uniform(4, 50).times, [0, 0.02, 0.04, 0.06])
    assert Timeline.uniform(101, 50).duration == 2
    assert Timeline.stamped([1, 1.5, 4]).duration == 3
    assert Timeline.stamped([1, 1.5, 4]).frame_rate is None
    assert Timeline.stamped([1.0, 2.0]) == Timeline.stamped([1.0, 2.0])
    assert Timeline.stamped([1.0, 2.0]) != Timeline.stamped([1.0, 2.5])
    for wrong in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="frame rate"):
            Timeline.uniform(3, wrong)


@given(
    st.integers(1, 50),
    st.sampled_from([30, 100, 333.333, 500, 1000]),
    st.integers(0, 60),
)
def test_frame_in_force_at_its_own_time(count, rate, k):
    timeline = Timeline.uniform(count, rate)
    assert timeline.frames_at(k / rate) == min(k, count - 1)


@given(increasing, st.floats(-1, 70))
def test_frame_in_force_between_stamps(stamps, t):
    index = int(Timeline.stamped(stamps).frames_at(t))
    assert index == 0 or stamps[index] <= t + 1e-6
    assert index == len(stamps) - 1 or stamps[index + 1] > t


def test_the_three_readings_of_the_import():
    # Stamps 0.021 and 0.048 on a grid of 0.01 s: at or after, nearest, at or before.
    stamps = Timeline.stamped([0.021, 0.048])
    assert held_frames(stamps, 100, 7, "after").tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert held_frames(stamps, 100, 7, "nearest").tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert held_frames(stamps, 100, 7, "before").tolist() == [0, 0, 0, 0, 1, 1, 1]
    middle = Timeline.stamped([0.0, 0.032])
    assert held_frames(middle, 100, 5, "after").tolist() == [0, 0, 0, 0, 1]
    assert held_frames(middle, 100, 5, "nearest").tolist() == [0, 0, 0, 1, 1]
    assert held_frames(middle, 100, 5, "before").tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("method", ["after", "nearest", "before", "linear"])
@pytest.mark.parametrize("rate", [10, 30, 50, 100, 125, 200, 333, 500, 1000])
def test_a_stamp_on_a_frame_is_on_it(method, rate):
    count = 2000
    stamps = Timeline.stamped(np.arange(count) / rate)
    assert np.array_equal(held_frames(stamps, rate, count, method), np.arange(count))
    decimal = Timeline.stamped([float(f"{k / rate:.9f}") for k in range(count)])
    assert np.array_equal(held_frames(decimal, rate, count, method), np.arange(count))


def test_two_stamps_on_one_frame_the_later_counts_and_the_last_stamp_ends_it():
    motion = Motion((values(Timeline.stamped([0.011, 0.012, 0.045])),))
    motion = motion.resample(100, "after")
    assert motion.joint_displacement.values[:, 0].tolist() == [1, 1, 2, 2, 2, 3]


@given(increasing, st.sampled_from([10, 100, 240]))
@settings(deadline=None)
def test_linear_is_numpy_interp(stamps, rate):
    motion = Motion((values(Timeline.stamped(stamps), 2),))
    component = motion.resample(rate, "linear").joint_displacement
    times = np.arange(component.num_frames) / rate
    for column in range(2):
        expected = np.interp(times, stamps, motion.joint_displacement.values[:, column])
        assert np.allclose(component.values[:, column], expected, atol=1e-3)


def test_linear_orientations_go_along_the_arc():
    turned = [[[0, 0, 0, 1, 0, 0, 0]], [[2, 0, 0, *-rotations.from_rpy([0, 0, 1.0])]]]
    component = MultiSE3Seq(
        content="LinkPosition", timeline=Timeline.stamped([0.0, 1.0]), values=turned
    )
    middle = Motion((component,)).resample(2, "linear").link_position.values[1, 0]
    assert np.allclose(middle[:3], [1, 0, 0])
    assert np.allclose(rotations.to_rpy(middle[3:]), [0, 0, 0.5])


def test_components_on_one_timeline():
    motion = Motion(
        (
            values(Timeline.uniform(5, 100)),
            Vector3Seq(
                content="ZMP",
                timeline=Timeline.uniform(2, 50),
                values=[[1, 0, 0], [2, 0, 0]],
            ),
            OtherSeq(type="FooSeq", content="Bar"),
        )
    )
    with pytest.raises(
        ValueError, match="5 frames at 100 Hz; ZMP has 2 frames at 50 Hz"
    ):
        _ = motion.num_frames
    common = motion.on_common_timeline()
    assert (common.frame_rate, common.num_frames, common.duration) == (100, 5, 0.04)
    assert common.zmp.values[:, 0].tolist() == [1, 1.5, 2, 2, 2]
    held = motion.on_common_timeline(method="after")
    assert held.zmp.values[:, 0].tolist() == [1, 1, 2, 2, 2]
    assert common.components[2] == motion.components[2]
    assert common.joint_displacement == motion.joint_displacement


def test_stamps_without_a_rate_need_one():
    motion = Motion((values(Timeline.stamped([0, 0.5, 0.6])),))
    with pytest.raises(ValueError, match="choose a frame_rate"):
        motion.on_common_timeline()
    motion = Motion((values(Timeline.stamped([0, 0.5, 0.6], import_rate=10)),))
    held = motion.on_common_timeline(method="after")
    assert held.frame_rate == 10
    assert held.joint_displacement.values[:, 0].tolist() == [1, 1, 1, 1, 1, 2, 3]
    between = motion.on_common_timeline().joint_displacement.values[:, 0]
    assert np.allclose(between, [1, 1.2, 1.4, 1.6, 1.8, 2, 3])


def test_a_motion_without_frames_has_no_time():
    with pytest.raises(ValueError, match="no component with frames"):
        _ = Motion().duration
    assert Motion().on_common_timeline(frame_rate=10) == Motion()


def test_equality_goes_by_contents():
    a = values(Timeline.uniform(2, 10))
    nan = MultiValueSeq(
        content="X", timeline=Timeline.uniform(1, 10), values=[[np.nan]]
    )
    assert Motion((a, nan)) == Motion((values(Timeline.uniform(2, 10)), nan))
    assert Motion((a,)) != Motion((values(Timeline.uniform(2, 20)),))
    assert not a.values.flags.writeable
    with pytest.raises(ValueError, match=r"2 rows of values for 3 frames"):
        MultiValueSeq(
            content="X", timeline=Timeline.uniform(3, 10), values=np.zeros((2, 1))
        )


class TestAccess:
    def motion(self, timeline=None):
        timeline = timeline or Timeline.uniform(11, 10)
        return Motion(
            (
                MultiValueSeq(
                    content="JointDisplacement",
                    timeline=timeline,
                    values=np.arange(22.0).reshape(11, 2),
                    part_labels=("HIP", "KNEE"),
                ),
                MultiSE3Seq(
                    content="LinkPosition",
                    timeline=timeline,
                    values=np.tile(np.eye(7)[3], (11, 1, 1)),
                    part_labels=("ROOT",),
                ),
                Vector3Seq(content="ZMP", timeline=timeline, values=np.zeros((11, 3))),
                OtherSeq(type="MoodSeq", content="Face"),
            )
        )

    def test_parts_come_by_label_and_components_by_content(self):
        motion = self.motion()
        assert motion["KNEE"].tolist() == list(range(1, 22, 2))
        assert motion["ROOT"].shape == (11, 7)
        assert motion["ZMP"] is motion.zmp
        assert motion["Face"].type == "MoodSeq"
        with pytest.raises(
            KeyError,
            match=r"HIP, KNEE, ROOT.*JointDisplacement, LinkPosition, ZMP, Face",
        ):
            motion["ANKLE"]
        with pytest.raises(TypeError):
            motion[3]

    def test_a_label_counts_before_a_content(self):
        timeline = Timeline.uniform(2, 10)
        twice = MultiValueSeq(
            content="ZMP",
            timeline=timeline,
            values=[[1.0], [2.0]],
            part_labels=("ZMP",),
        )
        assert Motion((twice,))["ZMP"].tolist() == [1.0, 2.0]

    def test_slices_of_frames(self):
        part = self.motion()[2:5]
        assert (part.num_frames, part.frame_rate, part["HIP"].tolist()) == (
            3,
            10,
            [4, 6, 8],
        )
        assert self.motion()[-2:]["HIP"].tolist() == [18, 20]
        assert (self.motion()[::2].frame_rate, self.motion()[::2].num_frames) == (5, 6)
        assert [p.rule for p in part.problems] == ["EDIT102"]
        with pytest.raises(ValueError, match="frames 0 to 10"):
            self.motion()[20:30]
        with pytest.raises(ValueError, match="order"):
            self.motion()[::-1]

    def test_slices_of_time(self):
        part = self.motion()[0.2:0.4]
        assert part["HIP"].tolist() == [4, 6, 8]
        assert part == self.motion().between(0.2, 0.4) == self.motion()[2:5]
        assert self.motion()[0.8:].num_frames == 3
        stamped = self.motion(Timeline.stamped(np.linspace(1, 2, 11)))
        assert np.allclose(
            stamped[1.25:1.6].times, np.array([1.3, 1.4, 1.5, 1.6]) - 1.25
        )
        assert np.allclose(stamped[3:6].times, [0, 0.1, 0.2])
        with pytest.raises(ValueError, match="before the start"):
            self.motion().between(2, 1)
        with pytest.raises(TypeError):
            self.motion()[0.1:0.5:2]


def test_representations_name_what_a_value_holds():
    body = bm.Body(
        name="R", links=(bm.Link(name="BASE", segments=(bm.Segment(mass=2.0),)),)
    )
    motion = TestAccess().motion()
    assert (
        repr(motion)
        == "Motion(JointDisplacement 2, LinkPosition 1 x 7, ZMP 3, Face; 11 frames at 10 Hz)"
    )
    assert repr(body) == "Body('R': 1 links, 0 joints, 2 kg)"


stamps = st.lists(st.sampled_from([1e-5, 0.003, 0.01, 0.7, 1e9]), max_size=30).map(
    lambda gaps: np.cumsum([0.0, *gaps])
)
lines = stamps.map(Timeline.stamped) | st.builds(
    Timeline.uniform,
    st.integers(1, 60),
    st.sampled_from([1e-9, 30.0, 100.0, 500.0, 1e12]),
)


@given(st.lists(lines, min_size=1, max_size=4))
def test_a_shared_timeline_has_every_frame_near_its_own_time(found):
    """Its length depends on the number of frames, not on the time; it keeps all frames of the longest timeline."""
    shared = Timeline.shared(found)
    longest = max(found, key=lambda line: line.num_frames)
    assert shared.num_frames <= 4 * sum(line.num_frames for line in found)
    assert (np.diff(shared.times) > 0).all()
    gaps = np.diff(
        max(
            (line for line in found if line.num_frames == longest.num_frames),
            key=lambda line: line.duration,
        ).times
    )
    for line in found:
        place = np.clip(
            np.searchsorted(shared.times, line.times), 1, max(shared.num_frames - 1, 1)
        )
        near = np.abs(
            shared.times[np.minimum([place - 1, place], shared.num_frames - 1)]
            - line.times
        ).min(axis=0)
        assert (near <= max(np.median(gaps) if len(gaps) else 0.0, 1e-6)).all()
    motion = Motion(
        tuple(
            MultiValueSeq(content="X", timeline=line, values=line.times[:, None])
            for line in found
        )
    )
    for component, line in zip(motion.synchronized().timed, found, strict=True):
        assert component.timeline == shared
        held = (
            line.times if line == shared else line.times[line.frames_at(shared.times)]
        )
        assert (component.values[:, 0] == held).all()
