"""The whole chain in memory: states, fields, and the laws that hold whatever the model says."""

from __future__ import annotations

import json
import math
import pickle
import random
import threading
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from nli_faith import AnswerScore, InputError, ModelError, Scorer, UsageError
from nli_faith.cells import make_row
from nli_faith.checkpoints import Card, Template
from nli_faith.claims import split_claims
from nli_faith.devices import cpu_has_bf16
from nli_faith.long_claims import split_long
from nli_faith.model import FakeModel
from nli_faith.pipeline import ROWS_AT_ONCE
from nli_faith.types import CLAIM, STATUSES, VERDICTS

SUBJECTS = ("The harbour", "A ferry", "The ticket", "Our museum", "The old bridge", "The night market", "A guided tour")
VERBS = ("opens at", "costs", "was built in", "has", "closes after", "carries")
OBJECTS = ("seven", "12 pounds", "1907", "two piers", "the last visitor", "forty passengers", "a green roof and a red door")


def sentences(draw: random.Random, count: int) -> str:
    return " ".join(f"{draw.choice(SUBJECTS)} {draw.choice(VERBS)} {draw.choice(OBJECTS)}." for _ in range(count))


def make_rows(count: int, seed: int = 5) -> list[dict]:
    """Rows of one to four claims and none to five chunks, empties and duplicates among them, some without a claim."""
    draw = random.Random(seed)
    rows = []
    for i in range(count):
        contexts = [sentences(draw, draw.randint(1, 6)) for _ in range(draw.randint(0, 4))]
        if i % 5 == 1:
            contexts = ["", *contexts, *contexts[:1]]
        answer = sentences(draw, draw.randint(1, 4))
        if i % 11 == 7:
            answer = "I could not find this in the documents."
        if i % 13 == 6:
            answer = None
        rows.append({"id": f"r{i}", "question": f"What about number {i}?", "answer": answer, "contexts": contexts})
    return rows


class Recorder(FakeModel):
    """The fake model, with a card of choice, that keeps what it was asked."""

    def __init__(self, encoder, card: Card | None = None) -> None:
        super().__init__(encoder)
        self.card = card or Card()
        self.longest = 0
        self.pairs: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    def probabilities(self, table, premises, hypotheses, counts):
        self.longest = max(self.longest, int(table.length.max(initial=0)))
        for p, h, length in zip(table.premise, table.hypothesis, table.length):
            assert length == len(premises[p]) + len(hypotheses[h]) + self.encoder.specials
            self.pairs.append((tuple(premises[p].tolist()), tuple(hypotheses[h].tolist())))
        return super().probabilities(table, premises, hypotheses, counts)


def recording(encoder, card: Card | None = None, **options) -> tuple[Scorer, Recorder]:
    scorer = Scorer("fake", **options)
    scorer._reader = Recorder(encoder, card)
    return scorer, scorer._reader


def margin(claim) -> float:
    """Distance of the two most probable classes of the deciding pair."""
    low, high = sorted([claim.p_entailment, claim.p_neutral, claim.p_contradiction])[1:]
    return high - low


def close(one: AnswerScore, other: AnswerScore, tolerance: float) -> bool:
    """Equal, but for support that differs by at most `tolerance` and verdicts whose margin is at most twice that."""
    if (one.status, one.n_units, one.n_claims) != (other.status, other.n_units, other.n_claims):
        return False
    for a, b in zip(one.claims, other.claims, strict=True):
        if (a.text, a.kind, a.support is None) != (b.text, b.kind, b.support is None):
            return False
        if a.support is not None and abs(a.support - b.support) > tolerance:
            return False
        if a.verdict != b.verdict and min(margin(a), margin(b)) > 2 * tolerance:
            return False
    return True


@pytest.fixture(scope="module")
def tiny(tiny_folder):
    return Scorer(str(tiny_folder), device="cpu", dtype="fp32", probe=False)


@pytest.fixture(scope="module")
def two_class(two_class_folder):
    return Scorer(str(two_class_folder), device="cpu", dtype="fp32", probe=False)


