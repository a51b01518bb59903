"""Answers that rest on several obligations, each with its name: all are shown, or the first that is not is named."""

from collections.abc import Iterable, Sequence

from recipe_compiler.verdict import AT_VALUES, OWN_FAULT, Answer, Proved, Refuted, Undecided

Obligation = tuple[str, Answer]
"""What is to be shown, in words, with the answer."""


def is_shown(obligations: Iterable[Obligation]) -> bool:
    """Whether every obligation is proved."""
    return all(isinstance(answer.decision, Proved) for _, answer in obligations)


def shown(says: str, obligations: Sequence[Obligation], given: Iterable[str] = ()) -> Answer:
    """Return the proof that several proved obligations make together, with their assumptions and methods.

    Where one of them is about the values and sizes of a build alone, so is the whole.
    """
    proofs = [(what, answer, answer.decision) for what, answer in obligations if isinstance(answer.decision, Proved)]
    facts = {*given, *(fact for _, _, proof in proofs for fact in proof.given)}
    looked = [set(answer.checked_at) for _, answer, _ in proofs if answer.checked_at]
    first = next((answer.checked_at for _, answer, _ in proofs if answer.checked_at), ())
    checked = tuple(sizes for sizes in first if all(sizes in seen for seen in looked))
    data = tuple((what, proof.by) for what, _, proof in proofs)
    for_d = next((answer.for_d for _, answer, _ in proofs if answer.for_d != "all"), "all")
    if AT_VALUES not in says and any(AT_VALUES in proof.by for _, _, proof in proofs):
        says += AT_VALUES
    return Answer(Proved(says, tuple(sorted(facts)), data), for_d, checked)


def laws_kept(found: Sequence[Obligation]) -> Answer:
    """Return the answer about moves each of which has to keep the law of its block.

    One that is refuted refutes; otherwise everything open is listed; a proof names each way in which laws are kept
    once.
    """
    wrong = next((answer for _, answer in found if isinstance(answer.decision, Refuted)), None)
    if wrong is not None:
        return wrong
    if not is_shown(found):
        return Answer(Undecided(left_open(found)))
    ways = dict.fromkeys(answer.decision.by for _, answer in found if isinstance(answer.decision, Proved))
    return shown("; ".join(ways), found)


def unless_refuted(proof: Answer, against: Answer | None) -> Answer:
    """Return a proof; undecided, as a fault of the program, if an exact point contradicts it."""
    if against is None or not (isinstance(against.decision, Refuted) and isinstance(proof.decision, Proved)):
        return proof
    at = ", ".join(f"{name} = {value}" for name, value in against.decision.witness)
    return Answer(Undecided((f"{OWN_FAULT}: it was proved, and {against.decision.by}, at {at}; please report this",)))


def left_open(obligations: Iterable[Obligation]) -> tuple[str, ...]:
    """Return why obligations are not shown, each with its name."""
    return tuple(reason for what, answer in obligations for reason in _reasons(what, answer))


def _reasons(what: str, answer: Answer) -> Iterable[str]:
    match answer.decision:
        case Proved():
            return ()
        case Undecided(tried):
            return [f"not shown: {what}: {reason}" for reason in tried]
        case refuted:
            at = ", ".join(f"{name} = {value}" for name, value in refuted.witness)
            residual = f"; residual {refuted.residual}" if refuted.residual else ""
            return [f"does not hold: {what}: {at or refuted.by}{residual}"]
