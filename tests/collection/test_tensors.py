"""Motions as arrays for training: what is in a window, what is padding, statistics, the split, kinematics of all windows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.collection import open_collection
from bodymotion.diagnostics import WrongUseError

LENGTHS = {f"{take}_{part}": 10 + 3 * part for take in "abcdefgh" for part in range(2)}


@pytest.fixture
def walks(tmp_path, examples):
    walk = bm.load(examples / "biped_walk.seq")
    for k, (name, length) in enumerate(LENGTHS.items()):
        bm.save(walk[40 * k : 40 * k + length], tmp_path / f"{name}.seq")
    return tmp_path


def test_every_frame_is_in_one_window(walks, examples):
    body = bm.load(examples / "biped.wrl")
    (walks / "bad.seq").write_text("type: [")
    found = open_collection(walks).to_tensors(4, body=body, workers=1)
    assert list(found.left_out) == ["bad.seq"] and found.frame_rate == 100
    for name, length in LENGTHS.items():
        motion = bm.load(walks / f"{name}.seq")
        rows = [k for k, one in enumerate(found.motions) if one == f"{name}.seq"]
        values, mask = found.values[rows], found.mask[rows]
        assert mask.sum() == length and list(found.starts[rows]) == list(
            range(0, length, 4)
        )
        assert np.array_equal(
            values[mask][:, 7:], motion.joint_displacement.values.astype(np.float32)
        )
        assert np.array_equal(values[-1, -1], values[mask][-1])
        poses = found.link_poses(body)[rows][mask]
        assert np.abs(poses[..., :3] - body.link_poses(motion)[..., :3]).max() < 1e-6
    quaternions = found.values[..., 3:7]
    assert ((quaternions[:, 1:] * quaternions[:, :-1]).sum(axis=-1) > 0).all()


def test_dynamics_of_all_windows(walks, examples):
    """A window that is a whole motion has the torques and root wrenches of that motion; its padding is at rest."""
    body = bm.load(examples / "biped.wrl")
    found = open_collection(walks).to_tensors(body=body, workers=1)
    torques, wrenches = found.inverse_dynamics(body)
    for k, name in enumerate(found.motions):
        alone = bm.dynamics.measure(body, bm.load(walks / name), derivative="spline")
        # Positions are rounded to 6e-8 of them, and an acceleration divides them by the square of 10 ms.
        assert np.abs(torques[k][found.mask[k]] - alone.free_torques).max() < 0.05
        assert np.abs(wrenches[k][found.mask[k]] - alone.root_wrench).max() < 0.5
        assert np.allclose(
            wrenches[k][~found.mask[k]][:, 2], body.mass * bm.dynamics.GRAVITY
        )


def test_no_window_is_contained_in_the_one_before(tmp_path, examples):
    """All frames are in a window, and only the last of a motion is padded."""
    bm.save(bm.load(examples / "biped_walk.seq")[:60], tmp_path / "a.seq")
    folder, body = open_collection(tmp_path), bm.load(examples / "biped.wrl")
    for window, step, last in (
        (20, 10, 40),
        (20, 20, 40),
        (20, 13, 52),
        (25, 10, 40),
        (70, 10, 0),
        (10, 25, 50),
    ):
        starts = folder.to_tensors(
            window, step=step, body=body, test=0, workers=1
        ).starts
        assert list(starts) == list(range(0, last + 1, step)), (window, step)
    for test in (-1, 1, 1.5):
        with pytest.raises(WrongUseError, match="test is"):
            folder.to_tensors(20, body=body, test=test, workers=1)


def test_the_root_is_that_of_the_body(tmp_path, examples):
    """Whatever link comes first in a file that names its links; a motion without it is left out."""
    body, walk = (
        bm.load(examples / "biped.wrl"),
        bm.load(examples / "biped_walk.seq")[:10],
    )
    root, joints = walk.link_position, walk.joint_displacement
    names = [joint.name for joint in body.joints]
    for name, labels in (("a", ("FOOT", body.links[0].name)), ("b", ("FOOT", "HAND"))):
        links = replace(
            root,
            values=np.concatenate([root.values + 1, root.values], axis=1),
            part_labels=labels,
        )
        bm.save(
            walk.replaced(links, replace(joints, part_labels=tuple(names))),
            tmp_path / f"{name}.csv",
        )
    found = open_collection(tmp_path).to_tensors(body=body, test=0, workers=1)
    assert np.allclose(found.values[0, :, :3], root.values[:, 0, :3]) and list(
        found.left_out
    ) == ["b.csv"]
    assert body.links[0].name in found.left_out["b.csv"]


def test_a_take_is_on_one_side(walks, examples):
    """Also with other motions beside it; statistics are those of the training frames."""
    body = bm.load(examples / "biped.wrl")
    folder = open_collection(walks)
    options = {
        "body": body,
        "workers": 1,
        "test": 0.4,
        "group": lambda name: name.split("_")[0],
    }
    found = folder.to_tensors(**options)
    sides = {
        name[0]: bool(side)
        for name, side in zip(found.motions, found.is_test, strict=True)
    }
    assert all(
        sides[name[0]] == side
        for name, side in zip(found.motions, found.is_test, strict=True)
    )
    assert set(sides.values()) == {True, False}
    fewer = folder[4:].to_tensors(**options)
    assert all(
        sides[name[0]] == side
        for name, side in zip(fewer.motions, fewer.is_test, strict=True)
    )
    frames = found.values[~found.is_test][found.mask[~found.is_test]]
    assert np.allclose(frames.mean(axis=0), found.mean, atol=1e-5)
    seen = [
        (values, mask) for values, mask in found.batches(3, seed=1, library="numpy")
    ]
    assert sum(len(values) for values, _ in seen) == (~found.is_test).sum()
    together = np.concatenate([values[mask] for values, mask in seen]).astype(
        np.float64
    )
    moving = frames.std(axis=0) > 1e-3
    assert (
        np.abs(together.mean(axis=0)[moving]).max() < 1e-2
        and np.abs(together.std(axis=0)[moving] - 1).max() < 1e-2
    )
    test = [values for values, _ in found.batches(100, test=True, normalised=False)]
    assert np.array_equal(test[0], found.values[found.is_test])


def test_motions_that_do_not_fit(walks, examples):
    bm.save(bm.load(walks / "a_0.seq").resample(50), walks / "a_9.seq")
    folder, body = open_collection(walks), bm.load(examples / "biped.wrl")
    with pytest.raises(ValueError, match=r"a_9\.seq.*frame_rate"):
        folder.to_tensors(body=body, workers=1)
    assert folder.to_tensors(frame_rate=50, body=body, workers=1).frame_rate == 50
    with pytest.raises(ValueError, match="names of joints"):
        folder.to_tensors(workers=1)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_batches_are_arrays_of_other_libraries(walks, examples, library):
    """Opt in: `pip install torch jax` beside what the tests need."""
    module = pytest.importorskip(
        library, reason=f"{library} is not installed: pip install {library}"
    )
    tensors = open_collection(walks).to_tensors(
        8, body=bm.load(examples / "biped.wrl"), test=0.4, workers=1
    )
    kind = module.Tensor if library == "torch" else module.Array
    for options in ({"seed": 1}, {"normalised": False}, {"test": True}):
        pairs = zip(
            tensors.batches(3, library=library, **options),
            tensors.batches(3, **options),
            strict=True,
        )
        for found, wanted in pairs:
            for one, array in zip(found, wanted, strict=True):
                assert isinstance(one, kind) and str(one.dtype).endswith(
                    array.dtype.name
                )
                assert np.array_equal(np.asarray(one), array)
