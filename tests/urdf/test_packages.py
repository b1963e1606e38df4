"""`package://NAME/…` in what is written: a path from the folder that has the package.xml."""

from __future__ import annotations

import re

import pytest

import bodymotion as bm
from bodymotion.formats.urdf import read_urdf, write_urdf
from bodymotion.geometry.shapes import Cone, Shape

BODY = bm.Body(
    name="r",
    links=(
        bm.Link(name="a", segments=(bm.Segment(visuals=(Shape(Cone(1.0, 1.0)),)),)),
    ),
)


def saved(path, package="my_robot"):
    """The file names in the model, and the codes of what was noted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    report = write_urdf(BODY, path, package=package)
    return re.findall('filename="(.*?)"', path.read_text()), [
        one for one in report if one.rule == "URDF163"
    ]


@pytest.mark.parametrize("inside", ["", "urdf/", "robots/arm/urdf/"])
@pytest.mark.parametrize(
    "named", ["<package/>", "<package><name>my_robot</name></package>"]
)
def test_the_path_in_the_package_is_kept(tmp_path, inside, named):
    package = tmp_path / "ws" / "my_robot"
    package.mkdir(parents=True)
    (package / "package.xml").write_text(named)
    (name,), noted = saved(package / inside / "r.urdf")
    assert name.startswith(f"package://my_robot/{inside}r_")
    assert (package / name.removeprefix("package://my_robot/")).is_file()
    assert not noted
    read = read_urdf(package / inside / "r.urdf").require()
    assert not read.problems and read.links[0].visuals


def test_a_package_may_lie_in_a_folder_of_another_name(tmp_path):
    (tmp_path / "package.xml").write_text("<package><name>my_robot</name></package>")
    (name,), noted = saved(tmp_path / "urdf" / "r.urdf")
    assert name.startswith("package://my_robot/urdf/") and not noted
    assert not read_urdf(tmp_path / "urdf" / "r.urdf").require().problems


def test_a_file_in_no_package_says_so(tmp_path):
    (name,), (note,) = saved(tmp_path / "r.urdf")
    assert name.startswith("package://my_robot/r_")
    assert (note.severity, "package.xml" in note.message) == ("note", True)


def test_another_package_than_the_one_around_the_file_is_noted(tmp_path):
    (tmp_path / "package.xml").write_text("<package><name>other</name></package>")
    (name,), (note,) = saved(tmp_path / "r.urdf")
    assert name.startswith("package://my_robot/r_")
    assert "'other'" in note.message


@pytest.mark.parametrize("package", ["", 'a b<&"', "../up", "a/b", "1a", "a:b", "é"])
def test_a_name_that_no_package_can_have_is_wrong_use(tmp_path, package):
    with pytest.raises(ValueError, match="is not a name of a package"):
        write_urdf(BODY, tmp_path / "r.urdf", package=package)
    assert not list(tmp_path.iterdir())


def test_the_command_says_it_of_its_option(tmp_path):
    from click.testing import CliRunner

    from bodymotion.cli.app import app

    bm.save(BODY, tmp_path / "r.wrl")
    result = CliRunner().invoke(
        app,
        [
            "convert",
            str(tmp_path / "r.wrl"),
            str(tmp_path / "r.urdf"),
            "--package",
            'a b<&"',
        ],
    )
    assert result.exit_code == 2 and "--package" in result.output
    assert not (tmp_path / "r.urdf").exists()
