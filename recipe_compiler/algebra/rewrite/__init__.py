"""Typed formulas rewritten: transposes carried down, Hessians of sums."""
