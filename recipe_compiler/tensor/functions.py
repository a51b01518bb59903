"""Scalar functions of whole index expressions: their exact rules.

    exp(a) exp(b) = exp(a + b)      exp(n log y) = y**n      log(exp a) = a      sin(x)**2 = 1 - cos(x)**2

A rule is used only if it holds wherever the expression it replaces is defined, on the declared domain: log(x y) is log
x + log y for positive x and y only.
"""

from collections.abc import Sequence
from fractions import Fraction

from recipe_compiler.formula.elementwise import FUNCTIONS, LOGARITHMS, Parity
from recipe_compiler.formula.expression import HOLDS
from recipe_compiler.tensor.absolute import unscaled, without_signs
from recipe_compiler.tensor.atoms import ONE, Factor, indices, occurring
from recipe_compiler.tensor.calculus_protocol import Arithmetic, as_number, constant, meaningless
from recipe_compiler.tensor.powers import split
from recipe_compiler.tensor.rule_tensors import written
from recipe_compiler.tensor.signs import factor_is_positive, is_nonnegative, is_positive
from recipe_compiler.tensor.terms import Applied, Atom, Delta, Index, MatrixFunction, Tensor, Term

_SQUARES = {name: row.square for name, row in FUNCTIONS.items() if row.square}


def applied(c: Arithmetic, fn: str, args: tuple[Tensor, ...]) -> Tensor:
    """Return fn(*args) in canonical form, entry by entry; its shape (free indices) is that of the arguments.

    Even and odd functions take out the sign of their argument: cos(-x) is cos(x), sin(-x) is -sin(x). sqrt is a power.
    Raises ModelError for the logarithm of a number that is not positive.
    """
    free = tuple(dict.fromkeys(index for arg in args for index in arg.free))
    if fn == "sqrt":
        return c.power(args[0], Fraction(1, 2))
    known = _exact_value(c, fn, args)
    if known is not None:
        return Tensor(free, known.terms)
    match fn:
        case "exp":
            return Tensor(free, _apply_exp(c, args[0]).terms)
        case "log":
            return Tensor(free, _apply_log(c, args[0]).terms)
        case "abs" if is_nonnegative(c.rules, args[0]):
            return args[0]
        case "abs" if is_nonnegative(c.rules, minus := c.scale(args[0], -1)):
            return minus
        case "sign" if is_positive(c.rules, args[0]):
            return constant(1, free)
        case "sign" if is_positive(c.rules, c.scale(args[0], -1)):
            return constant(-1, free)
        case "abs" | "sign":
            number, arg = unscaled(c, args[0])
            outside = abs(number) if fn == "abs" else (1 if number > 0 else -1)
            return Tensor(free, c.scale(_function_atom(fn, (arg,)), outside).terms)
        case _ if fn.startswith("where "):
            return Tensor(free, _apply_where(c, fn, args).terms)
        case _ if fn in FUNCTIONS and FUNCTIONS[fn].parity and args[0].terms and args[0].terms[0].coefficient < 0:
            flipped = _function_atom(fn, (c.scale(args[0], -1),))
            return Tensor(free, flipped.terms if FUNCTIONS[fn].parity is Parity.EVEN else c.scale(flipped, -1).terms)
        case _:
            return Tensor(free, _function_atom(fn, args).terms)


def combined(c: Arithmetic, factors: list[Factor]) -> tuple[list[Factor], list[Tensor]]:
    """Split factors into those that stay and products of functions, rewritten, which the caller multiplies in.

    exp(a) exp(b) = exp(a + b), squares by the `square` of a row, sin(x)**2 = 1 - cos(x)**2, and x = sign(x) abs(x).
    """
    factors, new = without_signs(c, factors)
    squares = {} if c.rules.stated else _SQUARES
    plain: list[Factor] = []
    exponentials: list[Factor] = []
    for atom, exponent in factors:
        match atom:
            case Applied("exp", _):
                exponentials.append((atom, exponent))
            case Applied(fn, args) if fn in squares and exponent.denominator == 1 and exponent >= 2:
                square = written(c, squares[fn], args[0])
                half, odd = divmod(exponent.numerator, 2)
                new.append(c.multiply(c.power(square, half), c.power(_function_atom(fn, args), odd)))
            case _:
                plain.append((atom, exponent))
    if not exponentials or _are_in_normal_form(exponentials):
        return [factor for factor in factors if factor in plain or factor in exponentials], new
    parts = [c.scale(atom.args[0], exponent) for atom, exponent in exponentials if isinstance(atom, Applied)]
    return plain, [*new, applied(c, "exp", (c.add(*parts),))]


