"""Mathematics over plain arrays, compiled for large inputs.

Kernels use no Body, but parents, offsets, axes and joint values.

Kernels are compiled on first use and cached on disk (`compiling.py`). The cache depends
on the file of the called function alone: after a change to an inlined function of
another file, save the caller's file, too, or remove the `__pycache__` folder.
"""
