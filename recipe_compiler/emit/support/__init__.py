"""Support code of emitted modules: random bits, normals, minibatch indices, stable elementary functions, seeds.

The modules here are ordinary numba modules, imported and tested as such; `text.py` hands out their source, word for
word, for an emitted file to carry along. They import math, numpy and numba alone.
"""
