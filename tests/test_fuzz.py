"""Random rows, cells and options through whole runs: every row comes back once, in order, and says why when it has no score.

500 rows here; `scripts/nightly` asks for more with NLI_FAITH_FUZZ_ROWS, and then for other ones at every run.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import re
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from file_stubs import read_rows
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from nli_faith import Scorer
from nli_faith.errors import InputError
from nli_faith.files import score_file
from nli_faith.options import GRANULARITIES, FileOptions
from nli_faith.outputs import CLAIM_FILE_NAMES, SCORE_NAMES
from nli_faith.types import KINDS, STATUSES, VERDICTS

ROWS = int(os.environ.get("NLI_FAITH_FUZZ_ROWS", "500"))
ROWS_EACH = 10
ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".csv", ".csv.gz", ".parquet")

PIECES = st.sampled_from(
    ["The plan costs ten euros. ", "It covers 8 countries. ", "Dr. Who paid $3.50. ", "\n\n", "- ", "1. ", "# ", "```\n", "| a | b |\n|---|---|\n",
     "Hello! ", "I could not find this. ", "Is it so? ", "[1]", "**", "https://a.b/c ", "\u200b", "\u202e", "\x00", "\x1b[31m", "\r\n",
     "[SEP]", "漢字。", "كلف عشرة. ", "e\u0301", "\U0001f600", '{"a": "b"}', "nan", "  "]
)  # fmt: skip
LETTERS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TEXTS = st.lists(PIECES | LETTERS, max_size=8).map("".join)
HALVES = st.just("half \ud800 a pair")
CHUNK_DICTS = st.builds(lambda key, text, extra: {key: text, **extra}, st.sampled_from(["text", "content", "page_content", "title"]),
                        TEXTS | st.none() | st.integers(), st.dictionaries(st.sampled_from(["id", "score"]), st.integers()))  # fmt: skip
NUMBERS = st.integers() | st.floats()
LISTS = st.lists(TEXTS | st.none() | CHUNK_DICTS | HALVES | NUMBERS, max_size=5)
SPELLED = st.lists(TEXTS, max_size=4).flatmap(
    lambda texts: st.sampled_from([json.dumps(texts), repr(texts), str(np.array(texts, dtype=object)), repr(tuple(texts))])
)
ANY = st.none() | st.booleans() | NUMBERS | TEXTS | st.lists(NUMBERS, max_size=2) | st.dictionaries(LETTERS, NUMBERS, max_size=2)
JSON_ROWS = st.fixed_dictionaries(
    {"answer": st.one_of([TEXTS] * 8 + [ANY, HALVES]),
     "contexts": st.one_of([st.lists(TEXTS, max_size=4)] * 5 + [LISTS, SPELLED, ANY])},
    optional={"question": TEXTS | ANY | HALVES, "group": ANY | HALVES, "id": ANY | HALVES, "status": ANY, "claims": ANY},
)
PARQUET_ROWS = st.fixed_dictionaries(
    {"answer": TEXTS | st.none(), "contexts": st.lists(TEXTS | st.none(), max_size=4) | st.none()},
    optional={"question": TEXTS, "group": st.sampled_from(["a", "b", None]), "id": st.integers(0, 2**40), "status": TEXTS},
)

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "limit": st.integers(1, ROWS_EACH + 2), "sample": st.floats(0.05, 1.0), "seed": st.integers(0, 99),
        "by": st.sampled_from(["group", "answer", "contexts"]), "id": st.sampled_from(["id", "answer"]),
        "drop_contexts": st.booleans(), "overwrite_columns": st.booleans(), "claims_out": st.sampled_from(ENDINGS),
    },
)  # fmt: skip
SCORING = st.fixed_dictionaries(
    {"granularity": st.sampled_from(GRANULARITIES)},
    optional={"threshold": st.floats(0.01, 1.0), "no_claims": st.sampled_from([0.0, 1.0, None]), "early_exit": st.booleans()},
)
# What a file may be refused for; each is a sentence that is tested elsewhere.
REFUSALS = re.compile(
    "already has the column|has no column|has no single parquet type|can't be written|half of a surrogate pair|looks like"
    "|known to hold"
)


def write(path: Path, rows: list[dict]) -> list[dict] | None:
    """The rows as they stand in the file at `path`, or None when its format can't hold them."""
    if path.suffix == ".parquet":
        try:
            pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=4)
        except (pa.ArrowException, UnicodeEncodeError, OverflowError):
            return None
        return read_rows(path)
    if ".csv" in path.name:
        names = list(dict.fromkeys(name for row in rows for name in row))
        cell = lambda value: value if isinstance(value, str) else "" if value is None else json.dumps(value)  # noqa: E731
        buffer = io.StringIO()
        csv.writer(buffer).writerows([names, *([cell(row.get(name)) for name in names] for row in rows)])
        text = buffer.getvalue()
    elif path.name.endswith(".json"):
        text = json.dumps(rows, indent=1)
    else:
        text = "".join(json.dumps(row) + "\n" for row in rows)
    data = text.encode(errors="replace")
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    return read_rows(path)


def same(left: object, right: object) -> bool:
    return json.dumps(left, default=str) == json.dumps(right, default=str)


def without_contradictions(options: dict, rows: list[dict]) -> dict:
    """The options without those that such rows would be refused for; one example in ten keeps them."""
    names = set.intersection(*map(set, rows))
    kept = {key: value for key, value in options.items() if key not in ("by", "id") or value in names}
    return kept | {"overwrite_columns": True}


