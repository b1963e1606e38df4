"""Pairs for logs of robots."""

from bodymotion.formats.limits import Limits
from rules.pairs import Pair, files, limited
from tables.test_mcap import at, frame, log, some_poses, state

FILE = "walk.mcap"
WHOLE = log(state("HIP", "KNEE"), state("HIP", "KNEE", at=1.0))
DATED = (
    "/joint_states",
    {"timestamp": {"sec": 1_700_000_000}, "name": ["HIP"], "position": [0.5]},
)
POSE = some_poses(1, 1)[0]
IMAGE = "/camera", {"data": "AAAA"}


def pair(wrong: bytes, right: bytes = WHOLE) -> Pair:
    """Make a pair of two logs."""
    return files(FILE, wrong, right, place=False)


PAIRS: dict[str, Pair] = {
    "FMT010 .mcap": limited(
        pair(log(*[state("HIP" * 100_000)] * 20)),
        "bodymotion.formats.limits.LIMITS",
        Limits(free_bytes=9999),
    ),
    "MCP003": pair(WHOLE[:8] + b"\x03" + bytes([200]) + bytes(300)),
    "MCP004": pair(log(state("HIP"), ("/joint_states", b'{"name": ["HIP"]'))),
    "MCP101": pair(log(IMAGE)),
    "MCP102": pair(WHOLE[:-20]),
    "MCP103": pair(log(state("HIP"), IMAGE)),
    "MCP104": pair(log(state("HIP", "KNEE"), state("HIP"))),
    "MCP105": pair(log(DATED)),
    "MCP106": pair(log(*at(0, 0.1, 0, 0.1)), log(*at(0, 0.1, 0.2, 0.3))),
    "MCP107": pair(
        log(*(("/tf", frame(parent, "cube", POSE)) for parent in ("world", "hand"))),
        log(("/tf", frame("world", "cube", POSE))),
    ),
}
