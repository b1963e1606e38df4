"""Bodies that are their own mirror image, made at random, and motions of theirs."""

from __future__ import annotations

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.components import Timeline

MIRROR = np.diag([1.0, -1.0, 1.0])


def mirrored_matrix(matrix):
    """Return the pose of the mirror image, all frames mirrored: M·T·M."""
    both = np.eye(4)
    both[:3, :3] = MIRROR
    return both @ matrix @ both


def symmetric_body(
    seed: int,
    pairs: int = 4,
    middle: int = 2,
    kinds=("rotate", "slide", "fixed", "crawler"),
) -> Body:
    """Make a trunk of links in the middle with pairs of links at its sides; link frames of partners are turned at will.

    A pair may hang on the trunk or on another pair. Axes of partners are mirror images of each other, with either sign.
    """
    rng = np.random.default_rng(seed)
    nodes = [
        {
            "name": "ROOT",
            "parent": None,
            "kind": "free",
            "axis": np.array([0, 0, 1.0]),
            "pose": np.eye(4),
        }
    ]
    for k in range(middle):
        parent = nodes[rng.integers(0, len(nodes))]
        pose = np.eye(4)
        pose[:3, 3] = [rng.normal(), 0, rng.normal()]
        turn = rng.uniform(-3, 3)  # about y: its own mirror image
        pose[:3, :3] = rotations.to_matrix(rotations.from_rpy([0, turn, 0]))
        world_axis = [np.array([0, 1.0, 0]), np.array([np.cos(turn), 0, np.sin(turn)])][
            rng.integers(2)
        ]
        kind = str(rng.choice(["rotate", "slide"]))
        nodes.append(
            {
                "name": f"TRUNK{k}",
                "parent": parent["name"],
                "kind": kind,
                "axis": pose[:3, :3].T @ world_axis,
                "pose": pose,
            }
        )
    stems = [n["name"] for n in nodes]
    poses_of = {n["name"]: n["pose"] for n in nodes}
    for k in range(pairs):
        stem = str(rng.choice(stems))
        kind, pose = str(rng.choice(kinds)), np.eye(4)
        pose[:3, 3] = rng.normal(size=3)
        pose[:3, :3] = rotations.to_matrix(rng.normal(size=4))
        other = mirrored_matrix(pose)
        other[:3, :3] = rotations.to_matrix(rng.normal(size=4))  # any frame of its own
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        sign = rng.choice([-1.0, 1.0])
        other_axis = sign * other[:3, :3].T @ MIRROR @ pose[:3, :3] @ axis
        if stem.startswith("L_"):
            left_stem, right_stem = stem, "R_" + stem[2:]
        else:
            left_stem = right_stem = stem
        for name, at, turn, on in (
            (f"L_ARM{k}", pose, axis, left_stem),
            (f"R_ARM{k}", other, other_axis, right_stem),
        ):
            nodes.append(
                {"name": name, "parent": on, "kind": kind, "axis": turn, "pose": at}
            )
            poses_of[name] = at
        stems.append(f"L_ARM{k}")
    return _assembled(nodes, rng)


def _assembled(nodes, rng) -> Body:
    """Put nodes with poses in the root's frame into link-index order, joint ids dealt at random."""
    order, waiting = [nodes[0]], nodes[1:]
    while waiting:
        ready = [n for n in waiting if n["parent"] in {o["name"] for o in order}]
        order += ready
        waiting = [n for n in waiting if not any(n is r for r in ready)]
    index = {n["name"]: i for i, n in enumerate(order)}
    moving = [n["name"] for n in order[1:] if n["kind"] != "fixed"]
    ids = dict(zip(moving, rng.permutation(len(moving) + 1), strict=False))
    links = []
    for i, node in enumerate(order):
        parent = order[index[node["parent"]]] if i else None
        offset = (
            poses.IDENTITY
            if parent is None
            else poses.from_matrix(np.linalg.inv(parent["pose"]) @ node["pose"])
        )
        joint = Joint(
            name=node["name"],
            type=node["kind"],
            id=int(ids.get(node["name"], -1)),
            axis=node["axis"],
        )
        links.append(
            Link(
                name=node["name"],
                index=i,
                parent=index.get(node["parent"], -1),
                joint=joint,
                offset=offset,
            )
        )
    return Body(name="symmetric", links=tuple(links))


def smooth_table(rng, frames, width, size=1.0):
    """Make numbers (frames, width) that go their way in small steps."""
    return (
        size * np.cumsum(rng.normal(size=(frames, width)) * 0.05, axis=0)
        + rng.normal(size=width) * 0.3
    )


def moving_poses(rng, frames, links):
    """Make poses (frames, links, 7) that go their way in small steps."""
    vectors = smooth_table(rng, frames, 3 * links).reshape(frames, links, 3)
    angle = np.linalg.norm(vectors, axis=-1)
    return poses.from_parts(
        smooth_table(rng, frames, 3 * links).reshape(frames, links, 3),
        rotations.from_axis_angle(vectors, angle),
    )


def any_motion(
    seed: int,
    frames: int = 40,
    columns: int = 4,
    links: int = 1,
    rate: float = 50.0,
    stamped=False,
) -> Motion:
    """Make a motion with every kind of component, keys and labels of its own."""
    rng = np.random.default_rng(seed)
    timeline = (
        Timeline.stamped(np.cumsum(rng.uniform(0.01, 0.05, frames)), 50.0)
        if stamped
        else Timeline.uniform(frames, rate)
    )
    return Motion(
        (
            MultiSE3Seq(
                content="LinkPosition",
                timeline=timeline,
                values=moving_poses(rng, frames, links),
                extra={"k": 1},
            ),
            MultiValueSeq(
                content="JointDisplacement",
                timeline=timeline,
                values=smooth_table(rng, frames, columns),
                part_labels=tuple(f"j{i}" for i in range(columns)),
            ),
            MultiValueSeq(
                content="Temperature",
                timeline=timeline,
                values=smooth_table(rng, frames, 2),
            ),
            Vector3Seq(
                content="ZMP",
                timeline=timeline,
                values=smooth_table(rng, frames, 3),
                is_root_relative=bool(seed % 2),
            ),
            OtherSeq(type="FooSeq", content="Bar", extra={"frames": [1, 2]}),
        ),
        extra={"author": "me"},
    )
