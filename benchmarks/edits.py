"""Minimal edits: does a supported sentence with one fact changed still pass, and does the unedited one?

    python benchmarks/edits.py --out benchmarks/results/edits [--model MODEL] [--limit N] [--dry-run]

`edits_texts.jsonl` holds short passages of our own with sentences that they support. Rules change one place of a sentence: a number,
its unit, a date, a negation, an antonym, a name (for another of the same passage), a direction or a quantifier. What counts is
the share of edited sentences that are not called supported (caught) and of unedited ones that are not (false alarm), by kind,
with 95 % intervals (bootstrap over passages): by the verdict alone, with --strict-numbers, and with either flag counted as a
catch. A false alarm of a kind is one of the sentences that the kind could edit. The rules share nothing with those of the training scripts.

Prints a table and writes OUT.json, OUT.md and OUT.rows.jsonl, which has every edit with its verdict and flags.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))

from measures import Bootstrap  # noqa: E402
from nli_faith import Scorer, __version__  # noqa: E402
from nli_faith.memory import keep_freed_memory  # noqa: E402

TEXTS = Path(__file__).parent / "edits_texts.jsonl"
PAIRS_PER_SECOND = 20
FEWEST = 100  # edits of a kind

Edit = tuple[int, int, str]  # (start, end, what stands there instead)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text of our own.

    Attributes:
        supported: sentences that it supports; names: groups of names in it that may be taken for each other.
    """

    domain: str
    text: str
    supported: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it is scored against `passage`; `kind` is "none" for one that was not edited, `origin` its number."""

    passage: Passage
    text: str
    kind: str
    origin: int


def read_passages(path: Path = TEXTS) -> list[Passage]:
    """The passages of the file, in order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return [Passage(r["domain"], r["text"], tuple(r["supported"]), tuple(map(tuple, r["names"]))) for r in records]


def _table(text: str) -> dict[str, str]:
    """"a/b" pairs, both ways; "a>b" one way only."""
    found: dict[str, str] = {}
    for entry in text.split(","):
        if ">" in entry:
            left, right = (side.strip() for side in entry.split(">"))
            found[left] = right
        else:
            left, right = (side.strip() for side in entry.split("/"))
            found |= {left: right, right: left}
    return found


_MONTHS = "January February March April May June July August September October November December".split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
UNITS = _table(
    "kilometres/miles, metres/feet, centimetres/inches, millimetres/centimetres, kilograms/tonnes, grams/ounces,"
    " milligrams>grams, litres/gallons, millilitres>litres, gigabytes/megabytes, minutes/hours, seconds>minutes,"
    " days/weeks, months/years, week>month, weeks>months, euros/dollars, pounds>dollars, cents>euros, million/billion,"
    " megabits>kilobits, hectares>acres, megawatts>gigawatts, Celsius/Fahrenheit, years>months, hours>days,"
    " megapixels>kilopixels, gigawatt>kilowatt"
)
ANTONYMS = _table(
    "open/closed, cheap/expensive, allowed/forbidden, accepted/rejected, included/excluded, public/private,"
    " indoor/outdoor, safe/dangerous, warm/cool, hot/cold, cold>hot, wet/dry, heavy/light, strong/weak, short/long,"
    " mild/severe, early/late, full/empty, wide/narrow, soft/hard, bright/dim, steep/flat, largest/smallest,"
    " large/small, larger/smaller, loud/quiet, dark/pale, voluntary/compulsory, sad/cheerful, clear/cloudy,"
    " clean/dirty, healthy/sick, primary>last, easy/difficult, slow/fast, won/lost, opened/closed, free>expensive,"
    " saved/killed, banned/permitted, approved/refused, added/removed, begins/ends, began/ended, start/finish,"
    " sharp/blunt, thick/thin, younger/older, young/old, bought/sold, covered>bare, unknown/famous, valid/void,"
    " finished/abandoned, secondary>main, original/copied, broken>intact, deep/shallow, retired/active, common/rare,"
    " hired/dismissed, winter/summer, summer>winter"
)
DIRECTIONS = _table(
    "rose/fell, rise/fall, grew/shrank, grown/shrunk, increased/decreased, increase/decrease, higher/lower,"
    " lowered/raised, upper/lower, above/below, north/south, northern/southern, east/west, eastern/western,"
    " left/right, before/after, up/down, upstream/downstream, fallen/risen, gained/lost, over/under, front/back,"
    " towards>away from, imports/exports, Exports>Imports, inside/outside, later/earlier"
)
QUANTIFIERS = _table(
    "all of/none of, All of/None of, all>none of the, All>None of the, most/few, Most/Few, every/hardly any,"
    " Every/Hardly any, each>none, Each>None, both>neither, always/never, many/few, at least/at most, up to>at least,"
    " nearly all/hardly any, Nearly all>Hardly any, some>all, usually/rarely, more than/less than, twice>once,"
    " only>not only"
)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w]|[.,]\d)")
_WRITTEN = "two three four five six seven eight nine ten eleven twelve".split()
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|can|will|would|must|may|should|(?:has|have|had)(?= (?:been|fallen|become|sold|\w+ed)\b))\b"
)
_DATE = re.compile(rf"\b(?:\d{{1,2}} )?({'|'.join(_MONTHS)})(?: (\d{{4}}))?\b|\b({'|'.join(_WEEKDAYS)})s?\b|\b(?:in|since|of|until) (1\d{{3}}|20\d\d)\b"
                   r"|\b(\d{1,2})(:\d\d)\b|\b\d{1,2} (AM|PM)\b")  # fmt: skip


