"""A plan as text, from which it can be made again: what was chosen stands in the document of its build."""

import json
from dataclasses import asdict
from typing import Any

from recipe_compiler.planner.chosen import Plan
from recipe_compiler.run.pilot_figures import PilotFigures
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.restate import read_restated
from recipe_compiler.spec.to_yaml import text_of


def plan_text(plan: Plan) -> str:
    """Return a plan as JSON from which `plan_of_text` makes it again."""
    measured = None if plan.measured is None else asdict(plan.measured)
    return json.dumps({
        "build": text_of(plan.build.source), "says": plan.says, "measured": measured, "doubts": plan.doubts,
        "damping": plan.damping,
    })  # fmt: skip


def plan_of_text(text: str, stated: Build) -> Plan:
    """Return the plan that `plan_text` wrote.

    Args:
        text: of a plan.
        stated: the build that it is of, with `step_size: auto`.

    Raises:
        SpecError, ModelError: the document means nothing.
    """
    kept: dict[str, Any] = json.loads(text)
    measured = None if kept["measured"] is None else _figures(kept["measured"])
    return Plan(
        read_restated(stated, kept["build"]), tuple(kept["says"]), measured, tuple(kept["doubts"]), kept["damping"]
    )


def _figures(kept: dict[str, Any]) -> PilotFigures:
    figures: dict[str, Any] = {name: tuple(own) if isinstance(own, list) else own for name, own in kept.items()}
    return PilotFigures(**figures)


def processor() -> str:
    """Return what the jit compiles for: another processor may round sums otherwise."""
    from llvmlite import binding  # with LLVM, which nothing needs but what is compiled

    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"
