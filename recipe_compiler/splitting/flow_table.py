"""The table of flows: a piece gets the first exact one that fits it; numerical flows are chosen by name."""

from collections.abc import Callable, Mapping

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.errors import model_error
from recipe_compiler.splitting.constant_matrices import CONSTANT_MATRICES, find_constant_matrices
from recipe_compiler.splitting.entrywise import LINEAR, ORNSTEIN_UHLENBECK, SHIFT, find_entrywise_flow
from recipe_compiler.splitting.flow import Flow, NoRowError
from recipe_compiler.splitting.implicit import GENERALISED, MIDPOINT, find_generalised_leapfrog, find_midpoint
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.reflection import REFLECTED, find_reflected_flow
from recipe_compiler.splitting.riccati import RICCATI, find_riccati_flow
from recipe_compiler.splitting.transformed import TRANSFORMED, find_transformed_flow
from recipe_compiler.tensor.show import text

Row = Callable[[Derivation, Piece], Flow]
"""What matches a piece with its flow, or raises NoRowError."""

EXACT: Mapping[str, Row] = {
    f"{SHIFT}; {LINEAR}; {ORNSTEIN_UHLENBECK}": find_entrywise_flow,
    CONSTANT_MATRICES: find_constant_matrices,
    TRANSFORMED: find_transformed_flow,
    RICCATI: find_riccati_flow,
}
"""By what reports call them; some are found together."""
NAMED: Mapping[str, Row] = {
    MIDPOINT: find_midpoint,
    GENERALISED: find_generalised_leapfrog,
    REFLECTED: find_reflected_flow,
}
"""By the names that `flows: {A: midpoint}` has for them."""


def find_flow(derivation: Derivation, piece: Piece, named: str = "") -> Flow:
    """Return the flow of a piece: the first exact one that fits, or the one that is named.

    dr = -xi r dt + sqrt(2A) dW is Ornstein-Uhlenbeck's (Uhlenbeck, Ornstein 1930): r exp(-xi t) + N(0, A (1 - exp(-2 xi
    t))/xi) after a time t.

    Args:
        derivation: of the dynamics, multiplied out: degrees are read off it.
        piece: of that derivation.
        named: the name of a numerical flow; empty for an exact one.

    Raises:
        ModelError: no row of the table fits the piece; states its drift and why each row does not fit.
    """
    rows = {named: NAMED[named]} if named else EXACT
    reasons: list[str] = []
    for match_row in rows.values():
        try:
            return match_row(derivation, piece)
        except NoRowError as why:
            reasons.append(str(why))
    drifts = "; ".join(
        f"{block.name}: {text(f)}"
        for block, f in zip(derivation.blocks, piece.drift, strict=True)
        if block.name in piece.moved
    )
    kind = f"the flow {named}" if named else "an exact flow"
    problem = f"found the piece {piece.name} ({drifts}) without {kind}: {'; '.join(dict.fromkeys(reasons))}"
    hint = f"exact are: {'; '.join(EXACT)}. Cut the piece, use the scheme euler or sequential_euler"
    hint += "" if named else f", or a numerical flow, of order 2: `flows: {{{piece.name}: midpoint}}`"
    raise model_error("scheme.flows" if named else "scheme.split", problem, hint)
