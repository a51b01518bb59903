"""One ansatz for a missing Q, for repairs and for what is sampled instead: candidates times unknown constants."""
