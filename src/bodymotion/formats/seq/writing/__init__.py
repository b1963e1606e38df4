"""Writing body motions in the four versions of the format, as YAML or JSON.

`names` is the versions' spelling, `scalars` writes single values, `plan` decides what is
written of a motion and what is lost, `writer` puts it together, piece by piece (`beside`), `copying` goes from file to file.
"""

from bodymotion.formats.seq.writing.copying import can_copy, copy_seq
from bodymotion.formats.seq.writing.writer import write_seq

__all__ = ["can_copy", "copy_seq", "write_seq"]
