"""Work grows with the size of a file, not with its square: every reader, over the shapes of hostile files."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import bodymotion as bm
from bodymotion.system.limited import in_this_process

SIZES = (24, 48, 96)  # the numbers of the rows that each adds have two digits
MAX_GROWTH = 2.02
"""The last 48 rows take at most so many times the work of the 24 rows before them: linear work 2 times, quadratic work 4 times."""
SOME = 50
"""Steps that do not depend on the rows."""
THROUGH_ALL = {
    "copy",
    "count",
    "decode",
    "encode",
    "insert",
    "join",
    "replace",
    "reverse",
    "sort",
    "split",
    "splitlines",
}
"""Methods of built-in types, all of whose object is gone through or moved."""
BYTES_PER_STEP = 64
"""Characters or items that such a method handles in the time of a line of Python."""


WRL = "#VRML V2.0 utf8\n"
HUMANOID = f'{WRL}DEF R Humanoid {{ humanoidBody [ DEF B Joint {{ jointType "free" children [\n'
BODY = "format: ChoreonoidBody\nformat_version: 2.0\nname: r\nlinks:\n  - &a { name: a, joint_type: free }\n"
SEQ = "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\nframeRate: 100\nnumFrames: 1\ncomponents:\n"
VALUES = f"{SEQ}  - type: MultiValueSeq\n    content: JointDisplacement\n    numParts: 2\n    frameRate: 100\n    frames:\n"
FACET = "facet normal 0 0 1\nouter loop\nvertex 0 0 %\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
DAE = (
    '<COLLADA version="1.4.1"><library_geometries>@</library_geometries><library_visual_scenes><visual_scene id="S">@'
    '</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#S"/></scene></COLLADA>'
)
GEOMETRY = (
    '<geometry id="g%"><mesh><source id="s%"><float_array id="f%" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common>'
    '<accessor source="#f%" count="3" stride="3"/></technique_common></source><vertices id="v%"><input semantic="POSITION" '
    'source="#s%"/></vertices><triangles count="1"><input semantic="VERTEX" source="#v%" offset="0"/><p>0 1 2</p></triangles>'
    "</mesh></geometry>"
)
URDF = "<robot name='r'><link name='a'/>@</robot>"
LINK = "<link name='l%'/><joint name='j%' type='fixed'><parent link='a'/><child link='l%'/></joint>"
BODY_OF_MJCF = (
    "<worldbody><body name='r'><geom size='1'/><site name='s'/></body></worldbody>"
)
MJCF = f"<mujoco>@{BODY_OF_MJCF}</mujoco>"
INSIDE = (
    "<mujoco><worldbody><body name='r'><geom size='1'/>@</body></worldbody></mujoco>"
)
CLASS = "<default class='c%'><geom size='1'/></default>"
PROTOTYPE = "PROTO P% [ field SFFloat a 1 ] { Sphere { radius IS a } }\nShape { geometry P% { } }\n"
JOINT = (
    'DEF j% Joint { jointType "slide" jointId % children DEF g% Gyro { sensorId % } }\n'
)
GLTF = '{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[@0]}],"nodes":[@{}]}'

SHAPES: dict[str, tuple[str, ...]] = {
    "stl: solids": ("a.stl", "@", f"solid s%\n{FACET}endsolid s%\n"),
    "stl: open solids": ("a.stl", "@", "solid s%\nfacet normal\nouter loop\n"),
    "obj: groups": (
        "a.obj",
        "@",
        "o o%\ng g%\nusemtl m%\nv 0 0 %\nv 1 0 0\nv 0 1 0\nf -1 -2 -3\n",
    ),
    "obj: a polygon": ("a.obj", "@f @1\n", "v % 0 0\n", "-% "),
    "ply: elements": (
        "a.ply",
        "ply\nformat ascii 1.0\n@end_header\n@",
        "element e% 1\nproperty float x\n",
        "1\n",
    ),
    "dae: geometries": (
        "a.dae",
        DAE,
        GEOMETRY,
        '<node id="n%"><instance_geometry url="#g%"/></node>',
    ),
    "gltf: nodes": ("a.gltf", GLTF, "%,", "{},"),
    "urdf: links": ("a.urdf", URDF, LINK),
    "urdf: one name": ("a.urdf", URDF, "<link name='a'/>"),
    "urdf: unknown": ("a.urdf", URDF, "<thing% a='1' b='2'/>"),
    "urdf: sensors": (
        "a.urdf",
        URDF,
        "<gazebo reference='a'><sensor name='s%' type='imu'/></gazebo>",
    ),
    "urdf: attributes": (
        "a.urdf",
        "<robot name='r'><link name='a' @/></robot>",
        "x%='1' y%='1' ",
    ),
    "mjcf: classes": ("a.xml", MJCF.replace("@", "<default>@</default>"), CLASS),
    "mjcf: sections of defaults": (
        "a.xml",
        MJCF,
        "<default><geom size='1'/></default>",
    ),
    "mjcf: classes in sections": ("a.xml", MJCF, f"<default>{CLASS}</default>"),
    "mjcf: bodies": (
        "a.xml",
        INSIDE,
        "<body name='b%'><joint/><geom size='1'/></body>",
    ),
    "mjcf: joints": ("a.xml", INSIDE, "<joint name='j%'/>"),
    "mjcf: meshes": (
        "a.xml",
        MJCF.replace("@", "<asset>@</asset>"),
        "<mesh name='m%' file='x%.stl'/>",
    ),
    "mjcf: sensors": (
        "a.xml",
        MJCF.replace("@", "<sensor>@</sensor>"),
        "<gyro site='s'/>",
    ),
    "mjcf: loops": (
        "a.xml",
        MJCF.replace("@", "<equality>@</equality>"),
        "<connect body1='r' anchor='0 0 0'/>",
    ),
    "wrl: shapes": ("a.wrl", f"{WRL}@", "DEF s% Shape { geometry Box { } }\n"),
    "wrl: prototypes": ("a.wrl", f"{WRL}@", PROTOTYPE),
    "wrl: open brackets": ("a.wrl", f"{WRL}@", "Shape { geometry Box { size [\n"),
    "wrl: closed brackets": ("a.wrl", f"{WRL}@", "} } } }\n"),
    "wrl: quotes": ("a.wrl", f"{WRL}@", '"\n"\n"\n'),
    "wrl: fields": ("a.wrl", f"{WRL}Shape {{\n@}}\n", "g% 1\n"),
    "wrl: missing parts": ("a.wrl", f"{WRL}@", 'Inline { url "m%.wrl" }\n'),
    "wrl: joints": ("a.wrl", f"{HUMANOID}@] }} ] }}", JOINT),
    "wrl: segments of one name": (
        "a.wrl",
        f"{HUMANOID}@] }} ] }}",
        "DEF s Segment { mass 1 }\n",
    ),
    "wrl: segments beside the root": (
        "a.wrl",
        f"{HUMANOID}] }} @ ] }}",
        "DEF s% Segment { mass 1 }\n",
    ),
    "body: links": (
        "a.body",
        f"{BODY}@",
        "  - { name: l%, parent: a, joint_type: revolute }\n",
    ),
    "body: misspelt": ("a.body", f"{BODY}@", "  - { nmae: l%, parnet: a }\n"),
    "body: open brackets": ("a.body", f"{BODY}@", "  - { name: ]\n"),
    "body: keys": ("a.body", f"{BODY}@", "key%: 1\nword%: 1\n"),
    "body: aliases": ("a.body", f"{BODY}@", "x%: &b% [ *a ]\n"),
    "seq: components": (
        "a.seq",
        f"{SEQ}@",
        "  - { type: MultiValueSeq, numParts: 1, frames: [ [ 1 ] ] }\n",
    ),
    "seq: words for numbers": ("a.seq", f"{VALUES}@", "      - [ 1, x% ]\n"),
    "seq: ragged rows": ("a.seq", f"{VALUES}@", "      - [ 1, 1 ]\n      - [ 1 ]\n"),
    "seq: one line": (
        "a.seq",
        "{ type: MultiValueSeq, numParts: 1, frameRate: 9, frames: [ @] }\n",
        "[ 1 ], [ 1 ], ",
    ),
    "seq: open brackets": ("a.seq", f"{SEQ}@", "  - [ {\n"),
    "csv: columns": ("a.csv", "time@\n0@\n1@\n", ",c%", ",1", ",2"),
    "csv: words for numbers": ("a.csv", "time,a,b\n@", "%,x,\n%.5,1,2\n"),
    "csv: quotes": ("a.csv", "time,a,b\n@", '"1,2\n"\n'),
    "cha: words": ("a.cha", "controls: body\n@", "word% x y\n"),
    "cha: rows": (
        "a.cha",
        "controls body\n\nno parameters\n\ntime body_z\n@",
        "% x 1\n",
    ),
    "cap: keyframes": (
        "a.cap",
        'name: "a"\n@',
        "animation_keyframes { time: % body { body_pos { z { value: 0.4 } } } }\n",
    ),
    "pseq: poses": (
        "a.pseq",
        "type: PoseSeq\nname: a\nrefs:\n@",
        "  - { time: %, refer: { type: Pose, name: p%, joints: [ 0, 1 ], q: [ 1, 2 ] } }\n",
    ),
    "pos: rows": ("a.pos", "@", "% 1 2\n%.3 1 2\n%.6 1 2\n"),
}
"""For each shape the name of a file, its text with a @ for rows, and the row of each @, in which % is its number."""


def text_of(frame: str, *rows_of: str, count: int) -> str:
    """Return the text of a shape with so many rows."""
    head, *rest = frame.split("@")
    for row, after in zip(rows_of, rest, strict=True):
        head += "".join(row.replace("%", str(k)) for k in range(count)) + after
    return head


@contextmanager
def counted(steps: list[int]) -> Iterator[None]:
    """Count the lines and functions of Python that run, and the calls of methods in C by the size of their object: into `steps[0]`."""

    def trace(frame, event, arg):
        steps[0] += event in ("call", "line")
        return trace

    def profile(frame, event, arg):
        if (
            event == "c_call"
            and arg.__name__ in THROUGH_ALL
            and isinstance(arg.__self__, (str, bytes, bytearray, list))
        ):
            steps[0] += 1 + len(arg.__self__) // BYTES_PER_STEP

    before = sys.gettrace(), sys.getprofile()
    gc.disable()
    sys.setprofile(profile)
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
        gc.enable()


def read(path: Path) -> None:
    with suppress(bm.FormatError), in_this_process():
        bm.load(path, untrusted=True)


def work(path: Path) -> int:
    """Return the steps of reading a file, which are the same each time once caches are filled."""
    steps = [0]
    with counted(steps):
        read(path)
    return steps[0]


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_size(shape, tmp_path):
    name, *texts = SHAPES[shape]
    is_mesh = Path(name).suffix in (".stl", ".obj", ".ply", ".dae", ".gltf")
    paths = [tmp_path / str(count) / name for count in SIZES]
    for path in paths:
        path.parent.mkdir()
        path.write_text(text_of(*texts, count=int(path.parent.name)))
        mesh = f"<link name='a'><visual><geometry><mesh filename='{name}'/></geometry></visual></link>"
        (path.parent / "r.urdf").write_text(f"<robot name='r'>{mesh}</robot>")
    paths = [path.parent / "r.urdf" if is_mesh else path for path in paths]
    read(paths[-1])
    few, twice, four_times = map(work, paths)
    assert four_times - twice <= MAX_GROWTH * (twice - few) + SOME
