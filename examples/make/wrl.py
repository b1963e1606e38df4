"""Write a robot as OpenHRP model text: the prototypes of the document, then the instances.

Every shell, limb and look is written once and used again by its name.
"""

from __future__ import annotations

import textwrap

import numpy as np

from bodymotion.geometry import rotations

from .model import Link, Part, Robot, Sensor, Vector, segment_mass
from .prototypes import prototypes
from .solids import Box, Cylinder, Solid, Sphere, number, numbers

HEADER = """#VRML V2.0 utf8
# {name}: made by examples/make_examples.py of the project bodymotion (Apache-2.0). Edit the script, not this file.
# Metres, kilograms, radians; x forward, y left, z up.
"""

SCENE = """
# Lights, a background and how one moves about are parts of a scene and of no
# robot: what shows the robot has its own.
"""


def write_wrl(robot: Robot) -> str:
    """Return the whole file."""
    return (
        HEADER.format(name=robot.name)
        + prototypes()
        + SCENE
        + _Writer(robot).humanoid()
        + _loops(robot)
    )


def _loops(robot: Robot) -> str:
    return "".join(
        f"\nDEF {loop.name} ExtraJoint {{\n"
        f'  link1Name "{loop.links[0]}" link1LocalPos {numbers(loop.points[0])}\n'
        f'  link2Name "{loop.links[1]}" link2LocalPos {numbers(loop.points[1])}\n'
        f'  jointType "xyz"\n}}\n'
        for loop in robot.loops
    )


class _Writer:
    """Remembers which looks and shapes have been written already."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.names: dict[Solid, str] = {}
        self.seen_looks: set[str] = set()
        self.lines: list[str] = []

    def put(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def humanoid(self) -> str:
        robot = self.robot
        links = list(robot.root.walk())
        self.put(0, f"\nDEF {robot.name} Humanoid {{")
        self.put(1, f'name "{robot.name}"')
        self.put(1, f'version "{robot.version}"')
        self.put(1, "info [ " + ", ".join(f'"{line}"' for line in robot.info) + " ]")
        self.put(1, "humanoidBody [")
        self.joint(2, robot.root)
        self.put(1, "]")
        self.put(
            1, "joints [ " + ", ".join(f"USE {link.name}" for link in links) + " ]"
        )
        self.put(
            1,
            "segments [ "
            + ", ".join(f"USE {name}" for link in links for name in link.segment_names)
            + " ]",
        )
        self.put(1, "viewpoints [")
        for description, eye, target in robot.viewpoints:
            axis, angle = look_at(eye, target)
            self.put(
                2, f'Viewpoint {{ description "{description}" position {numbers(eye)}'
            )
            self.put(
                2,
                f"            orientation {numbers(axis, 7)} {number(angle, 7)} fieldOfView 0.7 }}",
            )
        self.put(1, "]")
        self.put(0, "}")
        return "\n".join(self.lines) + "\n"

    def joint(self, depth: int, link: Link) -> None:
        self.put(depth, f"DEF {link.name} Joint {{")
        if link.axis is None:
            self.put(depth + 1, f'jointType "free" translation {numbers(link.at)}')
        else:
            lower, upper = (
                number(float(np.radians(limit)), 6) for limit in link.limits
            )
            speed = number(link.speed, 6)
            ratio, inertia = link.gear
            self.put(
                depth + 1,
                f'jointType "rotate" jointId {link.id} jointAxis {numbers(link.axis)} translation {numbers(link.at)}',
            )
            self.put(
                depth + 1,
                f"llimit {lower} ulimit {upper} lvlimit -{speed} uvlimit {speed}",
            )
            if inertia:
                self.put(
                    depth + 1,
                    f"gearRatio {number(ratio)} gearEfficiency 0.85 rotorInertia {number(inertia, 9)} rotorResistor 0.4 "
                    "torqueConst 0.035 encoderPulse 4096",
                )
        self.put(depth + 1, "children [")
        self.segment(depth + 2, f"{link.name}_LINK", link.parts)
        if link.pack:
            name, at, parts = link.pack
            self.put(depth + 2, f"Transform {{ translation {numbers(at)} children [")
            self.segment(depth + 3, name, parts)
            self.put(depth + 2, "] }")
        for sensor in link.sensors:
            self.sensor(depth + 2, sensor)
        for child in link.children:
            self.joint(depth + 2, child)
        self.put(depth + 1, "]")
        self.put(depth, "}")

    def segment(self, depth: int, name: str, parts: list[Part]) -> None:
        weight = segment_mass(parts)
        self.put(depth, f"DEF {name} Segment {{")
        self.put(
            depth + 1,
            f"mass {number(weight.mass, 6)} centerOfMass {numbers(weight.center, 6)}",
        )
        self.put(depth + 1, f"momentsOfInertia [ {numbers(weight.inertia, 9)} ]")
        self.put(depth + 1, "children [")
        for part in parts:
            self.part(depth + 2, part)
        self.put(depth + 1, "]")
        self.put(depth, "}")

    def part(self, depth: int, part: Part) -> None:
        shape = (
            f"Shape {{ {self.look(part.look)} geometry {self.geometry(part.solid)} }}"
        )
        axis, angle = part.rotation
        place = []
        if any(part.at):
            place.append(f"translation {numbers(part.at)}")
        if angle:
            place.append(f"rotation {numbers(axis)} {number(angle, 12)}")
        text = f"Transform {{ {' '.join(place)} children {shape} }}" if place else shape
        for line in textwrap.wrap(
            text,
            116,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        ):
            self.put(depth, line)

    def look(self, name: str) -> str:
        if name in self.seen_looks:
            return f"appearance USE {name}"
        self.seen_looks.add(name)
        return f"appearance DEF {name} Appearance {{ material Material {{ {self.robot.looks[name]} }} }}"

    def geometry(self, solid: Solid) -> str:
        if isinstance(solid, Box | Sphere | Cylinder):
            return solid.vrml()
        if solid in self.names:
            return f"USE {self.names[solid]}"
        self.names[solid] = f"FORM{len(self.names) + 1}"
        return f"DEF {self.names[solid]} {solid.vrml()}"

    def sensor(self, depth: int, sensor: Sensor) -> None:
        fields = " ".join(f"{key} {value}" for key, value in sensor.fields.items())
        self.put(depth, f"DEF {sensor.name} {sensor.type} {{ {fields} }}")


def look_at(eye: Vector, target: Vector) -> tuple[Vector, float]:
    """Return axis and angle of a camera at `eye` that looks at `target`, z of the world upright: −z ahead, +y up."""
    back = np.subtract(eye, target) / np.linalg.norm(np.subtract(eye, target))
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    matrix = np.column_stack([right, np.cross(back, right), back])
    axis, angle = rotations.to_axis_angle(rotations.from_matrix(matrix))
    return (float(axis[0]), float(axis[1]), float(axis[2])), float(angle)
