"""Index notation: explicit sums, deltas, derivatives, canonical form."""
