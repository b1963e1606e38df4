"""A body on two feet whose motions can be written down: all of its mass is in the trunk, each foot slides along x and z under it.

An arm of 0.5 m with 2 kg at its end turns about y where it says so. The trunk's centre is 0.8 m above the ground when the slides are at 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion import Body, Joint, Link, Motion, Segment
from bodymotion.geometry.shapes import Box, Shape, Sphere

HEIGHT = 0.8
HALF = 0.1
"""[m] Half of the length of a sole."""
GRAVITY = 9.80665
NAMES = ("LX", "LZ", "RX", "RZ", "ARM")


def walker(
    *, arm: float = 0.0, effort: float | None = None, sphere: bool = False
) -> Body:
    """Return the body; `arm` [kg] at the end of its arm, `effort` [Nm] its motor's limit, feet as spheres on request."""
    trunk = Segment(
        name="TRUNK",
        mass=40.0,
        inertia=0.5 * np.eye(3),
        visuals=(Shape(Box((0.2, 0.3, 0.5))),),
    )
    links = [
        Link(name="TRUNK", joint=Joint(name="TRUNK", type="free"), segments=(trunk,))
    ]
    place = np.eye(4)
    place[2, 3] = 0.05 if sphere else 0.01
    sole = Shape(Sphere(0.05) if sphere else Box((2 * HALF, 0.1, 0.02)), place)
    for side, name in ((1.0, "L"), (-1.0, "R")):
        above = len(links)
        links += [
            Link(
                name=f"{name}_LEG",
                index=above,
                offset=[0, 0.15 * side, 0, 1, 0, 0, 0],
                parent=0,
                joint=_slide(name + "X", above - 1, 0),
            ),
            Link(
                name=f"{name}_FOOT",
                index=above + 1,
                parent=above,
                offset=[0, 0, -HEIGHT, 1, 0, 0, 0],
                joint=_slide(name + "Z", above, 2),
                segments=(Segment(name=f"{name}_SOLE", visuals=(sole,)),),
            ),
        ]
    extra = {} if effort is None else {"effort": effort}
    joint = Joint(name="ARM", type="rotate", id=4, axis=[0, 1, 0], extra=extra)
    weight = Segment(name="HAND", mass=arm, center_of_mass=[0.5, 0, 0])
    links.append(Link(name="ARM", index=5, parent=0, joint=joint, segments=(weight,)))
    return Body(name="walker", links=tuple(links), root_pose=[0, 0, HEIGHT, 1, 0, 0, 0])


def _slide(name: str, number: int, axis: int) -> Joint:
    return Joint(name=name, type="slide", id=number, axis=np.eye(3)[axis])


def moving(
    times,
    *,
    x=0.0,
    z=0.0,
    feet=(None, None),
    lift=(0.0, 0.0),
    arm=0.0,
    zmp=None,
    rate=None,
) -> Motion:
    """Return the motion in which the trunk is `x` and `z` from where it stands, feet at `feet` along x (None: at 0) and `lift` above 0."""
    times = np.asarray(times, dtype=float)
    blank = np.zeros(len(times))
    q = np.zeros((len(times), 5))
    for k in range(2):
        q[:, 2 * k] = (blank if feet[k] is None else feet[k]) - x
        q[:, 2 * k + 1] = blank + lift[k] - z
    q[:, 4] = arm
    root = np.zeros((len(times), 7))
    root[:, 0], root[:, 2], root[:, 3] = blank + x, HEIGHT + blank + z, 1.0
    points = None if zmp is None else np.stack([blank + zmp, blank, blank], axis=1)
    at = {"times": times} if rate is None else {"frame_rate": rate}
    return Motion.from_joints(q, root=root, joint_names=NAMES, zmp=points, **at)


def frames(rate: float, seconds: float = 4.0) -> np.ndarray:
    return np.arange(round(rate * seconds) + 1) / rate


def smoothly(times, start, end):
    """Go from 0 at `start` to 1 at `end` with speed and acceleration 0 there (the polynomial of order 5)."""
    s = np.clip((np.asarray(times) - start) / (end - start), 0, 1)
    return s**3 * (10 - 15 * s + 6 * s * s)


def with_root(motion: Motion, change) -> Motion:
    """Return the motion with other root poses, which `change` writes into an array (T, 7)."""
    links = motion.link_position
    values = np.array(links.values)
    change(values[:, 0])
    return motion.replaced(
        *(replace(links, values=values) if c is links else c for c in motion.components)
    )


# Each of these gives the motion of a fault of some size.


def at(times, second):
    """The frame at a time."""
    return int(np.argmin(np.abs(times - second)))


def swing(times, amount):
    return amount * np.sin(np.pi * times)


def jump(times, size):
    return moving(times, arm=swing(times, 0.3) + np.where(times >= 1.9995, size, 0.0))


def glitch(times, size):
    arm = swing(times, 0.3)
    arm[at(times, 2.0)] += size
    return moving(times, arm=arm)


