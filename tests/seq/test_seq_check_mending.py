"""Whatever is wrong with a motion file, mending it makes it no worse: over all texts that break a rule."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seq_texts import motions
from test_seq_rules import BROKEN, without_mark

import bodymotion as bm
from bodymotion.checks.fixing import find_fixes, fixable
from sample_files import tries


def codes(path) -> Counter[str]:
    return Counter(problem.rule for problem in bm.check(path).problems)


def mend(path) -> tuple[str, ...]:
    """Mend a file; give the rules that something was done for, after looking at what that has made of it."""
    before = codes(path)
    found = find_fixes(path, fixable(bm.check(path).problems, path))
    if found is None:
        return ()
    path.write_bytes(found.after)
    after = codes(path)
    assert all(after[code] <= before[code] for code in after), (before, after)
    assert all(after[code] < before[code] for code in found.rules)
    assert find_fixes(path, fixable(bm.check(path).problems, path)) is None
    return found.rules


@pytest.mark.parametrize(("rule", "text"), BROKEN)
def test_a_text_that_breaks_a_rule(tmp_path, rule, text):
    path = tmp_path / "motion.seq"
    path.write_bytes(without_mark(text)[0])
    mend(path)


@settings(max_examples=tries(60))
@given(
    motions(),
    st.sampled_from(["numFrames", "num_frames"]),
    st.sampled_from(["0", "77", "x"]),
)
def test_wrong_counts_in_any_style(tmp_path_factory, text, key, wrong):
    """Counts that are wrong everywhere become those of the rows, in YAML and JSON alike, and the rest stays.

    Where there are no rows, or fewer than said at the end of a text in block style, the count may be a trace of more: it stays.
    """
    import re

    pattern = re.compile(rf"({key}[\"']?\s*:\s*)([0-9]+)".encode())
    value = b'"x"' if wrong == "x" else wrong.encode()
    path = tmp_path_factory.mktemp("counts") / "motion.seq"
    path.write_bytes(pattern.sub(rb"\g<1>" + value, text.data))
    rules = mend(path)
    right = [int(found[2]) for found in pattern.finditer(text.data)]
    now = [
        found[2]
        for found in re.finditer(
            rf"({key}[\"']?\s*:\s*)([0-9]+|\"x\")".encode(), path.read_bytes()
        )
    ]
    stayed = [
        k
        for k, (said, count) in enumerate(zip(now, right, strict=True))
        if said != str(count).encode()
    ]
    assert all(not right[k] or (wrong == "77" and k == len(right) - 1) for k in stayed)
    assert stayed or "MOT102" in rules or path.read_bytes() == text.data
