"""Mechanisms with closed loops, one for each type of extra joint, and what is known of them in closed form. Made in code.

    four_bar          xyz (or ball, xy, piston, hinge)  a Grashof crank-rocker in a plane that stands askew: Freudenstein's equation
    ball_loop         ball                              crank and rocker about crossed axes, a rod with ball ends between them (RSSR)
    slider_crank      piston                            the rod's end stays on a line of the base: x = r cos θ + √(l² − r² sin² θ)
    slotted_lever     xy                                a crank's pin in the slot of a lever: tan φ = r sin θ / (d + r cos θ)
    wobbling_rod      xy, piston                        a rod in space that a crank's pin leads round: it points at the pin
    scotch_yoke       z                                 a crank's pin holds a slide at its height: s = r sin θ
    bennett           hinge                             four skew axes that their lengths let move: tan θ/2 · tan φ/2 is constant
    six_bar           xyz                               two loops that share a link (Watt's chain)

Every link has a mass and an inertia, so that the same bodies can be simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import bodymotion as bm
from bodymotion.geometry import rotations

UPRIGHT = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Sample:
    """A body with loops, the joint that drives it, where it goes, and what follows as far as a formula says it."""

    name: str
    body: bm.Body
    driver: str
    path: np.ndarray
    start: np.ndarray
    expected: Callable[[np.ndarray], dict[str, np.ndarray]]

    @property
    def column(self) -> int:
        return self.column_of(self.driver)

    def column_of(self, name: str) -> int:
        return self.body.joint_links.index(self.body.link(name).index)

    def motion(self, path: np.ndarray | None = None) -> np.ndarray:
        """Joint values (T, J) of which only the driver's mean something."""
        path = self.path if path is None else path
        q = np.zeros((len(path), self.body.num_joints))
        q[:, self.column] = path
        return q


def link(
    name: str,
    index: int,
    parent: int,
    at: tuple[float, float, float] = (0, 0, 0),
    *,
    turned: tuple[float, float, float] = (0, 0, 0),
    axis: tuple[float, float, float] = (0, 0, 1),
    kind: str = "rotate",
    **joint: float,
) -> bm.Link:
    """A link with a mass; `turned` are roll, pitch, yaw [rad] of its offset."""
    kind = kind if index else "fixed"
    return bm.Link(
        name=name,
        index=index,
        parent=parent,
        joint=bm.Joint(
            name=name,
            type=kind,
            id=-1 if kind == "fixed" else index - 1,
            axis=axis,
            **joint,
        ),
        offset=np.concatenate([at, rotations.from_rpy(turned)]),
        segments=(
            bm.Segment(
                name=f"{name}_SEGMENT",
                mass=0.5,
                inertia=np.diag([2e-3, 2e-3, 2e-3]),
                visuals=(bm.shapes.Shape(bm.shapes.Box((0.03, 0.03, 0.03))),),
            ),
        ),
    )


