"""The URDF of every jointed sample robot, read by Pinocchio and by yourdfpy: they see the robot that we see."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.geometry import poses, rotations
from goldens import CORPUS, answer
from sample_files import sampled

ALL = [
    path
    for path in sorted((CORPUS / "golden").glob("wrl__*.json"))
    if "fk" in answer(path)
]
MOVED = sampled(ALL)
CONFIGURATIONS = 50


@pytest.fixture(autouse=True)
def _samples(corpus):
    """Skip, or fail where CI=true, without the samples."""


@cache
def body_of(path):
    return bm.load(CORPUS / answer(path)["file"])


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Return the file of a body's URDF, written once."""
    folder, known = tmp_path_factory.mktemp("urdf"), {}

    def write(path):
        if path not in known:
            known[path] = folder / path.stem / "robot.urdf"
            known[path].parent.mkdir()
            bm.save(body_of(path), known[path])
        return known[path]

    return write


def configurations(body):
    """Random joint values (N, J) and root poses (N, 7); joints that move nothing here stand at 0."""
    rng = np.random.default_rng(len(body.links))
    q = rng.uniform(-2.0, 2.0, (CONFIGURATIONS, body.num_joints))
    for column, index in enumerate(body.joint_links):
        if index <= 0 or body.links[index].joint.type not in ("rotate", "slide"):
            q[:, column] = 0.0
    root = np.concatenate(
        [
            rng.normal(size=(CONFIGURATIONS, 3)),
            rotations.normalized(rng.normal(size=(CONFIGURATIONS, 4))),
        ],
        axis=1,
    )
    return q, root


def movers(body, file):
    """Return (column, link, name of the joint in the file) of each joint that moves something, and the links' names in the file."""
    robot = ET.parse(file).getroot()
    holder = {
        joint.find("child").get("link"): joint.get("name")
        for joint in robot.findall("joint")
    }
    titles = [link.get("name") for link in robot.findall("link")]
    moving = [
        (column, body.links[index], holder[titles[index]])
        for column, index in enumerate(body.joint_links)
        if index > 0 and body.links[index].joint.type in ("rotate", "slide")
    ]
    return moving, titles


@pytest.mark.parametrize(
    "path", MOVED, ids=lambda path: path.stem.removeprefix("wrl__")
)
def test_pinocchio_sees_the_same_robot(path, written):
    pin = pytest.importorskip("pinocchio")
    body, file = body_of(path), written(path)
    model = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
    data = model.createData()
    moving, titles = movers(body, file)
    frames = [model.getFrameId(title, pin.BODY) for title in titles]
    q, root = configurations(body)
    ours = body.forward_kinematics(q, root)
    for k in range(CONFIGURATIONS):
        full = pin.neutral(model)
        full[:7] = [*root[k, :3], *root[k, 4:], root[k, 3]]
        for column, _, name in moving:
            joint = model.joints[model.getJointId(name)]
            values = (
                [q[k, column]]
                if joint.nq == 1
                else [np.cos(q[k, column]), np.sin(q[k, column])]
            )
            full[joint.idx_q : joint.idx_q + joint.nq] = values
        pin.framesForwardKinematics(model, data, full)
        positions = np.array([data.oMf[frame].translation for frame in frames])
        turns = np.array([data.oMf[frame].rotation for frame in frames])
        assert np.abs(positions - ours[k, :, :3]).max() < 1e-9
        assert np.abs(turns - rotations.to_matrix(ours[k, :, 3:])).max() < 1e-9
        if body.mass > 0:
            center = pin.centerOfMass(model, data, full)
            assert np.abs(center - body.center_of_mass(ours[k])).max() <= 1e-9 * max(
                1.0, np.abs(center).max()
            )
    assert pin.computeTotalMass(model) == pytest.approx(body.mass, rel=1e-9)
    for _, link, name in moving:
        joint = model.joints[model.getJointId(name)]
        column = model.joints[model.getJointId(name)].idx_v
        if joint.nq == 1:
            for limit, given in (
                (link.joint.lower, model.lowerPositionLimit[joint.idx_q]),
                (link.joint.upper, model.upperPositionLimit[joint.idx_q]),
            ):
                assert given == limit or (np.isinf(limit) and abs(given) >= 1e16)
        velocity = min(abs(link.joint.velocity_lower), abs(link.joint.velocity_upper))
        given = model.upperVelocityLimit[column]
        assert given == velocity or (np.isinf(velocity) and given >= 1e16)
        assert np.abs(axis_of(pin, joint) - link.joint.axis).max() < 1e-9


def axis_of(pin, joint):
    """Return the axis of a joint in its link's frame: where a unit of velocity leads."""
    data = joint.createData()
    joint.calc(data, np.array([0.0] if joint.nq == 1 else [1.0, 0.0]))
    motion = np.asarray(data.S).ravel()
    return motion[3:] if motion[3:].any() else motion[:3]


