"""A part of a file, read: every name, attribute and kind of statement is one that `allowed.py` lists, or its own.

Anything else is told by its line. What it names is reached, and read in its turn.
"""

import ast
import builtins
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, partial
from random import Random

import numpy as np

from recipe_compiler.lint import allowed
from recipe_compiler.lint.file_names import (
    Comprehension,
    File,
    Scoped,
    dotted_name,
    is_made_by,
    is_text,
    names_bound,
    top,
)
from recipe_compiler.lint.plain_run.generators import REFUSED
from recipe_compiler.lint.reached import Reached

_PLAIN = (
    ast.Return, ast.Assign, ast.AugAssign, ast.While, ast.IfExp, ast.Pass, ast.Break, ast.Continue, ast.Nonlocal,
    ast.BoolOp, ast.UnaryOp, ast.Dict, ast.List, ast.Tuple, ast.Subscript, ast.Slice, ast.Starred, ast.Yield,
    ast.YieldFrom, ast.Match, ast.match_case, ast.MatchValue, ast.MatchSingleton, ast.MatchSequence, ast.MatchStar,
    ast.MatchAs, ast.MatchOr, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.keyword,
)  # fmt: skip
"""Code that does what its parts do."""
_WORDS: dict[type[ast.AST], str] = {
    ast.Set: "set",
    ast.SetComp: "set",
    ast.MatchClass: "case",
    ast.AsyncFunctionDef: "async def",
}
"""How code is called, where not by the name of its class."""
_SHOWN = allowed.TEXTS | {"format", "join"}
_PASSES = frozenset({"all", "any", "bool", "numpy.all", "numpy.any", *allowed.ASKED})
"""What asks of answers whether all of them, or any, are so, and keeps none."""
_RAISING = frozenset({"__init__", "__post_init__", "__call__"})
"""Special methods whose errors go on to who called."""


def _any_function() -> None:
    """Stand for any function."""


_OF_OTHERS = frozenset(
    name
    for value in (
        *(np.zeros(1), np.float64(0), np.sqrt, np.random.Generator, np.random.RandomState, Random(), partial(abs)),
        *([], {}, (), set[int](), "", 0, 0.0, iter([]), ArithmeticError(), _any_function, _any_function.__code__),
        *(
            types.FrameType,
            types.GeneratorType,
            types.CoroutineType,
            types.MethodType,
            types.ModuleType,
            types.CellType,
        ),
        *(types.TracebackType, types.BuiltinFunctionType, types.MappingProxyType, type, property, staticmethod, super),
        *(cache(abs), deque[int](), Counter[int](), defaultdict[int, int](), OrderedDict(), Fraction(), 1j),
        *(np.zeros(1).flat, {}.items(), map, zip),
    )
    for name in dir(value)
) - ({*REFUSED} - set(dir([])) - set(dir("")))
"""What values have that are no instances of a class of the file, draws left out that are refused when it is called."""


def read_part(reached: Reached, file: File, part: ast.AST) -> None:
    """Tell what of a part of a file is not allowed, and reach what it names."""
    _Reading(reached, file).visit(part)


