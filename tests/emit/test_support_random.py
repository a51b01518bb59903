"""Random bits, normals, rows and seeds of emitted modules, as plain Python, against references in Python's integers."""

import math
import re
from itertools import islice

import mpmath
import numpy as np
import pytest
from emitted_draws import support
from reference_draws import WORD, assert_normal, reference_bits, reference_normals

from recipe_compiler.emit.support.seeds import _seed_words

LANES = 64
LOW = 2**32 - 1
S = support(("_fill_normals", "_fill_normals_lanes", "_fill_indices", "_shuffle_indices", "_block_indices"))

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar:RuntimeWarning")


def state_of(seed: int, words: int = 4) -> np.ndarray:
    return _seed_words(seed, 1, 0, words)[0]


def reference_words(state: np.ndarray, turns: int) -> np.ndarray:
    """Return the next words of every lane, one row a turn."""
    lanes = [reference_bits(words.tolist()) for words in state.reshape(4, LANES).T]
    return np.array([[*islice(lane, turns)] for lane in lanes], np.uint64).reshape(LANES, turns).T


def exact_pair(a: int, b: int) -> tuple[float, float]:
    """Return the Box-Muller pair of two words, from 40 digits."""
    with mpmath.workdps(40):
        u = (mpmath.mpf(a >> 12) + mpmath.mpf(1) / 2) / 2**52
        angle = (mpmath.mpf(b >> 12) / 2**52 - mpmath.mpf(1) / 2) * mpmath.pi / 2
        radius = mpmath.sqrt(-2 * mpmath.log(u))
        x, y = float(radius * (-1) ** (b & 1) * mpmath.cos(angle)), float(radius * mpmath.sin(angle))
        return (y, x) if b & 2 else (x, y)


def test_the_reference_has_the_words_that_the_authors_publish() -> None:
    published = [
        41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205, 9973669472204895162,
        14011001112246962877, 12406186145184390807, 15849039046786891736, 10450023813501588000,
    ]  # fmt: skip
    assert [*islice(reference_bits([1, 2, 3, 4]), 10)] == published


# ---- one stream


def test_normals_equal_a_40_digit_ziggurat_however_many_are_asked_for_at_once() -> None:
    state = state_of(5)
    expected = [*islice(reference_normals(reference_bits(state.tolist())), 4000)]
    parts = [np.empty(size) for size in (1, 2, 0, 300, 3697)]  # some 50 beyond the sure part of a layer
    for part in parts:
        S._fill_normals(state, part)
    np.testing.assert_allclose(np.concatenate(parts), expected, rtol=1e-12, atol=1e-15)
    assert max(map(abs, expected)) > 3.6541528853610088  # the tail


def test_a_batch_is_a_fisher_yates_shuffle_of_what_earlier_ones_left() -> None:
    state, permutation, out = state_of(9), np.arange(50, dtype=np.uint64), np.empty(20, np.uint64)
    bits, rows = reference_bits(state.tolist()), [*range(50)]
    for _ in range(40):
        S._shuffle_indices(state, permutation, out)
        for k in range(20):
            chosen = k + ((next(bits) >> 11) * (50 - k) >> 53)
            rows[k], rows[chosen] = rows[chosen], rows[k]
        assert out.tolist() == rows[:20]
        assert permutation.tolist() == rows


@pytest.mark.parametrize(("N", "n"), [(1, 1), (2, 1), (7, 3), (7, 7), (1000, 64), (2**40 + 1, 2)])
def test_rows_of_a_block_follow_each_other_around_the_end(N: int, n: int) -> None:
    state, out = state_of(4), np.empty(n, np.uint64)
    bits = reference_bits(state.tolist())
    for _ in range(60):
        S._block_indices(state, N, out)
        first = (next(bits) >> 11) * N >> 53
        assert out.tolist() == [(first + k) % N for k in range(n)]


# ---- 64 lanes


