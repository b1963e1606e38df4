"""A sample of the sweep: hostile files through commands, limited and measured by the operating system."""

from __future__ import annotations

import random
import sys

import pytest
from fuzz.sweep import COMPUTING, Case, all_cases, run_case

from sample_files import ACCEPT

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="it measures as Linux does"
)
FIRST = [Case("rosbag2", "SQL endless", "info")]


def sampled_cases() -> list[Case]:
    """Return the cases that are tried: a fixed one, and in long runs a sample of all that do not compute for long."""
    if not ACCEPT:
        return FIRST
    cases = [case for case in all_cases() if case.verb not in COMPUTING]
    return [*FIRST, *random.Random(31).sample(cases, 150)]


@pytest.mark.parametrize(
    "case", sampled_cases(), ids=lambda case: f"{case.reader}-{case.shape}-{case.verb}"
)
def test_a_hostile_file_has_an_answer_within_limits(case):
    result = run_case(case)
    if result is None:
        pytest.skip("the reader has no file of this shape")
    assert not result.faults, result


def test_a_fault_is_seen(monkeypatch):
    """With a limit that every run exceeds."""
    monkeypatch.setattr("fuzz.sweep.MAX_SECONDS", 0.0)
    result = run_case(Case("cha", "as it is", "info"), options=())
    assert result is not None and result.code == 0
    assert len(result.faults) == 1 and "processor time" in result.faults[0]