def _pick(options: Sequence[str], seed: str) -> str:
    """One of the options, the same at every run."""
    return options[zlib.crc32(seed.encode()) % len(options)]


def _swaps(table: dict[str, str]) -> Callable[[Passage, str], Iterator[Edit]]:
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(map(re.escape, table), key=len, reverse=True))})(?![\w-])")

    def edits(passage: Passage, sentence: str) -> Iterator[Edit]:
        for match in pattern.finditer(sentence):
            yield match.start(), match.end(), table[match[0]]

    return edits


def edit_numbers(passage: Passage, sentence: str) -> Iterator[Edit]:
    """Another number of the same length that the passage does not have; dates and times are another kind."""
    dates = [match.span() for match in _DATE.finditer(sentence)]
    for match in _NUMBER.finditer(sentence):
        if any(start <= match.start() < end for start, end in dates):
            continue
        digits = [i for i, char in enumerate(match[0]) if char.isdigit()]
        changed = list(match[0])
        place = digits[zlib.crc32(sentence.encode()) % min(2, len(digits))]
        for step in (3, 4, 2, 5, 1, 6):
            new = (int(match[0][place]) + step) % 10
            changed[place] = str(new)
            if (place or new) and "".join(changed) not in passage.text:
                yield match.start(), match.end(), "".join(changed)
                break
    for match in re.finditer(rf"\b(?:{'|'.join(_WRITTEN)})\b", sentence):
        others = [word for word in _WRITTEN if word not in passage.text and word != match[0]]
        yield match.start(), match.end(), _pick(others, sentence)


def edit_units(passage: Passage, sentence: str) -> Iterator[Edit]:
    """Another unit behind a number."""
    for start, end, new in _swaps(UNITS)(passage, sentence):
        if re.search(r"(?:\d|\b(?:two|three|four|five|a|degrees|million|once a|times a)) ?$", sentence[:start]):
            yield start, end, new


