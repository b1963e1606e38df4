"""Motions as arrays for training: what is in a window, what is padding, statistics, the split, kinematics of all windows."""

from __future__ import annotations

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.collection import open_collection

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
        assert mask.sum() == length and list(found.starts[rows]) == list(range(0, length, 4))
        assert np.array_equal(values[mask][:, 7:], motion.joint_displacement.values.astype(np.float32))
        assert np.array_equal(values[-1, -1], values[mask][-1])
        poses = found.link_poses(body)[rows][mask]
        assert np.abs(poses[..., :3] - body.link_poses(motion)[..., :3]).max() < 1e-6
    quaternions = found.values[..., 3:7]
    assert ((quaternions[:, 1:] * quaternions[:, :-1]).sum(axis=-1) > 0).all()


def test_a_take_is_on_one_side(walks, examples):
    """Also with other motions beside it; statistics are those of the training frames."""
    body = bm.load(examples / "biped.wrl")
    folder = open_collection(walks)
    options = {"body": body, "workers": 1, "test": 0.4, "take": lambda name: name.split("_")[0]}
    found = folder.to_tensors(**options)
    sides = {name[0]: bool(side) for name, side in zip(found.motions, found.is_test, strict=True)}
    assert all(sides[name[0]] == side for name, side in zip(found.motions, found.is_test, strict=True))
    assert set(sides.values()) == {True, False}
    fewer = folder[4:].to_tensors(**options)
    assert all(sides[name[0]] == side for name, side in zip(fewer.motions, fewer.is_test, strict=True))
    frames = found.values[~found.is_test][found.mask[~found.is_test]]
    assert np.allclose(frames.mean(axis=0), found.mean, atol=1e-5)
    seen = [(values, mask) for values, mask in found.batches(3, seed=1, library="numpy")]
    assert sum(len(values) for values, _ in seen) == (~found.is_test).sum()
    together = np.concatenate([values[mask] for values, mask in seen]).astype(np.float64)
    moving = frames.std(axis=0) > 1e-3
    assert np.abs(together.mean(axis=0)[moving]).max() < 1e-2 and np.abs(together.std(axis=0)[moving] - 1).max() < 1e-2
    test = [values for values, _ in found.batches(100, test=True, normalised=False)]
    assert np.array_equal(test[0], found.values[found.is_test])


def test_motions_that_do_not_fit(walks, examples):
    bm.save(bm.load(walks / "a_0.seq").resample(50), walks / "a_9.seq")
    folder, body = open_collection(walks), bm.load(examples / "biped.wrl")
    with pytest.raises(ValueError, match=r"a_9\.seq"):
        folder.to_tensors(body=body, workers=1)
    assert folder.to_tensors(frame_rate=50, body=body, workers=1).frame_rate == 50
    with pytest.raises(ValueError, match="names of joints"):
        folder.to_tensors(workers=1)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_batches_are_arrays_of_other_libraries(walks, examples, library):
    """Opt in: `pip install torch jax` beside what the tests need."""
    module = pytest.importorskip(library, reason=f"{library} is not installed: pip install {library}")
    tensors = open_collection(walks).to_tensors(8, body=bm.load(examples / "biped.wrl"), test=0.4, workers=1)
    kind = module.Tensor if library == "torch" else module.Array
    for options in ({"seed": 1}, {"normalised": False}, {"test": True}):
        pairs = zip(tensors.batches(3, library=library, **options), tensors.batches(3, **options), strict=True)
        for found, wanted in pairs:
            for one, array in zip(found, wanted, strict=True):
                assert isinstance(one, kind) and str(one.dtype).endswith(array.dtype.name)
                assert np.array_equal(np.asarray(one), array)
