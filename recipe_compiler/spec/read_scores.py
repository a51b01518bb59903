"""Scores of a build: `scores: {kl: {kl: "theta[0]", law: "exp(-theta[0]**4)", range: [-4, 4]}}`."""

from collections.abc import Mapping as Table
from dataclasses import replace

from recipe_compiler.formula import tree
from recipe_compiler.formula.build import replaced
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Declarations, Domain
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.formulas import Entry, dependence
from recipe_compiler.spec.laws import COUNTS, FAMILIES, ONE_HOT, SIMPLEX, UNIT, of_all_data, read_law
from recipe_compiler.spec.model import VALUE, Formulas, Law, Score, Target
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.schema_build import ScoreEntry

BINS = 100
TAKEN = ("draws", "steps", "seconds", "gradients")


def read_scores(
    page: Page, entries: Table[str, str | ScoreEntry], declared: Declarations, derived: Formulas, no_test: str
) -> tuple[Score, ...]:
    """Return the scores of a build in order, a fault added for each that means nothing.

    Args:
        page: the document.
        entries: of its section `scores`.
        declared: blocks, parameters and data that a score may name.
        derived: name to what is computed from every draw, which it may name, too.
        no_test: why nothing can be said of held-out rows; empty where it can.
    """
    for name, entry in entries.items():
        if name in TAKEN or name.removesuffix("_error") in entries.keys() - {name}:
            page["scores", name].fault(f"found the name `{name}`, which is stored beside scores, expected another")
        if isinstance(entry, str) and no_test:
            page["scores", name].fault(f"found {entry} of {no_test}")
    return tuple(filter(None, (_read(page["scores", n], n, e, declared, derived) for n, e in entries.items())))


def why_no_test(target: Target) -> str:
    """Return why the log likelihood of a held-out row is not that of a row of the data; empty where it is."""
    declared = target.as_declared.declarations
    size = next((field.size for field in declared.data), None)
    if target.log_likelihood is None:
        return f"{target.name}, which states no log_likelihood of ONE datum"
    if target.recursion:
        return f"{target.name}, in which a row depends on the rows before it (`recursion`)"
    if size in dependence(target.log_likelihood).sizes:
        return f"{target.name}, in whose log_likelihood the number of data, {size}, stands"
    latent = next((block.name for block in declared.blocks if size in block.shape.sizes), "")
    return f"{target.name}, whose block {latent} has an entry for each datum and none for others" if latent else ""


def _read(at: Page, name: str, entry: str | ScoreEntry, declared: Declarations, derived: Formulas) -> Score | None:
    if isinstance(entry, str):
        return Score(name, entry)
    kind = "ks" if entry.ks is not None else "kl"
    if (entry.ks is None) == (entry.kl is None):
        found = "both `ks` and `kl`" if entry.kl else "neither `ks` nor `kl`"
        return at.fault(f"found {found}, expected one of them: the quantity that `law` is the law of")
    if kind == "ks" and (entry.bins or entry.range):
        return at.fault("found bins of a `ks`, which has none", "`kl` compares histograms")
    if kind == "kl" and entry.range is None:
        return at.fault("found no `range` of a `kl`, expected the interval that its bins divide", "range: [-4, 4]")
    known = replace(declared, data=(), blocks=(*declared.blocks, *(Block(n, own.shape) for n, own in derived)))
    of = at[kind].formula(Scope(known), SCALAR if kind == "kl" else None)
    if of is None:
        return None
    if not (uses := dependence(of)).blocks or uses.draws:
        return at[kind].fault(f"found {text(of)}, which draws do not change; expected a quantity of the blocks")
    law = at["law"].read(lambda own: _law(own, of, known, declared, is_density=kind == "kl"))
    if law is None:
        return None
    return Score(name, kind, substitute(of, dict(derived)), law, entry.bins or BINS, entry.range or (0.0, 0.0))


def _law(entry: Entry, of: Formula, known: Declarations, declared: Declarations, *, is_density: bool) -> Law | Formula:
    """Return the law of a quantity that an entry says, or its density. Raises SpecError or ModelError."""
    parsed = entry.tree()
    name = parsed.name if isinstance(parsed, tree.Call) else ""
    if is_density and name not in FAMILIES and name not in DENSITIES:
        density = replaced(entry.formula(Scope(known), SCALAR), {of: VALUE}.get)
        if others := [block for block in dependence(density).blocks if block != VALUE.name]:
            raise entry.refused(f"found `{others[0]}` in the density of {text(of)}, expected a function of it alone")
        return density
    own = next((one for one in declared.blocks if of == one.symbol), None)
    law = read_law(entry, own or _block(name, of), Scope(replace(of_all_data(declared), blocks=(), functions=())))
    if FAMILIES[law.name].domains in (COUNTS, ONE_HOT):
        raise entry.refused(f"found {law.name}, a law of whole numbers, expected one that has a density")
    return law


def _block(law: str, of: Formula) -> Block:
    """Return a block that lies where a law of this name does: a quantity that is computed says nothing of that."""
    domains = FAMILIES[law].domains if law in FAMILIES else ()
    if domains == SIMPLEX:
        return Block(text(of), of.shape, Domain(DomainName.INTERVAL, UNIT), Constraint.SIMPLEX)
    domain = next(iter(sorted(domains)), Domain().name)
    return Block(text(of), of.shape, Domain(domain, UNIT if law == "Beta" else ()))
