"""Do solutions run off to infinity in finite time? Lyapunov functions, integrals at infinity, Feller's test."""
