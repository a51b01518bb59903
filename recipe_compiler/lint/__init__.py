"""Existing step functions: traced on symbols in a limited child process, and verified against dynamics."""