# States


def check(score: AnswerScore) -> None:
    """What holds for every row."""
    assert score.status in STATUSES
    assert (score.error is None) == (score.status != "error")
    assert score.n_units == len(score.claims)
    verdicts = [claim.verdict for claim in score.claims if claim.verdict is not None]
    assert score.n_claims == len(verdicts) == score.n_supported + (score.n_contradicted or 0) + score.n_unsupported
    assert score.n_supported == verdicts.count("supported") and score.n_unsupported == verdicts.count("unsupported")
    if score.status in ("scored", "no_context"):
        assert score.n_claims > 0
        assert score.faithfulness == score.n_supported / score.n_claims
        assert score.min_support == min(claim.support for claim in score.claims if claim.kind == CLAIM)
        assert score.faithful == (score.min_support >= 0.5)
    else:
        assert score.faithful is None and score.min_support is None and score.n_claims == 0
    assert json.loads(json.dumps(score.to_dict()))["status"] == score.status
    assert score.unsupported == [claim for claim in score.claims if claim.verdict in VERDICTS[1:]]


def test_scored(fake):
    score = fake.score("The harbour was built in 1907. It has two piers.", ["The harbour was built in 1907.", "Other text."])
    check(score)
    assert score.status == "scored" and score.n_claims == 2
    for claim in score.claims:
        assert claim.verdict in VERDICTS
        assert 0 <= claim.support <= 1
        assert math.isclose(claim.p_entailment + claim.p_neutral + claim.p_contradiction, 1, rel_tol=1e-5)
        assert claim.conflict in (True, False) and claim.exhaustive is True


@pytest.mark.parametrize("value", [1.0, 0.0, None, 1, 0])
@pytest.mark.parametrize("answer", ["I could not find this in the documents.", "Hello!", "Could you tell me more?"])
def test_no_claims(answer, value):
    score = Scorer("fake", no_claims=value).score(answer, ["Some text."])
    check(score)
    assert score.status == "no_claims" and score.n_units > 0
    assert score.faithfulness == value
    assert all(claim.kind != CLAIM and claim.verdict is None and claim.support is None for claim in score.claims)


def test_no_claims_wins_over_no_context(fake):
    assert fake.score("I could not find this in the documents.", []).status == "no_claims"


INVISIBLE = ["\u200b", "\ufeff", "\u00ad", "\x00", "\x1f\x7f", "\u2060 \u2060", "\ufe0f", "\u3164", "\u2800\n", "\u200b" * 3000]


@pytest.mark.parametrize("contexts", [[], [""], ["", " \n\t"], None, "", INVISIBLE, *INVISIBLE], ids=ascii)
def test_no_context(fake, contexts):
    score = fake.score("The harbour was built in 1907. It has two piers.", contexts)
    check(score)
    assert score.status == "no_context" and score.faithfulness == 0.0 and score.faithful is False
    for claim in score.claims:
        assert claim.verdict == "unsupported" and claim.support == 0.0 and claim.exhaustive is True
        assert claim.chunk is claim.evidence is claim.p_entailment is None


@pytest.mark.parametrize("options", [{}, {"early_exit": True}, {"joined_evidence": 2}], ids=str)
def test_what_has_no_visible_character_is_no_chunk(options):
    scorer = Scorer("fake", **options)
    answer, chunk = "The harbour was built in 1907. It has two piers.", "The harbour was built in 1907.\u200b"
    one, other = (scorer.score(answer, contexts) for contexts in ([chunk], [*INVISIBLE, chunk, *INVISIBLE]))
    assert [claim.support for claim in one.claims] == [claim.support for claim in other.claims]
    assert {claim.chunk for claim in other.claims} == {len(INVISIBLE)}


@pytest.mark.parametrize("answer", [None, "", "  ", "\n\t\u00a0", float("nan"), *INVISIBLE], ids=ascii)
def test_empty_answer(fake, answer):
    score = fake.score(answer, ["Some text."])
    check(score)
    assert score.status == "empty_answer" and score.faithfulness is None and score.claims == ()


