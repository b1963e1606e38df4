"""Normals at the corners of triangles: smooth where faces meet at less than the crease angle, sharp elsewhere.

VRML97 (ISO/IEC 14772-1, 4.6.3.5): the normal at a corner is made of the faces around its vertex that make an angle below the
crease angle with the corner's own face. Faces weigh by their angle at the vertex, so that a flat polygon counts the same however
it is cut into triangles (Thürmer and Wüthrich, 1998).
"""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Mesh

__all__ = ["corner_normals"]

PAIRS_AT_ONCE = 4_000_000
PAIRS_ALWAYS = 10_000_000
PAIRS_PER_CORNER = 32
"""How many pairs of faces around one vertex are compared in all, vertices of few faces first; the faces at what is left stay flat.
Usual meshes have six faces around a vertex; a vertex with n faces has n² pairs."""


def corner_normals(mesh: Mesh) -> Floats:
    """Return unit normals (F, 3, 3), one for each corner of each face; zero where a triangle has no area and no neighbour."""
    faces = mesh.face_normals
    if mesh.normals is not None:
        given = _unit(np.asarray(mesh.normals.values))[mesh.normals.indices]
        return np.where(given.any(axis=2, keepdims=True), given, faces[:, None, :])
    if mesh.crease_angle <= 0 or not len(faces):
        return np.repeat(faces[:, None, :], 3, axis=1)
    weighted = faces[:, None, :] * _angles(mesh)[..., None]
    sums: Floats
    if mesh.crease_angle >= np.pi:
        summed = np.zeros((len(mesh.vertices), 3))
        for k in range(3):
            summed[:, k] = np.bincount(mesh.faces.ravel(), weighted[..., k].ravel(), len(mesh.vertices))
        sums = summed[mesh.faces]
    else:
        sums = _creased(mesh, weighted.reshape(-1, 3))
    smooth = _unit(sums)
    return np.where(smooth.any(axis=2, keepdims=True), smooth, faces[:, None, :])


def _angles(mesh: Mesh) -> Floats:
    corner = mesh.vertices[mesh.faces]
    edges = _unit(np.roll(corner, -1, axis=1) - corner)
    return np.asarray(np.arccos(np.clip(-np.einsum("fij,fij->fi", edges, np.roll(edges, 1, axis=1)), -1, 1)))


def _creased(mesh: Mesh, weighted: Floats) -> Floats:
    """Sum `weighted` (3F, 3) over all pairs of corners at one vertex whose faces make a small angle."""
    limit = np.cos(mesh.crease_angle)
    vertex = mesh.faces.ravel()
    count = np.bincount(vertex)[vertex]
    order = np.lexsort((vertex, count))
    degree, places = count[order], np.arange(len(order))
    fresh = np.append(True, vertex[order[1:]] != vertex[order[:-1]])
    start = np.maximum.accumulate(np.where(fresh, places, 0))
    normals = np.repeat(mesh.face_normals, 3, axis=0)
    sums = weighted.copy()
    ends = np.cumsum(degree)
    done, total = 0, 0
    while done < len(order):
        stop = max(int(np.searchsorted(ends, (ends[done - 1] if done else 0) + PAIRS_AT_ONCE, side="right")), done + 1)
        total += int(ends[stop - 1] - (ends[done - 1] if done else 0))
        if total > PAIRS_ALWAYS + PAIRS_PER_CORNER * len(order):
            break
        some = np.arange(done, stop)
        repeat = degree[some]
        first = np.repeat(some, repeat)
        within = np.arange(len(first)) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        a, b = order[first], order[start[first] + within]
        near = np.einsum("ij,ij->i", normals[a], normals[b]) > limit
        a, b = a[near], b[near]
        for k in range(3):
            sums[order[some], k] = np.bincount(first[near] - done, weighted[b, k], minlength=stop - done)
        done = stop
    return sums.reshape(-1, 3, 3)


def _unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))
