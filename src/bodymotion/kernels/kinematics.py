"""Kinematics and dynamics of trees of links over whole trajectories.

Kinematics: poses, velocities, accelerations, Jacobians. Dynamics: inverse dynamics,
momentum, mass matrices.

A link's pose is its parent's, then its offset, then the joint's motion: a rotation by q
about the axis, or a translation by q along it. Orientations are quaternions w x y z.
All vectors are along the world's axes. For a link i with parent p, r from the parent's
origin to its own, s the axis of its joint:

    rotate   ω_i = ω_p + s·q̇                 v_i = v_p + ω_p × r
             α_i = α_p + s·q̈ + ω_p × s·q̇     a_i = a_p + α_p × r + ω_p × (ω_p × r)
    slide    ω_i = ω_p                       v_i = v_p + ω_p × r + s·q̇
             α_i = α_p                       a_i = a_p + α_p × r + ω_p × (ω_p × r) +
             s·q̈ + 2·ω_p × s·q̇

v and a are those of the origin of the link, a the second derivative of its position
(not the "spatial" acceleration a − ω × v).

Velocities of a body are u = (v₀, ω₀, q̇) (6 + J): those of the root's origin, the
root's angular velocity, and the joints'. A Jacobian G maps them to v and ω (6) of a
point on a link.

Poses, and the forces of large inputs, are computed by compiled loops over a block of
frames side by side: their innermost loops run over frames, which compilers turn into
vector instructions. All else is computed with NumPy, link by link.

Inverse dynamics is the recursive Newton–Euler algorithm (Luh, Walker and Paul, 1980),
with all velocities, accelerations and moments about one point, the root's origin, so
that whatever is not a sum along the tree is computed for all links at once. Velocities
and accelerations go from the root outwards, with the root's acceleration less gravity:
so the weight needs no extra term. The force and moment of each link by itself, with c
its centre of mass and I its inertia about it, in the world's axes:

    f = m·(a + α × c + ω × (v + ω × c))          n = I·α + ω × I·ω + c × f

Inwards, they are summed over all that a link carries. A joint's torque is its twist
times that sum, plus what accelerates its rotor.

A mass matrix M makes the kinetic energy ½·uᵀ·M·u of the velocities u = (v₀, ω₀, q̇). It
consists of composite bodies (Walker and Orin,
1982). A joint's axis is a twist (ω, v) about a point that all links share, the root's
origin; everything that the joint carries has a mass
m, a first moment h = m·c and an inertia K about that point. At unit velocity it has the
momenta f = m·v + ω × h and n = h × v + K·ω; their parts along the joints that carry it
are its row of M.
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.kernels.compiling import as_rows, in_slices, inlined, is_small, kernel
from bodymotion.kernels.vectors import (
    Rows,
    Triple,
    Vector,
    cross,
    dot,
    plus,
    product,
    put,
    times,
)

# Kinds of joints.
FIXED = 0
ROTATE = 1
SLIDE = 2


class Tree(NamedTuple):
    """The L links of a body.

    Attributes
    ----------
    parents:
        (L,) numbers of the parents.
    kinds:
        (L,) `FIXED`, `ROTATE` or `SLIDE`.
    columns:
        (L,) the joint column that moves a link.
    offsets:
        (L, 7) each link's pose in its parent at joint value 0.
    axes:
        (L, 3) of the joints, in the links' frames.
    """

    parents: Indices
    kinds: Indices
    columns: Indices
    offsets: Floats
    axes: Floats


# [rad] Up to this angle the multiple of π/2 times each of its parts is exact.
MAX_ANGLE = 1e6

# π/2 in three parts of 33 bits or so each, so that the multiples by the first two have
# no rounding error; the last one has the remaining digits.
_PART_1 = 1.5707963267341256e00
_PART_2 = 6.0771005063039660e-11
_PART_3 = 2.0222662487959506e-21
# Coefficients of the sine, then of the cosine, on −π/4…π/4 (fdlibm, `k_sin.c` and
# `k_cos.c`).
_S1 = -1.66666666666666324348e-01
_S2 = 8.33333333332248946124e-03
_S3 = -1.98412698298579493134e-04
_S4 = 2.75573137070700676789e-06
_S5 = -2.50507602534068634195e-08
_S6 = 1.58969099521155010221e-10
_C1 = 4.16666666666666019037e-02
_C2 = -1.38888888888741095749e-03
_C3 = 2.48015872894767294178e-05
_C4 = -2.75573143513906633035e-07
_C5 = 2.08757232129817482790e-09
_C6 = -1.13596475577881948265e-11


@inlined
def sines_and_cosines(angles: Floats, sines: Floats, cosines: Floats) -> None:
    """Fill `sines` and `cosines` (N,) with those of `angles` (N,) [rad].

    The form is one that compilers turn into vector instructions.

    The angle is reduced to −π/4…π/4 by subtracting a multiple of π/2 that is held in
    three parts, so that no digits are lost (Cody and Waite, 1980). There, sine and
    cosine are the minimax polynomials of Sun's fdlibm. Both are within one unit in the
    last place for angles up to `MAX_ANGLE`; beyond it the C library is called.
    """
    beyond = 0
    for i in range(angles.shape[0]):
        x = angles[i]
        beyond += abs(x) > MAX_ANGLE
        # x = quarter·π/2 + r with |r| ≤ π/4.
        quarter = np.rint(x * (2.0 / np.pi))
        r = ((x - quarter * _PART_1) - quarter * _PART_2) - quarter * _PART_3
        z = r * r
        sine = r + r * z * (
            _S1 + z * (_S2 + z * (_S3 + z * (_S4 + z * (_S5 + z * _S6))))
        )
        cosine = (
            1.0
            - 0.5 * z
            + z * z * (_C1 + z * (_C2 + z * (_C3 + z * (_C4 + z * (_C5 + z * _C6)))))
        )
        # In odd quadrants sine and cosine are exchanged; bit 1 of the quadrant is the
        # sign of the sine, of the next quadrant that of the cosine.
        turn = np.int64(quarter)
        odd = (turn & 1) != 0
        a = cosine if odd else sine
        b = sine if odd else cosine
        sines[i] = -a if (turn & 2) else a
        cosines[i] = -b if ((turn + 1) & 2) else b
    # Very large angles are rare: a loop of its own keeps the branch out of the loop
    # above, which would otherwise not be vectorized.
    if beyond:
        for i in range(angles.shape[0]):
            if abs(angles[i]) > MAX_ANGLE:
                sines[i] = np.sin(angles[i])
                cosines[i] = np.cos(angles[i])


CYCLES = (0, 1, 2), (1, 2, 0), (2, 0, 1)  # An axis, and the two after it.
BLOCK = 32  # Frames that are processed together, side by side in vector registers.


@np.errstate(all="ignore")
def link_poses(
    tree: Tree, q: Floats, root: Floats, chosen: Indices | None = None, size: int = 7
) -> Floats:
    """Return poses (..., L, 7) in the world.

    With a `size` of 3 they are positions; `chosen` (L,) selects links by their numbers.

    `tree`: parents, kinds (0 none, 1 rotate, 2 slide), columns of q (L,), offsets (L,
    7), axes (L, 3). `q` (..., J), `root` (..., 7); their
    batch axes broadcast.
    """
    batch = np.broadcast_shapes(q.shape[:-1], root.shape[:-1])
    links = len(tree[0])
    count = int(np.prod(batch, dtype=np.int64))
    q_rows = as_rows(np.broadcast_to(q, (*batch, q.shape[-1])), (count, q.shape[-1]))
    root_rows = as_rows(np.broadcast_to(root, (*batch, 7)), (count, 7))
    if chosen is None:
        chosen = np.arange(links)
    # Below the size at which compiled code pays, NumPy computes the same.
    if is_small(_poses, count * links):
        return _small_poses(tree, q_rows, root_rows, chosen)[..., :size].reshape(
            *batch, len(chosen), size
        )
    out = np.empty((count, len(chosen), size))

    def work(start: int, stop: int) -> None:
        _poses(tree, q_rows[start:stop], root_rows[start:stop], chosen, out[start:stop])

    # A body without links has no root row to begin with.
    if links:
        in_slices(count, work)
    return out.reshape(*batch, len(chosen), size)


def center_of_mass(poses: Floats, shares: Floats, centers: Floats) -> Floats:
    """Return Σ share · (pose · centre) (..., 3), the body's centre of mass.

    Of poses (..., L, 7), the links' shares (L,) of the mass and their centres (L, 3).
    """
    table = poses.reshape(-1, *poses.shape[-2:])
    out = np.empty((len(table), 3))

    def work(a: int, b: int) -> None:
        # (3, L, T): a row of frames for each component and link.
        placed = table[a:b, :, :3].T + apply(
            matrices(table[a:b]), centers.T[:, :, None]
        )
        out[a:b] = np.einsum("l,klt->tk", shares, placed)

    in_slices(len(table), work)
    return out.reshape(*poses.shape[:-2], 3)


def _small_poses(tree: Tree, q: Floats, root: Floats, chosen: Indices) -> Floats:
    """Return poses (T, L, 7) of chosen links with NumPy.

    That is quick where the frames of a number are side by side in memory.
    """
    parents, kinds, columns, offsets, axes = tree
    # (L, 7, T): the frames of each number are side by side.
    out = np.empty((len(parents), 7, len(q)))
    units = rotations.normalized(offsets[:, 3:])
    out[:1, :3], out[:1, 3:] = root[:, :3].T, rotations.normalized(root[:, 3:]).T
    for i in range(1, len(parents)):
        up = out[parents[i], 3:].T
        shift = offsets[i, :3]
        turn = units[i]
        if kinds[i] == 1:
            # A rotation about the axis, after the offset's, is the sum of two of its
            # products with constants.
            half = 0.5 * q[:, columns[i]]
            # Offset · rotation: u·(cos ½q + sin ½q·(0, axis)) = cos ½q·u + sin
            # ½q·(u·(0, axis)).
            about = rotations.multiply(units[i], [0.0, *axes[i]])
            turn = (np.outer(units[i], np.cos(half)) + np.outer(about, np.sin(half))).T
        elif kinds[i] == 2:
            shift = (
                shift
                + np.outer(rotations.rotate(units[i], axes[i]), q[:, columns[i]]).T
            )
        out[i, :3] = out[parents[i], :3] + rotations.rotate(up, shift).T
        out[i, 3:] = rotations.multiply(up, turn).T
    return np.ascontiguousarray(out[chosen].transpose(2, 0, 1))


def cross_products(a: Floats, b: Floats) -> Floats:
    """Return a × b (3, …) of vectors whose components are along the first axis."""
    return np.array(
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    )


def matrices(poses: Floats) -> Floats:
    """Return the rotation matrices (3, 3, L, T) of poses (T, L, 7).

    They are as `rotation` computes them.
    """
    w, *axis = np.ascontiguousarray(poses[..., 3:].T)
    # s = 2/|q|² makes the matrix that of the unit quaternion; 0 stands for the
    # identity.
    n = w * w + sum(one * one for one in axis)
    s = np.divide(2.0, n, out=np.zeros_like(n), where=n > 0)
    out = np.empty((3, 3, *w.shape))
    squares = [s * one * one for one in axis]
    for i, j, k in CYCLES:
        # R_ij = s·(x_i·x_j − w·x_k), R_ji with plus, R_ii = 1 − s·(x_j² + x_k²).
        first = s * axis[i] * axis[j]
        second = s * axis[k] * w
        np.subtract(first, second, out=out[i, j])
        np.add(first, second, out=out[j, i])
        np.subtract(1.0, squares[j] + squares[k], out=out[i, i])
    return out


def apply(matrix: Floats, vectors: Floats) -> Floats:
    """Return the products (3, …) of matrices (3, 3, …) and vectors (3, …)."""
    return np.asarray(
        matrix[:, 0] * vectors[0]
        + matrix[:, 1] * vectors[1]
        + matrix[:, 2] * vectors[2]
    )


@kernel
def _poses(tree: Tree, q: Floats, root: Floats, chosen: Indices, out: Floats) -> None:
    """Fill `out` with the poses of chosen links, block by block; see `link_poses`."""
    parents, kinds, columns, offsets, axes = tree
    links = parents.shape[0]
    row = 7 * BLOCK
    # Each link has 7 lines of `BLOCK` numbers: number k of frame b is at k·BLOCK + b.
    block = np.empty(links * row)
    pose = np.empty(7)
    unit_offsets = np.empty((links, 7))
    half = np.zeros(BLOCK)
    sine = np.empty(BLOCK)
    cosine = np.empty(BLOCK)
    slide = np.empty(BLOCK)
    # Offsets are scaled to unit length once, not in each frame.
    for i in range(links):
        unit_pose(offsets[i], unit_offsets[i])
    for start in range(0, q.shape[0], BLOCK):
        count = min(BLOCK, q.shape[0] - start)
        # The last block is filled up with copies of its last frame, so that the inner
        # loops always have `BLOCK` passes.
        for b in range(BLOCK):
            unit_pose(root[start + min(b, count - 1)], pose)
            for k in range(7):
                block[k * BLOCK + b] = pose[k]
        # Parents are before their children, so that a parent's poses are known here.
        for i in range(1, links):
            column = columns[i]
            # Of a fixed joint: no rotation, no translation.
            sine[:], cosine[:], slide[:] = 0.0, 1.0, 0.0
            if kinds[i] == 1:
                for b in range(count):
                    half[b] = 0.5 * q[start + b, column]
                sines_and_cosines(half, sine, cosine)
            elif kinds[i] == 2:
                for b in range(count):
                    slide[b] = q[start + b, column]
            parent = block[parents[i] * row : (parents[i] + 1) * row]
            _step(
                parent,
                unit_offsets[i],
                axes[i],
                sine,
                cosine,
                slide,
                block[i * row : (i + 1) * row],
            )
        for n in range(chosen.shape[0]):
            first = chosen[n] * row
            for b in range(count):
                # Of either constant length, so that the loop is unrolled.
                for k in range(7 if out.shape[2] == 7 else 3):
                    out[start + b, n, k] = block[first + k * BLOCK + b]


@inlined
def unit_pose(pose: Floats, out: Floats) -> None:
    """Copy a pose with its quaternion scaled to unit length.

    One without a finite, positive length becomes the identity.
    """
    # Dividing by the largest number first keeps the sum of squares from overflow.
    largest = 0.0
    for k in range(7):
        out[k] = pose[k]
    for k in range(3, 7):
        if np.isfinite(pose[k]):
            largest = max(largest, abs(pose[k]))
        else:
            largest = np.inf
    if 0.0 < largest < np.inf:
        square = 0.0
        for k in range(3, 7):
            out[k] /= largest
            square += out[k] * out[k]
        for k in range(3, 7):
            out[k] /= np.sqrt(square)
    else:
        out[3], out[4], out[5], out[6] = 1.0, 0.0, 0.0, 0.0


@inlined
def _at(row: Floats, line: int, b: int) -> Triple:
    """Return the vector of frame `b` that begins at a line of a row of a block."""
    return (
        row[line * BLOCK + b],
        row[(line + 1) * BLOCK + b],
        row[(line + 2) * BLOCK + b],
    )


@inlined
def _put(a: Vector, row: Floats, line: int, b: int) -> None:
    row[line * BLOCK + b], row[(line + 1) * BLOCK + b], row[(line + 2) * BLOCK + b] = (
        a[0],
        a[1],
        a[2],
    )


@inlined
def _step(
    parent: Floats,
    offset: Floats,
    axis: Floats,
    sine: Floats,
    cosine: Floats,
    slide: Floats,
    out: Floats,
) -> None:
    """Compute a child's poses from its parent's, in a block of frames.

    Offset, then a rotation about or a translation along the axis.
    """
    ow = offset[3]
    ox = offset[4]
    oy = offset[5]
    oz = offset[6]
    ax = axis[0]
    ay = axis[1]
    az = axis[2]
    # axis rotated by the offset: a + 2w·(v × a) + 2v × (v × a), v the vector part of
    # its quaternion. It is the direction in which a slide moves in the parent's frame.
    tx, ty, tz = times(cross((ox, oy, oz), (ax, ay, az)), 2.0)
    slid = (
        ax + ow * tx + oy * tz - oz * ty,
        ay + ow * ty + oz * tx - ox * tz,
        az + ow * tz + ox * ty - oy * tx,
    )
    for b in range(BLOCK):
        # Origin: the parent's, plus offset and slide rotated by the parent's
        # quaternion.
        pw, (px, py, pz) = parent[3 * BLOCK + b], _at(parent, 4, b)
        vx, vy, vz = plus(offset, slid, slide[b])
        ux, uy, uz = times(cross((px, py, pz), (vx, vy, vz)), 2.0)
        out[b] = parent[b] + vx + pw * ux + py * uz - pz * uy
        out[BLOCK + b] = parent[BLOCK + b] + vy + pw * uy + pz * ux - px * uz
        out[2 * BLOCK + b] = parent[2 * BLOCK + b] + vz + pw * uz + px * uy - py * ux
        # Orientation: parent · offset · (cos ½q, sin ½q·axis).
        w = pw * ow - px * ox - py * oy - pz * oz
        x = pw * ox + px * ow + py * oz - pz * oy
        y = pw * oy - px * oz + py * ow + pz * ox
        z = pw * oz + px * oy - py * ox + pz * ow
        c, (jx, jy, jz) = cosine[b], times((ax, ay, az), sine[b])
        out[3 * BLOCK + b] = w * c - x * jx - y * jy - z * jz
        out[4 * BLOCK + b] = w * jx + x * c + y * jz - z * jy
        out[5 * BLOCK + b] = w * jy - x * jz + y * c + z * jx
        out[6 * BLOCK + b] = w * jz + x * jy - y * jx + z * c


def accelerations(
    tree: Tree, poses: Floats, dq: Floats, ddq: Floats, root: Floats, root_rate: Floats
) -> tuple[Floats, Floats]:
    """Return v, ω and a, α, both (T, L, 6).

    Of poses (T, L, 7), joint velocities and accelerations (T, J), and the root's (T,
    6).
    """
    out, rates = np.empty((2, *poses.shape[:2], 6))

    def work(a: int, b: int) -> None:
        _, arms, own = twists(tree, poses[a:b])
        (v, w), (rate, gain) = spatial_motion(
            tree, own, dq[a:b], ddq[a:b], root[a:b].T, root_rate[a:b].T
        )
        # From the root's origin to that of the link: v = v₀ + ω × r, and for
        # accelerations of points a = a₀ + α × r + ω × v.
        v = v + cross_products(w, arms)
        out[a:b] = np.concatenate([v, w]).T
        rates[a:b] = np.concatenate(
            [rate + cross_products(gain, arms) + cross_products(w, v), gain]
        ).T

    in_slices(len(poses), work)
    return out, rates


def twists(tree: Tree, poses: Floats) -> tuple[Floats, Floats, Floats]:
    """Return rotation matrices, origins and the joints' twists of links.

    The matrices are (3, 3, L, T), the origins (3, L, T) are from the root's.

    A twist (2, 3, L, T) is the velocity, linear at the root's origin and angular, that
    a joint at unit velocity gives to what it carries.
    """
    kinds = tree[1][:, None]
    axes = tree[4]
    turns = matrices(poses)
    arms = poses[..., :3].T - poses[:, :1, :3].T
    # The joints' axes (3, L, T) along the world's.
    directions = apply(turns, axes.T[:, :, None])
    # A rotation about an axis through the arm r moves the root's origin by r × s; a
    # slide moves all by s and rotates nothing.
    spins = np.where(kinds == 1, directions, 0.0)
    return (
        turns,
        arms,
        np.stack(
            [np.where(kinds == 2, directions, cross_products(arms, spins)), spins]
        ),
    )


def spatial_motion(
    tree: Tree, own: Floats, dq: Floats, ddq: Floats, root: Floats, root_rate: Floats
) -> tuple[Floats, Floats]:
    """Return the spatial velocities and accelerations (2, 3, L, T) of links.

    Of `own` twists S and the root's v, ω and a, α (6, T).

    They are those of the point of a link that is at the root's origin (Featherstone,
    2008). So a link has those of its parent, and those that its joint adds: S·q̇, and
    S·q̈ + v × S·q̇ with v of the link.
    """
    steps, first = _summed(tree, own, dq, root)
    # v × S·q̇ of motion vectors: (ω × S_v + v × S_ω, ω × S_ω)·q̇.
    speed, spin = first
    more = [
        cross_products(spin, steps[0]) + cross_products(speed, steps[1]),
        cross_products(spin, steps[1]),
    ]
    # The second derivative of the root's position becomes its spatial acceleration: a −
    # ω × v.
    at_root = np.concatenate(
        [root_rate[:3] - cross_products(root[3:], root[:3]), root_rate[3:]]
    )
    return first, _summed(tree, own, ddq, at_root, np.stack(more))[1]


def _summed(
    tree: Tree, own: Floats, rates: Floats, root: Floats, more: float | Floats = 0.0
) -> tuple[Floats, Floats]:
    """Return twists times the rates of joints, and their sums along the tree.

    Twists (2, 3, L, T) times rates (T, J), plus `more`; the sums go from the root's (6,
    T) to each link.
    """
    parents, kinds, columns, _, _ = tree
    of_links = np.zeros(own.shape[2:])
    of_links[kinds > 0] = rates.T[columns[kinds > 0]]
    steps = own * of_links + more
    total = steps.copy()
    total[:, :, :1] = root.reshape(2, 3, 1, -1)
    # Parents are before their children.
    for i in range(1, len(parents)):
        total[:, :, i] += total[:, :, parents[i]]
    return steps, total


@inlined
def rotation(pose: Floats, out: Floats) -> None:
    """Fill `out` (3, 3) with the rotation of a pose (7,).

    A zero quaternion is the identity.
    """
    first, second, third = _rotation(pose[3], pose[4], pose[5], pose[6])
    put(first, out[0])
    put(second, out[1])
    put(third, out[2])


@inlined
def _rotation(w: float, x: float, y: float, z: float) -> Rows:
    n = w * w + x * x + y * y + z * z
    # s = 2/|q|² takes the length of the quaternion out of the matrix.
    if n > 0.0:
        s = 2.0 / n
    else:
        s = 0.0
    return (
        (1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)),
        (s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)),
        (s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)),
    )


def jacobian(
    tree: Tree, poses: Floats, joints: int, link: int, point: Floats
) -> Floats:
    """Return the Jacobian (T, 6, 6 + J) of a `point` on a link.

    The point is (3,) or (T, 3) in the frame of the link, for poses (T, L, 7).
    """
    parents, kinds, columns, _, axes = tree
    # Only joints between the link and the root move the point.
    chain = [link]
    while chain[-1] > 0:
        chain.append(int(parents[chain[-1]]))
    out = np.zeros((len(poses), 6, 6 + joints))
    # v and ω of the root pass to the point unchanged, but for ω₀ × arm.
    out[:, range(6), range(6)] = 1.0

    def work(a: int, b: int) -> None:
        turns = matrices(poses[a:b, chain])
        origins = poses[a:b, chain, :3].T
        found = out[a:b]
        position = origins[:, 0] + apply(
            turns[:, :, 0], np.broadcast_to(point, (len(poses), 3))[a:b].T
        )
        arm = position - poses[a:b, 0, :3].T
        for k, after, last in CYCLES:
            # ω × r: −r_z·ω_y + … , row by row.
            found[:, k, 3 + after], found[:, k, 3 + last] = arm[last], -arm[after]
        for n, i in enumerate(chain[:-1]):
            if kinds[i]:
                axis = apply(turns[:, :, n], axes[i])
                # A rotation moves the point by axis × (point − origin); a slide along
                # the axis.
                swept = cross_products(axis, position - origins[:, n])
                if kinds[i] == 1:
                    columns_of = [swept, axis]
                else:
                    columns_of = [axis, np.zeros_like(axis)]
                found[:, :, 6 + columns[i]] = np.concatenate(columns_of).T

    in_slices(len(poses), work)
    return out


# Masses (L,) [kg], centres of mass (L, 3) [m] and inertias (L, 3, 3) [kg m²] about
# them, both in the links' frames.
Masses: TypeAlias = tuple[Floats, Floats, Floats]

_Motion: TypeAlias = tuple[Floats, ...]


@np.errstate(all="ignore")
def inverse_dynamics(
    tree: Tree,
    masses: Masses,
    rotors: Floats,
    motion: _Motion,
    gravity: Floats,
    with_wrenches: bool,
) -> tuple[Floats, Floats, Floats]:
    """Return torques (T, J), wrenches and velocities of links.

    Wrenches F, N (T, L, 6) are those on each link from its parent, or the root's alone
    (T, 1, 6); velocities are v, ω (T, L, 6).

    `rotors` (J,): inertia that the rotors add to the joints; `motion`: poses (T, L, 7),
    joint velocities and accelerations (T, J),
    the root's v, ω and a, α (T, 6); `gravity` (3,) the acceleration of free fall.
    """
    (parents, kinds, columns, _, _), (mass, centers, inertias) = tree, masses
    poses, dq, ddq, root, root_rate = motion
    # An acceleration upwards acts as weight: links need no term for it.
    lifted = root_rate - np.concatenate([gravity, np.zeros(3)])
    torques = np.zeros(dq.shape)
    wrenches = np.empty((len(poses), len(tree[0]) if with_wrenches else 1, 6))
    velocities = np.empty((*poses.shape[:2], 6))

    rows = [as_rows(part, part.shape) for part in (poses, dq, ddq, root, lifted)]

    def compiled(a: int, b: int) -> None:
        out = torques[a:b], wrenches[a:b], velocities[a:b]
        _newton_euler(tree, masses, rotors, tuple(part[a:b] for part in rows), *out)

    def with_numpy(a: int, b: int) -> None:
        turns, arms, own = twists(tree, poses[a:b])
        (speed, spin), (rate, gain) = spatial_motion(
            tree, own, dq[a:b], ddq[a:b], root[a:b].T, lifted[a:b].T
        )
        velocities[a:b] = np.concatenate([speed + cross_products(spin, arms), spin]).T
        # Centres of mass (3, L, T) from the root's origin, and their velocities.
        places = arms + apply(turns, centers.T[:, :, None])
        swept = speed + cross_products(spin, places)
        # f = m·(a + α × c + ω × (v + ω × c)).
        force = mass[:, None] * (
            rate + cross_products(gain, places) + cross_products(spin, swept)
        )
        # Inertias are constant in the links' frames: the moment is computed there.
        back = turns.swapaxes(0, 1)
        inertia = np.moveaxis(inertias, 0, 2)[..., None]
        local = apply(back, spin)
        moment = apply(inertia, apply(back, gain)) + cross_products(
            local, apply(inertia, local)
        )
        # The moment about the root's origin: that about the centre, and c × f.
        total = np.stack([force, apply(turns, moment) + cross_products(places, force)])
        # Children are after their parents, so each sum is complete when it is passed
        # on.
        for i in range(len(parents) - 1, 0, -1):
            total[:, :, parents[i]] += total[:, :, i]
        movable = np.flatnonzero(kinds)
        # Power per unit of joint velocity: the twist times the force and moment.
        along = (own[:, :, movable] * total[:, :, movable]).sum(axis=(0, 1)).T
        torques[a:b, columns[movable]] = (
            along + rotors[columns[movable]] * ddq[a:b, columns[movable]]
        )
        wrenches[a:b] = np.concatenate(total[:, :, : wrenches.shape[1]]).T

    in_slices(
        len(poses),
        with_numpy if is_small(_newton_euler, len(poses) * len(parents)) else compiled,
    )
    # From moments about the root's origin to those about the links' origins: N − r × F.
    if with_wrenches:
        wrenches[..., 3:] -= np.cross(
            poses[..., :3] - poses[:, :1, :3], wrenches[..., :3]
        )
    return torques, wrenches, velocities


# Lines where the vectors of a link begin in a block, in the order in which `_outwards`
# fills them. A line is one number in all frames.
_SPEED, _RATE, _GAIN, _AT_ORIGIN, _SPIN, _ALONG, _ABOUT, _FORCE, _MOMENT, _LINES = (
    range(0, 30, 3)
)


@kernel
def _newton_euler(
    tree: Tree,
    masses: Masses,
    rotors: Floats,
    motion: _Motion,
    torques: Floats,
    wrenches: Floats,
    velocities: Floats,
) -> None:
    """Do what `inverse_dynamics` does with NumPy, block by block.

    The acceleration of the root is less gravity.
    """
    parents, kinds, columns, _, axes = tree
    mass, centers, inertias = masses
    poses, dq, ddq, root, root_rate = motion
    links = parents.shape[0]
    torque = np.empty(BLOCK)
    given = np.zeros(
        9 * BLOCK
        # Of a link: its origin from the root's, quaternion, joint velocity and
        # acceleration.
    )
    rows = np.zeros(
        (links + 1, _LINES * BLOCK)
    )  # The last row is that of the root's parent, -1.
    # Block by block, the frames of a block side by side.
    for start in range(0, poses.shape[0], BLOCK):
        count = min(BLOCK, poses.shape[0] - start)
        # The velocity and spatial acceleration of the root stand in the row of its
        # parent.
        for b in range(count):
            moving = root[start + b]
            gaining = root_rate[start + b]
            _put(moving, rows[links], _SPEED, b)
            _put(moving[3:], rows[links], _SPIN, b)
            _put(plus(gaining, cross(moving[3:], moving), -1.0), rows[links], _RATE, b)
            _put(gaining[3:], rows[links], _GAIN, b)
        for i in range(links):
            given[7 * BLOCK :] = 0.0
            for b in range(count):
                for k in range(7):
                    # Origins are from the root's: far from the world's origin products
                    # would lose digits.
                    given[k * BLOCK + b] = poses[start + b, i, k] - (
                        poses[start + b, 0, k] if k < 3 else 0.0
                    )
            if kinds[i]:
                for b in range(count):
                    given[7 * BLOCK + b], given[8 * BLOCK + b] = (
                        dq[start + b, columns[i]],
                        ddq[start + b, columns[i]],
                    )
            _outwards(
                kinds[i],
                axes[i],
                mass[i],
                centers[i],
                inertias[i],
                given,
                rows[parents[i]],
                rows[i],
            )
        # Inwards: the torque of the joint, then the sums for the parent.
        for i in range(links - 1, -1, -1):
            row = rows[i]
            parent = rows[parents[i]]
            if kinds[i]:
                for b in range(BLOCK):
                    push = dot(_at(row, _ALONG, b), _at(row, _FORCE, b))
                    torque[b] = push + dot(_at(row, _ABOUT, b), _at(row, _MOMENT, b))
                for b in range(count):
                    torques[start + b, columns[i]] = (
                        torque[b] + rotors[columns[i]] * ddq[start + b, columns[i]]
                    )
            # Force and moment are next to each other at the end of a row.
            for k in range(_FORCE * BLOCK, _LINES * BLOCK):
                parent[k] += row[k]
        for b in range(count):
            for out, line in ((velocities, _AT_ORIGIN), (wrenches, _FORCE)):
                for i in range(out.shape[1]):
                    for k in range(6):
                        out[start + b, i, k] = rows[i, (line + k) * BLOCK + b]


@inlined
def _outwards(
    kind: int,
    axis: Floats,
    mass: float,
    center: Floats,
    inertia: Floats,
    given: Floats,
    parent: Floats,
    row: Floats,
) -> None:
    """Fill the row of a link from its parent's.

    Its twist, velocity and acceleration, and its force and moment by itself.
    """
    # 0 or 1 instead of a branch, which vector registers do not have.
    rotates = 1.0 if kind == 1 else 0.0
    slides = 1.0 if kind == 2 else 0.0
    for b in range(BLOCK):
        arm, (w, x, y), (z, q1, q2) = (
            _at(given, 0, b),
            _at(given, 3, b),
            _at(given, 6, b),
        )
        turn = _rotation(w, x, y, z)
        # The conjugate quaternion takes vectors of the world to the link's frame.
        back = _rotation(w, -x, -y, -z)
        direction = product(turn, axis)
        about = times(direction, rotates)
        # The twist of the joint at the root's origin: (r × s, s) or (s, 0).
        along = plus(cross(arm, about), direction, slides)
        speed = _at(parent, _SPEED, b)
        spin = _at(parent, _SPIN, b)
        # a = a_p + S·q̈ + v_p × S·q̇ (S × S is 0, so v of the parent will do).
        rate = plus(
            plus(_at(parent, _RATE, b), along, q2),
            plus(cross(spin, along), cross(speed, about)),
            q1,
        )
        gain = plus(plus(_at(parent, _GAIN, b), about, q2), cross(spin, about), q1)
        speed = plus(speed, along, q1)
        spin = plus(spin, about, q1)
        # f = m·(a + α × c + ω × (v + ω × c)), n = I·α + ω × I·ω + c × f.
        place = plus(arm, product(turn, center))
        force = plus(
            plus(rate, cross(gain, place)), cross(spin, plus(speed, cross(spin, place)))
        )
        force = times(force, mass)
        local = product(back, spin)
        moment = plus(
            product(inertia, product(back, gain)), cross(local, product(inertia, local))
        )
        total = plus(product(turn, moment), cross(place, force))
        # In the order of the lines in a row.
        for n, found in enumerate(
            (
                speed,
                rate,
                gain,
                plus(speed, cross(spin, arm)),
                spin,
                along,
                about,
                force,
                total,
            )
        ):
            _put(found, row, 3 * n, b)


def momentum(masses: Masses, poses: Floats, velocities: Floats) -> Floats:
    """Return momentum, centre of mass and kinetic energy (T, 10).

    Of poses (T, L, 7) and v, ω (T, L, 6): momentum, angular momentum about the centre
    of mass, that centre, kinetic energy.

    The centre of mass of a body without mass is at its root.
    """
    mass, centers, inertias = masses
    total = mass.sum()
    out = np.empty((len(poses), 10))

    def work(start: int, stop: int) -> None:
        placed = poses[start:stop]
        moving = velocities[start:stop]
        turns = matrices(placed)
        spin = moving[..., 3:].T
        arms = apply(turns, centers.T[:, :, None])
        # Moments are computed about the root first: about the world's origin they would
        # lose digits far away from it.
        relative = placed[..., :3].T + arms - placed[:, :1, :3].T
        # Velocities of the centres of mass, v + ω × r.
        speed = moving[..., :3].T + cross_products(spin, arms)
        push = mass[:, None] * speed
        # I·ω in the links' frames, where inertias are constant.
        local = apply(turns.swapaxes(0, 1), spin)
        angular = apply(np.moveaxis(inertias, 0, 2)[..., None], local)
        linear = push.sum(axis=1)
        about_root = (cross_products(relative, push) + apply(turns, angular)).sum(
            axis=1
        )
        if total > 0:
            center = (mass[:, None] * relative).sum(axis=1) / total
        else:
            center = np.zeros((3, len(placed)))
        # ½·Σ (m·v² + ω·I·ω).
        energy = 0.5 * (
            (push * speed).sum(axis=(0, 1)) + (angular * local).sum(axis=(0, 1))
        )
        parts = [
            linear,
            # L about the centre of mass = L about the root − c × p.
            about_root - cross_products(center, linear),
            placed[:, 0, :3].T + center,
            energy[None],
        ]
        out[start:stop] = np.concatenate(parts).T

    in_slices(len(poses), work)
    return out


def mass_matrix(tree: Tree, masses: Masses, rotors: Floats, poses: Floats) -> Floats:
    """Return (T, 6 + J, 6 + J) for poses (T, L, 7).

    `rotors` (J,) are added to the diagonal.
    """
    parents, kinds, columns, _, _ = tree
    out = np.zeros((len(poses), 6 + len(rotors), 6 + len(rotors)))

    def work(a: int, b: int) -> None:
        placed = poses[a:b]
        found = out[a:b]
        turns, arms, (slides, spins) = twists(tree, placed)
        positions = arms + apply(turns, masses[1].T[:, :, None])
        # Mass, first moment (3, L, T) and inertia (3, 3, L, T) about the root's origin:
        # of each link, then of all that it carries.
        mass = np.array(masses[0])
        first = masses[0][:, None] * positions
        # R·I·Rᵀ, and the parallel axis theorem: − m·c·cᵀ + m·|c|²·1.
        second = (
            np.einsum("ablt,lbc,dclt->adlt", turns, masses[2], turns)
            - positions[:, None] * first
        )
        second[range(3), range(3)] += np.sum(positions * first, axis=0)
        # Inwards: composite bodies of all that a link carries.
        for i in range(len(parents) - 1, 0, -1):
            mass[parents[i]] += mass[i]
            first[:, parents[i]] += first[:, i]
            second[:, :, parents[i]] += second[:, :, i]
        # Rows of the root: p = m·v + ω × h, L = h × v + K·ω, written with the cross
        # product's matrix.
        for k, after, last in CYCLES:
            found[:, k, k] = mass[0]
            found[:, k, 3 + after] = found[:, 3 + after, k] = first[last, 0]
            found[:, k, 3 + last] = found[:, 3 + last, k] = -first[after, 0]
        found[:, 3:6, 3:6] = second[:, :, 0].transpose(2, 0, 1)
        for i in (np.flatnonzero(kinds[1:]) + 1).tolist():
            # The momenta of everything that joint i carries, at unit velocity of it.
            column = 6 + columns[i]
            push = cross_products(spins[:, i], first[:, i]) + mass[i] * slides[:, i]
            moment = cross_products(first[:, i], slides[:, i]) + apply(
                second[:, :, i], spins[:, i]
            )
            found[:, :6, column] = found[:, column, :6] = np.concatenate(
                [push, moment]
            ).T
            # Their parts along the joints between it and the root. Of joints in different
            # branches, neither carries the other: their entries stay 0.
            j = i
            while j > 0:
                if kinds[j]:
                    value = np.sum(slides[:, j] * push + spins[:, j] * moment, axis=0)
                    found[:, column, 6 + columns[j]] = found[
                        :, 6 + columns[j], column
                    ] = value
                j = parents[j]
            found[:, column, column] += rotors[columns[i]]

    in_slices(len(poses), work, one_thread=64)
    return out