@pytest.mark.parametrize(
    "path", MOVED, ids=lambda path: path.stem.removeprefix("wrl__")
)
def test_the_mass_matrix_is_that_of_our_links(path, written):
    """M = Σ m·Jvᵀ·Jv + Jωᵀ·R·I·Rᵀ·Jω over our links, in Pinocchio's coordinates."""
    pin = pytest.importorskip("pinocchio")
    body, file = body_of(path), written(path)
    model = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
    moving, _ = movers(body, file)
    q, root = (values[0] for values in configurations(body))
    full = pin.neutral(model)
    full[:7] = [*root[:3], *root[4:], root[3]]
    columns = {}
    for column, link, name in moving:
        joint = model.joints[model.getJointId(name)]
        values = (
            [q[column]] if joint.nq == 1 else [np.cos(q[column]), np.sin(q[column])]
        )
        full[joint.idx_q : joint.idx_q + joint.nq] = values
        columns[link.index] = joint.idx_v
    theirs = pin.crba(model, model.createData(), full)
    theirs = np.triu(theirs) + np.triu(theirs, 1).T
    ours = np.zeros_like(theirs)
    seen = body.forward_kinematics(q, root)
    place, turn = seen[:, :3], rotations.to_matrix(seen[:, 3:])
    known = [*range(6), *columns.values()]
    for link in body.links:
        center = place[link.index] + turn[link.index] @ link.center_of_mass
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        linear[:, :3], angular[:, 3:6] = turn[0], turn[0]
        linear[:, 3:6] = np.cross(turn[0].T, center - place[0]).T
        above = link.index
        while above > 0:
            joint = body.links[above].joint
            if above in columns:
                axis = turn[above] @ joint.axis
                if joint.type == "rotate":
                    angular[:, columns[above]] = axis
                    linear[:, columns[above]] = np.cross(axis, center - place[above])
                else:
                    linear[:, columns[above]] = axis
            above = body.links[above].parent
        spin = (
            turn[link.index]
            @ (0.5 * (link.inertia + link.inertia.T))
            @ turn[link.index].T
        )
        ours += link.mass * linear.T @ linear + angular.T @ spin @ angular
    wanted = np.ix_(known, known)
    assert np.abs(theirs[wanted] - ours[wanted]).max() <= 1e-9 * max(
        np.abs(ours).max(), 1e-12
    )


@pytest.mark.parametrize(
    "path", MOVED, ids=lambda path: path.stem.removeprefix("wrl__")
)
def test_yourdfpy_sees_the_same_robot(path, written):
    yourdfpy = pytest.importorskip("yourdfpy")
    body, file = body_of(path), written(path)
    robot = yourdfpy.URDF.load(str(file), load_meshes=False, build_scene_graph=True)
    moving, titles = movers(body, file)
    q, root = configurations(body)
    columns = {name: column for column, _, name in moving}
    ours = body.forward_kinematics(q, root)
    assert set(columns) <= set(robot.actuated_joint_names)
    for k in range(CONFIGURATIONS):
        robot.update_cfg(
            {
                name: q[k, columns[name]] if name in columns else 0.0
                for name in robot.actuated_joint_names
            }
        )
        base = poses.to_matrix(root[k])
        theirs = np.array([base @ robot.get_transform(title) for title in titles])
        assert np.abs(theirs - poses.to_matrix(ours[k])).max() < 1e-9


SHAPED = (
    "SR1__SR1.wrl",
    "HRP4Cmain.wrl",
    "RH2__RH2_Arm.wrl",
    "GR001__GR001.wrl",
    "PA10__PA10.wrl",
)


@pytest.mark.parametrize("name", sampled(SHAPED, 2))
def test_meshes_stand_where_we_see_them(name, written):
    """The box around all that yourdfpy shows is that around our shapes; Pinocchio finds as many collision shapes."""
    yourdfpy, pin = pytest.importorskip("yourdfpy"), pytest.importorskip("pinocchio")
    path = next(path for path in ALL if path.stem.endswith(name))
    body, file = body_of(path), written(path)
    seen = body.forward_kinematics(np.zeros(body.num_joints), poses.IDENTITY)
    corners = []
    for link in body.links:
        for shape in link.visuals:
            mesh = shape.moved(poses.to_matrix(seen[link.index])).to_mesh()
            corners.append(mesh.vertices[np.unique(mesh.faces)])
    ours = np.array(
        [
            np.min([c.min(axis=0) for c in corners], axis=0),
            np.max([c.max(axis=0) for c in corners], axis=0),
        ]
    )
    theirs = yourdfpy.URDF.load(str(file)).scene.bounds
    # Round solids have other flat faces there than here.
    assert np.abs(ours - theirs).max() < 0.01 * np.abs(ours[1] - ours[0]).max()
    model = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
    shapes = pin.buildGeomFromUrdf(
        model, str(file), pin.GeometryType.COLLISION, package_dirs=[str(file.parent)]
    )
    assert shapes.ngeoms == sum(len(link.collisions) for link in body.links)
