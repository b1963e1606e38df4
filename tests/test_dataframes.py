"""Tables of pandas, polars and xarray: against the arrays they are made of, and against what our own CSV reader makes of them."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from sample_files import ROOT, tries

BODY = bm.load(ROOT / "examples" / "biped.wrl")
WALK = bm.load(ROOT / "examples" / "biped_walk.seq")
assert isinstance(BODY, bm.Body) and isinstance(WALK, bm.Motion)


def test_a_table_of_pandas_written_as_csv_is_the_motion_again(tmp_path):
    bm.to_pandas(WALK).to_csv(tmp_path / "walk.csv")
    again = bm.load(tmp_path / "walk.csv")
    np.testing.assert_array_equal(
        again.joint_displacement.values, WALK.joint_displacement.values
    )
    np.testing.assert_array_equal(again.link_position.values, WALK.link_position.values)
    np.testing.assert_array_equal(again.zmp.values, WALK.zmp.values)
    assert again.frame_rate == WALK.frame_rate


def test_joints_by_name():
    table = bm.to_pandas(WALK, body=BODY)
    assert table.index.name == "time"
    np.testing.assert_array_equal(table.index, WALK.times)
    for k, joint in enumerate(BODY.joints):
        np.testing.assert_array_equal(
            table[joint.name], WALK.joint_displacement.values[:, k]
        )


@pytest.mark.parametrize("table", [bm.to_pandas, bm.to_polars, bm.to_xarray])
def test_columns_that_a_body_lacks_are_told(table, recwarn):
    table(WALK, body=BODY)
    assert not recwarn
    body = bm.Body(
        name="pendulum",
        links=(bm.Link(name="ROD", joint=bm.Joint(name="SWING", type="rotate", id=0)),),
    )
    with pytest.warns(
        UserWarning,
        match="32 joint columns and pendulum 1: the columns from 1 on are not",
    ) as told:
        table(WALK, body=body)
    assert told[0].filename == __file__


def test_polars_and_pandas_say_the_same():
    measures = bm.dynamics.measure(BODY, WALK)
    wanted = ["torques", "zmp", "contacts", "stability_margin"]
    one, other = bm.to_pandas(measures, of=wanted), bm.to_polars(measures, of=wanted)
    assert ["time", *one.columns] == other.columns
    assert {f"torques/{joint.name}" for joint in BODY.joints} < set(other.columns)
    for name in one.columns:
        np.testing.assert_array_equal(one[name].to_numpy(), other[name].to_numpy())
    assert one["contacts/R_ANKLE_ROLL"].dtype == bool


def test_xarray_has_names_and_units():
    measures = bm.dynamics.measure(BODY, WALK)
    data = bm.to_xarray(measures)
    assert set(data) == set(bm.dynamics.measurable(measures))
    np.testing.assert_array_equal(
        data.torques.sel(joint="R_KNEE"),
        measures.torques[:, [j.name for j in BODY.joints].index("R_KNEE")],
    )
    np.testing.assert_array_equal(data.zmp.sel(axis="y"), measures.zmp[:, 1])
    np.testing.assert_array_equal(data.stability_margin, measures.stability_margin)
    assert data.kinetic_energy.attrs["units"] == "J" and data.time.attrs["units"] == "s"
    motion = bm.to_xarray(WALK, body=BODY)
    np.testing.assert_array_equal(
        motion.link_position.sel(link=BODY.links[0].name),
        WALK.link_position.values[:, 0],
    )


def test_a_sensor_an_animation_and_one_series():
    measures = bm.dynamics.measure(BODY, WALK)
    reading = measures.read(
        next(d for d in BODY.devices if isinstance(d, bm.model.Gyro))
    )
    np.testing.assert_array_equal(bm.to_pandas(reading).to_numpy(), reading.values)
    (path,) = sorted((ROOT / "examples").glob("*.cha"))[:1]
    animation = bm.load(path)
    table = bm.to_pandas(animation)
    assert tuple(table.columns) == animation.keyframes.columns
    np.testing.assert_array_equal(table.to_numpy(), animation.keyframes.values)
    torques = bm.dynamics.series(measures, "torques")
    np.testing.assert_array_equal(
        bm.to_polars(torques)["R_KNEE"].to_numpy(), torques.column("R_KNEE")
    )


names = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    min_size=1,
    max_size=5,
)


@settings(max_examples=tries(40), deadline=None)
@given(names, st.integers(1, 4))
def test_no_column_is_lost_whatever_it_is_called(labels, count):
    values = np.arange(count * len(labels), dtype=float).reshape(count, -1)
    motion = bm.Motion.from_joints(
        values, 10.0, joint_names=labels, zmp=np.ones((count, 3))
    )
    doubled = motion.replaced(*motion.components, motion.components[0])
    for table in (bm.to_pandas(doubled), bm.to_polars(doubled).drop("time")):
        assert table.shape == (count, 2 * len(labels) + 3)
        np.testing.assert_array_equal(np.asarray(table)[:, : len(labels)], values)
    data = bm.to_xarray(doubled)
    np.testing.assert_array_equal(data.joint_displacement_2, values)


def test_what_can_not_be_a_table():
    with pytest.raises(TypeError, match="not a Body"):
        bm.to_pandas(BODY)
    with pytest.raises(ValueError, match="quantities of measures"):
        bm.to_pandas(WALK, of=["torques"])
    slow = bm.Motion.from_joints(np.zeros((5, 1)), 10.0).components[0]
    with pytest.raises(ValueError, match="on_common_timeline"):
        bm.to_pandas(WALK.replaced(*WALK.components, slow))


@pytest.mark.parametrize(
    ("function", "package"),
    [(bm.to_pandas, "pandas"), (bm.to_polars, "polars"), (bm.to_xarray, "xarray")],
)
def test_what_is_missing_is_named_with_its_extra(monkeypatch, function, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r"pip install 'bodymotion\[data\]'"):
        function(WALK)
