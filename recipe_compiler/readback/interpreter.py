"""Reads an emitted kernel: executes its own syntax tree on symbols, in exact arithmetic.

Decimals are exact ratios, arrays are arrays of expressions, every call is replaced by its exact meaning. Whatever is
outside the small language that kernels are written in is a CompilerError: what cannot be read is not shipped. A text is
parsed once for all the sizes at which it is read.
"""

import ast
import operator
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from math import prod
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import UndefinedFunction

from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS
from recipe_compiler.errors import CompilerError, ReadBackError
from recipe_compiler.readback.branches import chosen
from recipe_compiler.readback.equations import Equations
from recipe_compiler.readback.names import rounded
from recipe_compiler.readback.next_state import Cuts
from recipe_compiler.readback.noise import NoiseFactor, constant_factor, state_factor, symbolic
from recipe_compiler.readback.oracle import CHOOSE
from recipe_compiler.tensor.scalars import Scalar, rational

Value = Any
"""int, str, None, a SymPy expression, an object array, or a tuple or list of those."""

Fill = Callable[[list[Value]], Value]
"""What is done with the arguments of a function that is not entered."""
BETWEEN = "\n\n\n"
"""Stands between the functions of a text."""
BUDGET = 20_000_000
"""Statements and expressions after which reading stops: full mass and friction of a hundred coordinates are within."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text defines. The trees are shared: nobody may change them."""

    functions: Mapping[str, ast.FunctionDef]
    facts: Mapping[str, Value]
    """The literals that it names, integers at its head among them."""
    exact: Mapping[ast.Constant, Scalar]
    """Numbers that are no integers, as they are written."""


@lru_cache(maxsize=4)  # texts of one build
def parsed(text: str) -> Parsed:
    """Return what a module's text defines. A function that several texts share is parsed once."""
    try:
        pieces = [_parsed_piece(piece) for piece in text.split(BETWEEN)]
    except SyntaxError:  # within a string
        pieces = [_parsed_piece(text)]
    functions: dict[str, ast.FunctionDef] = {}
    facts = dict[str, Value]()
    for node in (node for body, _ in pieces for node in body):
        match node:
            case ast.FunctionDef(name=name):
                functions[name] = node
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name[0] != "_":
                facts[name] = ast.literal_eval(value)
            case _:
                pass
    return Parsed(functions, facts, {node: number for _, exact in pieces for node, number in exact.items()})


@lru_cache(maxsize=2**8)
def _parsed_piece(text: str) -> tuple[list[ast.stmt], Mapping[ast.Constant, Scalar]]:
    """Return statements, and their numbers as they are written, not as a double holds them."""
    body, lines = ast.parse(text).body, text.encode().split(b"\n")  # a parser counts columns in bytes
    nodes = (node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Constant))
    return body, {
        node: rational(Fraction(lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()))
        for node in nodes
        if isinstance(node.value, float)
    }


def arguments_of(function: ast.FunctionDef) -> list[str]:
    """Return the names of a function's arguments, in order."""
    return [argument.arg for argument in function.args.args]


SCALAR_CALLS: dict[str, Callable[..., Scalar]] = {
    **{row.emitted: row.scalar for row in FUNCTIONS.values()},
    "min": sp.Min,
    "max": sp.Max,
    **{name: UndefinedFunction(name) for name in ("_inverse_log", "_inverse_power", "_inverse_exp")},
    "np.float64": lambda x: x,
}
"""The exact meaning of every scalar function that a kernel may call; inverses of transforms stand for themselves."""

RELATIONS: dict[type[ast.cmpop], tuple[str, Callable[[Value, Value], bool]]] = {
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Eq: ("==", operator.eq),
}
"""Comparisons that a kernel may choose a piece by, of expressions and of integers."""


def _divide(left: Value, right: Value) -> Value:
    try:
        return left / (sp.Integer(right) if isinstance(right, int) else right)
    except ZeroDivisionError:
        raise ReadBackError(
            "the emitted kernel divides by zero where it is read, as where a matrix is singular"
        ) from None


OPERATORS: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divide,
    ast.Pow: operator.pow,
    ast.Mod: lambda left, right: operator.index(left) % operator.index(right),
    ast.BitAnd: lambda left, right: operator.index(left) & operator.index(right),
}
BREAK = object()
"""What statements leave that end a loop."""

FACTORISED = frozenset({"_cholesky_factor", "_triangle_inverse"})
"""Functions of a matrix whose entries, as symbols, would be too long to be compared: at a point they are numbers."""

GUARD = FUNCTIONS["reciprocal"].emitted
"""The function whose formula is not all that it means: 1/y is another where y is negative."""


