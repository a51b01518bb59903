"""Random terms: names and order of what is summed must not matter, and canonical form must not change a value."""

import random
from collections.abc import Iterator
from fractions import Fraction

from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.scalars import scalarise
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Grid,
    Index,
    MatrixFunction,
    SizeNumber,
    Slot,
    Tensor,
    Term,
)

FREE = (Index("d", "i"), Index("d", "j"))
ROW, COL = Index("d", "i"), Index("d", "j")
ONE = Fraction(1)


def random_term(draw: random.Random) -> Term:
    """Return a term over few indices, so that they often meet; what is summed is called t0, t1, ..."""
    pool: list[Slot] = [Index("d", f"t{n}") for n in range(draw.randint(1, 5))]
    slots = [*pool, *pool, *draw.sample(FREE, draw.randint(0, 2)), *([0] if draw.random() < 0.2 else [])]
    factors = [(random_atom(draw, slots), Fraction(draw.choice((1, 1, 1, 2)))) for _ in range(draw.randint(1, 5))]
    return Term(Fraction(draw.randint(1, 5), draw.randint(1, 3)), tuple(factors))


def random_atom(draw: random.Random, slots: list[Slot]) -> Atom:
    s, t, u = (draw.choice(slots) for _ in range(3))
    kind = draw.randint(0, 11)
    match kind:
        case 0:
            return Coordinate("r", (s,))
        case 1:
            return Coordinate("theta", (s,))
        case 2 | 3 | 4 | 5:
            return Component(("A", "S", "W", "M")[kind - 2], (s, t))
        case 6:
            return Component("G", (s, t), (Coordinate("theta", (u,)),))
        case 7:
            return Component("U", (), (Coordinate("theta", (s,)), Coordinate("theta", (t,))))
        case 8:
            return Delta(s, t)
        case 9:
            return MatrixFunction("inv", Grid(ROW, COL, entry("M")), (s, t))
        case 10:
            return Applied("softplus", (argument(draw, s, t),))
        case _:
            return Component("R", (s, t), (Coordinate("theta", (u,)),))


def entry(name: str) -> Tensor:
    return Tensor((ROW, COL), (Term(ONE, ((Component(name, (ROW, COL)), ONE),)),))


def argument(draw: random.Random, s: Slot, t: Slot) -> Tensor:
    """Return `S_st + sum_q A_sq r_q + r_t**2`, not canonical yet: as a user of terms would write it."""
    inner = Index("d", "_00_000")
    terms = [
        Term(ONE, ((Component("S", (s, t)), ONE),)),
        Term(Fraction(2), ((Component("A", (s, inner)), ONE), (Coordinate("r", (inner,)), ONE))),
        Term(ONE, ((Coordinate("r", (t,)), Fraction(2)),)),
    ]
    free = tuple(dict.fromkeys(slot for slot in (s, t) if isinstance(slot, Index)))
    return Tensor(free, tuple(draw.sample(terms, 3)))


def relabelled(draw: random.Random, term: Term) -> Term:
    """Return the term with other names for what is summed, other order, swapped symmetric slots."""
    names = [f"u{n}" for n in range(9)]
    draw.shuffle(names)
    moves = {Index("d", f"t{n}"): Index("d", names[n]) for n in range(9)}

    def slot(old: Slot) -> Slot:
        return moves.get(old, old) if isinstance(old, Index) else old

    def tensor(old: Tensor) -> Tensor:
        terms = [Term(t.coefficient, tuple((move(a), e) for a, e in t.factors)) for t in old.terms]
        draw.shuffle(terms)
        return Tensor(tuple(s for s in map(slot, old.free) if isinstance(s, Index)), tuple(terms))

    def move(atom: Atom) -> Atom:
        match atom:
            case Coordinate(block, at):
                return Coordinate(block, tuple(map(slot, at)))
            case Component(name, at, by):
                at = tuple(map(slot, at))
                if name in ("S", "M", "G") and draw.random() < 0.5:
                    at = at[::-1]
                by = tuple(Coordinate(x.block, tuple(map(slot, x.at))) for x in by)
                return Component(name, at, tuple(draw.sample(by, len(by))))
            case Delta(left, right):
                return Delta(slot(right), slot(left))
            case MatrixFunction(fn, of, (row, col)):
                return MatrixFunction(fn, of, (slot(col), slot(row)))
            case Applied(fn, args):
                return Applied(fn, tuple(map(tensor, args)))
            case Base(arg):
                return Base(tensor(arg))
            case _:
                return atom

    factors = [(move(atom), exponent) for atom, exponent in term.factors]
    draw.shuffle(factors)
    return Term(term.coefficient, tuple(factors))