def check_score(row: dict, contexts_known: bool) -> None:
    """The laws of one row of the output."""
    assert row["status"] in STATUSES
    assert (row["error"] is not None) == (row["status"] == "error")
    units, claims = row["claims"], [unit for unit in row["claims"] if unit["kind"] == "claim"]
    assert len(units) == row["n_units"] and len(claims) == row["n_claims"]
    assert row["n_supported"] + row["n_contradicted"] + row["n_unsupported"] == row["n_claims"]
    if row["status"] in ("scored", "no_context"):
        assert row["n_claims"] and math.isclose(row["faithfulness"], row["n_supported"] / row["n_claims"])
    if row["status"] in ("error", "empty_answer"):
        assert row["faithfulness"] is None and not units
    end = 0
    for unit in units:
        assert unit["kind"] in KINDS and end <= unit["start"] < unit["end"]
        end = unit["end"]
        assert (unit["verdict"] in VERDICTS) == (unit["kind"] == "claim")
        if isinstance(row["answer"], str):
            assert row["answer"][unit["start"] : unit["end"]] == unit["text"]
        if contexts_known and unit["evidence"] is not None and isinstance(row["contexts"], list):
            chunk = row["contexts"][unit["chunk"]]
            if isinstance(chunk, str):
                assert chunk[unit["evidence_start"] : unit["evidence_end"]] == unit["evidence"]


@pytest.fixture(scope="module")
def scorers():
    """Scorers by their options, as loading a tokenizer takes longer than a run."""
    made: dict[str, Scorer] = {}
    reader = Scorer("fake").reader

    def scorer(options: dict) -> Scorer:
        key = json.dumps(options, sort_keys=True)
        if key not in made:
            made[key] = Scorer("fake", **options)
            made[key]._reader = reader
        return made[key]

    return scorer


@given(st.data())
@settings(
    max_examples=max(1, ROWS // ROWS_EACH), deadline=None, derandomize=ROWS == 500,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)  # fmt: skip
def test_whole_runs(scorers, monkeypatch_fsync, data):
    ending, out_ending = data.draw(st.sampled_from(ENDINGS)), data.draw(st.sampled_from([*ENDINGS, "/"]))
    rows_of = PARQUET_ROWS if ending == ".parquet" else JSON_ROWS
    rows = data.draw(st.lists(rows_of, min_size=ROWS_EACH, max_size=ROWS_EACH))
    options, scoring = data.draw(OPTIONS), data.draw(SCORING)
    if data.draw(st.integers(0, 9)) != 7:
        options = without_contradictions(options, rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given_rows = write(folder / f"in{ending}", rows)
        if given_rows is None:
            event("the input can't be written")
            return
        claims = options.get("claims_out")
        runs = {}
        for run, window_rows in (("whole", 4), ("again", 4), ("other windows", 3)):
            place = folder / run
            place.mkdir()
            more = {} if claims is None else {"claims_out": str(place / f"claims{claims}")}
            out = f"{place}/out/" if out_ending == "/" else str(place / f"out{out_ending}")
            try:
                summary = score_file(scorers(scoring), str(folder / f"in{ending}"), out, FileOptions(**options | more), window_rows=window_rows)
            except InputError as error:
                assert REFUSALS.search(str(error)), error
                assert len(str(error)) < 2000 and str(error).endswith((".", ")"))
                assert not Path(out).exists()
                event(f"refused: {REFUSALS.search(str(error))[0]}")
                return
            assert not list(place.glob("*.parts"))
            runs[run] = [path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file() and "summary" not in path.name]
        assert runs["whole"] == runs["again"], "two runs give equal bytes"
        event("scored")
        comes_back = {".jsonl": "json", ".json": "json"}
        kind, out_kind = (comes_back.get(end.removesuffix(".gz"), end.removesuffix(".gz")) for end in (ending, out_ending))
        check_output(folder / "whole", out_ending, claims, given_rows, options, summary, out_kind in (kind, "/"))
        if out_ending != "/" and out_ending != ".parquet" and claims != ".parquet":
            assert runs["whole"] == runs["other windows"], "the fake model's numbers depend on lengths only"


def check_output(
    place: Path, out_ending: str, claims: str | None, given_rows: list[dict], options: dict, summary: dict, same_kind: bool
) -> None:
    if out_ending == "/":
        found = [row for path in sorted((place / "out").iterdir()) for row in read_rows(path)]
    else:
        found = read_rows(place / f"out{out_ending}")
    taken = given_rows[: options.get("limit")] if "sample" not in options else None
    assert summary["rows"] == len(found) and (taken is None or len(found) == len(taken))
    dropped = {"contexts"} if options.get("drop_contexts") else set()
    for at, row in enumerate(found):
        assert tuple(row)[-len(SCORE_NAMES) :] == SCORE_NAMES
        if taken is not None and same_kind:
            kept = {key: value for key, value in taken[at].items() if key not in dropped and key not in SCORE_NAMES}
            assert same({key: row[key] for key in kept}, kept)
        if isinstance(row["claims"], list):
            check_score(row, "contexts" not in dropped)
    if claims is not None:
        flat = read_rows(place / f"claims{claims}")
        assert all(tuple(unit)[: len(CLAIM_FILE_NAMES)] == CLAIM_FILE_NAMES for unit in flat)
        assert len(flat) == sum(int(row["n_units"]) for row in found)


@pytest.fixture(scope="module")
def monkeypatch_fsync():
    """Hundreds of runs without waiting for disks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield
