"""A linear programme solved by floats: what it proposes is rounded, and proved by exact numbers where it is used."""

from typing import Any, cast

from scipy.optimize import linprog


def minimum(cost: Any, **conditions: Any) -> Any:
    """Return what SciPy finds of the least c.x with A_ub x <= b_ub, A_eq x = b_eq, x in `bounds`: its `x`, `success`.

    Args:
        cost: c, one number for each x.
        conditions: A_ub (rows, len(c)), b_ub (rows), A_eq, b_eq and `bounds`, as `scipy.optimize.linprog` names them.
    """
    # SciPy states no types of it: to work them out from its code takes longer than to check all of this folder.
    return cast(Any, linprog)(cost, method="highs", **conditions)
