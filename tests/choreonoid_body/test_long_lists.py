"""Long lists of numbers, which do not go through the YAML parser, are read as short ones are."""

from __future__ import annotations

import numpy as np
import pytest
from body_files import HEAD, parsed

from bodymotion.diagnostics import Diagnostics, FormatError
from bodymotion.formats.yaml.fields import open_text
from bodymotion.formats.yaml.tree import LONG_LIST, Sequence

COUNT = 600
POINTS = np.arange(3 * COUNT).reshape(-1, 3) * 0.125
FACES = np.arange(COUNT).reshape(-1, 3)


def listed(values, separator: str) -> str:
    return separator.join(str(value) for value in np.ravel(values).tolist())


def mesh_file(points: str, faces: str) -> str:
    return f"""{HEAD}links:
  -
    name: 腰
    elements:
      Shape:
        geometry:
          type: Mesh
          vertices: {points}
          faces: {faces}
"""


@pytest.mark.parametrize(
    "separator", [", ", ",", " ,\n              ", ",\r\n              "]
)
@pytest.mark.parametrize("end", ["", ", ", "\n          "])
def test_separators(separator, end):
    body = parsed(
        mesh_file(
            f"[ {listed(POINTS, separator)}{end}]",
            f"&faces [{listed(FACES, separator)}{end}]",
        )
    )
    mesh = body.links[0].visuals[0].geometry
    assert np.array_equal(mesh.vertices, POINTS) and np.array_equal(mesh.faces, FACES)


def test_comments_in_a_list_are_read_as_well():
    points = listed(POINTS, ",\n            ").replace(",\n", ", # a corner\n", 1)
    body = parsed(mesh_file(f"[ {points} ]", f"[ {listed(FACES, ', ')} ]"))
    assert np.array_equal(body.links[0].visuals[0].geometry.vertices, POINTS)


def test_aliases_of_a_list():
    text = (
        f"{HEAD}POINTS: &points [ {listed(POINTS, ', ')} ]\nlinks: [ {{ name: A, elements: {{ Shape: {{ geometry: "
        + (
            f"{{ type: Mesh, vertices: *points, faces: [ {listed(FACES, ', ')} ] }} }} }} }} ]\n"
        )
    )
    body = parsed(text)
    assert np.array_equal(body.links[0].visuals[0].geometry.vertices, POINTS)
    assert body.extra["POINTS"] == POINTS.ravel().tolist()


def test_a_wrong_number_is_refused_with_its_place():
    points = listed(POINTS, ",\n            ").replace("100.0,", "e100,")
    with pytest.raises(FormatError, match="vertices of a Mesh is 'e100'") as caught:
        parsed(mesh_file(f"[ {points} ]", "[]"))
    # Eleven lines above the first number, which stands behind the bracket.
    assert (
        caught.value.problem.location.line,
        caught.value.problem.location.column,
    ) == (11 + 800, 13)


@pytest.mark.parametrize("wrong", ["1 2", "1,, 2", "- 1", "[ 1 ]"])
def test_what_is_no_list_of_numbers_stays_what_yaml_makes_of_it(wrong):
    with pytest.raises(FormatError):
        parsed(mesh_file(f"[ {wrong}, {listed(POINTS, ', ')} ]", "[]"))


def test_in_a_text_it_is_a_text():
    numbers = f"[ {listed(POINTS, ', ')} ]"
    assert len(numbers) > LONG_LIST
    document = open_text(
        f"a: '{numbers}'\nb: {numbers}\n# {numbers}\n".encode(), None, Diagnostics()
    )
    assert document.root.items["a"].value == numbers
    assert (
        isinstance(document.root.items["b"], Sequence)
        and len(document.root.items["b"].items) == POINTS.size
    )


def test_places_behind_a_list():
    points = listed(POINTS, ",\n  ")
    text = mesh_file(f"[ {points} ]", "abc")
    with pytest.raises(FormatError, match="faces") as caught:
        parsed(text)
    lines = text.splitlines()
    location = caught.value.problem.location
    assert lines[location.line - 1] == "          faces: abc" and location.column == 18
