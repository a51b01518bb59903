"""Settings that are chosen, not typed: values of the dynamics' parameters, step size, thinning, where chains start."""
