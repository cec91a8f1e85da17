"""Early exit: the verdicts of the exhaustive run and its `faithful`, from fewer pairs."""

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
@pytest.mark.parametrize("answer_threshold", [0.0, 0.5, 0.8, 0.95])
def test_verdicts_and_faithful_are_those_of_the_exhaustive_run(classes, bias, threshold, answer_threshold):
    for seed in range(6):
        premises, hypotheses, sides = make_rows(seed)
        rule = Rule(threshold)
        whole, early = Counts(), Counts()
        exhaustive = score_all(sides, premises, hypotheses, TableReader(classes, bias), whole)
        reader = TableReader(classes, bias)
        waves = score_in_waves(sides, premises, hypotheses, reader, rule, early, answer_threshold)
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
            faithful = [grid[..., 0].max(axis=1).min() >= np.float64(answer_threshold) for grid in (a, b)]
            assert faithful[0] == faithful[1]


def test_early_exit_reads_fewer_pairs_when_windows_support():
    premises, hypotheses, sides = make_rows(3)
    whole, early = Counts(), Counts()
    score_all(sides, premises, hypotheses, TableReader(3, 2.0), whole)
    score_in_waves(sides, premises, hypotheses, TableReader(3, 2.0), Rule(), early, 0.5)
    assert early.pairs_scored < 0.6 * whole.pairs_scored


class ListReader:
    """P(entailment) of each window number, whatever the hypothesis, by a table of (hypothesis, window); neutral else."""

    def __init__(self, values: list[list[float]]) -> None:
        self.encoder, self.values, self.seen = SimpleNamespace(specials=3), values, []

    def probabilities(self, table, premises, hypotheses, counts):
        pairs = list(zip(table.hypothesis.tolist(), table.premise.tolist()))
        self.seen += pairs
        return np.array([[self.values[h][w], 1 - self.values[h][w], 0.0] for h, w in pairs], dtype=np.float32)


def seen(values: list[list[float]], answer_threshold: float, second_look: bool = False) -> list[int]:
    """How many windows of each hypothesis were read; the windows are taken in their order."""
    premises, hypotheses = Pool(), Pool()
    own = np.array([hypotheses.add(np.array([1, 2, 90 + i], dtype=np.int32)) for i in range(len(values))])
    windows = np.array([premises.add(np.array([1, 2, 50 + i], dtype=np.int32)) for i in range(len(values[0]))])
    reader = ListReader(values)
    score_in_waves([(own, windows)], premises, hypotheses, reader, Rule(), Counts(), answer_threshold, second_look)
    return [sum(h == i for h, _ in reader.seen) for i in range(len(values))]


def test_a_bound_below_the_answer_threshold_is_read_on_until_it_decides():
    weak, strong = [0.6] * 7 + [0.9] * 8, [0.9] * 15
    assert seen([weak, strong], 0.5) == [1, 1], "the bound is enough"
    assert seen([weak, strong], 0.8) == [15, 1], "1, 2, 4, 8: the next wave has a window that is enough"
    assert seen([[0.6, 0.9] + [0.6] * 13], 0.8) == [3]
    assert seen([[0.6] * 15, weak], 0.8) == [15, 15], "nobody reaches it, and all is read"


def test_where_a_claim_decides_the_row_the_others_are_not_read_on():
    weak, unsupported = [0.6] * 15, [0.1] * 15
    assert seen([weak, unsupported, weak], 0.8) == [1, 15, 1]
    # A second look may support it later: then the others decide.
    assert seen([weak, unsupported, weak], 0.8, second_look=True) == [15, 15, 15]


def test_waves_take_the_best_overlap_first():
    windows = [np.array([7, 8], dtype=np.int32), np.array([1, 2, 3], dtype=np.int32), np.array([1, 9], dtype=np.int32)]
    order = wave_order([np.array([1, 2, 3], dtype=np.int32)], windows)
    assert order.tolist() == [[1, 2, 0]]


def test_no_rows():
    assert score_in_waves([], Pool(), Pool(), TableReader(3, 0.0), Rule(), Counts(), 0.5) == []
