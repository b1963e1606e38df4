"""`bodymotion convert` of models: from every format that is read to every one that is written; changes on the way; what was lost."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.cli.output import MAX_FURTHER, show_problems
from bodymotion.diagnostics import losses
from bodymotion.editing import reroot, scale
from bodymotion.formats.registry import FORMATS
from bodymotion.geometry import poses
from sample_files import corpus_files

run = CliRunner()
WRITTEN = [
    row.extensions[0]
    for row in FORMATS
    if row.holds == "Body" and row.write is not None
]
READ = [row.extensions[0] for row in FORMATS if row.holds == "Body"]


def invoke(*arguments: object, codes: tuple[int, ...] = (0, 3)):
    result = run.invoke(app, ["convert", "--strict-losses", *map(str, arguments)])
    assert result.exit_code in codes, (result.output, result.stderr, result.exception)
    assert result.exit_code == 3 or not re.search("(?<!note )LOSS", result.stderr)
    return result


def light(body: bm.Body) -> bm.Body:
    """Take the meshes of a body away, but for small ones: a tetrahedron is there in any case."""
    small = bm.shapes.Shape(
        bm.shapes.Mesh(
            [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]],
            [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        )
    )

    def kept(shapes: tuple[bm.shapes.Shape, ...]) -> tuple[bm.shapes.Shape, ...]:
        return tuple(
            s
            for s in shapes
            if not isinstance(s.geometry, bm.shapes.Mesh) or len(s.geometry.faces) < 100
        )

    links = []
    for link in body.links:
        segments = [
            replace(s, visuals=kept(s.visuals), collisions=kept(s.collisions))
            for s in link.segments
        ]
        segments[0] = replace(segments[0], visuals=(*segments[0].visuals, small))
        links.append(replace(link, segments=tuple(segments)))
    return replace(body, links=tuple(links))


@pytest.fixture(scope="module")
def models(tmp_path_factory, examples, corpus):
    """A folder with a model in each format that is read."""
    folder = tmp_path_factory.mktemp("models")
    bm.save(light(bm.load(examples / "biped.wrl")), folder / "model.wrl")
    for extension in WRITTEN:
        if extension != ".wrl":
            invoke(folder / "model.wrl", folder / f"model{extension}")
    (path,) = corpus_files("body/choreonoid+choreonoid/share/model/PA10/PA10.body")
    shutil.copytree(path.parent, folder / "PA10")
    return {extension: folder / f"model{extension}" for extension in WRITTEN} | {
        ".body": folder / "PA10" / "PA10.body"
    }


def joint_poses(body: bm.Body, seed: int = 5) -> dict[str, np.ndarray]:
    """The poses of all links for random values of joints, by name: a format may have another order of columns."""
    rng = np.random.default_rng(seed)
    by_name = {
        name: rng.uniform(-0.5, 0.5)
        for name in sorted(joint.name for joint in body.joints)
    }
    q = np.array([by_name[joint.name] for joint in body.joints])
    found = body.forward_kinematics(q, poses.IDENTITY)
    return {link.name: poses.to_matrix(found[link.index]) for link in body.links}


def alike(a: bm.Body, b: bm.Body, atol: float = 1e-9) -> None:
    """Check that two bodies move alike and weigh the same."""
    here, there = joint_poses(a), joint_poses(b)
    assert here.keys() == there.keys()
    for name in here:
        np.testing.assert_allclose(here[name], there[name], atol=atol, err_msg=name)
    assert np.isclose(a.mass, b.mass, rtol=1e-9)


@pytest.mark.parametrize("goes", WRITTEN)
@pytest.mark.parametrize("came", READ)
def test_all_ways(models, tmp_path, came, goes):
    invoke(models[came], tmp_path / f"out{goes}")
    alike(bm.load(models[came]), bm.load(tmp_path / f"out{goes}"))


@pytest.mark.parametrize("goes", WRITTEN)
def test_scaled_and_hung_up_otherwise(models, tmp_path, goes):
    invoke(
        models[".wrl"], tmp_path / f"out{goes}", "--scale", 0.5, "--root", "CHEST_PITCH"
    )
    expected = scale(reroot(bm.load(models[".wrl"]), "CHEST_PITCH"), 0.5)
    found = bm.load(tmp_path / f"out{goes}")
    # In a .wrl links are called as the joints that move them; the motions of the model go by these.
    names = [
        link.joint.name if goes == ".wrl" else link.name for link in expected.links
    ]
    assert found.links[0].name == names[0]
    assert [joint.name for joint in found.joints] == [
        joint.name for joint in bm.load(models[".wrl"]).joints
    ]
    by_id = np.random.default_rng(1).uniform(-0.5, 0.5, expected.num_joints)
    here, there = (
        body.forward_kinematics(by_id, poses.IDENTITY) for body in (expected, found)
    )
    order = [found.link(name).index for name in names]
    np.testing.assert_allclose(
        poses.to_matrix(there[order]), poses.to_matrix(here), atol=1e-9
    )
    assert np.isclose(found.mass, expected.mass)


def test_millimetres_taken_for_metres(models, tmp_path):
    """The check says so, and how to mend it; the mended model is as large as it was."""
    huge = scale(bm.load(models[".wrl"]), 1000.0)
    bm.save(huge, tmp_path / "huge.wrl")
    (problem,) = (
        p for p in bm.check(tmp_path / "huge.wrl").problems if p.rule == "BODY140"
    )
    assert "--scale 0.001" in problem.hint
    invoke(tmp_path / "huge.wrl", tmp_path / "right.wrl", "--scale", 0.001)
    alike(bm.load(tmp_path / "right.wrl"), bm.load(models[".wrl"]))


@pytest.mark.parametrize(
    ("goes", "mesh", "made"),
    [
        (".wrl", "parts", "*.wrl"),
        (".urdf", "glb", "*.glb"),
        (".urdf", "stl", "*.stl"),
        (".urdf", "obj", "*.obj"),
        (".xml", "stl", "*.stl"),
        (".xml", "obj", "*.obj"),
    ],
)
def test_meshes_go_where_they_are_asked_to(models, tmp_path, goes, mesh, made):
    invoke(models[".wrl"], tmp_path / f"out{goes}", "--mesh", mesh)
    folders = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert len(folders) == 1 and list(folders[0].glob(made))
    alike(bm.load(models[".wrl"]), bm.load(tmp_path / f"out{goes}"))


@pytest.mark.parametrize("goes", [".urdf", ".xml", ".wrl"])
def test_force_sensors_of_a_model_that_is_hung_up_otherwise(tmp_path, goes):
    def joint(name, parent, child):
        ends = f'<parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/>'
        return f'<joint name="{name}" type="revolute">{ends}<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'

    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in "ABC")
    sensor = '<gazebo reference="ja"><sensor name="f" type="force_torque"/></gazebo>'
    text = f'<robot name="r">{links}{joint("ja", "A", "B")}{joint("jb", "B", "C")}{sensor}</robot>'
    (tmp_path / "in.urdf").write_text(text)
    result = run.invoke(
        app,
        [
            "convert",
            str(tmp_path / "in.urdf"),
            str(tmp_path / f"out{goes}"),
            "--root",
            "C",
            "--strict-losses",
        ],
    )
    assert result.exit_code == 3 and "LOSS080" in result.stderr
    body = bm.load(tmp_path / f"out{goes}")
    (found,) = body.devices
    assert body.links[found.link].joint.name == "ja"


@pytest.mark.parametrize(
    ("goes", "options"), [(".urdf", []), (".xml", []), (".wrl", ["--mesh", "parts"])]
)
def test_no_file_of_another_model_is_changed(models, tmp_path, goes, options):
    """Not where the model itself has its meshes, not those of a first conversion; and nothing new comes of the same once more."""
    target = tmp_path / f"out{goes}"

    def there():
        return {
            path: path.read_bytes()
            for path in tmp_path.rglob("*")
            if path.is_file() and path != target
        }

    invoke(models[".wrl"], target, *options)
    first, body = there(), bm.load(target)
    assert first
    invoke(models[".wrl"], target, *options, "--scale", 2)
    second = there()
    assert first.items() < second.items()
    invoke(models[".wrl"], target, *options, "--scale", 2)
    assert there() == second
    invoke(models[".wrl"], target, *options)
    assert there() == second
    alike(bm.load(target), body)
    # Where it is read from is where it goes to.
    invoke(target, target, *options, "--scale", 4)
    assert second.items() < there().items()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["out.wrl", "--mesh", "stl"], "are written as inline or parts"),
        (["out.xml", "--mesh", "glb"], "are written as obj or stl"),
        (["out.wrl", "--digits", "3"], "--digits"),
        (["out.urdf", "--body", "x.wrl"], "--body"),
        (["out.urdf", "--rate", "10"], "--rate"),
        (["out.wrl", "--package", "me"], "--package"),
        (["out.wrl", "--package-path", "me"], "--package-path"),
        (["out.urdf", "--scale", "-1"], "--scale"),
        (["out.urdf", "--root", "NOWHERE"], "no link 'NOWHERE'; expected one of WAIST"),
        (["out.urdf", "--from", "nothing"], "there is no format 'nothing'"),
    ],
)
def test_wrong_use(models, tmp_path, options, said):
    target, *more = options
    result = run.invoke(
        app, ["convert", str(models[".wrl"]), str(tmp_path / target), *more]
    )
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "option",
    ["--scale=2", "--root=WAIST", "--mesh=stl", "--fix-inertia", "--package=me"],
)
def test_a_motion_is_no_model(examples, tmp_path, option):
    result = run.invoke(
        app,
        [
            "convert",
            str(examples / "biped_walk.seq"),
            str(tmp_path / "out.seq"),
            option,
        ],
    )
    assert result.exit_code == 2
    assert option.partition("=")[0] in result.stderr


def test_a_model_becomes_no_motion(models, tmp_path):
    for name in ("out.seq", "out.body", "out", "out.nothing"):
        result = invoke(models[".wrl"], tmp_path / name, codes=(1,))
        assert "FMT003" in result.stderr and ".urdf" in result.stderr
    assert not list(tmp_path.iterdir())


def test_impossible_inertias_are_named_and_repaired(tmp_path, corpus):
    """The vehicle's root has moments of inertia that break the triangle inequality: MuJoCo refuses it, and takes the repaired one."""
    (path,) = corpus_files(
        "wrl/choreonoid+choreonoid/share/model/misc/simple_vehicle_P.wrl"
    )
    assert {"WRL145", "BODY133"} & {problem.rule for problem in bm.check(path).problems}
    refused = invoke(path, tmp_path / "car.xml", "--strict", codes=(1,))
    assert "MJCF133" in refused.stderr
    result = invoke(path, tmp_path / "car.xml", codes=(3,))
    assert "LOSS047" in result.stderr
    mujoco = pytest.importorskip("mujoco")
    moving = sum(link.joint.type in ("rotate", "slide") for link in bm.load(path).links)
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "car.xml")).nv == moving + 6


