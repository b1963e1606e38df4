"""YAML for every format that is written in it."""
