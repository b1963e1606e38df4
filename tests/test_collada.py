"""COLLADA scenes: every form of polygons, transforms, units, materials; and whatever else the bytes are."""

from __future__ import annotations

import math

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from bodymotion.formats.meshes import collada
from bodymotion.formats.meshes.collada import SceneNode, read_collada
from sample_files import ACCEPT, tries

POINTS = "0 0 0  1 0 0  0 1 0  0 0 1"
FORMS = {
    "triangles": '<triangles count="4" material="M">INPUT<p>0 0 2 0 1 0  0 0 1 0 3 0  0 0 3 0 2 0  1 0 2 0 3 0</p></triangles>',
    "polylist": '<polylist count="4" material="M">INPUT<vcount>3 3 3 3</vcount><p>0 0 2 0 1 0  0 0 1 0 3 0  0 0 3 0 2 0  1 0 2 0 3 0</p>'
    "</polylist>",
    "polygons": '<polygons count="4" material="M">INPUT<p>0 0 2 0 1 0</p><p>0 0 1 0 3 0</p><p>0 0 3 0 2 0</p><p>1 0 2 0 3 0</p></polygons>',
    "tristrips": '<tristrips count="2" material="M">INPUT<p>0 0 2 0 1 0 3 0</p><p>0 0 1 0 3 0</p><p>0 0 3 0 2 0</p></tristrips>',
    "trifans": '<trifans count="1" material="M">INPUT<p>0 0 2 0 1 0 3 0 2 0</p><p>1 0 2 0 3 0</p></trifans>',
}
INPUT = '<input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="1"/>'
EFFECT = """<profile_COMMON><technique sid="c"><phong><diffuse><color>1 0.5 0 1</color></diffuse>
<emission><color>0.1 0 0 1</color></emission><specular><color>0 0 1 1</color></specular><shininess><float>64</float></shininess>
<transparent opaque="A_ONE"><color>1 1 1 1</color></transparent><transparency><float>0.75</float></transparency>
</phong></technique></profile_COMMON>"""
NODE = '<node id="N" name="Node"><instance_geometry url="#g"/></node>'


