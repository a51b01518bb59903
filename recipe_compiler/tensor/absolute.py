"""Absolute values and signs: x = sign(x) abs(x) everywhere, and what follows for products of the three.

With s = sign(x), a product x**a abs(x)**b s**c of whole powers is s**p abs(x)**n wherever x is not zero, n = a + b and
p the parity of a + c. At x = 0 it is zero or not defined, unless a = b = 0: only then must `s**2` stay.
"""

from collections.abc import Iterable
from fractions import Fraction

from recipe_compiler.tensor.atoms import Factor, indices
from recipe_compiler.tensor.calculus_protocol import Arithmetic
from recipe_compiler.tensor.powers import content
from recipe_compiler.tensor.terms import Applied, Atom, Tensor, Term

ABS, SIGN = "abs", "sign"


def unscaled(c: Arithmetic, arg: Tensor) -> tuple[Fraction, Tensor]:
    """Split a nonzero argument into a rational number and a tensor whose first coefficient is positive.

    -2 x + 4 y is -2 times (x - 2 y), so that abs(-2 x + 4 y) = 2 abs(x - 2 y) and sign(-2 x + 4 y) = -sign(x - 2 y).
    """
    number = content([term.coefficient for term in arg.terms])
    number = -number if arg.terms[0].coefficient < 0 else number
    return number, c.scale(arg, 1 / number)


def without_signs(c: Arithmetic, factors: list[Factor]) -> tuple[list[Factor], list[Tensor]]:
    """Bring absolute values, signs and their arguments into one form; return factors, and tensors to multiply in.

    Those tensors are powers of arguments that are sums, which the caller multiplies out. The forms, with n = a + b of
    x**a abs(x)**b sign(x)**c:

        a + c even      x**n for even n, abs(x)**n for odd n
        a + c odd       x**n for odd n, x abs(x)**(n-1) for even n
        n = 0           sign(x) where a + c is odd, else sign(x)**2 if only signs were there, else 1

    Products of products need not end in one form: abs(x)/x is sign(x), which no longer shows that x is not zero, so its
    square stays. Worked: x abs(x) sign(x) has a = b = c = 1, hence n = 2 and a + c even: it is x**2.
    """
    powers = dict(factors)
    new: list[Tensor] = []
    for arg in _list_arguments(powers):
        old = _read_exponents(powers, arg)
        if any(exponent.denominator != 1 for exponent in old):
            continue
        now = _canonical_exponents(*old)
        if now == old:
            continue
        own = _sole_atom(arg)
        for atom, exponent in zip((Applied(ABS, (arg,)), Applied(SIGN, (arg,))), now[1:], strict=True):
            _set_exponent(powers, atom, exponent)
        if own is not None:
            _set_exponent(powers, own, now[0])
        elif now[0]:
            new.append(c.power(arg, now[0]))
    return list(powers.items()), new


def _list_arguments(atoms: Iterable[Atom]) -> list[Tensor]:
    """Return the arguments of absolute values and signs, each once."""
    found = [atom.args[0] for atom in atoms if isinstance(atom, Applied) and atom.fn in (ABS, SIGN)]
    return list(dict.fromkeys(found))


def _read_exponents(powers: dict[Atom, Fraction], arg: Tensor) -> tuple[Fraction, Fraction, Fraction]:
    """Return the exponents of x, abs(x) and sign(x) in a product; a sum x has exponent 0."""
    own = _sole_atom(arg)
    zero = Fraction(0)
    a = zero if own is None else powers.get(own, zero)
    return a, powers.get(Applied(ABS, (arg,)), zero), powers.get(Applied(SIGN, (arg,)), zero)


def _canonical_exponents(a: Fraction, b: Fraction, c: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Return the exponents of x, abs(x) and sign(x) in canonical form."""
    zero, one = Fraction(0), Fraction(1)
    n, odd = a + b, (a + c) % 2
    if not n:
        square = 2 * one if c and not a and not b else zero
        return zero, zero, odd or square
    if not odd:
        return (zero, n, zero) if n % 2 else (n, zero, zero)
    return (n, zero, zero) if n % 2 else (one, n - 1, zero)


def _sole_atom(arg: Tensor) -> Atom | None:
    """Return the atom that an argument is, if it is one and no sum over its places."""
    match arg.terms:
        case (Term(coefficient, ((atom, exponent),) as factors),) if coefficient == exponent == 1:
            return atom if indices(factors) <= set(arg.free) else None
        case _:
            return None


def _set_exponent(powers: dict[Atom, Fraction], atom: Atom, exponent: Fraction) -> None:
    """Store the exponent of an atom, or remove the atom where it is 0."""
    if exponent:
        powers[atom] = exponent
    else:
        powers.pop(atom, None)
