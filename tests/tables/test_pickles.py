"""Pickles of motions: as Python, NumPy and joblib write them; and pickles that would run code, or use much of little."""

from __future__ import annotations

import bz2
import collections
import dataclasses
import gzip
import io
import lzma
import pickle
import sys
import types
import zipfile
import zlib
from dataclasses import replace
from functools import partial

import lz4.frame
import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.formats import registry
from bodymotion.formats.limits import LIMITS
from sample_files import tries
from tables.test_layouts import LAYOUTS


def with_lists(arrays: dict[str, object]) -> dict[str, object]:
    """Return arrays of texts and the first array of numbers as lists."""
    texts = {
        key: value.tolist()
        for key, value in arrays.items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "U"
    }
    return {**arrays, **texts, "fps": np.float32(50)}


class Joblib(pickle._Pickler):
    """Write arrays as joblib does: an object of its own, and the bytes of the array behind it."""

    def save(self, value, *args, **options):
        if not isinstance(value, np.ndarray):
            super().save(value, *args, **options)
            return
        wrapper = sys.modules["joblib.numpy_pickle"].NumpyArrayWrapper()
        state = {
            "subclass": np.ndarray,
            "shape": value.shape,
            "order": "C",
            "dtype": value.dtype,
            "allow_mmap": True,
        }
        wrapper.__dict__.update(state, numpy_array_alignment_bytes=16)
        super().save(wrapper)
        self.framer.commit_frame(force=True)
        gap = 16 - (self._file_handle.tell() + 1) % 16
        self._file_handle.write(bytes([gap]) + b"\xff" * gap + value.tobytes())


@pytest.mark.parametrize("protocol", [2, 3, 4, 5, "joblib"])
@pytest.mark.parametrize("name", ["GMR", "ASAP", "MimicKit"])
def test_motions(tmp_path, name, protocol, monkeypatch):
    """A pickle is the same motion as an archive of its arrays, whoever writes it."""
    arrays = LAYOUTS[name]
    np.savez(tmp_path / "a.npz", **arrays)
    if protocol == "joblib":
        module = types.ModuleType("joblib.numpy_pickle")
        module.NumpyArrayWrapper = type(
            "NumpyArrayWrapper", (), {"__module__": module.__name__}
        )
        monkeypatch.setitem(sys.modules, "joblib", types.ModuleType("joblib"))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        with (tmp_path / "a.pkl").open("wb") as file:
            pickler = Joblib(file, protocol=4)
            pickler._file_handle = file
            pickler.dump({"clip": with_lists(arrays)})
    else:
        (tmp_path / "a.pkl").write_bytes(pickle.dumps(with_lists(arrays), protocol))
    assert bm.load(tmp_path / "a.pkl") == bm.load(tmp_path / "a.npz")
    several = pickle.dumps({"a": with_lists(arrays), "b": {}})
    (tmp_path / "a.pkl").write_bytes(several)
    assert "NPZ106" in [p.rule for p in bm.load(tmp_path / "a.pkl").problems]
    (tmp_path / "a.pkl").write_bytes(several[:-100])
    assert [p.rule for p in bm.check(tmp_path / "a.pkl").errors] == ["PKL003"]


class Tensors(pickle._Pickler):
    """Write arrays as `torch.save` does: tensors with storages, which are files beside the pickle."""

    def persistent_id(self, value):
        return (
            (
                "storage",
                sys.modules["torch"].FloatStorage,
                value.key,
                "cpu",
                value.count,
            )
            if isinstance(value, Storage)
            else None
        )

    def reducer_override(self, value):
        if not isinstance(value, np.ndarray):
            return NotImplemented
        storage = Storage(str(len(self.storages)), 2 + value.size)
        self.storages[storage.key] = (
            np.concatenate([[7.0, 7.0], value.T.ravel()]).astype("<f4").tobytes()
        )
        strides = tuple(np.cumprod([1, *value.shape[:-1]]).tolist()[: value.ndim])
        return sys.modules["torch._utils"]._rebuild_tensor_v2, (
            storage,
            2,
            value.shape,
            strides,
            False,
            collections.OrderedDict(),
        )


@dataclasses.dataclass
class Storage:
    """The numbers of a tensor, in a file `data/KEY`."""

    key: str
    count: int


