"""Random numbers in 64 lanes: known answers lane by lane, accuracy, law, tails, independence of lanes."""

import math

import mpmath
import numpy as np
import pytest
from numba import njit
from reference_draws import assert_normal

from recipe_compiler.emit.support.box_muller import _circle_point, _minus_two_log, _normal_pair
from recipe_compiler.emit.support.indices import _fill_indices
from recipe_compiler.emit.support.lanes import _empty_rows, _fill_normals_lanes

LANES = 64


@njit
def fill_normals(state: np.ndarray, out: np.ndarray) -> None:
    _fill_normals_lanes(state, out)


@njit
def fill_indices(state: np.ndarray, N: int, out: np.ndarray) -> None:
    _fill_indices(state, N, out)


@njit(error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def minus_two_logarithms(x: np.ndarray, out: np.ndarray) -> None:
    for k in range(np.uint64(x.size)):
        out[k] = _minus_two_log(x[k])


@njit(error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def circle_points(bits: np.ndarray, c: np.ndarray, s: np.ndarray) -> None:
    for k in range(np.uint64(bits.size)):
        c[k], s[k] = _circle_point(bits[k])


@njit
def jitted_pair(a: np.uint64, b: np.uint64) -> tuple[float, float]:
    return _normal_pair(a, b)


def pair(a: int, b: int) -> tuple[float, float]:
    return jitted_pair(np.uint64(a), np.uint64(b))


def state_of(seed: int) -> np.ndarray:
    return np.random.SeedSequence(seed).generate_state(4 * LANES, np.uint64)


def normals(seed: int, size: int) -> np.ndarray:
    """Return draws with one column per lane."""
    out = np.empty(size)
    fill_normals(state_of(seed), out)
    return out.reshape(-1, LANES)


def reference_words(state: np.ndarray, count: int) -> np.ndarray:
    """Return the next words of every lane, one row a turn: xoshiro256++ after its authors' definition of 2019."""
    s = [word.copy() for word in state.reshape(4, LANES)]

    def rotate(x: np.ndarray, k: int) -> np.ndarray:
        return (x << np.uint64(k)) | (x >> np.uint64(64 - k))

    words = np.empty((count, LANES), np.uint64)
    for turn in range(count):
        words[turn] = rotate(s[0] + s[3], 23) + s[0]
        t = s[1] << np.uint64(17)
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
    return words


def exact_pair(a: int, b: int) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return the Box-Muller pair of two words in 40 digits."""
    with mpmath.workdps(40):
        u = (mpmath.mpf(a >> 12) + mpmath.mpf(1) / 2) / 2**52
        angle = (mpmath.mpf(b >> 12) / 2**52 - mpmath.mpf(1) / 2) * mpmath.pi / 2
        radius = mpmath.sqrt(-2 * mpmath.log(u))
        x, y = (-1) ** (b & 1) * mpmath.cos(angle), mpmath.sin(angle)
        return (radius * y, radius * x) if b & 2 else (radius * x, radius * y)


def test_reference_words_are_those_the_authors_publish() -> None:
    words = reference_words(np.repeat(np.arange(1, 5, dtype=np.uint64), LANES), 10)
    published = [
        41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205, 9973669472204895162,
        14011001112246962877, 12406186145184390807, 15849039046786891736, 10450023813501588000,
    ]  # fmt: skip
    assert words[:, 0].tolist() == words[:, 63].tolist() == published


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200, 1000])
def test_every_lane_has_the_bits_of_its_own_generator(count: int) -> None:
    """The index of a word in [0, 2**52) is its upper 52 bits: all lanes, in order, whatever is left over at the end."""
    state = state_of(1)
    turns = -(-count // LANES)
    words = reference_words(state, turns + 1)
    out = np.full(count + 5, 7, np.uint64)
    fill_indices(state, 2**52, out[:count])
    np.testing.assert_array_equal(out[:count], (words[:turns] >> np.uint64(12)).ravel()[:count])
    assert (out[count:] == 7).all()
    again = np.empty(LANES, np.uint64)
    fill_indices(state, 2**52, again)
    np.testing.assert_array_equal(again, words[turns] >> np.uint64(12))


@pytest.mark.slow
def test_every_lane_has_the_normals_of_its_own_bits() -> None:
    state = state_of(2)
    words = reference_words(state, 60).tolist()
    found = np.empty(60 * LANES)
    fill_normals(state, found)
    exact = np.array(
        [[[float(z) for z in exact_pair(a, b)] for a, b in zip(words[2 * k], words[2 * k + 1], strict=True)]
         for k in range(30)]
    )  # fmt: skip
    expected = exact.transpose(0, 2, 1).ravel()
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=2e-16)


@pytest.mark.slow
def test_normals_do_not_depend_on_how_many_are_asked_for_at_once() -> None:
    state = state_of(3)
    parts = [np.empty(128 * k) for k in (1, 3, 0, 4)]
    for part in parts:
        fill_normals(state, part)
    np.testing.assert_array_equal(np.concatenate(parts), normals(3, 1024).ravel())


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 127, 128, 129, 500])
def test_any_number_of_normals_is_the_start_of_whole_rows_and_nothing_more_is_written(count: int) -> None:
    state, whole_state = state_of(3), state_of(3)
    out, whole = np.full(640, np.nan), np.empty(-(-count // 128) * 128)
    fill_normals(state, out[:count])
    fill_normals(whole_state, whole)
    np.testing.assert_array_equal(out[:count], whole[:count])
    assert np.isnan(out[count:]).all()
    np.testing.assert_array_equal(state, whole_state)


def test_a_lane_does_not_depend_on_the_others() -> None:
    state, other = state_of(4), state_of(5)
    other.reshape(4, LANES)[:, 17] = state.reshape(4, LANES)[:, 17]
    found, changed = np.empty(1280), np.empty(1280)
    fill_normals(state, found)
    fill_normals(other, changed)
    same = found.reshape(-1, LANES) == changed.reshape(-1, LANES)
    assert same[:, 17].all()
    assert not np.delete(same, 17, axis=1).any()


def test_rows_start_at_whole_rows() -> None:
    @njit
    def made(rows: int) -> np.ndarray:
        return _empty_rows(rows)

    kept = [made(rows) for rows in (0, 1, 2, 7, 7, 7)]
    assert [array.size for array in kept] == [0, 64, 128, 448, 448, 448]
    assert {array.ctypes.data % 512 for array in kept} == {0}


def _worst_ulp(found: np.ndarray, exact: list[mpmath.mpf]) -> float:
    """Return the largest distance from the exact values, in units of the last place of those."""
    with mpmath.workdps(40):
        return max(
            float(abs(mpmath.mpf(value) - true)) / math.ulp(float(true))
            for value, true in zip(found.tolist(), exact, strict=True)
        )


def test_the_logarithm_is_right_to_two_ulp() -> None:
    rng = np.random.default_rng(1)
    near_one = 1.0 - 2.0**-53 * rng.integers(1, 2**20, 500)
    x = np.concatenate(
        [rng.uniform(size=3000), 2.0 ** -rng.uniform(0, 53, 2000), near_one, 2.0**-53 * np.arange(1, 99)]
    )
    x = np.concatenate([x, [math.sqrt(0.5), math.nextafter(math.sqrt(0.5), 0.0), 2.0**-53, 1.0 - 2.0**-53]])
    out = np.empty_like(x)
    minus_two_logarithms(x, out)
    with mpmath.workdps(40):
        assert _worst_ulp(out, [-2 * mpmath.log(mpmath.mpf(value)) for value in x.tolist()]) <= 2.0


@pytest.mark.slow
def test_the_circle_is_right_to_two_ulp() -> None:
    words = np.random.default_rng(2).integers(0, 2**64, 4000, np.uint64)
    edge = [q | (k << 12) for q in range(4) for k in (0, 1, 2**51 - 1, 2**51 + 1, 2**52 - 1)]
    words = np.concatenate([words, np.array(edge, np.uint64)])
    c, s = np.empty(words.size), np.empty(words.size)
    circle_points(words, c, s)
    xs: list[mpmath.mpf] = []
    ys: list[mpmath.mpf] = []
    with mpmath.workdps(40):
        for b in words.tolist():
            angle = (mpmath.mpf(b >> 12) / 2**52 - mpmath.mpf(1) / 2) * mpmath.pi / 2
            x, y = (-1) ** (b & 1) * mpmath.cos(angle), mpmath.sin(angle)
            xs.append(y if b & 2 else x)
            ys.append(x if b & 2 else y)
    assert _worst_ulp(c, xs) <= 2.0
    assert _worst_ulp(s, ys) <= 2.0


def test_the_radius_reaches_eight_and_a_half_sigma_and_stays_finite() -> None:
    far = math.hypot(*pair(0, 2**63))
    assert far == pytest.approx(math.sqrt(106.0 * math.log(2.0)), rel=1e-15)
    assert far > 8.57
    near = math.hypot(*pair(2**64 - 1, 2**63))
    assert near == pytest.approx(2.0**-26, rel=1e-12)
    corners = [pair(a, b) for a in (0, 1, 2**64 - 1) for b in (0, 1, 2, 3, 2**63, 2**64 - 1)]
    assert np.isfinite(corners).all()


@pytest.mark.slow
def test_normals_have_the_moments_law_and_tails_of_a_normal() -> None:
    assert_normal(normals(6, 2**23).ravel(), (3.0, 4.0, 4.5, 5.0))


def test_squares_of_a_pair_are_independent() -> None:
    """The two draws of a pair share a radius: their squares would show it."""
    rows = normals(7, 2**22)
    one, other = rows[0::2].ravel(), rows[1::2].ravel()
    n = one.size
    for f, variance in ((lambda z: z, 1.0), (lambda z: z * z - 1.0, 4.0), (lambda z: z**4 - 3.0, 96.0**2)):
        assert abs((f(one) * f(other)).mean()) <= 5.0 * math.sqrt(variance / n)


@pytest.mark.slow
def test_lanes_and_successive_rows_are_uncorrelated() -> None:
    rows = normals(8, 2**22)
    n = rows.shape[0]
    for values in (rows, np.abs(rows)):
        lanes = np.corrcoef(values.T)[np.triu_indices(LANES, 1)] * math.sqrt(n)
        assert np.abs(lanes).max() <= 5.5  # of 2016
        assert abs(lanes.std() - 1.0) <= 0.1
        whitened = (values - values.mean()) / values.std()
        for lag in (1, 2, 3):
            assert abs((whitened[lag:] * whitened[:-lag]).mean()) <= 5.0 / math.sqrt(rows.size)


@pytest.mark.parametrize("N", [1, 7, 690])
def test_indices_are_uniform(N: int) -> None:
    out = np.empty(700_001, np.uint64)
    fill_indices(state_of(9), N, out)
    counts = np.bincount(out.astype(np.int64), minlength=N)
    assert counts.size == N
    expected = out.size / N
    chi2 = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi2 - (N - 1)) <= 5.0 * math.sqrt(2.0 * N) + 5.0


@pytest.mark.parametrize("N", [1, 3, 569, 2**31 - 1, 2**32, 2**52, 2**53])
def test_indices_are_the_product_of_bits_and_bound(N: int) -> None:
    state = state_of(10)
    words = reference_words(state, 20).ravel().tolist()
    out = np.empty(20 * LANES, np.uint64)
    fill_indices(state, N, out)
    expected = [(word >> 12) * N >> 52 for word in words]
    assert np.abs(np.array(out.tolist()) - np.array(expected)).max() <= (0 if N < 2**33 else 1)
    assert int((1.0 - 2.0**-52) * N) < N


def test_vector_loops_ask_for_wide_registers() -> None:
    fill_normals(state_of(1), np.empty(128))
    (text,) = fill_normals.inspect_llvm().values()
    assert '"prefer-vector-width"="512"' in text
