"""Arrays of numbers, as types."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Doubles."""
