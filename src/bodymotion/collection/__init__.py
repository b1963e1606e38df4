"""Find the files of many motions, and map a function over them on all cores.

A run that was interrupted continues where it ended.

Start at `open_collection` and `build_catalogue`, or with files at `find_files` and
`map_files`. A function that is mapped gets one input; what it raises is the `error` of
its `Outcome`.
"""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
