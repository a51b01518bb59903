"""Claims about the equation as it is written: kinds of D and Q, the claimed drift, circles, units."""
