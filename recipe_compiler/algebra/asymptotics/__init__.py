"""Behaviour at the edges of the domain."""
