"""What exp(-H) leaves of theta once the other blocks are integrated out (`documents/verify/marginal.yaml`)."""

import flint
from answers import document
from energies import energy
from flint import acb

from recipe_compiler.verify.integrability.marginal import has_auxiliaries


def test_it_applies_where_there_are_blocks_besides_the_targets():
    of = (
        energy("theta: {shape: d}, r: {shape: d}", "U(theta) + norm2(r)"),
        energy("theta: {shape: d}", "U(theta)"),
        energy("x: {}, y: {}", "x**2 + y**2"),
    )
    assert [has_auxiliaries(document(text)) for text in of] == [True, False, False]


def test_the_law_that_nose_poincare_leaves_is_strictly_log_convex():
    """Z(u) = int exp(-s u - s log s) ds, enclosed on [1/16, 16]: Z(1)**2 < Z(0) Z(2), where exp(-u) has equality."""

    def Z(u):
        return acb.integral(lambda s, _: (-s * u - s * s.log()).exp(), acb(1) / 16, acb(16)).real

    with flint.ctx.workprec(64):
        assert Z(1) ** 2 < Z(0) * Z(2)
