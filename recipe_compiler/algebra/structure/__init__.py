"""Typed formulas by structure, for every size: definedness, semidefiniteness, regularity."""
