"""Reading files by what they hold: `load`, `load_body`, `load_motion`, `load_animation`."""

from __future__ import annotations

import errno
import pickle

import pytest

import bodymotion as bm

FILES = {"body": "biped.wrl", "motion": "biped_walk.seq", "animation": "wave.cha"}
LOADERS = {"body": bm.load_body, "motion": bm.load_motion, "animation": bm.load_animation}
TYPES = {"body": bm.Body, "motion": bm.Motion, "animation": bm.Animation}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("wanted", FILES)
def test_a_typed_loader_reads_its_kind_and_refuses_the_others(kind, wanted, examples):
    path = examples / FILES[kind]
    if kind == wanted:
        found = LOADERS[wanted](path)
        assert type(found) is TYPES[wanted]
        assert found == bm.load(path)
        return
    with pytest.raises(bm.FormatError) as refusal:
        LOADERS[wanted](path)
    assert refusal.value.problem.rule == "FMT004"
    assert refusal.value.problem.data["holds"].lower() == kind
    assert refusal.value.problem.location.path == str(path)


@pytest.mark.parametrize("loader", [bm.load, *LOADERS.values()])
def test_a_missing_file_is_both_errors(loader, tmp_path):
    path = tmp_path / "missing.seq"
    with pytest.raises(FileNotFoundError) as caught:
        loader(path)
    error = caught.value
    assert isinstance(error, bm.FormatError)
    assert error.problem.rule == "FMT002"
    assert (error.errno, error.filename) == (errno.ENOENT, str(path))
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, FileNotFoundError) and again.problem == error.problem