@dataclass(slots=True)
class Reader:
    """Executes the functions of one emitted text on symbols, exactly: an abstract interpreter of its small language.

    Raises:
        CompilerError: a statement outside this language: what cannot be read is not written.
    """

    text: str
    digits: int = 0
    """In which functions of numbers are evaluated at a point; 0 where they stay what they are."""
    known: Callable[[np.ndarray], np.ndarray] | None = None
    """The numbers that a matrix is at a point, before it is taken apart; None where names are symbols."""
    fills: dict[str, Fill] = field(default_factory=dict[str, Fill])
    """Functions that are not entered, with what is done with their arguments instead."""
    functions: Mapping[str, ast.FunctionDef] = field(init=False)
    numbers: Mapping[ast.Constant, Scalar] = field(init=False)
    factors: list[NoiseFactor] = field(default_factory=list)
    equations: Equations = field(default_factory=Equations)
    """What the step solves by iteration."""
    cuts: Cuts | None = None
    """What was written to the next state, where it is read with symbols of its own."""
    guarded: list[Scalar] = field(default_factory=list[Scalar])
    """What was required to be positive, or the chain ends: arguments of `GUARD`, which means a quotient else."""
    finite: list[Scalar] = field(default_factory=list[Scalar])
    """Numbers that the text tests for being finite."""
    infinite: frozenset[Scalar] = frozenset()
    """Those of them that are not."""
    watched: frozenset[str] = frozenset()
    """Scalars whose values are kept in `seen`."""
    seen: dict[str, Value] = field(default_factory=dict)
    spent: int = 0

    def __post_init__(self) -> None:
        self.functions, self.numbers = parsed(self.text).functions, parsed(self.text).exact

    def call(self, name: str, arguments: dict[str, Value]) -> Value:
        """Execute a function with arguments by name; arrays among them are written in place."""
        function = self.functions.get(name)
        if function is None:
            raise CompilerError(f"the emitted module has no function {name}")
        names = arguments_of(function)
        missing = [argument for argument in names if argument not in arguments]
        if missing:
            raise CompilerError(f"the emitted {name} takes {missing}, which its program does not have")
        scope = {**parsed(self.text).facts, **{argument: arguments[argument] for argument in names}}
        return self.execute(function.body, scope)

    def execute(self, body: list[ast.stmt], scope: dict[str, Value]) -> Value:
        """Execute statements on the names of a scope, up to the first `return`, or to the `break` of a loop."""
        for statement in body:
            if (left := self._statement(statement, scope)) is not None:
                return left
        return None

    def _spend(self) -> None:
        self.spent += 1
        if self.spent > BUDGET:
            raise ReadBackError(f"reading the emitted kernel back takes more than {BUDGET} steps")

    def _statement(self, statement: ast.stmt, scope: dict[str, Value]) -> Value:
        """Execute a statement, and return what ends the statements that it is one of; None where nothing does."""
        self._spend()
        match statement:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Return(value=ast.expr() as value):
                return self._value(value, scope)
            case ast.Break():
                return BREAK
            case ast.Expr(value=value):
                self._value(value, scope)
            case ast.Assign(targets=[target], value=value):
                self._store(target, self._value(value, scope), scope)
            case ast.AugAssign(target=target, op=ast.Add() | ast.BitAnd() as op, value=value):
                old = self._value(target, scope)
                self._store(target, OPERATORS[type(op)](old, self._value(value, scope)), scope)
            case ast.For(orelse=[_]):
                names = self.equations.read(statement, scope, self.execute)
                self.seen |= {name: scope[name] for name in names if name in self.watched}
            case ast.For(
                target=ast.Name(id=name), iter=iterable, orelse=[],
                body=[ast.AugAssign(target=ast.Name(id=total) as target, op=ast.Add(), value=term)],
            ) if self._is_sum(total, term):  # fmt: skip
                terms = [self._value(target, scope)]
                for item in self._value(iterable, scope):
                    scope[name] = item
                    terms.append(self._value(term, scope))
                self._store(target, _total(terms), scope)
            case ast.For(target=ast.Name(id=name), iter=iterable, body=body, orelse=[]):
                for item in self._value(iterable, scope):
                    scope[name] = item
                    if (left := self.execute(body, scope)) is not None:
                        return None if left is BREAK else left
            case ast.If(
                test=ast.Compare(left=ast.Name(id=name), ops=[ast.Lt()], comparators=[ast.Constant(value=0.0)])
            ):
                self._clip(statement, name)
            case ast.If(test=flag, body=body, orelse=otherwise):
                return self.execute(body if self._flag(flag, scope) else otherwise, scope)
            case _:
                raise _unreadable(statement)
        return None

    def _is_sum(self, total: str, term: ast.expr) -> bool:
        """Whether a loop that adds a term to a name does nothing else: its terms are then added up once."""
        names = {node.id for node in ast.walk(term) if isinstance(node, ast.Name)}
        return total not in names and not (self.cuts and self.cuts.holds(total))

    def _flag(self, node: ast.expr, scope: dict[str, Value]) -> bool:
        """Return what decides whether something is done: known where a text is read, not a symbol."""
        flag = self._value(node, scope)
        if not isinstance(flag, int):
            raise _unreadable(node)
        return bool(flag)

    def _clip(self, statement: ast.If, name: str) -> None:
        """A covariance clipped where it is negative is read where it is not: check that nothing else happens."""
        match statement.body:
            case [
                ast.Assign(targets=[ast.Name(id=same)], value=ast.Constant(value=0.0)),
                ast.AugAssign(target=ast.Subscript(value=ast.Name(id="clipped"))),
            ] if same == name and not statement.orelse:
                return
            case _:
                raise _unreadable(statement)

    def _store(self, target: ast.expr, value: Value, scope: dict[str, Value]) -> None:
        match target:
            case ast.Name(id=name):
                scope[name] = self.cuts.cut(value) if self.cuts and self.cuts.holds(name) else value
                if name in self.watched:
                    self.seen[name] = scope[name]
            case ast.Tuple(elts=targets):
                for one, part in zip(targets, value, strict=True):
                    self._store(one, part, scope)
            case ast.Subscript(value=array, slice=place):
                try:
                    self._value(array, scope)[self._value(place, scope)] = value
                except IndexError as error:
                    raise CompilerError(f"the emitted kernel writes outside an array: {ast.unparse(target)}") from error
            case _:
                raise _unreadable(target)

    def _value(self, node: ast.expr, scope: dict[str, Value]) -> Value:
        self._spend()
        match node:
            case ast.Constant(value=number) if isinstance(number, float):
                return self.numbers[node]
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name):
                if name not in scope:
                    raise CompilerError(f"the emitted kernel uses {name}, which is not among its arguments")
                return scope[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self._value(left, scope), self._value(right, scope))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand, scope)
            case ast.Tuple(elts=items):
                return tuple(self._value(item, scope) for item in items)
            case ast.List(elts=items):
                return [self._value(item, scope) for item in items]
            case ast.IfExp(test=ast.Compare() as test, body=yes, orelse=no):
                sides = self._compared(test, scope)
                if isinstance(sides, bool):
                    return self._value(yes if sides else no, scope)
                return chosen(*sides, self._value(yes, scope), self._value(no, scope))
            case ast.IfExp(test=ast.Name() as flag, body=yes, orelse=no):
                return CHOOSE(self._value(flag, scope), self._value(yes, scope), self._value(no, scope))
            case ast.BoolOp(op=ast.And(), values=flags):
                return all(self._flag(flag, scope) for flag in flags)
            case ast.UnaryOp(op=ast.Not(), operand=flag):
                return not self._flag(flag, scope)
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="abs"), args=[value]),
                ops=[ast.LtE()],
                comparators=[ast.Constant(value=sys.float_info.max)],
            ):
                self.finite.append(self._value(value, scope))
                return self.finite[-1] not in self.infinite
            case ast.Compare() if isinstance(holds := self._compared(node, scope), bool):
                return int(holds)
            case ast.Attribute() | ast.Subscript():
                return self._place(node, scope)
            case ast.Slice(lower=lower, upper=upper, step=None):
                return slice(*(None if end is None else self._value(end, scope) for end in (lower, upper)))
            case ast.Call(func=ast.Attribute(value=array, attr="reshape"), args=[shape], keywords=[]):
                return _reshaped(self._value(array, scope), self._value(shape, scope), node)
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._call(ast.unparse(function), [self._value(item, scope) for item in arguments], node)
            case _:
                raise _unreadable(node)

    def _compared(self, node: ast.expr, scope: dict[str, Value]) -> tuple[str, Value, Value] | bool:
        """Return the sides of a comparison; of integers, whether it holds."""
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in RELATIONS:
                (says, holds), sides = RELATIONS[type(op)], (self._value(left, scope), self._value(right, scope))
                return holds(*sides) if all(isinstance(side, int) for side in sides) else (says, *sides)
            case _:
                raise _unreadable(node)

    def _place(self, node: ast.Attribute | ast.Subscript, scope: dict[str, Value]) -> Value:
        match node:
            case ast.Attribute(value=ast.Name(id="math"), attr="pi"):
                return sp.pi
            case ast.Attribute(value=ast.Name(id="np"), attr="uint64"):
                return "uint64"
            case ast.Attribute(value=value, attr="shape"):
                return self._value(value, scope).shape
            case ast.Attribute(value=value, attr="size"):
                return self._value(value, scope).size
            case ast.Subscript(value=value, slice=place):
                return self._element(self._value(value, scope), self._value(place, scope), node)
            case _:
                raise _unreadable(node)

    def _element(self, array: Value, place: Value, node: ast.expr) -> Value:
        if isinstance(place, slice):
            start, stop = place.start or 0, len(array) if place.stop is None else place.stop
            if not 0 <= start <= stop <= len(array):
                raise CompilerError(f"the emitted kernel slices outside an array: {ast.unparse(node)}")
            return array[place]
        places = place if isinstance(place, tuple) else (place,)
        if not all(isinstance(k, int) and k >= 0 for k in places):
            raise _unreadable(node)
        try:
            value = array[place]
        except (IndexError, TypeError) as error:
            raise CompilerError(f"the emitted kernel reads outside an array: {ast.unparse(node)}") from error
        if value is None:
            raise CompilerError(f"the emitted kernel reads an unset value: {ast.unparse(node)}")
        return value

    def _call(self, name: str, arguments: list[Value], node: ast.expr) -> Value:
        match name:
            case "min" if all(isinstance(argument, int) for argument in arguments):
                return min(arguments)
            case _ if name in SCALAR_CALLS:
                if name == GUARD:
                    self.guarded.append(arguments[0])
                return rounded(SCALAR_CALLS[name](*arguments), self.digits)
            case _ if fill := self.fills.get(name):
                return fill(arguments)
            case "range":
                return range(*arguments)
            case "np.uint64" if isinstance(arguments[0], int) and arguments[0] >= 0:
                return arguments[0]
            case "_read_ahead" | "_read_on":
                return self._read_ahead(arguments[0], arguments[1], node)
            case "np.empty":
                return np.full(arguments[0], None, object)
            case "_noise_scale" | "_flow_scale" | "_noise_factor" | "_flow_factor" | "_noise_root" | "_noise_root_2":
                return self._of_noise(name, arguments)
            case "_solve":
                return self.equations.solve(arguments)
            case "_progress":
                return self.equations.progress(arguments)
            case _ if name in self.functions:
                if name in FACTORISED and self.known is not None:
                    arguments = [arguments[0], self.known(arguments[1])]
                names = arguments_of(self.functions[name])
                return self.call(name, dict(zip(names, arguments, strict=True)))
            case _:
                raise _unreadable(node)

    def _of_noise(self, name: str, arguments: list[Value]) -> Value:
        """Give the sd of a noise, or a factor of its covariance: of a constant one, or of one at a state."""
        if name.startswith("_noise_root"):
            return state_factor(arguments, self._factor)
        two_D, B_hat, eps, _ = arguments
        if name.endswith("_scale"):
            return sp.sqrt(eps * (two_D - eps * B_hat))
        return constant_factor(two_D, B_hat, eps, self._factor)

    def _read_ahead(self, data: Value, row: Value, node: ast.expr) -> None:
        """Read the request for a row, which changes nothing: check that there is one."""
        if not (isinstance(row, int) and 0 <= row < len(data)):
            raise CompilerError(f"the emitted kernel indexes a row outside an array: {ast.unparse(node)}")

    def _factor(self, covariance: sp.Matrix) -> np.ndarray:
        self.factors.append(symbolic(len(self.factors), covariance))
        return self.factors[-1].entries


def _reshaped(array: Value, shape: Value, node: ast.expr) -> np.ndarray:
    """Return a vector as a matrix, row by row, or a matrix as a vector; again the entries themselves."""
    if isinstance(array, np.ndarray) and array.ndim == 2 and array.flags.c_contiguous and shape == array.size:
        return array.reshape(-1)
    fits = isinstance(array, np.ndarray) and array.ndim == 1 and isinstance(shape, tuple)
    if not fits or not all(isinstance(n, int) and n > 0 for n in shape) or prod(shape) != array.size:
        raise CompilerError(f"the emitted kernel gives a vector a shape it does not have: {ast.unparse(node)}")
    return array.reshape(shape)


def _total(terms: list[Value]) -> Value:
    """Return a sum; of symbols all at once, as each `+` of SymPy's sorts all terms again."""
    if all(isinstance(one, sp.Expr) for one in terms):
        return sp.Add(*terms)
    return reduce(operator.add, terms)


def _unreadable(node: ast.AST) -> CompilerError:
    return CompilerError(f"the emitted kernel contains something that cannot be read back: {ast.unparse(node)[:80]}")
