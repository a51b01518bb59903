"""Is each piece of a word moved for one step in all? Else another equation is integrated."""

from recipe_compiler.spec.model import Scheme
from recipe_compiler.splitting.words import shares
from recipe_compiler.verdict import Answer, Proved, Refuted


def whole_shares(scheme: Scheme) -> Answer:
    """Decide that sum_m s_m = 1 over the letters of each piece, and that the word contains every piece that is stated.

    exp(s_1 eps L_1) ... exp(s_m eps L_m) is 1 + eps sum_k L_k + O(eps**2) if and only if that is so: otherwise another
    equation is integrated. Refuted by the shares that are not 1; never undecided.
    """
    found = {**dict.fromkeys(dict(scheme.pieces), 0), **shares(scheme.split)}
    where = scheme.source.place("split")
    wrong = tuple((f"share of {name}", str(share)) for name, share in found.items() if share != 1)
    if wrong:
        return Answer(Refuted("the shares of each piece, added up", wrong), where=where)
    return Answer(Proved("the shares of each piece, added up"), where=where)
