"""Answers that name what holds: nobody claims of a piece that it keeps a law, and it is no fault where it does not.

Each piece is asked one question. The claim is that the answer names the pieces of which it is shown to hold, and that
of all others it is shown not to: proved where every piece is decided, one way or the other.
"""

from collections.abc import Mapping
from types import MappingProxyType

from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided

NOTHING: Mapping[str, str] = MappingProxyType({})
OPEN = "was not decided"


def which_pieces(found: Mapping[str, Answer], of_those: str = "", unsaid: Mapping[str, str] = NOTHING) -> Answer:
    """Return the answer that names the pieces that have a property, and those that do not; undecided if one is open.

    Args:
        found: the answer of every piece about the property.
        of_those: added after the names of those that have it.
        unsaid: pieces about which nothing is said, with what moves them in the place of their flow.
    """
    left = {name: answer.decision for name, answer in found.items() if isinstance(answer.decision, Undecided)}
    given = tuple(sorted({fact for answer in found.values() for fact in answer.decision.given}))
    if left:
        tried = tuple(f"{name}: {what}" for name, decision in left.items() for what in decision.tried or (OPEN,))
        return Answer(Undecided(tried, given=given))
    yes = [name for name, answer in found.items() if isinstance(answer.decision, Proved)]
    no = [name for name in found if name not in yes]
    says = f"{', '.join(yes)}{of_those}" if yes else "none"
    data = tuple((name, _reason(answer)) for name, answer in found.items())
    looked = [set(answer.checked_at) for answer in found.values() if isinstance(answer.decision, Proved)]
    first = next(iter(found.values()), Answer(Undecided(()))).checked_at
    checked = tuple(sizes for sizes in first if all(sizes in seen for seen in looked))
    beside = [f"not {', '.join(no)}"] if yes and no else []
    beside += [f"not decided for {', '.join(f'{name} ({by})' for name, by in unsaid.items())}"] if unsaid else []
    return Answer(Proved("; ".join((says, *beside)), given, data), "all", checked)


def _reason(answer: Answer) -> str:
    """Return why, in a line: how it was proved, or the point at which it fails."""
    match answer.decision:
        case Refuted(by, witness, residual):
            at = ", ".join(f"{name} = {value}" for name, value in witness)
            return f"no: {'; '.join(filter(None, (by, at, f'residual {residual}' if residual else '')))}"
        case Proved(by):
            return f"yes: {by}"
        case Undecided():
            return "open"
