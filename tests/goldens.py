"""What the reference program (Choreonoid's loader) says about sample models, and how a Body is compared with it."""

from __future__ import annotations

import itertools
import json
import os
from functools import cache
from pathlib import Path

import numpy as np

from bodymotion.geometry import meshes as meshing
from bodymotion.geometry import rotations
from bodymotion.model.body import Body

CORPUS = Path(
    os.environ.get(
        "BODYMOTION_CORPUS", Path(__file__).resolve().parents[2] / "shared" / "corpus"
    )
)
TYPES = {
    "revolute": "rotate",
    "prismatic": "slide",
    "free": "free",
    "fixed": "fixed",
    "pseudo_continuous_track": "crawler",
}
NO_LIMIT = 1e300


@cache
def answer(path: Path) -> dict:
    return json.loads(path.read_text())


def close(ours, theirs, tolerance=1e-9) -> bool:
    return bool(np.allclose(ours, theirs, rtol=tolerance, atol=tolerance))


def infinite(number: float) -> float:
    return np.sign(number) * np.inf if abs(number) > NO_LIMIT else number


def columns_of_motions(golden: dict) -> list[int]:
    """Return the links of the reference's joints that one number moves.

    The reference also lists virtual joints, behind the `numJoints` columns of a motion. A free one has no number.
    """
    columns = golden["jointIdToLinkIndex"]
    own, virtual = columns[: golden["numJoints"]], columns[golden["numJoints"] :]
    return own + [k for k in virtual if golden["links"][k]["jointType"] != "free"]


def link_differences(body: Body, golden: dict) -> list[str]:
    """List everything about links and joints in which a body and the reference's answer differ."""
    found = []
    if body.name != golden["modelName"]:
        found.append(f"name {body.name!r}, reference {golden['modelName']!r}")
    columns = columns_of_motions(golden)
    if list(body.joint_links) != columns:
        found.append(f"columns {body.joint_links}, reference {columns}")
    if [link.name for link in body.links] != [link["name"] for link in golden["links"]]:
        return [*found, "names of links"]
    for link, theirs in zip(body.links, golden["links"], strict=True):
        joint = link.joint
        moves = theirs["jointType"] in ("revolute", "prismatic")
        axis = np.array(theirs["jointAxis"])
        rotor = (
            joint.extra.get("equivalentInertia")
            or joint.gear_ratio**2 * joint.rotor_inertia
        )
        same = {
            "parent": link.parent == theirs["parent"],
            "type": joint.type == TYPES[theirs["jointType"]],
            "id": joint.id == theirs["jointId"],
            "axis": not moves or close(joint.axis, axis / np.linalg.norm(axis)),
            "position": close(link.offset[:3], theirs["offsetTranslation"]),
            "rotation": close(
                rotations.to_matrix(link.offset[3:]), theirs["offsetRotation"]
            ),
            "mass": close(link.mass, theirs["mass"]),
            "center of mass": close(link.center_of_mass, theirs["centerOfMass"]),
            "inertia": close(link.inertia, theirs["inertia"]),
            "limits": all(
                ours == infinite(theirs[name]) or close(ours, infinite(theirs[name]))
                for ours, name in (
                    (joint.lower, "q_lower"),
                    (joint.upper, "q_upper"),
                    (joint.velocity_lower, "dq_lower"),
                    (joint.velocity_upper, "dq_upper"),
                )
            ),
            "rotor": close(rotor, theirs["Jm2"]),
        }
        found += [f"{link.name}: {name}" for name, equal in same.items() if not equal]
    return found


def device_differences(
    devices, golden: dict, kinds: dict[str, str], parameters
) -> list[str]:
    """List everything in which devices and those of the reference's answer differ.

    `kinds` gives our names of the reference's types of device where they are others; `parameters(device, type, given)` says which
    parameters are equal. The reference has the order of the file, the document that of the ids: both are put in the latter here.
    """
    theirs = sorted(
        golden["devices"],
        key=lambda d: (kinds.get(d["type"], d["type"]), d["id"] < 0, d["id"]),
    )
    devices = sorted(devices, key=lambda d: d.kind)
    expected = [
        (kinds.get(d["type"], d["type"]), d["name"], d["id"], d["linkIndex"])
        for d in theirs
    ]
    if [(d.kind, d.name, d.id, d.link) for d in devices] != expected:
        return [
            f"devices {[(d.kind, d.name, d.id, d.link) for d in devices]}, reference {expected}"
        ]
    found = []
    for device, other in zip(devices, theirs, strict=True):
        same = parameters(device, other["type"], other["params"])
        turn = np.array(other["localRotation"]) @ other["params"].get(
            "R_optical", np.eye(3)
        )
        same["position"] = close(device.pose[:3], other["localTranslation"])
        same["rotation"] = close(rotations.to_matrix(device.pose[3:]), turn)
        found += [f"{device.name}: {name}" for name, equal in same.items() if not equal]
    return found


