"""Is exp(-H) the unique invariant distribution? Noise and its brackets, surfaces, the faces of the domain."""
