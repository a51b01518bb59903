"""Exact questions about scalars."""
