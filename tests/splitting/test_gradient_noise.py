"""What words give up for noise of the gradient, against the exact law of a linear chain with full matrices.

U = theta.T K theta/2, H = U + r.T inv(M) r/2, friction C, noise V of the gradient: K, M, C, V of d = 3, no two of which
commute. The chain is z+ = F z + noise, its covariance that of the discrete Lyapunov equation: no random numbers.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import pytest
from answers import word
from scipy.linalg import expm, solve_discrete_lyapunov

from recipe_compiler.spec.words import Word, letters
from recipe_compiler.splitting.gradient_noise import NoiseRole, find_given_up, format_powers

HALF = Fraction(1, 2)
ROLES = {"A": NoiseRole.DRIFT, "B": NoiseRole.KICK, "O": NoiseRole.DECAY, "xi": NoiseRole.NONE}
D = 3
rng = np.random.default_rng(0)


def spd(shift: float) -> np.ndarray:
    X = rng.normal(size=(D, D))
    return X @ X.T + shift * np.eye(D)


K, M, C, V = spd(0.3), spd(1.0), spd(2.0), 3 * spd(1.0)
P, ONE, Z = np.linalg.inv(M), np.eye(D), np.zeros((D, D))
Less = Callable[[Word, float], Mapping[int, np.ndarray]]


def power(o: Fraction, eps: float) -> np.ndarray:
    return expm(-float(o) * eps * C @ P)


def covariance(own: Word, eps: float, less: Mapping[int, np.ndarray], noise: np.ndarray) -> np.ndarray:
    """Return the covariance of theta where every evaluation of the gradient has noise of its own, kept to its kicks.

    The state is (theta, r, xi), xi the noise of the last evaluation: it is drawn anew where theta moves.
    """
    written = tuple(letters(own))
    theta, r, xi = (slice(k * D, (k + 1) * D) for k in range(3))
    whole, noisy = np.eye(3 * D), np.zeros((3 * D, 3 * D))
    for place, letter in enumerate(written):
        f, n, s = np.eye(3 * D), np.zeros((3 * D, 3 * D)), float(letter.share)
        match letter.piece:
            case "A":
                f[theta, r], f[xi, xi], n[xi, xi] = s * eps * P, Z, noise
            case "B":
                f[r, theta], f[r, xi] = -s * eps * K, -s * eps * ONE
            case _:
                f[r, r] = E = power(letter.share, eps)
                n[r, r] = M - E @ M @ E.T - less.get(place, Z)
        whole, noisy = f @ whole, f @ noisy @ f.T + n
    return solve_discrete_lyapunov(whole, noisy)[:D, :D]


def derived(own: Word, eps: float) -> dict[int, np.ndarray]:
    up = find_given_up(own, ROLES)
    assert up is not None
    responses = [np.sum([float(c) * power(o, eps) for o, c in response.items()], axis=0) for response in up.responses]
    return {up.place: np.sum([eps**2 * K_ @ V @ K_.T for K_ in responses], axis=0)}


def widened(own: Word, eps: float, less: Mapping[int, np.ndarray]) -> float:
    return float(np.abs(covariance(own, eps, less, V) - covariance(own, eps, {}, Z)).max())


def ratio(own: Word, less: Less, eps: float = 0.02) -> float:
    return widened(own, eps, less(own, eps)) / widened(own, eps / 2, less(own, eps / 2))


WORDS = {
    "baoab": word("B/2 A/2 O A/2 B/2"),
    "O A B A O": word("O/2 A/2 B A/2 O/2"),
    "two gradients": word("B/4 A/2 B/2 O A/2 B/4"),
    "uneven": word("A/4 B/3 A/4 O B/2 A/2 B/6"),
    "kicks on either side of O": word("A/2 B/2 A/4 O B/2 A/4"),
}
EXACT = {
    "aboba": word("A/2 B/2 O B/2 A/2"),
    "obabo": word("O/2 B/2 A B/2 O/2"),
    "O B O": word("A/2 O/2 B O/2 A/2"),
}


@pytest.mark.parametrize("name", WORDS)
def test_halving_the_step_divides_what_the_noise_widens_by_8(name: str) -> None:
    assert ratio(WORDS[name], derived) == pytest.approx(8, rel=0.1)
    assert ratio(WORDS[name], lambda own, eps: {}) == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize("name", EXACT)
def test_in_some_words_nothing_of_the_noise_is_left(name: str) -> None:
    for eps in (0.2, 0.05):
        assert widened(EXACT[name], eps, derived(EXACT[name], eps)) < 1e-12
        assert widened(EXACT[name], eps, {}) > 0.01


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("B/2 A/2 O A/2 B/2", (2, ["1/2 + E/2"])),
        ("A/2 B/2 O B/2 A/2", (2, ["1/2 + E/2"])),
        ("B A O", (2, ["1"])),
        ("O/2 B/2 A B/2 O/2", (0, ["1/2 + E/2"])),
        ("A/2 O/2 B O/2 A/2", (3, ["E^(1/2)"])),
        ("B/4 A/2 B/2 O A/2 B/4", (3, ["1/4 + E/4", "E/2"])),
        ("B/2 A/2 xi/2 O xi/2 A/2 B/2", (3, ["1/2 + E/2"])),
    ],
)
def test_the_responses_of_words(text: str, says: tuple[int, list[str]]) -> None:
    found = find_given_up(word(text), ROLES)
    assert found is not None
    assert (found.place, sorted(map(format_powers, found.responses))) == says


def test_powers_are_written_as_formulas() -> None:
    assert format_powers({Fraction(1): HALF, Fraction(0): HALF}) == "1/2 + E/2"
    assert format_powers({Fraction(1): Fraction(1), HALF: Fraction(3, 4)}) == "3 E^(1/2)/4 + E"


def test_drifts_on_either_side_of_letters_of_O_are_of_another_form() -> None:
    """There the noise of each letter displaces by a sum of powers of E of its own."""
    assert find_given_up(word("O/2 A/2 O/4 B A/2 O/4"), ROLES) is None
