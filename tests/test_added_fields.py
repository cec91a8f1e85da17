"""Claim fields that an option asks for: behind the others in every format, and nowhere when it is off."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pandas as pd
import pyarrow.parquet as pq
import pytest
from cli_fixtures import folder, run  # noqa: F401
from file_stubs import StubScorer, read_rows, sample_rows, write_rows

from nli_faith.files import score_file
from nli_faith.frames import score_frame
from nli_faith.options import FileOptions, ScoreOptions
from nli_faith.outputs import ADDED_FIELDS, CLAIM_FIELDS, CLAIM_FILE_NAMES, CLAIM_NAMES
from nli_faith.types import ClaimVerdict, WindowResult, added_claim_fields

# Option and value -> the fields that it adds; a later option comes here with its own.
ADDS = {("joined_evidence", 2): ("joined",), ("flags", True): ("numeric_mismatch", "negation_mismatch")}
VALUES = {"joined": (0, 2), "numeric_mismatch": True, "negation_mismatch": False}
ENDINGS = [".parquet", ".jsonl", ".json", ".csv"]


class AddingScorer(StubScorer):
    """The stub with `options`, whose first claim of a row has values in the fields that these add."""

    def __init__(self, options: ScoreOptions):
        super().__init__(options=asdict(options))
        self._added = options.claim_fields

    def score_window(self, rows, watch=None):
        result = super().score_window(rows)
        values = {name: VALUES[name] for name in self._added}
        scores = []
        for score in result.scores:
            claims = (replace(score.claims[0], **values), *score.claims[1:]) if score.claims else ()
            # As a real scorer would, so that triage finds one threshold behind it.
            faithful = None if score.min_support is None else score.min_support >= 0.5
            scores.append(replace(score, claims=claims, faithful=faithful, added=self._added))
        return WindowResult(tuple(scores), result.counts)


def test_every_field_of_the_sort_has_a_type_and_an_option():
    names = [name for fields in ADDS.values() for name in fields]
    assert sorted(names) == sorted(ADDED_FIELDS)
    assert list(ClaimVerdict.__dataclass_fields__) == [*CLAIM_NAMES, *ADDED_FIELDS]
    assert ScoreOptions().claim_fields == () == added_claim_fields({})
    for (option, value), fields in ADDS.items():
        assert ScoreOptions(**{option: value}).claim_fields == fields


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("option", "fields"), [(None, ()), *ADDS.items()], ids=str)
def test_files_have_them_when_asked(tmp_path, ending, option, fields):
    scorer = AddingScorer(ScoreOptions(**dict([option] if option else [])))
    out, flat = tmp_path / f"out{ending}", tmp_path / f"claims{ending}"
    path = write_rows(tmp_path / f"in{ending}", sample_rows(30))
    score_file(scorer, str(path), str(out), FileOptions(claims_out=str(flat)))
    rows = [json.loads(r["claims"]) if ending == ".csv" else r["claims"] for r in read_rows(out)]
    assert sum(map(len, rows)) > 30
    wanted = {name: list(VALUES[name]) if isinstance(VALUES[name], tuple) else VALUES[name] for name in fields}
    for claims in rows:
        for at, claim in enumerate(claims):
            assert list(claim) == [*CLAIM_NAMES, *fields]
            assert {name: claim[name] for name in fields} == (dict.fromkeys(fields) if at else wanted)
    units = read_rows(flat)
    assert all(list(unit) == [*CLAIM_FILE_NAMES, *fields] for unit in units) and len(units) == sum(map(len, rows))
    if ending == ".parquet":
        struct = pq.read_schema(out).field("claims").type.value_type
        expected = [*CLAIM_FIELDS, *(ADDED_FIELDS[name] for name in fields)]
        assert [(field.name, str(field.type)) for field in struct] == [(f.name, str(f.type).replace("item", "element")) for f in expected]


@pytest.mark.parametrize(("option", "fields"), [(None, ()), *ADDS.items()], ids=str)
def test_programs_get_them_when_asked(option, fields):
    scorer = AddingScorer(ScoreOptions(**dict([option] if option else [])))
    scored = score_frame(scorer, pd.DataFrame(sample_rows(4)))
    claims = [claim for cell in scored["claims"] for claim in cell]
    assert claims and all(list(claim) == [*CLAIM_NAMES, *fields] for claim in claims)
    assert json.loads(json.dumps(claims)) is not None


def test_a_copy_in_another_format_keeps_them(tmp_path, run):  # noqa: F811
    for (option, value), fields in ADDS.items():
        write_rows(tmp_path / "in.jsonl", sample_rows(30))
        scorer = AddingScorer(ScoreOptions(**{option: value}))
        score_file(scorer, "in.jsonl", "scored.jsonl", FileOptions(overwrite=True))
        status, _, err = run("triage", "scored.jsonl", "-o", "routed.parquet", "--overwrite")
        assert status == 0, err
        claims = [row["claims"] for row in read_rows(tmp_path / "routed.parquet")]
        assert claims == [row["claims"] for row in read_rows(tmp_path / "scored.jsonl")]
        assert any(claim[name] is not None for row in claims for claim in row for name in fields)
