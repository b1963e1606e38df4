"""Files that a file names: which are opened, which are refused, and how often they are read."""

from __future__ import annotations

import os

import pytest

import bodymotion as bm
from bodymotion.formats.vrml import InlineLoader, expand, instance_of, read_vrml

HEADER = "#VRML V2.0 utf8\n"
BOX = HEADER + "Shape { geometry Box { } }"


def write(folder, **files):
    """Write files; `__` in a name stands for a folder."""
    for name, text in files.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".wrl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def inline(url: str) -> str:
    return HEADER + f"Inline {{ url {url} }}"


def load(path, url=None, **options):
    """Read a model, load its first node's part; give the part, and the rules of the problems."""
    if url is not None:
        path.write_text(inline(url))
    scene = read_vrml(path)
    loader = InlineLoader(path.parent, **options)
    part = loader.load(scene.nodes[0], path)
    return part, [problem.rule for problem in loader.problems]


@pytest.fixture
def model(tmp_path):
    write(
        tmp_path,
        robot__main=BOX,
        robot__part=BOX,
        robot__parts__deep__part=BOX,
        secret=BOX,
    )
    (tmp_path / "robot" / "with space.wrl").write_text(BOX)
    return tmp_path / "robot" / "main.wrl"


@pytest.mark.parametrize(
    "url",
    [
        '"part.wrl"',
        '[ "part.wrl" ]',
        '"./parts/../part.wrl"',
        '"parts/deep/part.wrl"',
        '"parts\\\\deep\\\\part.wrl"',
        '"with space.wrl"',
        '"with%20space.wrl"',
        '"part.wrl#View"',
        '[ "missing.wrl" "http://example.org/x.wrl" "part.wrl" ]',
        '"../robot/part.wrl"',
    ],
)
def test_parts_in_the_folder_tree_are_loaded(model, url):
    part, problems = load(model, url)
    assert part is not None
    assert part.nodes[0].type == "Shape"
    assert problems == []


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ('"../none.wrl"', "FMT020"),
        ('"/etc/passwd"', "VRML131"),
        ('"/none/part.wrl"', "VRML132"),
        ('"\\\\\\\\server\\\\share"', "VRML132"),
        ('"C:\\\\model\\\\part.wrl"', "VRML132"),
        ('"file:///etc/passwd"', "VRML131"),
        ('"http://example.org/part.wrl"', "VRML132"),
        ('"HTTPS://example.org/part.wrl"', "VRML132"),
        ('"missing.wrl"', "FMT020"),
        ('"parts"', "FMT020"),
        ('""', "FMT020"),
        ("[ ]", "FMT020"),
        ('"a\0b"', "FMT020"),
        ('"' + "x" * 10000 + '"', "FMT020"),
    ],
)
def test_what_is_not_opened_is_a_problem_at_the_url(model, url, rule):
    part, problems = load(model, url)
    assert part is None
    assert problems == [rule]
    loader = InlineLoader(model.parent)
    loader.load(read_vrml(model).nodes[0])
    assert str(loader.problems[0].location) == f"{model}:2:10"
    assert len(loader.problems[0].message) < 500


def test_relative_paths_are_followed_unless_the_model_is_not_trusted(model):
    (model.parent.parent / "beside").mkdir()
    (model.parent.parent / "beside" / "far.wrl").symlink_to(
        model.parent.parent / "secret.wrl"
    )
    (model.parent.parent / "folder").symlink_to(model.parent.parent / "beside")
    absolute = f'"{model.parent.parent}/secret.wrl"'
    for url, expected in {
        '"../secret.wrl"': [[], ["VRML131"], []],
        '"parts/../../secret.wrl"': [[], ["VRML131"], []],
        '"../beside/far.wrl"': [["VRML131"], ["VRML131"], []],
        '"../folder/far.wrl"': [["VRML131"], ["VRML131"], []],
        absolute: [["VRML131"], ["VRML131"], []],
        f'"file://{model.parent.parent}/secret.wrl"': [["VRML131"], ["VRML131"], []],
        f'"{model.parent}/part.wrl"': [[], [], []],
        '"http://example.org/part.wrl"': [["VRML132"]] * 3,
    }.items():
        assert [
            load(model, url, allow_outside=allowed)[1]
            for allowed in (None, False, True)
        ] == expected, url