@pytest.mark.parametrize(
    ("answer", "contexts"),
    [("An answer stands here.", 3.5), ("An answer stands here.", [{"url": "x"}]), (["a list"], ["x"]), ("half \ud800", ["x"]), ("It is so.", ["\udfff"])],
)
def test_error_of_a_cell(fake, answer, contexts):
    score = fake.score(answer, contexts)
    check(score)
    assert score.status == "error" and score.faithfulness is None
    assert score.error.endswith(".") and " " in score.error


def test_error_of_a_claim_that_cannot_be_read_whole_or_in_parts(fake):
    answer = "The harbour has two piers. The code is " + "qz7" * 1200 + "."
    score = fake.score(answer, ["Some text."])
    check(score)
    assert score.status == "error" and score.faithfulness is None
    assert "without a place to cut" in score.error
    start = answer.index("The code")
    assert f"characters {start} to {len(answer)}" in score.error
    assert score.n_units == 2


def test_an_error_of_one_row_leaves_the_others_alone(fake):
    rows = make_rows(6)
    rows.insert(3, {"answer": "Is " + "qz7" * 1200 + " it.", "contexts": ["Some text."], "question": None})
    scores = list(fake.score_rows(rows))
    assert scores[3].status == "error"
    assert [*scores[:3], *scores[4:]] == list(fake.score_rows(make_rows(6)))


def test_two_class_models_have_nulls_where_they_know_nothing(two_class):
    rows = [("The harbour has two piers.", ["Two piers."]), ("The harbour has two piers.", []), ("Hello!", ["x"]), (None, ["x"])]
    for answer, contexts in rows:
        score = two_class.score(answer, contexts)
        check(score)
        assert score.n_contradicted is None, score.status
        for claim in score.claims:
            assert claim.p_neutral is None and claim.p_contradiction is None and claim.conflict is None
            assert claim.verdict in (None, "supported", "unsupported")
    assert two_class.score(*rows[0]).claims[0].p_entailment is not None


def test_every_verdict_and_state_occurs_and_keeps_its_fields(fake):
    scores = list(fake.score_rows([*make_rows(60), {"answer": [1], "contexts": [], "question": None}]))
    for score in scores:
        check(score)
    assert {score.status for score in scores} == set(STATUSES)
    assert {claim.verdict for score in scores for claim in score.claims} == {*VERDICTS, None}
    assert {claim.conflict for score in scores for claim in score.claims} >= {True, False}


# Fields


@pytest.mark.parametrize("which", ["fake", "tiny"])
def test_evidence_is_in_its_chunk_where_it_says(request, which):
    scorer = request.getfixturevalue(which)
    rows = make_rows(25)
    rows.append({"answer": sentences(random.Random(1), 3), "contexts": ["", sentences(random.Random(2), 300)], "question": ""})
    rows.append({"answer": "The cafe has free WiFi.", "contexts": [json.dumps({"name": "Cafe", "WiFi": "free", "x": ["y"] * 500})], "question": ""})
    seen = 0
    for row, score in zip(rows, scorer.score_rows(rows), strict=True):
        for claim in score.claims:
            assert row["answer"][claim.start : claim.end] == claim.text
            if claim.chunk is None:
                continue
            seen += 1
            chunk = row["contexts"][claim.chunk]
            assert chunk[claim.evidence_start : claim.evidence_end] == claim.evidence
            assert 0 < len(claim.evidence) <= 300 and claim.evidence == claim.evidence.strip()
    assert seen > 20


def test_chunk_counts_the_contexts_as_given(fake):
    answer = "The harbour was built in 1907."
    assert fake.score(answer, ["", "  ", "The text.", ""]).claims[0].chunk == 2
    assert fake.score(answer, ["The text.", "The text."]).claims[0].chunk == 0
    assert fake.score(answer, [{"page_content": ""}, {"text": "The text."}]).claims[0].chunk == 1
    assert fake.score(answer, "The text.").claims[0].chunk == 0


