"""A file is written whole or not at all, whatever happens."""

from __future__ import annotations

import os
import random
import resource
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.writing.killing import kill_saves, leftovers

import bodymotion as bm
from bodymotion.motion import Motion, MultiValueSeq
from bodymotion.motion.components import Timeline
from bodymotion.system.files import remove_leftovers, whole_file, whole_files
from sample_files import ACCEPT
from waiting import TIMEOUT


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def motion(frames: int, joints: int = 20) -> Motion:
    values = np.random.default_rng(frames).normal(size=(frames, joints))
    return Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.uniform(frames, 500),
                values=values,
            ),
        )
    )


def test_the_content_appears_at_the_end(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with whole_file(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_text() == "old"
        assert len(leftovers(tmp_path)) == 1
        assert leftovers(tmp_path)[0].startswith(
            f".a.txt.bodymotion-tmp-{os.getpid()}-"
        )
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(
    "fault", [ValueError, KeyboardInterrupt, SystemExit, MemoryError]
)
def test_a_fault_leaves_the_old_file_and_no_litter(tmp_path, fault):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(fault), whole_file(path) as stream:
        stream.write(b"x" * 1_000_000)
        raise fault
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_files_that_belong_together_are_replaced_together(tmp_path):
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths[:2]:
        path.write_text("old")
    with pytest.raises(ValueError, match="no"), whole_files(*paths) as streams:
        for stream in streams:
            stream.write(b"new")
        raise ValueError("no")
    assert names(tmp_path) == ["a", "b"]
    assert [path.read_text() for path in paths[:2]] == ["old", "old"]
    with whole_files(*paths) as streams:
        for stream in streams:
            stream.write(b"new")
    assert [path.read_text() for path in paths] == ["new"] * 3


def test_permissions_are_kept_and_new_files_get_the_usual_ones(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    for mode in (0o600, 0o664, 0o755):
        path.chmod(mode)
        with whole_file(path) as stream:
            stream.write(b"new")
        assert stat.S_IMODE(path.stat().st_mode) == mode
    old = os.umask(0o027)
    try:
        with whole_file(tmp_path / "b.txt") as stream:
            stream.write(b"new")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "b.txt").stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "data").mkdir()
    target = tmp_path / "data" / "real.txt"
    link = tmp_path / "link.txt"
    link.symlink_to(Path("data") / "real.txt")
    for content in (b"first", b"second"):
        with whole_file(link) as stream:
            stream.write(content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert names(tmp_path / "data") == ["real.txt"]


def test_what_is_no_file_is_written_to(tmp_path):
    with whole_file("/dev/null") as stream:
        stream.write(b"nothing")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    with whole_file(pipe) as stream:
        stream.write(b"through the pipe")
    assert reader.communicate(timeout=TIMEOUT)[0] == b"through the pipe"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(IsADirectoryError), whole_file(tmp_path):
        pass
    code = "import sys; from bodymotion.system.files import whole_file\nwith whole_file('/dev/stdout') as s: s.write(b'out')"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True
        ).stdout
        == b"out"
    )


def test_a_name_as_long_as_names_may_be(tmp_path):
    path = tmp_path / ("脚" * 83 + ".seq")
    bm.save(motion(2), path)
    bm.save(motion(3), path)
    assert bm.load(path) == motion(3)
    assert len(names(tmp_path)) == 1


def test_only_dead_writers_leave_leftovers(tmp_path):
    """A temporary file that is being written is not taken for a left one, whatever process number it names."""
    dead = tmp_path / ".a.seq.bodymotion-tmp-1-0123456789ab"
    dead.write_text("left")
    foreign = tmp_path / ".a.seq.bodymotion-tmp-notes"
    foreign.write_text("somebody's own")
    link = tmp_path / ".b.seq.bodymotion-tmp-1-0123456789ab"
    link.symlink_to(foreign)
    with whole_file(tmp_path / "a.seq") as stream:
        stream.write(b"1")
        assert not dead.exists()
        with whole_file(tmp_path / "b.seq") as other:
            other.write(b"2")
        remove_leftovers(tmp_path)
        assert (
            len([name for name in leftovers(tmp_path) if str(os.getpid()) in name]) == 1
        )
    assert (tmp_path / "a.seq").read_bytes() == b"1"
    assert foreign.read_text() == "somebody's own"
    assert link.is_symlink()


def test_killing_a_save_loses_no_file(tmp_path):
    """A few times here, more in acceptance; `python tests/writing/killing.py` does it 200 times."""
    sources = [tmp_path / "one.seq", tmp_path / "two.seq"]
    for source, frames in zip(sources, (2000, 5000), strict=True):
        bm.save(motion(frames), source)
    (tmp_path / "out").mkdir()
    kill_saves(tmp_path / "out", sources, 8 if ACCEPT else 3, random.Random(7))


SAVE = "import sys, bodymotion as bm; bm.save(bm.load(sys.argv[1]), sys.argv[2])"


def test_a_file_that_may_not_grow_loses_nothing(tmp_path):
    big, target = tmp_path / "big.seq", tmp_path / "out" / "a.seq"
    target.parent.mkdir()
    bm.save(motion(5000), big)
    bm.save(motion(3), target)
    result = subprocess.run(
        [sys.executable, "-c", SAVE, str(big), str(target)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (300_000, 300_000)
        ),
    )
    assert "OSError" in result.stderr, result.stderr
    assert str(target) in result.stderr.splitlines()[-1]
    assert names(target.parent) == ["a.seq"]
    assert bm.load(target) == motion(3)


def test_a_full_disk_loses_nothing(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    if (
        shutil.which("mount") is None
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("a small disk cannot be mounted here")
    try:
        bm.save(motion(30), disk / "a.seq")
        for frames in (2000, 5000):
            with pytest.raises(OSError, match="No space left"):
                bm.save(motion(frames), disk / "a.seq")
            assert names(disk) == ["a.seq"]
            assert bm.load(disk / "a.seq") == motion(30)
        with pytest.raises(OSError, match="No space left") as caught:
            bm.save(motion(5000), disk / "b.seq")
        assert caught.value.filename == str(disk / "b.seq")
        assert names(disk) == ["a.seq"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_where_nothing_may_be_written(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        bm.save(motion(2), tmp_path / "missing" / "a.seq")
    assert caught.value.filename == str(tmp_path / "missing" / "a.seq")
    with pytest.raises(OSError):
        bm.save(motion(2), "/proc/a.seq")
    bm.save(motion(2), tmp_path / "a.seq")
    if os.geteuid() == 0:
        return
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(PermissionError):
            bm.save(motion(3), tmp_path / "a.seq")
    finally:
        tmp_path.chmod(0o755)
    (tmp_path / "a.seq").chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        bm.save(motion(3), tmp_path / "a.seq")
    assert bm.load(tmp_path / "a.seq") == motion(2)


def test_many_saves_into_one_folder_at_once(tmp_path):
    """The clean-up of one save never takes the temporary file that another has just made."""

    def save(k: int) -> None:
        for n in range(40):
            with whole_file(tmp_path / f"{k}.txt") as stream:
                stream.write(str(n).encode())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save, range(8)))
    assert {path.read_text() for path in tmp_path.iterdir()} == {"39"}