def test_many_losses_of_one_kind_are_counted(capsys):
    many = [losses.DEVICE.problem(f"device {k}") for k in range(12)]
    other = losses.LOOP.problem("loop")
    show_problems([many[0], other, *many[1:]])
    lines = [
        line for line in capsys.readouterr().err.splitlines() if "hint" not in line
    ]
    assert lines == [
        "LOSS038 ×12 device 0",
        *(f"  also: device {k}" for k in range(1, 1 + MAX_FURTHER)),
        f"  and {11 - MAX_FURTHER} more",
        "LOSS039 loop",
    ]
    show_problems(many, every=True)
    assert capsys.readouterr().err.count("LOSS038 device") == 12


def test_faults_of_the_source_are_told_in_short(tmp_path):
    (tmp_path / "a.wrl").write_text(
        '#VRML V2.0 utf8\nDEF R Humanoid { humanoidBody DEF J Joint { jointType "free" children Gyro { } } }\n'
    )
    result = invoke(tmp_path / "a.wrl", tmp_path / "b.wrl")
    assert "while reading; `bodymotion check" in result.stderr
    assert "VRML112" not in result.stderr


def test_packages(models, tmp_path):
    package = tmp_path / "my_robot"
    package.mkdir()
    (package / "package.xml").write_text("<package/>")
    invoke(models[".wrl"], package / "robot.urdf", "--package", "my_robot")
    assert "package://my_robot/" in (package / "robot.urdf").read_text()
    lonely = tmp_path / "elsewhere" / "robot.urdf"
    lonely.parent.mkdir()
    shutil.copy(package / "robot.urdf", lonely)
    invoke(lonely, tmp_path / "out.wrl", "--package-path", tmp_path)
    expected = sum(
        len(s.to_mesh().faces)
        for link in bm.load(models[".wrl"]).links
        for s in link.visuals
    )
    assert (
        sum(
            len(s.to_mesh().faces)
            for link in bm.load(tmp_path / "out.wrl").links
            for s in link.visuals
        )
        == expected
    )


