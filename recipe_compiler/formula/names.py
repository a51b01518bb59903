"""What a name means: what the document declares wins over every constant and function of the language."""

from collections.abc import Iterator

from recipe_compiler.errors import nearest
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula import tree
from recipe_compiler.formula.context import Context
from recipe_compiler.formula.declaration import Block, Datum, Function, Parameter
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import SCALAR, Shape

CONSTANTS = ("I", "ones", "pi")
NO_UNIT = "I is the identity matrix; there is no imaginary unit: numbers are real"
LANGUAGE = (
    ex.ELEMENTWISE | ex.ELEMENTWISE_PAIRS | ex.MATRIX_FUNCTIONS | ex.CALCULUS | {"where", "mixture"} | set(DENSITIES)
)
"""Functions of the language that every formula may use."""
WRITE_INSTEAD = {
    "real_root": "write sign(x)*abs(x)**(1/3); cbrt(x) and root(x, n) need x >= 0",
    "DiracDelta": "a density has no point mass",
    "Sum": "write sum(v), u.T @ v or trace(A); in Python, write a Sum over a whole axis",
    "Integral": "formulas are in closed form",
    "Product": "write exp(sum(log(v))) where v is positive; in sums over entries, sum(v)",
    "transpose": "write A.T",
    "inverse": "write inv(A)",
    "gaussian": "write normal(x, mu, sigma)",
    "dnorm": "write normal(x, mu, sigma)",
    "uniform": "a flat density is left out; declare bounds: `domain: interval(a, b)`",
    "floor": "it jumps at every integer",
    "ceiling": "it jumps at every integer",
    "Mod": "it jumps; sin and cos are periodic",
    "sinc": "write where(x == 0, 1, sin(x)/x)",
    "Phi": "write ndtr(x), its logarithm log_ndtr(x)",
    "std_normal_lcdf": "write log_ndtr(x)",
    "atan2": "it jumps; write atan(y/x) where x is positive",
    "eye": "write I, whose size follows from what stands around it",
    "Identity": "write I, whose size follows from what stands around it",
    "zeros": "write 0, whose size follows from what stands around it",
    "ZeroMatrix": "write 0, whose size follows from what stands around it",
    "OneMatrix": "write ones, ones.T or ones @ ones.T",
    "Symbol": "write the name alone; names are declared in the document",
}
"""What SymPy or Stan has and formulas do not, with what to write."""
_MEANT = {
    "O": "0 (zero)",
    "o": "0 (zero)",
    "l": "1 (one)",
    "normalizable": "`normalisable`",
    "proper": "`normalisable`",
    "estimated": "`estimate`",
}
_NOT_NUMBERS = frozenset({"oo", "inf", "infinity", "nan", "zoo"})


def resolve_name(part: tree.Name, context: Context) -> Formula | None:
    """Return the typed formula of a bare name; a function's stands for the function at its declared blocks."""
    scope, name = context.scope, part.name
    match scope.declarations.find(name):
        case Block(shape=shape):
            return ex.Symbol(name, shape, Role.BLOCK)
        case Parameter(shape=shape):
            return ex.Symbol(name, shape, Role.PARAMETER)
        case Datum(is_index=True):
            problem = f"found {name}, an index field of the data, outside of brackets"
            context.fault(part, problem, f"write eta[{name}] for an entry, F[{name}] for a row")
            return None
        case Datum(shape=shape):
            return ex.Symbol(name, shape, Role.DATUM)
        case Function() as function:
            return function.value
        case None:
            pass
    for block in scope.noise:
        if block.name == name:
            return ex.Symbol(name, block.shape, Role.NOISE)
    if name in scope.declarations.sizes:
        return ex.Symbol(name, SCALAR, Role.SIZE)
    if scope.update and name == "eps":
        return ex.Symbol(name, SCALAR, Role.STEP)
    return language_constant(part, context) or _undeclared(part, context)


def block_named(part: tree.Tree, context: Context) -> ex.Symbol | None:
    """Return the block that an argument names, or note the fault."""
    blocks = tuple(block.name for block in context.scope.declarations.blocks)
    found, hint = "an expression", "derivatives are with respect to a block, at the state before the step"
    functions = [function.name for function in context.scope.declarations.functions]
    if isinstance(part, tree.Name):
        declared = context.scope.declarations.find(part.name)
        if isinstance(declared, Block):
            return ex.Symbol(declared.name, declared.shape, Role.BLOCK)
        found, hint = f"'{part.name}'", nearest(part.name, blocks)
        if part.name in functions:
            hint = f"the function comes first: grad({part.name}, {blocks[0]})"
    listed = ", ".join(blocks) or "none is declared"
    context.fault(part, f"found {found}, expected the name of a block of the state ({listed})", hint)
    return None


def names_given(part: tree.Call) -> tuple[str, ...]:
    """Return the names that a call has as its arguments, `...` in the place of what is none."""
    return tuple(arg.name if isinstance(arg, tree.Name) else "..." for arg in part.args)