def test_symbolic_links_are_followed_before_the_folder_is_checked(model):
    (model.parent / "link.wrl").symlink_to(model.parent.parent / "secret.wrl")
    (model.parent / "inner.wrl").symlink_to(model.parent / "part.wrl")
    (model.parent / "up").symlink_to(model.parent.parent)
    (model.parent / "loop.wrl").symlink_to("loop.wrl")
    assert load(model, '"link.wrl"')[1] == ["VRML131"]
    assert load(model, '"up/secret.wrl"')[1] == ["VRML131"]
    assert load(model, '"inner.wrl"')[1] == []
    assert load(model, '"loop.wrl"')[1] == ["FMT020"]
    (model.parent.parent / "alias").symlink_to(model.parent)
    assert load(model.parent.parent / "alias" / "main.wrl", '"part.wrl"')[1] == []


def test_devices_and_pipes_are_not_opened(model):
    os.mkfifo(model.parent / "pipe.wrl")
    assert load(model, '"pipe.wrl"')[1] == ["FMT020"]
    (model.parent / "zero.wrl").symlink_to("/dev/zero")
    assert load(model, '"zero.wrl"', allow_outside=True)[1] == ["FMT020"]


def test_urls_start_from_the_file_that_holds_them(tmp_path):
    """A part in a sub-folder may go up again, as long as it stays below the folder of the model."""
    write(
        tmp_path,
        r__main=inline('"parts/arm/arm.wrl"'),
        r__parts__arm__arm=inline('"../sensor/sensor.wrl"'),
        r__parts__sensor__sensor=BOX,
    )
    loader = InlineLoader(tmp_path / "r")
    arm = loader.load(read_vrml(tmp_path / "r" / "main.wrl").nodes[0])
    sensor = loader.load(arm.nodes[0], arm.path)
    assert sensor.nodes[0].type == "Shape"
    assert loader.load(arm.nodes[0]) is sensor, (
        "the same without a base path, and read once"
    )
    assert not loader.problems
    alone = tmp_path / "r" / "parts" / "arm" / "arm.wrl"
    assert load(alone)[1] == []
    assert load(alone, allow_outside=False)[1] == ["VRML131"], (
        "opened as a model, its own folder counts"
    )


def test_a_part_is_read_once_and_its_problems_are_told_once(model):
    model.with_name("part.wrl").write_text("Box { colour 1 }")
    model.write_text(HEADER + 'Inline { url "part.wrl" } Inline { url "./part.wrl" }')
    loader = InlineLoader(model.parent)
    first, second = (loader.load(node) for node in read_vrml(model).nodes)
    assert first is second
    assert [problem.rule for problem in loader.problems] == ["VRML110", "VRML113"]
    assert loader.problems[0].location.path == str(model.with_name("part.wrl"))


def test_the_next_url_is_taken_when_a_part_can_not_be_read(model):
    model.with_name("broken.wrl").write_text(HEADER + "Group { ] }")
    part, problems = load(model, '[ "broken.wrl" "part.wrl" ]')
    assert part is not None
    assert problems == []


def test_a_part_that_can_not_be_read_is_a_problem(model):
    model.with_name("part.wrl").write_text(HEADER + "Group { ] }")
    part, problems = load(model, '"part.wrl"')
    assert part is None
    assert problems == ["VRML102", "FMT021"]


def test_files_that_are_no_vrml_can_be_found_without_being_read(model):
    mesh = model.with_name("part.STL")
    mesh.write_bytes(b"solid x\nendsolid x\n")
    model.write_text(inline('"part.STL"'))
    loader = InlineLoader(model.parent)
    node = read_vrml(model).nodes[0]
    assert loader.resolve(node, model) == mesh
    assert not loader.problems
    assert loader.load(node) is None
    assert [problem.rule for problem in loader.problems] == ["VRML102", "FMT021"]


@pytest.mark.parametrize("length", [1, 2, 5])
def test_cycles_are_caught(tmp_path, length):
    for i in range(length):
        write(tmp_path, **{f"f{i}": inline(f'"f{(i + 1) % length}.wrl"')})
    loader = InlineLoader(tmp_path)
    scene = read_vrml(tmp_path / "f0.wrl")
    for _ in range(length - 1):
        scene = loader.load(scene.nodes[0])
    assert not loader.problems
    assert loader.load(scene.nodes[0]) is None
    assert [problem.rule for problem in loader.problems] == ["VRML133"]


