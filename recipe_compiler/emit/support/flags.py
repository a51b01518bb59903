"""Flags of the jit that every function of the support code shares."""

_FASTMATH = {"contract", "nsz", "arcp"}  # neither nnan, ninf nor reassoc: they break finite checks and exact rounding
