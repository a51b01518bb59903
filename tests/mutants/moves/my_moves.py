"""Moves of mutants that are code. No test runs them."""

from numba import njit


@njit
def push(theta, r, mu, Sigma, stream):
    """Move theta the way that r points."""
    theta += r