@pytest.mark.parametrize(
    ("count", "N"), [(0, 2**52), (1, 2**52), (63, 690), (64, 7), (65, 1), (200, 2**31 - 1), (200, 2**52), (200, 2**53)]
)
def test_rows_are_the_product_of_the_bits_of_their_lane_and_a_bound(count: int, N: int) -> None:
    """All lanes, in order, whatever is left over at the end; uniform to 2**-52."""
    state = state_of(1, 4 * LANES)
    turns = -(-count // LANES)
    words = reference_words(state, turns + 1)
    out, again = np.full(count + 5, 7, np.uint64), np.empty(LANES, np.uint64)
    S._fill_indices(state, N, out[:count])
    S._fill_indices(state, N, again)
    expected = [(word >> 12) * N >> 52 for word in (*words[:turns].ravel()[:count].tolist(), *words[turns].tolist())]
    found = [*out[:count].tolist(), *again.tolist()]
    assert max(abs(one - other) for one, other in zip(found, expected, strict=True)) <= (N > 2**33)
    assert (out[count:] == 7).all()


@pytest.mark.parametrize("count", [0, 1, 64, 127, 128, 129, 500])
def test_lanes_have_the_normals_of_their_own_bits_and_nothing_more_is_written(count: int) -> None:
    state = state_of(2, 4 * LANES)
    rows = -(-count // 128)
    words = reference_words(state, 2 * rows + 2).tolist()
    pairs = [[exact_pair(a, b) for a, b in zip(words[2 * k], words[2 * k + 1], strict=True)] for k in range(rows + 1)]
    expected = np.array(pairs).transpose(0, 2, 1)
    out, again = np.full(640, np.nan), np.empty(128)
    S._fill_normals_lanes(state, out[:count])
    S._fill_normals_lanes(state, again)
    np.testing.assert_allclose(out[:count], expected[:-1].ravel()[:count], rtol=1e-15, atol=2e-16)
    np.testing.assert_allclose(again, expected[-1].ravel(), rtol=1e-15, atol=2e-16)
    assert np.isnan(out[count:]).all()


def test_rows_start_at_multiples_of_512_bytes() -> None:
    kept = [S._empty_rows(rows) for rows in (1, 2, 7, 7, 7)]
    assert [array.size for array in kept] == [64, 128, 448, 448, 448]
    starts = [
        array.ctypes.data for array in (*kept, *(s for chains in (1, 3) for s in _seed_words(13, chains, 0, 256)))
    ]
    assert {start % 512 for start in starts} == {0}


@pytest.mark.parametrize(
    ("a", "b", "radius"),
    [(0, 2**63, math.sqrt(106.0 * math.log(2.0))), (WORD, 2**63, 2.0**-26), (1, 0, None), (WORD, 3, None)],
)
def test_the_radius_reaches_eight_and_a_half_sigma_and_stays_finite(a: int, b: int, radius: float | None) -> None:
    found = math.hypot(*S._normal_pair(np.uint64(a), np.uint64(b)))
    assert math.isfinite(found)
    assert radius is None or found == pytest.approx(radius, rel=1e-12)


# ---- seeds and compiled code


@pytest.mark.parametrize("words", [4, 256])
def test_seeds_are_those_of_seed_sequence(words: int) -> None:
    found = [_seed_words(13, 3, stream, words) for stream in (0, 1)]
    for k, child in enumerate(np.random.SeedSequence(13).spawn(3)):
        for states, own in zip(found, child.spawn(2), strict=True):
            assert states.dtype == np.uint64
            np.testing.assert_array_equal(states[k], own.generate_state(words, np.uint64))


def test_seeds_of_a_chain_do_not_depend_on_how_many_chains_there_are() -> None:
    np.testing.assert_array_equal(few := _seed_words(12, 2, 0, 4), (many := _seed_words(12, 9, 0, 4))[:2])
    assert len({tuple(state) for state in many.tolist()}) == 9
    assert not np.array_equal(few, _seed_words(13, 2, 0, 4))


LOOP = "\n\n@njit\ndef fill(state, out):\n    {}(state, out)\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("_fill_normals", 4, r"movabsq\s+\$\S*_next_normal_at_edge\S*|call\w*\s+\S*_next_normal_at_edge"),
        ("_fill_normals_lanes", 256, '"prefer-vector-width"="512"'),
    ],
)
def test_compiled_normals_have_their_law_and_their_code(name: str, words: int, code: str) -> None:
    """The rare path of the ziggurat is not inlined; vector loops ask for wide registers."""
    fill, out = support((name,), LOOP.format(name), plain=False).fill, np.empty(4_000_000)
    fill(state_of(6, words), out)
    assert_normal(out, (3.0, 3.6541528853610088, 4.0, 4.5))
    texts = fill.inspect_asm() if words == 4 else fill.inspect_llvm()
    assert re.search(code, next(iter(texts.values())))
