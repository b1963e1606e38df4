"""Many motions: find their files, map a function over them on all cores, and continue where a run was interrupted.

Start at `find_files` and `map_files`. A function that is mapped gets one input; what it raises is the `error` of its `Outcome`.
"""

from __future__ import annotations

from bodymotion.collection.inputs import find_files, root_of
from bodymotion.collection.mapping import Outcome, ProcessEndedError, in_order, map_files

__all__ = ["Outcome", "ProcessEndedError", "find_files", "in_order", "map_files", "root_of"]
