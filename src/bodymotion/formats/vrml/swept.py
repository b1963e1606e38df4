"""ElevationGrid and Extrusion (ISO/IEC 14772-1, 6.17 and 6.18): surfaces written in few words, unfolded to meshes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.nodes import Node
from bodymotion.formats.vrml.shape_rules import BAD_SIZE, INSIDE_OUT, NOT_FINITE, UNUSED_LIST
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, frozen_ints
from bodymotion.geometry.meshes import triangulate
from bodymotion.geometry.shapes import Corners, Mesh

if TYPE_CHECKING:
    from bodymotion.formats.vrml.geometry import GeometryReader

__all__ = ["read_elevation_grid", "read_extrusion"]

Indices = npt.NDArray[np.int64]


def read_elevation_grid(node: Node, reader: GeometryReader) -> Mesh | None:
    """Unfold a grid of heights over the x-z plane."""
    columns, rows = access.integer(node, "xDimension", 0), access.integer(node, "zDimension", 0)
    heights = access.numbers(node, "height")
    if columns < 2 or rows < 2 or len(heights) < columns * rows:
        reader.tell(BAD_SIZE, f"ElevationGrid of {columns} × {rows} points has {len(heights)} heights", node.location)
        return None
    spacing = [access.number(node, "xSpacing", 1.0), access.number(node, "zSpacing", 1.0)]
    z, x = np.divmod(np.arange(columns * rows), columns)
    points = np.stack([x * spacing[0], heights[: columns * rows], z * spacing[1]], axis=1)
    if not np.isfinite(points).all():
        reader.tell(NOT_FINITE, "ElevationGrid has heights or spacings that are not finite", node.location)
        return None
    grid = np.arange(columns * rows).reshape(rows, columns)
    faces = _quads(grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:])
    squares = np.repeat(np.arange((columns - 1) * (rows - 1)), 2)[:, None].repeat(3, axis=1)

    def corners(part: str, name: str, width: int, per_vertex: bool) -> Corners | None:
        holder = reader.part(node, part)
        values = access.rows(holder, name, width)
        which = faces if per_vertex else squares
        if holder is None or not len(values):
            return None
        if which.max() >= len(values) or not np.isfinite(values).all():
            reader.tell(
                UNUSED_LIST, f"{part}: {len(values)} values do not fit {columns} × {rows} points", node.location
            )
            return None
        return Corners(np.clip(values, 0, 1) if part == "color" else values, frozen_ints(which))

    even = Corners(np.stack([x / (columns - 1), z / (rows - 1)], axis=1), frozen_ints(faces))
    return reader.mesh(
        node,
        points,
        faces,
        corners("normal", "vector", 3, access.flag(node, "normalPerVertex", True)),
        corners("color", "color", 3, access.flag(node, "colorPerVertex", True)),
        corners("texCoord", "point", 2, True) or even,
    )


def read_extrusion(node: Node, reader: GeometryReader) -> Mesh | None:
    """Sweep a cross-section along a spine."""
    section = access.rows(node, "crossSection", 2)
    spine = access.rows(node, "spine", 3)
    section = section if len(section) else np.array([[1.0, 1], [1, -1], [-1, -1], [-1, 1], [1, 1]])
    spine = spine if len(spine) else np.array([[0.0, 0, 0], [0, 1, 0]])
    if len(spine) < 2 or len(section) < 2:
        reader.tell(BAD_SIZE, f"Extrusion of {len(section)} points along {len(spine)}", node.location)
        return None
    if reader.too_large(node, len(spine) * len(section)):
        return None
    scale = _stretched(access.rows(node, "scale", 2), [1.0, 1.0], len(spine))
    turn = _stretched(access.rows(node, "orientation", 4), [0.0, 0.0, 1.0, 0.0], len(spine))
    if not all(np.isfinite(values).all() for values in (section, spine, scale, turn)):
        reader.tell(NOT_FINITE, "Extrusion has numbers that are not finite", node.location)
        return None

    placed = section[None] * scale[:, None]
    flat = np.stack([placed[..., 0], np.zeros(placed.shape[:2]), placed[..., 1]], axis=-1)
    flat = rotations.rotate(rotations.from_axis_angle(turn[:, :3], turn[:, 3])[:, None], flat)
    points = spine[:, None] + np.einsum("sij,skj->ski", _frames(spine), flat)

    grid = np.arange(len(spine) * len(section)).reshape(len(spine), len(section))
    uv_grid = grid
    round_section = bool((section[0] == section[-1]).all())
    round_spine = bool((points[0] == points[-1]).all())
    if round_section:
        grid = grid.copy()
        grid[:, -1] = grid[:, 0]
    if round_spine and len(spine) > 2:
        grid = grid.copy()
        grid[-1] = grid[0]
    faces = _quads(grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1])
    s, t = np.meshgrid(np.linspace(0, 1, len(section)), np.linspace(0, 1, len(spine)))
    uv_values, uv_faces = (
        [np.stack([s, t], axis=-1).reshape(-1, 2)],
        [_quads(uv_grid[:-1, :-1], uv_grid[:-1, 1:], uv_grid[1:, 1:], uv_grid[1:, :-1])],
    )
    all_faces = [faces]
    rim = np.arange(len(section) - round_section)
    extent = np.ptp(section, axis=0).max()
    on_cap = (section - section.min(axis=0)) / (extent if extent > 0 else 1.0)
    for flag, ring, ends_up in (("beginCap", 0, False), ("endCap", len(spine) - 1, True)):
        if access.flag(node, flag, True) and len(rim) >= 3:
            # Seen from outside, the first cap runs the other way round.
            order = rim if ends_up else rim[::-1]
            cut = order[
                triangulate(order, np.stack([section[:, 0], np.zeros(len(section)), section[:, 1]], axis=1)).corners
            ]
            all_faces.append(grid[ring][cut])
            uv_faces.append(cut + sum(map(len, uv_values)))
            uv_values.append(on_cap)
    whole, uv_whole = np.concatenate(all_faces), np.concatenate(uv_faces)
    closed = round_section and (round_spine or len(all_faces) == 3)
    if closed and "ccw" not in node.fields and _volume(points.reshape(-1, 3), whole) < 0:
        # Real models have such sections, and mean a body to be seen from outside.
        reader.tell(INSIDE_OUT, "the cross-section of an Extrusion runs clockwise", node.location)
        whole, uv_whole = whole[:, ::-1], uv_whole[:, ::-1]
    uv = Corners(np.concatenate(uv_values), frozen_ints(uv_whole))
    return reader.mesh(node, points.reshape(-1, 3), whole, None, None, uv)


def _volume(points: Floats, faces: Indices) -> float:
    """Return the volume inside a closed mesh by Gauss's theorem: negative where the faces look inwards."""
    a, b, c = np.moveaxis((points - points.mean(axis=0))[faces], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)))


