"""Is a recursion over the rows of the data what both engines read, and do its states stay where they are declared?

With s_0 = start(theta) and s_(n+1) = next(s_n, y_n, theta), U is made by composition: where start, next and the log
likelihood of a row are defined and differentiable for ALL states in their domains, and start and next lie in these, U
is so for every number of rows, by induction.
"""

from collections.abc import Iterator
from dataclasses import replace

from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.recursion import entry_of, in_domains, of_rows
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, Tensor
from recipe_compiler.verdict import Answer, Proved, Undecided
from recipe_compiler.verify.builds.one_datum import choose_small_sizes, compare_with_tensor, make_datum_index
from recipe_compiler.verify.builds.target import drop_state_domains, list_stated_formulas
from recipe_compiler.verify.core.identities import Identity, Question, decide
from recipe_compiler.verify.core.premises import require_comparisons, require_smooth_off_kinks

METHOD = "induction over the rows"


def has_recursion(target: Target) -> bool:
    """Whether states pass from row to row."""
    return bool(target.recursion)


def recursion(target: Target) -> Answer:
    """Decide, by induction over the rows, that states stay in their domains; both engines read the same recursion.

    s_0 = start(theta) and s_(n+1) = next(s_n, y_n, theta) lie in the domain for ALL s_n in it, all data and all theta.
    Worked: s' = omega + alpha y**2 + beta s with omega > 0 and alpha, beta >= 0 stays positive where s is. Undecided
    where that is not shown; never refuted.
    """
    where = target.source.place("recursion")
    shown = require_comparisons(in_domains(target), of_rows(target))
    if shown.open:
        return Answer(Undecided(tuple(f"not shown: {what}" for what in shown.open)), where=where)
    alike = decide_same_reading(target)
    if not isinstance(alike.decision, Proved):
        return replace(alike, where=where)
    given = drop_state_domains((*shown.given, *alike.decision.given), target)
    solved = target.stages
    remarks = () if solved is None else (f"U, and so the posterior, is that of discretised equations: {solved.says}",)
    return replace(alike, decision=Proved(f"{METHOD}; {alike.decision.by}", given, remarks=remarks), where=where)


def decide_same_reading(target: Target) -> Answer:
    """Return whether the engines agree on the formulas of a target with a recursion, which are defined."""
    declared = of_rows(target)
    identities = tuple(_list_identities(target))
    needed = require_smooth_off_kinks(list_stated_formulas(target), declared) | require_comparisons(
        in_domains(target), declared
    )
    return decide(Question(identities, declared, choose_small_sizes(target), needed, ""))


def _list_identities(target: Target) -> Iterator[Identity]:
    declared = of_rows(target)
    for entry, formula, is_of_row in _list_formulas(target):
        slots = tuple(Index(size, "i") for size in formula.shape.sizes)
        datum = make_datum_index(declared) if is_of_row else None
        where = target.source.place(entry)
        tensor = convert(formula, declared, *slots, datum=datum, entry=entry, where=where)
        says = f"{entry} in index notation minus it entry by entry"
        yield Identity(says, where, Tensor((), ()), compare_with_tensor(formula, tensor, declared))


def _list_formulas(target: Target) -> Iterator[tuple[str, Formula, bool]]:
    """Yield the formulas of U by their entries, and whether each is of a row."""
    if target.log_prior is not None:
        yield "log_prior", target.log_prior, False
    if target.log_likelihood is not None:
        yield "log_likelihood", target.log_likelihood, True
    for state in target.recursion:
        yield entry_of(state, "start"), state.start, False
        yield entry_of(state, "next"), state.next, True
