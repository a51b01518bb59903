"""Emitted modules on data."""
