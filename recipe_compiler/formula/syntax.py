"""Text to syntax tree: the only door from text. A whitelist grammar read by recursive descent; nothing is evaluated.

Precedence, loosest first: `|`, `&`, comparison and `~`, `+ -`, `* / @`, unary `-`, `**` (from the right), `.T [k]`:
that of Python but for conditions, which `|`, `&` and `~` join as SymPy prints them. Where these may stand, typing says.
"""

import keyword
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from recipe_compiler.errors import Place, SpecError
from recipe_compiler.formula import tree
from recipe_compiler.formula.bounds import check_bounds
from recipe_compiler.formula.expression import CALCULUS, ELEMENTWISE, ELEMENTWISE_PAIRS, MATRIX_FUNCTIONS
from recipe_compiler.formula.shapes import MAX_SIZE
from recipe_compiler.formula.tree import fault_at


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text and the offset of its first character."""

    mark: str
    """What it is: `number`, `name`, `operator`, `end`; `refused`, a character outside the grammar, ends the reading."""
    text: str
    offset: int


_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<operator>\*\*|<=|>=|==|[-+*/@()\[\],.<>&|~])"
)

_REASONS = {
    "^": ("'^' is not an operator of formulas", "write ** for a power, inv(A) for an inverse"),
    "_": ("'_' cannot start a name or stand in a number", "names start with a letter; numbers are written without '_'"),
    "=": ("'=' is not an operator of formulas", "write == in an assumption"),
    ":": ("':' is not in the grammar of formulas", ""),
    "'": (
        "`'` is not in the grammar of formulas",
        "write next(r) for the value after a step, A.T for a transpose, grad(s, b) for a derivative",
    ),
    ";": ("';' is not in the grammar of formulas", "write a comma between arguments, and nothing at the end"),
    '"': ("text in quotes is not in the grammar of formulas", ""),
    "#": ("'#' is not in the grammar of formulas", "put comments in the document, outside the formula"),
    "!": (
        "'!' is not in the grammar of formulas",
        "comparisons are > >= < <= ==; a name that is not zero is declared, `is: nonzero`",
    ),
}


def tokens(text: str) -> tuple[Token, ...]:
    """Cut `text` into tokens, the last of which is the end or, at the first character that cannot be read, refused."""
    found: list[Token] = []
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            return (*found, Token("refused", text[offset], offset))
        if match.lastgroup is not None and match.lastgroup != "space":
            found.append(Token(match.lastgroup, match.group(), offset))
        offset = match.end()
    return (*found, Token("end", "", len(text)))


def why_refused(character: str) -> tuple[str, str]:
    """Return the problem with a character that starts no token, and a hint."""
    if not character.isascii():
        name = unicodedata.name(character, "unnamed")
        return f"found U+{ord(character):04X} ({name}), expected ASCII characters only", "type the ASCII look-alike"
    if not character.isprintable():
        return f"found the control character U+{ord(character):04X}", "remove it"
    return _REASONS.get(character, (f"'{character}' is not in the grammar of formulas", ""))


T = TypeVar("T")

MAX_CHARACTERS = 10_000
MAX_NESTING = 60
MAX_NAME = 63
MAX_DIGITS = 400
MAX_DECIMAL_EXPONENT = 400
ATTRIBUTES = {
    "I": "write the inverse inv(M) and matrix products @: p.T @ inv(M) @ p",
    "inv": "write inv(M)",
    "dot": "write u.T @ v, or dot(u, v)",
    "sum": "write sum(v)",
    "det": "write det(A)",
    "trace": "write trace(A)",
    "diff": "write grad(H, theta)",
    "transpose": "write A.T",
}
"""What objects of NumPy and SymPy have, and what formulas write for it."""

_CLOSED = {")": "(...)", "]": "[...]"}
_NO_OPERANDS = {"+": "leave the sign + out", "|": "write abs(x) of a number, norm2(v) for the square of a norm"}
_LEVELS = (("|",), ("&",), (">", ">=", "<", "<=", "=="), ("+", "-"), ("*", "/", "@"))
_BINDS = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_FUNCTIONS = ELEMENTWISE | ELEMENTWISE_PAIRS | MATRIX_FUNCTIONS | CALCULUS | {"where"}

NO_LETTERS = (
    "positions are numbers; over all of them write sum(v), u.T @ v, trace(A): sum(theta**2) for Sum(theta[i]**2, ...)"
)


def parse(text: str, entry: str, where: Place) -> tree.Tree:
    """Read a formula.

    Args:
        text: The formula: ASCII, at most 10,000 characters, nested at most 60 deep (long sums are not nested).
        entry: The entry of the document it stands at, for faults.
        where: The place of the first character of `text`.

    Returns:
        The untyped tree; decimals are exact ratios (`0.1` is 1/10).

    Raises:
        SpecError: The text is not in the grammar, or out of bounds; the fault points to the first guilty character.
    """
    breaks = tuple(offset for offset, character in enumerate(text[:MAX_CHARACTERS]) if character == "\n")
    reader = _Reader(tokens(text[:MAX_CHARACTERS]), (0, *(b + 1 for b in breaks)), entry, where)
    if len(text) > MAX_CHARACTERS:
        raise reader.error(reader.tokens[0], f"found {len(text):,} characters, expected at most {MAX_CHARACTERS:,}")
    formula = reader.formula(0)
    reader.expect_end()
    check_bounds(formula, entry, where)
    return formula


@dataclass(slots=True)
class _Reader:
    """The tokens and how many of them have been read."""

    tokens: tuple[Token, ...]
    line_starts: tuple[int, ...]
    entry: str
    where: Place
    position: int = 0
    has_letters: bool = False
    """Whether a position was a name."""

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def at(self, token: Token) -> tree.Spot:
        line = bisect_right(self.line_starts, token.offset) - 1
        return tree.Spot(line, token.offset - self.line_starts[line])

    def error(self, token: Token, problem: str, hint: str = "") -> SpecError:
        hint = hint or (NO_LETTERS if self.has_letters else "")
        return SpecError([fault_at(self.where, self.at(token), self.entry, problem, hint)])

    def take(self) -> Token:
        token = self.token
        self.position += 1
        return token

    def sees(self, *texts: str) -> bool:
        return self.token.mark == "operator" and self.token.text in texts

    def accepts(self, *texts: str) -> bool:
        """Whether one of some operators stands here; it is taken then."""
        return self.sees(*texts) and bool(self.take())

    def several(self, read: Callable[[], T], bracket: str) -> tuple[T, ...]:
        """Return what stands between commas up to a closing bracket."""
        found = [read()]
        while self.accepts(","):
            found.append(read())
        self.close(bracket)
        return tuple(found)

    def deeper(self, depth: int, by: int = 1) -> int:
        if depth + by > MAX_NESTING:
            raise self.error(self.token, f"nested more than {MAX_NESTING} deep", "name a part, or split the formula")
        return depth + by

    def formula(self, depth: int, least: int = 0) -> tree.Tree:
        """Read operands joined by operators that bind at least so tightly."""
        start, found = self.token, self.unary(depth)
        while (own := _BINDS.get(self.token.text, -1)) >= least:
            parts, operators = [found], list[Token]()
            while _BINDS.get(self.token.text) == own:
                operators.append(self.take())
                if operators[-1].text == "@":  # matrix products do not regroup: a chain is as deep as it is long
                    depth = self.deeper(depth)
                parts.append(self.formula(depth, own + 1))
            found = self.joined(parts, operators, self.at(start))
        return found

    def joined(self, parts: list[tree.Tree], operators: list[Token], at: tree.Spot) -> tree.Tree:
        first, *more = operators
        match first.text:
            case "|" | "&":
                return tree.Call("Or" if first.text == "|" else "And", tuple(parts), at, language=True)
            case "+" | "-":
                rest = zip(operators, parts[1:], strict=True)
                signed = (tree.Negate(term, term.at) if sign.text == "-" else term for sign, term in rest)
                return tree.Sum((parts[0], *signed), at)
            case "*" | "/" | "@":
                return tree.Product(tuple(parts), tuple(operator.text for operator in operators), at)
            case op if more:
                raise self.error(more[0], "a chain of comparisons", "state each comparison by itself")
            case op:
                return tree.Comparison(op, *parts, at)

    def unary(self, depth: int) -> tree.Tree:
        start = self.token
        if self.accepts("-"):
            return tree.Negate(self.unary(self.deeper(depth)), self.at(start))
        if self.accepts("~"):
            condition = self.formula(self.deeper(depth), _BINDS["=="])
            return tree.Call("Not", (condition,), self.at(start), language=True)
        base = self.postfix(depth)
        if not self.accepts("**"):
            return base
        return tree.Power(base, self.unary(self.deeper(depth)), self.at(start))

    def postfix(self, depth: int) -> tree.Tree:
        start = self.token
        formula = self.atom(depth)
        while self.sees(".", "["):
            depth = self.deeper(depth)
            if self.take().text == "[":
                formula = tree.Subscript(formula, self.several(self.position_at, "]"), self.at(start))
                continue
            name = self.take() if self.token.mark == "name" else self.token
            if name.text != "T":
                none = f"write {name.text}(...)" if name.text in _FUNCTIONS else "no other attribute is in the grammar"
                hint = ATTRIBUTES.get(name.text, none)
                raise self.error(name, f"found '.{name.text}', expected '.T'", hint)
            formula = tree.Transposed(formula, self.at(start))
        return formula

    def position_at(self) -> tree.Position:
        token = self.take() if self.token.mark in {"number", "name"} else self.token
        if token.mark == "name":
            self.has_letters = True
            return token.text
        if not token.text.isdigit():
            problem = f"found {_shown(token)}, expected a position 0, 1, 2, ..., or an index field of the data"
            raise self.error(token, problem, "write theta[0]")
        if len(token.text) >= len(str(MAX_SIZE)):
            raise self.error(token, f"a position of more than {len(str(MAX_SIZE)) - 1} digits")
        return int(token.text)

    def atom(self, depth: int) -> tree.Tree:
        token = self.token
        if token.mark == "number":
            self.take()
            return tree.Literal(self.number(token), self.at(token))
        if token.mark == "name":
            return self.name(self.take(), depth)
        if self.sees("("):
            depth = self.deeper(depth)
            self.take()
            inside = self.several(lambda: self.formula(depth), ")")
            return inside[0] if len(inside) == 1 else tree.Group(inside, self.at(token))
        if self.sees("["):
            return self.vector(depth)
        raise self.no_operand(token)

    def vector(self, depth: int) -> tree.Explicit:
        """`[a, b]`, a column entry by entry; `[[a, b], [c, d]]`, a matrix row by row."""
        start, depth = self.take(), self.deeper(depth)
        rows = [
            tuple(inner for (inner,) in entry.rows)
            if isinstance(entry, tree.Explicit) and len(entry.rows[0]) == 1
            else (entry,)
            for entry in self.several(lambda: self.formula(depth), "]")
        ]
        if len({len(row) for row in rows}) > 1:
            raise self.error(start, "found rows of different lengths in a list", "rows have as many entries each")
        return tree.Explicit(tuple(rows), self.at(start))

    def number(self, token: Token) -> Fraction:
        digits, _, exponent = token.text.lower().partition("e")
        if len(digits) > MAX_DIGITS:
            raise self.error(token, f"a number of more than {MAX_DIGITS} digits", "round it")
        power = exponent.lstrip("+-").lstrip("0")
        if len(power) > len(str(MAX_DECIMAL_EXPONENT)) or int(power or "0") > MAX_DECIMAL_EXPONENT:
            raise self.error(token, f"a decimal exponent beyond {MAX_DECIMAL_EXPONENT}", "rescale")
        return Fraction(token.text)

    def name(self, token: Token, depth: int) -> tree.Tree:
        if len(token.text) > MAX_NAME:
            raise self.error(token, f"a name of {len(token.text)} characters, expected at most {MAX_NAME}")
        if token.text == "True":
            return tree.Constant(token.text, self.at(token))
        if keyword.iskeyword(token.text):
            raise self.error(token, f"'{token.text}' is a keyword of Python, not in the grammar of formulas")
        if not self.sees("("):
            return tree.Name(token.text, self.at(token))
        depth = self.deeper(depth)
        self.take()
        if self.sees(")"):
            raise self.error(self.token, f"'{token.text}()' has no argument", f"write {token.text} or {token.text}(x)")
        return tree.Call(token.text, self.several(lambda: self.formula(depth), ")"), self.at(token))

    def close(self, bracket: str) -> None:
        if not self.accepts(bracket):
            raise self.stray(self.token, f"'{bracket}'")

    def expect_end(self) -> None:
        if self.token.mark != "end":
            raise self.stray(self.token, "an operator or the end")

    def no_operand(self, token: Token) -> SpecError:
        if token.mark == "refused":
            return self.error(token, *why_refused(token.text))
        return self.error(
            token, f"found {_shown(token)}, expected a number, a name or '('", _NO_OPERANDS.get(token.text, "")
        )

    def stray(self, token: Token, expected: str) -> SpecError:
        """Say why the formula cannot go on with `token`."""
        if token.mark == "refused":
            return self.error(token, *why_refused(token.text))
        if keyword.iskeyword(token.text):
            problem = f"'{token.text}' is a keyword of Python, not in the grammar of formulas"
            hint = "an assumption is a comparison, `c > 0`; kinds are declared, `c: {is: positive}`"
            return self.error(token, problem, hint if token.text in ("is", "in", "not") else "")
        if token.mark in ("number", "name") or token.text == "(":
            before = _CLOSED.get(self.tokens[self.position - 1].text) or self.tokens[self.position - 1].text
            after = "(...)" if token.text == "(" else token.text
            product = f"write {before}*{after}{', or @ for a product of matrices' if token.mark == 'name' else ''}"
            hint = f"write {before}({after})" if before in _FUNCTIONS else product
            hint = f"write grad({after}, b), b a block" if before in ("grad", "nabla") else hint
            return self.error(token, f"found {_shown(token)}, expected an operator (is a * missing?)", hint)
        hint = self.bracket_hint(token)
        if token.text == "~":
            hint = "instead of `theta ~ normal(0, 1)` add `normal(theta, 0, 1)`, the logarithm of its density"
        return self.error(token, f"found {_shown(token)}, expected {expected}", hint)

    def bracket_hint(self, token: Token) -> str:
        """Return which bracket the end of the formula leaves open, or that one which closes closes none."""
        is_end = token.mark == "end"
        if not is_end and token.text not in (")", "]"):
            return ""
        open_: list[int] = []
        for k, one in enumerate(self.tokens[: self.position]):
            if one.mark == "operator" and one.text in ("(", "["):
                open_.append(k)
            elif one.mark == "operator" and one.text in (")", "]") and open_:
                open_.pop()
        if not open_:
            return "" if is_end else f"no bracket is open here: leave `{token.text}` out, or open one before"
        opening = self.tokens[open_[-1]]
        before = self.tokens[open_[-1] - 1] if open_[-1] else opening
        called = before.text if before.mark == "name" else ""
        closing = ")" if opening.text == "(" else "]"
        return f"close `{called}{opening.text}` with `{closing}`"


def _shown(token: Token) -> str:
    return "the end of the formula" if token.mark == "end" else f"'{token.text[:40]}'"
