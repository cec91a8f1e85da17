"""`--joined-evidence K`: a second look at unsupported claims, and nothing else changed."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from cli_fixtures import folder, run  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st
from test_pipeline import Recorder, check, close, make_rows
from test_windows import NASTY, prose

from nli_faith import ResumeError, Scorer, UsageError
from nli_faith.cells import make_row
from nli_faith.checkpoints import Card
from nli_faith.drafts import Draft
from nli_faith.files import score_file
from nli_faith.joined import _Passages, best_stretch, choose
from nli_faith.types import CLAIM, Counts
from nli_faith.windows import Window, cut_chunks


class WordReader(Recorder):
    """Entailed when the premise has every id of the hypothesis; P(entailment) grows with the share that it has."""

    def probabilities(self, table, premises, hypotheses, counts: Counts):
        shape = super().probabilities(table, premises, hypotheses, Counts()).shape
        counts.pairs_scored += len(table)
        held = [np.isin(hypotheses[h], premises[p]).mean() for p, h in zip(table.premise, table.hypothesis)]
        p = np.full(shape, 0.02, dtype=np.float32)
        p[:, 0] = [0.9 if share == 1 else 0.4 * share for share in held]
        p[:, 1] = 1 - p[:, 0] - p[:, 2:].sum(axis=1)
        return p


def scorer_of(encoder, card: Card | None = None, **options) -> Scorer:
    scorer = Scorer("fake", **options)
    scorer._reader = WordReader(encoder, card)
    return scorer


ANSWER = "The ferry carries forty cars in winter. The harbour has two piers."
CONTEXTS = ["", "There is one ferry in winter.", "Bread is sold here.", "The boat carries forty cars.", "The harbour has two piers. A mill."]


def test_two_halves_support_a_claim(encoder):
    alone = scorer_of(encoder).score(ANSWER, CONTEXTS)
    joined = scorer_of(encoder, joined_evidence=2).score(ANSWER, CONTEXTS)
    check(joined)
    before, after = alone.claims[0], joined.claims[0]
    assert (before.verdict, after.verdict) == ("unsupported", "supported")
    assert after.joined == (1, 3) and after.chunk in after.joined
    assert after.support == after.p_entailment == pytest.approx(0.9)
    assert CONTEXTS[after.chunk][after.evidence_start : after.evidence_end] == after.evidence
    assert after.conflict is False and after.exhaustive is True
    assert joined.claims[1] == alone.claims[1] and joined.claims[1].joined is None
    assert (joined.faithfulness, joined.n_unsupported, joined.faithful) == (1.0, 0, True)
    assert joined.to_dict()["claims"][0]["joined"] == (1, 3) and "joined" not in alone.to_dict()["claims"][0]


def test_what_a_joined_text_does_not_support_stays_as_it_was(encoder):
    answer = "The ferry carries ninety cars in winter."
    alone, joined = (scorer_of(encoder, **options).score(answer, CONTEXTS) for options in ({}, {"joined_evidence": 3}))
    assert joined.claims == alone.claims and joined.min_support == alone.min_support


@pytest.mark.parametrize("options", [{}, {"early_exit": True}, {"threshold": 0.6}, {"granularity": "clause"}], ids=str)
@pytest.mark.parametrize("which", ["fake", "words"])
def test_only_unsupported_claims_change_and_only_to_supported(encoder, which, options):
    def scores(**more):
        scorer = Scorer("fake", **options, **more) if which == "fake" else scorer_of(encoder, **options, **more)
        return list(scorer.score_rows(make_rows(60)))

    rescued = 0
    for before, after in zip(scores(), scores(joined_evidence=2), strict=True):
        check(after)
        assert after.status == before.status
        for old, new in zip(before.claims, after.claims, strict=True):
            if new.joined is None:
                assert new == old
                continue
            rescued += 1
            assert (old.verdict, new.verdict) == ("unsupported", "supported") and new.support >= old.support
            assert new.joined == tuple(sorted(set(new.joined))) and new.chunk in new.joined
            unchanged = ("verdict", "support", "joined", "chunk", "evidence", "evidence_start", "evidence_end")
            parts = {name: getattr(old, name) for name in (*unchanged, "p_entailment", "p_neutral", "p_contradiction")}
            assert replace(new, **parts) == old
    assert rescued or which == "words"


def test_early_exit_gives_the_same_verdicts(encoder):
    for rows in (make_rows(40), [{"answer": ANSWER, "contexts": CONTEXTS, "question": None}]):
        every, early = (list(scorer_of(encoder, joined_evidence=2, early_exit=e).score_rows(rows)) for e in (False, True))
        for one, other in zip(every, early, strict=True):
            assert [(c.verdict, c.joined) for c in one.claims] == [(c.verdict, c.joined) for c in other.claims]


class Chance(Recorder):
    """Probabilities at random, the same ones whenever a pair comes."""

    def probabilities(self, table, premises, hypotheses, counts: Counts):
        super().probabilities(table, premises, hypotheses, counts)
        out = []
        for premise, hypothesis in zip(table.premise, table.hypothesis):
            draw = np.random.default_rng([*premises[premise][:40], 0, *hypotheses[hypothesis][:40]])
            out.append(np.exp(3 * draw.normal(size=3) + [1, 0, 0]))
        return (np.array(out).reshape(-1, 3) / np.sum(out, axis=-1).reshape(-1, 1)).astype(np.float32)


@pytest.mark.parametrize("joined", [None, 2])
@pytest.mark.parametrize("answer_threshold", [0.5, 0.7, 0.9])
def test_early_exit_gives_the_same_verdicts_and_the_same_faithful_whatever_the_model_says(encoder, joined, answer_threshold):
    """Long claims are read in parts, of which some are supported at once and others by joined windows only."""
    words = [f"{one}{two}," for one in "bcdfghjkmn" for two in "bcdfghjkmn"]
    chunks = [f"Zebras run {i} times." for i in range(12)]  # they tie, so that P(entailment) decides which are joined
    rows = make_rows(40) + [
        {"answer": f"The list has {' '.join(words[i : i + 80])} and the rest.", "contexts": chunks[j : j + 4], "question": None}
        for i in range(20) for j in range(0, 12, 4)
    ]
    found = {}
    for early in (False, True):
        scorer = Scorer("fake", joined_evidence=joined, early_exit=early)
        scorer._reader = Chance(encoder, Card(answer_threshold=answer_threshold))
        window = scorer.score_window([make_row(i, r["answer"], r["contexts"], r["question"]) for i, r in enumerate(rows)])
        found[early] = window.counts.pairs_scored, window.scores
    for one, other in zip(found[False][1], found[True][1], strict=True):
        assert [(c.verdict, c.joined) for c in one.claims] == [(c.verdict, c.joined) for c in other.claims]
        assert one.faithful is other.faithful
        assert other.min_support is None or other.min_support <= one.min_support
    assert {score.faithful for score in found[True][1]} == {True, False, None}
    assert found[True][0] < found[False][0]


def test_counts_grow_by_the_second_looks_and_equal_pairs_are_read_once(encoder):
    row = make_row(0, "The ferry carries forty cars in winter.", CONTEXTS)
    before = scorer_of(encoder).score_window([row]).counts
    for copies in (1, 3):
        after = scorer_of(encoder, joined_evidence=2).score_window([replace(row, position=i) for i in range(copies)]).counts
        assert after.pairs == copies * (before.pairs + 1) and after.pairs_scored == before.pairs_scored + 1


@pytest.mark.parametrize("contexts", [["The boat carries forty cars."], ["The boat carries forty cars."] * 3, ["", "A boat.", " "]], ids=str)
def test_where_there_is_nothing_to_join_nothing_is_read(encoder, contexts):
    row = make_row(0, "The ferry carries forty cars in winter.", contexts)
    one, other = (scorer_of(encoder, **options).score_window([row]) for options in ({}, {"joined_evidence": 4}))
    assert one.scores[0].claims == other.scores[0].claims and one.counts == other.counts


def test_no_context_no_claims_and_no_rows(encoder):
    scorer = scorer_of(encoder, joined_evidence=2)
    assert scorer.score_window([]).scores == ()
    for answer, contexts in (("The harbour has two piers.", []), ("Hello!", CONTEXTS), (None, CONTEXTS)):
        check(scorer.score(answer, contexts))


@pytest.mark.parametrize("which", ["fake", "tiny_folder", "two_class_folder"])
def test_alone_or_together_in_any_order(request, which):
    options = {"joined_evidence": 2, "probe": False, "device": "cpu", "dtype": "fp32"}
    model = "fake" if which == "fake" else str(request.getfixturevalue(which))
    scorer, rows = Scorer(model, **options), make_rows(60 if which == "fake" else 5)
    together = list(scorer.score_rows(rows))
    assert list(Scorer(model, **options).score_rows(rows)) == together
    tolerance = 0.0 if which == "fake" else 1e-3
    backwards = list(scorer.score_rows(rows[::-1]))[::-1]
    alone = [scorer.score(row["answer"], row["contexts"], row["question"]) for row in rows]
    if which != "two_class_folder":  # whose probabilities `close` can't compare
        for other in (backwards, alone):
            assert all(close(replace(a, id=None), replace(b, id=None), tolerance) for a, b in zip(together, other, strict=True))
    assert any(claim.joined for score in together for claim in score.claims) or which != "fake"


def test_an_irrelevant_chunk_takes_nothing_away(encoder):
    scorer = scorer_of(encoder, joined_evidence=2)
    for contexts in (CONTEXTS + ["Zebras run."], ["Zebras run.", *CONTEXTS], CONTEXTS[:2] + ["Zebras run."] + CONTEXTS[2:]):
        after = scorer.score(ANSWER, contexts)
        assert [claim.verdict for claim in after.claims] == ["supported", "supported"]
        assert [contexts[chunk] for chunk in after.claims[0].joined] == [CONTEXTS[1], CONTEXTS[3]]


def test_a_copy_is_not_joined_to_its_original(encoder):
    contexts = ["The boat carries forty cars.", "The boat carries forty cars.", "There is one ferry in winter."]
    (claim,) = scorer_of(encoder, joined_evidence=2).score("The ferry carries forty cars in winter.", contexts).claims
    assert claim.joined == (0, 2)


# Long texts


LONG = " ".join(f"Line {i} of the list tells of bread and milk." for i in range(80))


@pytest.mark.parametrize("card", [Card(), Card(window=200), Card(max_length=256)], ids=["512", "200 of 512", "256"])
def test_long_windows_are_cut_to_their_share_and_the_claim_never(encoder, card):
    contexts = [
        f"{LONG} There is one ferry in winter. {LONG}",
        f"{LONG} The boat carries forty cars. {LONG}",
        "word" * 900 + " " + LONG,
    ]
    answer = "The ferry carries forty cars in winter."
    scorer = scorer_of(encoder, card, joined_evidence=3)
    (claim,) = scorer.score(answer, contexts).claims
    (ids,) = encoder.encode([answer])
    reader = scorer._reader
    assert {hypothesis for _, hypothesis in reader.pairs} == {tuple(ids.tolist())}
    assert reader.longest <= card.max_length and max(len(premise) for premise, _ in reader.pairs) <= scorer.window_size
    assert claim.verdict == "supported" and set(claim.joined) >= {0, 1}


def test_windows_of_one_long_chunk_are_joined_too(encoder):
    chunk = f"There is one ferry in winter. {LONG} {LONG} The boat carries forty cars."
    (claim,) = scorer_of(encoder, joined_evidence=2).score("The ferry carries forty cars in winter.", [chunk]).claims
    assert claim.verdict == "supported" and claim.joined == (0,)


def test_a_claim_in_parts_is_supported_when_every_part_is(encoder):
    signs = [chr(code) for first, last in (("a", "z"), ("A", "Z"), ("α", "ω"), ("а", "я")) for code in range(ord(first), ord(last) + 1)]
    words = [sign + "," * (at % 9 == 0) for at, sign in enumerate(signs)]
    contexts = [" ".join(words[::2]), "Bread.", " ".join(words[1::2]) + " The archive lists."]
    scores = {}
    for most in (None, 2):
        scorer = scorer_of(encoder, Card(window=380), joined_evidence=most, granularity="answer")
        scores[most] = scorer.score(f"The archive lists {' '.join(words)}.", contexts)
        check(scores[most])
        assert scores[most].n_claims == 1 and scorer._reader.longest <= 512
        assert len({hypothesis for _, hypothesis in scorer._reader.pairs}) == 2
    assert [(score.claims[0].verdict, score.claims[0].joined) for score in scores.values()] == [("unsupported", None), ("supported", (0, 2))]
    assert scores[2].claims[0].support == pytest.approx(0.9)
    # One part that even the joined text does not hold, and the claim stays as it was.
    less = [contexts[0], contexts[1], contexts[2].replace("z", "")]
    assert scorer.score(f"The archive lists {' '.join(words)}.", less).claims[0].verdict == "unsupported"


def test_windows_that_were_cut_by_their_ids_are_joined_as_they_were_cut(encoder, monkeypatch):
    """Two windows of one text that has more tokens than its sentences: each is its ids, and not the whole text again."""
    (ids,) = encoder.encode([LONG])
    ids, half = ids[:300], 150

    def cut(chunks, size, _):
        return [(Window(LONG, 0, len(LONG), (), ids[:half]), Window(LONG, 0, len(LONG), (), ids[half:])) for _ in chunks]

    monkeypatch.setattr("nli_faith.drafts.cut_chunks", cut)
    scorer = scorer_of(encoder, joined_evidence=2)
    counts = scorer.score_window([make_row(0, "Line 99 of the list tells of a ferry.", [LONG])]).counts
    assert scorer._reader.pairs[-1][0] == tuple(ids.tolist()) and counts.truncated_pairs == 0


@pytest.mark.parametrize("size", [0, 1, 5, 60, 125, 381])
def test_joined_windows_fit_and_nothing_but_their_share_is_cut(encoder, size):
    texts = [*NASTY.values(), prose(40, 20), prose(3, 9)]
    windows = [window for cut in cut_chunks(texts, max(size, 60), encoder) for window in cut[:3]]
    draw = np.random.default_rng(size)
    for most in (2, 3, 7):
        for _ in range(30):
            draft = Draft(None, windows=[(0, windows[i]) for i in np.sort(draw.choice(len(windows), most, replace=False))])
            joined = _Passages(draft, encoder).join(range(most), {}, size)
            assert len(joined) <= size
            parts = [window.ids for _, window in draft.windows]
            if sum(map(len, parts)) + most - 1 <= size:
                assert joined.tolist() == np.concatenate(parts).tolist()


# The choice


def test_windows_are_chosen_for_what_they_add():
    held = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0]], dtype=bool)
    weight, support = np.ones(4), np.array([0.1, 0.2, 0.1, 0.1, 0.9], dtype=np.float32)
    assert choose(held, weight, support, np.arange(5), 2) == [1, 3]  # the fuller of two that add the same
    assert choose(held, weight, support, np.array([7, 7, 8, 9, 5]), 3) == [1, 3, 2]  # a copy is not chosen
    assert choose(held, weight, support, np.arange(5), 9) == [1, 3, 0, 2, 4]
    assert choose(held[:1], weight, support[:1], np.arange(1), 3) == [0]


@given(st.lists(st.tuples(st.integers(1, 9), st.sets(st.integers(0, 5))), min_size=1, max_size=9), st.integers(1, 30))
def test_a_stretch_fits_and_no_other_holds_more(sentences, share):
    lengths, words = [length for length, _ in sentences], [own for _, own in sentences]
    weights = {word: 1.0 + word / 8 for word in range(6)}

    def value(first, end):
        return sum(weights[word] for word in set().union(*words[first:end]))

    first, end = best_stretch(lengths, words, weights, share)
    assert first < end and (sum(lengths[first:end]) <= share or end == first + 1)
    for a in range(len(lengths)):
        for b in range(a + 1, len(lengths) + 1):
            if sum(lengths[a:b]) <= share:
                assert value(a, b) <= value(first, end) + 1e-9


# Through the product


@pytest.mark.parametrize("wrong", [1, 0, -2])
def test_fewer_than_two_is_refused(run, wrong):  # noqa: F811
    with pytest.raises(UsageError, match="at least 2"):
        Scorer("fake", joined_evidence=wrong)
    status, _, err = run("check", "--answer", "It is.", "--context", "x", "--model", "fake", "--joined-evidence", wrong)
    assert status == 2 and "at least 2" in err


def test_files_and_commands(folder, run):  # noqa: F811
    with open(folder / "in.jsonl", "w") as file:
        for row in make_rows(60):
            file.write(json.dumps(row) + "\n")
    command = ("score", "in.jsonl", "--model", "fake", "--joined-evidence", 2)
    status, out, _ = run(*command, "--claims-out", "claims.csv", "--json")
    assert status == 0
    claims = [claim for line in open("in.scored.jsonl") for claim in json.loads(line)["claims"]]
    assert sum(claim["joined"] is not None for claim in claims) > 0 and list(claims[0])[-1] == "joined"
    assert all((claim["kind"] == CLAIM and claim["verdict"] == "supported") or claim["joined"] is None for claim in claims)
    assert open("claims.csv").readline().rstrip().endswith(",exhaustive,joined")
    assert json.loads(out)["pairs"] > json.loads(run("score", "in.jsonl", "-o", "o.jsonl", "--model", "fake", "--json")[1])["pairs"]
    status, out, _ = run("check", "--answer", "The harbour has a.", *sum([["--context", c] for c in CONTEXTS[1:]], []), "--model", "fake", "--joined-evidence", 2, "--json")
    assert status == 0 and "joined" in json.loads(out)["claims"][0]


def test_unfinished_work_of_another_choice_is_not_gone_on_with(folder):  # noqa: F811
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in make_rows(8)))
    scorer = Scorer("fake", joined_evidence=3)
    windows = []

    def stop_at_the_second(rows, watch=None):
        windows.append(rows)
        if len(windows) == 2:
            raise KeyboardInterrupt
        return Scorer.score_window(scorer, rows)

    scorer.score_window = stop_at_the_second
    with pytest.raises(KeyboardInterrupt):
        score_file(scorer, "in.jsonl", "out.jsonl", window_rows=2)
    with pytest.raises(ResumeError, match="options"):
        score_file(Scorer("fake", joined_evidence=2), "in.jsonl", "out.jsonl", window_rows=2)
    score_file(Scorer("fake", joined_evidence=3), "in.jsonl", "out.jsonl", window_rows=2)
    score_file(Scorer("fake", joined_evidence=3), "in.jsonl", "undisturbed.jsonl", window_rows=2)
    assert (folder / "out.jsonl").read_bytes() == (folder / "undisturbed.jsonl").read_bytes()
