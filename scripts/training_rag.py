"""Second stage: sentences of real answers against windows of their contexts, through the product's own splitter and windows.

A sentence that a human span touches is "not entailed" by each of its three best-overlapping windows; any other sentence is
entailed by its best one: the first by overlap, or, where the second is close, the one that the starting model prefers. NLI pairs are mixed in so that the first stage is not forgotten. Each augmentation has a switch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nli_faith.claims import split_claims
from nli_faith.deberta import DebertaClassifier
from nli_faith.pairs import overlap
from nli_faith.tokens import Encoder
from nli_faith.types import CLAIM
from nli_faith.windows import Window, cut_chunks
from train import Example, probabilities
from training_data import NOT_ENTAILMENT, Pair, find, fraction, load_nli, read_jsonl, split_held_back
from training_nli import DEV_PER_SET, HELD_BACK, tokenise

NEGATIVE_WINDOWS = 3
CLOSE = 0.75  # a second window with this share of the first one's overlap may be the one that was meant
WINDOW_SIZES = (320, 320, 200)  # of the product, and shorter ones so that nothing hangs on one size


@dataclass(frozen=True, slots=True)
class Mix:
    """What the second stage is made of.

    Attributes:
        negatives: how often a pair with a span is read for each pair without one.
        nli_share: share of the first stage's short pairs that is mixed in.
        edits: share of supported sentences that are read again with one fact changed.
        strangers: share of sentences that are read against a window of another answer's context.
        questions: share of question-answer sentences that are read behind their question.
        copied: sentences of an answer's contexts that are read for each answer: with one fact changed, against a window
            of the same contexts that lacks them, and now and then as they are, so that a copy is not thereby suspect.
    """

    negatives: int = 2
    nli_share: float = 0.5
    edits: float = 0.40
    strangers: float = 0.15
    questions: float = 0.05
    copied: int = 3


_NUMBER = re.compile(r"\b\d+(?:[.,]\d+)*\b")
_SWAPS = {
    "january": "march", "february": "june", "march": "october", "april": "august", "may": "november", "june": "february",
    "july": "december", "august": "april", "september": "january", "october": "july", "november": "may",
    "december": "september", "monday": "thursday", "tuesday": "friday", "wednesday": "sunday", "thursday": "monday",
    "friday": "tuesday", "saturday": "wednesday", "sunday": "saturday", "increased": "decreased", "decreased": "increased",
    "increase": "decrease", "decrease": "increase", "more": "less", "less": "more", "higher": "lower", "lower": "higher",
    "before": "after", "after": "before", "first": "last", "last": "first", "all": "none", "always": "never",
    "never": "always", "north": "south", "south": "north", "east": "west", "west": "east", "million": "billion",
    "billion": "million", "thousand": "million", "hours": "days", "days": "weeks", "weeks": "months", "months": "years",
    "years": "months", "minutes": "hours", "miles": "kilometers", "meters": "feet", "men": "women", "women": "men",
    "he": "she", "she": "he", "his": "her", "open": "closed", "closed": "open", "above": "below", "below": "above",
    "allows": "forbids", "can": "cannot", "positive": "negative", "negative": "positive", "free": "paid", "win": "lose",
    "won": "lost", "lost": "won", "old": "new", "new": "old", "good": "bad", "high": "low", "low": "high", "two": "four",
    "three": "five", "four": "two", "five": "eight", "yes": "no", "and": "but not", "accepted": "rejected",
}  # fmt: skip
# Of what stands behind a number. Each is followed by one of the same kind, which says something else.
_UNITS = (
    "kilometers miles meters feet", "km mi m ft", "centimeters inches", "cm mm", "kilograms pounds grams ounces",
    "kg lb g oz", "liters gallons", "ml l", "dollars euros pounds", "seconds minutes hours days weeks months years",
    "percent points", "degrees percent", "mph km/h", "million billion thousand", "megabytes gigabytes kilobytes", "mb gb kb",
)  # fmt: skip
_NEXT_UNIT = {a: b for kind in reversed(_UNITS) for a, b in zip(kind.split(), [*kind.split()[1:], kind.split()[0]])}
_UNIT = re.compile(rf"(?<=\d)([ -]?)({'|'.join(sorted(_NEXT_UNIT, key=len, reverse=True))})\b", re.IGNORECASE)
_NEGATIONS = ((r"\b(is|are|was|were|has|have|had|can|will|would|should|could|does|do|did) (?!not\b)", r"\1 not "),
              (r"\b(is|are|was|were|has|have|had|can|will|would|should|could|does|do|did) not ", r"\1 "))  # fmt: skip
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]+)*")
# Names with a word of their own between them: exchanging those of "A and B" changes nothing.
_APART = re.compile(r"\b(?!and\b|or\b|with\b|the\b)[a-z]{2,}")


def edit(text: str, window: str, names: list[str], rng: np.random.Generator) -> str | None:
    """`text` with one fact changed (a unit, a name, a number, an opposite, a negation), or None where nothing can be.

    Args:
        window: what supports the text; half of the new names stand in it, as those do that a model mixes up.
        names: of other texts.
    """
    kinds = ["unit"] * 2 + ["name"] * 2 + ["number", "swap", "negation"]
    for kind in rng.permutation(kinds):
        changed = _edit_as(str(kind), text, window, names, rng)
        if changed is not None and changed != text:
            return changed
    return None


def _edit_as(kind: str, text: str, window: str, names: list[str], rng: np.random.Generator) -> str | None:
    if kind == "name":
        return _other_name(text, window, names, rng)
    if kind == "unit":
        found = list(_UNIT.finditer(text))
        if not found:
            return None
        hit = found[rng.integers(len(found))]
        return text[: hit.start(2)] + _NEXT_UNIT[hit[2].lower()] + text[hit.end() :]
    if kind == "number":
        found = list(_NUMBER.finditer(text))
        if not found:
            return None
        hit = found[rng.integers(len(found))]
        return text[: hit.start()] + _other_number(hit[0], rng) + text[hit.end() :]
    if kind == "swap":
        found = [m for m in re.finditer(r"[A-Za-z]+", text) if m[0].lower() in _SWAPS]
        if not found:
            return None
        hit = found[rng.integers(len(found))]
        new = _SWAPS[hit[0].lower()]
        return text[: hit.start()] + (new.capitalize() if hit[0][0].isupper() else new) + text[hit.end() :]
    pattern, new = _NEGATIONS[int(rng.random() < 0.5)]
    found = list(re.finditer(pattern, text))
    if not found:
        return None
    hit = found[rng.integers(len(found))]
    return text[: hit.start()] + hit.expand(new) + text[hit.end() :]


def _other_name(text: str, window: str, names: list[str], rng: np.random.Generator) -> str | None:
    """Two names of `text` exchanged, or one replaced by a name of the window or of `names` that shares no word with it."""
    near = sorted({m[0] for m in _NAME.finditer(window)})
    # A name that opens the sentence is known as one when it stands inside another sentence too.
    known = sorted({m[0] for m in _NAME.finditer(text)} | {name for name in near if name in text}, key=len, reverse=True)
    if not known:
        return None
    found = list(re.finditer(rf"\b(?:{'|'.join(map(re.escape, known))})\b", text))
    if not found:
        return None
    apart = [(a, b) for a, b in zip(found, found[1:]) if not _akin(a[0], b[0]) and _APART.search(text[a.end() : b.start()])]
    if apart and rng.random() < 0.4:
        a, b = apart[rng.integers(len(apart))]
        return text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :]
    hit = found[rng.integers(len(found))]
    lists = [[name for name in some if name not in text and not _akin(name, hit[0])] for some in (near, names)]
    others = (lists[0] or lists[1]) if rng.random() < 0.6 else (lists[1] or lists[0])
    if not others:
        return None
    return text[: hit.start()] + others[rng.integers(len(others))] + text[hit.end() :]


def _akin(a: str, b: str) -> bool:
    """Whether they share a word, as "Ada Lovelace" and "Lovelace" do."""
    return bool(set(a.split()) & set(b.split()))


def _other_number(raw: str, rng: np.random.Generator) -> str:
    digits = [i for i, char in enumerate(raw) if char.isdigit()]
    at = digits[0] if rng.random() < 0.5 else digits[rng.integers(len(digits))]
    old = int(raw[at])
    new = (old + int(rng.integers(1, 9))) % 10 or (old + 1) % 9 + 1
    return raw[:at] + str(new if new != old else (old % 9) + 1) + raw[at + 1 :]


@dataclass(slots=True)
class _Sentence:
    text: str
    bad: bool
    windows: list[Window]
    order: np.ndarray
    second: float  # overlap of the second window as a share of the first one's
    group: str
    dataset: str
    question: str | None


def _sentences(record: dict, dataset: str, size: int, encoder: Encoder) -> list[_Sentence]:
    """The claims of one answer with their windows, best-overlapping first."""
    spans = [(span["start"], span["end"]) for span in record["human"]["spans"]]
    units = [unit for unit in split_claims(record["response"]) if unit.kind == CLAIM]
    windows = [window for cut in cut_chunks(record["contexts"], size, encoder) for window in cut]
    if not units or not windows:
        return []
    ids = encoder.encode([unit.hypothesis for unit in units])
    shared = overlap(ids, [window.ids for window in windows])
    order = np.argsort(-shared, axis=1, kind="stable")
    ranked = np.take_along_axis(shared, order, axis=1)
    second = ranked[:, 1] / np.maximum(ranked[:, 0], 1e-9) if len(windows) > 1 else np.zeros(len(units))
    return [
        _Sentence(unit.hypothesis, any(a < unit.end and unit.start < b for a, b in spans), windows, order[i], float(second[i]),
                  record["source_id"], dataset, record.get("question"))
        for i, unit in enumerate(units)
    ]  # fmt: skip


def _document_pairs(pairs: list[Pair], size: int, encoder: Encoder) -> list[tuple[Pair, list[Window], np.ndarray]]:
    """Pairs of the NLI sets whose premise is a document too long for the first stage, with ordered windows."""
    out = []
    for pair in pairs:
        if len(pair.premise) < 1200:
            continue
        (windows,) = cut_chunks([pair.premise], size, encoder)
        (ids,) = encoder.encode([pair.hypothesis])
        if windows and len(ids) < 128:
            out.append((pair, list(windows), np.argsort(-overlap([ids], [w.ids for w in windows])[0], kind="stable")))
    return out


def _copied(windows: list[Window], names: list[str], rng: np.random.Generator) -> tuple[Window, str, int, str] | None:
    """One sentence of one window as a pair whose label needs no annotator, or None where there is nothing to take."""
    home = windows[rng.integers(len(windows))]
    whole = [unit.hypothesis for unit in split_claims(home.text) if unit.kind == CLAIM]
    sentences = [text for text in whole if text in home.text and text[-1:] in ".!?" and 8 <= len(text.split()) <= 45]
    if not sentences:
        return None
    text = sentences[rng.integers(len(sentences))]
    strange = [window for window in windows if text not in window.text]
    kind = rng.random()
    if kind < 0.2:
        return home, text, 0, "rag_copy"
    if kind < 0.5 and strange:
        return strange[rng.integers(len(strange))], text, NOT_ENTAILMENT, "rag_elsewhere"
    changed = edit(text, home.text, names, rng)
    return (home, changed, NOT_ENTAILMENT, "rag_copy_edit") if changed else None


def _settle(sentences: list[_Sentence], model: DebertaClassifier, encoder: Encoder) -> int:
    """Put the window that `model` finds more entailing first, where overlap left it open; returns how many changed."""
    close = [s for s in sentences if not s.bad and s.second >= CLOSE]
    pairs = [Example(s.windows[i].ids, ids, 0, 1.0, s.dataset)
             for s, ids in zip(close, encoder.encode([s.text for s in close])) for i in s.order[:2]]  # fmt: skip
    p = probabilities(model, encoder, pairs, next(model.parameters()).device)[:, 0].reshape(-1, 2)
    turned = [sentence for sentence, (first, second) in zip(close, p) if second > first]
    for sentence in turned:
        sentence.order[:2] = sentence.order[:2][::-1].copy()
    return len(turned)


def rag_examples(
    data: Path, encoder: Encoder, max_length: int, mix: Mix = Mix(), model: DebertaClassifier | None = None
) -> tuple[list[Example], list[Example]]:
    """(training examples, held-back examples: 4 % of the sources, and the first stage's)."""
    rng = np.random.default_rng(7)
    sentences: list[_Sentence] = []
    for stem, dataset in (("ragtruth_human.train", "rag"), ("wice_nst.train", "rag_wice")):
        for record in read_jsonl(find(data / "train", stem)):
            name = f"{dataset}_{record['task']}" if dataset == "rag" else dataset
            size = WINDOW_SIZES[rng.integers(len(WINDOW_SIZES))]
            sentences += _sentences(record, name, size, encoder)
    if model is not None:
        print(f"{_settle(sentences, model, encoder)} sentences meet another window than overlap says", flush=True)
    train = [s for s in sentences if fraction(s.group, "held-back") >= 0.04]
    held = [s for s in sentences if fraction(s.group, "held-back") < 0.04]
    names = sorted({m[0] for s in train for m in _NAME.finditer(s.text)})
    texts: list[tuple[Window, str, int, str]] = []
    for sentence in train:
        best = [sentence.windows[i] for i in sentence.order[:NEGATIVE_WINDOWS]]
        if sentence.bad:
            for window in best:
                texts += [(window, sentence.text, NOT_ENTAILMENT, sentence.dataset)] * mix.negatives
        else:
            texts.append((best[0], sentence.text, 0, sentence.dataset))
            if sentence.question and rng.random() < mix.questions:
                texts.append((best[0], f"{sentence.question} {sentence.text}", 0, "rag_question"))
            if rng.random() < mix.edits:
                changed = edit(sentence.text, best[0].text, names, rng)
                if changed:
                    texts.append((best[0], changed, NOT_ENTAILMENT, "rag_edit"))
        if rng.random() < mix.strangers:
            other = train[rng.integers(len(train))]
            if other.group != sentence.group:
                texts.append((other.windows[rng.integers(len(other.windows))], sentence.text, 1, "rag_stranger"))
    answers = {id(sentence.windows): sentence.windows for sentence in train}
    for windows in answers.values():
        made = (_copied(windows, names, rng) for _ in range(mix.copied))
        texts += [pair for pair in made if pair is not None]
    pairs = load_nli(data)
    for pair, windows, order in _document_pairs(pairs, WINDOW_SIZES[0], encoder):
        if fraction(pair.group, "held-back") < 0.03:
            continue
        chosen = order[:1] if pair.label == 0 else order[:2]
        texts += [(windows[i], pair.hypothesis, pair.label, pair.dataset) for i in chosen]
    examples = _tokenise(texts, encoder, max_length)
    nli_train, nli_held = split_held_back(pairs, HELD_BACK, 0.03)
    short: list[Pair] = []
    for pair in nli_train:
        whole, rest = divmod(mix.nli_share * (4 if pair.dataset == "mnli_dev" else 1), 1.0)
        short += [pair] * (int(whole) + (fraction(pair.hypothesis + pair.premise, "mix") < rest))
    examples += tokenise(short, encoder, max_length)
    dev = _tokenise([(s.windows[s.order[0]], s.text, NOT_ENTAILMENT if s.bad else 0, s.dataset + ("_bad" if s.bad else "_good"))
                     for s in held], encoder, max_length)  # fmt: skip
    mnli = [pair for pair in nli_held if pair.dataset == "mnli_dev"][: 3 * DEV_PER_SET]
    return examples, dev[:900] + tokenise(mnli, encoder, max_length)


def _tokenise(texts: list[tuple[Window, str, int, str]], encoder: Encoder, max_length: int) -> list[Example]:
    ids = encoder.encode([text for _, text, _, _ in texts])
    made = [Example(w.ids, h, label, 1.0, name) for (w, _, label, name), h in zip(texts, ids)]
    return [example for example in made if len(example) <= max_length + 32]
