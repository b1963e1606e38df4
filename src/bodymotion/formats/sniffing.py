"""Which format a file has, by its first bytes.

Imports no format.

Every function takes the first bytes of a file (`HEAD` of `formats.registry`) and
returns whether they are those of one format.
"""

import codecs
import re
from contextlib import suppress

from bodymotion.formats.compression import compression_of, unpacked
from bodymotion.formats.encodings import in_utf8

ZIPPED = ("amass", "npz", "pickle", "parquet")
"""Formats whose files are zip archives, or tables of Parquet or Arrow."""


def is_archive(head: bytes) -> bool:
    """Return whether a file is a zip or tar archive, or a table of Parquet or Arrow.

    Without compression, texts of others are in it.
    """
    return (
        # zip, tar (its mark is behind the first name), Parquet and Arrow.
        head.startswith(b"PK\x03\x04")
        or head[257:262] == b"ustar"
        or looks_like_arrow(head)
    )


# VRML

VRML_NODES = (
    rb"Anchor|Appearance|AudioClip|Background|Billboard|Box|Collision|Color|"
    rb"ColorInterpolator|Cone|Coordinate|CoordinateInterpolator|Cylinder|"
    rb"CylinderSensor|DirectionalLight|ElevationGrid|Extrusion|Fog|FontStyle|Group|"
    rb"ImageTexture|IndexedFaceSet|IndexedLineSet|Inline|LOD|Material|MovieTexture|"
    rb"NavigationInfo|Normal|NormalInterpolator|OrientationInterpolator|"
    rb"PixelTexture|PlaneSensor|PointLight|PointSet|PositionInterpolator|"
    rb"ProximitySensor|ScalarInterpolator|Script|Shape|Sound|Sphere|SphereSensor|"
    rb"SpotLight|Switch|Text|TextureCoordinate|TextureTransform|TimeSensor|"
    rb"TouchSensor|Transform|Viewpoint|VisibilitySensor|WorldInfo"
)
"""The nodes of VRML97."""
# The header may be among comments, and its version may be any.
_VRML_HEADER = re.compile(rb"#[ \t]*VRML[ \t]+V[0-9]")
_VRML_SPACE = re.compile(rb"[ \t\r\n,\f\v]*+(?:#[^\r\n]*+[ \t\r\n,\f\v]*+)*+")
# Files without a header begin with a node or a prototype.
_VRML_START = re.compile(
    rb'DEF\s+[^\s{}\[\]"]+\s+[A-Za-z_]\w*[\s,]*\{|DEF\s+[A-Z]\w*\s*\{'
    rb'|(?:EXTERN)?PROTO\s+[^\s{}\[\]"]+\s*\[|(?:'
    + VRML_NODES
    + rb")\s*(?:#[^\r\n]*\s*)?\{"
)


def looks_like_vrml(head: bytes) -> bool:
    """Return whether a file is VRML.

    Its header is among the comments at the start, or it starts with a node or a
    prototype.

    VRML 1.0 counts too: its reader reports that it is another language.
    """
    head = head.removeprefix(codecs.BOM_UTF8)
    space = _VRML_SPACE.match(head)
    if space is not None:
        start = space.end()
    else:
        start = 0
    return (
        _VRML_HEADER.search(head, 0, start) is not None
        or _VRML_START.match(head, start) is not None
    )


# YAML

_BODY_FORMAT = re.compile(
    rb"(?:^|[\s{,])[\"']?format[\"']?\s*:\s*[\"']?ChoreonoidBody(?![A-Za-z0-9_])"
)

_SEQ_TYPE = re.compile(
    rb"(?:^|[\s{,-])[\"']?type[\"']?\s*:\s*[\"']?"
    rb"(?:CompositeSeq|BodyMotion|MultiValueSeq|MultiSE3Seq|MultiSe3Seq"
    rb"|MultiAffine3Seq|Vector3Seq)(?![A-Za-z0-9_])"
)
_SEQ_CONTENT = re.compile(
    rb"(?:^|[\s{,-])[\"']?content[\"']?\s{0,20}:\s{0,20}[\"']?"
    rb"BodyMotion(?![A-Za-z0-9_])"
)
_SEQ_KEY = re.compile(
    rb"(?:^|[\s{,-])[\"']?(?:components|formatVersion|format_version|frameRate"
    rb"|frame_rate|numParts|num_parts|hasFrameTime|has_frame_time|SE3Format"
    rb"|se3_format)[\"']?\s{0,20}:"
)
# Rows: `frames:` and then a nested list that begins with a number.
_SEQ_ROWS = re.compile(
    rb"(?:^|[\s{,-])[\"']?frames[\"']?\s{0,20}:\s{0,200}+"
    rb"(?:#[^\r\n]{0,200}+\s{0,200}+){0,3}+"
    rb"(?:\[|-\s)\s{0,80}+(?:\[|-\s)(?:\s|\[|-\s){0,80}+[-+.]{0,2}[0-9ni]"
)


def looks_like_body(head: bytes) -> bool:
    """Return whether a file has `format: ChoreonoidBody`."""
    head, _ = in_utf8(head)
    return (
        b"ChoreonoidBody" in head
        and _BODY_FORMAT.search(head.removeprefix(codecs.BOM_UTF8)) is not None
    )


