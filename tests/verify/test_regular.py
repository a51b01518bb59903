"""Where regularity of D and Q is asked, and of what it is required (`documents/verify/regular.yaml`)."""

from answers import answer, document, expect

from recipe_compiler.verify.uniqueness.regular import varies

TORUS = """
state: {a: {domain: circle}, b: {domain: circle}}
H: 0*a
claims: {drift: {a: 1, b: 2}, diffusion: [[1, 0], [0, 0]]}
"""


def test_it_is_asked_where_coefficients_depend_on_the_state():
    line = "state: {{x: {{}}}}\nH: x**2/2\nD: [['{}']]\nQ: [[0]]\n"
    assert [varies(document(line.format(noise))) for noise in ("1", "1 + x**2")] == [False, True]


def test_of_constant_noise_nothing_is_required_where_there_is_no_q():
    found = answer(document(TORUS), "regular")
    expect(found, "undecided")
    assert not found.required
    assert answer(document(TORUS.replace("[[1,", "[[1 + sin(a)**2,")), "regular").required
