"""A model with files beside it is written whole or not at all: a full disk leaves no folder."""

from __future__ import annotations

import errno
import os

import pytest

import bodymotion as bm


@pytest.mark.parametrize(
    ("name", "options"),
    [("out.xml", {}), ("out.urdf", {}), ("out.wrl", {"mesh": "parts"})],
)
def test_a_full_disk_leaves_no_folder(examples, tmp_path, monkeypatch, name, options):
    """Whichever file is the first without space; a folder that was there stays."""
    body = bm.load_body(examples / "biped.wrl")
    flush, left = os.fsync, 0

    def fail(file: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(file)

    for count in range(2):
        left = count
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="No space left"):
                bm.save(body, tmp_path / name, **options)
        assert list(tmp_path.iterdir()) == []
    bm.save(body, tmp_path / name, **options)
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    before = {path: path.read_bytes() for path in folder.iterdir()}
    (tmp_path / name).unlink()
    left = 0
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space left"):
            bm.save(body, tmp_path / name, **options)
    assert before == {path: path.read_bytes() for path in folder.iterdir()}
