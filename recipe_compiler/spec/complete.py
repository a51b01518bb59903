"""Dynamics whose H is complete, in a build: what H says of one block is U, and the target that has it.

H = sum(theta) - sum((a - ones)*log(theta)) + r.T @ r/2 is U(theta) + r.T @ r/2, and U that of a target of theta. The
rest of a build is then as of any other dynamics and target; what the document claims is decided of the whole H.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.build import add, negate
from recipe_compiler.formula.declaration import Declarations, Function, by_name, unused
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.orders import terms_of
from recipe_compiler.formula.rebuild import zero
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.found_q import entry_of
from recipe_compiler.spec.model import Build, Claims, Dynamics, Target
from recipe_compiler.spec.places import canonical_json


def with_potential(dynamics: Dynamics) -> tuple[Dynamics, Target]:
    """Return dynamics with H = U + rest, U a function of one block, and the target whose potential is that U.

    U is the marginal that the document claims of one block, which its verdicts are about. Where it claims none, U is
    the terms of H in the first block, no other term of H depending on it: exp(-U) is then its marginal.

    Raises:
        ModelError: no marginal is claimed, and H is no sum of a function of the first block and one of the others.
    """
    declared, terms = dynamics.declarations, terms_of(dynamics.H)
    claimed = dynamics.claims.marginal or ()
    if len(claimed) == 1:
        ((of, potential),) = claimed
        own = [*terms_of(potential)]
    else:
        of = declared.blocks[0].name
        own = [term for term in terms if dependence(term).blocks == (of,)]
        if any(term not in own and of in dependence(term).blocks for term in terms):
            problem = f"found H in which {of} stands beside other blocks, and no claimed marginal of a block"
            hint = f"state its law, which is proved: `claims: {{marginal: {{{of}: ...}}}}`, -log of a density of {of}"
            raise ModelError([Fault(dynamics.source.place("H"), "H", problem, hint)])
        potential = add(own, SCALAR) if own else zero(SCALAR)
    block = by_name(declared.blocks)[of]
    U = Function(unused("U", declared.names), (of,), role="potential")
    left, more = Counter(terms) - Counter(own), Counter(own) - Counter(terms)
    rest = (*left.elements(), *map(negate, more.elements()))
    split = replace(
        dynamics,
        declarations=replace(declared, functions=(*declared.functions, U)),
        H=add((U.value, *rest), SCALAR),
        claims=Claims(),
        units=(),
    )
    known = {of, *_names((potential, *block.domain.bounds))}
    parameters = tuple(parameter for parameter in declared.parameters if parameter.name in known)
    assume = tuple(one for one in declared.assume if _names((one.left, one.right)) <= known)
    law, stated = Declarations((block,), parameters, assume=assume), json.loads(dynamics.source.document)
    document: dict[str, object] = {
        "format": "1",
        "name": dynamics.name,
        "state": [entry for entry in stated["state"] if entry[0] == of],
        "parameters": [[parameter.name, entry_of(parameter)] for parameter in parameters],
        "potential": text(potential),
    }
    source = replace(dynamics.source, document=canonical_json(document))
    return split, Target(dynamics.name, law, potential, title=dynamics.title, source=source)


def with_whole_energy(build: Build) -> Build:
    """Return a build with H as its dynamics state it: what their document claims is about that, and no other U."""
    return replace(build, dynamics=build.stated_dynamics, named=None) if build.is_complete else build


def _names(formulas: Iterable[Formula]) -> set[str]:
    return {name for formula in formulas for name in dependence(formula).names}
