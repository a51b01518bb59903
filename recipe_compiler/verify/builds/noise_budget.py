"""Does a build inject enough noise to take the gradient's out? 2D - eps B_hat must be positive semidefinite.

B_hat = (D+Q) blockdiag(V, 0) (D+Q)^T is what the noise of the minibatch gradient, of covariance V, adds to a step (Ma,
Chen, Fox 2015, Sec. 2.3): one step of the corrected rule draws from N(0, eps (2D - eps B_hat)). A small eps is not
always enough: it takes range(B_hat) in range(D), and then eps <= 2 / lambda_max(D^{+1/2} B_hat D^{+1/2}).
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.transposes import chain, plain, reflected
from recipe_compiler.derive.noise import gradient_covariance
from recipe_compiler.derive.recipe import derive
from recipe_compiler.errors import ModelError
from recipe_compiler.facts.semidefinite import semidefinite
from recipe_compiler.formula.build import add, matmul, multiply
from recipe_compiler.formula.expression import Formula, Identity, Multiply, Number, Power
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.splitting.gradient_noise import LOST, OtherFormError, find_subtraction
from recipe_compiler.verdict import Answer, Decision, Proved, Undecided, Verdict, undecided
from recipe_compiler.verify.builds.noise_budget_exact import Budget, Matrix, decide_exact_budget
from recipe_compiler.verify.builds.noise_budget_word import decide_word_at
from recipe_compiler.verify.core.build_values import bind_values, list_unread_parameters, put_values_in
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.premises import require_values

NOT_GIVEN_UP = "V is stated but not subtracted: the noise of the gradient biases the chain"
"""The remark on a word for which no reduction of the noise of O is derived."""
ADDED = "W is added to the gradient and not subtracted: the draws are too wide, by O(eps) where D takes it up"
"""The remark on noise that is added, and is within what D could give up."""


def noise_budget(build: Build, bound: Dynamics) -> Answer:
    """Decide that 2D - eps B_hat, n x n over the state, is positive semidefinite at the step size, at every state.

    B_hat = (D + Q) blockdiag(V, 0) (D + Q).T (Ma, Chen, Fox 2015, Sec. 2.3). At the build's exact values if it has
    them, else by structure. A word decides it letter by letter (`noise_budget_word`). For SGHMC with friction C it is 2
    C - eps V >= 0; for HMC, D = 0, it is -eps V, which no eps > 0 makes nonnegative unless V = 0.
    """
    where = build.source.place("variant" if build.has_exact_gradient else "gradient_noise")
    if build.has_exact_gradient:
        return Answer(Proved("the gradient is exact"), where=where)
    lost = (LOST,) if build.scheme.split else ()
    if is_zero(build.V) and build.W is not None:
        found = noise_budget(replace(build, V=build.W, W=None, variant="minibatch"), bound)
        kept = is_proved(found)
        decision = replace(found.decision, remarks=(ADDED, *lost)) if kept else found.decision
        return replace(found, decision=decision, where=where)
    if is_zero(build.V):
        return Answer(Proved("V = 0: no gradient noise is subtracted", remarks=lost), where=where)
    if build.scheme.split:
        decision = _decide_word(build, bound)
        remarked = isinstance(decision, Proved)
        return Answer(replace(decision, remarks=(*decision.remarks, *lost)) if remarked else decision, where=where)
    budget = _assemble_budget(build, bound)
    if budget is None:
        reason = "D, Q or the potential's block is not given, so B_hat is unknown"
        return undecided(reason, where=where)
    if not budget.blocks:
        return Answer(Proved("the gradient enters no block, so B_hat = 0"), where=where)
    if build.estimated is not None:
        return Answer(_defer_to_run(budget, build.estimated, _checked_when(build)), where=where)
    return Answer(_compare_with_double(lambda eps: _decide_budget(replace(budget, eps=eps), build), build), where=where)


def _decide_word(build: Build, bound: Dynamics) -> Decision:
    """Return the decision about the noise that letters of a word give up; nothing where that is not derived."""
    derivation, declarations = derive(bound), bound.declarations
    try:
        found = find_subtraction(derivation, build.scheme, gradient_covariance(derivation, build.V))
    except ModelError as fault:
        return Undecided((f"the word is not a step: {fault}",))
    except OtherFormError as why:
        if (budget := _assemble_budget(build, bound)) and all(is_zero(x) for row in budget.D for x in row):
            return _decide_budget(budget, build)
        return Proved(f"nothing is subtracted: {why}", (), (), (NOT_GIVEN_UP,))
    budget = _assemble_budget(build, bound)
    needed = require_values(
        [] if budget is None else [*(x for row in budget.D for x in row), *budget.W, budget.V], declarations
    )
    if needed.open:
        return Undecided(tuple(f"not shown: {what}" for what in needed.open), given=tuple(sorted(needed.given)))
    if build.estimated is not None:
        given = f"the {build.estimated} that is estimated leaves it so: the emitted module refuses any other"
        return Proved(_checked_when(build), (*sorted(needed.given), given))
    decided = _compare_with_double(lambda eps: decide_word_at(found, build, bound, eps), build)
    return replace(decided, given=(*sorted(needed.given), *decided.given))


def _checked_when(build: Build) -> str:
    if build.moving is None:
        return "the emitted module checks it before the first step"
    return "the emitted module checks it before the first step, then at each draw, where a run shrinks V until it holds"


def _defer_to_run(budget: Budget, name: str, checked: str) -> Decision:
    """Return the decision where a run computes V at its start: it rests on a condition that the run enforces.

    `prepare` computes sqrt(eps (2D - eps B_hat)) before the first step and refuses an eps at which that is not real;
    where D or B_hat depends on the state, no step size is refused, and nothing is decided here.
    """
    blocks = frozenset(block.name for block in budget.declarations.blocks)
    formulas = [*(x for row in budget.D for x in row), *budget.W]
    uses = [dependence(formula) for formula in formulas]
    if any(blocks & set(use.blocks) or use.functions for use in uses):
        return Undecided((f"{name} is estimated before a run, and D or Q depends on the state: no eps_max follows",))
    given = (f"eps <= eps_max of the {name} that is estimated: the emitted module checks it before its first step",)
    return Proved(checked, given)


def _compare_with_double(decide: Callable[[Fraction], Decision], build: Build) -> Decision:
    """Return the decision at the stated step size, with the remark where the double that runs decides otherwise."""
    stated = decide(build.eps)
    runs = Fraction(build.run.eps)
    if runs == build.eps or isinstance(stated, Undecided):
        return stated
    rounded = decide(runs)
    if rounded.verdict is stated.verdict:
        return stated
    keeps = {Verdict.PROVED: "keeps to it", Verdict.REFUTED: "does not", Verdict.UNDECIDED: "may not"}[rounded.verdict]
    apart = f"{float(abs(runs - build.eps)):.2g}"
    remark = f"what runs is {build.run.eps!r}, the double nearest to eps, {apart} from it, which {keeps}"
    if isinstance(stated, Proved):
        return replace(stated, remarks=(*stated.remarks, remark))
    return replace(stated, residual=f"{stated.residual}; {remark}")


def _decide_budget(budget: Budget, build: Build) -> Decision:
    """Return the decision: at exact values first, then by structure for every state and size."""
    formulas = [*(x for row in budget.D for x in row), *budget.W, budget.V]
    needed = require_values(formulas, budget.declarations)
    given = tuple(sorted(needed.given))
    if needed.open:
        return Undecided(tuple(f"not shown: {what}" for what in needed.open), given=given)
    exact = decide_exact_budget(budget)
    if not isinstance(exact, str):
        return exact
    core = _factor_out(budget)
    if core is not None:
        found = semidefinite(core, budget.declarations)
        if found is not None:
            by = f"structure: {text(core)} is positive semidefinite, and D and B_hat are W X W^T with one W"
            data = (("eps", str(budget.eps)), ("inside", text(core)))
            return Proved(by, tuple(sorted(found.given | set(given))), data)
    tried = [f"at exact values: {exact}", "no rule shows it for every state"]
    tried += [
        f"the value of {name} is read from a file: the emitted module checks it before its first step"
        for name in list_unread_parameters(build)
    ]
    return Undecided(tuple(tried), given=given)


def _assemble_budget(build: Build, bound: Dynamics) -> Budget | None:
    """Return D, W and V at the build's values, in the blocks concerned; None where something is missing."""
    bound = bind_values(build) or bound
    D, Q = bound.D, bound.Q
    blocks = bound.declarations.blocks
    potential = next((f for f in bound.declarations.functions if f.role == "potential"), None)
    at = [n for n, block in enumerate(blocks) if potential is not None and block.name in potential.of]
    if D is None or Q is None or len(at) != 1:
        return None
    W = [_add_nonzero(D[a][at[0]], Q[a][at[0]]) for a in range(len(blocks))]
    group = _extend_by_D(D, {a for a, w in enumerate(W) if not is_zero(w)})
    return Budget(
        tuple(blocks[a] for a in group),
        tuple(tuple(D[a][b] for b in group) for a in group),
        tuple(W[a] for a in group),
        put_values_in(build.V, build),
        build.eps,
        bound.declarations,
    )


