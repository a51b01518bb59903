"""What follows from the dynamics: grad H, Gamma, drift, noise."""
