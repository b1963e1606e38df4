"""Read the motion of a log in MCAP, or of a rosbag2."""

from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    ReadResult,
    Source,
)
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.limits import budget_for
from bodymotion.formats.mcap.assembling import motion_of
from bodymotion.formats.mcap.log import Decoder, Log, Topic
from bodymotion.formats.mcap.messages import STANDARD_TYPES
from bodymotion.formats.mcap.records import (
    MCAP,
    CutError,
    Kind,
    all_records,
    message_of,
)
from bodymotion.formats.mcap.rosbag2 import read_messages
from bodymotion.formats.mcap.rules import CUT, DAMAGED
from bodymotion.formats.resources import check_inside, unreadable
from bodymotion.formats.rules import UNREADABLE
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.system.deferred import need
from bodymotion.system.files import open_file

FEATURE = "reading and writing logs of robots"
SQLITE = b"SQLite format 3\0"
# Characters of the reason that a parser gives.
MAX_REASON = 200


def read_mcap(
    path: str | Path,
    *,
    body: Body | None = None,
    from_zero: bool = False,
    topic: str | None = None,
    allow_outside: bool | None = None,
) -> ReadResult[Motion]:
    """Read the motion of a log.

    Parameters
    ----------
    path:
        A file `.mcap`, or of a rosbag2 its `metadata.yaml` or its `.db3`. Of a
        `metadata.yaml` all files `.mcap` or `.db3` beside it are read.
    body:
        Its joints and links are matched by name.
    from_zero:
        Count times from the first message; for dates this is done anyway.
    topic:
        The topic of joints, or of poses, that is read where several have them; by
        default the one with the most messages.
    allow_outside:
        See `bodymotion.load`.
    """
    path = Path(path)
    diagnostics = Diagnostics(path)
    files = _files_of(path)
    with budget_for(path) as budget:
        log = Log(diagnostics, path, budget)
        # Files before a damaged one are still read.
        with diagnostics.recover(("components", "all")):
            if not files:
                raise UNREADABLE.error(_hint_at_packed_files(path), log.location)
            for file in files:
                if file != path:
                    check_inside(file, path, allow_outside)
                    budget.add_file(file.stat().st_size)
                _read_file(file, log)
    # Without any motion, a fault leaves no value.
    if diagnostics.has_errors and not log.holds_motion:
        return ReadResult(None, diagnostics.problems)
    parts = tuple(file for file in files if file != path)
    source = Source("mcap", path, parts=parts)
    return motion_of(log, source, body, from_zero, topic)


def _files_of(path: Path) -> list[Path]:
    """Return the files with the messages, in order of their numbers."""
    # A metadata.yaml stands for the files beside it.
    if path.suffix.lower() not in (".yaml", ".yml"):
        return [path]
    # A rosbag2 has one kind of storage.
    files = [*path.parent.glob("*.mcap")] or [*path.parent.glob("*.db3")]
    # bag_10 is after bag_9.
    return sorted(files, key=lambda file: (len(file.name), file.name))


def _hint_at_packed_files(path: Path) -> str:
    packed = sorted(file.name for file in path.parent.glob("*.zstd"))
    if packed:
        return f"unpack {listed(packed, 8)} (zstd -d)"
    return "no .mcap or .db3 beside it"


def _read_file(path: Path, log: Log) -> None:
    """Read the messages of a file into the log.

    Raises
    ------
    FormatError
        MCP003 where the file is damaged.
    """
    # The first bytes decide, since names may be wrong.
    try:
        with open_file(path) as file:
            head = file.read(len(SQLITE))
            file.seek(0)
            if head == SQLITE:
                _read_sqlite(path, log)
            elif head.startswith(MCAP):
                _read_records(file, log)
            elif head:
                raise ValueError("the file is no MCAP file and no database of SQLite")
            else:
                raise ValueError("the file is empty")
    except FormatError:
        raise
    except OSError as error:
        raise unreadable(error, path) from error
    except Exception as error:  # what the parsers of damaged records raise
        reason = f"{type(error).__name__}: {error}".removesuffix(": ")[:MAX_REASON]
        text = f"a record cannot be decoded ({reason})"
        raise DAMAGED.error(text, Location(str(path))) from error


