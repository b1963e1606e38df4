"""Logs in MCAP and rosbag2: as mcap, protobuf and rosbags write and read them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    json_format,
    message_factory,
    text_format,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer
from mcap_protobuf.schema import build_file_descriptor_set
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as BagWriter
from rosbags.typesys import Stores, get_typestore

import bodymotion as bm
from bodymotion.formats import registry
from bodymotion.geometry import poses
from sample_files import CORPUS, tries

FIELDS = """
name: "motion.proto" package: "foxglove" syntax: "proto3"
message_type { name: "Time" field { name: "seconds" number: 1 type: TYPE_INT64 } field { name: "nanos" number: 2 type: TYPE_INT32 } }
message_type { name: "Vector3"
  field { name: "x" number: 1 type: TYPE_DOUBLE } field { name: "y" number: 2 type: TYPE_DOUBLE }
  field { name: "z" number: 3 type: TYPE_DOUBLE } }
message_type { name: "Quaternion" field { name: "x" number: 1 type: TYPE_DOUBLE } field { name: "y" number: 2 type: TYPE_DOUBLE }
  field { name: "z" number: 3 type: TYPE_DOUBLE } field { name: "w" number: 4 type: TYPE_DOUBLE } }
message_type { name: "FrameTransform" field { name: "timestamp" number: 1 type: TYPE_MESSAGE type_name: ".foxglove.Time" }
  field { name: "parent_frame_id" number: 2 type: TYPE_STRING } field { name: "child_frame_id" number: 3 type: TYPE_STRING }
  field { name: "translation" number: 4 type: TYPE_MESSAGE type_name: ".foxglove.Vector3" }
  field { name: "rotation" number: 5 type: TYPE_MESSAGE type_name: ".foxglove.Quaternion" } }
message_type { name: "FrameTransforms"
  field { name: "transforms" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".foxglove.FrameTransform" } }
message_type { name: "Joint" field { name: "name" number: 1 type: TYPE_STRING } field { name: "position" number: 2 type: TYPE_DOUBLE } }
message_type { name: "JointStates" field { name: "timestamp" number: 1 type: TYPE_MESSAGE type_name: ".foxglove.Time" }
  field { name: "joints" number: 2 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".foxglove.Joint" } }
