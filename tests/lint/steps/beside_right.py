"""A module that right steps import."""

import numpy as np


def force(x):
    return x - x**3


def scaled(noise, factor):
    return noise * np.sqrt(factor)