def four_bar(
    crank: float = 0.1,
    coupler: float = 0.35,
    rocker: float = 0.3,
    ground: float = 0.4,
    *,
    kind: str = "xyz",
    branch: int = 1,
    frames: int = 721,
    askew: tuple[float, float, float] = (0.4, -0.7, 0.3),
) -> Sample:
    body = bm.Body(
        name=f"four_bar_{kind}",
        links=(
            link("BASE", 0, -1, (0.1, -0.2, 0.5), turned=askew),
            link("CRANK", 1, 0, gear_ratio=50.0),
            link("COUPLER", 2, 1, (crank, 0, 0)),
            link("ROCKER", 3, 0, (ground, 0, 0)),
        ),
        extra_joints=(
            bm.model.ExtraJoint(
                name="LOOP",
                type=kind,
                links=(2, 3),
                positions=((coupler, 0, 0), (rocker, 0, 0)),
                axis=(0, 0, 1),
            ),
        ),
        root_pose=np.concatenate([(0.1, -0.2, 0.5), rotations.from_rpy(askew)]),
    )

    def expected(theta: np.ndarray) -> dict[str, np.ndarray]:
        """Freudenstein's equation (1954), ground/crank · cos φ − ground/rocker · cos θ + K = cos(θ − φ), solved for tan φ/2."""
        k1, k2 = ground / crank, ground / rocker
        k3 = (crank**2 - coupler**2 + rocker**2 + ground**2) / (2 * crank * rocker)
        a = np.cos(theta) - k1 - k2 * np.cos(theta) + k3
        b = -2 * np.sin(theta)
        c = k1 - (k2 + 1) * np.cos(theta) + k3
        phi = 2 * np.arctan2(-b - branch * np.sqrt(b * b - 4 * a * c), 2 * a)
        tip = np.stack([ground + rocker * np.cos(phi), rocker * np.sin(phi)])
        pin = np.stack([crank * np.cos(theta), crank * np.sin(theta)])
        rod = np.arctan2(*(tip - pin)[::-1])
        return {"ROCKER": np.unwrap(phi), "COUPLER": np.unwrap(rod - theta)}

    path = np.linspace(0.0, 2 * np.pi, frames)
    return Sample(
        body.name,
        body,
        "CRANK",
        path,
        _start(body, "CRANK", path[0], expected),
        expected,
    )


def ball_loop(frames: int = 721) -> Sample:
    """RSSR: a crank about z, a rocker about x beside it; the rod hangs on two turning joints of the crank and a ball on the rocker."""
    crank, rod, rocker = 0.1, 0.42, 0.3
    pivot = np.array([0.25, 0.25, 0.05])
    body = bm.Body(
        name="ball_loop",
        links=(
            link("BASE", 0, -1, (0, 0, 1.0)),
            link("CRANK", 1, 0, gear_ratio=50.0),
            link("ROD_PITCH", 2, 1, (crank, 0, 0), axis=(0, 1, 0)),
            link("ROD_YAW", 3, 2, axis=(0, 0, 1)),
            link("ROCKER", 4, 0, tuple(pivot), axis=(1, 0, 0)),
        ),
        extra_joints=(
            bm.model.ExtraJoint(
                name="BALL",
                type="ball",
                links=(3, 4),
                positions=((rod, 0, 0), (0, 0, rocker)),
            ),
        ),
        root_pose=(0, 0, 1.0, 1, 0, 0, 0),
    )

    def expected(theta: np.ndarray) -> dict[str, np.ndarray]:
        """|rocker's tip − crank's pin| = rod: a cos φ + b sin φ = c, with the tip at pivot + rocker·(0, −sin φ, cos φ)."""
        pin = crank * np.stack([np.cos(theta), np.sin(theta), 0 * theta], axis=1)
        from_pin = pivot - pin
        a, b = 2 * rocker * from_pin[:, 2], -2 * rocker * from_pin[:, 1]
        c = rod**2 - (from_pin**2).sum(axis=1) - rocker**2
        phi = np.arctan2(b, a) - np.arccos(c / np.hypot(a, b))
        tip = pivot + rocker * np.stack([0 * phi, -np.sin(phi), np.cos(phi)], axis=1)
        way = tip - pin
        x = np.cos(theta) * way[:, 0] + np.sin(theta) * way[:, 1]
        y = -np.sin(theta) * way[:, 0] + np.cos(theta) * way[:, 1]
        yaw = np.arcsin(y / rod)
        pitch = np.arctan2(-way[:, 2], x)
        return {"ROCKER": np.unwrap(phi), "ROD_PITCH": np.unwrap(pitch), "ROD_YAW": yaw}

    path = np.linspace(0.0, 2 * np.pi, frames)
    return Sample(
        body.name,
        body,
        "CRANK",
        path,
        _start(body, "CRANK", path[0], expected),
        expected,
    )


