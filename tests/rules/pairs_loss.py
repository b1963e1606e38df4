"""Pairs for what a save, or a change of a body or a motion, cannot keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

import bodymotion as bm
from bodymotion import editing
from bodymotion.diagnostics import Problem
from bodymotion.formats.seq import parse_seq
from bodymotion.formats.urdf import read_urdf
from bodymotion.geometry.shapes import Corners
from bodymotion.model.inertias import repaired
from bodymotion.model.links import OtherDevice
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq
from bodymotion.motion.components import Timeline
from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.cha import parse_cha
from cha.cha_texts import cha
from checks.sound_robot import robot, with_extra, with_joint, with_link, with_segment
from choreography.moves import move
from rules.pairs import Pair, Reported, calls
from rules.pairs_seq import MOTION
from rules.pairs_urdf import from_urdf

NAN = float("nan")
BODY = replace(
    robot(), extra_joints=(), devices=(bm.model.Gyro(name="gyro", id=0, link=0),)
)
"""A robot without loops."""
ROOT = [0.0, 0, 0.8, 1, 0, 0, 0]
WALK = Motion.from_joints(0.5 * np.ones((3, 3)), 100, root=ROOT)
EYE = np.eye(4)
CORNERS = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def saved(name: str, wrong: object, right: object, **options: object) -> Pair:
    """Save two things under a name."""

    def of(thing: object) -> Reported:
        return lambda folder: bm.save(thing, folder / name, **options).problems

    return calls(of(wrong), of(right))


def made(wrong: Callable[[], object], right: Callable[[], object]) -> Pair:
    """Make two things that have problems."""

    def of(make: Callable[[], object]) -> Reported:
        return lambda _: make().problems  # type: ignore[attr-defined]

    return calls(of(wrong), of(right))


def mended(wrong: bm.Body, right: bm.Body = BODY) -> Pair:
    """Repair the masses of two bodies."""
    return calls(lambda _: repaired(wrong)[1], lambda _: repaired(right)[1])


def with_keys(**extra: object) -> Motion:
    return replace(WALK, extra=extra)


def stamped(*times: float) -> Motion:
    values = np.zeros((len(times), 1))
    timeline = Timeline.stamped(times, 10.0)
    return Motion(
        (MultiValueSeq(content="JointDisplacement", timeline=timeline, values=values),)
    )


def turned(length: float) -> Motion:
    """Return poses of the root with quaternions of that length."""
    values = np.tile([0.0, 0, 0, length, 0, 0, 0], (2, 1, 1))
    return Motion(
        (
            MultiSE3Seq(
                content="LinkPosition", timeline=Timeline.uniform(2, 10), values=values
            ),
        )
    )


def with_face() -> Motion:
    return WALK.replaced(*WALK.components, OtherSeq(type="MoodSeq", content="Face"))


def other_rate(rate: float) -> Motion:
    root = MultiSE3Seq(
        content="LinkPosition",
        timeline=Timeline.uniform(3, rate),
        values=np.tile(ROOT, (3, 1, 1)),
    )
    return WALK.replaced(WALK.joint_displacement, root)


def joint(index: int = 2, **changes: object) -> bm.Body:
    return with_joint(BODY, index, **changes)


def segment(**changes: object) -> bm.Body:
    return with_segment(BODY, 2, **changes)


def shape(geometry: object, transform: object = EYE, **more: object) -> bm.Body:
    """Return the robot with one shape in the hand, seen and touched."""
    shapes = (bm.shapes.Shape(geometry, np.asarray(transform, float), **more),)  # type: ignore[arg-type]
    return segment(visuals=shapes, collisions=shapes)


def chain(length: int) -> bm.Body:
    links = [bm.Link(name="L0", joint=bm.Joint(name="L0"))]
    for k in range(1, length):
        links.append(
            bm.Link(
                name=f"L{k}",
                index=k,
                parent=k - 1,
                joint=bm.Joint(name=f"L{k}", type="rotate", id=k - 1),
            )
        )
    return bm.Body(name="robot", links=tuple(links))


def two_parts(count: int) -> bm.Body:
    part = BODY.links[2].segments[0]
    return with_link(
        BODY, 2, segments=tuple(replace(part, name=f"P{k}") for k in range(count))
    )


def broad_first() -> bm.Body:
    """Return links that do not stand depth-first: both children of the base before the child of the first."""
    base, arm, hand, leg = BODY.links
    return replace(
        BODY, links=(base, arm, replace(leg, index=2), replace(hand, index=3, parent=1))
    )


COLORED = bm.shapes.Mesh(CORNERS, FACES, colors=Corners(np.eye(4, 3), FACES))
TETRAHEDRON = bm.shapes.Mesh(CORNERS, FACES)
FLAT = bm.shapes.Mesh(CORNERS[:3], FACES[:1])
LOOPED = robot()
JPG = bm.shapes.Material(texture=bm.shapes.Texture(Path("paint.jpg"), "paint.jpg"))

NOD = cha(
    options="extendable # kept\nbpm 120",
    parameters="speed 0.5 1 2",
    rows="0 0.48\n1 0.44\n",
)


def nod(**changes: object) -> Animation:
    return replace(parse_cha(NOD.encode(), "wave.cha").require(), **changes)  # type: ignore[arg-type]


def message(wrong: Animation, right: Animation) -> Pair:
    return saved("wave.cap", wrong, right)


def without_options(*gone: str) -> Animation:
    whole = nod()
    return nod(
        options={
            name: value for name, value in whole.options.items() if name not in gone
        }
    )


def contact(value: float) -> Animation:
    row = [0.0, 0.8, -1.6] * 4
    return move(
        "legs", "leg_joints contact", [[*row, 1, 1, 1, 1], [*row, 1, value, 1, 1]]
    )


def column(name: str) -> Animation:
    """Return a move of the body with further columns, the first of them 1."""
    row = [0.48, 1.0, *[0.0] * (len(name.split()) - 1)]
    return move("body", f"body_z {name}", [row, row])


def frequency(*times: float) -> Animation:
    return move("body", "body_z", [[0.48]] * len(times), times, frequency=30.0)


def unread(option: str) -> Animation:
    return parse_cha(cha(options=option).encode(), "wave.cha").require()


def recorded(*components: object) -> Animation:
    return Animation.from_motion(Motion(components))  # type: ignore[arg-type]


def sensed(device: bm.model.Device) -> bm.Body:
    return replace(BODY, devices=(device,))


def with_motor(text: str, folder: Path) -> Iterable[Problem]:
    """Read an MJCF and save it as URDF."""
    (folder / "r.xml").write_text(
        '<mujoco> <worldbody> <body name="base"> <geom size="0.1"/> <body name="arm"> <joint name="hip"/> '
        f'<geom size="0.1"/> </body> </body> </worldbody> {text} </mujoco>\n'
    )
    return bm.save(bm.load(folder / "r.xml"), folder / "r.urdf").problems


def renamed(name: str, folder: Path) -> Iterable[Problem]:
    """Read a URDF with words for other programs in a link, and save it with that link under a name."""
    (folder / "given.urdf").write_text(
        '<robot name="r"> <link name="base"> <note text="mine"/> </link> </robot>\n'
    )
    body = read_urdf(folder / "given.urdf").require()
    return bm.save(with_link(body, 0, name=name), folder / "r.urdf").problems


def joined() -> Pair:
    with_zmp = Motion.from_joints(np.zeros((3, 3)), 100, zmp=np.zeros((3, 3)))
    without = Motion.from_joints(np.zeros((3, 3)), 100)
    return made(
        lambda: editing.join(with_zmp, without),
        lambda: editing.join(with_zmp, with_zmp),
    )


OLD = parse_seq(MOTION.replace("JointDisplacement", "JointPosition").encode())
SPOTTED = Motion.from_joints(
    np.tile([0.0, 0.8, -1.6] * 4, (3, 1)), 100, root=[0, 0, 0.48, 1, 0, 0, 0]
)
PAIRS: dict[str, Pair] = {
    "LOSS001": saved(
        "walk.seq", stamped(0, 0.1, 0.25), stamped(0, 0.1, 0.2), version=1
    ),
    "LOSS002": saved("walk.seq", with_keys(gain=NAN), with_keys(gain=0.5)),
    "LOSS003": saved("walk.seq", OLD, parse_seq(MOTION.encode()), version=1),
    "LOSS004": saved("walk.seq", with_keys(by=object()), with_keys(by="me")),
    "LOSS005": saved("walk.seq", turned(1.5), turned(1.0), se3_format="XYZRPY"),
    "LOSS006": saved("walk.seq", with_keys(by="\ud800"), with_keys(by="me")),
    "LOSS007": saved("walk.csv", with_face(), WALK),
    "LOSS008": saved("walk.csv", with_keys(by="me"), with_keys()),
    "LOSS009": saved(
        "walk.pos",
        Motion.from_joints(np.zeros((2, 2)), 100, joint_names=("HIP", "KNEE")),
        Motion.from_joints(np.zeros((2, 2)), 100),
    ),
    "LOSS010": saved(
        "walk.pos",
        Motion.from_joints(np.zeros((1, 2)), 100),
        Motion.from_joints(np.zeros((2, 2)), 100),
    ),
    "LOSS011": saved("walk.csv", other_rate(50.0), other_rate(100.0)),
    "LOSS012": saved(
        "walk.npz",
        Motion.from_joints(np.full((3, 3), 0.1), 100, root=[0, 0, 0, 1, 0, 0, 0]),
        Motion.from_joints(np.zeros((3, 3)), 100, root=[0, 0, 0, 1, 0, 0, 0]),
        layout="beyondmimic",
        body=replace(
            BODY,
            links=tuple(
                replace(link, offset=[0, 0, 0, 1, 0, 0, 0]) for link in BODY.links
            ),
        ),
    ),
    "LOSS013": made(lambda: with_face().resample(50), lambda: WALK.resample(50)),
    "LOSS020": saved("sound.wrl", segment(name="a b"), segment(name="a_b")),
    "LOSS021": saved("sound.wrl", broad_first(), BODY),
    "LOSS022": saved(
        "sound.wrl",
        shape(bm.shapes.Capsule(0.1, 0.2)),
        shape(bm.shapes.Cylinder(0.1, 0.2)),
    ),
    "LOSS023": saved(
        "sound.wrl", joint(extra={"by": object()}), joint(extra={"by": "me"})
    ),
    "LOSS024": saved("sound.wrl", joint(id=10_000), joint(id=2)),
    "LOSS025": saved("sound.wrl", replace(BODY, root_pose=[0, 0, 1, 1, 0, 0, 0]), BODY),
    "LOSS026": saved(
        "sound.wrl",
        shape(bm.shapes.Sphere(0.1), material=bm.shapes.Material(diffuse=(1.5, 0, 0))),
        shape(bm.shapes.Sphere(0.1), material=bm.shapes.Material(diffuse=(1, 0, 0))),
    ),
    "LOSS027": saved("sound.wrl", joint(name="WRIST"), BODY),
    "LOSS028": saved("robot.wrl", chain(300), chain(20)),
    "LOSS030": calls(
        lambda folder: bm.save(shape(COLORED), folder / "r.urdf", mesh="stl").problems,
        lambda folder: bm.save(shape(COLORED), folder / "r.urdf", mesh="obj").problems,
    ),
    "LOSS031": saved("r.urdf", shape(bm.shapes.Points(CORNERS)), shape(TETRAHEDRON)),
    "LOSS032": saved("r.urdf", with_link(BODY, 2, name="ARM"), BODY),
    "LOSS033": saved("r.urdf", joint(type="crawler"), joint(type="rotate")),
    "LOSS034": saved("r.urdf", joint(velocity_upper=5.0), joint(velocity_upper=3.0)),
    "LOSS035": saved("r.urdf", two_parts(2), two_parts(1), extension=False),
    "LOSS036": saved(
        "r.urdf", shape(bm.shapes.Cone(0.1, 0.2)), shape(bm.shapes.Cylinder(0.1, 0.2))
    ),
    "LOSS037": saved("r.xml", shape(TETRAHEDRON, material=JPG), shape(TETRAHEDRON)),
    "LOSS038": saved(
        "r.urdf", sensed(OtherDevice(name="nose", type="SmellSensor", link=0)), BODY
    ),
    "LOSS039": saved("r.urdf", replace(LOOPED, devices=BODY.devices), BODY),
    "LOSS040": calls(
        lambda folder: from_urdf(folder, torque=0.02, extension=False),
        lambda folder: from_urdf(folder, extension=False),
    ),
    "LOSS041": saved("r.urdf", segment(mass=NAN), segment(mass=2.0)),
    "LOSS045": mended(segment(mass=0.0, inertia=np.zeros((3, 3)))),
    "LOSS046": mended(segment(inertia=np.zeros((3, 3)))),
    "LOSS047": mended(
        segment(inertia=np.diag([0.01, 0.01, 0.5])),
        segment(inertia=np.diag([0.01, 0.01, 0.01])),
    ),
    "LOSS048": mended(segment(mass=-1.0), segment(mass=2.0)),
    "LOSS049": saved(
        "r.xml",
        with_extra(LOOPED, type="piston", axis=[1, 0, 0]),
        with_extra(LOOPED, type="xyz"),
    ),
    "LOSS050": saved("r.xml", shape(FLAT), shape(TETRAHEDRON)),
    "LOSS051": saved("r.xml", joint(extra={"by": object()}), joint(extra={"by": "me"})),
    "LOSS052": saved(
        "r.xml", joint(lower=2.0, upper=-1.0), joint(lower=-1.0, upper=2.0)
    ),
    "LOSS060": message(nod(options={**nod().options, "description": "a nod"}), nod()),
    "LOSS061": message(
        column("body_quat_w body_quat_x body_quat_y body_quat_z body_roll"),
        column("body_roll"),
    ),
    "LOSS062": message(nod(parameters={"speed": Parameter()}), nod()),
    "LOSS063": message(contact(0.5), contact(1.0)),
    "LOSS064": message(column("mood"), column("body_x")),
    "LOSS070": saved(
        "wave.cha",
        nod(options={**nod().options, "description": "a # b"}),
        nod(options={**nod().options, "description": "a b"}),
    ),
    "LOSS071": saved("wave.cha", without_options("extendable"), without_options("bpm")),
    "LOSS072": saved("wave.cha", nod(options={**nod().options, "mood": True}), nod()),
    "LOSS073": saved("wave.cha", frequency(0, 0.5, 1.3), frequency(0, 1 / 30, 2 / 30)),
    "LOSS074": saved("wave.cha", unread("BPM 120"), unread("bpm 120")),
    "LOSS075": saved("wave.cha", nod(name="nod"), nod(name="wave")),
    "LOSS076": made(
        lambda: recorded(SPOTTED.joint_displacement),
        lambda: Animation.from_motion(SPOTTED),
    ),
    "LOSS080": made(
        lambda: editing.reroot(
            sensed(bm.model.ForceSensor(name="wrist", link=2)), "HAND"
        ),
        lambda: editing.reroot(sensed(bm.model.Gyro(name="wrist", link=2)), "HAND"),
    ),
    "LOSS081": made(
        lambda: editing.scale(
            sensed(
                OtherDevice(
                    name="nose", type="SmellSensor", link=0, extra={"range": 3.0}
                )
            ),
            2.0,
        ),
        lambda: editing.scale(
            sensed(OtherDevice(name="nose", type="SmellSensor", link=0)), 2.0
        ),
    ),
    "LOSS085": calls(
        lambda folder: with_motor(
            '<actuator> <motor joint="hip"/> </actuator>', folder
        ),
        lambda folder: with_motor("", folder),
    ),
    "LOSS086": saved(
        "r.xml",
        joint(extra={"mimic": {"joint": "GONE"}}),
        joint(extra={"mimic": {"joint": "ARM"}}),
    ),
    "LOSS090": calls(
        lambda folder: renamed("other", folder), lambda folder: renamed("base", folder)
    ),
    "LOSS101": joined(),
}
