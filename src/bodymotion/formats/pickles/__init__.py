"""Motions in Python pickles (.pkl) or archives of PyTorch (.pt). Only reading.

Dictionaries of arrays, as GMR, TWIST2, ASAP and MimicKit write them. A pickle is a
program for a stack machine that can call any function of Python. Here a machine of our
own interprets it (`machine`): it builds numbers, texts, lists, tuples and dictionaries,
and the arrays of NumPy and joblib from their bytes. It calls nothing: other names are
refused.

A pickle may be compressed (`formats.compression`), as joblib does it. An archive of
PyTorch is a zip file with the pickle `data.pkl`, whose tensors have storages, the files
`data/KEY`.

The dictionary has the keys of a layout of `formats.npz.layouts`; or it has such
dictionaries by the names of motions: the first is read.
"""

from bodymotion.formats.pickles.reader import read_pickle

__all__ = ["read_pickle"]
