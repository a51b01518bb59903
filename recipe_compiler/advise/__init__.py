"""Advice on a run: settings chosen from the data, what a run will sample, and whether to believe what it drew."""