def full_turn(times, size):
    """Frames beyond the middle are turned by full turns, or nearly: by so much that it is none."""
    return moving(times, arm=3.0 * times + np.where(times >= 1.9995, size, 0.0))


def root_jump(times, size):
    x = np.where(times >= 1.9995, size, 0.0)
    return moving(times, x=x, feet=(x, x))


def root_glitch(times, size):
    def change(root):
        root[at(times, 2.0), 1] += size

    return with_root(moving(times), change)


def sign(times, size):
    def change(root):
        root[times >= 1.9995, 3:] *= size

    return with_root(moving(times), change)


def tremble(times, size):
    """Every value is held for one more frame; a wave with a top speed of `size` rad/s."""
    arm = swing(times, size / np.pi)
    arm[1::2] = arm[::2][: len(arm[1::2])]
    return moving(times, arm=arm)


def slip(times, size):
    return moving(times, feet=(size * smoothly(times, 1.0, 2.0), None))


def sink(times, size):
    return moving(
        times,
        lift=(-size * smoothly(times, 2.0, 2.3) * (1 - smoothly(times, 2.5, 2.8)), 0.0),
    )


def hover(times, size):
    z = size * smoothly(times, 1.0, 1.5) * (1 - smoothly(times, 2.0, 2.5))
    return moving(times, z=z, lift=(z, z))


def stairs(times, size):
    """Feet go up by turns, in steps of some size, each standing where it is."""
    up = [
        sum(size * smoothly(times, t + o, t + o + 0.3) for t in (0.2, 1.4, 2.6))
        for o in (0.0, 0.6)
    ]
    return moving(times, z=0.5 * (up[0] + up[1]), lift=up)


def low(times, size):
    """All of it, feet and all, is lower; what the motion says of its zero moment point is not."""

    def change(root):
        root[:, 2] -= size

    return with_root(moving(times, zmp=0.0), change)


def tip(times, size):
    """The zero moment point of x = a·sin(ωt) at height h is x·(1 + h·ω²/g): `size` is its largest way."""
    gain = 1 + HEIGHT * np.pi**2 / GRAVITY
    return moving(times, x=size / gain * np.sin(np.pi * times))


def own_outside(times, size):
    return moving(times, zmp=np.where((times > 1) & (times < 1.5), size, 0.0))


def own_differs(times, size):
    return moving(times, zmp=size * np.ones(len(times)))


FAULTS = {
    "MOT301": (jump, 0.1, 0.005),
    "MOT302": (glitch, 0.1, 0.002),
    "MOT303": (full_turn, -2 * np.pi, 0.0),
    "MOT304": (root_jump, 0.1, 0.003),
    "MOT305": (root_glitch, 0.1, 0.002),
    "MOT306": (sign, -1.0, 1.0),
    "MOT307": (tremble, 30.0, 0.5),
    "MOT311": (slip, 0.012, 0.008),
    "MOT312": (sink, 0.012, 0.008),
    "MOT313": (hover, 0.025, 0.015),
    "MOT314": (stairs, 0.1, 0.002),
    "MOT315": (low, 0.03, 0.008),
    "MOT321": (tip, HALF + 0.025, HALF + 0.008),
    "MOT322": (own_outside, HALF + 0.012, HALF + 0.008),
    "MOT323": (own_differs, 0.055, 0.045),
}
"""For each rule a fault with a size that triggers it, and one that does not."""


RADIUS = 0.05
"""[m] Of the ball of `puncher`."""


def puncher(at_rest: float = 0.5) -> Body:
    """Return a trunk of 0.4 m, and a ball on an arm that slides along x, at `at_rest` when the slide is at 0."""
    trunk = Segment(
        name="TRUNK",
        mass=10.0,
        inertia=np.eye(3),
        collisions=(Shape(Box((0.4, 0.4, 0.4))),),
    )
    ball = Segment(
        name="HAND", mass=1.0, inertia=np.eye(3), collisions=(Shape(Sphere(RADIUS)),)
    )
    turning = Joint(name="TURN", type="rotate", id=0, axis=[0, 0, 1])
    sliding = Joint(name="SLIDE", type="slide", id=1, axis=[1, 0, 0])
    arm = Segment(name="ARM", mass=1.0, inertia=np.eye(3))
    at = [at_rest, 0, 0, 1, 0, 0, 0]
    return Body(
        name="puncher",
        links=(
            Link(
                name="TRUNK", joint=Joint(name="TRUNK", type="fixed"), segments=(trunk,)
            ),
            Link(name="ARM", index=1, parent=0, joint=turning, segments=(arm,)),
            Link(
                name="HAND",
                index=2,
                parent=1,
                joint=sliding,
                offset=at,
                segments=(ball,),
            ),
        ),
    )


def punch(depth: float) -> Motion:
    """Return the motion in which the ball is `depth` in the trunk from 1 s to 1.5 s, and outside before and after."""
    times = np.arange(300) / 100
    x = np.where((times >= 1.0) & (times < 1.5), 0.2 + RADIUS - depth, 0.5)
    return Motion.from_joints(np.column_stack([0 * x, x - 0.5]), 100)
