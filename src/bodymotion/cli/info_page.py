"""The data of `bodymotion info` as a page to read.

Degrees are shown beside radians here, and nowhere in the data.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bodymotion.cli.output import Data
from bodymotion.cli.page import Page
from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.text import counted, grouped, severities
from bodymotion.extensions import kinds

MAX_PROBLEMS = 10
"""Rules that are listed with their problems."""
MAX_VALUE = 80
"""Characters of values of unknown fields that are printed; --json has all."""
ANGLES = {"field_of_view", "scan_angle", "scan_step"}
KEPT_ONLY = {"rotor_resistor": 0.0, "encoder_pulse": 1.0}
"""Members of joints without an effect on computations, and their defaults."""
COMMON_MEMBERS = {"kind", "name", "id", "link", "link_name", "pose", "extra"}


def page_of(data: Data, problems: Sequence[Problem]) -> Page:
    """Return the contents of a file and its problems as a page."""
    from bodymotion.formats.registry import FORMATS

    page = Page()
    titles = {row.name: row.title for row in FORMATS}
    # An episode has no file, so its format is not in the table.
    titles["lerobot"] = "episode of a data set of LeRobot"
    title = titles.get(data["format"], data["format"])
    page.heading(f"{data.get('name') or data['file']}: {title}")
    size = "" if data["size"] is None else f" ({_bytes(data['size'])})"
    page.fact("file", f"{data['file']}{size}")
    if problems:
        missing = [problem.message for problem in problems if "missing" in problem.data]
        _words(page, "missing", *missing)
        page.fact("problems", f"{severities(grouped(problems))}, listed at the end")
    contents: dict[str, Callable[[Page, Data], None]] = {
        "body": _body,
        "key poses": _key_poses,
        "skeleton": _skeleton,
        "motion": _motion,
    }
    for kind in kinds():
        contents[kind.noun] = kind.function("page") or _script
    contents[data["kind"]](page, data)
    _problems(page, problems)
    return page


def _script(page: Page, data: Data) -> None:
    page.fact("title", data["title"])


def _body(page: Page, data: Data) -> None:
    """Add the facts and tables of a body."""
    # The `info` of a model may have the version, and is printed below.
    repeated = data["info"].get("version") == data["version"]
    _words(page, "format", "" if repeated else data["version"], data["encoding"])
    types = Counter(joint["type"] for joint in data["joints"] if joint["link"] >= 0)
    num_placeholders = sum(joint["link"] < 0 for joint in data["joints"])
    if num_placeholders:
        types["placeholder"] = num_placeholders
    devices = Counter(device["kind"] for device in data["devices"])
    extra_joints = Counter(joint["type"] for joint in data["extra_joints"])
    page.fact("links", data["num_links"])
    page.fact("joints", _count(data["num_joints"], types))
    page.fact("devices", _count(data["num_devices"], devices))
    page.fact("extra joints", _count(data["num_extra_joints"], extra_joints))
    page.fact("mass", f"{number_text(data['mass'])} kg")
    if data["center_of_mass"] is not None:
        center = _vector(data["center_of_mass"])
        page.fact("centre of mass", f"{center} m (all joints at 0)")
    if data["bounding_box"] is not None:
        _bounding_box(page, **data["bounding_box"])
    page.fact(
        "shapes", f"{data['num_triangles']} triangles, {data['num_vertices']} vertices"
    )
    for name, text in data["info"].items():
        if not text or (name == "name" and text == data["name"]):
            continue
        if isinstance(text, list):
            text = "\n".join(map(str, text))
        page.fact(name, text)
    show_extra(page, data["extra"])
    # Only these formats have the members.
    if data["format"] in ("openhrp", "body"):
        _unused_members(page, [link["joint"] for link in data["links"]])
    page.heading("Links")
    _links(page, data["links"])
    if data["devices"]:
        page.heading("Devices")
        _devices(page, data["devices"])
    if data["extra_joints"]:
        page.heading("Extra joints")
        _extra_joints(page, data)
    if data["viewpoints"]:
        page.heading("Viewpoints")
        _viewpoints(page, data["viewpoints"])


def _bounding_box(page: Page, lower: Sequence[float], upper: Sequence[float]) -> None:
    size = [number_text(high - low, 4) for low, high in zip(lower, upper, strict=True)]
    page.fact("size", f"{' × '.join(size)} m (x, y, z; all joints at 0)")
    page.fact("bounding box", f"{_vector(lower)} … {_vector(upper)} m")


def _unused_members(page: Page, joints: Sequence[Data]) -> None:
    """Name members of joints that are kept, but used in no computation."""
    unused = []
    for name, default in KEPT_ONLY.items():
        if any(joint[name] != default for joint in joints):
            unused.append(name)
    # Fields of OpenHRP that the body has no member for.
    for name in ("limitOrientation", "stiffness"):
        if any(name in joint["extra"] for joint in joints):
            unused.append(name)
    if unused:
        names = ", ".join(unused)
        page.fact("kept only", f"{names} of joints: nothing is computed with them")


def _viewpoints(page: Page, viewpoints: Sequence[Data]) -> None:
    rows = []
    for viewpoint in viewpoints:
        position = _vector(viewpoint["pose"][:3])
        angle = degrees_text(viewpoint["field_of_view"])
        rows.append((viewpoint["description"], position, angle))
    page.table("viewpoint | position [m] | >field of view [deg]", rows)


def _links(page: Page, links: Sequence[Data]) -> None:
    """Add the table of links, indented by their depth."""
    # Parents come before their children, so that each depth is known.
    depths: dict[int, int] = {-1: -1}
    rows = []
    for link in links:
        depth = depths[link["parent"]] + 1
        depths[link["index"]] = depth
        joint = link["joint"]
        rows.append(
            (
                link["index"],
                "  " * depth + link["name"],
                joint["type"],
                _id(joint),
                *_axis_and_limits(joint),
                number_text(link["mass"]),
                link["num_triangles"] or "",
            )
        )
    moving_columns = "axis | >limits [deg] | >[rad or m] | >speed [rad/s, m/s]"
    page.table(
        f">link | name | joint | >id | {moving_columns} | >mass [kg] | >triangles", rows
    )


def _id(joint_or_device: Data) -> int | str:
    """Return the id, `-` for none."""
    number: int = joint_or_device["id"]
    if number < 0:
        return "-"
    return number


def _axis_and_limits(joint: Data) -> Sequence[str]:
    """Return the axis of a joint, and its limits in degrees and SI units."""
    if joint["type"] not in ("rotate", "slide", "crawler"):
        return [""] * 4
    # Lengths and belts have no degrees.
    degrees = ""
    if joint["type"] == "rotate":
        degrees = _limits(joint["lower"], joint["upper"], 180 / math.pi)
    return (
        _axis(joint["axis"]),
        degrees,
        _limits(joint["lower"], joint["upper"]),
        _limits(joint["velocity_lower"], joint["velocity_upper"]),
    )


def _devices(page: Page, devices: Sequence[Data]) -> None:
    """Add the table of devices."""
    rows = []
    for device in devices:
        rows.append(
            (
                device["kind"],
                device["name"],
                _id(device),
                device["link_name"] or device["link"],
                _vector(device["pose"][:3]),
                ", ".join(_parameters(device)),
            )
        )
    page.table("device | name | >id | link | position in link [m] | parameters", rows)


def _parameters(device: Data) -> Iterator[str]:
    """Yield what a device has beside the common members."""
    for name, value in device.items():
        if name in COMMON_MEMBERS or (name == "type" and value == device["kind"]):
            continue
        if name in ANGLES:
            yield f"{name} {degrees_text(value)}°"
        else:
            yield f"{name} {value_text(value)}"
    for name, value in device["extra"].items():
        yield f"{name} {value_text(value)}"


def _extra_joints(page: Page, data: Data) -> None:
    names = {link["index"]: link["name"] for link in data["links"]}
    rows = []
    for joint in data["extra_joints"]:
        pairs = zip(joint["links"], joint["positions"], strict=True)
        ends = [
            f"{names.get(link, link)} at {_vector(position)}"
            for link, position in pairs
        ]
        rows.append((joint["name"] or "-", joint["type"], *ends, _axis(joint["axis"])))
    page.table("name | type | first link [m] | second link [m] | axis", rows)


def _key_poses(page: Page, data: Data) -> None:
    """Add the facts and the table of key poses."""
    page.fact("for the body", data["target_body"])
    page.fact("duration", f"{number_text(data['duration'])} s")
    page.fact("links with keys", ", ".join(data["links"]))
    page.heading("Poses")
    rows = []
    for pose in data["poses"]:
        transition = ""
        if pose["max_transition_time"]:
            transition = number_text(pose["max_transition_time"])
        links = [
            f"{name} (touching)" if name in pose["touching"] else name
            for name in pose["links"]
        ]
        zmp = ""
        # A pose of the mouth has a syllable and nothing else.
        if pose["syllable"]:
            zmp = repr(pose["syllable"])
        elif pose["zmp"]:
            zmp = _vector(pose["zmp"])
        time = number_text(pose["time"])
        rows.append((time, transition, pose["num_joints"], ", ".join(links), zmp))
    page.table(">time [s] | >transition [s] | >joints | links | ZMP [m]", rows)


def _skeleton(page: Page, data: Data) -> None:
    """Add the facts and the joints of a skeleton."""
    page.fact("duration", f"{number_text(data['duration'])} s")
    page.fact("frames", f"{data['num_frames']} at {number_text(data['frame_rate'])} Hz")
    # A .bvh states neither: what could not be found from its poses either is assumed.
    for name, text in (("unit", f"{number_text(data['unit'])} m"), ("up", data["up"])):
        page.fact(name, text if data[f"{name}_is_known"] else f"{text} (assumed)")
    if data["root"] is not None:
        page.fact(
            "root",
            f"{_vector(data['root']['start'])} → {_vector(data['root']['end'])} m",
        )
    page.heading("Joints")
    rows = []
    for joint in data["joints"]:
        parent = ""
        if joint["parent"] >= 0:
            parent = data["joints"][joint["parent"]]["name"]
        channels = " ".join(joint["channels"])
        num_ends = len(joint["ends"]) or ""
        rows.append(
            (joint["name"], parent, _vector(joint["offset"]), channels, num_ends)
        )
    page.table("joint | parent | offset | channels | >end points", rows)


def _motion(page: Page, data: Data) -> None:
    """Add the facts and components of a motion."""
    version = data["version"] and f"version {data['version']}"
    style = data["options"].get("style")
    _words(page, "format", version, f"{style} style" if style else "", data["encoding"])
    if data["duration"] is not None:
        rate = " with time stamps"
        if data["frame_rate"] is not None:
            rate = f" at {number_text(data['frame_rate'])} Hz"
        page.fact("duration", f"{number_text(data['duration'])} s")
        page.fact("frames", f"{data['num_frames']}{rate}")
    moved = data["root_displacement"]
    if moved is not None:
        page.fact(
            "root",
            f"{_vector(moved['start'])} → {_vector(moved['end'])} m, "
            f"{number_text(moved['distance'], 4)} m apart",
        )
    show_extra(page, data["extra"])
    page.heading("Components")
    components = data["components"]
    # Orders are by component: a list of another length does not fit.
    orders = data["options"].get("se3_formats")
    if not isinstance(orders, list) or len(orders) != len(components):
        orders = [None] * len(components)
    rows = list(map(_component_row, components, orders))
    page.table(
        "content | type | >parts | >frames | >rate [Hz] | >from [s] | >to [s] | "
        "minimum | maximum | remarks",
        rows,
    )
    for component in components:
        if component.get("parts"):
            page.heading(f"Values of {component['content']}")
            _parts(page, component)


def _component_row(component: Data, order: str | None) -> tuple[str, ...]:
    """Return the row of a component; `order` is that of the numbers of its poses."""
    if "num_frames" not in component:
        content = component["content"] or "-"
        kind = component["type"] or "-"
        remark = f"unknown type, kept unchanged: {', '.join(component['extra'])}"
        return (content, kind, *[""] * 7, remark)
    rate = "stamps"
    if not component["has_frame_time"]:
        rate = number_text(component["frame_rate"])
    # Without rows there is no range.
    extent = component.get("range") or {"lower": None, "upper": None, "non_finite": 0}
    remarks = [order] if order else []
    if "is_root_relative" in component:
        frame = "root link's" if component["is_root_relative"] else "world"
        remarks.append(f"in the {frame} frame")
    if component["import_rate"]:
        remarks.append(f"import at {number_text(component['import_rate'])} Hz")
    if extent["non_finite"]:
        remarks.append(f"{extent['non_finite']} values not finite")
    if component["part_labels"]:
        remarks.append(f"{len(component['part_labels'])} labels")
    for name, value in component["extra"].items():
        remarks.append(f"{name}: {value_text(value)}")
    return (
        component["content"],
        component["type"],
        str(component["num_parts"]),
        str(component["num_frames"]),
        rate,
        number_text(component["first_time"]),
        number_text(component["last_time"]),
        value_text(extent["lower"]),
        value_text(extent["upper"]),
        "; ".join(remarks),
    )


def _parts(page: Page, component: Data) -> None:
    """Add the ranges of the joints or links of a component."""
    in_degrees = component["type"] == "MultiValueSeq" and (
        component["content"] == "JointDisplacement"
    )
    rows = []
    for part in component["parts"]:
        lower = part["lower"]
        upper = part["upper"]
        row = [part["part"], part["label"], value_text(lower), value_text(upper)]
        # Two more columns; those of other components are empty, and are left out.
        if in_degrees:
            row += [degrees_text(lower), degrees_text(upper)]
        else:
            row += ["", ""]
        rows.append(row)
    page.table(">part | label | >minimum | >maximum | >in degrees | >to", rows)


def _problems(page: Page, problems: Sequence[Problem]) -> None:
    """Add the rules that are broken, each with its first problem."""
    if not problems:
        return
    groups = grouped(problems)
    page.heading(f"Problems: {severities(groups)}")
    # The first problem of each rule: `bodymotion check` lists all.
    for group in groups[:MAX_PROBLEMS]:
        first = group.problems[0]
        location = str(first.location)
        if location:
            location += ": "
        text = f"{location}{group.severity} {group.title} {first.message}"
        page.line(text, {"error": "red", "warning": "yellow"}.get(group.severity, ""))
    if len(groups) > MAX_PROBLEMS:
        page.line(
            f"and {counted(len(groups) - MAX_PROBLEMS, 'more rule')}; bodymotion "
            "check lists all"
        )


def _words(page: Page, name: str, *words: str) -> None:
    """Add words that are not empty as a fact, if there are any."""
    text = ", ".join(filter(None, words))
    if text:
        page.fact(name, text)


def show_extra(page: Page, extra: Mapping[str, Any]) -> None:
    """Add unknown fields of a file to a page."""
    long_fields = []
    for name, value in extra.items():
        text = value_text(value)
        # Long values are only named; --json has them.
        if len(text) <= MAX_VALUE:
            page.fact(name, text)
        else:
            long_fields.append(name)
    _words(page, "further fields", *long_fields)


def _count(total: int, kinds: Mapping[str, int]) -> str:
    parts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    if parts:
        return f"{total} ({parts})"
    return str(total)


def _bytes(size: int) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            # Three digits, but never 1e+03.
            if size < 100 * factor:
                return f"{size / factor:.3g} {unit}"
            return f"{size / factor:.0f} {unit}"
    return f"{size} bytes"


def number_text(value: float | None, digits: int = 6) -> str:
    """Return a number with few digits; `-` for None."""
    if value is None:
        return "-"
    # Adding 0 makes 0 of −0.
    return f"{value + 0.0:.{digits}g}"


def _vector(values: Iterable[float | None], digits: int = 4) -> str:
    """Return numbers in parentheses; rounding errors are 0."""
    texts = [
        # 1e-17 is what a rotation leaves of 0.
        number_text(None if value is None else round(value, 9), digits)
        for value in values
    ]
    return f"({', '.join(texts)})"


def _axis(axis: Sequence[float]) -> str:
    """Return "x", "-y", …, or the vector where it is parallel to none of the axes."""
    for name, along in zip("xyz", axis, strict=True):
        # Within rounding, as after a rotation of the axes.
        if abs(abs(along) - 1) < 1e-9:
            if along > 0:
                return name
            return f"-{name}"
    return _vector(axis, 3)


def degrees_text(radians: float | None) -> str:
    """Return an angle in degrees, "-" for None."""
    if radians is None:
        return "-"
    return number_text(math.degrees(radians), 4)


def _limits(lower: float | None, upper: float | None, factor: float = 1.0) -> str:
    """Return limits times a factor; empty where there is none."""
    if lower is None and upper is None:
        return "none"
    # Most joints have symmetric limits, which are shorter this way.
    if lower is not None and upper is not None and lower == -upper:
        return f"±{number_text(upper * factor, 4)}"
    # An open end is left out: "…1.5".
    texts = [
        "" if end is None else number_text(end * factor, 4) for end in (lower, upper)
    ]
    return "…".join(texts)


def value_text(value: Any) -> str:  # noqa: ANN401
    """Return any value of JSON as a short text."""
    if value is None:
        return "-"
    # Before numbers: True is 1 to Python.
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, list):
        return f"({', '.join(map(value_text, value))})"
    if isinstance(value, Mapping):
        items = [f"{key}: {value_text(item)}" for key, item in value.items()]
        return f"{{{', '.join(items)}}}"
    return str(value)