def test_a_fragment_is_read_with_its_question(encoder):
    scorer, reader = recording(encoder)
    first = scorer.score("15", ["Fifteen people came."], "How many people came?")
    assert first.claims[0].hypothesis == "How many people came? 15"
    assert reader.pairs[0][1] == tuple(encoder.encode(["How many people came? 15"])[0].tolist())
    asked = len(reader.pairs)
    rows = [{"answer": "15", "contexts": ["Fifteen people came."], "question": q} for q in ("Her age?", "The number?", "Her age?")]
    list(scorer.score_rows(rows))
    assert len(reader.pairs) - asked == 2


def test_a_question_of_more_than_64_tokens_is_not_read(fake):
    long = "How many people came to the fair " + "on that very long day " * 15 + "?"
    assert fake.score("15", ["Fifteen people came."], long).claims[0].hypothesis is None
    assert fake.score("15", ["Fifteen people came."], "x" * 10**6).claims[0].hypothesis is None


def test_the_cards_template_wraps_what_the_model_reads_and_nothing_else(encoder):
    scorer, reader = recording(encoder, Card(template=Template("It is said that {}")))
    score = scorer.score("The harbour has two piers.", ["Two piers."])
    assert reader.pairs == [tuple(tuple(ids.tolist()) for ids in encoder.encode(["Two piers.", "It is said that The harbour has two piers."]))]
    assert score.claims[0].hypothesis is None and score.claims[0].text == "The harbour has two piers."


def test_counts_of_a_window(encoder):
    scorer, reader = recording(encoder)
    rows = [
        make_row(0, "The harbour has two piers. A ferry costs 3 pounds.", ["One.", "Two.", "One.", ""]),
        make_row(1, "The harbour has two piers.", ["One."]),
        make_row(2, "Die Rückgabe ist innerhalb von 30 Tagen möglich und das Geld wird zurückgebucht.", []),
    ]
    counts = scorer.score_window(rows).counts
    assert (counts.pairs, counts.pairs_scored, counts.truncated_pairs) == (7, 4, 0)
    assert counts.unmeasured_language == 1
    assert counts.tokens == sum(len(p) + len(h) + encoder.specials for p, h in reader.pairs)


def test_a_window_can_be_watched_while_it_is_read(tiny, monkeypatch):
    rows = [make_row(i, f"The harbour has {i} piers. A ferry costs {i} pounds.", ["One.", f"The pier {i} is closed."]) for i in range(8)]
    monkeypatch.setattr(tiny.reader, "budget", 64)
    seen = []
    watched = tiny.score_window(rows, lambda *numbers: seen.append(numbers))
    assert len(seen) > 2 and [read for read, _ in seen] == sorted({read for read, _ in seen})
    assert seen[-1] == (watched.counts.pairs_scored, watched.counts.pairs)
    assert watched.scores == tiny.score_window(rows).scores


def test_no_rows_are_no_scores(fake, tiny):
    for scorer in (fake, tiny):
        assert scorer.score_window([]).scores == ()
        assert list(scorer.score_rows([])) == []


# Options


def test_granularity_answer_reads_the_whole_answer_at_once():
    answer = "The harbour was built in 1907. It has two piers."
    score = Scorer("fake", granularity="answer").score(answer, ["The harbour."])
    check(score)
    assert [claim.text for claim in score.claims] == [answer]


def test_the_threshold_replaces_argmax():
    rows = make_rows(40)
    scored = {t: list(Scorer("fake", threshold=t).score_rows(rows)) for t in (None, 0.01, 0.6, 1.0)}
    for t in (0.01, 0.6, 1.0):
        for score in scored[t]:
            check(score)
            for claim in score.claims:
                if score.status == "scored" and claim.verdict is not None:
                    assert (claim.verdict == "supported") == (claim.support >= t)
    total = {t: sum(score.n_supported for score in scores) for t, scores in scored.items()}
    assert total[0.01] > total[0.6] > total[1.0] == 0
    supports = [[score.min_support for score in scores] for scores in scored.values()]
    assert supports[0] == supports[1] == supports[2] == supports[3]


