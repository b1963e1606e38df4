"""How much memory many nodes take."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sample_files import tries

MANY = tries(1_000_000)
MEASURE = """
import sys
import bodymotion as bm
from bodymotion.formats.vrml import parser, reader, shapes

def highest():
    # Not ru_maxrss, which is at least that of the process this one was forked from.
    return int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))

shapes.MAX_NODES = parser.MAX_SIZE = reader.MAX_SIZE = int(sys.argv[2])
bm.check(sys.argv[3])
before = highest()
print([problem.rule for problem in bm.check(sys.argv[1]).problems])
print(highest() - before)
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="memory is measured as Linux tells it"
)
@pytest.mark.parametrize(
    ("count", "rules"), [(MANY - 1_000, []), (MANY + 10, ["FMT009"])]
)
def test_a_million_nodes_take_ten_times_the_file_and_250_mb_at_most(
    tmp_path, count, rules
):
    """As many as a scene may hold; of more, each reader that tries lets go of what it has read before the next one tries.

    Where not everything is tried, a scene may hold a sixth, and takes a sixth.
    """
    path, small = tmp_path / "scene.wrl", tmp_path / "small.wrl"
    path.write_text("#VRML V2.0 utf8\n" + "Group {} " * count)
    small.write_text("#VRML V2.0 utf8\nGroup {}")
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, path, str(MANY), small],
        capture_output=True,
        text=True,
        check=True,
    )
    said, kilobytes = done.stdout.splitlines()
    assert said == str(rules)
    assert (
        int(kilobytes) * 1024
        < 10 * path.stat().st_size + (250 << 20) * MANY / 1_000_000
    )
