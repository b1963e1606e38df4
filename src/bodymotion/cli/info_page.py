"""The data of `bodymotion info` as a page to read.

Degrees are shown beside radians here, and nowhere in the data.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bodymotion.cli.output import Data
from bodymotion.cli.page import Page
from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.text import counted, grouped, severities
from bodymotion.extensions import kinds

MAX_PROBLEMS = 10  # Rules that are listed with their problems.
MAX_VALUE = (
    80  # Characters of values of unknown fields that are printed; --json has all.
)
ANGLES = {"field_of_view", "scan_angle", "scan_step"}
KEPT_ONLY = {"rotor_resistor": 0.0, "encoder_pulse": 1.0}
"""Members of joints without an effect on computations, and their defaults."""
COMMON_MEMBERS = {"kind", "name", "id", "link", "link_name", "pose", "extra"}


def page_of(data: Data, problems: Sequence[Problem]) -> Page:
    """Return the contents of a file and its problems as a page."""
    from bodymotion.formats.registry import FORMATS

    page = Page()
    titles = {row.name: row.title for row in FORMATS}
    titles["lerobot"] = "episode of a data set of LeRobot"
    title = titles.get(data["format"], data["format"])
    page.heading(f"{data.get('name') or data['file']}: {title}")
    page.fact(
        "file",
        data["file"]
        + (f" ({_bytes(data['size'])})" if data["size"] is not None else ""),
    )
    if problems:
        _words(
            page,
            "missing",
            *(problem.message for problem in problems if "missing" in problem.data),
        )
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
    repeated = data["info"].get("version") == data["version"]
    _words(page, "format", "" if repeated else data["version"], data["encoding"])
    types = Counter(joint["type"] for joint in data["joints"] if joint["link"] >= 0)
    placeholders = sum(joint["link"] < 0 for joint in data["joints"])
    if placeholders:
        types["placeholder"] = placeholders
    page.fact("links", data["num_links"])
    page.fact("joints", _count(data["num_joints"], types))
    page.fact(
        "devices",
        _count(data["num_devices"], Counter(d["kind"] for d in data["devices"])),
    )
    page.fact(
        "extra joints",
        _count(
            data["num_extra_joints"], Counter(e["type"] for e in data["extra_joints"])
        ),
    )
    page.fact("mass", f"{number_text(data['mass'])} kg")
    if data["center_of_mass"] is not None:
        page.fact(
            "centre of mass", f"{_vector(data['center_of_mass'])} m (all joints at 0)"
        )
    box = data["bounding_box"]
    if box is not None:
        size = [
            high - low for low, high in zip(box["lower"], box["upper"], strict=True)
        ]
        page.fact(
            "size",
            f"{' × '.join(number_text(s, 4) for s in size)} m (x, y, z; all joints at 0)",
        )
        page.fact(
            "bounding box", f"{_vector(box['lower'])} … {_vector(box['upper'])} m"
        )
    page.fact(
        "shapes", f"{data['num_triangles']} triangles, {data['num_vertices']} vertices"
    )
    for name, text in data["info"].items():
        if not text or (name == "name" and text == data["name"]):
            continue
        page.fact(name, "\n".join(map(str, text)) if isinstance(text, list) else text)
    show_extra(page, data["extra"])
    if data["format"] in ("openhrp", "body"):
        joints = [link["joint"] for link in data["links"]]
    else:
        joints = []
    kept = [
        name
        for name, default in KEPT_ONLY.items()
        if any(joint[name] != default for joint in joints)
    ]
    kept += [
        name
        for name in ("limitOrientation", "stiffness")
        if any(name in joint["extra"] for joint in joints)
    ]
    if kept:
        page.fact(
            "kept only", f"{', '.join(kept)} of joints: nothing is computed with them"
        )
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
        rows = [
            (v["description"], _vector(v["pose"][:3]), degrees_text(v["field_of_view"]))
            for v in data["viewpoints"]
        ]
        page.table("viewpoint | position [m] | >field of view [deg]", rows)


def _links(page: Page, links: Sequence[Data]) -> None:
    depth: dict[int, int] = {-1: -1}
    rows = []
    for link in links:
        depth[link["index"]] = depth[link["parent"]] + 1
        joint = link["joint"]
        moving = [""] * 4
        if joint["type"] in ("rotate", "slide", "crawler"):
            ends, speeds = (
                [joint[f"{kind}{end}"] for end in ("lower", "upper")]
                for kind in ("", "velocity_")
            )
            if joint["type"] == "rotate":
                degrees = _limits(ends[0], ends[1], 180 / math.pi)
            else:
                degrees = ""
            moving = [_axis(joint["axis"]), degrees, _limits(*ends), _limits(*speeds)]
        name = "  " * depth[link["index"]] + link["name"]
        if joint["id"] >= 0:
            number = joint["id"]
        else:
            number = "-"
        rows.append(
            (
                link["index"],
                name,
                joint["type"],
                number,
                *moving,
                number_text(link["mass"]),
                link["num_triangles"] or "",
            )
        )
    moving_columns = "axis | >limits [deg] | >[rad or m] | >speed [rad/s, m/s]"
    page.table(
        f">link | name | joint | >id | {moving_columns} | >mass [kg] | >triangles", rows
    )


def _devices(page: Page, devices: Sequence[Data]) -> None:
    rows = []
    for device in devices:
        own = {key: value for key, value in device.items() if key not in COMMON_MEMBERS}
        if own.get("type") == device["kind"]:
            del own["type"]
        parameters = [
            f"{key} {degrees_text(value)}°"
            if key in ANGLES
            else f"{key} {value_text(value)}"
            for key, value in own.items()
        ]
        parameters += [
            f"{key} {value_text(value)}" for key, value in device["extra"].items()
        ]
        if device["id"] >= 0:
            number = device["id"]
        else:
            number = "-"
        link = device["link_name"] or device["link"]
        at = _vector(device["pose"][:3])
        rows.append(
            (device["kind"], device["name"], number, link, at, ", ".join(parameters))
        )
    page.table("device | name | >id | link | position in link [m] | parameters", rows)


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
    page.fact("for the body", data["target_body"])
    page.fact("duration", f"{number_text(data['duration'])} s")
    page.fact("links with keys", ", ".join(data["links"]))
    page.heading("Poses")
    rows = []
    for pose in data["poses"]:
        if pose["max_transition_time"]:
            transition = number_text(pose["max_transition_time"])
        else:
            transition = ""
        links = ", ".join(
            name + (" (touching)" if name in pose["touching"] else "")
            for name in pose["links"]
        )
        if pose["syllable"]:
            zmp = repr(pose["syllable"])
        elif pose["zmp"]:
            zmp = _vector(pose["zmp"])
        else:
            zmp = ""
        rows.append(
            (number_text(pose["time"]), transition, pose["num_joints"], links, zmp)
        )
    page.table(">time [s] | >transition [s] | >joints | links | ZMP [m]", rows)


def _skeleton(page: Page, data: Data) -> None:
    page.fact("duration", f"{number_text(data['duration'])} s")
    page.fact("frames", f"{data['num_frames']} at {number_text(data['frame_rate'])} Hz")
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
        if joint["parent"] >= 0:
            parent = data["joints"][joint["parent"]]["name"]
        else:
            parent = ""
        channels = " ".join(joint["channels"])
        rows.append(
            (
                joint["name"],
                parent,
                _vector(joint["offset"]),
                channels,
                len(joint["ends"]) or "",
            )
        )
    page.table("joint | parent | offset | channels | >end points", rows)


def _motion(page: Page, data: Data) -> None:
    if data["version"]:
        version = f"version {data['version']}"
    else:
        version = ""
    style = data["options"].get("style")
    _words(page, "format", version, f"{style} style" if style else "", data["encoding"])
    if data["duration"] is not None:
        if data["frame_rate"] is not None:
            rate = f" at {number_text(data['frame_rate'])} Hz"
        else:
            rate = " with time stamps"
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
    orders = data["options"].get("se3_formats")
    known = isinstance(orders, list) and len(orders) == len(data["components"])
    rows = [
        _component_row(c, orders[i] if known else None)
        for i, c in enumerate(data["components"])
    ]
    columns = "content | type | >parts | >frames | >rate [Hz] | >from [s] | >to [s] | minimum | maximum | remarks"
    page.table(columns, rows)
    for component in data["components"]:
        if component.get("parts"):
            page.heading(f"Values of {component['content']}")
            _parts(page, component)


def _component_row(component: Data, order: str | None) -> tuple[str, ...]:
    if "num_frames" not in component:
        remark = f"unknown type, kept unchanged: {', '.join(component['extra'])}"
        return (
            component["content"] or "-",
            component["type"] or "-",
            *[""] * 7,
            remark,
        )
    extent = component.get("range") or {"lower": None, "upper": None, "non_finite": 0}
    if order:
        remarks = [order]
    else:
        remarks = []
    if "is_root_relative" in component:
        remarks.append(
            "in the root link's frame"
            if component["is_root_relative"]
            else "in the world frame"
        )
    if component["import_rate"]:
        remarks.append(f"import at {number_text(component['import_rate'])} Hz")
    if extent["non_finite"]:
        remarks.append(f"{extent['non_finite']} values not finite")
    if component["part_labels"]:
        remarks.append(f"{len(component['part_labels'])} labels")
    remarks += [
        f"{key}: {value_text(value)}" for key, value in component["extra"].items()
    ]
    return (
        component["content"],
        component["type"],
        str(component["num_parts"]),
        str(component["num_frames"]),
        "stamps"
        if component["has_frame_time"]
        else number_text(component["frame_rate"]),
        number_text(component["first_time"]),
        number_text(component["last_time"]),
        value_text(extent["lower"]),
        value_text(extent["upper"]),
        "; ".join(remarks),
    )


def _parts(page: Page, component: Data) -> None:
    angles = (component["type"], component["content"]) == (
        "MultiValueSeq",
        "JointDisplacement",
    )
    rows = []
    for part in component["parts"]:
        ends = part["lower"], part["upper"]
        rows.append(
            (
                part["part"],
                part["label"],
                *map(value_text, ends),
                *(map(degrees_text, ends) if angles else ("", "")),
            )
        )
    page.table(">part | label | >minimum | >maximum | >in degrees | >to", rows)


def _problems(page: Page, problems: Sequence[Problem]) -> None:
    if not problems:
        return
    groups = grouped(problems)
    page.heading(f"Problems: {severities(groups)}")
    for group in groups[:MAX_PROBLEMS]:
        first = group.problems[0]
        location = str(first.location)
        text = f"{location}{': ' if location else ''}{group.severity} {group.title} {first.message}"
        page.line(text, {"error": "red", "warning": "yellow"}.get(group.severity, ""))
    if len(groups) > MAX_PROBLEMS:
        page.line(
            f"and {counted(len(groups) - MAX_PROBLEMS, 'more rule')}; bodymotion "
            "check lists all"
        )


def _words(page: Page, name: str, *words: str) -> None:
    if any(words):
        page.fact(name, ", ".join(word for word in words if word))


def show_extra(page: Page, extra: Mapping[str, Any]) -> None:
    """Add unknown fields of a file to a page."""
    values = {name: value_text(value) for name, value in extra.items()}
    for name, value in values.items():
        if len(value) <= MAX_VALUE:
            page.fact(name, value)
    _words(
        page,
        "further fields",
        *(name for name, value in values.items() if len(value) > MAX_VALUE),
    )


def _count(total: int, kinds: Mapping[str, int]) -> str:
    parts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    if parts:
        return f"{total} ({parts})"
    return str(total)


def _bytes(size: int) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            if size < 100 * factor:
                return f"{size / factor:.3g} {unit}"
            return f"{size / factor:.0f} {unit}"
    return f"{size} bytes"


def number_text(value: float | None, digits: int = 6) -> str:
    """Return a number with few digits; `-` for None."""
    if value is None:
        return "-"
    return f"{value + 0.0:.{digits}g}"


def _vector(values: Iterable[float | None], digits: int = 4) -> str:
    return (
        "("
        + ", ".join(
            number_text(None if v is None else round(v, 9), digits) for v in values
        )
        + ")"
    )


def _axis(axis: Sequence[float]) -> str:
    """Return "x", "-y", …, or the vector where it is parallel to none of the axes."""
    for name, along in zip("xyz", axis, strict=True):
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
    if lower is None and upper is None:
        return "none"
    if lower is not None and upper is not None and lower == -upper:
        return f"±{number_text(upper * factor, 4)}"
    if lower is None:
        low = ""
    else:
        low = number_text(lower * factor, 4)
    if upper is None:
        high = ""
    else:
        high = number_text(upper * factor, 4)
    return f"{low}…{high}"


def value_text(value: Any) -> str:  # noqa: ANN401
    """Return any value of JSON as a short text."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, list):
        return "(" + ", ".join(value_text(item) for item in value) + ")"
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{key}: {value_text(item)}" for key, item in value.items())
            + "}"
        )
    return str(value)
