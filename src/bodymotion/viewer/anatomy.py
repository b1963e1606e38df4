"""What a model is made of: names and ids of joints, and where the masses of its links are and how they are spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Shape, Sphere
from bodymotion.model.links import Link

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.scene import Scene

__all__ = ["Anatomy", "half_axes", "tag", "tags"]

MOST_TAGS = 200
INERTIA = (235, 170, 30)


def tag(link: Link) -> str:
    """Return what is written at a link: the joint's id, where it has one, and its name, or else the link's."""
    name = shown(link.joint.name or link.name or f"link {link.index}", 30)
    return f"{link.joint.id}  {name}" if link.joint.id >= 0 else name


def tags(links: Sequence[Link], places: Floats, near: float) -> dict[int, str]:
    """Return what is written at links, by their index; links in a row whose places (L, 3) are `near` [m] the first have one tag, at that."""
    found: dict[int, list[str]] = {}
    firsts: dict[int, int] = {}
    for link in links:
        first = firsts.get(link.parent, link.index)
        if np.linalg.norm(places[link.index] - places[first]) > near:
            first = link.index
        firsts[link.index] = first
        found.setdefault(first, []).append(tag(link))
    return {index: ", ".join(names) for index, names in found.items()}


def half_axes(link: Link) -> tuple[Floats, Floats] | None:
    """Return the half axes (3,) [m] of the even ellipsoid with a link's mass and inertia, and the rotation (3, 3) of its axes.

    None where there is no such ellipsoid: no mass, or an inertia that no body has. Of an ellipsoid with half axes a, b, c the moment about
    the first axis is m (b² + c²) / 5.
    """
    if not link.mass > 0 or not np.isfinite(link.inertia).all():
        return None
    moments, axes = np.linalg.eigh(0.5 * (link.inertia + link.inertia.T))
    squares = 5.0 / link.mass * (0.5 * moments.sum() - moments)
    if moments.max() <= 0 or (squares < -1e-6 * abs(squares).max()).any():
        return None
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return np.sqrt(np.maximum(squares, 0.0)), axes


class Anatomy:
    """Names and ellipsoids on the links of a scene; each kind is made when it is first shown."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._names: list[viser.SceneNodeHandle] | None = None
        self._inertias: list[viser.SceneNodeHandle] | None = None

    def show_names(self, on: bool) -> None:
        """Show or hide the ids and names of joints, at the origins of the links that they move."""
        if self._names is None and on:
            body = self._scene.take.body
            places = body.forward_kinematics(np.zeros(body.num_joints))[:, :3]
            self._names = [
                self._scene.server.scene.add_label(
                    f"{self._scene.names[index]}/joint name", text, font_screen_scale=0.55, anchor="center-left"
                )
                for index, text in tags(body.links[:MOST_TAGS], places, 0.01 * self._scene.size).items()
            ]
        for handle in self._names or ():
            handle.visible = on

    def show_inertias(self, on: bool) -> None:
        """Show or hide, for each link with mass, the even ellipsoid of its mass and inertia, and a ball at its centre of mass."""
        if self._inertias is None and on:
            self._inertias = [handle for link in self._scene.take.body.links for handle in self._ellipsoid(link)]
        for handle in self._inertias or ():
            handle.visible = on

    def _ellipsoid(self, link: Link) -> list[viser.SceneNodeHandle]:
        if not link.mass > 0 or not np.isfinite(link.center_of_mass).all():
            return []
        api, name = self._scene.server.scene, self._scene.names[link.index]
        made: list[viser.SceneNodeHandle] = [
            api.add_icosphere(
                f"{name}/centre of mass",
                radius=0.006 * self._scene.size,
                color=INERTIA,
                position=link.center_of_mass,
                cast_shadow=False,
                receive_shadow=False,
            )
        ]
        found = half_axes(link)
        if found is not None:
            lengths, axes = found
            ball = Shape(Sphere(1.0)).to_mesh()
            made.append(
                api.add_mesh_simple(
                    f"{name}/inertia",
                    ball.vertices * np.maximum(lengths, 1e-4 * self._scene.size),
                    ball.faces,
                    color=INERTIA,
                    opacity=0.45,
                    position=link.center_of_mass,
                    wxyz=rotations.from_matrix(axes),
                    cast_shadow=False,
                    receive_shadow=False,
                )
            )
        return made
