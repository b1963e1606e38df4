"""Readers and writers of files.

One package or module per format, and the registry of formats.
"""