"""


def log(
    *messages: tuple[str, object], step: int = 10**7, start: int = 0, **options: object
) -> bytes:
    """Return a log of JSON messages, each with its topic, so many nanoseconds apart from `start` on."""
    stream = io.BytesIO()
    writer = Writer(stream, **options)
    writer.start()
    channels: dict[str, int] = {}
    for k, (topic, message) in enumerate(messages):
        if topic not in channels:
            channels[topic] = writer.register_channel(topic, "json", 0)
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        writer.add_message(channels[topic], start + k * step, data, start + k * step)
    writer.finish()
    return stream.getvalue()


def state(*names: str, at: float = 0.5) -> tuple[str, object]:
    return "/joint_states", {"name": names, "position": [at] * len(names)}


def frame(parent: str, child: str, pose: np.ndarray) -> dict[str, object]:
    return {
        "header": {"frame_id": parent},
        "child_frame_id": child,
        "transform": {
            "translation": dict(zip("xyz", pose[:3].tolist(), strict=True)),
            "rotation": dict(zip("wxyz", pose[3:].tolist(), strict=True)),
        },
    }


def some_poses(seed: int, count: int) -> np.ndarray:
    found = np.random.default_rng(seed).normal(size=(count, 7))
    found[:, 3:] /= np.linalg.norm(found[:, 3:], axis=1, keepdims=True)
    return found


def a_motion(rate: float, count: int = 20) -> bm.Motion:
    q = np.random.default_rng(1).normal(size=(count, 3))
    return bm.Motion.from_joints(
        q, rate, root=some_poses(2, count), joint_names=("KNEE", "HIP", "ELBOW")
    )


@pytest.mark.parametrize("encoding", ["cdr", "json"])
@pytest.mark.parametrize("rate", [30.0, 500.0])
def test_written_logs(tmp_path, encoding, rate):
    """What is written has names, order, rate and values in our reader, and in those of mcap and rosbags."""
    motion = a_motion(rate)
    assert not bm.save(motion, tmp_path / "a.mcap", encoding=encoding).problems
    again = bm.load_motion(tmp_path / "a.mcap")
    assert again.frame_rate == rate
    assert again.joint_displacement == motion.joint_displacement
    np.testing.assert_array_equal(
        again.link_position.values, motion.link_position.values
    )
    with (tmp_path / "a.mcap").open("rb") as stream:
        read = [
            (channel.topic, message)
            for _, channel, message in make_reader(stream).iter_messages()
        ]
    assert [topic for topic, _ in read] == ["/joint_states", "/tf"] * 20
    assert [message.log_time for _, message in read[::2]] == [
        round(k * 1e9 / rate) for k in range(20)
    ]
    if encoding == "json":
        assert json.loads(read[0][1].data)["name"] == ["KNEE", "HIP", "ELBOW"]
        return
    with AnyReader(
        [tmp_path / "a.mcap"], default_typestore=get_typestore(Stores.LATEST)
    ) as reader:
        found = [
            reader.deserialize(data, kind.msgtype)
            for kind, _, data in reader.messages()
        ]
    assert found[0].name == ["KNEE", "HIP", "ELBOW"]
    np.testing.assert_array_equal(
        [one.position for one in found[::2]], motion.joint_displacement.values
    )
    turn = found[-1].transforms[0].transform.rotation
    np.testing.assert_array_equal(
        [turn.w, turn.x, turn.y, turn.z], motion.link_position.values[-1, 0, 3:]
    )


@pytest.mark.parametrize("compression", list(CompressionType))
def test_frames(tmp_path, compression):
    """Poses are products along the tree; static frames, other times and another order of names are followed."""
    base, fixed, camera = some_poses(3, 9), some_poses(4, 1)[0], some_poses(5, 1)[0]
    messages = [
        (
            "/tf_static",
            {
                "transforms": [
                    frame("pelvis", "torso", fixed),
                    frame("odom", "camera", camera),
                ]
            },
        )
    ]
    for k in range(9):
        names = ("a", "b") if k % 2 else ("b", "a")
        messages.append(
            (
                "/joint_states",
                {"name": names, "position": [k + (name == "b") / 2 for name in names]},
            )
        )
        messages.append(("/tf", {"transforms": [frame("odom", "pelvis", base[k])]}))
    (tmp_path / "a.mcap").write_bytes(log(*messages, compression=compression))
    found = bm.load_motion(tmp_path / "a.mcap")
    links = found.link_position
    assert links.part_labels == ("pelvis", "torso", "camera")
    np.testing.assert_array_equal(links.values[:, 0], base)
    np.testing.assert_allclose(
        links.values[:, 1], poses.compose(base, fixed), atol=1e-12
    )
    np.testing.assert_allclose(links.values[:, 2], np.tile(camera, (9, 1)), atol=1e-12)
    np.testing.assert_array_equal(found["b"] - found["a"], 0.5)


def test_protobuf(tmp_path):
    """Messages of Foxglove in protobuf are the same motion as those in JSON."""
    pool = descriptor_pool.DescriptorPool()
    pool.Add(text_format.Parse(FIELDS, descriptor_pb2.FileDescriptorProto()))
    kinds = {
        name: message_factory.GetMessageClass(
            pool.FindMessageTypeByName(f"foxglove.{name}")
        )
        for name in ("FrameTransforms", "JointStates")
    }
    stream = io.BytesIO()
    writer = Writer(stream)
    writer.start()
    pose, plain = some_poses(6, 5), []
    for k in range(5):
        at = {"seconds": 7, "nanos": k * 10**7}
        parts = frame("world", "base", pose[k])["transform"]
        transform = {
            "timestamp": at,
            "parent_frame_id": "world",
            "child_frame_id": "base",
            **parts,
        }
        states = {
            "timestamp": at,
            "joints": [
                {"name": "HIP", "position": k / 7},
                {"name": "KNEE", "position": 0.0},
            ],
        }
        for name, fields in (
            ("FrameTransforms", {"transforms": [transform]}),
            ("JointStates", states),
        ):
            plain.append((f"/{name}", fields))
            schema = writer.register_schema(
                f"foxglove.{name}",
                "protobuf",
                build_file_descriptor_set(kinds[name]).SerializeToString(),
            )
            channel = writer.register_channel(f"/{name}", "protobuf", schema)
            writer.add_message(
                channel,
                k,
                json_format.ParseDict(fields, kinds[name]()).SerializeToString(),
                k,
            )
    writer.finish()
    (tmp_path / "a.mcap").write_bytes(stream.getvalue())
    (tmp_path / "b.mcap").write_bytes(log(*plain))
    found = bm.load_motion(tmp_path / "a.mcap")
    assert found == bm.load_motion(tmp_path / "b.mcap")
    np.testing.assert_array_equal(found.link_position.values[:, 0], pose)
    np.testing.assert_array_equal(found["HIP"], np.arange(5) / 7)


@pytest.mark.parametrize("storage", list(StoragePlugin))
def test_bags(tmp_path, storage):
    """A bag that rosbags writes is read by its description and by its file; joints without a value keep the last one."""
    store = get_typestore(Stores.LATEST)
    made = store.types
    with BagWriter(tmp_path / "bag", version=9, storage_plugin=storage) as bag:
        kind = "sensor_msgs/msg/JointState"
        connection = bag.add_connection("/joint_states", kind, typestore=store)
        for k in range(6):
            stamp = made["builtin_interfaces/msg/Time"](
                sec=1_700_000_000, nanosec=k * 10**7
            )
            header = made["std_msgs/msg/Header"](stamp=stamp, frame_id="")
            names, none = ["a", "b"][: 1 + (k < 3)], np.zeros(0)
            message = made[kind](
                header=header,
                name=names,
                position=np.full(len(names), k / 3),
                velocity=none,
                effort=none,
            )
            bag.write(
                connection,
                1_700_000_000 * 10**9 + k,
                store.serialize_cdr(message, kind),
            )
    paths = [tmp_path / "bag" / "metadata.yaml", *(tmp_path / "bag").glob("bag*")]
    for path in paths:
        found = bm.load_motion(path)
        np.testing.assert_array_equal(found["a"], np.arange(6) / 3)
        np.testing.assert_array_equal(found["b"], np.minimum(np.arange(6), 2) / 3)
        assert found.frame_rate == 100 and {p.rule for p in found.problems} == {
            "MCP104",
            "MCP105",
        }


ROBOT = bm.Body(
    name="robot",
    links=(
        bm.Link(name="pelvis", joint=bm.Joint(name="pelvis", type="free")),
        *(
            bm.Link(
                name=n,
                index=k + 1,
                parent=0,
                joint=bm.Joint(name=n, type="rotate", id=k),
            )
            for k, n in enumerate(("HIP", "KNEE", "ELBOW"))
        ),
    ),
)


@pytest.mark.parametrize("written_for", [None, ROBOT])
@pytest.mark.parametrize("read_for", [None, ROBOT])
def test_root_of_a_robot(tmp_path, written_for, read_for):
    """The root comes back whether or not the body, whose root link has a name, is given for writing or reading."""
    motion = a_motion(50)
    bm.save(motion, tmp_path / "a.mcap", body=written_for)
    again = bm.load_motion(tmp_path / "a.mcap", body=read_for)
    np.testing.assert_array_equal(
        again.link_position.values, motion.link_position.values
    )
    np.testing.assert_array_equal(again["KNEE"], motion["KNEE"])
    assert not again.problems


def at(
    *stamps: float, names: tuple[str, ...] = ("HIP",), topic: str = "/joint_states"
) -> list[tuple[str, object]]:
    """Return messages with these stamps [s] and the values 0, 1, 2 …."""
    of = [{"sec": int(stamp), "nanosec": round(stamp % 1 * 1e9)} for stamp in stamps]
    return [
        (topic, {"timestamp": one, "name": names, "position": [k] * len(names)})
        for k, one in enumerate(of)
    ]


@pytest.mark.parametrize(
    ("stamps", "times", "values", "rules"),
    [
        ([0, 0, 0], [7, 7.01, 7.02], [0, 1, 2], set()),  # those of the log
        ([0, 0.5, 1], [0, 0.5, 1], [0, 1, 2], set()),  # of a simulation
        ([0, 0.02, 0.01, 0.03], [0, 0.01, 0.02, 0.03], [0, 2, 1, 3], set()),
        ([0, 5, 1, 6], [0, 1, 5, 6], [0, 2, 1, 3], set()),  # one message that is late
        (
            [0, 0.5, 1, 0, 0.3],
            [0, 0.5, 1],
            [0, 1, 2],
            {"MCP106"},
        ),  # a clock that is reset
        ([0, 0.5, 0.5, 1], [0, 0.5, 1], [0, 2, 3], {"MCP106"}),
    ],
)
def test_times_of_messages(tmp_path, stamps, times, values, rules):
    """A stamp of zero is a time where others of the topic are later; a clock that goes back, and equal times, are reported."""
    (tmp_path / "a.mcap").write_bytes(log(*at(*stamps), start=7 * 10**9))
    found = bm.load_motion(tmp_path / "a.mcap")
    np.testing.assert_allclose(found.timeline.times, times)
    np.testing.assert_array_equal(found["HIP"], values)
    assert {p.rule for p in found.problems} == rules


def test_topics(tmp_path):
    """Of two robots and two odometries one each is read, that of the topic which is named; the others are reported."""
    here, there = some_poses(3, 4), some_poses(4, 4)
    messages = []
    for k in range(4):
        messages += [
            state("HIP", at=k),
            ("/other/states", {"name": ["ARM"], "position": [k]}),
        ]
        messages += [
            ("/odom", frame("odom", "base", here[k])),
            ("/filtered", frame("odom", "base", there[k])),
        ]
    (tmp_path / "a.mcap").write_bytes(log(*messages))
    for topic, joint, root, unread in (
        (None, "HIP", here, "/other/states, base of /filtered"),
        ("/other/states", "ARM", here, "/joint_states, base of /filtered"),
        ("/filtered", "HIP", there, "/other/states, base of /odom"),
    ):
        found = bm.load_motion(tmp_path / "a.mcap", topic=topic)
        assert found.joint_displacement.part_labels == (joint,)
        np.testing.assert_array_equal(found.link_position.values[:, 0], root)
        assert [(p.rule, p.message) for p in found.problems] == [
            ("MCP103", f"not read: {unread}")
        ]
    with pytest.raises(
        bm.FormatError,
        match=r"no motion in the topic /legs; the topics are /filtered \(no type\)",
    ):
        bm.load_motion(tmp_path / "a.mcap", topic="/legs")


def test_trajectories(tmp_path):
    """A trajectory replaces what is left of the one before it, from its first point on."""

    def goal(start: float, *points: tuple[float, float]) -> tuple[str, object]:
        of = [
            {"time_from_start": {"nanosec": int(t * 1e9)}, "positions": [q]}
            for t, q in points
        ]
        return "/goal", {
            "timestamp": {"nanosec": int(start * 1e9)},
            "joint_names": ["HIP"],
            "points": of,
        }

    first, second = goal(0.1, (0, 1), (0.5, 2), (0.9, 3)), goal(0.3, (0.1, 5), (0.6, 6))
    (tmp_path / "a.mcap").write_bytes(log(first, second))
    found = bm.load_motion(tmp_path / "a.mcap")
    np.testing.assert_allclose(found.timeline.times, [0.1, 0.4, 0.9])
    np.testing.assert_array_equal(found["HIP"], [1, 5, 6])


def test_names_and_parents(tmp_path):
    """Two values of a joint in a message are an error; a frame with two parents is read below the first; one pose holds for
    all times."""
    (tmp_path / "a.mcap").write_bytes(log(*at(0, 1, names=("HIP", "KNEE", "HIP"))))
    with pytest.raises(bm.FormatError, match="a message has two values of HIP"):
        bm.load_motion(tmp_path / "a.mcap")
    pose = some_poses(5, 1)[0]
    moved = [
        (
            "/tf",
            {"transforms": [frame("odom", "hand", pose), frame(parent, "cube", pose)]},
        )
        for parent in ("odom", "hand")
    ]
    (tmp_path / "a.mcap").write_bytes(log(*moved))
    found = bm.load_motion(tmp_path / "a.mcap")
    assert [p.message for p in found.problems] == [
        "cube is below odom and below hand; read below odom"
    ]
    (tmp_path / "a.mcap").write_bytes(
        log(("/tf_static", frame("odom", "base", pose)), *at(0.5, 1))
    )
    links = bm.load_motion(tmp_path / "a.mcap").link_position
    assert (
        links.timeline.times.tolist() == [0.5, 1] and (links.values[:, 0] == pose).all()
    )


def test_what_is_no_log(tmp_path):
    """Messages name what a file is; a database is read and not written."""
    for content, message in (
        (b"", "the file is empty"),
        (b"A" * 99, "no MCAP file"),
        (log(), "no messages; expected JointState"),
    ):
        (tmp_path / "a.mcap").write_bytes(content)
        with pytest.raises(bm.FormatError, match=message):
            bm.load(tmp_path / "a.mcap", format="mcap")
    with pytest.raises(
        bm.FormatError, match=r"extension '\.db3': no format for a Motion has it"
    ):
        bm.save(a_motion(50), tmp_path / "a.db3")
    for mode, message in (
        (CompressionMode.MESSAGE, "it is compressed"),
        (CompressionMode.FILE, r"unpack .*\.db3\.zstd"),
    ):
        bag = BagWriter(
            tmp_path / mode.name, version=9, storage_plugin=StoragePlugin.SQLITE3
        )
        bag.set_compression(mode, CompressionFormat.ZSTD)
        with bag:
            connection = bag.add_connection(
                "/joint_states",
                "sensor_msgs/msg/JointState",
                typestore=get_typestore(Stores.LATEST),
            )
            bag.write(connection, 0, bytes(99))
        with pytest.raises(bm.FormatError, match=message):
            bm.load(tmp_path / mode.name / "metadata.yaml")


@pytest.mark.parametrize(
    "name", ["bag_mcap/metadata.yaml", "bag_sqlite/bag_sqlite.db3"]
)
def test_samples(name):
    """The samples have the joints that rosbags reads, in whatever order the messages name them."""
    path = CORPUS / "datasets" / "made" / name
    if not path.exists():
        pytest.skip("no corpus")
    found = bm.load_motion(path)
    rows = []
    with AnyReader([path.parent]) as reader:
        for kind, _, data in reader.messages():
            if kind.topic == "/joint_states":
                message = reader.deserialize(data, kind.msgtype)
                rows.append(dict(zip(message.name, message.position, strict=True)))
    for joint in found.joint_displacement.part_labels:
        np.testing.assert_array_equal(found[joint], [row[joint] for row in rows])


@settings(max_examples=tries(60), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["cdr", "json"]))
def test_any_bytes(tmp_path_factory, seed, encoding):
    """Whatever is changed in a log, or cut off: a motion or a FormatError."""
    by = np.random.default_rng(seed)
    path: Path = tmp_path_factory.mktemp("logs") / "a.mcap"
    bm.save(a_motion(100, 3), path, encoding=encoding)
    content = bytearray(path.read_bytes())
    for _ in range(by.integers(1, 4)):
        content[by.integers(8, len(content))] = by.integers(256)
    path.write_bytes(
        content[: len(content) if seed % 2 else by.integers(8, len(content))]
    )
    try:
        assert isinstance(bm.load(path), bm.Motion)
    except bm.FormatError as error:
        assert error.problem.message


@pytest.mark.parametrize("compression", CompressionType)
def test_a_recording_that_was_cut_in_its_first_chunk(tmp_path, compression):
    """Its whole messages are read, as `mcap recover` does: they are the first of those that were written."""
    values = np.random.default_rng(5).uniform(-1, 1, 8000).round(6).tolist()
    states = [state("HIP", at=value) for value in values]
    whole = log(*states, compression=compression, chunk_size=1 << 24)
    (tmp_path / "cut.mcap").write_bytes(whole[: len(whole) * 3 // 10])
    motion = bm.load(tmp_path / "cut.mcap")
    assert [problem.rule for problem in motion.problems] == ["MCP102"]
    found = motion.joint_displacement.values[:, 0].tolist()
    assert 500 < len(found) < 8000
    assert found == values[: len(found)]


def test_zeros_behind_a_recording(tmp_path):
    """A file that was allocated and not written to its end: its messages are read, and the zeros at once."""
    whole = log(*[state("HIP", at=k / 8) for k in range(8)])
    footer = whole.rindex(b"\x0f\x04" + bytes(7))  # the end of the data
    (tmp_path / "a.mcap").write_bytes(whole[:footer] + bytes(1 << 20))
    motion = bm.load(tmp_path / "a.mcap")
    assert motion.num_frames == 8
    assert "MCP102" in {problem.rule for problem in motion.problems}
    (tmp_path / "b.mcap").write_bytes(whole[:8] + bytes(1 << 20))
    with pytest.raises(bm.FormatError) as caught:
        bm.load(tmp_path / "b.mcap")
    assert caught.value.problem.rule == "MCP003"


@pytest.mark.parametrize("every", [1, 2, 5])
def test_messages_without_positions(every, tmp_path):
    """Each list of a JointState may be empty: such a message is no frame, and is counted in a warning."""
    messages = []
    for k in range(20):
        topic, message = state("HIP", "KNEE", at=k)
        if k % every == 0:
            message = {"name": ["HIP"], "position": [], "velocity": [0.5]}
        messages.append((topic, message))
    (tmp_path / "a.mcap").write_bytes(log(*messages))
    _, found = registry.read(tmp_path / "a.mcap")
    if every == 1:
        assert [one.rule for one in found.problems] == ["MCP101"]
        return
    kept = [k for k in range(20) if k % every]
    np.testing.assert_array_equal(found.value["HIP"], kept)
    np.testing.assert_allclose(
        found.value.timeline.times - found.value.timeline.times[0],
        0.01 * (np.array(kept) - kept[0]),
    )
    assert [one.rule for one in found.problems] == ["MCP104"]
    assert f"{20 - len(kept)} messages" in found.problems[0].message


def test_points_without_positions(tmp_path):
    """A trajectory of velocities alone is no motion; joints without a position are not read."""
    points = [{"velocities": [1.0]}, {"positions": [2.0]}]
    trajectory = {"joint_names": ["A"], "points": points}
    (tmp_path / "a.mcap").write_bytes(log(("/t", trajectory)))
    assert bm.load_motion(tmp_path / "a.mcap")["A"].tolist() == [2]
    joints = {"joints": [{"name": "A", "position": 1.0}, {"name": "B"}]}
    (tmp_path / "a.mcap").write_bytes(log(("/j", joints)))
    motion = bm.load_motion(tmp_path / "a.mcap")
    assert motion.joint_displacement.part_labels == ("A",)


def test_empty_positions_of_strangers(strangers):
    motion = bm.load_motion(strangers / "16/empty_positions.mcap")
    assert motion.num_frames == 40
    assert {one.rule for one in motion.problems} == {"MCP104", "MCP105"}
