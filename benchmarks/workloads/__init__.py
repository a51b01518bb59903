"""The workloads of the race: for each, contestants that do the same work."""
