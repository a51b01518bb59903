"""Rules that turn a derivation into one step of a chain."""