def test_archives_of_pytorch(tmp_path, monkeypatch):
    """Tensors are arrays, by offset and strides in their storages; what is beyond a storage, or would run code, is refused."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    torch.FloatStorage = type("FloatStorage", (), {"__module__": "torch"})
    utils._rebuild_tensor_v2 = types.FunctionType(
        (lambda: None).__code__, {}, "_rebuild_tensor_v2"
    )
    utils._rebuild_tensor_v2.__module__, utils._rebuild_tensor_v2.__qualname__ = (
        "torch._utils",
        "_rebuild_tensor_v2",
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)
    arrays = with_lists(LAYOUTS["GMR"])
    file = io.BytesIO()
    pickler = Tensors(file, protocol=2)
    pickler.storages = {}
    pickler.dump(arrays)
    floats = {
        k: v.astype(np.float32)
        if isinstance(v, np.ndarray) and v.dtype.kind == "f"
        else v
        for k, v in arrays.items()
    }
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(floats))

    def written(shorter=0):
        with zipfile.ZipFile(tmp_path / "a.pt", "w") as archive:
            archive.writestr("a/data.pkl", file.getvalue())
            for key, data in pickler.storages.items():
                archive.writestr(f"a/data/{key}", data[: len(data) - shorter])
        return tmp_path / "a.pt"

    assert bm.load(written()) == bm.load(tmp_path / "a.pkl")
    assert [p.rule for p in bm.check(written(shorter=4)).errors] == ["PKL003"]
    with zipfile.ZipFile(tmp_path / "b.pt", "w") as archive:
        archive.writestr("b/data.pkl", pickle.dumps({"fps": Call(print, ())}))
    assert [p.rule for p in bm.check(tmp_path / "b.pt").errors] == ["PKL004"]


class Call:
    def __init__(self, *what: object) -> None:
        self.what = what

    def __reduce__(self) -> object:
        return self.what


def deep(levels: int) -> bytes:
    """Return a pickle of lists in lists that are used twice each: 2 ** levels numbers."""
    return (
        b"\x80\x04}\x94X\x03\0\0\0fps(K\x01"
        + b"".join(b"\x94h%cl(h%ch%c" % (k, k, k) for k in range(levels))
        + b"lsu."
    )


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps({"fps": Call(print, ("run",))}),
        pickle.dumps({"fps": Call(eval, ("print('run')",))}),
        b"\x80\x02}q\x00cnumpy.testing._private.utils\nrunstring\nq\x01.",
        b"\x80\x02}q\x00(S'print(1)'\ni__builtin__\nexec\n.",
        b"\x80\x02}q\x00\x82\x01.",
        b"\x80\x02}q\x00Pan id\n.",
        pickle.dumps({"fps": np.array([print], object)}),
    ],
)
def test_nothing_is_run(tmp_path, content, capsys):
    (tmp_path / "a.pkl").write_bytes(content)
    with pytest.raises(bm.FormatError) as caught:
        bm.load(tmp_path / "a.pkl")
    assert caught.value.problem.rule == "PKL004" and "byte" in str(
        caught.value.problem.location.inside
    )
    assert not capsys.readouterr().out


def test_little_stays_little(tmp_path):
    """Texts and lists that are used again and again, and arrays larger than their bytes, are refused before they are made."""
    long = (
        b"\x80\x02}q\x00X\x00\x00\x10\x00"
        + b"a" * (1 << 20)
        + b"q\x01c_codecs\nencode\nq\x02"
    )
    for content in (
        deep(40),
        long + b"h\x02h\x01\x85R" * 100_000 + b".",
        pickle.dumps({"a": Call(np.ndarray, ((1 << 40,),))}),
    ):
        (tmp_path / "a.pkl").write_bytes(content)
        with pytest.raises(bm.FormatError):
            bm.load(tmp_path / "a.pkl")


@settings(max_examples=tries(300), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([2, 4]))
def test_any_bytes(tmp_path_factory, seed, protocol):
    """Whatever is changed in a pickle: a motion or a FormatError."""
    by = np.random.default_rng(seed)
    content = bytearray(pickle.dumps(with_lists(LAYOUTS["GMR"]), protocol))
    for _ in range(by.integers(1, 6)):
        content[by.integers(2, len(content))] = by.integers(256)
    path = tmp_path_factory.mktemp("pickles") / "a.pkl"
    path.write_bytes(content)
    try:
        assert isinstance(bm.load(path, format="pickle"), bm.Motion)
    except bm.FormatError as error:
        assert error.problem.message


PACKED = {
    "zlib": zlib.compress,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "lzma": partial(lzma.compress, format=lzma.FORMAT_ALONE),
    "lz4": lz4.frame.compress,
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("name", ["a.pkl", "a.joblib", "a"])
def test_compressed_pickles(kind, name, tmp_path):
    """They are known by their first bytes; what is cut or damaged is an error of the file."""
    arrays = {
        "root_pos": np.zeros((40, 3)),
        "root_rot": np.tile([0.0, 0, 0, 1], (40, 1)),
        "dof_pos": np.random.default_rng(1).normal(size=(40, 2)),
        "fps": 30,
    }
    content = PACKED[kind](pickle.dumps(arrays))
    (tmp_path / name).write_bytes(content)
    if kind in ("bzip2", "xz", "lzma") and name == "a":
        assert len(content) < 64 << 10  # so that sniffing sees all of it
    motion = bm.load_motion(
        tmp_path / name, joint_names=["A", "B"], quaternion_order="xyzw"
    )
    np.testing.assert_array_equal(motion.joint_displacement.values, arrays["dof_pos"])
    for wrong in (content[:-20], content[:30], content[:20] + b"?" * 9 + content[29:]):
        (tmp_path / "b.pkl").write_bytes(wrong)
        _, found = registry.read(tmp_path / "b.pkl", joint_names=["A", "B"])
        assert {one.rule for one in found.problems} & {"PKL003", "PKL004"}


@pytest.mark.parametrize("kind", PACKED)
def test_a_compressed_pickle_that_expands_too_far(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "bodymotion.formats.limits.LIMITS", replace(LIMITS, free_bytes=1 << 16)
    )
    (tmp_path / "a.pkl").write_bytes(PACKED[kind](pickle.dumps(bytes(10 << 20))))
    with pytest.raises(bm.FormatError) as caught:
        bm.load(tmp_path / "a.pkl")
    assert caught.value.problem.rule == "FMT010"


def test_compressed_pickles_of_strangers(strangers):
    """They have the numbers that joblib reads."""
    joblib = pytest.importorskip("joblib")
    for name in ("gmr_joblib_z.pkl", "asap.pkl"):
        path = strangers / "17" / name
        arrays = joblib.load(path)
        while "fps" not in arrays:
            arrays = next(iter(arrays.values()))
        values = arrays["dof_pos" if "dof_pos" in arrays else "dof"]
        names = [f"J{k}" for k in range(values.shape[1])]
        motion = bm.load_motion(path, joint_names=names)
        np.testing.assert_array_equal(motion.joint_displacement.values, values)
        assert motion.frame_rate == arrays["fps"]
