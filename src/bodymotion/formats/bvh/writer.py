"""Write a skeleton with its motion as a .bvh file."""

from collections.abc import Iterable
from pathlib import Path

from bodymotion.diagnostics import Location, Problem
from bodymotion.formats.bvh import rules
from bodymotion.formats.tables.number_table import write_rows
from bodymotion.skeleton import Skeleton
from bodymotion.skeleton.values import depth_first
from bodymotion.system.files import whole_file


def write_bvh(skeleton: Skeleton, path: str | Path) -> tuple[Problem, ...]:
    """Write a file, whole or not at all, and return what it does not hold. Numbers have as many digits as they need.

    Raises
    ------
    ValueError
        When there are no joints or no channels, or where the lengths of bones are unknown.
    """
    path = Path(path)
    skeleton.check_lengths()
    if not skeleton.num_channels:
        raise ValueError("the skeleton has no channels: there is nothing to write")
    found: list[Problem] = []
    lines = ["HIERARCHY"]
    order = depth_first(dict(enumerate(skeleton.parents)))
    open_blocks: list[int] = []
    for index in order:
        joint = skeleton.joints[index]
        while open_blocks and open_blocks[-1] != joint.parent:
            open_blocks.pop()
            lines.append(_indent(len(open_blocks)) + "}")
        indent = _indent(len(open_blocks))
        name = "_".join(joint.name.replace("{", " ").replace("}", " ").split()) or f"joint{index}"
        if name != joint.name:
            found.append(rules.RENAMED.problem(f"joint {joint.name!r} is written as {name!r}", Location(str(path))))
        lines += [f"{indent}{'ROOT' if joint.parent < 0 else 'JOINT'} {name}", indent + "{"]
        lines.append(f"{indent}\tOFFSET {_numbers(joint.offset.tolist())}")
        lines.append(f"{indent}\tCHANNELS {len(joint.channels)} {' '.join(joint.channels)}".rstrip())
        for end in joint.ends.tolist():
            lines += [f"{indent}\tEnd Site", f"{indent}\t{{", f"{indent}\t\tOFFSET {_numbers(end)}", f"{indent}\t}}"]
        open_blocks.append(index)
    lines += [_indent(depth) + "}" for depth in reversed(range(len(open_blocks)))]
    lines += ["MOTION", f"Frames: {skeleton.num_frames}", f"Frame Time: {_numbers([skeleton.frame_time])}", ""]
    values = skeleton.values
    if order != sorted(order):
        values = values[:, [c for index in order for c in skeleton.columns(index)]]
    with whole_file(path) as stream:
        stream.write("\n".join(lines).encode("utf-8"))
        found += write_rows(stream, values, b" ")
    return tuple(found)


def _indent(depth: int) -> str:
    """Return the blanks before a line; no more than 32, as a long chain of joints would be a large file otherwise."""
    return "\t" * min(depth, 32)


def _numbers(values: Iterable[float]) -> str:
    return " ".join(map(repr, values))
