"""The rules of logs. All are ours: there is no document."""

from bodymotion.diagnostics import judgement

DAMAGED = judgement.error(
    "MCP003",
    "A log is a file of MCAP or of SQLite, without damage.",
    "nothing can be read from a recording that was cut before its first message",
    example=("a text called walk.mcap", "walk.mcap"),
)
MESSAGE = judgement.error(
    "MCP004",
    "Messages have the encoding of their topic.",
    example=('{"name": ["HIP"]', '{"name": ["HIP"]}'),
)
NO_MOTION = judgement.error(
    "MCP101",
    "A log has messages with names and positions of joints, or with frames.",
    example=("images", "JointState"),
)
CUT = judgement.warning(
    "MCP102",
    "A log is complete to its end.",
    "the part before the cut is read",
    example=("a recording that was killed", "one that was stopped"),
)
UNREAD = judgement.note(
    "MCP103",
    "A log has the topics of one motion only.",
    "topic=… (--topic) names the one to read",
    example=("/joint_states, /camera", "/joint_states, /tf"),
)
MISSING_VALUES = judgement.warning(
    "MCP104",
    "Each message has a value for each joint.",
    "a joint keeps its last value; before its first message it has the first value",
    example=(
        '{"name": ["HIP"]} after {"name": ["HIP", "KNEE"]}',
        '{"name": ["HIP", "KNEE"]}',
    ),
)
CLOCK = judgement.note(
    "MCP105",
    "Times are not dates.",
    "times are counted from the first message",
    example=("1700000000 s", "0 s"),
)
TIME = judgement.warning(
    "MCP106",
    "The messages of a topic have different times, and their clock never goes back.",
    "a log in which a simulation starts again holds several motions: record each of "
    "them, or cut the log",
    example=("0.0 s, 0.1 s, 0.0 s, 0.1 s", "0.0 s, 0.1 s, 0.2 s, 0.3 s"),
)
PARENT = judgement.warning(
    "MCP107",
    "The parent of a frame stays the same.",
    example=("a cube in the world, then in a hand", "a cube in the world"),
)