@pytest.mark.parametrize(
    "wrong",
    [{"threshold": 0.0}, {"threshold": 1.5}, {"threshold": -1}, {"granularity": "word"}, {"no_claims": 0.5}, {"dtype": "fp8"}, {"budget": 0}],
    ids=str,
)
def test_values_outside_their_range_are_refused_before_anything_is_loaded(wrong):
    with pytest.raises(UsageError, match=r"\.$"):
        Scorer("fake", **wrong)


def test_the_model_is_loaded_at_first_use(tmp_path):
    scorer = Scorer(str(tmp_path / "nowhere"))
    with pytest.raises(ModelError, match="does not exist"):
        scorer.score("The harbour has two piers.", ["Two piers."])


@pytest.mark.parametrize("threshold", [0.7, 0.8])
def test_a_calibration_of_rows_flags_the_same_rows_with_early_exit(fake, threshold):
    """Its threshold may lie far above what makes a window support a claim, where early exit stops."""
    draw = random.Random(0)
    words = "the store opens at nine every day and closes late on monday with a big sale of old books".split()
    texts = [" ".join(draw.choices(words, k=draw.randint(4, 11))).capitalize() + "." for _ in range(360)]
    rows = [{"answer": "The store opens at nine.", "contexts": texts[i : i + 6]} for i in range(0, 360, 6)]
    found = {}
    for early in (False, True):
        scorer = Scorer("fake", early_exit=early).over(fake.reader)
        scorer.calibration = SimpleNamespace(level="row", threshold=threshold)
        found[early] = list(scorer.score_rows(rows))
    assert [score.faithful for score in found[True]] == [score.faithful for score in found[False]]
    assert 0 < sum(score.faithful for score in found[True]) < 60


# Rows


def test_score_rows_keeps_order_over_many_windows_and_reads_lazily(fake):
    count = 2 * ROWS_AT_ONCE + 7
    rows = [{"answer": f"The harbour has {i} piers.", "contexts": [f"Text {i}."], "id": i} for i in range(count)]
    taken = []

    def stream():
        for row in rows:
            taken.append(row["id"])
            yield row

    scores = fake.score_rows(stream())
    assert next(scores).id == 0
    assert len(taken) == ROWS_AT_ONCE
    rest = list(scores)
    assert [score.id for score in rest] == list(range(1, count))
    assert [score.claims[0].text for score in rest] == [row["answer"] for row in rows[1:]]


def test_rows_are_scored_alone_as_they_are_together(fake):
    rows = make_rows(30)
    alone = [fake.score(row["answer"], row["contexts"], row["question"]).to_dict() for row in rows]
    assert [score.to_dict() for score in fake.score_rows(rows)] == alone


def test_the_names_of_other_tools_are_found(fake):
    rows = make_rows(12)
    renamed = [{"user_input": r["question"], "response": r["answer"], "retrieved_contexts": r["contexts"], "id": r["id"]} for r in rows]
    assert list(fake.score_rows(renamed)) == list(fake.score_rows(rows))


def test_keys_of_any_name_can_be_chosen(fake):
    rows = make_rows(5)
    odd = [{"reply": row["answer"], "answer": "", "found": row["contexts"], "asked": row["question"], "id": row["id"]} for row in rows]
    chosen = {"answer": "reply", "contexts": "found", "question": "asked"}
    assert list(fake.score_rows(odd, **chosen)) == list(fake.score_rows(rows))
    batch = pa.RecordBatch.from_pylist(odd)
    expected = [score.faithfulness for score in fake.score_rows(rows)]
    assert fake.score_batch(batch, **chosen)["faithfulness"].to_pylist() == expected
    with pytest.raises(InputError, match="replied"):
        next(fake.score_rows(odd, answer="replied"))