def slider_crank(crank: float = 0.1, rod: float = 0.3, frames: int = 721) -> Sample:
    """The piston joint holds the rod's end on the cylinder's line; a slide at the same place, held by xyz, says where that is."""
    body = bm.Body(
        name="slider_crank",
        links=(
            link("BASE", 0, -1, turned=(0.2, 0.1, 0.3)),
            link("CRANK", 1, 0, torque_const=0.05),
            link("ROD", 2, 1, (crank, 0, 0)),
            link("SLIDE", 3, 0, (0, 0, 0), axis=(1, 0, 0), kind="slide"),
        ),
        extra_joints=(
            bm.model.ExtraJoint(name="CYLINDER", type="piston", links=(0, 2), positions=((0.2, 0, 0), (rod, 0, 0)), axis=(1, 0, 0)),
            bm.model.ExtraJoint(name="PIN", type="xyz", links=(2, 3), positions=((rod, 0, 0), (0, 0, 0))),
        ),
        root_pose=np.concatenate([(0, 0, 0), rotations.from_rpy((0.2, 0.1, 0.3))]),
    )  # fmt: skip

    def expected(theta: np.ndarray) -> dict[str, np.ndarray]:
        lean = np.arcsin(crank * np.sin(theta) / rod)
        return {
            "ROD": -lean - theta,
            "SLIDE": crank * np.cos(theta)
            + np.sqrt(rod**2 - (crank * np.sin(theta)) ** 2),
        }

    path = np.linspace(0.3, 0.3 + 2 * np.pi, frames)
    return Sample(
        body.name,
        body,
        "CRANK",
        path,
        _start(body, "CRANK", path[0], expected),
        expected,
    )


def slotted_lever(
    crank: float = 0.12, ground: float = 0.3, frames: int = 721
) -> Sample:
    body = bm.Body(
        name="slotted_lever",
        links=(
            link("BASE", 0, -1),
            link("CRANK", 1, 0, (ground, 0, 0), gear_ratio=20.0),
            link("LEVER", 2, 0),
        ),
        extra_joints=(
            bm.model.ExtraJoint(
                name="SLOT",
                type="xy",
                links=(2, 1),
                positions=((0.2, 0, 0), (crank, 0, 0)),
                axis=(1, 0, 0),
            ),
        ),
    )

    def expected(theta: np.ndarray) -> dict[str, np.ndarray]:
        return {
            "LEVER": np.arctan2(crank * np.sin(theta), ground + crank * np.cos(theta))
        }

    path = np.linspace(0.0, 4 * np.pi, frames)
    return Sample(
        body.name,
        body,
        "CRANK",
        path,
        _start(body, "CRANK", path[0], expected),
        expected,
    )


def wobbling_rod(
    kind: str = "xy", radius: float = 0.12, height: float = 0.5, frames: int = 721
) -> Sample:
    """A rod on two crossed joints that a crank's pin leads round: the pin slides along the rod, and no plane holds the whole."""
    body = bm.Body(
        name=f"wobbling_rod_{kind}",
        links=(
            link("BASE", 0, -1),
            link("CRANK", 1, 0, (0, 0, height), gear_ratio=20.0),
            link("PITCH", 2, 0, turned=(0, -np.pi / 2, 0), axis=(0, 1, 0)),
            link("ROD", 3, 2, axis=(0, 0, 1)),
        ),
        extra_joints=(
            bm.model.ExtraJoint(
                name="ROD_LINE",
                type=kind,
                links=(3, 1),
                positions=((0.3, 0, 0), (radius, 0, 0)),
                axis=(1, 0, 0),
            ),
        ),
    )

    def expected(theta: np.ndarray) -> dict[str, np.ndarray]:
        """Where the pin is seen from the pivot."""
        far = np.hypot(radius, height)
        return {
            "PITCH": np.arctan2(radius * np.cos(theta), height),
            "ROD": np.arcsin(radius * np.sin(theta) / far),
        }

    path = np.linspace(0.0, 2 * np.pi, frames)
    return Sample(
        body.name,
        body,
        "CRANK",
        path,
        _start(body, "CRANK", path[0], expected),
        expected,
    )