IMAGES = {
    "COLOR": ("Camera", "COLOR_IMAGE"),
    "DEPTH": ("RangeCamera", "NO_IMAGE"),
    # The reference takes NONE for COLOR. The document: no image, and no depths.
    "NONE": ("Camera", "COLOR_IMAGE"),
}


def camera_parameters(device, kind: str, given: dict) -> dict[str, bool]:
    return {
        "type": (kind, given["imageType"])
        == IMAGES.get(device.type, ("RangeCamera", "COLOR_IMAGE")),
        "size": (device.width, device.height)
        == (given["resolutionX"], given["resolutionY"]),
        "field_of_view": close(device.field_of_view, given["fieldOfView"]),
        "front_clip": close(device.front_clip_distance, given["nearClipDistance"]),
        "back_clip": close(device.back_clip_distance, given["farClipDistance"]),
        "frame_rate": close(device.frame_rate, given["frameRate"]),
    }


def extra_joint_differences(body: Body, golden: dict) -> list[str]:
    """List everything in which extra joints and those of the reference's answer differ."""
    theirs = golden["extraJoints"]
    if len(body.extra_joints) != len(theirs):
        return [f"{len(body.extra_joints)} extra joints, reference {len(theirs)}"]
    found = []
    for number, (ours, other) in enumerate(zip(body.extra_joints, theirs, strict=True)):
        same = {
            "type": ours.type == other["type"],
            "links": [body.links[index].name for index in ours.links]
            == [other["link1"], other["link2"]],
            "positions": close(ours.positions, [other["point1"], other["point2"]]),
            "axis": close(ours.axis, other["axis"]),
        }
        found += [
            f"extra joint {number}: {name}" for name, equal in same.items() if not equal
        ]
    return found


def box_differences(body: Body, golden: dict, nested: set[str]) -> list[str]:
    """List where shapes are outside of the reference's bounding boxes, or (but for the links in `nested`) these are larger than ours.

    Under turned Transforms in turned Transforms the reference takes boxes of boxes of boxes, each larger than what is in it.
    """
    found = []
    for link, theirs in zip(body.links, golden["links"], strict=True):
        for shapes, name in (
            (link.visuals, "visualBoundingBox"),
            (link.collisions, "collisionBoundingBox"),
        ):
            given, box = theirs[name], exact_box(shapes)
            if (box is None) != (given is None):
                found.append(f"{link.name} {name}: only one has it")
            if box is None or given is None:
                continue
            reference = np.array([given["min"], given["max"]])
            tolerance = 1e-5 * np.linalg.norm(reference[1] - reference[0])
            if (box[0] < reference[0] - tolerance).any() or (
                box[1] > reference[1] + tolerance
            ).any():
                found.append(f"{link.name} {name}: shapes outside")
            if (
                link.name not in nested
                and np.abs(box_of_boxes(shapes) - reference).max() > tolerance
            ):
                found.append(f"{link.name} {name}: other size")
    return found


def exact_box(shapes) -> np.ndarray | None:
    """Return lowest and highest corner (2, 3) of the box around shapes."""
    boxes = np.array([shape.bounds for shape in shapes if shape.bounds is not None])
    return (
        np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
        if len(boxes)
        else None
    )


def box_of_boxes(shapes) -> np.ndarray | None:
    """Return the box around the shapes' own boxes, turned as the shapes are: what the reference calls a bounding box."""
    corners = []
    for shape in shapes:
        points = meshing.used_vertices(shape.geometry)
        if len(points):
            ends = points.min(axis=0), points.max(axis=0)
            own = np.array(
                [
                    [ends[k][i] for i, k in enumerate(which)]
                    for which in itertools.product((0, 1), repeat=3)
                ]
            )
            corners.append(own @ shape.transform[:3, :3].T + shape.transform[:3, 3])
    points = np.concatenate(corners) if corners else np.zeros((0, 3))
    return np.stack([points.min(axis=0), points.max(axis=0)]) if len(points) else None
