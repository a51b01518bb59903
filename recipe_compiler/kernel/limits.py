"""How much work a finding may take. What exceeds a limit is not confirmed: it is named as trusted, or as not read."""

GENERATORS = 160
"""Functions and coordinates in the polynomials of one page."""
COORDINATES = 40
"""Coordinates of a state, and rows and columns of a matrix."""
FEW_TERMS = 20
"""Terms of a polynomial that are kept to evaluate it again."""
TERMS = 20_000
"""Terms of a polynomial."""
WORK = 3_000_000
"""Pairs of terms in one product, and products of pieces of a word."""
EXPONENT = 1000
"""Exponents, and letters of a word."""
ROOT = 12
"""Roots, derivatives of log gamma, and factors of a binomial."""
BITS = 200_000
"""Bits of the coefficients of a power."""
PRECISIONS = (300, 3000, 12000)
"""Bits of balls: the next where a sign is open."""
PAIRS = 5
"""Pairs of Gaussian draws in a moment, and powers of sqrt(step) that are compared."""
CHARACTERS, NESTING = 10_000, 60
"""Characters of a formula, and depth of its brackets; letters of a word whose covariance is computed."""
PASSES = 6
"""Rounds in which relations reduce a polynomial."""
REMEMBERED = 4096
"""Formulas that are kept as they were read."""
BYTES = 20_000_000
"""Bytes of a certificate."""