def scotch_yoke(crank: float = 0.15, frames: int = 721) -> Sample:
    body = bm.Body(
        name="scotch_yoke",
        links=(
            link("BASE", 0, -1),
            link("CRANK", 1, 0, (0.1, 0, 0.5), axis=(0, -1, 0), gear_ratio=20.0),
            link("YOKE", 2, 0, (0, 0.05, 0.5), axis=(0, 0, 1), kind="slide"),
        ),
        extra_joints=(
            bm.model.ExtraJoint(
                name="SLOT",
                type="z",
                links=(2, 1),
                positions=((0, 0, 0), (crank, 0, 0)),
                axis=(0, 0, 1),
            ),
        ),
    )

    def expected(theta: np.ndarray) -> dict[str, np.ndarray]:
        return {"YOKE": crank * np.sin(theta)}

    path = np.linspace(0.0, 2 * np.pi, frames)
    return Sample(
        body.name,
        body,
        "CRANK",
        path,
        _start(body, "CRANK", path[0], expected),
        expected,
    )


def bennett(
    a: float = 0.2, alpha: float = 0.6, beta: float = 1.1, frames: int = 721
) -> Sample:
    """Bennett's linkage (1903): sides a, b, a, b with twists α, β, α, β and a sin β = b sin α. The tree is cut at the fourth axis.

    In the frames of Denavit and Hartenberg a joint turns about z, then the side goes along x and twists about x. END and OTHER are the
    fourth axis as the third side and the base have it.
    """
    b = a * np.sin(beta) / np.sin(alpha)
    body = bm.Body(
        name="bennett",
        links=(
            link("BASE", 0, -1),
            link("FIRST", 1, 0, gear_ratio=30.0),
            link("SECOND", 2, 1, (a, 0, 0), turned=(alpha, 0, 0)),
            link("THIRD", 3, 2, (b, 0, 0), turned=(beta, 0, 0)),
            link("END", 4, 3, (a, 0, 0), turned=(alpha, 0, 0), kind="fixed"),
            link("OTHER", 5, 0, (-b, 0, 0), turned=(-beta, 0, 0), kind="fixed"),
        ),
        extra_joints=(
            bm.model.ExtraJoint(
                name="HINGE", type="hinge", links=(4, 5), axis=(0, 0, 1)
            ),
        ),
    )

    def expected(theta: np.ndarray) -> dict[str, np.ndarray]:
        ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
        return {
            "SECOND": np.unwrap(
                2 * np.arctan2(ratio * np.cos(theta / 2), np.sin(theta / 2))
            ),
            "THIRD": -theta,
        }

    path = np.linspace(0.2, 0.2 + 2 * np.pi, frames)
    return Sample(
        body.name,
        body,
        "FIRST",
        path,
        _start(body, "FIRST", path[0], expected),
        expected,
    )


def six_bar(frames: int = 721) -> Sample:
    """Two crank-rockers one after the other: the first one's rocker turns a second coupler, whose end a second rocker holds."""
    first = four_bar(askew=UPRIGHT)
    base, crank, coupler, rocker = first.body.links
    body = bm.Body(
        name="six_bar",
        links=(
            base,
            crank,
            coupler,
            rocker,
            link("SECOND_COUPLER", 4, 3, (0.15, 0, 0)),
            link("SECOND_ROCKER", 5, 0, (0.75, 0, 0)),
        ),
        extra_joints=(
            *first.body.extra_joints,
            bm.model.ExtraJoint(
                name="SECOND_LOOP",
                type="xyz",
                links=(4, 5),
                positions=((0.35, 0, 0), (0.25, 0, 0)),
            ),
        ),
        root_pose=first.body.root_pose,
    )
    path = np.linspace(0.0, 2 * np.pi, frames)

    def expected(theta: np.ndarray) -> dict[str, np.ndarray]:
        """The second loop: where two circles cross."""
        known = first.expected(theta)
        phi = known["ROCKER"]
        pin = np.stack([0.4 + 0.15 * np.cos(phi), 0.15 * np.sin(phi)])
        way = np.array([[0.75], [0.0]]) - pin
        far = np.hypot(*way)
        lean = np.arccos((0.35**2 + far**2 - 0.25**2) / (2 * 0.35 * far))
        rod = np.arctan2(way[1], way[0]) + lean
        tip = pin + 0.35 * np.stack([np.cos(rod), np.sin(rod)])
        return {
            **known,
            "SECOND_COUPLER": np.unwrap(rod - phi),
            "SECOND_ROCKER": np.unwrap(np.arctan2(tip[1], tip[0] - 0.75)),
        }

    return Sample(
        body.name,
        body,
        "CRANK",
        path,
        _start(body, "CRANK", path[0], expected),
        expected,
    )


