"""Many motions: find their files, map a function over them on all cores, and continue where a run was interrupted.

Start at `open_collection` and `build_catalogue`, or with files at `find_files` and `map_files`. A function that is mapped gets one input;
what it raises is the `error` of its `Outcome`.
"""

from __future__ import annotations

from bodymotion.collection.catalogue import build_catalogue, query
from bodymotion.collection.inputs import find_files, root_of
from bodymotion.collection.lerobot import write_lerobot
from bodymotion.collection.mapping import Outcome, ProcessEndedError, in_order, map_files
from bodymotion.collection.opening import Clip, Collection, open_collection

__all__ = ["Clip", "Collection", "Outcome", "ProcessEndedError", "build_catalogue", "find_files", "in_order"]
__all__ += ["map_files", "open_collection", "query", "root_of", "write_lerobot"]
