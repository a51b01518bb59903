"""Scalar expressions as Python text, in the layout of the project's formatter.

Sums print as sums and differences, negative powers as quotients, rational numbers as decimals where those are exact.
"""

import re
from fractions import Fraction

from recipe_compiler.errors import model_error
from recipe_compiler.formula import elementwise
from recipe_compiler.program.loops import Call, Constant, Kronecker, Literal, Plus, Raise, Ref, Scalar, Times, Unsigned

FUNCTIONS = {
    **{row.name: row.emitted for row in elementwise.FUNCTIONS.values()},
    "minimum": "min",
    "maximum": "max",
    "float64": "np.float64",
    "uint64": "np.uint64",
    "inverse_log": "_inverse_log",
    "inverse_power": "_inverse_power",
    "inverse_exp": "_inverse_exp",
}
"""Elementwise functions of the language and inverses of transforms, and what computes them in an emitted module."""

BRANCHES = "where "
"""What calls of `where` begin with; the comparison of their first two arguments follows."""

LEAST, MOST = 2.2250738585072014e-308, 1.7976931348623157e308
"""The range of doubles that are as precise as any."""

BRANCHED, SUM, PRODUCT, UNARY, POWER, ATOM = range(6)

_EXPONENT = re.compile(r" ?\*\* ?\d+(?= |$)")


def print_scalar(value: Scalar) -> str:
    """Return a scalar expression as Python text."""
    return _print(value)[0]


def _print(value: Scalar) -> tuple[str, int]:
    match value:
        case Constant(number):
            return _number(number)
        case Ref(name, ()):
            return name, ATOM
        case Ref(name, at):
            return f"{name}[{', '.join(map(_position, at))}]", ATOM
        case Unsigned():
            return _position(value), BRANCHED
        case Literal(text):
            return text, ATOM
        case Plus():
            return _sum(value), SUM
        case Times(factors):
            return _product(factors)
        case Raise(base, exponent):
            return _power(base, exponent)
        case Call(fn, (left, right, yes, no)) if fn.startswith(BRANCHES):
            taken, first, second, other = map(_operand, (yes, left, right, no))
            return f"{taken} if {first} {fn.removeprefix(BRANCHES)} {second} else {other}", BRANCHED
        case Call("if", (flag, yes, no)):
            return f"{_operand(yes)} if {_operand(flag)} else {_operand(no)}", BRANCHED
        case Call("<", (left, right)):
            return f"{print_scalar(left)} < {print_scalar(right)}", BRANCHED
        case Call(fn, args):
            return f"{_function(fn)}({', '.join(print_scalar(arg) for arg in args)})", ATOM
        case Kronecker(left, right):
            return f"(1.0 if {left} == {right} else 0.0)", ATOM


def _position(place: str | int | Unsigned) -> str:
    """Return where an element is: integers without a sign where places are added."""
    if not isinstance(place, Unsigned):
        return str(place)
    first, *others = place.terms
    first = first if place.stride == 1 else f"np.uint64({place.stride}) * {first}"
    terms = (f"np.uint64({one})" if isinstance(one, int) else one for one in (first, *others) if one != 0)
    text = " + ".join(terms) or "0"
    return text if place.count is None else f"min({text}, np.uint64({place.count} - 1))"


def _operand(value: Scalar) -> str:
    """Return a part of a comparison, or a piece that it chooses."""
    text, level = _print(value)
    return f"({text})" if level == BRANCHED else text


def _function(fn: str) -> str:
    if fn not in FUNCTIONS:
        known = ", ".join(sorted(FUNCTIONS))
        problem = f"found {fn} in what a step has to compute, expected one of {known}"
        raise model_error(fn, problem, "state the target or the dynamics without it")
    return FUNCTIONS[fn]


def _number(number: Fraction) -> tuple[str, int]:
    text, level = _magnitude(abs(number))
    return (f"-{text}", min(level, UNARY)) if number < 0 else (text, level)