def test_a_row_that_lacks_a_key_is_an_error_of_that_row(fake):
    rows = [
        {"answer": "The harbour has two piers.", "contexts": ["Two piers."], "id": 1},
        {"contexts": ["Two piers."], "id": 2},
        {"answer": "The harbour has two piers.", "id": 3},
        {"answer": "The harbour has two piers.", "contexts": ["Two piers."], "extra": 1, "id": 4},
    ]
    scores = list(fake.score_rows(rows))
    assert [score.status for score in scores] == ["scored", "error", "error", "scored"]
    assert "Row 1 has no key 'answer'" in scores[1].error and "Row 2 has no key 'contexts'" in scores[2].error
    assert [score.id for score in scores] == [1, 2, 3, 4]


@pytest.mark.parametrize("row", [{"contexts": ["x"]}, {"answer": "x"}, {}])
def test_a_first_row_without_answer_or_contexts_is_refused(fake, row):
    with pytest.raises(InputError, match="The first row has no column"):
        list(fake.score_rows([row]))


def test_a_first_row_without_a_question_is_enough(fake):
    assert next(fake.score_rows([{"answer": "The harbour has two piers.", "contexts": ["x"]}])).status == "scored"


# Laws


@pytest.mark.parametrize("which", ["fake", "tiny", "strict"])
def test_an_irrelevant_chunk_never_lowers_support(request, which):
    # A fake model finds support in what is irrelevant, which `strict_numbers` must bear too.
    scorer = Scorer("fake", strict_numbers=True) if which == "strict" else request.getfixturevalue(which)
    tolerance = 1e-3 if which == "tiny" else 0.0
    draw, lowered = random.Random(8), 0
    for row in make_rows(20):
        if row["answer"] is None or not any(row["contexts"]):
            continue
        before = scorer.score(row["answer"], row["contexts"], row["question"])
        more = [sentences(draw, 3), "", "Unrelated words about zebras.", row["contexts"][0], " "]
        place = draw.randrange(len(row["contexts"]) + 1)
        for contexts in (row["contexts"] + more, more + row["contexts"], row["contexts"][:place] + more + row["contexts"][place:]):
            after = scorer.score(row["answer"], contexts, row["question"])
            for old, new in zip(before.claims, after.claims, strict=True):
                if old.support is not None:
                    assert new.support >= old.support - tolerance
                    assert old.verdict != "supported" or new.verdict == "supported"
                    lowered += which == "strict" and new.numeric_mismatch and not old.numeric_mismatch
    assert which != "strict" or lowered, "no chunk took the support over without the claim's numbers"


def test_duplicates_and_empties_change_nothing_but_places(fake):
    for row in make_rows(20):
        texts = [text for text in row["contexts"] if text]
        doubled = [text for text in texts for _ in range(2)] + [""]
        one, two = fake.score(row["answer"], texts), fake.score(row["answer"], doubled)
        assert (one.status, one.min_support, one.n_supported) == (two.status, two.min_support, two.n_supported)


def test_permuting_rows_permutes_results(fake, tiny):
    rows = make_rows(40)
    order = list(range(40))
    random.Random(2).shuffle(order)
    straight = list(fake.score_rows(rows))
    assert [straight[i] for i in order] == list(fake.score_rows([rows[i] for i in order]))
    straight = list(tiny.score_rows(rows))
    assert all(close(straight[i], score, 1e-3) for i, score in zip(order, tiny.score_rows([rows[i] for i in order]), strict=True))


@pytest.mark.parametrize("dtype", ["fp32", pytest.param("bf16", marks=pytest.mark.skipif(not cpu_has_bf16(), reason="no bf16 here"))])
def test_neither_budget_nor_window_of_rows_changes_a_probability(tiny_folder, dtype):
    rows = [make_row(i, row["answer"], row["contexts"], row["question"]) for i, row in enumerate(make_rows(14))]
    tolerance = 1e-3 if dtype == "fp32" else 1e-2
    scorer = Scorer(str(tiny_folder), device="cpu", dtype=dtype, probe=False)
    reference = None
    for budget in (64, 700, 8192):
        for window in (1, 5, 14):
            scorer.reader.budget = budget
            scores = [score for i in range(0, 14, window) for score in scorer.score_window(rows[i : i + window]).scores]
            reference = reference or scores
            assert all(close(a, b, tolerance) for a, b in zip(scores, reference, strict=True)), (budget, window)


