"""The choice of a plan to give up as much noise as the minibatch gradient has: V, known from the data at the mode.

A module of its own, in which V is `estimate`, computes what a step then does: where a step makes up for it, and up to
what step size 2D - eps B_hat is positive semidefinite, is known there for every scheme (Ma, Chen and Fox 2015, section
2.3).
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from recipe_compiler.advise.entries import SUBTRACTED, parameter_entries
from recipe_compiler.advise.forecast import NoForecastError, linearized_chain_of
from recipe_compiler.advise.linearized_chain import LinearizedChain
from recipe_compiler.advise.roles import open_parameters
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.audit.thermostat import thermostats
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.data import Data
from recipe_compiler.run.domain_check import bounded_blocks
from recipe_compiler.run.estimates import at_mode
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.schema_build import OF_AUTO
from recipe_compiler.spec.to_yaml import number, restated


def subtracting(stated: Build, tried: Build, compiled: Module) -> Build | None:
    """Return a build on trial with V estimated from the data; None where nothing is, or need be, subtracted.

    2D - eps B_hat (Ma, Chen, Fox 2015, Sec. 2.3) is then checked by the module of that build.

    Args:
        stated: with `step_size: auto`.
        tried: the same with arbitrary values.
        compiled: the module of that.
    """
    bounded = bounded_blocks(stated.target.declarations)
    plain = stated.variant == "minibatch" and not stated.control and stated.target.gradient is None
    if not plain or bounded or compiled.program.cycle is not None or thermostats(compiled.program):
        return None
    values = {
        one.name: np.eye(len(dict(tried.values)[one.name].numbers or ())) if one.is_matrix else np.ones(())
        for one in open_parameters(stated)
    }
    run = {"step_size": number(tried.run.eps), **dict.fromkeys(OF_AUTO), "batch_size": str(tried.run.batch_size)}
    return restated(stated, {"run": run, "parameters": parameter_entries(stated, values), **SUBTRACTED})


def chain_subtracting(
    build: Build, compiled: Module, module: Emitted, data: Data, plain: LinearizedChain, mode: Array
) -> LinearizedChain | None:
    """Return the chain of a build on trial that subtracts V, made linear with V at the mode; None where there is none.

    Args:
        build: that subtracts V.
        compiled: its module.
        module: the same, imported.
        data: of both.
        plain: the chain of the build that subtracts nothing, at its mode.
        mode: that.
    """
    build = at_mode(build, plain.sampler.gradients, mode, build.run)
    try:
        eps = build.run.eps / (1.0 + _most(build))  # at which there is noise enough, for friction 1
        build = replace(build, run=replace(build.run, step_size=eps), stated_step_size=Fraction(eps))
        found = linearized_chain_of(Sampler.of(build, compiled, module, data))
    except (RunError, NoForecastError):
        return None
    return replace(found, target=plain.target, sharpness=plain.sharpness, sample=plain.sample)


def _most(build: Build) -> float:
    """Return the trace of V, which is at least its largest eigenvalue."""
    rows = dict(build.values)[build.estimated or ""].numbers or ()
    return float(sum(row[k] for k, row in enumerate(rows)))