def test_nesting_is_bounded(tmp_path):
    for i in range(100):
        write(tmp_path, **{f"f{i}": inline(f'"f{i + 1}.wrl"')})
    loader = InlineLoader(tmp_path)
    scene = read_vrml(tmp_path / "f0.wrl")
    depth = 0
    while scene is not None:
        scene, depth = loader.load(scene.nodes[0]), depth + 1
    assert 30 < depth < 80
    assert [problem.rule for problem in loader.problems] == ["VRML134"]


def test_what_all_parts_unfold_to_is_bounded(tmp_path):
    for i in range(20):
        write(tmp_path, **{f"f{i}": HEADER + f'Inline {{ url "f{i + 1}.wrl" }} ' * 10})
    write(tmp_path, f20=HEADER + "Box { } " * 10000)
    loader = InlineLoader(tmp_path)
    todo = list(read_vrml(tmp_path / "f0.wrl").nodes)
    walked = 0
    while todo and not loader.problems:
        scene = loader.load(todo.pop())
        walked += 1
        todo += [node for node in scene.nodes if node.type == "Inline"] if scene else []
    assert [problem.rule for problem in loader.problems] == ["VRML134"]
    assert walked < 10000


def test_an_inline_without_url_or_with_a_url_that_is_none(model):
    model.write_text(
        HEADER + "Inline { } PROTO P [ field SFVec3f url 0 0 0 ] { Group { } } P { }"
    )
    loader = InlineLoader(model.parent)
    assert [loader.load(node) for node in read_vrml(model).nodes] == [None, None]
    assert [problem.rule for problem in loader.problems] == ["FMT020", "FMT020"]


# ---- EXTERNPROTO


def test_an_externproto_is_found_in_its_file(tmp_path):
    write(
        tmp_path,
        main=HEADER
        + 'EXTERNPROTO Ball [ field SFFloat r ] [ "missing.wrl" "lib/protos.wrl#Ball" ]\n'
        + 'EXTERNPROTO Other [ field SFFloat r ] "lib/protos.wrl" Ball { r 3 } Ball { } Other { }',
        lib__protos=HEADER
        + "PROTO First [ ] { Cone { } } PROTO Ball [ field SFFloat r 7 ] { Shape { geometry Sphere { radius IS r } } }",
    )
    loader = InlineLoader(tmp_path)
    given, plain, other = read_vrml(tmp_path / "main.wrl").nodes
    assert instance_of(given, loader).fields["geometry"].fields["radius"] == 3
    assert instance_of(plain, loader).fields["geometry"].fields["radius"] == 7
    assert instance_of(other, loader).type == "Cone", (
        "without a name, the first of the file"
    )
    assert instance_of(given) is None
    assert not loader.problems


def test_an_externproto_may_lead_to_another(tmp_path):
    write(
        tmp_path,
        main=HEADER + 'EXTERNPROTO A [ ] "a/one.wrl#A" A { }',
        a__one=HEADER + 'EXTERNPROTO A [ ] "two.wrl#B"',
        a__two=HEADER + "PROTO B [ ] { Box { } }",
    )
    loader = InlineLoader(tmp_path)
    assert instance_of(read_vrml(tmp_path / "main.wrl").nodes[0], loader).type == "Box"
    assert not loader.problems


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ('"urn:web3d:x"', "VRML132"),
        ('"http://example.org/x.wrl#A"', "VRML132"),
        ('"../x.wrl#A"', "FMT020"),
        ('"main.wrl#A"', "VRML133"),
        ('"one.wrl#A"', "VRML133"),
        ('"lib.wrl#A"', "VRML136"),
    ],
)
def test_an_externproto_that_leads_nowhere(tmp_path, url, rule):
    write(
        tmp_path,
        main=HEADER + f"EXTERNPROTO A [ ] {url} A {{ }}",
        one=HEADER + 'EXTERNPROTO A [ ] "main.wrl#A"',
        lib=HEADER + "PROTO B [ ] { Box { } }",
    )
    loader = InlineLoader(tmp_path)
    assert expand(read_vrml(tmp_path / "main.wrl").nodes[0], loader) == []
    assert rule in [problem.rule for problem in loader.problems]


# ---- models that are installed as symbolic links


@pytest.fixture
def source(tmp_path):
    """A model in a folder `src`, whose part has a part of its own in a folder beside it."""
    write(
        tmp_path,
        src__r=inline('"parts/arm.wrl"'),
        src__parts__arm=inline('"../sensors/eye.wrl"'),
        src__sensors__eye=BOX,
        elsewhere__secret=BOX,
    )
    return tmp_path / "src"


