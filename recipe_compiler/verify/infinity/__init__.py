"""Behaviour at infinity: Lyapunov functions, currents through infinity, Feller's test."""
