"""Exact points: admissible ones, witnesses, kinds of exact numbers."""
