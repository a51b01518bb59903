"""A step run once more with plain numbers, in a process that looks like a user's own.

The folder is copied beside no compiler and run there: it imports NumPy and Python's own modules, and itself by relative
names. What the process that follows a step does as well (draws, numba's names, what was returned) stands here once.
"""
