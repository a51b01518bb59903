"""Finding a skew Q for a claimed drift: what the recipe leaves to be found when D and H are given (Theorem 2)."""
