"""Samplers of a target side by side: what one effective draw of each takes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recipe_compiler.advise.design import Design
from recipe_compiler.plots.panels import COLOURS, sheet, with_plain_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_designs(target: str, designs: Sequence[Design]) -> "Figure":
    """Return bars of gradients for one effective draw, the fewest on top, coloured by what D depends on."""
    page = sheet(f"{target}: gradients for one effective draw", 1, height=max(1.5, 0.4 * len(designs)))
    panel, kinds = page.panels[0], sorted({one.D for one in designs})
    for row, one in enumerate(designs):
        first = all(other.D != one.D for other in designs[:row])
        panel.barh(row, one.gradients, color=COLOURS[kinds.index(one.D)], height=0.7,
                   label=f"D: {one.D}" if first else None)  # fmt: skip
        panel.text(one.gradients, row, f" {one.gradients:.3g}", fontsize=8, verticalalignment="center")
    panel.set_yticks(range(len(designs)), [f"{one.name} (Q: {one.Q})" for one in designs])
    panel.set_ylim(len(designs) - 0.5, -0.5)
    panel.set_xscale("log")
    with_plain_numbers(panel.xaxis)
    panel.margins(x=0.15)
    panel.set_xlabel("gradients of U", fontsize=8)
    panel.legend(fontsize=7, loc="best")
    return page.figure