_PSEQ_TYPE = re.compile(
    rb"(?:^|[\s{,])[\"']?type[\"']?\s*:\s*[\"']?PoseSeq(?![A-Za-z0-9_])"
)


def looks_like_pseq(head: bytes) -> bool:
    """Return whether a file has `type: PoseSeq`."""
    return (
        b"PoseSeq" in head
        and _PSEQ_TYPE.search(head.removeprefix(codecs.BOM_UTF8)) is not None
    )


def looks_like_seq(head: bytes) -> bool:
    """Return whether a file has what only body motions have.

    One of their types, or rows of numbers among their keys.
    """
    head, _ = in_utf8(head)
    if _SEQ_TYPE.search(head) or _SEQ_CONTENT.search(head):
        return True
    # A key alone is not enough: other YAML has frameRate, too.
    return _SEQ_KEY.search(head) is not None and _SEQ_ROWS.search(head) is not None


# XML

# Whatever may come before the root element; never backtracks.
_XML_START = re.compile(
    rb"(?:\s++|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*+(?:\[[^\]]*+\][^>]*+)?>)*+"
    rb"<([A-Za-z_][\w.:-]*+)(?=[\s/>])",
    re.DOTALL,
)


def looks_like_urdf(head: bytes) -> bool:
    """Return whether the root element is `<robot>`."""
    return b"<" in head and root_element(head) == "robot"


def looks_like_mjcf(head: bytes) -> bool:
    """Return whether the root element is `<mujoco>` or `<mujocoinclude>`."""
    return b"<" in head and root_element(head) in ("mujoco", "mujocoinclude")


def root_element(head: bytes) -> str:
    """Return the name of the first element.

    Empty where the file is not XML, or where the element comes after `head`.

    Skips a byte order mark, white space, `<?…?>`, comments, and a DOCTYPE with or
    without declarations in brackets.
    """
    head, _ = in_utf8(head)
    head = head.removeprefix(codecs.BOM_UTF8)
    found = _XML_START.match(head)
    if found is None:
        return ""
    return found[1].decode("latin-1")


# Recorded motion and tables

_BVH_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*HIERARCHY\s+ROOT\s", re.IGNORECASE)


def looks_like_bvh(head: bytes) -> bool:
    """Return whether a file begins with HIERARCHY and ROOT."""
    return _BVH_START.match(head) is not None


_ACCLAIM_START = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|#[^\n]*+\n)*+:"
    rb"(?:FULLY-SPECIFIED|DEGREES|RADIANS|version|name|units|documentation|root)\s",
    re.IGNORECASE,
)


def looks_like_acclaim(head: bytes) -> bool:
    """Return whether a file begins with a keyword of an .asf or .amc."""
    return _ACCLAIM_START.match(head) is not None


# Names of members in either order: an archive has them as it was written.
_AMASS = re.compile(
    rb"(?:poses|pose_body)\.npy.*trans\.npy|trans\.npy.*(?:poses|pose_body)\.npy",
    re.DOTALL,
)


def looks_like_amass(head: bytes) -> bool:
    """Return whether a file is a zip archive with the arrays of AMASS.

    They are `trans`, and `poses` or `pose_body`.
    """
    return head[:4] == b"PK\x03\x04" and _AMASS.search(head) is not None


def looks_like_npz(head: bytes) -> bool:
    """Return whether a file is a zip archive whose first member is a NumPy array."""
    if head[:4] != b"PK\x03\x04":
        return False
    # The local header of a zip: the length of the name at 26, the name at 30.
    length = int.from_bytes(head[26:28], "little")
    return head[30 : 30 + length].endswith(b".npy")


# Protocols 2 to 5: PROTO, maybe FRAME, then an empty dictionary and its memo.
_PICKLE_START = re.compile(rb"\x80[\x02-\x05](?:\x95.{8})?\}[\x94q]", re.DOTALL)


def looks_like_pickle(head: bytes) -> bool:
    """Return whether a file is a Python pickle of a dictionary.

    Maybe compressed, or an archive of PyTorch, whose first member is one.
    """
    if head[:4] == b"PK\x03\x04":
        return head[30 : 30 + int.from_bytes(head[26:28], "little")].endswith(
            b"/data.pkl"
        )
    # The first bytes are unpacked, no more.
    if compression_of(head):
        with suppress(ValueError, ImportError):
            head = next(unpacked(head, 64), b"")
    return _PICKLE_START.match(head) is not None


def looks_like_arrow(head: bytes) -> bool:
    """Return whether a file is a table of Parquet or Arrow."""
    return head.startswith(
        # The four bytes 0xFF begin a stream of Arrow.
        (b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff", b"FEA1\0\0\0\0")
    )


def looks_like_log_of_messages(head: bytes) -> bool:
    """Return whether a file is a log in MCAP or a part of a rosbag2.

    Such a part is its `metadata.yaml`, or a database.
    """
    return head.startswith((b"\x89MCAP0\r\n", b"rosbag2_bagfile_information:")) or (
        head.startswith(b"SQLite format 3\0") and b"serialization_format" in head
    )
