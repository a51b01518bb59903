"""How much work a verdict may take, by kind of work. What exceeds a limit is *undecided*, never another verdict.

Limits of work give the same answer on every machine; those of time and memory are the last resort. Constants elsewhere
are mathematics: primes, seeds, tolerances, tables of values to try.
"""

SIZES = 3
"""Sizes 1, 2, 3 tried of a dimension that a document leaves open, and dimensions of which all combinations are."""
COORDINATES = 8
"""Coordinates, and rows of a matrix, written out in symbols; no open dimension is tried at a larger size."""
FEW_COORDINATES = 4
"""The same where work grows exponentially: inverses, minors one by one, directions on a grid."""
STEP = 12
"""Coordinates of a step in code that is followed at the sizes of its build; of a larger one smaller sizes are."""
STATE = 100
"""Coordinates of a state, each with its own equation."""
ROWS = 220
"""Rows of a matrix of numbers that is eliminated exactly."""
ENTRIES = 600
"""Entries of a tensor, values of discrete blocks, and namings of indices that are gone through one by one."""
DATA = 300_000
"""Numbers of the data, sets of its rows, and operations of a step that is followed."""

SUMMANDS = 64
"""Terms of a formula that is multiplied out."""
FACTORED = 400
"""Terms of a polynomial that is factored."""
TERMS = 4_000
"""Terms, generators and unknowns of a polynomial, and operations of an expression, that is formed."""
PAIRS = 4_000_000
"""Pairs of terms multiplied for one product or one determinant."""
POWER = 8
"""Powers multiplied out, the order of Taylor series, and of moments of Gaussian draws."""
DEGREE = 24
"""The degree of a polynomial whose roots, common zeros or growth are determined."""
MONOMIALS = 5
"""The degree of monomials of several coordinates that an ansatz has."""
EXCHANGED = 5
"""Indices of a product that are looked at for one of two equal factors."""

CASES = 6
"""Things of which every choice is tried: signs, sides, subsets, orders."""
POINTS = 48
"""Points at which a claim is tried."""
TRIALS = 8
"""Trials that cost much each: points of a move, descents, objectives, repairs."""
SAMPLES = 240
"""Points drawn in floats, and the shortest equations that an ansatz is solved from."""
CANDIDATES = 60
"""Candidates tried of one kind: brackets, minors, tensors, repairs."""
SHOWN = 5
"""Explanations of one kind after which no more are looked for."""
DEPTH = 3
"""Levels of brackets, terms changed at once, and rounds of what is repeated until nothing changes."""

BITS = 256
"""Bits of a ball; of the first, where more are taken as long as a sign is open."""
MOST_BITS = 4096
"""Bits of a number, and of a ball, beyond which nothing is computed; also the largest exponent."""
PRIME = 10_000
"""Primes that are split off an integer; what is left counts as one."""
CHARACTERS = 240
"""Characters of a formula in a sentence; a longer one is cut, or a value takes its place."""

REMEMBERED = 2**14
"""Results of a function that are kept."""
SUBJECTS = 64
"""The same where each holds a document: a check is about a few subjects at a few sizes."""

CLAIM_SECONDS = 5.0
"""Processor time that one job may take, and preparing all of them."""
DOCUMENT_SECONDS = 30.0
"""Processor time that all jobs about one document may take together."""
MEMORY = 2**30
"""Address space, in bytes, that a child may take beyond what it starts with."""
