"""A linear programme solved by floats: what it proposes is rounded, and proved by exact numbers where it is used."""

import pickle
from functools import lru_cache
from typing import Any, cast

from scipy.optimize import linprog

KEPT = 8
"""Solutions that are kept: data as they are written mostly ask for what the same data asked for as doubles."""


def minimum(cost: Any, **conditions: Any) -> Any:
    """Return what SciPy finds of the least c.x with A_ub x <= b_ub, A_eq x = b_eq, x in `bounds`: its `x`, `success`.

    It is shared by all who ask for the same: nobody may change it.

    Args:
        cost: c, one number for each x.
        conditions: A_ub (rows, len(c)), b_ub (rows), A_eq, b_eq and `bounds`, as `scipy.optimize.linprog` names them.
    """
    return _found(pickle.dumps((cost, conditions)))


@lru_cache(maxsize=KEPT)
def _found(asked: bytes) -> Any:
    """Return it of a programme whose numbers are given as bytes, since arrays are no keys."""
    cost, conditions = pickle.loads(asked)  # of this process's own
    # SciPy states no types of it: to work them out from its code takes longer than to check all of this folder.
    return cast(Any, linprog)(cost, method="highs", **conditions)
