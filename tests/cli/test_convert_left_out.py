"""What a reader leaves out of a model is lost on the way to any other file: `convert --strict-losses` exits with 3, `save` says it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.cli.output import lost_what_matters

HEAD = "#VRML V2.0 utf8\n"
BODY = (
    'DEF R Humanoid {{ humanoidBody [ DEF W Joint {{ jointType "fixed" children [ DEF S Segment {{ mass 1 '
    "momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] children [ Shape {{ geometry Box {{ }} }} {inside} ] }} ] }} {beside} ] }}\n"
)

WRL = {
    "nothing": ("", "", ""),
    "NavigationInfo": ("NavigationInfo { headlight FALSE }", "", ""),
    "Background": ("Background { skyColor 0.4 0.6 0.4 }", "", ""),
    "DirectionalLight": ("DirectionalLight { }", "", ""),
    "PointLight": ("", "PointLight { }", ""),
    "Sound": ("", "Sound { }", ""),
    "TouchSensor": ("", "TouchSensor { }", ""),
    "Switch": ("", "Switch { whichChoice -1 choice [ Shape { geometry Box { } } ] }", ""),
    "LOD": ("", "LOD { level [ Shape { geometry Box { } } Shape { geometry Sphere { } } ] }", ""),
    "ROUTE": ("DEF A Transform { } DEF B Transform { } ROUTE A.translation TO B.translation", "", ""),
    "beside the Humanoid": ("Shape { geometry Sphere { } }", "", ""),
    "'B' is a second": ("", "", ""),
    "Joint 'J9' is a second root": ("", "", 'DEF J9 Joint { jointType "fixed" }'),
    "Text is not shown": ("", "Shape { geometry Text { string [ \"hello\" ] } }", ""),
    "PixelTexture": ("", "Shape { appearance Appearance { texture PixelTexture { } } geometry Box { } }", ""),
    "gone.png": ("", 'Shape { appearance Appearance { texture ImageTexture { url "gone.png" } } geometry Box { } }', ""),
    "gone.wrl": ("", 'Inline { url "gone.wrl" }', ""),
    "Strange": ("", "Strange { }", ""),
}  # fmt: skip

ROBOT = '<robot name="r"><link name="a">{}</link></robot>'
MUJOCO = """<mujoco><asset><mesh name="m" file="gone.stl"/></asset><worldbody><body name="a"><freejoint/><geom size="1"/>
<geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
CHOREONOID = "format: ChoreonoidBody\nformat_version: 2.0\nname: a\nlinks:\n  - name: a\n    elements: [ {} ]\n"
SCENE_ONLY = {
    "NavigationInfo",
    "Background",
    "DirectionalLight",
    "PointLight",
    "Sound",
    "TouchSensor",
    "Switch",
    "LOD",
    "ROUTE",
}
"""Parts of a scene: notes, which never change the exit code."""
LINK = bm.Link(name="a")
MOVED = bm.Link(
    name="b", index=1, parent=0, joint=bm.Joint(name="b", type="rotate", axis=[0, 0, 1])
)
LINES = bm.shapes.Shape(bm.shapes.Lines([[0, 0, 0], [1, 0, 0]], [[0, 1]]))
SOLID = bm.Segment(
    mass=1,
    inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    visuals=(bm.shapes.Shape(bm.shapes.Box((1, 1, 1))),),
)
CAPSULE = bm.Segment(visuals=(bm.shapes.Shape(bm.shapes.Capsule(0.1, 0.2)),))
MATTERS = {
    "the inertia of a rotor": (
        ".urdf",
        replace(MOVED, joint=replace(MOVED.joint, rotor_inertia=1e-4)),
        (),
    ),
    "a crawler": (
        ".urdf",
        replace(MOVED, joint=replace(MOVED.joint, type="crawler")),
        (),
    ),
    "a sensor of its own": (
        ".urdf",
        MOVED,
        (bm.model.OtherDevice(type="Barometer", name="d", link=1),),
    ),
    "lines": (".urdf", replace(MOVED, segments=(bm.Segment(visuals=(LINES,)),)), ()),
    "two joints of one name": (
        ".wrl",
        replace(MOVED, joint=replace(MOVED.joint, name="a"), name="c"),
        (),
    ),
}
"""By what is lost: where, of which link and which devices. Physics, kinematics, sensors, looks of the body."""
HARMLESS = {
    "the constant of a motor": (
        ".urdf",
        replace(MOVED, joint=replace(MOVED.joint, torque_const=0.02)),
        (),
    ),
    "a lamp": (
        ".xml",
        replace(MOVED, segments=(SOLID,)),
        (bm.model.OtherDevice(type="SpotLight", name="d", link=1),),
    ),
    "a capsule as cylinder and spheres": (
        ".wrl",
        replace(MOVED, segments=(CAPSULE,)),
        (),
    ),
    "a capsule as mesh": (".urdf", replace(MOVED, segments=(CAPSULE,)), ()),
    "the length of a quaternion": (
        ".wrl",
        replace(MOVED, offset=[0, 0, 1, 2, 0, 0, 0]),
        (),
    ),
    "a value of another format": (
        ".wrl",
        replace(MOVED, joint=replace(MOVED.joint, extra={"by": object()})),
        (),
    ),
}

