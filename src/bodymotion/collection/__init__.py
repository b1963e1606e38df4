"""Many motions: find their files, map a function over them on all cores, and continue
where a run was interrupted.

Start at `open_collection` and `build_catalogue`, or with files at `find_files` and
`map_files`. A function that is mapped gets one input; what it raises is the `error` of
its `Outcome`.
"""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