def inside_logarithm(c: Arithmetic, atom: Atom) -> Tensor | None:
    """Return u of an atom that equals log(u), as 1 + x of log1p(x); None of any other atom."""
    if not isinstance(atom, Applied) or atom.fn not in LOGARITHMS:
        return None
    return written(c, FUNCTIONS[atom.fn].logarithm_of, atom.args[0])


def _function_atom(fn: str, args: tuple[Tensor, ...]) -> Tensor:
    """Return a function of tensors as a tensor of one atom, without rewriting."""
    args = tuple(occurring(arg) for arg in args)
    free = tuple(dict.fromkeys(index for arg in args for index in arg.free))
    return Tensor(free, (Term(ONE, ((Applied(fn, args), ONE),)),))


def _are_in_normal_form(exponentials: Sequence[Factor]) -> bool:
    """Whether exponentials are as `_apply_exp` leaves them: powers 1, none that could be joined."""
    if any(exponent != 1 for _, exponent in exponentials):
        return False
    if len(exponentials) == 1:
        return True
    groups = [indices((factor,)) for factor in exponentials]
    if sum(not group for group in groups) > 1 or sum(bool(group) for group in groups) < 2:
        return False
    return all(not a & b for n, a in enumerate(groups) for b in groups[:n])


def _apply_exp(c: Arithmetic, arg: Tensor) -> Tensor:
    """exp(x log y + rest) = y**x exp(rest) for rational x, so for log det; terms without a common index go apart."""
    powers: list[Tensor] = []
    rest: list[Term] = []
    for term in arg.terms:
        match term.factors:
            case ((Applied("log", (inner,)), exponent),) if exponent == 1 and indices(term.factors) <= set(arg.free):
                powers.append(c.power(inner, term.coefficient))
            case ((MatrixFunction("logdet", of), exponent),) if exponent == 1:
                powers.append(c.power(_tensor_of_atom(MatrixFunction("det", of)), term.coefficient))
            case _:
                rest.append(term)
    if powers:
        return c.multiply(*powers, applied(c, "exp", (c.collect(rest, arg.free),)))
    groups = [] if c.rules.stated else _group_by_indices(arg)
    if len([group for group in groups if group[0]]) < 2:
        return _function_atom("exp", (arg,))
    pieces = [c.collect(terms, sorted(group, key=lambda index: index.label)) for group, terms in groups]
    return c.collect([_join_factors([_function_atom("exp", (piece,)) for piece in pieces])], arg.free)


def _join_factors(atoms: Sequence[Tensor]) -> Term:
    """Return one term with the factors of several atoms."""
    return Term(ONE, tuple(factor for atom in atoms for factor in atom.terms[0].factors))


def _group_by_indices(arg: Tensor) -> list[tuple[set[Index], list[Term]]]:
    """Return the terms in groups that share no free index; those without any make one group."""
    groups: list[tuple[set[Index], list[Term]]] = []
    free = set(arg.free)
    for term in arg.terms:
        own = indices(term.factors) & free
        near = [group for group in groups if (group[0] & own) or (not own and not group[0])]
        groups = [group for group in groups if group not in near]
        groups.append((own.union(*(group[0] for group in near)), [*(t for group in near for t in group[1]), term]))
    return groups


def _apply_where(c: Arithmetic, fn: str, args: tuple[Tensor, ...]) -> Tensor:
    """where(p, delta A, delta B) = delta where(p, A, B), so that deltas can identify indices outside."""
    left, right, yes, no = args
    groups = dict.fromkeys(_list_deltas(term) for branch in (yes, no) for term in branch.terms)
    parts: list[Tensor] = []
    for deltas in groups:
        branches = [
            c.collect([_remove_deltas(t) for t in x.terms if _list_deltas(t) == deltas], x.free) for x in (yes, no)
        ]
        outside = c.collect([Term(ONE, deltas)], indices(deltas))
        parts.append(c.multiply(outside, _function_atom(fn, (left, right, *branches))))
    return c.add(*parts)


def _list_deltas(term: Term) -> tuple[Factor, ...]:
    """Return the Kronecker deltas of a term."""
    return tuple(factor for factor in term.factors if isinstance(factor[0], Delta))


def _remove_deltas(term: Term) -> Term:
    """Return a term without its Kronecker deltas."""
    return Term(term.coefficient, tuple(factor for factor in term.factors if not isinstance(factor[0], Delta)))


