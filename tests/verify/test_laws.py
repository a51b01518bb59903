"""No edit of a right law is proved, and witnesses are values that exist (`documents/verify/laws.yaml`)."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from answers import ROOT, answer, document, expect, vector
from families import read_variants

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes, parts, rebuild
from recipe_compiler.run.evaluate import Point, evaluate
from recipe_compiler.spec.model import Law

FAMILIES = [*read_variants(ROOT / "tests/documents/verify/laws.yaml", "laws")]
RIGHT = {one.texts["document.yaml"].split()[1]: one for one in FAMILIES if one.name.endswith("right laws are proved")}


@pytest.mark.parametrize(
    ("family", "old", "new", "name"),
    [("weights", "- tau*sum(w)", "- tau*norm2(w)", "w"), ("weights", "tau*B @ c +", "", "w")],
)
def test_a_witness_of_shares_is_on_the_simplex(family, old, new, name):
    head, laws = RIGHT[family].texts["document.yaml"].split("laws:")
    changed = f"{head}laws:{laws.replace(old, new)}" if old in laws else f"{head.replace(old, new)}laws:{laws}"
    shares = vector(expect(answer(document(changed), "laws"), "refuted")[name])
    assert (sum(shares), len(shares) > 1, min(shares) > 0) == (1, True, True)


# Structured edits of right laws: each is wrong where its parameters differ at a point, and none may be proved.


def edit(law, rng):
    """Return a law one edit of one node away."""
    k = rng.randrange(len(law.arguments))
    old = rng.choice(list(nodes(law.arguments[k])))
    new = edited(old, rng, [node for argument in law.arguments for node in nodes(argument)])
    changed = swapped(law.arguments[k], old, new) if new.shape == old.shape else law.arguments[k]
    return Law(law.name, (*law.arguments[:k], changed, *law.arguments[k + 1 :]))


def edited(node, rng, others):
    """Return a node with a number, a sign, a term, a factor or a name changed."""
    scale = ex.Number(rng.choice([Fraction(2), Fraction(1, 2), Fraction(-1), Fraction(3)]))
    choices = [ex.Multiply(scale, node, node.shape)]
    match node:
        case ex.Number(value):
            choices = [ex.Number(value + 1), ex.Number(value - 1), ex.Number(value * 2)]
        case ex.Add(terms, shape) if len(terms) > 1:
            k = rng.randrange(len(terms))
            left = (*terms[:k], *terms[k + 1 :])
            choices.append(ex.Add(left, shape) if len(left) > 1 else left[0])
        case ex.Multiply(left, right):
            choices += [one for one in (left, right) if one.shape == node.shape]
        case ex.Power(base, ex.Number(value), shape) if value > 1:
            choices += [ex.Power(base, ex.Number(value + 1), shape), base]
        case ex.Apply("inv", (arg,)):
            choices.append(arg)
        case _:
            pass
    return rng.choice([*choices, *[one for one in others if one.shape == node.shape and one != node][:6]])


def swapped(formula, old, new):
    if formula is old:
        return new
    return rebuild(formula, [swapped(part, old, new) for part in parts(formula)], lambda shape: shape)


SIZES = {"N": 4, "d": 3, "J": 3, "K": 2}


def drawn(target, rng):
    """Return values of every name, data as all of their rows; all positive, which no kind forbids."""
    declared = target.declarations
    items = [(i.name, i.shape.sizes, i) for i in (*declared.parameters, *declared.blocks)]
    items += [(f.name, (f.size, *f.shape.sizes), f) for f in declared.data]
    found = {}
    for name, sizes, item in items:
        value = rng.uniform(0.2, 1.2, [SIZES.get(n, n) for n in sizes])
        if "positive definite" in getattr(item, "kinds", ()):
            value = value @ value.T + np.eye(len(value))
        found[name] = value[:, None] if value.ndim == 1 else value
    return Point(found, SIZES)


def differs(target, one, other):
    """Whether the parameters of two laws of one name differ at a point at which both have a value."""
    rng = np.random.default_rng(7)
    with np.errstate(all="ignore"):
        for at in (drawn(target, rng) for _ in range(3)):
            for left, right in zip(one.arguments, other.arguments, strict=True):
                try:
                    gap = np.max(np.abs(evaluate(left, at) - evaluate(right, at)))
                except (np.linalg.LinAlgError, ValueError):
                    continue
                if np.isfinite(gap) and gap > 1e-6:
                    return True
    return False


def wrong_laws(target, block, count, seed):
    """Return different laws, one edit away from the right one or, where it has few, from one of these."""
    law, rng = dict(target.laws)[block], random.Random(seed)
    found = []
    while len(found) < count:
        other = edit(law if rng.random() < 0.8 else rng.choice([law, *found]), rng)
        if other not in found and differs(target, law, other):
            found.append(other)
    return found


EDITED = [(name, block) for name, blocks in {
    "sample": "mu tau", "regression": "beta tau", "variance": "theta s", "families": "th v al w s u l q",
}.items() for block in blocks.split()]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "block"), EDITED)
def test_none_of_eighty_edits_of_a_right_law_is_proved(name, block):
    target = document(RIGHT[name].texts["document.yaml"])
    for law in wrong_laws(target, block, 80, seed=2):
        expect(answer(replace(target, laws=((block, law),)), "laws"), "not proved")
