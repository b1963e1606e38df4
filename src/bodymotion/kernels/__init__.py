"""Compiled mathematics over plain arrays. Knows no Body: it gets parents, offsets, axes and joint values."""
