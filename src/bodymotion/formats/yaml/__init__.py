"""YAML for every format that is written in it.

A tree of nodes with locations (`tree`), and readers of the keys of a mapping
(`fields`).
"""
