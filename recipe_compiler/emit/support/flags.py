"""Flags of the jit that every function of the support code shares.

Support functions are called from jitted code alone: without the wrappers for other callers they compile faster.
"""

_FASTMATH = {"contract", "nsz", "arcp"}  # neither nnan, ninf nor reassoc: they break finite checks and exact rounding
