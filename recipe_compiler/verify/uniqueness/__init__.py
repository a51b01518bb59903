"""Is exp(-H) the only stationary law? Noise and its brackets, surfaces, the faces of the domain."""