def claim_of(encoder, tokens: int) -> str:
    """A claim of exactly that many tokens, with commas to cut it at; a letter is one piece in every vocabulary."""
    draw = random.Random(tokens)
    words, used = ["The archive lists"], len(encoder.encode(["The archive lists."])[0])
    while used < tokens:
        comma = len(words) % 9 == 0 and used + 3 <= tokens
        words.append(draw.choice("bcdfghjkmnpqrtvwxz") + ("," if comma else ""))
        used += 1 + comma
    return " ".join(words) + "."


@pytest.mark.parametrize("card", [Card(), Card(window=320), Card(max_length=256)], ids=["512", "320 of 512", "256"])
def test_the_claim_is_never_cut(encoder, card):
    contexts = [sentences(random.Random(3), 150), "A short chunk.", json.dumps({"name": "x", "list": ["long value"] * 300})]
    answers = {tokens: claim_of(encoder, tokens) for tokens in (20, 60, 127, 128, 129, 188, 189, 190, 300, 380, 443, 446, 509, 600)}
    windows = {}
    whole = parted = 0
    for tokens, answer in answers.items():
        scorer, reader = recording(encoder, card, granularity="answer")
        (unit,) = split_claims(answer, None, "answer")
        (ids,) = encoder.encode([unit.hypothesis])
        assert len(ids) == tokens and unit.kind == CLAIM
        score = scorer.score(answer, contexts)
        assert score.status == "scored" and score.n_claims == 1
        assert reader.longest <= card.max_length
        read = list(dict.fromkeys(hypothesis for _, hypothesis in reader.pairs))
        windows[tokens] = {premise for premise, _ in reader.pairs}
        if read == [tuple(ids.tolist())]:
            whole += 1
        else:
            parts = split_long(unit.hypothesis, 128, encoder)
            assert " ".join(parts).split() == unit.hypothesis.split()
            assert set(read) == {tuple(part.tolist()) for part in encoder.encode(parts)}
            parted += 1
    # The windows do not depend on the claim, so that a long claim changes nothing for the short ones beside it.
    assert all(read == windows[20] for read in windows.values())
    assert whole == (7 if card.window == 320 else 4) and parted == len(answers) - whole


def test_a_claim_of_up_to_128_tokens_is_read_whole_beside_full_windows(encoder):
    scorer, reader = recording(encoder, granularity="answer")
    answer = claim_of(encoder, 128)
    scorer.score(answer, ["word " * 2000])
    assert {hypothesis for _, hypothesis in reader.pairs} == {tuple(encoder.encode([answer])[0].tolist())}
    assert reader.longest == 512


def test_long_claims_in_parts_count_once(encoder):
    scorer, reader = recording(encoder, granularity="answer")
    score = scorer.score(claim_of(encoder, 900), ["A chunk.", "Another chunk here."])
    check(score)
    assert score.n_claims == 1
    assert len({hypothesis for _, hypothesis in reader.pairs}) >= 7


@pytest.mark.parametrize("size", [8, 30, 128])
def test_parts_of_a_long_text_fit_and_hold_every_word(encoder, size):
    texts = [claim_of(encoder, 300), "one two three; four five, six and seven\neight " * 30, "a " * 500, "wörd ½ … ™ " * 80]
    for text in texts:
        parts = split_long(text, size, encoder)
        assert " ".join(parts).split() == text.split()
        assert all(len(ids) <= size for ids in encoder.encode(parts))
    assert split_long("x7" * 2000, size, encoder) == []


