"""Formulas that a build binds to parameters and functions of its dynamics."""

from dataclasses import replace

from recipe_compiler.formula.declaration import Declarations, Function, Parameter
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.declarations import Page
from recipe_compiler.spec.dependence import dependence
from recipe_compiler.spec.faults import nearest
from recipe_compiler.spec.model import Dynamics


def unbound(dynamics: Dynamics, bound: tuple[str, ...], parameters: tuple[Parameter, ...]) -> Declarations:
    """Return the declarations of the dynamics without what is bound, with the build's own parameters."""
    declared = dynamics.declarations
    kept = tuple(parameter for parameter in declared.parameters if parameter.name not in bound)
    functions = tuple(function for function in declared.functions if function.name not in bound)
    return Declarations(declared.blocks, (*kept, *parameters), functions, declared.data, declared.assume)


def read_bindings(
    page: Page, names: tuple[str, ...], dynamics: Dynamics, scope: Scope
) -> tuple[tuple[str, Formula], ...]:
    """Return the bound formulas, in the order of the build.

    Each has the shape of what it binds; one of a parameter depends on no block, one of a function on the function's
    blocks alone. Kinds are claims, which `verify` decides.
    """
    declared = dynamics.declarations
    known = tuple(item.name for item in (*declared.parameters, *declared.functions) if item.name != dynamics.potential)
    found: list[tuple[str, Formula]] = []
    for name in names:
        item, path, label = declared.find(name), ("bind", name), f"bind.{name}"
        if name == dynamics.potential:
            page.fault(path, label, f"found `{name}`, the potential, which the target binds; expected no binding of it")
        elif not isinstance(item, (Parameter, Function)):
            expected = f"expected a parameter or function of the dynamics ({', '.join(known) or 'there are none'})"
            page.fault(path, label, f"found `{name}`, {expected}", nearest(name, known))
        else:
            formula = page.formula(label, replace(scope, square=True), item.shape, *path)
            if formula is not None:
                _check_dependence(page, item, formula)
                found.append((name, formula))
    return tuple(found)


def _check_dependence(page: Page, item: Parameter | Function, formula: Formula) -> None:
    uses = dependence(formula)
    path, label = ("bind", item.name), f"bind.{item.name}"
    if isinstance(item, Parameter):
        used = (*uses.blocks, *uses.functions)
        if used:
            problem = f"found `{used[0]}` in the parameter `{item.name}`, expected a constant"
            hint = f"declare `{item.name}` under functions, of the blocks it depends on"
            page.fault(path, label, problem, hint)
        return
    for block in uses.blocks:
        if block not in item.of:
            page.fault(path, label, f"found `{block}`, expected a function of {', '.join(item.of)} alone, as declared")