def _extend_by_D(D: Matrix, group: set[int]) -> tuple[int, ...]:
    """Return a group of blocks with all that D couples to them; outside, 2D - eps B_hat is 2D."""
    while True:
        more = {b for a in group for b in range(len(D)) if not (is_zero(D[a][b]) and is_zero(D[b][a]))} | group
        if more == group:
            return tuple(sorted(group))
        group = more


def _add_nonzero(left: Formula, right: Formula) -> Formula:
    terms = [term for term in (left, right) if not is_zero(term)]
    return add(terms, left.shape) if terms else left


def _factor_out(budget: Budget) -> Formula | None:
    """Return 2 s X - eps w**2 V where D = s L X L^T and W = w L in one block: its sign is that of 2D - eps B_hat.

    None where D and W do not share a left factor L as written.
    """
    if len(budget.blocks) != 1:
        return None
    declarations = budget.declarations
    D, W, V = (plain(formula, declarations) for formula in (budget.D[0][0], budget.W[0], budget.V))
    square = Shape(V.shape.rows, V.shape.cols)
    if not D.shape.sizes:
        rest = _list_factors(D)
        for factor in _list_factors(W) * 2:
            if factor == Number(Fraction(-1)):
                continue  # it is the square of W that counts
            if factor not in rest:
                return None
            rest.remove(factor)
        return _subtract_noise(_multiply_scalars(rest, Number(Fraction(1)), square), V, budget.eps)
    (scale, factors), (share, left) = chain(D), chain(W)
    left = tuple(factor for factor in left if not isinstance(factor, Identity))
    factors = tuple(factor for factor in factors if not isinstance(factor, Identity))
    right = reflected(left, declarations)
    inner = len(factors) - 2 * len(left)
    if inner < 0 or factors[: len(left)] != left or factors[len(factors) - len(left) :] != right:
        return None
    size = V.shape.rows
    inside = factors[len(left) : len(left) + inner]
    X = reduce(partial(matmul, shape=square), inside) if inside else Identity(size or 1)
    drawn = _multiply_scalars(scale, X, square)
    return _subtract_noise(drawn, _multiply_scalars((*share, *share), V, square), budget.eps)


def _list_factors(formula: Formula) -> list[Formula]:
    """Return the factors of a scalar, ones left out."""
    match formula:
        case Multiply(left, right):
            return [*_list_factors(left), *_list_factors(right)]
        case Power(base, Number(exponent)) if exponent.denominator == 1 and 0 < exponent <= limits.POWER:
            return _list_factors(base) * int(exponent)
        case Number(value):
            return [formula] if value != 1 else []
        case _:
            return [formula]


def _subtract_noise(drawn: Formula, taken: Formula, eps: Fraction) -> Formula:
    """Return `2 drawn - eps taken`."""
    shape = taken.shape
    return add([multiply(Number(c), x, shape) for c, x in ((Fraction(2), drawn), (-eps, taken))], shape)


def _multiply_scalars(scalars: Iterable[Formula], matrix: Formula, shape: Shape) -> Formula:
    for scalar in scalars:
        matrix = multiply(scalar, matrix, shape)
    return matrix