def no_function(part: tree.Call, context: Context) -> None:
    """Note the fault of a call of what is no function here."""
    name, declared = part.name, declared_names(context)
    only_a_size = name not in [n for n in declared if n not in context.scope.declarations.sizes]
    if name in ex.UPDATE_FUNCTIONS and only_a_size:
        context.fault(part, f"{name}() is not a function here", "it belongs to claims.update")
    elif name in DENSITIES and name in declared and context.scope.densities:
        problem = f"found a call of '{name}', which is declared here and hides the density {DENSITIES[name].call}"
        context.fault(part, problem, f"rename the declared name, or write {name}*(...)")
    elif name in declared or name in CONSTANTS:
        context.fault(part, f"'{name}' is not a function (is a * missing?)", f"write {name}*(...)")
    else:
        near = WRITE_INSTEAD.get(name) or _gradient(name, context) or nearest(name, (*sorted(LANGUAGE), *declared))
        hint = near or _declaration(part, context)
        context.fault(part, f"'{name}' is neither declared nor a function of the language", hint)


def _gradient(name: str, context: Context) -> str:
    """Return what to write for a name such as gradU, grad_U or dU of a declared function U."""
    for function in context.scope.declarations.functions:
        if name in {f"{prefix}{function.name}" for prefix in ("grad", "grad_", "nabla", "nabla_", "d", "D")}:
            return f"write grad({function.name}, {function.of[0]})"
    return ""


def _declaration(part: tree.Call, context: Context) -> str:
    """Return how an abstract function of the blocks that a call names is declared; nothing for other arguments."""
    named = [context.scope.declarations.find(arg.name) for arg in part.args if isinstance(arg, tree.Name)]
    blocks = [block for block in named if isinstance(block, Block)]
    if not blocks or len(blocks) < len(part.args):
        return ""
    of, d = ", ".join(block.name for block in blocks), blocks[0].shape.rows
    of = of if len(blocks) == 1 else f"[{of}]"
    return f"declare it: `functions: {{{part.name}: {{of: {of}}}}}`" + (
        f", a matrix with `shape: [{d}, {d}]`" if d else ""
    )


def declared_names(context: Context) -> tuple[str, ...]:
    """Return every name that the document brings into scope."""
    scope = context.scope
    groups = (scope.declarations.blocks, scope.declarations.parameters, scope.declarations.functions)
    named = [item.name for group in groups for item in group]
    unnamed = (*scope.declarations.data, *scope.noise)
    return (*named, *(item.name for item in unnamed), *scope.declarations.sizes)


def language_constant(part: tree.Name | tree.Constant, context: Context) -> Formula | None:
    """Return `I`, `ones` or `pi`, None for another name."""
    match part.name:
        case "pi":
            return ex.Pi()
        case "I":
            size = context.unknowns.fresh()
            context.opened.append((part, "I", Shape(size, size)))
            return ex.Identity(size)
        case "ones":
            shape = Shape(context.unknowns.fresh(present=True), None)
            context.opened.append((part, "ones", shape))
            return ex.Filled(1, shape)
        case _:
            return None


def bare_identities(part: tree.Tree, *, square: bool) -> Iterator[tree.Tree]:
    """Yield every `I` that stands where no matrix can.

    One can as a factor of `@`, in a function of matrices, in the covariance of a draw, and anywhere in what is itself
    at a `square` place of a matrix, but for what is computed entry by entry.
    """
    match part:
        case tree.Name("I") | tree.Constant("I"):
            if not square:
                yield part
        case tree.Product(factors, operators):
            around = ("*", *operators, "*")
            for k, factor in enumerate(factors):
                yield from bare_identities(factor, square=square or "@" in around[k : k + 2])
        case tree.Call(name):
            of_density = name in DENSITIES and bool(DENSITIES[name].matrices)
            inner = name in ex.MATRIX_FUNCTIONS or name in ex.UPDATE_FUNCTIONS or of_density
            for arg in part.args:
                yield from bare_identities(arg, square=inner)
        case _:
            for inner in tree.parts(part):
                yield from bare_identities(inner, square=square)


def _undeclared(part: tree.Name, context: Context) -> None:
    name = part.name
    if name.lower() in _NOT_NUMBERS:
        context.fault(part, f"'{name}' is not a number", "formulas are finite everywhere on their domain")
    elif name in LANGUAGE:
        hint = f"declare it under parameters, or write {name}(...)"
        context.fault(part, f"'{name}' is a function of the language, expected its arguments", hint)
    elif name == "eps" or name in ex.UPDATE_FUNCTIONS:
        context.fault(part, f"'{name}' is not declared here", f"{name} has a meaning in claims.update only")
    else:
        meant = f"did you mean {_MEANT[name]}?" if name in _MEANT else "declare it under state, parameters or functions"
        hint = nearest(name, (*declared_names(context), *CONSTANTS)) or meant
        context.fault(part, f"'{name}' is not declared", hint)
