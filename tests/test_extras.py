"""The extras of the package: each has a line in the README, and `common` has none of the large packages."""

import re
import tomllib

from sample_files import ROOT

OF_DEVELOPERS = {"dev", "site"}
LARGE = {"render", "data", "music", "gpu"}
"""Extras with packages that are not needed for motions and models: VTK, Polars, librosa."""


def extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return project["optional-dependencies"]


def parts(name):
    """Return the extras that an extra consists of, itself included."""
    found = {name}
    for entry in extras()[name]:
        for inner in re.findall(r"bodymotion\[(.*?)\]", entry):
            for one in inner.split(","):
                found |= parts(one.strip())
    return found


def test_each_extra_has_a_size():
    readme = (ROOT / "README.md").read_text("utf-8")
    table = dict(re.findall(r"^\| `(\w+)` \| (\d[^|]*) \|", readme, re.MULTILINE))
    assert table.keys() == extras().keys() - OF_DEVELOPERS
    assert all(re.match(r"[\d.]+ [MG]B", size) for size in table.values())


def test_the_large_extras_are_separate():
    assert not parts("common") & LARGE
    assert parts("all") >= extras().keys() - OF_DEVELOPERS - {"gpu", "common"}
