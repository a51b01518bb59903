"""Dynamics at rest with an energy whose names need no declaration: for tables of what an integral comes to."""

import re

POTENTIAL, OF_THETA = "{of: theta, role: potential}", "{of: theta}"
NAMES = {
    "parameters": {
        **dict.fromkeys(("a", "b", "c", "m", "g", "nu", "T", "w"), "{is: positive}"),
        "k": "{}",
        "n": "{is: nonnegative}",
        "e": "{shape: d, is: positive}",
        **dict.fromkeys(("mu", "v"), "{shape: d}"),
        "A": "{shape: [d, d]}",
        "M": "{shape: [d, d], is: positive definite}",
        "P": "{shape: [d, d], is: positive semidefinite}",
        "S": "{shape: [d, d], is: symmetric}",
    },
    "functions": {
        "U": POTENTIAL,
        "L": OF_THETA,
        "phi": OF_THETA,
        "h": "{of: theta, shape: d, is: positive}",
        "R": "{of: theta, shape: [d, d], is: symmetric}",
        "E": "{of: [theta, r]}",
        "G": "{of: theta, shape: [d, d], is: positive definite}",
    },
}
"""What a name stands for in every energy of the tables."""


def energy(state: str, H: str) -> str:
    """Return dynamics at rest with an energy, its names declared."""
    blocks = re.findall(r"(\w+): \{", state)
    rows = [[0] * len(blocks)] * len(blocks)
    used = {*re.findall(r"(?<![.\w])\w+", H)} - {*blocks}
    own = {key: ", ".join(f"{n}: {kind}" for n, kind in names.items() if n in used) for key, names in NAMES.items()}
    declared = "".join(f"{key}: {{{names}}}\n" for key, names in own.items())
    return f'state: {{{state}}}\n{declared}H: "{H}"\nD: {rows}\nQ: {rows}\n'
