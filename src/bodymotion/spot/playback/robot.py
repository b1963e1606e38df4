"""Spot as a Body.

Links, joints, limits, masses and efforts as its vendor publishes them in a URDF, and
shapes of our own.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Shape
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link, Segment
from bodymotion.motion.feet import LEGS
from bodymotion.spot.playback import appearance, dimensions
from bodymotion.spot.playback.arm import AXES, OFFSETS

X, Y, Z = np.eye(3)
# Mass [kg], centre of mass [m] and moments of inertia [kg m²] of the links. Of a leg,
# of the front left one.
INERTIAL: Mapping[
    str, tuple[float, tuple[float, float, float], tuple[float, float, float]]
] = {
    "body": (16.708, (0.0, 0.0, -0.005), (0.0815, 0.549, 0.569)),
    "hip": (1.137, (-0.0159, 0.0086, 0.0), (0.00122, 0.00159, 0.00173)),
    "uleg": (2.256, (0.0021, -0.0111, -0.0788), (0.0269, 0.0258, 0.00319)),
    "lleg": (0.330, (0.0060, 0.0, -0.1747), (0.00701, 0.0071, 0.000145)),
    "arm_sh0": (1.905, (-0.0084, 0.0003, -0.0246), (0.0089, 0.00492, 0.0073)),
    "arm_sh1": (1.857, (0.0808, -0.0017, 0.0005), (0.00262, 0.027, 0.0282)),
    "arm_el0": (0.948, (0.0448, -0.0027, 0.0499), (0.00176, 0.00269, 0.00203)),
    "arm_el1": (1.018, (-0.1687, -0.0162, 0.0), (0.00118, 0.0165, 0.0169)),
    "arm_wr0": (0.583, (0.0095, -0.0114, 0.0), (0.000467, 0.00045, 0.000536)),
    "arm_wr1": (0.933, (0.0975, 0.0001, -0.0112), (0.000988, 0.00197, 0.00166)),
    "gripper": (0.224, (0.0357, 0.0007, -0.0123), (0.000252, 0.000485, 0.000591)),
}
# [N m] by joint. The vendor's controller may allow more for short times.
EFFORTS = {
    **{"hx": 45.0, "hy": 45.0, "kn": 115.0},
    **{
        "sh0": 90.9,
        "sh1": 181.8,
        "el0": 90.9,
        "el1": 30.3,
        "wr0": 30.3,
        "wr1": 30.3,
        "gripper": 15.32,
    },
}
GRIPPER = np.array(
    [0.117, 0.0, 0.015]
)  # [m] From joint wr1 to the axis of the gripper's jaw.


@cache
def spot_body(*, arm: bool = True) -> Body:
    """Return Spot, with or without its arm.

    Joints are `fl_hx fl_hy fl_kn fr_hx … hr_kn`, and with the arm `sh0 sh1 el0 el1 wr0
    wr1 gripper`, in that order. The links `fl_foot` …
    `hr_foot` have their frames in the feet's centres, `hand` has the hand's frame. The
    body's origin is in its middle, x forward, y left.
    """
    links: list[Link] = []

    def add(
        name: str,
        parent: int,
        step: Floats,
        axis: Floats | None = None,
        joint: str = "",
        visuals: tuple[Shape, ...] = (),
    ) -> int:
        """Add a link at `step` (3,) from its parent.

        Return its index.
        """
        # Negative parent: the root floats; links without an axis are fixed (feet,
        # hand).
        kind = Joint(name=name, type="free" if parent < 0 else "fixed")
        if axis is not None:
            number = dimensions.JOINT_NAMES.index(joint)
            extra = {"effort": EFFORTS[joint.rpartition("_")[2]]}
            lower, upper = map(float, dimensions.LIMITS[number])
            kind = Joint(
                name=joint,
                type="rotate",
                id=number,
                axis=axis,
                lower=lower,
                upper=upper,
                extra=extra,
            )
        # Links of legs ("fl_hip") share the entry of their part ("hip"). Frames without
        # an entry (feet, hand) have no mass.
        mass, center, moments = (
            INERTIAL.get(name)
            or INERTIAL.get(name[3:])
            or (0.0, (0.0,) * 3, (0.0,) * 3)
        )
        # Hind hips have their centre of mass in front of the joint, right legs theirs
        # on the other side.
        flip = [
            -1.0 if name in ("hl_hip", "hr_hip") else 1.0,
            -1.0 if name[1:3] == "r_" else 1.0,
            1.0,
        ]
        segment = Segment(
            name=name,
            mass=mass,
            center_of_mass=np.multiply(flip, center),
            inertia=np.diag(moments),
            visuals=visuals,
            collisions=visuals,
        )
        # All joint frames are parallel to the body at zero angles.
        offset = poses.from_parts(step, [1.0, 0.0, 0.0, 0.0])
        # A massless frame without shape needs no segment.
        segments = (segment,) if mass or visuals else ()
        links.append(
            Link(
                name=name,
                index=len(links),
                parent=parent,
                joint=kind,
                offset=offset,
                segments=segments,
            )
        )
        return len(links) - 1

    # The body, then each leg as a chain hx, hy, kn and foot.
    root = add("body", -1, poses.IDENTITY[:3], visuals=appearance.body(arm=arm))
    for leg, name in enumerate(LEGS):
        side = float(dimensions.SIDES[leg])
        front = leg < 2
        hip = add(
            f"{name}_hip",
            root,
            dimensions.HIPS[leg],
            X,
            f"{name}_hx",
            appearance.hip(side, front=front),
        )
        upper = add(
            f"{name}_uleg",
            hip,
            side * dimensions.HIP_WIDTH * Y,
            Y,
            f"{name}_hy",
            appearance.upper_leg(side),
        )
        lower = add(
            f"{name}_lleg",
            upper,
            dimensions.KNEE,
            Y,
            f"{name}_kn",
            appearance.LOWER_LEG,
        )
        add(f"{name}_foot", lower, -dimensions.SHIN * Z, visuals=appearance.FOOT)
    # The arm is a chain of six joints; hand and gripper both follow wr1.
    if arm:
        parent = root
        for name, step, axis in zip(dimensions.ARM_JOINTS, OFFSETS, AXES, strict=True):
            parent = add(f"arm_{name}", parent, step, axis, name, appearance.ARM[name])
        add("hand", parent, dimensions.HAND * X)
        add("gripper", parent, GRIPPER, Y, "gripper", appearance.JAW)
    # In the nominal stand the spheres of the feet touch the floor at z = 0.
    height = dimensions.NOMINAL_HEIGHT + dimensions.FOOT_RADIUS
    return Body(
        name="Spot with arm" if arm else "Spot",
        links=tuple(links),
        root_pose=poses.from_parts([0.0, 0.0, height], [1.0, 0.0, 0.0, 0.0]),
        info={
            "info": [
                "Dimensions, limits, masses and efforts as published; shapes are "
                "bodymotion's own."
            ]
        },
    )
