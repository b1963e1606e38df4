"""Each call that writes a table, a catalogue or a data set fails once, is the last of a process, or meets a second writer.

As SQLite is tested: whatever the call, nothing is lost, nothing is stuck, and the next run is right.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sample_files import ACCEPT, missing

HERE = Path(__file__).parent
ALL = {
    "names": ["t.jsonl", "t.csv", "t.parquet", "parts", "c.parquet", "set"],
    "faults": ["once", "full", "killed", "torn", "second"],
    "calls": 0,
}
SOME = {"names": ["t.csv", "set"], "faults": ["full", "torn", "second"]}
CHOSEN: dict[str, Any] = ALL if ACCEPT else {**SOME, "calls": 2}

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="calls are replaced by LD_PRELOAD"
)


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> dict[str, tuple[Any, dict[str, Any], list[Any]]]:
    """Of each scenario the rows before, the run without a fault, and the trials."""
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    if shutil.which("cc") is None:
        missing("a compiler of C (cc)")
    folder = tmp_path_factory.mktemp("faults")
    library = folder / "faults.so"
    build = ["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "faults.c", "-ldl"]
    subprocess.run(build, check=True)
    (folder / "trials").mkdir()
    answer = subprocess.run(
        [
            sys.executable,
            HERE / "fault_driver.py",
            folder / "trials",
            json.dumps(CHOSEN),
        ],
        env={**os.environ, "LD_PRELOAD": str(library)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, tuple[Any, dict[str, Any], list[Any]]] = {}
    for line in map(json.loads, answer.stdout.splitlines()):
        if isinstance(line, list):
            found[line[0]] = (line[1], line[2], [])
        else:
            found[line["name"]][2].append(line)
    return found


@pytest.mark.parametrize("name", CHOSEN["names"])
def test_a_fault_at_any_call_loses_nothing(results, name):
    """Neither rows nor the table of the run before; the next run makes what one without a fault makes, and leaves no other files."""
    before, expected, trials = results[name]
    assert expected["code"] in (0, 3) and len(expected["rows"]) in (2, 4)
    assert len({trial["fault"] for trial in trials}) == len(CHOSEN["faults"])
    for trial in trials:
        about = f"{trial['fault']} at call {trial['call']} of {name}: {trial}"
        first, following = trial["first"], trial["following"]
        killed = trial["fault"] in ("killed", "torn")
        assert first["code"] == -9 if killed else first["code"] in (0, 1, 3), about
        if first["code"] == 1 and trial["fault"] != "second":
            assert "No space left on device" in first["printed"], about
        if name == "t.jsonl":
            for row in before:
                assert row in first["rows"], about
            for row in first["rows"]:
                assert row in expected["rows"], about
        else:
            assert first["rows"] in (before, expected["rows"]), about
        if name == "set" and first["rows"]:
            assert "exists" in following["printed"], about
        else:
            assert following["code"] == expected["code"], about
        assert following["rows"] == expected["rows"], about
        assert following["files"] == expected["files"], about
        assert "Traceback" not in str(trial), about


@pytest.mark.parametrize("name", CHOSEN["names"])
def test_a_second_writer_is_refused_or_does_all(results, name):
    """With the process that writes; of two data sets of one name the first one that is whole gets it."""
    _, expected, trials = results[name]
    refused = 0
    for trial in trials:
        if trial["fault"] != "second":
            continue
        second = trial["second"]
        if second["code"] == expected["code"]:
            assert second["rows"] == expected["rows"], trial
            continue
        refused += 1
        reason = "set exists" if name == "set" else f"{name}: process "
        assert reason in second["printed"], trial
        assert trial["first"]["rows"] == expected["rows"], trial
    assert refused