def _magnitude(number: Fraction) -> tuple[str, int]:
    if number and not Fraction(LEAST) <= number <= Fraction(MOST):
        problem = f"found a constant of about 1e{_exponent(number)}, expected one between {LEAST} and {MOST}"
        raise model_error("constant", problem, "measure in other units")
    if number.denominator == 1:
        return f"{number.numerator}.0" if number.numerator < 10**15 else repr(float(number)), ATOM
    decimal = repr(float(number))
    if len(decimal) <= 17 and Fraction(decimal) == number:
        return decimal, ATOM
    return f"{number.numerator}.0 / {number.denominator}.0", PRODUCT


def _exponent(number: Fraction) -> int:
    return len(str(number.numerator)) - len(str(number.denominator))


def print_terms(value: Plus) -> list[tuple[bool, str]]:
    """Return the terms of a sum as text, each with whether it is subtracted."""
    found: list[tuple[bool, str]] = []
    for term in value.terms:
        negative, magnitude = _sign(term)
        part, level = _print(magnitude)
        apart = level == BRANCHED or (negative and level == SUM)
        found.append((negative, f"({part})" if apart else part))
    return found


def _sum(value: Plus) -> str:
    (negative, text), *rest = print_terms(value)
    text = _minus(text) if negative else text
    return text + "".join(f" - {part}" if minus else f" + {part}" for minus, part in rest)


def _sign(term: Scalar) -> tuple[bool, Scalar]:
    """Split a leading minus off a term."""
    match term:
        case Constant(number) if number < 0:
            return True, Constant(-number)
        case Times((Constant(number), *rest)) if number < 0:
            left = (Constant(-number), *rest) if number != -1 else tuple(rest)
            return True, left[0] if len(left) == 1 else Times(left)
        case _:
            return False, term


def _product(factors: tuple[Scalar, ...]) -> tuple[str, int]:
    negative, value = _sign(Times(factors))
    inner = value.factors if isinstance(value, Times) else (value,)
    above: list[Scalar] = []
    below: list[Scalar] = []
    for factor in inner:
        match factor:
            case Raise(base, exponent) if exponent < 0:
                below.append(base if exponent == -1 else Raise(base, -exponent))
            case Constant(number) if number.numerator == 1 and number.denominator > 1:
                below.append(Constant(Fraction(number.denominator)))
            case _:
                above.append(factor)
    top = " * ".join(_in_product(factor) for factor in above) or "1.0"
    bottom = " * ".join(_in_product(factor) for factor in below)
    if not bottom and len(above) == 1:
        text, level = _print(above[0])
        text = f"({text})" if negative and level <= SUM else text
        level = level if not negative else UNARY
    else:
        bottom = f"({bottom})" if len(below) > 1 else bottom
        text, level = (f"{top} / {bottom}" if bottom else top), PRODUCT
    return (_minus(text), min(level, UNARY)) if negative else (text, level)


def _minus(text: str) -> str:
    """Return a product with a minus before it, a power that it starts with in parentheses, as the formatter has it."""
    exponent = _EXPONENT.match(text, _first_operand(text))
    return f"-{text}" if exponent is None else f"-({text[: exponent.end()]}){text[exponent.end() :]}"


def _first_operand(text: str) -> int:
    """Return where the first name, element, call or sum in parentheses ends."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0 and letter in " *":
            return place
    return len(text)


def _in_product(value: Scalar) -> str:
    text, level = _print(value)
    return text if level > PRODUCT and not text.startswith("-") else f"({text})"


def _power(base: Scalar, exponent: Fraction) -> tuple[str, int]:
    if exponent < 0:
        text, level = _power(base, -exponent) if exponent != -1 else _print(base)
        return f"1.0 / {text if level > PRODUCT else f'({text})'}", PRODUCT
    text, level = _print(base)
    if exponent == Fraction(1, 2):
        return f"math.sqrt({text})", ATOM
    operand = text if level == ATOM else f"({text})"
    if exponent.denominator == 1:
        simple = isinstance(base, Ref) and not base.at
        return f"{operand}**{exponent.numerator}" if simple else f"{operand} ** {exponent.numerator}", POWER
    return f"{operand} ** ({exponent.numerator}.0 / {exponent.denominator}.0)", POWER
