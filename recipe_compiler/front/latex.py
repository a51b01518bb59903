"""Documents as equations for a notebook."""

from collections.abc import Iterator, Sequence

from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.show import latex
from recipe_compiler.spec.model import Dynamics, Target
from recipe_compiler.tensor.style import LATEX


def of_dynamics(dynamics: Dynamics) -> str:
    """Return state, energy, D and Q as one `align*` environment."""
    names = ", ".join(LATEX.symbol(block.name) for block in dynamics.declarations.blocks)
    lines = [rf"z &= \left({names}\right)", rf"H(z) &= {latex(dynamics.H)}"]
    lines += [f"{name}(z) &= {_rows(rows)}" for name, rows in (("D", dynamics.D), ("Q", dynamics.Q)) if rows]
    drift = dynamics.claims.drift or ()
    lines += [rf"f_{{{LATEX.symbol(block)}}} &= {latex(formula)} \quad\text{{(claimed)}}" for block, formula in drift]
    return _aligned(lines)


def of_target(target: Target) -> str:
    """Return what states the potential, as one `align*` environment."""
    return _aligned([*_potential(target.declared or target)])


def _potential(target: Target) -> Iterator[str]:
    if target.gradient is not None:
        yield rf"\nabla U &= \text{{{target.gradient.function} of {target.gradient.file.name}}}".replace("_", r"\_")
    if target.potential is not None:
        yield f"U &= {latex(target.potential)}"
    if target.log_likelihood is not None:
        yield r"U &= -\log p - \sum_n \log p_n"
        prior = "0" if target.log_prior is None else latex(target.log_prior)
        yield rf"\log p &= {prior}"
        yield rf"\log p_n &= {latex(target.log_likelihood)}"


def _rows(rows: Sequence[Sequence[Formula]]) -> str:
    body = r" \\ ".join(" & ".join(latex(entry) for entry in row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _aligned(lines: Sequence[str]) -> str:
    body = " \\\\\n".join(f"  {line}" for line in lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"