def terms(count: int) -> Iterator[tuple[random.Random, Term]]:
    for seed in range(count):
        draw = random.Random(seed)
        yield draw, random_term(draw)


def canonical(c: Calculus, term: Term) -> Tensor:
    """Return the canonical form; arguments are made canonical first, as every way to make a tensor does."""
    return c.collect([rebuilt(c, term)], FREE)


def rebuilt(c: Calculus, term: Term) -> Term:
    factors = []
    for atom, exponent in term.factors:
        if isinstance(atom, Applied):
            arg = c.collect(atom.args[0].terms, atom.args[0].free)
            atom = Applied(atom.fn, (arg,))
        factors.append((atom, exponent))
    return Term(term.coefficient, tuple(factors))


def test_names_and_order_do_not_matter(c):
    for draw, term in terms(100):
        assert canonical(c, relabelled(draw, term)) == canonical(c, term), term


def test_canonical_form_is_its_own(c):
    for _, term in terms(150):
        form = canonical(c, term)
        assert c.collect(form.terms, FREE) == form


def test_terms_in_a_sum_cancel_whatever_their_names(c):
    for draw, term in terms(100):
        other = relabelled(draw, term)
        negative = Term(-other.coefficient, rebuilt(c, other).factors)
        assert c.collect([rebuilt(c, term), negative], FREE).is_zero


def test_canonical_form_keeps_every_value(c, world):
    for draw, term in terms(60):
        d = draw.choice((2, 2, 3))
        values = world(draw.randint(0, 99), {"d": d, "k": 2})
        at = {FREE[0]: draw.randrange(d), FREE[1]: draw.randrange(d)}
        assert values.value(canonical(c, term), at) == values.term(term, at)


def test_scalarise_agrees_with_the_sum_written_out(c, world):
    for draw, term in terms(30):
        if any(isinstance(atom, Applied) for atom, _ in term.factors):
            continue
        values = world(draw.randint(0, 99), {"d": 3, "k": 2})
        at = {FREE[0]: 2, FREE[1]: 1}
        expected = values.term(term, at)
        found = scalarise(canonical(c, term), values.sizes, at, values.leaf)
        assert Fraction(int(found.p), int(found.q)) == expected


def test_sizes_and_bases_keep_their_values(c, world):
    """Sums of powers of sums, with sizes in them, over common denominators."""
    i = Index("d", "i")
    s = c.add(c.coordinate("xi"), c.total(c.power(c.coordinate("r", i), 2), i))
    t = c.add(c.multiply(c.size("d"), c.power(s, -2)), c.power(c.add(s, c.constant(1)), 3))
    values = world(7, {"d": 3, "k": 2})
    raw = sum((values.component("r", (n,)) ** 2 for n in range(3)), values.component("xi", ()))
    assert values.value(t, {}) == 3 / raw**2 + (raw + 1) ** 3


def test_terms_are_not_all_zero_or_alike(c):
    """The generator makes enough that is different, or the tests above say nothing."""
    forms = {canonical(c, term) for _, term in terms(150)}
    assert len(forms) > 100
    assert sum(form.is_zero for form in forms) <= 1
    assert any(isinstance(atom, SizeNumber) for form in forms for term in form.terms for atom, _ in term.factors)