def shapes_of(path, **options):
    """Return the types of the nodes that a model's chain of parts ends with, and the rules of the problems."""
    scene = read_vrml(path)
    loader = InlineLoader(path.parent, model=path, **options)
    while scene is not None and scene.nodes[0].type == "Inline":
        scene = loader.load(scene.nodes[0])
    return scene and scene.nodes[0].type, [problem.rule for problem in loader.problems]


def test_a_model_whose_files_are_all_links(source, tmp_path):
    for name in ("r.wrl", "parts/arm.wrl", "sensors/eye.wrl"):
        link = tmp_path / "inst" / "share" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source / name)
    assert shapes_of(tmp_path / "inst" / "share" / "r.wrl") == ("Shape", [])


def test_a_model_whose_files_are_links_to_files_in_other_folders(source, tmp_path):
    """The urls hold where the links are, not where the files are."""
    write(tmp_path, src__deep__down__arm=inline('"../sensors/eye.wrl"'))
    for name, target in (
        ("r.wrl", "r.wrl"),
        ("parts/arm.wrl", "deep/down/arm.wrl"),
        ("sensors/eye.wrl", "sensors/eye.wrl"),
    ):
        link = tmp_path / "inst" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source / target)
    assert shapes_of(tmp_path / "inst" / "r.wrl") == ("Shape", [])


def test_a_model_of_which_only_the_first_file_is_a_link(source, tmp_path):
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk" / "mine.wrl").symlink_to(source / "r.wrl")
    assert shapes_of(tmp_path / "desk" / "mine.wrl") == ("Shape", [])


def test_a_model_whose_folders_are_links(source, tmp_path):
    (tmp_path / "inst").mkdir()
    (tmp_path / "inst" / "r.wrl").symlink_to(source / "r.wrl")
    (tmp_path / "inst" / "parts").symlink_to(source / "parts")
    (tmp_path / "whole").symlink_to(source)
    assert shapes_of(tmp_path / "inst" / "r.wrl") == ("Shape", [])
    assert shapes_of(tmp_path / "whole" / "r.wrl") == ("Shape", [])


@pytest.mark.parametrize("target", ["secret.wrl", "/etc/passwd"])
def test_a_link_that_leads_elsewhere_is_not_opened(source, tmp_path, target):
    part = source / "parts" / "arm.wrl"
    part.unlink()
    part.symlink_to(tmp_path / "elsewhere" / target)
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk" / "r.wrl").symlink_to(source / "r.wrl")
    assert shapes_of(tmp_path / "desk" / "r.wrl", allow_outside=False) == (
        None,
        ["VRML131"],
    )
    assert shapes_of(source / "r.wrl") == (None, ["VRML131"])


def test_a_link_to_the_model_lets_it_go_up_no_further(source, tmp_path):
    (source / "r.wrl").write_text(inline('"../elsewhere/secret.wrl"'))
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk" / "r.wrl").symlink_to(source / "r.wrl")
    assert shapes_of(tmp_path / "desk" / "r.wrl", allow_outside=False) == (
        None,
        ["VRML131"],
    )


def test_a_cycle_through_links_is_caught(source, tmp_path):
    (source / "parts" / "arm.wrl").write_text(inline('"../alias.wrl"'))
    (source / "alias.wrl").symlink_to(source / "r.wrl")
    assert shapes_of(source / "alias.wrl") == (None, ["VRML133"])


@pytest.mark.parametrize("kind", ["wrl", "urdf", "body"])
def test_missing_files_are_one_finding_with_their_count(tmp_path, kind):
    names = [f"part{k}.stl" for k in range(9)]
    texts = {
        "wrl": HEADER
        + "\n".join(inline(f'"{name}"').removeprefix(HEADER) for name in names),
        "urdf": "<robot name='r'><link name='a'>"
        + "".join(
            f"<visual><geometry><mesh filename='{name}'/></geometry></visual>\n"
            for name in names
        )
        + "</link></robot>",
        "body": "format: ChoreonoidBody\nformat_version: 2.0\nlinks:\n  - name: A\n    elements:\n"
        + "".join(f"      - {{ type: Resource, uri: {name} }}\n" for name in names),
    }
    (tmp_path / f"robot.{kind}").write_text(texts[kind])
    body = bm.load_body(tmp_path / f"robot.{kind}")
    (problem,) = (problem for problem in body.problems if "missing" in problem.data)
    assert problem.count == 9 and problem.data["missing"] == tuple(names)
    assert [p.rule for p in bm.check(tmp_path / f"robot.{kind}").problems].count(
        problem.rule
    ) == 1
