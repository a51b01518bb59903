"""What is known of theta under the steps of a build's word where U is quadratic: is its covariance that of exp(-U)?

The word alone decides it (`splitting/configurational.py`), once its pieces are of Langevin's form: this is where that
is looked at, for every size. Friction may be any, and of several blocks together; of theta too.
"""

from collections.abc import Mapping
from dataclasses import replace

from recipe_compiler.derive.recipe import derive
from recipe_compiler.program.atoms import names_of
from recipe_compiler.splitting.flow import find_degree
from recipe_compiler.splitting.gradient_noise import NoiseRole, OtherFormError, find_kick_and_drift, list_state_names
from recipe_compiler.verdict import Answer, Proved, Refuted, undecided
from recipe_compiler.verify.core.conjunction import format_point, is_proved
from recipe_compiler.verify.equation.symmetry import q_skew
from recipe_compiler.verify.steps.kept import keeps_law
from recipe_compiler.verify.steps.pieces import pieces
from recipe_compiler.verify.steps.split import Split
from recipe_compiler.verify.words.configurational import exactness

EXACT, NOT_EXACT = "exact for quadratic U", "not exact for every quadratic U"


def configurational(split: Split) -> Answer:
    """Report whether Cov theta = inv(K), [d, d], for every quadratic U of Hessian K; both answers are proofs.

    BAOAB and ABOBA have it, [A, B, O] has not (Leimkuhler, Matthews 2013). Undecided only where the pieces are not of
    Langevin's form (`is_exact`), or it is not known of this friction.
    """
    made = is_exact(split)
    match made.decision:
        case Proved() as found:
            return replace(made, decision=replace(found, by=f"{EXACT}: {found.by}"))
        case Refuted(by, witness):
            return Answer(Proved(f"{NOT_EXACT}: {by}: {format_point(witness)}", (), (("at", format_point(witness)),)))
        case _:
            return made


def is_exact(split: Split) -> Answer:
    """Decide that the word, draws being kept at its end, has Cov theta = inv(K) for every quadratic U of Hessian K.

    It rests on: the pieces add up to the SDE; one piece moves theta by W.T dH/dr and one moves r by -W grad U, W
    constant, dH/dr linear in r, without noise; all others preserve exp(-H). Then the word alone decides
    (`words.configurational`). Undecided where the pieces have another form. (Leimkuhler, Matthews 2013.)
    """
    made = pieces(split)
    if not is_proved(made):
        return undecided("not shown: the pieces add up to the SDE")
    try:
        roles, given = _assign_roles(split)
    except OtherFormError as why:
        return undecided(str(why))
    found = exactness(split.scheme.word, roles, (*made.decision.given, *given))
    match found:
        case Proved():
            return replace(made, decision=found)
        case Refuted() if not _is_refutation_valid(split, roles):
            return undecided("not exact for every friction; not decided for this one")
        case _:
            return Answer(found)


def _assign_roles(split: Split) -> tuple[Mapping[str, NoiseRole], tuple[str, ...]]:
    """Return the role of every piece (kick, drift, friction with noise), with the facts used.

    B moves r by -W grad U, A moves theta by W^T dH/dr, both without noise, W constant and dH/dr linear in r; Q is skew.
    All other pieces move other blocks than theta and preserve exp(-H), hence the law of r given theta.

    Raises:
        OtherFormError: the pieces have another form.
    """
    if split.numerical:
        raise OtherFormError(f"the flow of {', '.join(split.numerical)} is numerical")
    of, names = split.derivation, split.subject.names
    kick, drift = find_kick_and_drift(of, split.pieces)
    (theta,) = drift.moved
    q, k = names.index(theta), names.index(r := kick.moved[0])
    state = list_state_names(of)
    if names_of(of.Q[k][q]) & state or names_of(kick.drift[k]) & state - {of.dynamics.potential}:
        raise OtherFormError(f"{kick.name} moves {r} by more than grad U times a constant matrix")
    n = find_degree(of.grad_H[k], frozenset(names), of.dynamics.declarations)
    only_r = all(entry.is_zero for m, entry in enumerate(of.Q[q]) if m != k)
    if n != 1 or set(names_of(of.grad_H[k]) & state) != {r} or not only_r:
        raise OtherFormError(f"{theta} is not moved by a linear function of {r} alone")
    if not is_proved(q_skew(split.subject)):
        raise OtherFormError("not shown: Q is skew")
    kept = {piece.name: keeps_law(split, piece) for piece in split.pieces if piece not in (kick, drift)}
    for name, answer in kept.items():
        if not is_proved(answer):
            raise OtherFormError(f"not shown: {name} preserves exp(-H), whatever {theta} is")
    roles = {kick.name: NoiseRole.KICK, drift.name: NoiseRole.DRIFT, **dict.fromkeys(kept, NoiseRole.DECAY)}
    return roles, tuple(sorted({fact for answer in kept.values() for fact in answer.decision.given}))


def _is_refutation_valid(split: Split, roles: Mapping[str, NoiseRole]) -> bool:
    """Return whether the law on the line is that of the build: O is friction with its noise, and moves r alone.

    U may be any quadratic. With K such that all omega are one, theta and r are pairs in the axes of the friction too,
    as both are symmetric; eps may be any, so that exp(-gamma eps) is what it should be of one gamma > 0.
    """
    by_role = {role: [piece for piece in split.pieces if roles[piece.name] is role] for role in NoiseRole}
    decays, kicked = by_role[NoiseRole.DECAY], by_role[NoiseRole.KICK][0].moved
    shapes = {block.name: block.shape for block in split.derivation.declarations.blocks}
    alike = shapes[kicked[0]] == shapes[by_role[NoiseRole.DRIFT][0].moved[0]]
    return not decays or (
        alike
        and len(decays) == 1
        and decays[0].moved == kicked
        and all(names_of(entry).isdisjoint(list_state_names(split.derivation)) for row in decays[0].D for entry in row)
        and all(entry.is_zero for part in decays[0].parts for row in derive(part).Q for entry in row)
    )
