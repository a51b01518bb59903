"""What happens far out: Lyapunov functions, currents through infinity, Feller's test."""