def platform(frames: int = 400) -> tuple[bm.Body, np.ndarray, np.ndarray]:
    """Stewart's platform: six legs whose lengths carry a plate.

    Gives the body, joint values (T, J) with the lengths alone, and the plate's poses (T, 7). Each leg is two turning joints and a slide;
    the first one carries the plate on three turning joints, the others hold it by balls. The plate goes along a curve, turning; the lengths
    follow from that by Pythagoras.
    """
    angles = np.deg2rad([10, 110, 130, 230, 250, 350])
    feet = 0.6 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    angles = np.deg2rad([50, 70, 170, 190, 290, 310])
    balls = 0.3 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    links = [link("BASE", 0, -1)]
    for k, foot in enumerate(feet):
        first = len(links)
        links += [
            link(f"PITCH_{k}", first, 0, tuple(foot), axis=(0, 1, 0)),
            link(f"ROLL_{k}", first + 1, first, axis=(1, 0, 0)),
            link(
                f"LENGTH_{k}",
                first + 2,
                first + 1,
                axis=(0, 0, 1),
                kind="slide",
                gear_ratio=100.0,
            ),
        ]
        if k == 0:
            links += [
                link("PLATE_YAW", 4, 3, axis=(0, 0, 1)),
                link("PLATE_PITCH", 5, 4, axis=(0, 1, 0)),
                link("PLATE", 6, 5, axis=(1, 0, 0)),
            ]
    extra = tuple(
        bm.model.ExtraJoint(
            name=f"BALL_{k}",
            type="ball",
            links=(6, 3 * k + 6),
            positions=(balls[k] - balls[0], (0, 0, 0)),
        )
        for k in range(1, 6)
    )
    body = bm.Body(name="platform", links=tuple(links), extra_joints=extra)
    t = np.linspace(0, 2 * np.pi, frames)
    center = np.stack(
        [0.1 * np.sin(t), 0.1 * np.sin(2 * t), 0.7 + 0.1 * np.cos(t)], axis=1
    )
    turns = rotations.from_rpy(
        np.stack([0.3 * np.sin(t), 0.2 * np.cos(t), 0.4 * np.sin(2 * t)], axis=1)
    )
    corners = center[:, None] + rotations.rotate(turns[:, None], balls[None])
    q = np.zeros((frames, body.num_joints))
    for k in range(6):
        column = body.joint_links.index(body.link(f"LENGTH_{k}").index)
        q[:, column] = np.linalg.norm(corners[:, k] - feet[k], axis=1)
    return body, q, np.concatenate([corners[:, 0], turns], axis=1)


def samples() -> tuple[Sample, ...]:
    """All of them; each type of extra joint is there, in a plane and in space."""
    return (
        *(four_bar(kind=kind) for kind in ("xyz", "ball", "xy", "piston", "hinge")),
        ball_loop(),
        slider_crank(),
        slotted_lever(),
        *(wobbling_rod(kind) for kind in ("xy", "piston")),
        scotch_yoke(),
        bennett(),
        six_bar(),
    )


def _start(
    body: bm.Body,
    driver: str,
    at: float,
    expected: Callable[[np.ndarray], dict[str, np.ndarray]],
) -> np.ndarray:
    """The pose (J,) that the formulas give where the driver begins."""
    q = np.zeros(body.num_joints)
    for name, values in {driver: np.array([at]), **expected(np.array([at]))}.items():
        q[body.joint_links.index(body.link(name).index)] = values[0]
    return q