def edit_dates(passage: Passage, sentence: str) -> Iterator[Edit]:
    """Another month, year, weekday or hour."""
    for match in _DATE.finditer(sentence):
        month, year, weekday, alone, hour, _, half = match.groups()
        if month:
            others = [name for name in _MONTHS if name not in passage.text]
            yield match.start(1), match.end(1), _pick(others, sentence)
        if year or alone:
            group = 2 if year else 4
            others = [str(int(match[group]) + step) for step in (-3, -1, 2, 4) if str(int(match[group]) + step) not in passage.text]
            yield match.start(group), match.end(group), _pick(others, sentence)
        elif weekday:
            others = [name for name in _WEEKDAYS if name not in passage.text]
            yield match.start(3), match.end(3), _pick(others, sentence)
        elif hour:
            yield match.start(5), match.end(5), str((int(hour) + 2) % 24)
        elif half:
            yield match.start(7), match.end(7), "PM" if half == "AM" else "AM"


def edit_negations(passage: Passage, sentence: str) -> Iterator[Edit]:
    """A "not" behind the first auxiliary; sentences that deny something already are left alone."""
    if re.search(r"\b(?:not|no|none|never|neither|nobody|cannot)\b|n't", sentence, re.IGNORECASE):
        return
    match = _AUXILIARY.search(sentence)
    if match is not None:
        yield match.end(), match.end(), " not"


def edit_entities(passage: Passage, sentence: str) -> Iterator[Edit]:
    """Another name of the same passage and sort, where only one of them is in the sentence."""
    for group in passage.names:
        present = [name for name in group if name in sentence]
        if len(present) == 1:
            start = sentence.index(present[0])
            yield start, start + len(present[0]), _pick([name for name in group if name not in present], sentence)


RULES: dict[str, Callable[[Passage, str], Iterator[Edit]]] = {
    "number": edit_numbers, "unit": edit_units, "date": edit_dates, "negation": edit_negations,
    "antonym": _swaps(ANTONYMS), "entity": edit_entities, "direction": _swaps(DIRECTIONS), "quantifier": _swaps(QUANTIFIERS),
}  # fmt: skip


def make_sentences(passages: Sequence[Passage]) -> list[Sentence]:
    """Every supported sentence, and behind it one sentence for each edit of it."""
    made, origin = [], 0
    for passage in passages:
        for text in passage.supported:
            made.append(Sentence(passage, text, "none", origin))
            for kind, rule in RULES.items():
                made += [Sentence(passage, text[:a] + new + text[b:], kind, origin) for a, b, new in rule(passage, text)]
            origin += 1
    return made


@dataclass(frozen=True, slots=True)
class Said:
    """What was said of a sentence: verdict with and without --strict-numbers, and the flags."""

    verdict: str
    strict: str
    support: float
    numeric: bool
    negation: bool


def judge(scorer: Scorer, sentences: Sequence[Sentence]) -> list[Said]:
    """One for each sentence. A sentence in which the splitter finds no claim is not supported."""
    rows = ({"answer": s.text, "contexts": [s.passage.text]} for s in sentences)
    said = []
    for score in scorer.score_rows(rows):
        claims = [claim for claim in score.claims if claim.verdict is not None]
        numeric = any(claim.numeric_mismatch for claim in claims)
        bad = next((claim.verdict for claim in claims if claim.verdict != "supported"), None)
        verdict = bad or ("supported" if claims else "unsupported")
        strict = "unsupported" if verdict == "supported" and numeric else verdict
        support = min((claim.support for claim in claims), default=0.0)
        said.append(Said(verdict, strict, support, numeric, any(claim.negation_mismatch for claim in claims)))
    return said


# How a sentence is turned down, by name.
READINGS: dict[str, Callable[[Said], bool]] = {
    "verdict": lambda said: said.verdict != "supported",
    "strict_numbers": lambda said: said.strict != "supported",
    "verdict_or_flag": lambda said: said.verdict != "supported" or said.numeric or said.negation,
    "numeric_flag": lambda said: said.numeric,
    "negation_flag": lambda said: said.negation,
}


