"""Fitting the rule for claims: the law for added chunks, what a planted effect gives, and what reaches the card."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parent.parent
for folder in ("scripts", "benchmarks"):
    sys.path.insert(0, str(ROOT / folder))

import fit_claim_rule  # noqa: E402
from claim_pairs import Pairs, gather  # noqa: E402
from pair_store import PairStore  # noqa: E402

from nli_faith.scores import Rule  # noqa: E402


def made(n: int = 900, growth: bool = True, seed: int = 0) -> Pairs:
    """One claim an answer, one chunk each: right claims have one good window, every other window is noise."""
    rng = np.random.default_rng(seed)
    windows = 2 ** rng.integers(0, 6, n)
    right = rng.random(n) < 0.6
    noise = np.array([rng.normal(-2.0, 1.5, w if growth else 1).max() for w in windows])
    logit = np.where(right, np.maximum(noise, rng.normal(2.5, 1.0, n)), noise)
    each = np.arange(n)
    doublings = np.log2(np.stack([windows, windows]))
    sources = np.array([f"s{i % 90}" for i in each])
    return Pairs(logit, doublings, each, each, each, right.astype(float), logit > 0, right.astype(float), sources, each % 2)


def test_a_planted_growth_with_the_windows_is_found():
    pairs = made()
    chosen, report = fit_claim_rule.choose(pairs, draws=200)
    assert chosen.startswith("windows of the chunk") and report[chosen]["gain"][1] > 0
    cut, slope = fit_claim_rule.fit(pairs, np.ones(900, dtype=bool), *fit_claim_rule.CANDIDATES[chosen])
    assert slope > 0 and -2 < cut < 2
    # Many windows no longer make false support likely.
    before, after = (report[name]["false_support"]["11+"][1] for name in (fit_claim_rule.ARGMAX, chosen))
    assert after < before - 0.2


def test_without_a_gain_argmax_stays():
    pairs = made(growth=False)
    chosen, report = fit_claim_rule.choose(replace(pairs, supported=pairs.right == 1), draws=200)
    assert chosen == fit_claim_rule.ARGMAX and report["threshold, logistic"]["gain"][0] <= 0


def test_a_rule_that_breaks_the_law_is_never_chosen():
    pairs = made()
    # The windows of the chunk say nothing here, those of the answer all.
    pairs = replace(pairs, doublings=np.stack([np.zeros(900), pairs.doublings[1]]))
    chosen, report = fit_claim_rule.choose(pairs, draws=200)
    assert not chosen.startswith("all windows")
    assert report["all windows, isotonic"]["gain"][0] > report["windows of the chunk, isotonic"]["gain"][0]


chunks = st.lists(st.tuples(st.floats(-6, 6), st.integers(1, 40)), min_size=1, max_size=5)


def score(parts: list[list[tuple[float, int]]], counted: int, slope: float) -> float:
    """The score of one claim: for each of its hypotheses the (logit, windows) of every chunk."""
    entries = [entry for part in parts for entry in part]
    own = np.log2([windows for _, windows in entries])
    every = np.full(len(entries), np.log2(sum(windows for _, windows in parts[0])))
    starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
    one, none = np.zeros(1), np.zeros(1, dtype=np.int64)
    pairs = Pairs(np.array([logit for logit, _ in entries]), np.stack([own, every]), starts, none, none, one, one > 0, one,
                  np.array(["s"]), none)  # fmt: skip
    return float(pairs.scores(counted, np.array([slope]))[0, 0])


@given(chunks, chunks, st.sampled_from([0.0, 0.5, 3.0]), st.sampled_from([0, 1]))
def test_another_chunk_never_lowers_what_a_lawful_rule_compares(first, added, slope, counted):
    assert score([first + added], counted, slope) >= score([first], counted, slope) - 1e-12
    twice = [first + added, first + added]
    assert score(twice, counted, slope) >= score([first, first], counted, slope) - 1e-12


def test_counting_all_windows_would_break_that_law():
    assert score([[(2.0, 1), (-6.0, 15)]], 2, 1.0) < score([[(2.0, 1)]], 2, 1.0)


def test_cross_fitting_never_sees_the_own_source():
    pairs = made(300)
    said = fit_claim_rule.cross_fitted(pairs, 1, "isotonic")
    for source in ("s0", "s41"):
        own = pairs.source == source
        changed = replace(pairs, right=np.where(own, 1 - pairs.right, pairs.right))
        assert np.array_equal(fit_claim_rule.cross_fitted(changed, 1, "isotonic")[own], said[own])
    assert not np.array_equal(fit_claim_rule.cross_fitted(replace(pairs, right=1 - pairs.right), 1, "isotonic"), said)


@pytest.mark.parametrize("way", ["logistic", "isotonic"])
def test_sets_and_kinds_weigh_the_same(way):
    pairs = made(400, growth=False)
    fives = np.repeat(np.arange(400), np.where(pairs.of == 0, 5, 1))
    again = Pairs(pairs.logit[fives], pairs.doublings[:, fives], *(np.arange(len(fives)),) * 3, pairs.right[fives],
                  pairs.supported[fives], pairs.faithful[fives], pairs.source[fives], pairs.of[fives])  # fmt: skip
    one = fit_claim_rule.fit(pairs, np.ones(400, dtype=bool), 0, way)
    assert fit_claim_rule.fit(again, np.ones(len(fives), dtype=bool), 0, way) == pytest.approx(one, abs=1e-6)


def records(n: int = 30) -> list[dict]:
    made_up = "The report names " + ", ".join(f"town {i} with {i + 3} schools" for i in range(30)) + "."
    return [
        {"id": str(i), "source_id": f"s{i % 7}", "task": "qa", "question": None, "judges": {},
         "response": made_up if i == 3 else f"The hotel has {i} rooms. Breakfast is served until ten.",
         "contexts": ["The hotel has a garden.", "", "It is old. " * (200 if i % 2 else 1)],
         "human": {"faithful": i % 2 == 0, "label": "x", "spans": [] if i % 2 == 0 else [{"start": 0, "end": 9, "label": "x"}]}}
        for i in range(n)
    ]  # fmt: skip


def test_stored_rows_become_the_supports_of_the_product(tmp_path):
    made_up = records()
    rows = PairStore(tmp_path, "fake").rows("made", made_up)
    pairs = gather([(made_up, rows), (made_up[:25], rows[:25])])
    support = [d.support for row in [*rows, *rows[:25]] for d in row.decisions(Rule())]
    scores = 1 / (1 + np.exp(-pairs.scores(0, np.zeros(1))[0]))
    assert scores == pytest.approx(support, abs=1e-5) and len(pairs.part) > len(pairs.claim)
    assert pairs.of.tolist() == [0] * 30 + [1] * 25 and pairs.owner[-1] == 54
    windows = 2 ** pairs.doublings
    assert windows[0].max() > 2 and np.all(windows[1] == np.repeat([len(r.chunk) for r in [*rows, *rows[:25]]], [
        2 * sum(r.parts) for r in [*rows, *rows[:25]]]))  # fmt: skip


def test_the_card_gets_the_rule_or_loses_it(tmp_path, capsys, monkeypatch):
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "made.dev.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records()))
    card, out = tmp_path / "card.json", tmp_path / "out" / "rule.json"
    card.write_text(json.dumps({"name": "x", "claim_rule": {"threshold": 0.1}}))
    words = ["--data", str(tmp_path), "--model", "fake", "--store", str(tmp_path / "pairs"), "--sets", "made", "--draws", "50",
             "--card", str(card), "--out", str(out)]  # fmt: skip
    name = "windows of the chunk, isotonic"
    for chosen in (fit_claim_rule.ARGMAX, name):
        whole = fit_claim_rule.choose
        with monkeypatch.context() as patch:
            patch.setattr(fit_claim_rule, "choose", lambda pairs, draws, chosen=chosen: (chosen, whole(pairs, draws)[1]))
            assert fit_claim_rule.main(words) == 0
        stored, report = json.loads(card.read_text()), json.loads(out.read_text())
        assert stored["name"] == "x" and set(report["rules"]) == {fit_claim_rule.ARGMAX, *fit_claim_rule.CANDIDATES}
        if chosen == name:
            rule = stored["claim_rule"]
            assert rule == report["rule"] and 0 < rule["threshold"] < 1 and rule["per_doubling"] >= 0
        else:
            assert "claim_rule" not in stored and report["rule"] is None
    assert f"chosen: {name}" in capsys.readouterr().out
