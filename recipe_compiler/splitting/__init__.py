"""Splitting a recipe: pieces of (D, Q, H), their flows, and words over them."""
