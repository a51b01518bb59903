"""The maps to offer for a step with a rate and a decay, as SGHMC was published (Chen, Fox, Guestrin 2014, Eq. 15)."""

from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.lint.source import Source
from recipe_compiler.spec.model import Dynamics

RATES = ("eta", "lr", "learning_rate", "rate", "gamma", "step_size", "stepsize", "eps", "epsilon")
DECAYS = {"alpha": "{}", "decay": "{}", "friction": "{}", "damping": "{}"}
DECAYS |= dict.fromkeys(("momentum", "mu", "beta", "beta1", "momentum_decay"), "1 - {}")
"""What an argument of this name is of the friction times the step size."""
VELOCITIES = ("v", "velocity", "vel", "momentum_buffer", "buf", "m", "p", "r", "w")


def suggest_maps(source: Source, dynamics: Dynamics) -> str:
    """Return the maps that make eps times the momentum the velocity of a step; empty for a step of another form."""
    names = [argument.name for argument in source.arguments]
    known = {p.name for p in dynamics.declarations.parameters}
    rate = next((name for name in RATES if name in names and name not in known), "")
    decay = next((name for name in DECAYS if name in names and name not in known), "")
    positions = dynamics.declarations.blocks_of(dynamics.potential)
    momenta = [b.name for b in dynamics.declarations.blocks if b.name not in positions]
    velocity = next((name for name in VELOCITIES if name in names and name not in (rate, decay)), "")
    if not (rate and decay and velocity) or len(momenta) != 1:
        return ""
    friction = _find_friction(dynamics)
    damping = DECAYS[decay].format(f"{friction}*eps" if friction else "eps")
    stands = f"--map '{velocity}=eps*{momenta[0]}' --map '{rate}=eps**2' --map '{decay}={damping}'"
    return f"if {velocity} is the step size times {momenta[0]} (the published form of SGHMC): {stands}"


def _find_friction(dynamics: Dynamics) -> str:
    """Return the first parameter of D."""
    if dynamics.D is None:
        return ""
    every = (n for row in dynamics.D for entry in row for n in nodes(entry))
    return next((n.name for n in every if isinstance(n, Symbol) and n.role is Role.PARAMETER), "")
