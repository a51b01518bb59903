"""Piecewise, and conditions joined by and, or and not, as nested `where`.

`where(a & b, yes, no)` is `where(a, where(b, yes, no), no)` and `where(a | b, yes, no)` is `where(a, yes, where(b, yes,
no))`: the same values at every point, those where a side of a comparison is equal to the other included.
"""

from recipe_compiler.formula import tree
from recipe_compiler.formula.context import Context
from recipe_compiler.formula.spelled_numbers import call
from recipe_compiler.formula.tree import At, Call, Tree

OPERATORS = {"Eq": "==", "Gt": ">", "Ge": ">=", "Lt": "<", "Le": "<="}
JOINTS = frozenset({"And", "Or", "Not", "Ne"})
"""Conditions that are no comparison of the language: they are gone once `where` is written out."""


def comparison(part: Call, context: Context) -> Tree | None:
    """Eq(a, b), Gt(a, b), ..."""
    if len(part.args) != 2:
        context.fault(part, f"found {len(part.args)} arguments of {part.name}(), expected 2")
        return None
    return tree.Comparison(OPERATORS[part.name], *part.args, part.at)


def piecewise(part: Call, context: Context) -> Tree | None:
    """Piecewise((a, x > 0), (b, x > -1), (c, True)): the first case whose condition holds."""
    cases = [case.items for case in part.args if isinstance(case, tree.Group) and len(case.items) == 2]
    if len(cases) < len(part.args):
        context.fault(part, "found a case that is not a pair", "write Piecewise((a, x > 0), (b, True))")
        return None
    conditions = [_is_rest(condition) for _, condition in cases]
    if not conditions[-1]:
        context.fault(part, "found a Piecewise without a last case for all the rest", "add (value, True)")
        return None
    if any(conditions[:-1]):
        context.fault(part, "found a case behind (value, True), which is never reached", "leave it out")
        return None
    found: Tree | None = cases[-1][0]
    for value, condition in reversed(cases[:-1]):
        found = None if found is None else _chosen(condition, value, found, part.at, context)
    return found


def where(part: Call, context: Context) -> Tree | None:
    """Return `where(condition, yes, no)` of comparisons, the condition of any form."""
    if len(part.args) != 3 or isinstance(part.args[0], tree.Comparison):
        return part
    return _chosen(*part.args, part.at, context)


def _is_rest(condition: Tree) -> bool:
    return isinstance(condition, tree.Constant) and condition.name == "True"


def _chosen(condition: Tree, yes: Tree, no: Tree, at: At, context: Context) -> Tree | None:
    match condition:
        case tree.Comparison():
            return call("where", at, condition, yes, no)
        case Call("Not", (arg,)):
            return _chosen(arg, no, yes, at, context)
        case Call("Ne", (left, right)):
            return call("where", at, tree.Comparison("==", left, right, condition.at), no, yes)
        case Call("And" | "Or" as name, (first, *others)):
            if not others:
                return _chosen(first, yes, no, at, context)
            rest = _chosen(Call(name, tuple(others), condition.at, language=True), yes, no, at, context)
            if rest is None:
                return None
            return _chosen(first, rest, no, at, context) if name == "And" else _chosen(first, yes, rest, at, context)
        case _:
            context.fault(condition, "found a value, expected a condition", "write for example x > 0")
            return None