def _apply_log(c: Arithmetic, arg: Tensor) -> Tensor:
    """log(a b**n) = log a + n log b where b is positive; log exp x = x, log of a determinant is its own atom."""
    match arg.terms:
        case (term,) if c.rules.stated and (term.coefficient != 1 or len(term.factors) > 1):
            return _log_of_product(c, term, arg)
        case (term,) if term.coefficient > 0 and indices(term.factors) <= set(arg.free):
            own = [(atom, e) for atom, e in term.factors if not factor_is_positive(c.rules, (atom, ONE))]
            positive = [factor for factor in term.factors if factor not in own]
            if len(own) == 1 and own[0][1].numerator % 2 == 1:  # defined where the base itself is positive
                positive, own = [*positive, own[0]], []
            parts = [_log_number(c, term.coefficient)]
            parts += [c.scale(_log_atom(factor), factor[1]) for factor in positive]
            if own:
                parts.append(_function_atom("log", (c.collect([Term(ONE, tuple(own))], arg.free),)))
            return c.add(*parts)
        case _:
            return _function_atom("log", (arg,))


def _log_of_product(c: Arithmetic, term: Term, arg: Tensor) -> Tensor:
    """Return the logarithm of a product as one, without its exponentials and determinants: log(a exp(b)) = log a + b.

    That of a ratio near 1 is exact as it stands; the difference of two logarithms is not.
    """
    if not indices(term.factors) <= set(arg.free):
        return _function_atom("log", (arg,))
    apart = [factor for factor in term.factors if _has_plain_log(factor[0])]
    rest = c.collect([Term(term.coefficient, tuple(f for f in term.factors if f not in apart))], arg.free)
    parts = [c.scale(_log_atom(factor), factor[1]) for factor in apart]
    return c.add(*parts, applied(c, "log", (rest,)) if apart else _function_atom("log", (rest,)))


def _has_plain_log(atom: Atom) -> bool:
    """Whether the logarithm of an atom is written without log: determinants and exponentials."""
    return isinstance(atom, MatrixFunction | Applied) and atom.fn in {"det", "logdet", "exp"}


def _log_atom(factor: Factor) -> Tensor:
    """Return the logarithm of a factor's base, that of exp(u) as u."""
    match factor[0]:
        case Applied("exp", (arg,)):
            return arg
        case MatrixFunction("det", of):
            return _tensor_of_atom(MatrixFunction("logdet", of))
        case atom:
            return _function_atom("log", (_tensor_of_atom(atom),))


def _tensor_of_atom(atom: Atom) -> Tensor:
    """Return an atom as a tensor, all its indices free."""
    factors = ((atom, ONE),)
    return Tensor(tuple(sorted(indices(factors), key=lambda index: index.label)), (Term(ONE, factors),))


def _log_number(c: Arithmetic, value: Fraction) -> Tensor:
    """Return the logarithm of a positive rational as a sum over its primes."""
    logs = [(prime, count) for prime, count in split(value.numerator)]
    logs += [(prime, -count) for prime, count in split(value.denominator)]
    return c.add(constant(0), *(c.scale(_function_atom("log", (constant(prime),)), count) for prime, count in logs))


def _exact_value(c: Arithmetic, fn: str, args: tuple[Tensor, ...]) -> Tensor | None:
    """Return the value where the arguments are numbers that have an exact one."""
    numbers = [as_number(arg) for arg in args]
    match fn, numbers:
        case "log", [Fraction() as x]:
            if x <= 0:
                raise meaningless(f"found the logarithm of {x}")
            return None
        case "abs", [Fraction() as x]:
            return constant(abs(x))
        case "sign", [Fraction() as x]:
            return constant((x > 0) - (x < 0))
        case "minimum", [Fraction() as x, Fraction() as y]:
            return constant(min(x, y))
        case "maximum", [Fraction() as x, Fraction() as y]:
            return constant(max(x, y))
        case (("where >" | "where >=" | "where <" | "where <=" | "where =="), [Fraction() as x, Fraction() as y, _, _]):
            return args[2] if HOLDS[fn.removeprefix("where ")](x, y) else args[3]
        case "minimum" | "maximum", _ if args[0] == args[1]:
            return args[0]
        case _, [_, _, _, _] if args[2].terms == args[3].terms:
            return args[2]
        case _, [Fraction(numerator=0)] if fn in FUNCTIONS and FUNCTIONS[fn].at_zero:
            return written(c, FUNCTIONS[fn].at_zero, args[0])
        case _:
            return None