def measure(sentences: Sequence[Sentence], said: Sequence[Said]) -> dict[str, dict]:
    """kind -> {"edits", "sentences", reading: {"caught": [share, low, high], "false_alarms": [...]}}; also "all"."""
    report = {}
    for kind in [*RULES, "all"]:
        edited = [i for i, s in enumerate(sentences) if s.kind != "none" and kind in (s.kind, "all")]
        origins = {sentences[i].origin for i in edited}
        plain = [i for i, s in enumerate(sentences) if s.kind == "none" and (s.origin in origins or kind == "all")]
        report[kind] = {"edits": len(edited), "sentences": len(plain)} | {
            name: {
                "caught": _share([turned_down(said[i]) for i in edited], [sentences[i] for i in edited]),
                "false_alarms": _share([turned_down(said[i]) for i in plain], [sentences[i] for i in plain]),
            }
            for name, turned_down in READINGS.items()
        }
    return report


def _share(turned_down: Sequence[bool], sentences: Sequence[Sentence]) -> list[float]:
    """[share, low, high]; the sentences of one passage are no independent trials. Of none nothing is known."""
    if not sentences:
        return [0.0, 0.0, 1.0]
    hits = np.array(turned_down, dtype=bool)
    return Bootstrap(np.array([sentence.passage.text for sentence in sentences])).share(hits, np.ones_like(hits))


def table(report: dict[str, dict]) -> str:
    """The figures in Markdown, in percent."""
    lines = [
        "| edit | n | caught | with --strict-numbers | with either flag | false alarms | with --strict-numbers | with either flag |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for kind, found in report.items():
        cells = [
            "{:.0f} [{:.0f}, {:.0f}]".format(*(100 * value for value in found[reading][side]))
            for side in ("caught", "false_alarms")
            for reading in ("verdict", "strict_numbers", "verdict_or_flag")
        ]
        lines.append(f"| {kind} | {found['edits']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="nli-faith-xsmall")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, help="name of the .json, .md and .rows.jsonl, without ending")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N sentences, edited ones included")
    parser.add_argument("--dry-run", action="store_true", help="count the edits of each kind and show some, without a model")
    args = parser.parse_args(argv)
    sentences = make_sentences(read_passages())
    counts = {kind: sum(s.kind == kind for s in sentences) for kind in ("none", *RULES)}
    sentences = sentences[: args.limit]
    print(f"{counts['none']} supported sentences; edits: " + ", ".join(f"{n} {kind}" for kind, n in counts.items() if kind != "none"))
    if args.dry_run:
        for kind in RULES:
            for s in [s for s in sentences if s.kind == kind][:: max(1, counts[kind] // 4)][:4]:
                print(f"{kind:<11}{s.text}")
        return
    if args.out is None:
        parser.error("--out is needed: it names the files to write")
    print(f"{len(sentences)} pairs: about {len(sentences) / PAIRS_PER_SECOND:.0f} s on two CPU cores", file=sys.stderr, flush=True)
    keep_freed_memory()
    scorer = Scorer(args.model, device=args.device, flags=True)
    begun = time.perf_counter()
    said = judge(scorer, sentences)
    report = measure(sentences, said)
    identity = scorer.identity()
    stored = {
        "model": args.model, "model_hash": identity["model_hash"], "dtype": identity["dtype"], "version": __version__,
        "seconds": round(time.perf_counter() - begun, 1), "kinds": report,
    }  # fmt: skip
    args.out.parent.mkdir(parents=True, exist_ok=True)
    Path(f"{args.out}.json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    Path(f"{args.out}.md").write_text(table(report) + "\n", encoding="utf-8")
    with open(f"{args.out}.rows.jsonl", "w", encoding="utf-8") as rows:
        for s, verdict in zip(sentences, said, strict=True):
            row = {"kind": s.kind, "origin": s.origin, "sentence": s.text, "verdict": verdict.verdict, "support": round(verdict.support, 4),
                   "numeric_mismatch": verdict.numeric, "negation_mismatch": verdict.negation}  # fmt: skip
            rows.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(table(report))


if __name__ == "__main__":
    main()