def _read_sqlite(path: Path, log: Log) -> None:
    """Read the messages of a file of SQLite into the log."""
    decoders = _Decoders()
    for message in read_messages(path, log.budget):
        log.topics.setdefault(message.topic, Topic(message.kind))
        decode = decoders.of_type(message.kind)
        log.add(message.topic, message.time, message.data, decode)


def _read_records(file: BinaryIO, log: Log) -> None:
    """Read the messages of a file of MCAP into the log.

    Report where it is cut.
    """
    channels = _Channels(log)
    num_messages = 0
    try:
        for record in all_records(file, log.budget, log.location):
            if record.kind == Kind.SCHEMA:
                channels.add_schema(record.content)
            elif record.kind == Kind.CHANNEL:
                channels.add_channel(record.content)
            elif record.kind == Kind.MESSAGE:
                channels.add_message(record.content)
                num_messages += 1
    except CutError as error:
        # Before the first message there is nothing to read.
        if not num_messages:
            raise ValueError(f"{error}, before the first message") from None
        text = f"{error}; {counted(num_messages, 'message')} are read"
        log.diagnostics.report(CUT, text, log.location)


class _Decoders:
    """Decoders of messages in CDR."""

    def __init__(self) -> None:
        typesys = need("rosbags.typesys", "lake", FEATURE)
        self._types = typesys.get_typestore(typesys.Stores.LATEST)

    def of_type(self, name: str) -> Decoder | None:
        """Return the decoder of a type.

        None for a type that moves no robot.
        """
        if name not in STANDARD_TYPES:
            return None
        return partial(self._types.deserialize_cdr, typename=name)


class _Channels:
    """The schemas and channels of a file of MCAP.

    Its messages go to the log.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._records = need("mcap.records", "lake", FEATURE)
        self._streams = need("mcap.data_stream", "lake", FEATURE)
        self._protobuf = need("mcap_protobuf.decoder", "lake", FEATURE).DecoderFactory()
        self._cdr = _Decoders()
        self._schemas: dict[int, Any] = {}
        self._topics: dict[int, str] = {}
        self._decoders: dict[int, Decoder | None] = {}

    def add_schema(self, content: bytes) -> None:
        schema = self._records.Schema.read(self._stream(content))
        self._schemas[schema.id] = schema

    def add_channel(self, content: bytes) -> None:
        channel = self._records.Channel.read(self._stream(content))
        # A channel of JSON may have no schema.
        schema = self._schemas.get(channel.schema_id)
        self._topics[channel.id] = channel.topic
        self._decoders[channel.id] = self._decoder(channel.message_encoding, schema)
        type_name = getattr(schema, "name", "")
        self._log.topics.setdefault(channel.topic, Topic(type_name))

    def add_message(self, content: bytes) -> None:
        message = message_of(content)
        topic = self._topics.get(message.channel)
        if topic is None:
            raise ValueError(
                f"a message is of channel {message.channel}, which is not defined"
            )
        decode = self._decoders[message.channel]
        self._log.add(topic, message.time, message.data, decode)

    def _stream(self, content: bytes) -> Any:  # noqa: ANN401
        return self._streams.ReadDataStream(BytesIO(content))

    def _decoder(self, encoding: str, schema: Any) -> Decoder | None:  # noqa: ANN401
        """Return the decoder of the messages of a channel.

        None where there is none.
        """
        if encoding == "json":
            return orjson.loads
        if encoding == "cdr" and schema is not None:
            return self._cdr.of_type(schema.name)
        if encoding == "protobuf":
            decoder = self._protobuf.decoder_for(encoding, schema)
            return cast("Decoder | None", decoder)
        return None
