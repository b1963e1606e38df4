"""What range sensors see: against distances known by geometry, and against the rays of trimesh."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import bodymotion as bm
from bodymotion.geometry import poses, rotations

IDENTITY = np.eye(4)


def placed(geometry, x=0.0, y=0.0, z=0.0) -> bm.shapes.Shape:
    transform = np.eye(4)
    transform[:3, 3] = x, y, z
    return bm.shapes.Shape(geometry, transform)


def body_with(sensor: bm.model.RangeSensor) -> bm.Body:
    link = bm.Link(
        name="BASE", joint=bm.Joint(type="free"), segments=(bm.Segment(mass=1.0),)
    )
    return bm.Body(name="scanner", links=(link,), devices=(sensor,))


def driving(
    sensor: bm.model.RangeSensor, root: np.ndarray, rate: float = 100.0
) -> bm.dynamics.Reading:
    motion = bm.Motion.from_joints(np.zeros((len(root), 0)), rate, root=root)
    return bm.dynamics.measure(body_with(sensor), motion)


def scene(seed: int) -> list[bm.shapes.Shape]:
    rng = np.random.default_rng(seed)
    kinds = (
        bm.shapes.Box((0.6, 0.9, 0.4)),
        bm.shapes.Sphere(0.5),
        bm.shapes.Cylinder(0.3, 1.0),
        bm.shapes.Cone(0.4, 0.8),
        bm.shapes.Capsule(0.2, 0.7),
    )
    shapes = []
    for k in range(12):
        transform = poses.to_matrix(
            poses.from_parts(
                rng.uniform(-3, 3, 3), rotations.normalized(rng.normal(size=4))
            )
        )
        transform[:3, :3] *= 2.0
        shapes.append(bm.shapes.Shape(kinds[k % len(kinds)], transform))
    return shapes


@pytest.mark.parametrize("seed", range(3))
def test_rays_of_trimesh(seed):
    shapes = scene(seed)
    meshes = [shape.to_mesh() for shape in shapes]
    whole = trimesh.util.concatenate(
        [trimesh.Trimesh(m.vertices, m.faces, process=False) for m in meshes]
    )
    rng = np.random.default_rng(seed)
    origins, ways = rng.uniform(-2, 2, (400, 3)), rng.normal(size=(400, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    ours = bm.dynamics.Scenery(shapes).distances(origins, 5.0 * ways)
    intersector = trimesh.ray.ray_triangle.RayMeshIntersector(whole)
    places, rays, _ = intersector.intersects_location(origins, ways, multiple_hits=True)
    theirs = np.full(len(origins), np.inf)
    np.minimum.at(theirs, rays, np.linalg.norm(places - origins[rays], axis=1))
    assert np.isfinite(theirs).sum() > 40
    assert np.array_equal(np.isinf(ours), np.isinf(theirs))
    met = np.isfinite(theirs)
    assert np.abs(ours[met] - theirs[met]).max() < 1e-9


def test_a_wall_ahead():
    """A wall two metres ahead (along −z) is 2/cos of the angle away, as far as the sensor sees."""
    sensor = bm.model.RangeSensor(
        scan_angle=2.0, scan_step=0.1, scan_rate=10.0, max_distance=3.5
    )
    wall = placed(bm.shapes.Box((100, 100, 1.0)), z=-2.5)
    root = np.tile(poses.IDENTITY, (101, 1))
    reading = driving(sensor, root).read(sensor, [wall])
    angles = np.arange(-10, 11) * 0.1
    expected = 2 / np.cos(angles)
    expected[expected > 3.5] = np.inf
    np.testing.assert_allclose(reading.values, np.tile(expected, (11, 1)), rtol=1e-12)
    np.testing.assert_array_equal(reading.saturated, np.isinf(reading.values))
    np.testing.assert_allclose(reading.times, np.arange(11) / 10)
    assert reading.columns[0] == "-1"
    post = placed(bm.shapes.Box((0.02, 1, 0.02)), x=-np.sin(0.5), z=-np.cos(0.5))
    seen = driving(sensor, root).read(sensor, [post]).values[0]
    assert np.isfinite(seen).nonzero()[0].tolist() == [15], (
        "positive angles look towards −x, turned about +y"
    )


def test_one_ray_while_driving_on():
    """A sensor without a scan is one ray; along a road at 2 m/s the wall comes nearer by 2 m each second, at the times of the scans."""
    sensor = bm.model.RangeSensor(scan_angle=0.0, scan_rate=30.0, max_distance=20.0)
    ahead = rotations.from_axis_angle([0, 1, 0], -np.pi / 2)
    root = poses.from_parts(
        np.stack([np.arange(201) / 50, np.zeros(201), np.zeros(201)], axis=1), ahead
    )
    reading = driving(sensor, root).read(
        sensor, [placed(bm.shapes.Box((1, 4, 4)), x=10.5)]
    )
    assert reading.values.shape == (61, 1)
    np.testing.assert_allclose(reading.values[:, 0], 10 - 2 * reading.times, atol=1e-9)


def test_bodies_and_meshes_are_seen(examples):
    robot = bm.load(examples / "biped.wrl")
    scenery = bm.dynamics.Scenery([robot])
    front = scenery.distances([5.0, 0.0, 0.9], [-1.0, 0.0, 0.0])
    assert 4.5 < front < 5.0
    assert scenery.num_triangles > 1000
    mesh = placed(bm.shapes.Box((1, 1, 1))).to_mesh()
    assert bm.dynamics.Scenery([mesh]).distances(
        [0, 0, 3.0], [0, 0, -1]
    ) == pytest.approx(2.5)
    nothing = bm.dynamics.Scenery([bm.shapes.Shape(bm.shapes.Points(np.zeros((3, 3))))])
    assert nothing.num_triangles == 0
    assert np.isinf(nothing.distances(np.zeros((2, 3)), [0, 0, 1])).all()


def test_edges_between_triangles_have_no_gaps():
    """A flat of many triangles, looked at exactly where they meet."""
    side = np.arange(11.0)
    x, y = (values.ravel() for values in np.meshgrid(side, side, indexing="ij"))
    faces = [
        corners
        for i in range(10)
        for j in range(10)
        for a in [11 * i + j]
        for corners in ((a, a + 11, a + 1), (a + 1, a + 11, a + 12))
    ]
    flat = bm.shapes.Mesh(np.stack([x, y, 0 * x], axis=1), np.array(faces))
    spots = np.stack(
        np.meshgrid(np.arange(0.5, 9.6, 0.5), np.arange(0.5, 9.6, 0.5)), axis=-1
    ).reshape(-1, 2)
    from_above = np.concatenate([spots, np.full((len(spots), 1), 2.0)], axis=1)
    np.testing.assert_allclose(
        bm.dynamics.Scenery([flat]).distances(from_above, [0, 0, -1]), 2.0
    )


def test_a_rate_beyond_reason_is_refused():
    sensor = bm.model.RangeSensor(name="mad", scan_rate=1e12)
    with pytest.raises(ValueError, match="mad would scan"):
        driving(sensor, np.tile(poses.IDENTITY, (5, 1))).read(sensor)