class _Reading(ast.NodeVisitor):
    """One statement of a file's top level, read: what is not allowed is told."""

    def __init__(self, reached: Reached, file: File) -> None:
        self.reached, self.file = reached, file
        self.scopes: list[tuple[bool, frozenset[str]]] = []
        """The names of each scope inside the statement, and whether it is one of a class."""
        self.stops = False
        """Whether what is read decides only whether the step stops."""
        self.shows = False
        """Whether what is read is printed, or raised."""
        self.aside = False
        """Whether it is part of an assertion, of what is printed or of what is raised."""
        self.loops = 0
        """Loops that are around."""
        self.given = frozenset[str]()
        """Arguments of the step that are no instances of the file's classes, where it is read."""

    def tell(self, node: ast.AST, what: str) -> None:
        """Note what is not allowed."""
        self.reached.tell(self.file, getattr(node, "lineno", 0), what)

    def generic_visit(self, node: ast.AST) -> None:
        """Look at the parts of what is allowed, tell of anything else."""
        if isinstance(node, _PLAIN):
            super().generic_visit(node)
        else:
            self.tell(node, f"`{_WORDS.get(type(node), type(node).__name__.lower())}`")

    # Names.

    def _is_local(self, name: str) -> bool:
        """Whether a name is one of the functions that are around, whose methods do not see the names of their class."""
        return any(name in names for is_class, names in self.scopes if not is_class)

    def visit_Name(self, node: ast.Name) -> None:
        """A name is local, one of the file, of a module or of Python."""
        if isinstance(node.ctx, ast.Load):
            self._name(node, node.id)

    def _name(self, node: ast.AST, name: str, rest: tuple[str, ...] = ()) -> None:
        if self._is_local(name):
            return
        if name.startswith("__") and not name.endswith("__") and any(is_class for is_class, _ in self.scopes):
            self.tell(node, f"`{name}`, whose name is mangled in a class")
        known = name in self.file.makers
        starred = self._starred(node, name, rest)
        if known:
            at_load = all(is_class for is_class, _ in self.scopes)
            self.reached.reach(self.file, name, getattr(node, "lineno", 0), at_load=at_load)
        if name in self.file.aliases:
            for dotted in self.file.aliases[name]:
                self._of_module(node, dotted, rest)
            return
        if self.stops and name in allowed.ASKED:
            self.reached.asked.append((self.file, getattr(node, "lineno", 0), name))
        in_class = bool(self.scopes) and self.scopes[-1][0] and name in self.scopes[-1][1]
        builtin = name in allowed.BUILTINS or (self.stops and name in allowed.ASKED) or (self.shows and name in _SHOWN)
        if not known and not builtin and not (in_class and not hasattr(builtins, name)) and not starred:
            self.tell(node, f"`{name}`")

    def _starred(self, node: ast.AST, name: str, rest: tuple[str, ...]) -> bool:
        """Whether a name may come of a module of which all names were imported; of one of the folder it is read."""
        looked = False
        for other in self._of_stars(name):
            with self.reached.once(other, name) as is_first:
                if is_first:
                    _Reading(self.reached, other)._name(node, name, rest)
                    looked = True
        return looked or any(f"{module}.{name}" in allowed.NAMES for module in self.file.stars)

    def _of_stars(self, name: str) -> Iterator[File]:
        """Yield the files in the folder of which a name may come that were imported with all their names."""
        for module in self.file.stars:
            found = self.reached.beside(self.file, module)
            other = found and found[0]
            if other is not None and (other.stars or name in other.makers or name in other.aliases):
                yield other

    def _of_module(self, node: ast.AST, dotted: str, rest: tuple[str, ...]) -> None:
        """Look at what is asked of a module: of one of the folder it is read."""
        whole = ".".join((dotted, *rest))
        found = self.reached.beside(self.file, whole)
        if found is not None:
            self._of_file(node, whole, *found)
            return
        parts = whole.split(".")
        heads = [k for k in range(1, len(parts) + 1) if self._is_allowed(".".join(parts[:k]))]
        if heads:
            first = ".".join(parts[: heads[0]])
            if first in allowed.FINITE:
                self.reached.asked.append((self.file, getattr(node, "lineno", 0), first))
            if first in allowed.GENERATORS | allowed.SEEDS and not self.stops:
                self.tell(node, f"`{first}`, elsewhere than where a generator is made")
            if first in allowed.SHARED:
                self.reached.shared.add(first.rpartition(".")[0])
            self._attributes(node, parts[heads[0] :], of_others=True)
        else:
            self.tell(node, f"`{whole}`")

    def _is_allowed(self, dotted: str) -> bool:
        of_stop = self.stops and dotted in (allowed.FINITE | allowed.KINDS)
        return dotted in allowed.NAMES or of_stop or (self.shows and dotted in allowed.STREAMS)

    def _of_file(self, node: ast.AST, whole: str, file: File | None, module: str, asked: tuple[str, ...]) -> None:
        if file is None:
            self.tell(node, f"`{module}`, whose source cannot be read")
        elif (
            not asked or (asked[0] not in file.makers and asked[0] not in file.aliases) or "__getattr__" in file.makers
        ):
            self.tell(node, f"`{whole}`")
        else:
            if asked[0] in file.makers:
                self.reached.reach(file, asked[0], getattr(node, "lineno", 0))
                self._attributes(node, asked[1:])
            with self.reached.once(file, asked[0]) as is_first:
                for dotted in file.aliases.get(asked[0], ()) if is_first else ():
                    _Reading(self.reached, file)._of_module(node, dotted, asked[1:])

    def _attributes(self, node: ast.AST, names: Sequence[str], *, of_others: bool = False) -> None:
        """Look at attributes: of what is known to be no instance of a class of the file fields of one are none."""
        for name in names:
            own = name in self.reached.fields and name not in _OF_OTHERS and not of_others
            if name not in allowed.ATTRIBUTES and not own:
                self.tell(node, f"`{name}` of a value")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """An attribute is what a module holds, what any value has, or a field of a class of the file."""
        name, rest = dotted_name(node)
        imported = name in self.file.aliases and not self._is_local(name)
        if imported and not isinstance(node.ctx, ast.Load):
            self.tell(node, f"`{'.'.join((self.file.aliases[name][0], *rest))}`, which it sets")
        elif imported:
            self._name(node, name, rest)
        else:
            self.visit(node.value)
            of_others = self._is_of_others(node.value)
            is_set = not isinstance(node.ctx, ast.Load) and (of_others or node.attr not in self.reached.fields)
            if is_set:
                self.tell(node, f"`{node.attr}` of a value, which it sets")
            elif not (self.shows and node.attr in _SHOWN and isinstance(node.value, (ast.Constant, ast.JoinedStr))):
                self._attributes(node, [node.attr], of_others=of_others)

    def _is_of_others(self, node: ast.expr) -> bool:
        """Whether a value is known to be no instance of a class of the file."""
        match node:
            case ast.Name(id=name):
                return name in self.given and not any(name in names for _, names in self.scopes[1:])
            case ast.Call(func=func):
                called = self._called(func)
                return top(called) in ("numpy", "math") and called in allowed.NAMES
            case _:
                return isinstance(node, (ast.Constant, ast.JoinedStr, ast.Lambda, ast.List, ast.Tuple, ast.Dict))

    # Calls.

    def visit_Call(self, node: ast.Call) -> None:
        """A call may say the type of an array, and go through a mapping in its order."""
        called = self._called(node.func)
        if called in allowed.GENERATORS:
            again = self.loops > 0 or any(not is_class for is_class, _ in self.scopes)
            self.reached.made[id(node)] = (self.file, node, called, again, self._is_seeded(node))
            self._seeds(node)
            return
        self._callee(node.func)
        if (self.stops or self.shows or self.aside) and not self._only_answers(node.func, called):
            self.tell(node, f"`{ast.unparse(node.func)}`, called in code that only stops it or prints")
        stops = self.stops and called in _PASSES
        of_text = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, (ast.Constant, ast.JoinedStr))
        shows = self.shows and (called in allowed.BUILTINS | allowed.TEXTS or of_text)
        with self._in(stops=stops, shows=shows):
            for k, arg in enumerate(node.args):
                typed = (called in allowed.MAKES_ARRAYS and k > 0) or _is_attribute(node.func, {"astype"})
                self._typed(arg) if typed else self._in_order(arg) if called in allowed.IN_ORDER else self.visit(arg)
            of_numpy = called.startswith("numpy.") or (
                not called and _is_attribute(node.func, allowed.ATTRIBUTES - self.reached.fields)
            )
            for keyword in node.keywords:
                self._typed(keyword.value) if keyword.arg == "dtype" and of_numpy else self.visit(keyword.value)

    def _only_answers(self, func: ast.expr, called: str) -> bool:
        """Whether a call does nothing but answer: one of Python, NumPy or a value, or an error of the file."""
        if called in allowed.EFFECTS | allowed.SHARED:
            return False
        if called in allowed.BUILTINS | allowed.ASKED | allowed.TEXTS | allowed.FINITE:
            return True
        if top(called) in self.file.aliases or top(called) in ("numpy", "math"):
            return called in allowed.NAMES and top(called) in ("numpy", "math")
        if isinstance(func, ast.Attribute):
            return func.attr in (allowed.ATTRIBUTES | _SHOWN) - allowed.EFFECTS and func.attr not in self.reached.fields
        makers = self.file.makers.get(func.id, []) if isinstance(func, ast.Name) and not self._is_local(func.id) else []
        return bool(makers) and all(isinstance(one, ast.ClassDef) and _is_bare(one) for one in makers)

    def _is_seeded(self, node: ast.Call) -> bool:
        """Whether a generator is made of anything but nothing, `None`, or bits that are made of these."""
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        return any(
            self._is_seeded(part)
            if isinstance(part, ast.Call) and self._called(part.func) in allowed.BITS
            else not (isinstance(part, ast.Constant) and part.value is None)
            for part in parts
        )

    def _seeds(self, node: ast.Call) -> None:
        """Look at what a generator is made of."""
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(part, ast.Call) and self._called(part.func) in allowed.SEEDS:
                self._seeds(part)
            else:
                self.visit(part)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """What is named is used again, beyond what only stops the step or is printed."""
        if self.stops or self.shows or self.aside:
            self.tell(node, "`:=` in code that only stops it or prints")
        with self._in():
            self.visit(node.value)

    def _callee(self, func: ast.expr) -> None:
        if _is_attribute(func, allowed.VIEWS) and isinstance(func, ast.Attribute):
            self.tell(func, f"`{func.attr}` of a mapping, elsewhere than in a loop")
            self.visit(func.value)
        else:
            self.visit(func)

    def _called(self, func: ast.expr) -> str:
        """Return the dotted name of what is called: of a module, or of Python."""
        name, rest = dotted_name(func)
        modules = {*self.file.aliases.get(name, (name,))}
        own = self._is_local(name) or name in self.file.makers or any(self._of_stars(name))
        if not name or own or len(modules) > 1:
            return ""
        whole = ".".join((*modules, *rest))
        return "" if self.reached.beside(self.file, whole) else whole

    def _typed(self, node: ast.expr) -> None:
        """Look at a type of numbers: that of another array is one."""
        self.visit(node.value if isinstance(node, ast.Attribute) and node.attr == "dtype" else node)

    def _in_order(self, node: ast.expr) -> None:
        """Look at what is gone through: a mapping's names, in its order."""
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="items" | "keys"), args=[], keywords=[]):
                self.visit(value)
            case ast.Call(
                func=ast.Name(id="enumerate" | "zip" | "list" | "sorted" as name), args=args, keywords=[]
            ) if self._called(ast.Name(name)) == name:
                self._name(node, name)
                for arg in args:
                    self._in_order(arg)
            case _:
                self.visit(node)

    # Operators and texts.

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """An operator is allowed, but for one that writes values out."""
        if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            self._text(node)
        with self._in(shows=self.shows and self._is_written(node)):
            self.visit(node.left)
            self.visit(node.right)

    def _is_written(self, node: ast.expr) -> bool:
        """Whether a text is put together of texts alone, no object of the file among them."""
        match node:
            case ast.BinOp(left=ast.Constant(), op=ast.Mod()) | ast.Constant() | ast.JoinedStr():
                return True
            case ast.BinOp(left=left, right=right):
                return self._is_written(left) and self._is_written(right)
            case ast.Call(func=func):
                called = self._called(func)
                return called in allowed.TEXTS or (isinstance(func, ast.Attribute) and self._is_written(func.value))
            case _:
                return False

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """What is asked for by a key may keep the key."""
        with self._in():
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A constant is allowed, but for one that values are written with."""
        if isinstance(node.value, bytes) or (isinstance(node.value, str) and not {"%", "{"}.isdisjoint(node.value)):
            self._text(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """A text of values is for what is printed or raised."""
        self._text(node)
        with self._in(shows=True):
            for value in node.values:
                if isinstance(value, ast.FormattedValue):
                    self.visit(value.value)

    def _text(self, node: ast.AST) -> None:
        if not self.shows:
            self.tell(node, "the text of a value")

    def visit_Compare(self, node: ast.Compare) -> None:
        """A comparison is one of values; that of objects is allowed with `None`."""
        for op, left, right in zip(node.ops, (node.left, *node.comparators), node.comparators, strict=False):
            constant = any(isinstance(x, ast.Constant) and not isinstance(x.value, (str, bytes)) for x in (left, right))
            if isinstance(op, (ast.Is, ast.IsNot)) and not constant:
                self.tell(node, "`is`: which object one is")
        known = all(self._is_known(one) for one in (node.left, *node.comparators))
        with self._in(stops=self.stops and known, shows=self.shows and known):
            self.visit(node.left)
            for op, right in zip(node.ops, node.comparators, strict=True):
                elements = right.elts if isinstance(right, ast.Set) and isinstance(op, (ast.In, ast.NotIn)) else [right]
                for element in elements:
                    self.visit(element)

    def _is_known(self, node: ast.expr) -> bool:
        """Whether a value is no object of the file, which may keep what it is compared with."""
        match node:
            case ast.Constant():
                return True
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return all(map(self._is_known, elements))
            case ast.Call(func=func):
                return self._called(func) in allowed.BUILTINS | allowed.ASKED | allowed.TEXTS | _PASSES
            case ast.Name() | ast.Attribute():
                called = self._called(node)
                return called in allowed.BUILTINS or dotted_name(node)[0] in self.file.aliases
            case _:
                return False

    # Statements.

    def visit_Expr(self, node: ast.Expr) -> None:
        """A statement that is a text says nothing; one that prints may write values out."""
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call) and self._called(node.value.func) in allowed.PRINTS:
            with self._in(shows=True, aside=True):
                for part in (*node.value.args, *(keyword.value for keyword in node.value.keywords)):
                    self.visit(part)
            for keyword in node.value.keywords:
                if keyword.arg not in ("sep", "end", "flush") and self._called(keyword.value) not in allowed.STREAMS:
                    self.tell(node, f"`{keyword.arg or '**'}` of a call that prints")
            return
        self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        """A condition that only stops the step may ask what a value is."""
        with self._in(stops=not node.orelse and all(isinstance(part, ast.Raise) for part in node.body)):
            self.visit(node.test)
        for part in (*node.body, *node.orelse):
            self.visit(part)

    def visit_Assert(self, node: ast.Assert) -> None:
        """An assertion only stops the step."""
        with self._in(stops=True, aside=True):
            self.visit(node.test)
        if node.msg is not None:
            with self._in(shows=True, aside=True):
                self.visit(node.msg)

    def visit_Match(self, node: ast.Match) -> None:
        """A value is matched by what it is: that it is a list is for what stands there as one."""
        listed = any(isinstance(part, ast.MatchSequence) for case in node.cases for part in ast.walk(case.pattern))
        if listed and not isinstance(node.subject, ast.Tuple):
            self.tell(node, "`case [...]`")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """What is raised may write values out."""
        with self._in(shows=True, aside=True):
            for part in (node.exc, node.cause):
                if part is not None:
                    self.visit(part)

    def visit_For(self, node: ast.For) -> None:
        """A loop goes through a mapping in its order."""
        self.visit(node.target)
        self._in_order(node.iter)
        self.loops += 1
        for part in (*node.body, *node.orelse):
            self.visit(part)
        self.loops -= 1

    def visit_While(self, node: ast.While) -> None:
        """A loop that goes on."""
        self.loops += 1
        self.generic_visit(node)
        self.loops -= 1

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """What is said of types is not run for its value."""
        self.visit(node.target)
        self._annotation(node.annotation)
        if node.value is not None:
            self.visit(node.value)

    def visit_Try(self, node: ast.Try) -> None:
        """What may be missing may be imported; whether something is raised is not followed."""
        imports = all(isinstance(part, (ast.Import, ast.ImportFrom)) for part in node.body) and not self.scopes
        if not imports or node.orelse or node.finalbody:
            self.generic_visit(node)
            return
        for handler in node.handlers:
            for part in handler.body:
                self.visit(part)

    def visit_Import(self, node: ast.Import) -> None:
        """What is imported is looked at where it is used."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """What is imported is looked at where it is used."""

    def visit_Delete(self, node: ast.Delete) -> None:
        """What is deleted is no name: that would be another again."""
        for target in node.targets:
            if isinstance(target, ast.Name) and not self._is_local(target.id):
                self.tell(node, f"`del {target.id}`")
            self.visit(target)

    def visit_Global(self, node: ast.Global) -> None:
        """A name of the file is one of it, unless a function around has it as well."""
        for name in node.names:
            if self._is_local(name):
                self.tell(node, f"`{name}`, which is a name of the file and of a function around")

    # Functions and classes.

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A function is its decorators and defaults, read where it stands, and its body with names of its own."""
        if self.scopes and self.scopes[-1][0] and _is_special(node.name) and node.name not in allowed.SPECIAL:
            self.tell(node, f"`{node.name}`")
        if self.scopes and self.scopes[-1][0] and _is_special(node.name) and node.name not in _RAISING:
            self.reached.swallows.append(node.name)
        for part in node.decorator_list:
            self.visit(part)
        self._annotation(node.returns)
        self._function(node, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """A function without a name."""
        self._function(node, [node.body])

    def _function(self, node: Scoped, body: Sequence[ast.AST]) -> None:
        own = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        own += [arg for arg in (node.args.vararg, node.args.kwarg) if arg is not None]
        for part in (*node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)
        for arg in own:
            self._annotation(arg.annotation)
        if not self.scopes and isinstance(node, ast.FunctionDef) and self.file is self.reached.main:
            self.given = self.reached.given.get(node.name, frozenset()) - names_bound(body)
        with self._scope(frozenset(arg.arg for arg in own) | names_bound(body)):
            for part in body:
                self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class is its bases, decorators and body."""
        if node.keywords:
            self.tell(node, f"`{node.keywords[0].arg}` of the class {node.name}")
        for part in (*node.decorator_list, *node.bases):
            self.visit(part)
        for base in node.bases:
            if not self._is_base(base):
                self.tell(node, f"`{ast.unparse(base)}`, which the class {node.name} is made of")
        names = names_bound(node.body)
        for name in names:
            if _is_special(name) and name not in allowed.SPECIAL:
                self.tell(node, f"`{name}`")
        with self._scope(names, is_class=True):
            for part in node.body:
                self.visit(part)

    def _is_base(self, node: ast.expr) -> bool:
        """Whether a class may be made of another: one of a file in the folder, or one that keeps nothing unseen."""
        if isinstance(node, ast.Call):
            return self._called(node.func) == "collections.namedtuple"
        name, _ = dotted_name(node)
        own = [one for one in self.file.makers.get(name, ()) if not isinstance(one, ast.ClassDef)]
        if name in self.file.makers or self._is_local(name):
            return not own or all(_is_named_tuple(one) for one in own)
        called = self._called(node)
        return called in allowed.BASES or (bool(called) and self.reached.beside(self.file, called) is not None)

    def _annotation(self, node: ast.expr | None) -> None:
        """Look at what is said of a type: it is run, and left, where the function is made."""
        if node is None:
            return
        if any(isinstance(part, ast.Call) for part in ast.walk(node)) or is_made_by(self.file, node):
            self.visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        """A list made in a loop."""
        self._comprehension(node, [node.elt])

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        """Values made in a loop."""
        self._comprehension(node, [node.elt])

    def visit_DictComp(self, node: ast.DictComp) -> None:
        """A mapping made in a loop."""
        self._comprehension(node, [node.key, node.value])

    def _comprehension(self, node: Comprehension, parts: Sequence[ast.expr]) -> None:
        first = node.generators[0].iter
        self._in_order(first)
        with self._scope(names_bound([generator.target for generator in node.generators])):
            for generator in node.generators:
                if generator.iter is not first:
                    self._in_order(generator.iter)
                for part in (generator.target, *generator.ifs):
                    self.visit(part)
            for part in parts:
                self.visit(part)

    # Where one is.

    @contextmanager
    def _scope(self, names: frozenset[str], *, is_class: bool = False) -> Generator[None]:
        self.scopes.append((is_class, names))
        with self._in():
            yield
        self.scopes.pop()

    @contextmanager
    def _in(self, *, stops: bool = False, shows: bool = False, aside: bool = False) -> Generator[None]:
        before = self.stops, self.shows, self.aside
        self.stops, self.shows, self.aside = stops, shows, self.aside or aside
        yield
        self.stops, self.shows, self.aside = before


def _is_bare(node: ast.ClassDef) -> bool:
    """Whether a class has nothing of its own."""
    return all(isinstance(part, ast.Pass) or is_text(part) for part in node.body)


def _is_named_tuple(node: ast.stmt) -> bool:
    """Whether a name is made by a call of `namedtuple`."""
    match node:
        case ast.Assign(value=ast.Call(func=func)):
            return dotted_name(func)[-1][-1:] == ("namedtuple",) or dotted_name(func)[0] == "namedtuple"
        case _:
            return False


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_attribute(node: ast.expr, names: Collection[str]) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in names
