"""Existing step functions, run on symbols in a limited child process, and judged against dynamics."""