@pytest.mark.parametrize("size", [8, 30, 128])
@pytest.mark.parametrize("text", ["漢字かな交じり文" * 60, "第一条，本法适用。" * 40, "ภาษาไทย" * 80, "前 " + "漢字" * 200 + " 後"])
def test_a_long_text_without_spaces_is_cut_between_its_characters(encoder, size, text):
    parts = split_long(text, size, encoder)
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")
    assert all(len(ids) <= size for ids in encoder.encode(parts))


# Use from programs


def test_several_threads_get_what_one_gets(tiny):
    rows = make_rows(16)
    alone = [tiny.score(row["answer"], row["contexts"]) for row in rows]
    fresh = Scorer(tiny.model_options.model, device="cpu", dtype="fp32", probe=False)
    results: dict[int, list] = {}

    def work(number: int) -> None:
        results[number] = [fresh.score(row["answer"], row["contexts"]) for row in rows]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] == results[1] == alone


def test_a_scorer_is_pickled_before_and_after_use(tiny_folder):
    scorer = Scorer(str(tiny_folder), device="cpu", dtype="fp32", threshold=0.4, granularity="answer", probe=False)
    before = pickle.loads(pickle.dumps(scorer))
    row = make_rows(1)[0]
    score = scorer.score(row["answer"], row["contexts"])
    blob = pickle.dumps(scorer)
    assert len(blob) < 10_000  # options travel, weights do not
    for copy in (before, pickle.loads(blob)):
        assert (copy.model_options, copy.score_options) == (scorer.model_options, scorer.score_options)
        assert copy.score(row["answer"], row["contexts"]) == score


def test_scores_are_pickled(fake):
    score = fake.score("The harbour has two piers.", ["Two piers."])
    assert pickle.loads(pickle.dumps(score)) == score


def test_the_card_gives_window_and_answer_threshold(encoder):
    scorer, _ = recording(encoder, Card(window=200, answer_threshold=0.9))
    assert scorer.window_size == 200 and scorer.answer_threshold == 0.9
    strict, loose = (recording(encoder, Card(answer_threshold=t))[0] for t in (0.9, 0.01))
    answer, contexts = "The harbour has two piers.", ["Two piers."]
    assert strict.score(answer, contexts).min_support < 0.9
    assert (strict.score(answer, contexts).faithful, loose.score(answer, contexts).faithful) == (False, True)
    assert recording(encoder, Card(max_length=256, window=320))[0].window_size == 256 - encoder.specials - 128


def test_window_counts_are_those_that_are_read(encoder):
    scorer, reader = recording(encoder)
    row = make_row(0, "The harbour has two piers.", [sentences(random.Random(3), 150), "", "Short."])
    (count,) = scorer.window_counts([row])
    scorer.score_window([row])
    assert count == len(reader.pairs) > 2


def test_identity_is_plain_and_names_what_fixes_the_numbers(tiny, tiny_folder, fake):
    identity = tiny.identity()
    assert json.loads(json.dumps(identity)) == identity
    assert identity == tiny.identity()
    other = Scorer(str(tiny_folder), device="cpu", dtype="fp32", threshold=0.7, probe=False).identity()
    assert {name for name in identity if identity[name] != other[name]} == {"options"}
    assert identity["model_hash"] == tiny.reader.checkpoint.hash
    assert fake.identity()["model_hash"] == "fake"


def test_the_doctor_finds_the_tokenizer_right_and_a_random_model_wrong(tiny, fake):
    from nli_faith.doctor import examine

    report = examine(tiny)
    assert json.loads(json.dumps(report)) == report
    checks = {check["name"]: check for check in report["checks"]}
    assert checks["tokenizer"]["ok"] and checks["precision"]["ok"]
    assert report["ok"] == all(check["ok"] for check in report["checks"])
    assert examine(fake)["ok"]


def test_supports_are_finite_numbers(tiny):
    for score in tiny.score_rows(make_rows(20)):
        for claim in score.claims:
            if claim.support is not None:
                assert type(claim.support) is float and np.isfinite(claim.support)
