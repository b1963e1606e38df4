"""The budget of a file: what small files may stand for, counted in bytes after unpacking, items, depth and processor time."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

import bodymotion as bm
from bodymotion.formats import limits
from bodymotion.formats.limits import Budget, Limits, budget_for
from tables.test_mcap import log, state


def refusal(path, **options: object) -> bm.Problem:
    """Return the first problem of a file that is not read."""
    with pytest.raises(bm.FormatError) as caught:
        bm.load(path, **options)
    return caught.value.problem


SMALL = Limits(
    free_bytes=100,
    growth=2,
    free_items=10,
    items_per_byte=1,
    depth=3,
    free_seconds=0.0,
    seconds_per_byte=0.0,
)


@pytest.mark.parametrize(
    ("take", "rule", "limit", "found"),
    [
        (lambda budget: budget.take_bytes(121), "FMT010", 120, 121),
        (lambda budget: budget.take_items(61), "FMT009", 60, 61),
        (lambda budget: budget.check_depth(4), "FMT009", 3, 4),
    ],
)
def test_a_budget_reports_limit_and_number(take, rule, limit, found):
    with pytest.raises(bm.FormatError) as caught:
        take(Budget("a.seq", 60, SMALL))
    assert caught.value.problem.rule == rule
    assert caught.value.problem.data == {"found": found, "limit": limit}
    assert caught.value.problem.location.path == "a.seq"


def test_a_budget_takes_what_is_within_its_limits():
    budget = Budget("a.seq", 60, SMALL)
    budget.take_bytes(120)
    budget.take_items(60)
    budget.check_depth(3)


def test_a_budget_ends_with_the_time():
    budget = Budget("a.seq", 0, SMALL)
    sum(range(100_000))
    with pytest.raises(bm.FormatError) as caught:
        budget.check_time()
    assert caught.value.problem.rule == "FMT009"
    assert caught.value.problem.data["limit"] == 0


def test_the_parts_of_a_file_share_its_budget(tmp_path):
    (tmp_path / "a.seq").write_bytes(bytes(7))
    with budget_for(tmp_path / "a.seq") as whole, budget_for("b.seq", 10**9) as part:
        assert part is whole
        assert whole.size == 7
    with budget_for("b.seq", 5) as other:
        assert other is not whole


# Parquet ------------------------------------------------------------------------------------------------


def test_a_damaged_parquet_does_not_end_the_process(unbounded):
    """pyarrow calls std::terminate where the descriptions of these columns are read."""
    files = sorted(unbounded.glob("aborts_pyarrow_*.parquet"))
    assert files
    program = (
        "import sys, bodymotion as bm\n"
        "for path in sys.argv[1:]:\n"
        "    try: bm.load(path)\n"
        "    except bm.FormatError as error: print(error.problem.rule)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, files)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["FMT002"] * len(files)


def test_rows_of_parquet_beyond_the_size_of_the_file(tmp_path, unbounded, monkeypatch):
    assert refusal(unbounded / "many_rows.parquet").rule == "FMT009"
    monkeypatch.setattr(limits, "LIMITS", Limits(free_items=3000))
    for rows in (3000, 3001):
        table = pa.table({"time": [0.0] * rows})
        parquet.write_table(table, tmp_path / f"{rows}.parquet")
    assert (tmp_path / "3001.parquet").stat().st_size < 3000
    assert bm.check(tmp_path / "3000.parquet").errors[0].rule != "FMT009"
    assert refusal(tmp_path / "3001.parquet").rule == "FMT009"


# Logs ---------------------------------------------------------------------------------------------------


def test_messages_beyond_the_size_of_the_log(tmp_path, unbounded, monkeypatch):
    """A log of idle messages shrinks to nothing; what is counted is what is unpacked."""
    assert refusal(unbounded / "many_tiny_messages.mcap").rule == "FMT010"
    monkeypatch.setattr(limits, "LIMITS", Limits(free_items=2000, items_per_byte=0))
    for count in (100, 2000):
        idle = log(*[state("HIP")] * count)
        (tmp_path / f"{count}.mcap").write_bytes(idle)
    assert bm.load(tmp_path / "100.mcap").num_frames == 100
    assert refusal(tmp_path / "2000.mcap").rule == "FMT009"