def text(
    polygons=FORMS["triangles"],
    nodes=NODE,
    effect=EFFECT,
    asset='<unit meter="1"/>',
    more="",
) -> str:
    return f"""<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>{asset}<up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e">{effect}</effect></library_effects>
<library_materials><material id="M"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">{POINTS}</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"/></technique_common></source>
<source id="n"><float_array id="na" count="3">0 0 1</float_array>
<technique_common><accessor source="#na" count="1" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
{polygons.replace("INPUT", INPUT)}
</mesh></geometry></library_geometries>{more}
<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


@pytest.fixture
def read(tmp_path):
    def reading(*given: str, **changes: str) -> tuple[SceneNode, list[str]]:
        path = tmp_path / "a.dae"
        path.write_text(given[0] if given else text(**changes), encoding="utf-8")
        return read_collada(path)

    return reading


def placed(node: SceneNode, above=None) -> list[tuple[str, np.ndarray]]:
    """List the nodes that show something, with their transforms in the scene."""
    transform = node.transform if above is None else above @ node.transform
    found = [(node.name or node.id, transform)] if node.parts else []
    return found + [
        item for child in node.children for item in placed(child, transform)
    ]


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_polygons(read, form):
    root, remarks = read(polygons=FORMS[form])
    assert remarks == []
    (part,) = root.children[0].parts
    mesh = trimesh.Trimesh(part.mesh.vertices, part.mesh.faces, process=False)
    assert (
        len(mesh.faces) == 4
        and mesh.is_watertight
        and mesh.volume == pytest.approx(1 / 6)
    )
    assert (
        part.mesh.normals.values.tolist() == [[0, 0, 1]]
        and not part.mesh.normals.indices.any()
    )


def test_polygons_of_many_corners(read):
    """A concave quad has the area that it has, however it is cut."""
    more = POINTS.replace("0 0 1", "0.25 0.25 0")
    quad = (
        '<polylist count="1">INPUT<vcount>4</vcount><p>0 0 1 0 3 0 2 0</p></polylist>'
    )
    root, _ = read(text(polygons=quad).replace(POINTS, more))
    mesh = root.children[0].parts[0].mesh
    assert trimesh.Trimesh(mesh.vertices, mesh.faces).area == pytest.approx(0.25)


def test_materials(read):
    root, _ = read()
    material = root.children[0].parts[0].material
    assert (material.diffuse, material.emissive, material.specular) == (
        (1, 0.5, 0),
        (0.1, 0, 0),
        (0, 0, 1),
    )
    assert material.shininess == 0.5 and material.transparency == 0.25
    bound = NODE.replace(
        "/></node>",
        "><bind_material><technique_common><instance_material symbol='S' target='#M'/></technique_common></bind_material>"
        "</instance_geometry></node>",
    )
    root, _ = read(nodes=bound, polygons=FORMS["triangles"].replace('"M"', '"S"'))
    assert root.children[0].parts[0].material == material


def test_textures(read):
    effect = """<profile_COMMON><newparam sid="surf"><surface type="2D"><init_from>img</init_from></surface></newparam>
    <newparam sid="samp"><sampler2D><source>surf</source></sampler2D></newparam>
    <technique sid="c"><lambert><diffuse><texture texture="samp" texcoord="UV"/></diffuse></lambert></technique></profile_COMMON>"""
    images = '<library_images><image id="img"><init_from>a%20b.png</init_from></image></library_images>'
    root, _ = read(effect=effect, more=images)
    part = root.children[0].parts[0]
    assert part.image == "a%20b.png" and part.material.diffuse == (1, 1, 1)


def test_transforms_in_their_order_and_units(read):
    nodes = """<node name="A"><translate>1000 0 0</translate><rotate>0 0 1 90</rotate><scale>2 2 2</scale>
    <node name="B"><matrix>1 0 0 500  0 1 0 0  0 0 1 0  0 0 0 1</matrix><instance_geometry url="#g"/></node>
    <instance_node url="#C"/></node>"""
    more = '<library_nodes><node id="C" name="C"><lookat>0 0 5 0 0 0 0 1 0</lookat><instance_geometry url="#g"/></node></library_nodes>'
    root, remarks = read(
        nodes=nodes, more=more, asset='<unit name="millimeter" meter="0.001"/>'
    )
    assert remarks == []
    (first, a), (second, b) = placed(root)
    assert (first, second) == ("B", "C")
    # In metres: the inner move of 0.5 along x is doubled, then goes along y.
    assert np.allclose(a @ [0, 0, 0, 1], [1, 1, 0, 1]) and np.allclose(
        a @ [1000, 0, 0, 1], [1, 3, 0, 1]
    )
    assert np.allclose(b @ [0, 0, 0, 1], [1, 0, 0.01, 1])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('url="#g"', 'url="#none"', "no such mesh"),
        ('source="#p"', 'source="#none"', "source"),
        (POINTS, "1 2 x", "not a number"),
        ("2 0 1 0  0 0 1", "2 0 1 x  0 0 1", "could not convert"),
        (
            "<instance_geometry",
            '<instance_controller url="#c"/><instance_geometry',
            "skin",
        ),
        ('<unit meter="1"/>', '<unit meter="one"/>', "unit"),
        ('source="#n" offset="1"', 'source="#none" offset="1"', "source"),
        (NODE, f'{NODE}<instance_node url="#x"/>', "no node"),
        ("1 0.5 0 1", "1 0.5", "material"),
    ],
)
def test_what_can_not_be_used_is_said(read, old, new, words):
    whole = text()
    assert old in whole
    _, remarks = read(whole.replace(old, new))
    assert any(words in remark for remark in remarks), remarks


@pytest.mark.parametrize(
    "whole",
    [
        "",
        "<COLLADA",
        "<X/>",
        "<COLLADA/>",
        text(nodes=""),
        text(nodes='<node id="A"><instance_node url="#A"/></node>'),
        text(nodes="<node>" * 200 + "</node>" * 200),
        text(nodes="<node><matrix>1 2 3</matrix></node>"),
        text(nodes="<node><translate>inf 0 0</translate></node>"),
        text(
            nodes="".join(
                f'<node id="n{i}">{f"<instance_node url=%s#n{i + 1}%s/>" % (chr(34), chr(34)) * 10}</node>'
                for i in range(9)
            )
        ),
        '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;">]><COLLADA>&z;</COLLADA>',
    ],
)
def test_refused(read, whole, monkeypatch):
    if not ACCEPT:
        monkeypatch.setattr(collada, "MAX_NODES", 10_000)
    with pytest.raises(ValueError, match=r"."):
        read(whole)


def test_no_other_file_is_opened(read, tmp_path):
    (tmp_path / "secret").write_text("1 2 3")
    with pytest.raises(ValueError, match="XML"):
        read(
            f'<!DOCTYPE a [<!ENTITY x SYSTEM "{tmp_path}/secret">]><COLLADA>&x;</COLLADA>'
        )


@settings(max_examples=tries(150), deadline=None)
@given(st.data())
def test_changed_bytes(tmp_path_factory, data):
    sample = bytearray(text().encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(sample) - 1))
        match data.draw(st.sampled_from(["byte", "drop", "twice", "number"])):
            case "byte":
                sample[at] = data.draw(st.sampled_from(list(b'<>/"#0 9-.ex\n\x00\xff')))
            case "drop":
                del sample[at : at + data.draw(st.integers(1, 12))]
            case "twice":
                sample[at:at] = sample[at : at + data.draw(st.integers(1, 60))]
            case "number":
                digits = [i for i, c in enumerate(sample) if 48 <= c < 58]
                place = digits[at % len(digits)] if digits else 0
                sample[place : place + 1] = data.draw(
                    st.sampled_from(
                        [b"-1", b"99999999999", b"1e400", b"nan", b"", b"7"]
                    )
                )
        if not sample:
            break
    path = tmp_path_factory.getbasetemp() / "changed.dae"
    path.write_bytes(bytes(sample))
    try:
        root, _ = read_collada(path)
    except ValueError as error:
        assert str(error)
        return
    for _, transform in placed(root):
        assert np.isfinite(transform).all()


def test_transparency(read):
    def seen(inside: str) -> float:
        effect = f"<profile_COMMON><technique sid='c'><phong>{inside}</phong></technique></profile_COMMON>"
        return read(effect=effect)[0].children[0].parts[0].material.transparency

    assert seen("") == 0
    assert seen("<transparency><float>0.4</float></transparency>") == pytest.approx(0.6)
    assert seen("<transparency><float>0</float></transparency>") == 0
    zero = "<transparent opaque='RGB_ZERO'><color>1 1 1 1</color></transparent><transparency><float>0.3</float></transparency>"
    assert math.isclose(seen(zero), 0.3, abs_tol=1e-6)
