"""Early exit: the verdicts of the exhaustive run, from fewer pairs."""

from types import SimpleNamespace

import numpy as np
import pytest

from nli_faith.pairs import Pool
from nli_faith.scores import Rule, judge
from nli_faith.types import Counts
from nli_faith.waves import score_all, score_in_waves, wave_order


class TableReader:
    """Probabilities that depend on the two texts alone, and a record of what was asked."""

    def __init__(self, classes: int, bias: float) -> None:
        self.encoder = SimpleNamespace(specials=3)
        self.classes, self.bias, self.seen = classes, bias, []

    def probabilities(self, table, premises, hypotheses, counts):
        counts.pairs_scored += len(table)
        out = np.zeros((len(table), self.classes), dtype=np.float32)
        for i, (p, h) in enumerate(zip(table.premise, table.hypothesis)):
            self.seen.append((premises[p].tobytes(), hypotheses[h].tobytes()))
            seed = np.random.default_rng([int(premises[p].sum()), int(hypotheses[h].sum())])
            logits = seed.normal(size=self.classes)
            logits[0] += self.bias
            out[i] = np.exp(logits) / np.exp(logits).sum()
        return out


def make_rows(seed: int):
    rng = np.random.default_rng(seed)
    premises, hypotheses = Pool(), Pool()
    texts = [rng.integers(5, 60, rng.integers(3, 40)).astype(np.int32) for _ in range(25)]
    sides = []
    for _ in range(12):
        own = np.array([hypotheses.add(rng.integers(5, 60, rng.integers(2, 9)).astype(np.int32)) for _ in range(rng.integers(1, 5))])
        windows = np.array([premises.add(texts[i]) for i in rng.integers(0, 25, rng.integers(1, 18))])
        sides.append((own, windows))
    return premises, hypotheses, sides


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("bias", [-3.0, -1.0, 0.5])
@pytest.mark.parametrize("threshold", [None, 0.7])
def test_verdicts_are_those_of_the_exhaustive_run(classes, bias, threshold):
    for seed in range(6):
        premises, hypotheses, sides = make_rows(seed)
        rule = Rule(threshold)
        whole, early = Counts(), Counts()
        exhaustive = score_all(sides, premises, hypotheses, TableReader(classes, bias), whole)
        reader = TableReader(classes, bias)
        waves = score_in_waves(sides, premises, hypotheses, reader, rule, early)
        assert len(reader.seen) == len(set(reader.seen)), "a pair was read twice"
        assert early.pairs == whole.pairs
        assert early.pairs_scored <= whole.pairs_scored
        for (own, windows), a, b in zip(sides, exhaustive, waves):
            read = b.any(axis=-1)
            np.testing.assert_array_equal(b[read], a[read])
            order = wave_order([hypotheses.ids[i] for i in own], [premises.ids[i] for i in windows])
            chunk = np.arange(len(windows))
            overlap = lambda order=order: -np.argsort(order, axis=1).astype(float)  # noqa: E731
            for left, right in zip(judge(a, chunk, rule, overlap), judge(b, chunk, rule, overlap)):
                assert left.verdict == right.verdict
                assert right.support <= left.support
                if right.verdict != "supported":
                    assert right.exhaustive and right.support == left.support
                if not right.exhaustive:
                    assert right.conflict is None


def test_early_exit_reads_fewer_pairs_when_windows_support():
    premises, hypotheses, sides = make_rows(3)
    whole, early = Counts(), Counts()
    score_all(sides, premises, hypotheses, TableReader(3, 2.0), whole)
    score_in_waves(sides, premises, hypotheses, TableReader(3, 2.0), Rule(), early)
    assert early.pairs_scored < 0.6 * whole.pairs_scored


def test_waves_take_the_best_overlap_first():
    windows = [np.array([7, 8], dtype=np.int32), np.array([1, 2, 3], dtype=np.int32), np.array([1, 9], dtype=np.int32)]
    order = wave_order([np.array([1, 2, 3], dtype=np.int32)], windows)
    assert order.tolist() == [[1, 2, 0]]


def test_no_rows():
    assert score_in_waves([], Pool(), Pool(), TableReader(3, 0.0), Rule(), Counts()) == []