def _stretched(values: Floats, default: list[float], count: int) -> Floats:
    """Return one row for each point of the spine: one given stands for all, the last of too few for the rest."""
    if not len(values):
        values = np.array([default])
    return values[np.minimum(np.arange(count), len(values) - 1)]


def _frames(spine: Floats) -> Floats:
    """Return the planes (S, 3, 3) that the cross-section is carried into along the spine; columns are their x, y, z axes.

    y is tangent to the spine, z normal to the plane that the spine bends in; where it does not bend, z is that of the point
    before; on a straight spine y is turned onto it the shortest way.
    """
    closed = len(spine) > 2 and bool((spine[0] == spine[-1]).all())
    after, before = np.roll(spine, -1, axis=0), np.roll(spine, 1, axis=0)
    if closed:
        after[-1], before[0] = spine[1], spine[-2]
    else:
        after[-1], before[0] = spine[-1], spine[0]
    tangent = _unit(after - before)
    _fill(tangent, np.array([0.0, 1.0, 0.0]))
    bend = np.cross(after - spine, before - spine)
    size = np.linalg.norm(after - spine, axis=1) * np.linalg.norm(before - spine, axis=1)
    bend[np.linalg.norm(bend, axis=1) <= 1e-9 * size] = 0.0
    normal = _unit(bend)
    if not normal.any():
        up = np.array([0.0, 1.0, 0.0])
        axis = np.cross(up, tangent[0])
        axis = axis if np.abs(axis).max() > 1e-100 else np.array([1.0, 0.0, 0.0])
        turned = rotations.from_axis_angle(axis, np.arctan2(np.linalg.norm(np.cross(up, tangent[0])), tangent[0, 1]))
        return np.broadcast_to(rotations.to_matrix(turned), (len(spine), 3, 3)).copy()
    _fill(normal, np.zeros(3))
    for i in range(1, len(normal)):
        if normal[i] @ normal[i - 1] < 0:
            normal[i] = -normal[i]
    # At right angles to the tangent also where the z of a neighbour was taken over.
    side = _unit(np.cross(tangent, normal))
    _fill(side, np.array([1.0, 0.0, 0.0]))
    return np.stack([side, tangent, np.cross(side, tangent)], axis=-1)


def _fill(rows: Floats, default: Floats) -> None:
    """Replace zero rows by the row before, leading ones by the first that is not zero."""
    there = rows.any(axis=1)
    if not there.any():
        rows[:] = default
        return
    source = np.maximum.accumulate(np.where(there, np.arange(len(rows)), -1))
    rows[:] = rows[np.where(source < 0, int(np.argmax(there)), source)]


def _unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))


def _quads(a: Indices, b: Indices, c: Indices, d: Indices) -> Indices:
    return np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
