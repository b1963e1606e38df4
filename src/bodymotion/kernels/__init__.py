"""Compiled mathematics over plain arrays. Knows no Body: it gets parents, offsets, axes and joint values.

Kernels are compiled on first use and kept on disk. The cache looks at the file of the called function alone: after a change to what it
inlines from another file (`trigonometry.py`), save its own file too, or remove the `__pycache__` folder.
"""
