"""A module that a step imports: it keeps a count."""

CALLS = [0]


def count():
    CALLS[0] += 1
    return CALLS[0]
