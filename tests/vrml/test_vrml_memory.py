"""How much memory many nodes take."""

from __future__ import annotations

import subprocess
import sys

import pytest

MEASURE = """
import sys
import bodymotion as bm
print([problem.rule for problem in bm.check(sys.argv[1]).problems])
# Not ru_maxrss, which is at least that of the process this one was forked from.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured as Linux tells it")
@pytest.mark.parametrize(("count", "rules"), [(999_000, []), (1_000_010, ["VRML106"])])
def test_a_million_nodes_take_ten_times_the_file_and_300_mb_at_most(tmp_path, count, rules):
    """As many as a scene may hold; of more, each reader that tries lets go of what it has read before the next one tries."""
    path = tmp_path / "scene.wrl"
    path.write_text("#VRML V2.0 utf8\n" + "Group {} " * count)
    done = subprocess.run([sys.executable, "-c", MEASURE, path], capture_output=True, text=True, check=True)
    said, kilobytes = done.stdout.splitlines()
    assert said == str(rules)
    assert int(kilobytes) * 1024 < 10 * path.stat().st_size + (300 << 20)
