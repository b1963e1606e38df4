"""YAML for every format that is written in it.

A tree of nodes with locations (`tree`), and how to read on in a text that is no YAML.
"""
