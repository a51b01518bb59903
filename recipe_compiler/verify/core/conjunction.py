"""Answers that rest on several others, each with its name: all are proved, or the first that is not is named."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from recipe_compiler.verdict import AT_VALUES, OWN_FAULT, Answer, Proved, Refuted, Undecided, undecided

Obligation = tuple[str, Answer]
"""What is to be shown, in words, with the answer."""
NONE: Mapping[str, str] = MappingProxyType({})


def is_proved(answer: Answer) -> bool:
    """Whether an answer is a proof."""
    return isinstance(answer.decision, Proved)


def is_all_proved(obligations: Iterable[Obligation]) -> bool:
    """Whether every obligation is proved."""
    return all(is_proved(answer) for _, answer in obligations)


def conjoin(says: str, obligations: Sequence[Obligation], given: Iterable[str] = ()) -> Answer:
    """Return the proof that proved obligations make together, with their assumptions; undecided where one is open.

    Where one of them is about the values and sizes of a build alone, so is the whole.
    """
    if not is_all_proved(obligations):
        return undecided(*list_open_reasons(obligations))
    proofs = [(what, answer.decision) for what, answer in obligations if isinstance(answer.decision, Proved)]
    facts = {*given, *(fact for _, proof in proofs for fact in proof.given)}
    data = tuple((what, proof.by) for what, proof in proofs)
    for_d = next((answer.for_d for _, answer in obligations if answer.for_d != "all"), "all")
    if AT_VALUES not in says and any(AT_VALUES in proof.by for _, proof in proofs):
        says += AT_VALUES
    return Answer(
        Proved(says, tuple(sorted(facts)), data), for_d, find_common_sizes(answer for _, answer in obligations)
    )


def find_common_sizes(answers: Iterable[Answer]) -> tuple[tuple[tuple[str, int], ...], ...]:
    """Return the sizes at which the second engine agreed with all answers that looked at any."""
    looked = [answer.checked_at for answer in answers if answer.checked_at]
    return tuple(sizes for sizes in looked[0] if all(sizes in seen for seen in looked)) if looked else ()


def conjoin_each(found: Sequence[Obligation]) -> Answer:
    """Return the answer that a claim holds of each of several things: that of one alone; refuted where one is."""
    if len(found) == 1:
        return found[0][1]
    for what, answer in found:
        if isinstance(answer.decision, Refuted):
            return answer.but(by=f"{what}: {answer.decision.by}")
    proofs = [(what, answer.decision) for what, answer in found if isinstance(answer.decision, Proved)]
    ways = list(dict.fromkeys(proof.by for _, proof in proofs))
    says = ways[0] if len(ways) == 1 else "; ".join(f"{what}: {proof.by}" for what, proof in proofs)
    whole = conjoin(says, found)
    remarks = tuple(dict.fromkeys(remark for _, proof in proofs for remark in proof.remarks))
    return whole.but(remarks=remarks) if is_proved(whole) else whole


def name_those_with(found: Mapping[str, Answer], among: str = "", unsaid: Mapping[str, str] = NONE) -> Answer:
    """Return the answer that names which have a property and which have not; undecided where one is open.

    Args:
        found: the answer about the property, by name.
        among: added after the names of those that have it.
        unsaid: those that are not decided, with the reason.
    """
    given = tuple(sorted({fact for answer in found.values() for fact in answer.decision.given}))
    left = {name: answer.decision for name, answer in found.items() if isinstance(answer.decision, Undecided)}
    if left:
        tried = (f"{name}: {why}" for name, own in left.items() for why in own.tried or ("was not decided",))
        return undecided(*tried, given=given)
    yes = [name for name, answer in found.items() if is_proved(answer)]
    no = [name for name in found if name not in yes]
    says = [f"{', '.join(yes)}{among}" if yes else "none"]
    says += [f"not {', '.join(no)}"] if yes and no else []
    says += [f"not decided for {', '.join(f'{name} ({why})' for name, why in unsaid.items())}"] if unsaid else []
    data = tuple((name, _format_reason(answer)) for name, answer in found.items())
    return Answer(Proved("; ".join(says), given, data), "all", find_common_sizes(found[name] for name in yes))


def reject_if_refuted(proof: Answer, against: Answer | None) -> Answer:
    """Return a proof; undecided, as a fault of the program, if an exact point contradicts it."""
    if against is None or not (isinstance(against.decision, Refuted) and is_proved(proof)):
        return proof
    why = f"it was proved, and {against.decision.by}, at {format_point(against.decision.witness)}"
    return undecided(f"{OWN_FAULT}: {why}; please report this")


def format_point(witness: Iterable[tuple[str, str]]) -> str:
    """Return a point as text: `d = 1, theta = [2]`."""
    return ", ".join(f"{name} = {value}" for name, value in dict.fromkeys(witness))


def list_open_reasons(obligations: Iterable[Obligation]) -> tuple[str, ...]:
    """Return why obligations are not shown, each with its name."""
    found: list[str] = []
    for what, answer in obligations:
        match answer.decision:
            case Undecided(tried):
                found += [f"not shown: {what}: {reason}" for reason in tried]
            case Refuted(by, witness, residual):
                why = format_point(witness) or by
                found.append(f"does not hold: {what}: {why}{f'; residual {residual}' if residual else ''}")
    return tuple(found)


def _format_reason(answer: Answer) -> str:
    """Return why, in a line: how it was proved, or the point at which it fails."""
    if not isinstance(answer.decision, Refuted):
        return f"yes: {answer.decision.by}" if isinstance(answer.decision, Proved) else "open"
    by, witness, residual = answer.decision.by, answer.decision.witness, answer.decision.residual
    return f"no: {'; '.join(filter(None, (by, format_point(witness), f'residual {residual}' if residual else '')))}"
