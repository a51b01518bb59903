"""Stochastic differential equations at fixed sizes, in scalars."""
