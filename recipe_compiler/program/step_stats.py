"""What a step of a chain reports of its moves besides the state: the names of these statistics."""

from recipe_compiler.spec.model import MOST_MOVES

ACCEPTANCE = "acceptance"
"""The mean probability with which the ends of trajectories are taken; their sum where not all are in each cycle."""
UNSOLVED, IRREVERSIBLE = "unsolved", "irreversible"
"""Whether a trajectory of steps that are solved for ended in no number, or does not lead back to where it began."""
TRIED = "tried"
"""How many were there to be accepted, of a cycle that does not have all each time."""
INVOLUTION_ACCEPTANCE = "involution_acceptance"
"""The mean probability with which the involutions of a cycle are taken; their sum where not all are in each."""
INVOLUTIONS_TRIED = "involutions_tried"
"""How many there were in a cycle, where not all are in each."""
TOO_FEW = "too_few"
"""How many draws by slices of a cycle had a level below what no place holds."""


def of_kind(name: str, k: int) -> str:
    """Return the name of a statistic of the k-th kind of accepted moves, counted from 0."""
    return f"{name}_{k + 1}"


REPORTED = (
    *(ACCEPTANCE, UNSOLVED, IRREVERSIBLE, TRIED, INVOLUTION_ACCEPTANCE, INVOLUTIONS_TRIED, TOO_FEW),
    *(of_kind(name, k) for k in range(MOST_MOVES) for name in (ACCEPTANCE, TRIED)),
)
"""What a step may leave besides the state of the chain."""

TRIES = {
    ACCEPTANCE: TRIED,
    INVOLUTION_ACCEPTANCE: INVOLUTIONS_TRIED,
    **{of_kind(ACCEPTANCE, k): of_kind(TRIED, k) for k in range(MOST_MOVES)},
}
"""Mean probabilities, to how many were tried: reported where that is not one count in each cycle."""
