"""Figures against labels: hand-made tables, weights that stand for repeated rows, and draws of whole sources."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))

from measures import Bootstrap, auroc, cells, rates, spearman  # noqa: E402


def test_rates_of_a_table_worked_by_hand():
    # 6 faithful, 4 of them said so; 4 unfaithful, 3 of them said so
    said = np.array([1, 1, 1, 1, 0, 0, 1, 0, 0, 0], dtype=bool)
    faithful = np.array([1, 1, 1, 1, 1, 1, 0, 0, 0, 0], dtype=bool)
    found = rates(cells(said, faithful).sum(axis=0))
    assert found["spared"] == pytest.approx(4 / 6) and found["caught"] == pytest.approx(3 / 4)
    assert found["balanced_accuracy"] == pytest.approx((4 / 6 + 3 / 4) / 2)
    assert found["f1_unfaithful"] == pytest.approx(6 / 9) and found["precision_unfaithful"] == pytest.approx(3 / 5)
    assert found["f1_macro"] == pytest.approx((6 / 9 + 8 / 11) / 2)
    chance = (5 * 6 + 5 * 4) / 100
    assert found["kappa"] == pytest.approx((0.7 - chance) / (1 - chance))


def test_with_one_kind_of_label_nothing_is_balanced():
    found = rates(cells(np.array([True, False]), np.array([False, False])).sum(axis=0))
    assert all(np.isnan(found[name]) for name in ("balanced_accuracy", "kappa", "spared"))
    assert found["caught"] == 0.5


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans(), st.integers(0, 3)), min_size=2, max_size=12))
def test_a_weight_is_a_repeated_row(rows):
    first, second, faithful, weight = (np.array(column) for column in zip(*rows, strict=True))
    again = np.repeat(np.arange(len(rows)), weight)
    for measure, other in ((auroc, faithful), (spearman, second)):
        weighted = measure(first, other, weight[None].astype(float))[0]
        repeated = measure(first[again], other[again])[0] if len(again) else np.nan
        assert weighted == pytest.approx(repeated, nan_ok=True)


def test_ranks_and_ties():
    assert auroc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, False, True, True]))[0] == pytest.approx(3.5 / 4)
    x = np.array([0.1, 0.5, 0.2, 0.9])
    assert spearman(x, x**3)[0] == pytest.approx(1.0) and spearman(x, -x)[0] == pytest.approx(-1.0)
    # Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4
    assert spearman(np.array([1, 2, 2, 3]), np.array([1, 2, 3, 4]))[0] == pytest.approx(4.5 / np.sqrt(4.5 * 5))


def test_sources_are_drawn_whole():
    said, faithful = np.array([1, 0, 1, 0], dtype=bool), np.array([1, 1, 0, 0], dtype=bool)
    alone = Bootstrap(np.array(["a"] * 4)).rates(said, faithful)
    assert alone["agreement"] == [0.5, 0.5, 0.5]  # one source: every draw is the whole
    bootstrap = Bootstrap(np.array(["a", "b", "a", "b"]), draws=50)
    assert bootstrap.sources == 2
    assert np.array_equal(bootstrap.weights[:, 0], bootstrap.weights[:, 2])
    assert np.array_equal(bootstrap.weights.sum(axis=1), np.full(50, 4))
    assert bootstrap.rates(said, said)["agreement"] == [1.0, 1.0, 1.0]


def test_an_interval_holds_its_figure_and_narrows_with_sources():
    rng = np.random.default_rng(0)
    widths = []
    for n in (40, 400):
        faithful = rng.random(n) < 0.6
        score = faithful + rng.normal(0, 1, n)
        bootstrap = Bootstrap(np.arange(n), draws=300)
        for value, low, high in (bootstrap.of(auroc, score, faithful), *bootstrap.rates(score > 0.5, faithful).values()):
            assert low <= value <= high
        widths.append(high - low)
    assert widths[1] < widths[0] / 2


def test_auroc_counts_ties_as_half():
    assert auroc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, False, True, True]))[0] == pytest.approx(3.5 / 4)


def test_a_share_of_all_has_a_width():
    found = Bootstrap(np.array(["a", "b", "b", "c"]), draws=20).share(np.array([True, True, True, False]), np.array([True, True, True, False]))
    assert found[0] == 1.0 and found[2] == 1.0 and 0.2 < found[1] < 0.6  # two sources say little


def test_a_share_of_nothing_is_unknown():
    bootstrap = Bootstrap(np.array(["a", "b"]), draws=20)
    none, some = np.array([False, False]), np.array([True, False])
    assert np.isnan(bootstrap.share(none, none)).all()
    assert bootstrap.share(some, np.array([True, True]))[0] == 0.5
