"""Fuzzing: any bytes in, a thing or a FormatError out. `python -m fuzz --help` says how to run it; docs/fuzzing.md says more."""
