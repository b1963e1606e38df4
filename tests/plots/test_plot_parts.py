"""What is plotted equals what was measured: curves, limits, bars, footprints, before anything is drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import bodymotion as bm
from bodymotion.diagnostics import WrongUseError
from bodymotion.plots import KINDS, available, charts, subject_of
from bodymotion.plots.curves import beyond_limits, curve_rows, decimated, outside
from bodymotion.plots.parts import (
    Bars,
    CurveRows,
    Curves,
    Ground,
    Heading,
    KeyFigures,
    Line,
)
from bodymotion.plots.quantities import view_limits
from bodymotion.plots.subject import JointGroup, joint_groups
from sample_files import tries

CURVE = arrays(
    np.float64,
    st.integers(1, 400),
    elements=st.floats(-1e6, 1e6) | st.sampled_from([np.nan, np.inf, -np.inf]),
)


def parts(chart, kind):
    return [cell.part for cell in chart.cells if isinstance(cell.part, kind)]


def one(measures, what, **options):
    (chart,) = bm.plot(measures, what=what, **options).charts
    return chart


@given(CURVE, st.integers(2, 100))
@settings(max_examples=tries(80))
def test_thinning_keeps_peaks_and_ends_and_invents_nothing(values, most):
    times = np.arange(len(values)) / 7
    t, v = decimated(times, values, most)
    finite = np.where(np.isfinite(values), values, np.nan)
    assert np.all(np.diff(t) > 0)
    assert t[0] == times[0]
    assert t[-1] == times[-1]
    assert len(t) <= max(2 * most + 2, 4)
    assert np.array_equal(v, finite[np.searchsorted(times, t)], equal_nan=True)
    assert np.isnan(v).any() == np.isnan(finite).any()
    if np.isfinite(values).any():
        assert np.nanmin(v) == np.nanmin(finite)
        assert np.nanmax(v) == np.nanmax(finite)


@given(
    arrays(
        np.float64, st.integers(1, 60), elements=st.floats(-10, 10) | st.just(np.nan)
    ),
    st.floats(-5, 0),
    st.floats(0, 5),
)
@settings(max_examples=tries(80))
def test_what_is_beyond_a_limit_is_red_from_where_it_crosses_it(values, lower, upper):
    times = np.arange(len(values), dtype=float)
    line = Line("a", times, values)
    bad = outside(line, Curves("a", "", (line,), lower=lower, upper=upper))
    over = (values < lower) | (values > upper)
    if bad is None:
        assert not over.any()
        return
    t, v = bad
    assert np.all(np.diff(t) >= 0)
    drawn = np.isfinite(v)
    assert np.all((v[drawn] <= lower) | (v[drawn] >= upper))
    assert set(times[over]) <= set(t[drawn])


def test_the_worst_moments_beyond_limits_are_marked():
    times = np.linspace(0, 4, 401)
    column = np.sin(2 * np.pi * times) * np.where(times < 1, 1.0, 2.0)
    marks = beyond_limits(times, column, -1.5, 1.5)
    assert len(marks) == 3
    assert all(abs(value) == pytest.approx(2, abs=1e-3) for _, value in marks)
    assert [time for time, _ in marks] == sorted(time for time, _ in marks)
    assert beyond_limits(times, column, -np.inf, np.inf) == ()
    assert beyond_limits(times, column, -2.0, 2.0) == ()
    assert beyond_limits(times, np.full(401, np.nan), 0.0, 0.0) == ()


def test_each_joint_has_its_panel_with_its_limits_in_degrees(measures, biped):
    panels = parts(one(measures, "joints"), Curves)
    assert sorted(p.title for p in panels) == sorted(
        joint.name for joint in biped.joints
    )
    by_name = {joint.name: k for k, joint in enumerate(biped.joints)}
    for panel in panels:
        joint = biped.joints[by_name[panel.title]]
        assert panel.unit == ("m" if joint.type == "slide" else "°")
        assert panel.lower == pytest.approx(np.rad2deg(joint.lower))
        assert panel.upper == pytest.approx(np.rad2deg(joint.upper))
        (line,) = panel.lines
        q = np.rad2deg(measures.joint_displacements[:, by_name[panel.title]])
        kept = np.searchsorted(measures.times, line.times)
        assert np.array_equal(measures.times[kept], line.times)
        assert line.values == pytest.approx(q[kept], abs=1e-12)
        assert (line.values.min(), line.values.max()) == pytest.approx(
            (q.min(), q.max())
        )
        assert panel.lowest < q.min() <= q.max() < panel.highest


def test_radians_are_as_the_arrays_have_them(measures, biped):
    panel = parts(one(measures, "velocities", radians=True, joints="R_KNEE"), Curves)[0]
    k = [joint.name for joint in biped.joints].index("R_KNEE")
    assert panel.unit == "rad/s"
    assert panel.upper == biped.joints[k].velocity_upper
    assert panel.lines[0].values.max() == measures.joint_velocities[:, k].max()


def test_beyond_the_limits_is_marked_with_the_time(biped, swing):
    panels = {
        p.title: p
        for p in parts(
            one(bm.dynamics.measure(biped, swing(amplitude=3.0)), "joints"), Curves
        )
    }
    knee = panels["R_KNEE"]
    assert knee.beyond
    assert all(value > knee.upper or value < knee.lower for _, value in knee.beyond)
    assert knee.worst in knee.beyond


@pytest.mark.parametrize("pattern", ["*KNEE*", ("R_KNEE", "L_KNEE"), ["?_KNEE"]])
def test_joints_are_chosen_by_name_or_pattern(measures, pattern):
    for what in ("joints", "torques"):
        assert sorted(
            p.title for p in parts(one(measures, what, joints=pattern), Curves)
        ) == ["L_KNEE", "R_KNEE"]


def test_a_joint_that_is_not_there_is_said_with_those_that_are(measures):
    with pytest.raises(ValueError, match=r"no joint matches 'TAIL'.*R_KNEE"):
        bm.plot(measures, what="joints", joints=["R_KNEE", "TAIL"])


def test_a_plot_that_is_not_there_is_said_with_those_that_are(measures, walk):
    with pytest.raises(ValueError, match=r"no plot 'nothing'.*overview, joints"):
        bm.plot(measures, what="nothing")
    with pytest.raises(
        ValueError, match=r"no plot 'torques' without a body.*overview.*joints"
    ):
        bm.plot(walk, what="torques")


def test_all_quantities_can_be_plotted(measures):
    there = available(subject_of(measures))
    assert set(bm.dynamics.measurable(measures)) <= set(there) | {"zmp", "contacts"}
    assert set(there) <= set(KINDS)
    made = bm.plot(measures, what=there, end=1.0)
    assert made.names == there
    for chart in made.charts:
        assert chart.cells
        assert chart.title
        for panel in parts(chart, Curves):
            assert np.isfinite([panel.lowest, panel.highest]).all()
            assert panel.lowest < panel.highest


def test_parts_do_not_overlap_and_stay_on_the_chart(measures):
    for chart in bm.plot(measures, what="all", end=1.0).charts:
        frames = [
            c for c in chart.cells if not isinstance(c.part, (Heading, KeyFigures))
        ]
        for k, a in enumerate(frames):
            assert a.x > 0
            assert a.x + a.width < chart.width
            assert a.y > 0
            assert a.y + a.height < chart.height
            for b in frames[k + 1 :]:
                assert (
                    a.x + a.width < b.x
                    or b.x + b.width < a.x
                    or a.y + a.height < b.y
                    or b.y + b.height < a.y
                )


@pytest.mark.parametrize("size", [(10.0, 8.0), (16.0, 24.0), 9.0])
def test_the_size_is_as_asked_for(measures, size):
    for what in ("joints", "overview"):
        chart = one(measures, what, size=size, end=1.0)
        assert chart.width * chart.scale == pytest.approx(
            size if isinstance(size, float) else size[0]
        )
        assert isinstance(size, float) or chart.height * chart.scale == pytest.approx(
            size[1]
        )


SIZES = [(10.7, 6.0), (8.0, 6.0), (12.8, 7.2), (6.7, 9.0), 6.0]


@pytest.mark.parametrize("size", SIZES)
def test_at_any_size_all_is_there_and_nothing_overlaps(measures, size):
    made = bm.plot(
        measures, what=["overview", "joints", "contacts", "zmp"], end=1.0, size=size
    ).charts
    plain = bm.plot(
        measures, what=["overview", "joints", "contacts", "zmp"], end=1.0
    ).charts
    for chart, usual in zip(made, plain, strict=True):
        assert [type(cell.part) for cell in chart.cells] == [
            type(cell.part) for cell in usual.cells
        ]
        assert chart.scale == made[0].scale >= 0.5
        frames = [cell for cell in chart.cells if not isinstance(cell.part, Heading)]
        for k, a in enumerate(frames):
            assert min(a.x, a.y, a.width, a.height) > 0
            assert a.x + a.width < chart.width
            assert a.y + a.height < chart.height
            for b in frames[k + 1 :]:
                assert (
                    a.x + a.width < b.x
                    or b.x + b.width < a.x
                    or a.y + a.height < b.y
                    or b.y + b.height < a.y
                )
            if isinstance(a.part, Curves):
                assert a.height > 0.4
                assert a.width > 0.7


@pytest.mark.parametrize("size", [(5.0, 3.0), 4.0, (4.7, 10.0)])
def test_a_size_that_is_too_small_is_refused_with_one_that_is_not(measures, size):
    with pytest.raises(WrongUseError, match="too small") as refused:
        bm.plot(measures, "overview", end=1.0, size=size, dpi=100)
    width, height = re.search(
        r"use (\d+)(?:x(\d+))? pixels", str(refused.value)
    ).groups()
    enough = (
        int(width) / 100 if height is None else (int(width) / 100, int(height) / 100)
    )
    assert one(measures, "overview", end=1.0, size=enough, dpi=100).cells
    less = 0.95 * enough if height is None else (0.95 * enough[0], 0.95 * enough[1])
    with pytest.raises(ValueError, match="too small"):
        bm.plot(measures, "overview", end=1.0, size=less, dpi=100)


def test_times_of_a_clock_are_counted_from_a_round_number(biped, walk):
    q = walk.joint_displacement.values
    late = bm.Motion.from_joints(q, times=np.arange(len(q)) * 0.01 + 1.7e9 + 3.25)
    chart = one(biped, "joints", motion=late, joints="*KNEE")
    assert (
        chart.time_origin,
        one(biped, "joints", motion=walk, joints="*KNEE").time_origin,
    ) == (1.7e9, 0.0)
    figure = bm.plot(biped, late, "joints", joints="*KNEE").figure()
    assert figure.axes[-1].get_xlabel() == "time − 1700000000 [s]"
    written = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert {"4", "12"} <= set(written) or {"5", "10"} <= set(written)
    with pytest.raises(
        ValueError, match=r"is from 1700000003\.25 s to 1700000013\.25 s"
    ):
        bm.plot(biped, late, "joints", start=1.0, end=2.0)


def test_an_overview_has_no_empty_parts(biped, swing):
    falling = swing(height=5.0)
    root = np.array(falling.link_position.values[:, 0])
    root[:, 2] -= 0.5 * 9.80665 * falling.times**2
    falling = bm.Motion.from_joints(
        np.zeros_like(falling.joint_displacement.values), 100.0, root=root
    )
    chart = one(biped, "overview", motion=falling, end=0.8)
    assert not parts(chart, Ground)
    assert "Stability margin" not in [part.title for part in parts(chart, Curves)]
    assert parts(chart, Bars)


def test_only_the_times_asked_for(measures):
    chart = one(measures, "joints", start=2.0, end=3.0)
    assert (chart.start, chart.end) == (2.0, 3.0)
    for panel in parts(chart, Curves):
        assert (panel.lines[0].times[0], panel.lines[0].times[-1]) == (2.0, 3.0)
    with pytest.raises(
        ValueError, match=r"no frame from 50 s on; .*is from 0 s to 10 s"
    ):
        one(measures, "joints", start=50.0)


def test_limbs_are_arms_legs_and_the_trunk(biped):
    names = [joint.name for joint in biped.joints]
    found = [
        [names[k] for k in joint_group.columns]
        for joint_group in joint_groups(biped, names)
    ]
    assert sorted(name for joint_group in found for name in joint_group) == sorted(
        names
    )
    leg = next(joint_group for joint_group in found if "R_KNEE" in joint_group)
    assert leg == [
        "R_HIP_YAW",
        "R_HIP_ROLL",
        "R_HIP_PITCH",
        "R_KNEE",
        "R_ANKLE_PITCH",
        "R_ANKLE_ROLL",
    ]
    assert ["HEAD_PAN", "HEAD_TILT"] in found
    assert not any(
        "R_ELBOW" in joint_group and "L_ELBOW" in joint_group for joint_group in found
    )


def test_each_column_is_in_one_limb_whatever_the_body(corpus):
    for path in sorted((corpus / "wrl").rglob("*.wrl"))[::9]:
        try:
            body = bm.load(path)
        except (bm.FormatError, OSError):
            continue
        if isinstance(body, bm.Body) and body.num_joints:
            labels = [joint.name or f"joint {k}" for k, joint in enumerate(body.joints)]
            columns = [
                k
                for joint_group in joint_groups(body, labels)
                for k in joint_group.columns
            ]
            assert sorted(columns) == list(range(body.num_joints)), path.name


def test_the_zero_moment_point_is_that_of_the_measures(measures):
    chart = one(measures, "zmp")
    (ground,) = parts(chart, Ground)
    at = np.searchsorted(measures.times, ground.times)
    assert np.array_equal(ground.path, measures.zmp[at, :2])
    labels = {label: points for label, _, points, _ in ground.others}
    assert set(labels) == {"Centre of mass", "Recorded ZMP"}
    for k in range(2):
        assert ground.path[:, k].max() == measures.zmp[:, k].max()
    cell = next(cell for cell in chart.cells if cell.part is ground)
    across, up = ground.x[1] - ground.x[0], ground.y[1] - ground.y[0]
    assert across / cell.width == pytest.approx(up / cell.height)
    worst = int(np.nanargmin(measures.stability_margin))
    assert ground.worst[0] == measures.times[worst]
    margin, apart = parts(chart, Curves)
    assert margin.lines[0].values.min() == pytest.approx(
        1000 * measures.stability_margin.min()
    )
    assert margin.floor == 0
    assert apart.unit == "mm"


def test_footprints_are_where_the_feet_stand(measures):
    (ground,) = parts(one(measures, "zmp"), Ground)
    feet = [print_ for print_ in ground.footprints if print_.color is not None]
    stances = sum(
        int(measures.contacts.in_contact[0, k])
        + int((np.diff(measures.contacts.in_contact[:, k].astype(int)) > 0).sum())
        for k in range(2)
    )
    assert len(feet) == stances
    for print_ in feet:
        k = measures.contacts.names.index(print_.label)
        inside = (measures.times >= print_.start) & (measures.times <= print_.end)
        assert measures.contacts.in_contact[inside, k].all()
        low, high = print_.corners.min(axis=0), print_.corners.max(axis=0)
        middle = np.median(measures.contacts.points[inside, k, :2], axis=0)
        assert np.all(low - 0.03 < middle)
        assert np.all(middle < high + 0.03)
        assert np.all(high - low > 0.05), "the whole sole, not its heel alone"


def test_bars_are_when_the_feet_stand(measures):
    (bars,) = parts(one(measures, "contacts"), Bars)
    assert bars.labels == measures.contacts.names
    times = measures.times
    for k, spans in enumerate(bars.spans):
        inside = np.any(
            [(times >= a - 1e-9) & (times < b - 1e-9) for a, b in spans], axis=0
        )
        assert np.array_equal(inside, measures.contacts.in_contact[:, k])
    for spans, marked in zip(bars.spans, bars.marked, strict=True):
        assert all(
            any(a - 1e-9 <= c and d <= b + 1e-9 for a, b in spans) for c, d in marked
        )


def test_flight_is_a_gap_and_a_shadow(biped, swing):
    flying = bm.dynamics.measure(biped, swing(amplitude=0.05, height=3.0), ground=0.0)
    (bars,) = parts(one(flying, "contacts"), Bars)
    assert bars.behind == ((0.0, pytest.approx(2.0)),)
    chart = one(flying, "zmp")
    (ground,) = parts(chart, Ground)
    assert ground.worst is None
    assert not ground.footprints
    margin = parts(chart, Curves)[0]
    assert np.isnan(margin.lines[0].values).all()
    assert margin.note == "no foot in contact"
    falling = bm.dynamics.measure(
        biped, swing(amplitude=0.0, height=3.0), ground=0.0, gravity=0.0
    )
    assert np.isnan(parts(one(falling, "zmp"), Ground)[0].path).all()


def test_the_overview_has_what_an_engineer_looks_for(measures, biped):
    chart = one(measures, "overview")
    (curve_rows,) = parts(chart, CurveRows)
    assert [row.line.label for row in curve_rows.rows] != []
    assert len(curve_rows.rows) == biped.num_joints
    titles = [part.title for part in parts(chart, Curves)]
    assert titles == [
        "Fastest joints",
        "Joints with the largest torques",
        "Stability margin",
    ]
    hardest = {line.label for line in parts(chart, Curves)[1].lines}
    order = np.argsort(-np.abs(measures.torques).max(axis=0))
    assert hardest == {biped.joints[k].name for k in order[:5]}
    key_figures = {name: value for name, value, _ in parts(chart, KeyFigures)[0].rows}
    assert key_figures["Frames"] == "1001"
    assert key_figures["Mass"] == f"{biped.mass:.3g} kg"
    assert len(parts(chart, Ground)) == len(parts(chart, Bars)) == 1


def test_a_body_that_is_mounted_has_no_feet_to_plot(corpus):
    body = bm.load(
        corpus
        / "wrl"
        / "choreonoid+choreonoid"
        / "share"
        / "model"
        / "PA10"
        / "PA10.wrl"
    )
    motion = bm.Motion.from_joints(
        np.sin(np.arange(100)[:, None] / 20 + np.arange(9)) * 0.01, 50
    )
    subject = subject_of(body, motion)
    assert not {"zmp", "contacts", "stability_margin"} & set(available(subject))
    (chart,) = charts(subject)
    assert [part.title for part in parts(chart, Curves)][
        -1
    ] == "Joints with the largest power"


def test_joints_alone_walk_on_their_feet(biped, walk):
    alone = bm.plot(biped, walk.replaced(walk.joint_displacement), "overview")
    assert any("follows the feet" in note for note in alone.charts[0].notes)
    assert not bm.plot(biped, walk, "overview").charts[0].notes


def test_a_motion_alone_is_plotted_as_it_is(walk):
    subject = subject_of(walk)
    assert available(subject) == ("overview", "links", "joints", "zmp")
    for chart in bm.plot(walk, what="all").charts:
        assert chart.cells
    panels = parts(bm.plot(walk, what="joints").charts[0], Curves)
    assert len(panels) == walk.joint_displacement.num_parts
    assert panels[3].lines[0].values.max() == walk.joint_displacement.values[:, 3].max()


def test_an_animation_is_played(examples):
    (chart,) = bm.plot(examples / "trot.cha", what="contacts").charts
    assert parts(chart, Bars)[0].labels == ("fl_foot", "fr_foot", "hl_foot", "hr_foot")
    assert "Trot" in chart.title


def test_one_frame_is_enough_and_none_is_not(biped, walk, swing):
    for what in ("overview", "joints", "zmp", "contacts"):
        assert bm.plot(biped, swing(frames=1), what).charts
    empty = bm.Motion.from_joints(np.zeros((0, biped.num_joints)), 100.0)
    with pytest.raises(ValueError, match="no frames"):
        bm.plot(biped, empty)
    with pytest.raises(ValueError, match="no frames"):
        bm.plot(empty)
    with pytest.raises(ValueError, match="needs a motion"):
        bm.plot(biped)
    with pytest.raises(ValueError, match="at most one model and one motion"):
        bm.plot(walk, walk)


@pytest.mark.parametrize("count", [60, 100, 300])
def test_many_joints_have_a_panel_each_or_the_liveliest_have(count):
    links = [bm.Link(name="base", index=0, parent=-1, joint=bm.Joint(type="fixed"))]
    for k in range(count):
        joint = bm.Joint(
            name=f"j{k}", type="rotate", id=k, axis=np.array([0.0, 1.0, 0.0])
        )
        links.append(
            bm.Link(
                name=f"l{k}", index=k + 1, parent=0 if k % 10 == 0 else k, joint=joint
            )
        )
    body = bm.Body(links=tuple(links))
    q = np.outer(np.sin(np.arange(50) / 5), np.arange(1, count + 1) / count)
    chart = bm.plot(body, bm.Motion.from_joints(q, 50), "joints").charts[0]
    panels = parts(chart, Curves)
    assert len(panels) == min(count, 120)
    assert bool([note for note in chart.notes if "of 300" in note]) == (count > 120)
    assert f"j{count - 1}" in {panel.title for panel in panels}
    widths = {
        round(cell.width, 6) for cell in chart.cells if isinstance(cell.part, Curves)
    }
    assert min(widths) > 0.8
    rows = parts(bm.plot(body, bm.Motion.from_joints(q, 50)).charts[0], CurveRows)[
        0
    ].rows
    assert len(rows) == 44


def test_long_motions_stay_small(biped, swing):
    plot = bm.plot(biped, swing(frames=4_000), "joints")
    assert all(
        len(line.times) <= 1300
        for part in parts(plot.charts[0], Curves)
        for line in part.lines
    )


@given(
    arrays(np.float64, (20, 2), elements=st.floats(-100, 100)),
    st.floats(1, 12),
    st.floats(0.5, 3),
)
@settings(max_examples=tries(50))
def test_a_metre_is_as_long_along_both_axes(path, width, least):
    x, y, cut = view_limits([], path, width, least, least + 4)
    height = width * (y[1] - y[0]) / (x[1] - x[0])
    assert least - 1e-6 <= height <= least + 4 + 1e-6
    assert not cut
    assert np.all((path >= [x[0], y[0]]) & (path <= [x[1], y[1]]))
    solid = path[:3] * 0.01
    x, y, cut = view_limits([solid], path, width, least, least + 4)
    assert np.all((solid >= [x[0], y[0]]) & (solid <= [x[1], y[1]]))


def test_sensors_show_their_readings(measures, biped):
    panels = parts(one(measures, "sensors"), Curves)
    gyro = next(device for device in biped.devices if device.kind == "Gyro")
    panel = next(panel for panel in panels if gyro.name in panel.title)
    assert panel.unit == "°/s"
    read = np.rad2deg(measures.read(gyro).values[:, 2])
    assert panel.lines[2].values.max() == pytest.approx(read.max())


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_that_are_none_make_gaps(biped, swing):
    q = np.array(swing(frames=50, amplitude=3.0).joint_displacement.values)
    q[10:12], q[20, 0] = np.nan, np.inf
    made = bm.plot(biped, bm.Motion.from_joints(q, 100.0), what="all")
    for part in parts(made.charts[made.names.index("joints")], Curves):
        assert np.isnan(part.lines[0].values).any()
        assert np.isfinite([part.lowest, part.highest]).all()


def test_components_with_times_of_their_own(biped, walk):
    zmp = bm.Vector3Seq(
        content="ZMP", timeline=bm.Timeline.uniform(51, 5.0), values=np.zeros((51, 3))
    )
    mixed = walk.replaced(walk.joint_displacement, walk.link_position, zmp)
    assert bm.plot(biped, mixed, "zmp").charts
    assert bm.plot(mixed, what="all").charts


def test_what_rounds_to_nothing_beside_the_rest_is_zero():
    times = np.arange(100) / 100
    values = np.linspace(-3e-5, 22.9, 100)[:, None]
    of = bm.dynamics.Series(
        name="a",
        title="a",
        of="joint",
        labels=("knee",),
        units=("°",),
        times=times,
        values=values,
    )
    assert [
        row.note for row in curve_rows("a", of, (JointGroup("leg", (0,)),)).rows
    ] == ["0 … 22.9°"]


def test_force_and_moment_of_a_sensor_are_told_apart(measures):
    titles = [part.title for part in parts(one(measures, "sensors"), Curves)]
    assert len(set(titles)) == len(titles)
    assert "ForceSensor R_ANKLE_FORCE on R_ANKLE_ROLL: force" in titles
    assert "ForceSensor R_ANKLE_FORCE on R_ANKLE_ROLL: moment" in titles


def test_crawlers_go_metres_and_do_not_work(corpus):
    tank = bm.load(corpus / "body/choreonoid+choreonoid/share/model/Tank/Tank.body")
    crawlers = {joint.name for joint in tank.joints if joint.type == "crawler"}
    q = np.outer(np.sin(np.arange(50) / 10), np.ones(tank.num_joints))
    measured = bm.dynamics.measure(
        tank, bm.Motion.from_joints(q, 100.0, root=np.tile(tank.root_pose, (50, 1)))
    )
    velocities = bm.dynamics.series(measured, "joint_velocities")
    assert {
        label
        for label, unit in zip(velocities.labels, velocities.units, strict=True)
        if unit == "m/s"
    } == crawlers
    (hardest,) = [
        part
        for part in parts(one(measured, "overview"), Curves)
        if part.title == "Joints with the largest torques"
    ]
    assert hardest.lines
    assert not crawlers & {line.label for line in hardest.lines}
    assert not crawlers & {
        figure.part
        for figure in bm.dynamics.figures(measured)
        if figure.name.startswith("torque")
    }
