"""When a link can be a rigid body, and the repair: MuJoCo as the judge, and laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
import strategies_bodies as some
from bodymotion.geometry import rotations
from bodymotion.geometry.shapes import Box, Shape
from bodymotion.model import inertias
from bodymotion.model.links import Joint, Link, Segment, rigid_groups
from sample_files import tries

GOOD = np.diag([1.0, 1.0, 1.5])


def link(index, parent, kind="rotate", mass=1.0, inertia=GOOD, **more):
    segment = Segment(
        name=f"s{index}", mass=mass, inertia=np.array(inertia, dtype=float), **more
    )
    return Link(
        name=f"L{index}",
        index=index,
        parent=parent,
        joint=Joint(name=f"L{index}", type=kind),
        segments=(segment,),
    )


def body(*links):
    return bm.Body(name="b", links=links)


@pytest.mark.parametrize(
    ("mass", "inertia", "why"),
    [
        (1.0, np.diag([1, 1, 1]), None),
        (1.0, np.diag([1, 1, 2]), None),
        (1.0, np.diag([0.1, 0.2, 0.3]), None),
        (1.0, np.diag([1, 1, 2.001]), "triangle"),
        (1.0, np.diag([1, 1, 0]), "negative"),
        (1.0, np.diag([1, 1, -0.1]), "negative"),
        (1.0, np.zeros((3, 3)), "zero"),
        (1.0, 1e-16 * np.eye(3), "zero"),
        (0.0, np.eye(3), "mass"),
        (-1.0, np.eye(3), "mass"),
        (np.nan, np.eye(3), "finite"),
        (1.0, np.diag([1, np.inf, 1]), "finite"),
        (1.0, [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "asymmetric"),
        (1e300, 1e300 * np.eye(3), None),
    ],
)
def test_why(mass, inertia, why):
    found = inertias.fault(mass, inertia)
    assert (found and found[0]) == why
    assert found is None or found[1]


@settings(max_examples=tries(60))
@given(st.data())
def test_solids_are_possible(data):
    """What a turned solid box has, however flat, no rule refuses."""
    mass = data.draw(some.positive(0.01, 100.0))
    assert inertias.fault(mass, data.draw(some.inertias(mass))) is None


def test_moments_and_axes():
    turn = rotations.to_matrix(rotations.from_rpy([0.3, 0.2, 0.1]))
    tensor = turn @ np.diag([1.0, 2.0, 2.5]) @ turn.T
    moments, axes = inertias.principal_moments(tensor)
    assert moments == pytest.approx([1, 2, 2.5])
    assert np.linalg.det(axes) == pytest.approx(1)
    assert np.abs(axes @ np.diag(moments) @ axes.T - tensor).max() < 1e-12


@settings(max_examples=tries(100))
@given(some.inertias(1.0, sane=False))
def test_the_nearest_tensor(tensor):
    """It is possible, has the same axes, leaves what is possible, and no other raising of second moments is smaller."""
    nearest = inertias.nearest_possible(tensor)
    if nearest is None:
        spreads = 0.5 * np.trace(tensor) * np.eye(3) - tensor
        assert np.linalg.eigvalsh(spreads).max() <= 1e-9
        return
    assert inertias.fault(1.0, nearest) is None
    assert np.abs(nearest @ tensor - tensor @ nearest).max() < 1e-8 * max(
        1, np.abs(tensor).max() ** 2
    )
    spreads, before = (
        np.linalg.eigvalsh(0.5 * np.trace(t) * np.eye(3) - t) for t in (nearest, tensor)
    )
    assert spreads == pytest.approx(
        np.maximum(before, inertias.SPREAD * before.max()), abs=1e-9
    )


def test_a_group_is_carried_by_one_link():
    """A wrist without mass moves a hand that is fixed to it; a link that does not move needs nothing; a group without all is told once."""
    empty = {"mass": 0.0, "inertia": np.zeros((3, 3))}
    good = body(link(0, -1, "fixed", **empty), link(1, 0, **empty), link(2, 1, "fixed"))
    assert inertias.faults(good) == ()
    assert rigid_groups(good) == ((0,), (1, 2))
    bad = body(
        link(0, -1, "free"),
        link(1, 0, **empty),
        link(2, 1, "fixed", **empty),
        link(3, 0, "crawler", **empty),
    )
    assert [(one.link, one.why) for one in inertias.faults(bad)] == [(1, "mass")]
    still = body(
        link(0, -1, "fixed"), link(1, 0, "fixed", mass=1.0, inertia=np.diag([1, 1, 3]))
    )
    assert [one.why for one in inertias.faults(still)] == ["triangle"]


def test_the_repair_says_what_it_does():
    box = (Shape(Box((0.2, 0.4, 0.6))),)
    first = body(
        link(0, -1, "free", mass=5.0, inertia=np.diag([0.1, 0.1, 0.5])),
        link(1, 0, mass=0.0, inertia=np.zeros((3, 3))),
        link(2, 0, mass=3.0, inertia=np.zeros((3, 3)), collisions=box),
        link(3, 0),
    )
    mended, told = inertias.repaired(first)
    assert [problem.rule for problem in told] == ["LOSS047", "LOSS045", "LOSS046"]
    assert [problem.location.inside for problem in told] == [
        "links[0]",
        "links[1]",
        "links[2]",
    ]
    assert np.diag(mended.links[0].inertia) == pytest.approx(
        [0.25, 0.25, 0.5], rel=1e-5
    )
    assert mended.links[0].mass == 5.0
    assert mended.links[1].mass == inertias.MASS_GIVEN
    assert np.diag(mended.links[2].inertia) == pytest.approx(
        [3 / 12 * (0.16 + 0.36), 3 / 12 * (0.04 + 0.36), 3 / 12 * 0.2]
    )
    assert mended.links[3] == first.links[3]
    assert inertias.repaired(mended) == (mended, ())


def test_a_good_body_is_left_alone():
    good = body(link(0, -1, "free"), link(1, 0))
    assert inertias.repaired(good)[0] is good


def test_segments_keep_what_they_weigh():
    """Where only the tensor of the sum is impossible, each segment keeps its mass and place."""
    moved = np.eye(4)
    moved[:3, 3] = [0.1, 0.0, 0.0]
    parts = (
        Segment(name="a", mass=1.0, inertia=np.diag([0.1, 0.1, 1.0])),
        Segment(name="b", mass=2.0, transform=moved, inertia=np.zeros((3, 3))),
    )
    first = body(replace(link(0, -1, "free"), segments=parts))
    mended, _ = inertias.repaired(first)
    assert [s.mass for s in mended.links[0].segments] == [1.0, 2.0]
    assert inertias.faults(mended) == ()
    assert (
        np.abs(mended.links[0].center_of_mass - first.links[0].center_of_mass).max()
        < 1e-15
    )


@settings(max_examples=tries(20))
@given(
    some.bodies(
        sane=False,
        kinds=("box",),
        max_segments=2,
        placed_segments=True,
        joint_types=("rotate", "fixed", "crawler"),
    )
)
def test_what_is_repaired_is_accepted(broken):
    mended, told = inertias.repaired(broken)
    assert inertias.faults(mended) == ()
    assert bool(told) == bool(inertias.faults(broken))
    changed = {problem.location.inside for problem in told}
    for before, after in zip(broken.links, mended.links, strict=True):
        assert before == after or f"links[{before.index}]" in changed
        assert before.visuals == after.visuals


@settings(max_examples=tries(60))
@given(
    st.lists(
        st.sampled_from([0.0, -1.0, 1.0, 1e-16, 1e-14, 1e300, np.nan, np.inf, 0.3]),
        min_size=13,
        max_size=13,
    )
)
def test_any_numbers_are_repaired(numbers):
    mass, *rest = numbers
    segment = Segment(
        mass=mass,
        center_of_mass=np.array(rest[:3]),
        inertia=np.array(rest[3:]).reshape(3, 3),
    )
    root = Link(name="r", joint=Joint(name="r", type="free"), segments=(segment,))
    mended, _ = inertias.repaired(body(root))
    assert inertias.faults(mended) == ()


@settings(max_examples=tries(40))
@given(some.positive(1e-6, 5.0), some.inertias(1.0, sane=False))
def test_mujoco_agrees(mass, tensor):
    """Where no rule of ours speaks, MuJoCo takes the numbers; where one does, it refuses them (but for what lies within rounding)."""
    mujoco = pytest.importorskip("mujoco")
    why = inertias.fault(mass, tensor)
    least, middle, most = inertias.principal_moments(tensor)[0].tolist()
    if min(abs(least), abs(least + middle - most)) < 1e-6 * max(
        abs(most), abs(least), 1e-6
    ):
        return
    spec = mujoco.MjSpec()
    spec.compiler.balanceinertia = False
    made = spec.worldbody.add_body()
    made.add_freejoint()
    made.mass, made.explicitinertial = mass, True
    made.fullinertia = [
        tensor[0, 0],
        tensor[1, 1],
        tensor[2, 2],
        tensor[0, 1],
        tensor[0, 2],
        tensor[1, 2],
    ]
    try:
        spec.compile()
    except ValueError:
        assert why is not None
    else:
        assert why is None
