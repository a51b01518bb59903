"""Writes the synthetic data sets of this folder: `python make_twins.py [FOLDER]`. The same numbers every time."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

Columns = dict[str, np.ndarray]


def linear_regression(rng: np.random.Generator) -> Columns:
    """400 rows: y = 0.5 - 1 a + 0.75 b + 0 c + 2 e + N(0, 1); a and b correlated."""
    a = rng.standard_normal(400)
    b = 0.8 * a + 0.6 * rng.standard_normal(400)
    c, e = rng.standard_normal((2, 400))
    return {"a": a, "b": b, "c": c, "e": e, "y": 0.5 - a + 0.75 * b + 2 * e + rng.standard_normal(400)}


def poisson_regression(rng: np.random.Generator) -> Columns:
    """500 rows: y is Poisson(exp(1 + 0.5 a - 0.25 b))."""
    a, b = rng.standard_normal((2, 500))
    return {"a": a, "b": b, "y": rng.poisson(np.exp(1 + 0.5 * a - 0.25 * b))}


def normal_sample(rng: np.random.Generator) -> Columns:
    """5000 draws of N(0, 1)."""
    return {"y": rng.standard_normal(5000)}


def three_classes(rng: np.random.Generator) -> Columns:
    """600 rows of three classes, with probabilities proportional to exp(W x), x = (1, a, b)."""
    W = np.array([[0.0, 1.0, 1.0], [0.5, -1.5, 0.5], [0.0, 0.5, -1.5]])
    a, b = rng.standard_normal((2, 600))
    scores = W @ np.stack([np.ones(600), a, b])
    return {"a": a, "b": b, "y": np.argmax(scores + rng.gumbel(size=scores.shape), axis=0)}


def two_groups(rng: np.random.Generator) -> Columns:
    """500 draws of 0.3 N(-2, 1) + 0.7 N(2, 1)."""
    return {"y": np.where(rng.random(500) < 0.3, -2.0, 2.0) + rng.standard_normal(500)}


def ratings(rng: np.random.Generator) -> Columns:
    """400 ratings by 8 users of 6 items: products of two factors each, and N(0, 1/4)."""
    F, G = rng.standard_normal((8, 2)), rng.standard_normal((6, 2))
    user, item = rng.integers(0, 8, 400), rng.integers(0, 6, 400)
    return {"user": user, "item": item, "y": (F[user] * G[item]).sum(axis=1) + 0.5 * rng.standard_normal(400)}


def sparse_categories(rng: np.random.Generator) -> Columns:
    """1000 data in three of ten categories: 800, 100 and 100."""
    return {"z": rng.permutation(np.repeat(np.arange(3), (800, 100, 100)))}


def dense_categories(rng: np.random.Generator) -> Columns:
    """1000 data in ten categories, about 100 in each."""
    counts = (112, 119, 92, 98, 95, 96, 102, 92, 91, 103)
    return {"z": rng.permutation(np.repeat(np.arange(10), counts))}


def groups(rng: np.random.Generator) -> Columns:
    """300 rows of 12 groups, counted from 1, the first of them large: y = 1 + alpha_group + 0.75 x + N(0, 1/2)."""
    alpha, odds = rng.standard_normal(12), 1.0 / np.arange(1, 13)
    group, x = rng.choice(12, 300, p=odds / odds.sum()), rng.standard_normal(300)
    y = 1 + alpha[group] + 0.75 * x + np.sqrt(0.5) * rng.standard_normal(300)
    return {"group": group + 1, "x": x, "y": y}


def few_of_two_groups(rng: np.random.Generator) -> Columns:
    """10 draws of N(-1, 1)/2 + N(1, 1)/2."""
    return {"y": rng.choice([-1.0, 1.0], 10) + rng.standard_normal(10)}


def few_choices(rng: np.random.Generator) -> Columns:
    """Six users, and how often each chose one item and the other: 3 choices each, no draws."""
    del rng
    return {"one": np.array([3, 2, 3, 0, 1, 0]), "other": np.array([0, 1, 0, 3, 2, 3])}


def few_trials(rng: np.random.Generator) -> Columns:
    """24 rows: y is 1 with probability sigmoid(0.5 + 1.5 a - b); a and b correlated, to one decimal."""
    a = rng.standard_normal(24)
    b = 0.8 * a + 0.6 * rng.standard_normal(24)
    a, b = np.round(a, 1) + 0.0, np.round(b, 1) + 0.0
    return {"a": a, "b": b, "y": (rng.random(24) < 1 / (1 + np.exp(b - 0.5 - 1.5 * a))).astype(int)}


def removal_counts(rng: np.random.Generator) -> Columns:
    """Ten sites fished three times: Poisson(6 area) fish, each caught with probability 0.4 while it is there."""
    area = np.round(rng.uniform(0.5, 2, 10), 1)
    left, columns = rng.poisson(6 * area), {"area": area}
    for name in ("catch1", "catch2", "catch3"):
        columns[name] = rng.binomial(left, 0.4)
        left = left - columns[name]
    return columns


MADE = (
    linear_regression,
    poisson_regression,
    normal_sample,
    three_classes,
    two_groups,
    ratings,
    sparse_categories,
    dense_categories,
    groups,
    few_of_two_groups,
    few_choices,
    few_trials,
    removal_counts,
)


def files() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file."""
    for number, make in enumerate(MADE):
        columns = make(np.random.default_rng(2026 + number))
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(f"{value:.6g}" for value in row) for row in rows)]
        yield f"{make.__name__}.csv", "\n".join(lines) + "\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    for name, text in files():
        ((folder if folder.is_dir() else folder.parent) / name).write_text(text, encoding="utf-8")
