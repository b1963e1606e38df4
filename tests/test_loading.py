"""Reading files by what they hold: `load`, `load_body`, `load_motion`, `load_animation`."""

from __future__ import annotations

import errno
import pickle

import pytest

import bodymotion as bm

FILES = {"body": "biped.wrl", "motion": "biped_walk.seq", "animation": "wave.cha"}
LOADERS = {
    "body": bm.load_body,
    "motion": bm.load_motion,
    "animation": bm.load_animation,
}
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


def test_motions_only_are_opened(examples):
    for kind in set(FILES) - {"motion"}:
        with pytest.raises(bm.FormatError, match="FMT004"):
            bm.open_motion(examples / FILES[kind])


def test_an_option_that_a_format_does_not_have(examples, tmp_path):
    """The message has the words of users, and the options that there are."""
    animation = bm.load(examples / FILES["animation"])
    with pytest.raises(
        TypeError,
        match=r"a Spot animation has no option 'foo'; its options: parameters",
    ):
        bm.load(examples / FILES["animation"], foo=1)
    with pytest.raises(
        TypeError, match="body motion has no option 'foo'; its options: none"
    ):
        bm.load(examples / FILES["motion"], foo=1, untrusted=True)
    with pytest.raises(
        TypeError, match="a Spot animation has no option 'foo'; its options: style"
    ):
        bm.save(animation, tmp_path / "x.cha", foo=1)


@pytest.mark.parametrize("name", ["x.urdf", "x.xml", "x.wrl", "x.cha", "x.seq"])
def test_a_folder_that_is_missing_is_named(name, examples, tmp_path):
    kind = {".cha": "animation", ".seq": "motion"}.get(name[1:], "body")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*/no"):
        bm.save(bm.load(examples / FILES[kind]), tmp_path / "no" / name)


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
