"""Is each piece of a word moved for one step in all? Else another equation is integrated."""

from recipe_compiler.spec.model import Scheme
from recipe_compiler.splitting.words import shares
from recipe_compiler.verdict import Answer, Proved, Refuted


def whole_shares(scheme: Scheme) -> Answer:
    """Decide that the shares of each piece add up to 1, and that the word contains every piece that is stated."""
    found = {**dict.fromkeys(dict(scheme.pieces), 0), **shares(scheme.split)}
    where = scheme.source.place("split")
    wrong = tuple((f"share of {name}", str(share)) for name, share in found.items() if share != 1)
    if wrong:
        return Answer(Refuted("the shares of each piece, added up", wrong), where=where)
    return Answer(Proved("the shares of each piece, added up"), where=where)