def test_columns_of_a_motion_in_the_order_of_a_body(examples, tmp_path):
    """From .seq to .seq with --body: joints with names go into the order of their ids; without names they stay."""
    body, motion = bm.load(examples / "biped.wrl"), bm.load(examples / "biped_walk.seq")
    names = [joint.name for joint in body.joints]
    q = body.joint_values(motion.joint_displacement)
    turned = bm.Motion.from_joints(
        q[:, ::-1], motion.frame_rate, joint_names=names[::-1]
    )
    bm.save(turned, tmp_path / "turned.seq")
    invoke(
        tmp_path / "turned.seq",
        tmp_path / "out.seq",
        "--body",
        examples / "biped.wrl",
        codes=(0,),
    )
    out = bm.load(tmp_path / "out.seq").joint_displacement
    assert list(out.part_labels) == names
    np.testing.assert_array_equal(out.values, q)
    bm.save(bm.Motion.from_joints(q[:, ::-1], motion.frame_rate), tmp_path / "bare.seq")
    result = invoke(
        tmp_path / "bare.seq",
        tmp_path / "out.seq",
        "--body",
        examples / "biped.wrl",
        codes=(0,),
    )
    assert "EDIT105" in result.stderr
    assert bm.load(tmp_path / "out.seq") == bm.load(tmp_path / "bare.seq")