OTHERS = {
    "none.stl": (
        "a.urdf",
        ROBOT.format(
            '<visual><geometry><mesh filename="none.stl"/></geometry></visual>'
        ),
    ),
    "<torus> is no": (
        "a.urdf",
        ROBOT.format("<visual><geometry><torus/></geometry></visual>"),
    ),
    "gone.stl": ("a.xml", MUJOCO),
    "missing.stl": (
        "a.body",
        CHOREONOID.format("{ type: Resource, uri: missing.stl }"),
    ),
}


def converted(source, target):
    return CliRunner().invoke(
        app,
        ["convert", str(source), str(target), "--all", "--strict-losses"],
        terminal_width=200,
    )


@pytest.mark.parametrize("what", WRL)
def test_parts_of_a_wrl(tmp_path, what):
    top, inside, beside = WRL[what]
    second = (
        'DEF B Humanoid { humanoidBody [ DEF JB Joint { jointType "fixed" } ] }'
        if "'B'" in what
        else ""
    )
    source = tmp_path / "a.wrl"
    source.write_text(HEAD + BODY.format(inside=inside, beside=beside) + second + top)
    kept = converted(source, tmp_path / "b.wrl")
    if what == "nothing":
        assert kept.exit_code == 0 and "VRML" not in kept.stderr
        return
    lost = [
        problem
        for problem in bm.save(bm.load(source), tmp_path / "c.urdf").losses
        if what in problem.message
    ]
    code = 3 if any(problem.severity != "note" for problem in lost) else 0
    assert lost and what in kept.stderr and kept.exit_code == code, kept.stderr
    assert code == 3 or what not in (
        "beside the Humanoid",
        "gone.png",
        "gone.wrl",
        "Strange",
    )
    assert code == 0 or what not in SCENE_ONLY
    # What was left out once is not there to be left out again.
    assert converted(tmp_path / "b.wrl", tmp_path / "c.wrl").exit_code == 0
    for goes in ("d.urdf", "d.xml"):
        assert converted(source, tmp_path / goes).exit_code == code
        assert bm.load(tmp_path / goes).mass == pytest.approx(1.0)


@pytest.mark.parametrize("what", [*MATTERS, *HARMLESS])
def test_the_exit_code_follows_what_the_loss_matters(tmp_path, what):
    ending, link, devices = (MATTERS | HARMLESS)[what]
    body = bm.Body(
        name="r", links=(replace(LINK, segments=(SOLID,)), link), devices=devices
    )
    found = bm.save(body, tmp_path / f"r{ending}").problems
    assert any(
        problem.rule.startswith("LOSS") or ending == ".urdf" for problem in found
    ), found
    assert lost_what_matters(found) == (what in MATTERS), found


@pytest.mark.parametrize("what", OTHERS)
@pytest.mark.parametrize("goes", ["b.wrl", "b.urdf"])
def test_parts_of_other_models(tmp_path, what, goes):
    name, text = OTHERS[what]
    source = tmp_path / name
    source.write_text(text)
    result = converted(source, tmp_path / goes)
    assert result.exit_code == 3
    found = [problem for problem in bm.load(source).problems if problem.leaves_out]
    assert found and all(problem.rule in result.stderr for problem in found)


def test_lights_in_a_mesh_file_are_no_fault_of_the_model(tmp_path):
    (tmp_path / "m.wrl").write_text(HEAD + "PointLight { } Shape { geometry Box { } }")
    (tmp_path / "a.urdf").write_text(
        ROBOT.format('<visual><geometry><mesh filename="m.wrl"/></geometry></visual>')
    )
    body = bm.load(tmp_path / "a.urdf")
    assert len(body.links[0].visuals) == 1 and not body.problems
