"""Two ways to write mathematics: plain text in the language of specs, and LaTeX."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.latex import latex_name


@dataclass(frozen=True, slots=True)
class Plain:
    """The language of specs: `-C @ inv(M) @ r`; in index notation `-sum_jk C[i,j] inv(M)[j,k] r[k]`."""

    times: str = " "
    chain: str = " @ "
    scalar_times: str = "*"

    def symbol(self, name: str) -> str:
        """Write a name as it is."""
        return name

    def at(self, name: str, places: Sequence[str]) -> str:
        """Write `r[i]`."""
        return f"{name}[{','.join(places)}]" if places else name

    def partial(self, block: str, places: Sequence[str]) -> str:
        """Write `d_theta[i]`."""
        return f"{self.at(f'd_{block}', places)} "

    def total(self, letters: Sequence[str]) -> str:
        """Write `sum_jk`."""
        return f"sum_{''.join(letters)} " if all(len(x) == 1 for x in letters) else f"sum_({','.join(letters)}) "

    def power(self, base: str, exponent: Fraction, *, simple: bool) -> str:
        """Write `r[i]**2`, `sqrt(1 + x)`."""
        if exponent == Fraction(1, 2):
            return f"sqrt({base})"
        inner = base if simple else f"({base})"
        if exponent == 1:
            return inner
        return f"{inner}**{exponent}" if exponent.denominator == 1 and exponent > 0 else f"{inner}**({exponent})"

    def call(self, fn: str, args: Sequence[str]) -> str:
        """Write `exp(x)`."""
        if fn.startswith("where "):
            return f"where({args[0]} {fn.removeprefix('where ')} {args[1]}, {args[2]}, {args[3]})"
        return f"{fn}({', '.join(args)})"

    def ratio(self, above: str, below: str, *, compound: bool) -> str:
        """Write `a/(2*d)`."""
        return f"{above}/({below})" if compound else f"{above}/{below}"

    def delta(self, places: Sequence[str]) -> str:
        """Write `delta[i,j]`."""
        return f"delta[{','.join(places)}]"

    def group(self, scalar: str) -> str:
        """Write `(r.T @ r)`."""
        return f"({scalar})" if "@" in outermost(scalar) else scalar

    def factor(self, link: str) -> str:
        """Write a link as it is: every one is a name or a call."""
        return link

    def inverse(self, matrix: str, *, simple: bool) -> str:
        """Write `inv(M)`."""
        return f"inv({matrix})"

    def transpose(self, matrix: str) -> str:
        """Write `B.T`."""
        return f"{matrix}.T"

    def gradient(self, function: str, block: str, order: int) -> str:
        """Write `grad(U, theta)`, `hessian(U, theta)`."""
        return f"{'grad' if order == 1 else 'hessian'}({function}, {block})"

    def divergence(self, matrix: str, block: str) -> str:
        """Write `div(K, theta)`."""
        return f"div({matrix}, {block})"


@dataclass(frozen=True, slots=True)
class Latex:
    r"""LaTeX as papers have it: `-C M^{-1} r - \nabla_{\theta} U`."""

    times: str = r" \, "
    chain: str = " "
    scalar_times: str = r" \, "

    def symbol(self, name: str) -> str:
        """Write Greek names as letters, what follows a letter as a subscript."""
        return latex_name(name)

    def at(self, name: str, places: Sequence[str]) -> str:
        """Write `r_{i}`."""
        if not places:
            return name
        body = f"\\left({name}\\right)" if "_" in name or "^" in name else name
        return f"{body}_{{{' '.join(places)}}}"

    def partial(self, block: str, places: Sequence[str]) -> str:
        r"""Write `\partial_{\theta_{i}}`."""
        return f"\\partial_{{{self.at(self.symbol(block), places)}}} "

    def total(self, letters: Sequence[str]) -> str:
        r"""Write `\sum_{j,k}`."""
        return f"\\sum_{{{', '.join(letters)}}} "

    def power(self, base: str, exponent: Fraction, *, simple: bool) -> str:
        """Write powers and square roots."""
        if exponent == Fraction(1, 2):
            return f"\\sqrt{{{base}}}"
        if exponent == 1 and simple:
            return base
        inner = base if simple and "^" not in base else f"\\left({base}\\right)"
        return inner if exponent == 1 else f"{inner}^{{{exponent}}}"

    def call(self, fn: str, args: Sequence[str]) -> str:
        """Write functions upright."""
        if fn.startswith("where "):
            op = {">=": r"\ge", "<=": r"\le", "==": "="}.get(fn.removeprefix("where "), fn.removeprefix("where "))
            left, right, yes, no = args
            return rf"\begin{{cases}} {yes} & {left} {op} {right} \\ {no} & \text{{otherwise}} \end{{cases}}"
        if fn in FUNCTIONS:
            return FUNCTIONS[fn].latex_of(args[0])
        if fn == "logdet":
            return rf"\log\det {args[0]}"
        return rf"\operatorname{{{fn}}}\left({', '.join(args)}\right)"

    def ratio(self, above: str, below: str, *, compound: bool) -> str:
        """Write a fraction."""
        if below.startswith(r"\left(") and below.endswith(r"\right)") and outermost(below) == r"\left":
            below = below.removeprefix(r"\left(").removesuffix(r"\right)")
        return rf"\frac{{{above}}}{{{below}}}"

    def delta(self, places: Sequence[str]) -> str:
        r"""Write `\delta_{ij}`."""
        return rf"\delta_{{{' '.join(places)}}}"

    def group(self, scalar: str) -> str:
        """Write a scalar product as it is: `r^T r` reads as one."""
        return scalar

    def factor(self, link: str) -> str:
        """Write a divergence in parentheses."""
        return rf"\left({link}\right)" if r"\cdot" in link else link

    def inverse(self, matrix: str, *, simple: bool) -> str:
        """Write `M^{-1}`."""
        return f"{matrix}^{{-1}}" if simple else rf"\left({matrix}\right)^{{-1}}"

    def transpose(self, matrix: str) -> str:
        r"""Write `B^{\top}`."""
        body = rf"\left({matrix}\right)" if "^" in matrix or " " in matrix else matrix
        return rf"{body}^{{\top}}"

    def gradient(self, function: str, block: str, order: int) -> str:
        r"""Write `\nabla_{\theta} U`."""
        return rf"\nabla{'' if order == 1 else '^2'}_{{{self.symbol(block)}}} {function}"

    def divergence(self, matrix: str, block: str) -> str:
        r"""Write `\nabla_{\theta} \cdot K`."""
        return rf"\nabla_{{{self.symbol(block)}}} \cdot {matrix}"


Style = Plain | Latex
"""How names, indices, powers and products are written."""
PLAIN = Plain()
LATEX = Latex()


def outermost(written: str) -> str:
    """Return the characters outside all parentheses, brackets and braces: `a + b` for `a(x) + b[i]`."""
    depth = 0
    found: list[str] = []
    for character in written:
        depth -= character in ")]}"
        if depth == 0 and character not in "()[]{}":
            found.append(character)
        depth += character in "([{"
    return "".join(found)
