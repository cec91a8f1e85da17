"""Whole files: every row comes back once, in order, untouched; interrupted runs give the bytes of undisturbed ones."""

from __future__ import annotations

import csv
import datetime
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from file_stubs import StubScorer, read_rows, sample_rows, write_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith import files, summary, targets
from nli_faith.ahead import read_ahead
from nli_faith.errors import InputError, ResumeError, UsageError
from nli_faith.files import score_file
from nli_faith.formats import csv_line
from nli_faith.options import FileOptions
from nli_faith.outputs import CLAIM_FILE_NAMES, SCORE_FIELDS, SCORE_NAMES
from nli_faith.plans import plan
from nli_faith.records import JsonRecords
from nli_faith.shards import Parts

ENDINGS = [".parquet", ".jsonl", ".jsonl.gz", ".json", ".csv", ".csv.gz"]


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch):
    """What fsync does can't be seen without pulling a plug, and it is most of the time of these tests."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def score(path, out=None, scorer=None, window_rows=13, log=lambda line: None, **options):
    strict = options.pop("strict", False)
    return score_file(
        scorer or StubScorer(), str(path), None if out is None else str(out), FileOptions(**options),
        window_rows=window_rows, log=log, strict=strict,
    )  # fmt: skip


def own_threads():
    """Threads of a run that are still alive; libraries that other tests load may keep threads of their own."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("nli-faith")]


def without_times(summary):
    return {key: value for key, value in summary.items() if "second" not in key}


# Rows come back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_default_output_is_the_input_and_the_scores(tmp_path, ending):
    rows = sample_rows(60)
    path = write_rows(tmp_path / f"in{ending}", rows)
    before = path.read_bytes()
    summary = score(path)
    out = tmp_path / f"in.scored{ending}"
    found, given = read_rows(out), read_rows(path)
    assert [dict(itertools.islice(row.items(), len(rows[0]))) for row in found] == given
    assert all(tuple(row)[len(rows[0]) :] == SCORE_NAMES for row in found)
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, out.name, out.name + ".summary.json"])
    assert json.loads((tmp_path / (out.name + ".summary.json")).read_text()) == summary
    assert summary["rows"] == 60


@pytest.mark.parametrize("source", [".parquet", ".jsonl", ".json", ".csv"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_into_every_format(tmp_path, source, ending):
    rows = sample_rows(40)
    score(
        write_rows(tmp_path / f"in{source}", rows),
        tmp_path / f"out{ending}",
        claims_out=str(tmp_path / f"claims{ending}"),
    )
    found = read_rows(tmp_path / f"out{ending}")
    assert [row["id"] for row in found] == [row["id"] for row in rows]
    assert [row["question"] for row in found] == [row["question"] for row in rows]
    statuses = [row["status"] for row in found]
    assert {"scored", "no_context", "empty_answer"} <= set(statuses)
    claims = [json.loads(row["claims"]) if isinstance(row["claims"], str) else row["claims"] for row in found]
    flat = read_rows(tmp_path / f"claims{ending}")
    assert len(flat) == sum(map(len, claims)) > 40
    expected = [(at, unit, claim["text"]) for at, row in enumerate(claims) for unit, claim in enumerate(row)]
    assert [(int(row["row"]), int(row["unit"]), row["text"]) for row in flat] == expected
    assert all(tuple(row) == CLAIM_FILE_NAMES for row in flat)


def test_jsonl_keeps_the_text_of_every_object(tmp_path):
    lines = [
        '{"answer": "a", "contexts": ["c"], "x": 1.0, "y": 1e400, "big": 123456789012345678901234567890}',
        '{ "z":{"b":1,"a":[1.50,NaN]} ,"contexts":"c","answer":"\\u00e9" }',
        '{"contexts": null, "answer": "s", "e": "\\ud83d\\ude00", "only here": {}}',
    ]
    (tmp_path / "in.jsonl").write_text("\n\n".join(lines) + "\r\n")
    score(tmp_path / "in.jsonl")
    found = (tmp_path / "in.scored.jsonl").read_text().splitlines()
    for line, scored in zip(lines, found, strict=True):
        assert scored.startswith("{" + line[1:-1].strip() + ', "faithfulness": ')
        assert tuple(json.loads(scored))[-11:] == SCORE_NAMES


def test_jsonl_without_columns(tmp_path):
    (tmp_path / "in.jsonl").write_text(
        '{"contexts": ["c, }"], "n": 1.0, "answer": "a", "error": {"x": []}}\n{"answer": "b"}\n'
    )
    score(tmp_path / "in.jsonl", drop_contexts=True, overwrite_columns=True)
    first, second = (tmp_path / "in.scored.jsonl").read_text().splitlines()
    assert first.startswith('{"n": 1.0, "answer": "a", "faithfulness": ') and first.count('"error"') == 1
    assert second.startswith('{"answer": "b", "faithfulness": ')


def test_parquet_keeps_types_metadata_and_order(tmp_path):
    rows = 120
    table = pa.table(
        {
            "answer": pa.array([f"A {i}. B" for i in range(rows)]).dictionary_encode(),
            "contexts": pa.array([["c", None]] * rows, pa.large_list(pa.large_string())),
            "nested": pa.array([{"a": 1, "b": [{"c": None}]}] * rows),
            "map": pa.array([[("k", 1)]] * rows, pa.map_(pa.string(), pa.int64())),
            "vector": pa.array([[1.0, 2.0]] * rows, pa.list_(pa.float32(), 2)),
            "time": pa.array([datetime.datetime(2026, 1, 1)] * rows, pa.timestamp("ns", "UTC")),
            "decimal": pa.array([Decimal("1.10")] * rows),
            "null": pa.nulls(rows),
            "bytes": pa.array([b"\x00\xff"] * rows),
            "category": pa.array(["x", "y"] * (rows // 2))
            .dictionary_encode()
            .cast(pa.dictionary(pa.int8(), pa.string())),
            "words": pa.ListArray.from_arrays(
                pa.array(range(rows + 1), pa.int32()), pa.array([f"v{i % 7}" for i in range(rows)]).dictionary_encode()
            ),
        }
    )
    schema = table.schema.with_metadata({"key": "value"})
    schema = schema.set(2, schema.field(2).with_nullable(False).with_metadata({"of": "field"}))
    pq.write_table(table.cast(schema), tmp_path / "in.parquet", row_group_size=50)
    score(tmp_path / "in.parquet", window_rows=33)
    given, found = pq.read_table(tmp_path / "in.parquet"), pq.read_table(tmp_path / "in.scored.parquet")
    assert found.select(given.column_names).schema.equals(
        given.schema.with_metadata(found.schema.metadata), check_metadata=True
    )
    assert found.select(given.column_names).to_pylist() == given.to_pylist()
    assert found.schema.metadata[b"key"] == b"value"
    footer = json.loads(found.schema.metadata[b"nli_faith"])
    assert footer["scorer"]["model"] == "stub" and footer["versions"]["nli-faith"] and "tmp" not in json.dumps(footer)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=5), st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=300, deadline=None)
def test_the_inside_of_an_object_is_its_text(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    records = JsonRecords([text], [value])
    (inside,) = records.objects(())
    assert "\n" not in inside and json.loads(f"{{{inside}}}") == value
    for name in value:
        (inside,) = records.objects([name])
        assert json.loads(f"{{{inside}}}") == {key: item for key, item in value.items() if key != name}


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2), max_size=4))
@settings(max_examples=300, deadline=None)
def test_every_csv_reader_gets_the_cells_back(rows):
    text = "".join(csv_line(row) + "\n" for row in rows)
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == rows


@pytest.mark.parametrize("answers", [[None], [5.5, True], ["a. b"], []])
def test_the_schema_does_not_depend_on_the_rows(tmp_path, answers):
    table = pa.table(
        {"answer": pa.array(["a"] * 0 if not answers else ["a"]), "contexts": pa.array([["c"]] * bool(answers))}
    )
    if answers:
        (tmp_path / "in.jsonl").write_text("".join(json.dumps({"answer": a, "contexts": "c"}) + "\n" for a in answers))
    else:
        pq.write_table(table, tmp_path / "in.parquet")
    (path,) = tmp_path.glob("in.*")
    if len(answers) == 2:
        with pytest.raises(InputError, match="'answer' has no single parquet type.*-o NAME.jsonl"):
            score(path, tmp_path / "out.parquet")
        return
    score(path, tmp_path / "out.parquet", claims_out=str(tmp_path / "claims.parquet"))
    schema = pq.read_schema(tmp_path / "out.parquet")
    assert [(field.name, field.type) for field in schema][2:] == [(field.name, field.type) for field in SCORE_FIELDS]
    assert schema.names[:2] == ["answer", "contexts"]
    assert str(schema.field("claims").type).startswith(
        "list<element: struct<text: string, hypothesis: string, start: int32"
    )


def test_late_types_of_json_reach_parquet(tmp_path):
    rows = [{"answer": "a", "contexts": ["c"], "n": 1, "m": {"a": 1}, "late": None}] * 600
    rows += [{"answer": "a", "contexts": None, "n": 1.5, "m": {"b": "x"}, "late": ["x"], "new": True}]
    score(write_rows(tmp_path / "in.jsonl", rows), tmp_path / "out.parquet", window_rows=100)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names[:6] == ["answer", "contexts", "n", "m", "late", "new"]
    assert table.slice(600).to_pylist()[0]["m"] == {"a": None, "b": "x"} and table["n"].type == pa.float64()
    rows += [{"answer": "a", "contexts": None, "n": "text"}]
    with pytest.raises(InputError, match=r"column 'n' has no single parquet type.*rows 512 to 601.*-o NAME\.jsonl"):
        score(write_rows(tmp_path / "in.jsonl", rows), tmp_path / "other.parquet")


def test_csv_cells_survive(tmp_path):
    cells = ["007", "1.0", "", 'say "hi"', "a\rb", "a\nb", " x ", "None", "漢字"]
    with open(tmp_path / "in.csv", "w", newline="") as file:
        csv.writer(file).writerows([["code", "answer", "contexts"], *([cell, "a", "['c']"] for cell in cells)])
    score(tmp_path / "in.csv")
    found = read_rows(tmp_path / "in.scored.csv")
    # Python's own writer does not quote a lone carriage return, which its reader then takes for a line end.
    assert [row["code"] for row in found] == [row["code"] for row in read_rows(tmp_path / "in.csv")]
    assert {row["contexts"] for row in found} == {"['c']"}
    assert found[0]["faithful"] in ("true", "false") and found[0]["error"] == ""


def test_bad_cells_are_rows_of_the_output(tmp_path):
    lines = []
    (tmp_path / "in.jsonl").write_text(
        "".join(f'{{"answer": "a", "contexts": {c}, "k": "i{i}"}}\n' for i, c in enumerate(('"x"', "5", "[[1]]")))
    )
    summary = score(tmp_path / "in.jsonl", log=lines.append, id="k")
    found = read_rows(tmp_path / "in.scored.jsonl")
    assert [row["status"] for row in found] == ["scored", "error", "error"]
    assert "a number (5)" in found[1]["error"] and found[1]["claims"] == [] and found[1]["faithfulness"] is None
    assert any("Row 1 (counted from 0, id i1)" in line for line in lines)
    assert summary["error"] == 2 and summary["scored"] == 1
    with pytest.raises(InputError, match=r"Row 1 .*id i1.*--strict"):
        score(tmp_path / "in.jsonl", tmp_path / "strict.jsonl", id="k", strict=True)


def test_claims_carry_the_id_with_its_type(tmp_path):
    rows = [{"answer": "a. b", "contexts": ["c"], "key": i} for i in range(5)]
    for source, ids in ((".parquet", [0, 0, 1, 1]), (".jsonl", ["0", "0", "1", "1"])):
        score(
            write_rows(tmp_path / f"in{source}", rows), claims_out=str(tmp_path / "c.parquet"), id="key", overwrite=True
        )
        assert pq.read_table(tmp_path / "c.parquet")["id"].to_pylist()[:4] == ids
    score(tmp_path / "in.jsonl", claims_out=str(tmp_path / "c.jsonl"), id="key", overwrite=True)
    assert [row["id"] for row in read_rows(tmp_path / "c.jsonl")][:4] == [0, 0, 1, 1]


def test_categories_of_many_files(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(3):
        names = (
            pa.array([f"{number}-{i}" for i in range(100)])
            .dictionary_encode()
            .cast(pa.dictionary(pa.int8(), pa.string()))
        )
        pq.write_table(
            pa.table({"answer": ["a"] * 100, "contexts": [["c"]] * 100, "name": names}),
            tmp_path / f"in/{number}.parquet",
        )
    score(tmp_path / "in", tmp_path / "out.parquet", window_rows=70)
    found = pq.read_table(tmp_path / "out.parquet")
    assert found["name"].to_pylist() == [f"{number}-{i}" for number in range(3) for i in range(100)]


# Limit, sample, groups, summary ----------------------------------------------------------------------------------


def test_limit_and_sample(tmp_path):
    path = write_rows(tmp_path / "in.parquet", sample_rows(200))
    assert score(path, limit=31)["rows"] == 31
    assert [row["n"] for row in read_rows(tmp_path / "in.scored.parquet")] == list(range(31))
    claims = tmp_path / "claims.jsonl"
    count = score(path, sample=0.25, seed=7, overwrite=True, claims_out=str(claims))["rows"]
    found = [row["n"] for row in read_rows(tmp_path / "in.scored.parquet")]
    assert 20 < count == len(found) < 80 and found == sorted(set(found))
    assert {row["row"] for row in read_rows(claims)} <= set(found), "claims name positions in the input"
    score(path, sample=0.25, seed=8, overwrite=True)
    assert [row["n"] for row in read_rows(tmp_path / "in.scored.parquet")] != found


def test_summary_follows_its_definitions(tmp_path):
    path = write_rows(tmp_path / "in.parquet", sample_rows(90) + [{**sample_rows(1)[0], "answer": "..."}])
    summary = score(path, by="group")
    rows = read_rows(tmp_path / "in.scored.parquet")
    counted = [row for row in rows if row["status"] in ("scored", "no_context")]
    valued = [row["faithfulness"] for row in rows if row["faithfulness"] is not None]
    for status in ("scored", "no_claims", "no_context", "empty_answer", "error"):
        assert summary[status] == sum(row["status"] == status for row in rows)
    assert summary["no_claims"] == 1 and len(valued) == len(counted) + 1
    assert summary["mean_faithfulness"] == pytest.approx(sum(row["faithfulness"] for row in counted) / len(counted))
    assert summary["mean_all"] == pytest.approx(sum(valued) / len(valued))
    assert summary["claims"] == sum(row["n_claims"] for row in rows)
    assert summary["claims"] == summary["supported"] + summary["contradicted"] + summary["unsupported"]
    assert summary["micro_faithfulness"] == summary["supported"] / summary["claims"]
    assert summary["padding"] == 0.25 and summary["attention"] == "none" and summary["truncated_pairs"] == 0
    groups = summary["by"]["groups"]
    assert set(groups) == {"a", "b"} and sum(group["rows"] for group in groups.values()) == 91
    values = [row["faithfulness"] for row in counted if row["group"] == "a"]
    assert groups["a"]["mean_faithfulness"] == pytest.approx(sum(values) / len(values))
    names = "rows scored no_claims no_context empty_answer error mean_faithfulness mean_all micro_faithfulness claims "
    names += "supported contradicted unsupported pairs pairs_scored truncated_pairs padding seconds answers_per_second "
    names += "pairs_per_second model device dtype attention"
    assert " ".join(summary).startswith(names)


def test_a_run_without_rows_has_no_mean(tmp_path):
    (tmp_path / "in.csv").write_text("answer,contexts\n")
    summary = score(tmp_path / "in.csv")
    assert summary["rows"] == 0 and summary["mean_faithfulness"] is None and summary["micro_faithfulness"] is None
    assert (tmp_path / "in.scored.csv").read_text() == "answer,contexts," + ",".join(SCORE_NAMES) + "\n"


# Outputs ---------------------------------------------------------------------------------------------------------


def test_outputs_that_are_refused(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", sample_rows(5))
    for out, error, words in [
        (path, InputError, "one of the inputs"),
        (tmp_path / "x" / ".." / "in.jsonl", InputError, "one of the inputs"),
        (tmp_path / "out.xlsx", UsageError, r"\.parquet, \.jsonl, .* or \.csv\.gz"),
        ("s3://bucket/out.jsonl", UsageError, "local path"),
    ]:
        (tmp_path / "x").mkdir(exist_ok=True)
        with pytest.raises(error, match=words):
            score(path, out)
    with pytest.raises(UsageError, match="same file"):
        score(path, tmp_path / "out.jsonl", claims_out=str(tmp_path / "out.jsonl"))
    for inputs in ([str(path), str(path)[:-1] + "*"], str(tmp_path), f"{tmp_path}/*.jsonl"):
        with pytest.raises((UsageError, InputError), match="-o OUT|named twice"):
            score_file(StubScorer(), inputs)
    score(path)
    scored = (tmp_path / "in.scored.jsonl").read_bytes()
    with pytest.raises(InputError, match=r"exists already.*--overwrite"):
        score(path)
    (tmp_path / "claims.jsonl").write_text("mine")
    with pytest.raises(InputError, match=r"--claims-out .*exists already"):
        score(path, tmp_path / "other.jsonl", claims_out=str(tmp_path / "claims.jsonl"))
    assert (tmp_path / "in.scored.jsonl").read_bytes() == scored and not list(tmp_path.glob("*.parts"))
    score(path, overwrite=True)


@pytest.mark.parametrize("ending", [".parquet", ".jsonl", ".csv"])
def test_a_folder_keeps_the_parts(tmp_path, ending):
    rows = sample_rows(40)
    path = write_rows(tmp_path / f"in{ending}", rows)
    out = tmp_path / "out"
    score(path, f"{out}/")
    assert sorted(os.listdir(out)) == [f"part-0000{i}{ending}" for i in range(4)]
    assert [row["id"] for part in sorted(out.iterdir()) for row in read_rows(part)] == [row["id"] for row in rows]
    assert (tmp_path / "out.summary.json").exists() and not (tmp_path / "out.parts").exists()
    with pytest.raises(InputError, match="--overwrite"):
        score(path, out)
    score(path, out, overwrite=True, limit=20)
    assert len(os.listdir(out)) == 2
    (out / "thesis.txt").write_text("precious")
    with pytest.raises(InputError, match=r"'thesis\.txt'"):
        score(path, out, overwrite=True)
    assert (out / "thesis.txt").exists()


def test_a_place_where_nothing_can_be_written(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", sample_rows(5))
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"can't be made.*-o"):
        score(path, tmp_path / "file" / "out.jsonl")
    with pytest.raises(InputError, match=r"can't be made.*-o"):
        score(path, claims_out=str(tmp_path / "file" / "claims.jsonl"))
    score(path, tmp_path / "new" / "out.jsonl", claims_out=str(tmp_path / "newer" / "claims.jsonl"))


def test_the_model_is_not_loaded_for_what_is_refused(tmp_path):
    class Unloadable(StubScorer):
        def identity(self):
            raise AssertionError("loading takes a minute")

    path = write_rows(tmp_path / "in.jsonl", sample_rows(5))
    score(path)
    with pytest.raises(InputError, match="exists already"):
        score(path, scorer=Unloadable())


def test_a_folder_of_inputs_is_never_an_output(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    path = write_rows(folder / "part-00000.parquet", sample_rows(5))
    for inputs in (folder, path):
        with pytest.raises(InputError, match="folder of inputs"):
            score(inputs, f"{folder}/", overwrite=True)
    assert path.exists()


@pytest.mark.parametrize("out", ["out/", "out.csv"])
@pytest.mark.parametrize("overwrite", [True, False])
def test_a_crash_after_the_last_rename(tmp_path, monkeypatch, out, overwrite):
    path = write_rows(tmp_path / "in.csv", sample_rows(40))
    out = f"{tmp_path}/{out}"
    if overwrite:
        score(path, out, limit=5)
    with monkeypatch.context() as patch:
        patch.setattr(Parts, "remove", lambda parts: (_ for _ in ()).throw(MemoryError("the process dies here")))
        with pytest.raises(MemoryError):
            score(path, out, overwrite=overwrite)
    scorer = StubScorer()
    assert score(path, out, scorer)["rows"] == 40 and scorer.windows == []
    assert sum(len(read_rows(part)) for part in ([Path(out)] if out.endswith(".csv") else Path(out).iterdir())) == 40
    assert not list(tmp_path.glob("*.parts"))
    with pytest.raises(InputError, match="exists already"):
        score(path, out)


@pytest.mark.parametrize("out", ["out/", "out.csv"])
@pytest.mark.parametrize("name", ["manifest.json", "data", "finished", "lock"])
def test_a_crash_in_the_last_clean_up(tmp_path, monkeypatch, out, name):
    path = write_rows(tmp_path / "in.csv", sample_rows(40))
    out = f"{tmp_path}/{out}"
    score(path, out, limit=5)

    def dying(parts):
        for left in {name} & set(os.listdir(parts.folder)):
            one = parts.folder / left
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        raise MemoryError("the process dies here")

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "remove", dying)
        with pytest.raises(MemoryError):
            score(path, out, overwrite=True)
    scorer = StubScorer()
    assert score(path, out, scorer)["rows"] == 40 and scorer.windows == []
    assert not list(tmp_path.glob("*.parts"))


def test_strict_sees_errors_of_an_earlier_run(tmp_path, monkeypatch):
    rows = sample_rows(40)
    rows[3]["answer"] = True
    path = write_rows(tmp_path / "in.jsonl", rows)
    with pytest.raises(RuntimeError):
        score(path, scorer=StubScorer(2), id="id")
    with pytest.raises(InputError, match=r"Row 3 \(counted from 0, id 003\) can't be scored: .*without --strict"):
        score(path, strict=True, id="id")
    assert score(path, id="id")["error"] == 1
    with monkeypatch.context() as patch:
        patch.setattr(Parts, "remove", lambda parts: (_ for _ in ()).throw(MemoryError("the process dies here")))
        with pytest.raises(MemoryError):
            score(path, tmp_path / "out.jsonl", id="id")
    with pytest.raises(InputError, match=r"out.jsonl is finished, but 1 of its rows can't be scored"):
        score(path, tmp_path / "out.jsonl", strict=True, id="id")


def test_groups_are_counted_up_to_a_number(tmp_path, monkeypatch):
    monkeypatch.setattr(summary, "GROUPS_COUNTED", 20)
    monkeypatch.setattr(files, "GROUPS_COUNTED", 20)
    monkeypatch.setattr(summary, "GROUPS_SHOWN", 15)
    path = write_rows(tmp_path / "in.jsonl", sample_rows(100))
    lines: list[str] = []
    whole = score(path, tmp_path / "whole.jsonl", by="id", log=lines.append)["by"]
    assert (len(whole["groups"]), whole["groups_left_out"], whole["rows_left_out"]) == (15, 5, 85)
    assert any("'id' of --by has 20 values or more" in line for line in lines)
    with pytest.raises(RuntimeError):
        score(path, tmp_path / "again.jsonl", scorer=StubScorer(4), by="id")
    assert score(path, tmp_path / "again.jsonl", by="id")["by"] == whole
    few = score(path, tmp_path / "few.jsonl", by="group")["by"]
    assert (set(few["groups"]), few["groups_left_out"], few["rows_left_out"]) == ({"a", "b"}, 0, 0)


def test_a_bad_line_far_down_is_said_and_what_was_scored_before_it_stays(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", sample_rows(600))
    good = path.read_text()
    path.write_text(good + "{oops}\n")
    with pytest.raises(InputError, match="line 601 is not valid JSON"):
        score(path)
    with pytest.raises(InputError, match="line 601 is not valid JSON"):
        score(path)
    path.write_text(good)
    with pytest.raises(ResumeError, match=r"input\.0\.size"):
        score(path)
    assert score(path, overwrite=True)["rows"] == 600 and not list(tmp_path.glob("*.parts"))


def test_bad_input_leaves_nothing_to_be_at_odds_with(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"answer": "a", "contexts": "c"}\n{\n')
    with pytest.raises(InputError, match="line 2"):
        score(path, scorer=StubScorer())
    assert os.listdir(tmp_path) == ["in.jsonl"]


def test_the_disk_is_asked_before_the_join(tmp_path, monkeypatch):
    path = write_rows(tmp_path / "in.jsonl", sample_rows(30))
    with monkeypatch.context() as patch:
        patch.setattr(targets.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10}))
        with pytest.raises(InputError, match=r"MB are free.*nothing is scored twice"):
            score(path)
    scorer = StubScorer()
    assert score(path, scorer=scorer)["rows"] == 30 and scorer.windows == []


# Resume ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("windows", [0, 1, 4])
def test_an_interrupted_run_gives_equal_bytes(tmp_path, ending, windows):
    path = write_rows(tmp_path / f"in{ending}", sample_rows(100))
    options = {"by": "group", "sample": 0.8, "limit": 70, "id": "id"}
    whole, broken = tmp_path / f"whole{ending}", tmp_path / f"broken{ending}"
    expected = score(path, whole, claims_out=str(tmp_path / f"a{ending}"), **options)
    claims = str(tmp_path / f"b{ending}")
    with pytest.raises(KeyboardInterrupt):
        score(path, broken, StubScorer(windows, KeyboardInterrupt()), claims_out=claims, **options)
    assert not broken.exists() and not os.path.exists(claims)
    scorer = StubScorer()
    summary = score(path, broken, scorer, claims_out=claims, **options)
    assert len(scorer.windows) == 6 - windows
    assert broken.read_bytes() == whole.read_bytes()
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()
    assert without_times(summary) == without_times(expected)
    assert not list(tmp_path.glob("*.parts")) and not own_threads()


def test_interrupted_again_and_again(tmp_path):
    path = write_rows(tmp_path / "in.parquet", sample_rows(100))
    score(path, tmp_path / "whole.parquet")
    for _ in range(7):
        with pytest.raises(RuntimeError):
            score(path, tmp_path / "broken.parquet", StubScorer(1))
    score(path, tmp_path / "broken.parquet")
    assert (tmp_path / "broken.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.parametrize("stop", range(60))
def test_a_crash_at_any_rename_is_safe(tmp_path, monkeypatch, stop):
    """The process dies before its n-th rename; what it left behind is all the next one has."""
    path = write_rows(tmp_path / "in.jsonl", sample_rows(40))
    out, claims = tmp_path / "out.jsonl", str(tmp_path / "claims.csv")
    calls = itertools.count()
    rename = os.replace

    def dying(source, target):
        if next(calls) == stop:
            raise MemoryError("the process dies here")
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", dying)
        try:
            score(path, out, claims_out=claims)
        except MemoryError:
            assert not out.exists()
        else:
            assert next(calls) <= stop
            return
    score(path, out, claims_out=claims)
    assert [row["id"] for row in read_rows(out)] == [row["id"] for row in sample_rows(40)]
    score(path, tmp_path / "again.jsonl", claims_out=str(tmp_path / "again.csv"))
    assert out.read_bytes() == (tmp_path / "again.jsonl").read_bytes()
    assert (tmp_path / "claims.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


def test_a_killed_process_is_continued(tmp_path):
    """SIGKILL somewhere in the middle: no handler runs, the lock goes with the process, finished parts stay."""
    path = write_rows(tmp_path / "in.jsonl", sample_rows(400))
    code = """
        import sys, time
        from file_stubs import StubScorer
        from nli_faith.files import score_file
        class Slow(StubScorer):
            def score_window(self, rows, watch=None):
                time.sleep(0.02)
                return super().score_window(rows)
        score_file(Slow(), sys.argv[1], sys.argv[2], window_rows=13, progress=lambda p: print(p.rows, flush=True))
    """
    places = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1])])}
    args = [sys.executable, "-c", textwrap.dedent(code), str(path), str(tmp_path / "killed.jsonl")]
    with subprocess.Popen(args, stdout=subprocess.PIPE, env=os.environ | places) as process:
        for _ in range(5):
            process.stdout.readline()
        process.kill()
    assert (tmp_path / "killed.jsonl.parts").exists() and not (tmp_path / "killed.jsonl").exists()
    scorer = StubScorer()
    score(path, tmp_path / "killed.jsonl", scorer)
    assert 0 < len(scorer.windows) < 31
    score(path, tmp_path / "whole.jsonl")
    assert (tmp_path / "killed.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_what_changed_is_named(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", sample_rows(40))

    def interrupted(**options):
        with pytest.raises(RuntimeError):
            score(path, scorer=StubScorer(2), **options)

    interrupted()
    for change, words in [
        ({"limit": 10}, "options.limit was null and is now 10"),
        ({"answer": "question"}, "columns.answer was"),
        ({"scorer": StubScorer(model="other")}, 'scorer.model was "stub" and is now "other"'),
        ({"window_rows": 14}, "window.rows was 13 and is now 14"),
    ]:
        with pytest.raises(ResumeError, match=re.escape(words)):
            score(path, **change)
    write_rows(path, sample_rows(41))
    with pytest.raises(ResumeError, match=r"input\.0\.size"):
        score(path)
    scorer = StubScorer()
    assert score(path, scorer=scorer, overwrite=True)["rows"] == 41 and len(scorer.windows) == 4


@pytest.mark.parametrize("resumed", [False, True])
def test_an_input_that_changes_while_it_is_scored_is_said(tmp_path, resumed):
    path = write_rows(tmp_path / "in.jsonl", sample_rows(40))

    class Meddling(StubScorer):
        def score_window(self, rows, watch=None):
            if len(self.windows) == 1:
                path.write_bytes(path.read_bytes() + b'{"answer": "late", "contexts": []}\n')
            return super().score_window(rows)

    if resumed:
        with pytest.raises(RuntimeError):
            score(path, scorer=StubScorer(1))
    with pytest.raises(InputError, match=r"in.jsonl was changed while it was scored.*--overwrite"):
        score(path, scorer=Meddling())
    assert not (tmp_path / "in.scored.jsonl").exists()
    with pytest.raises(ResumeError, match=r"input\.0\.size"):
        score(path)
    assert score(path, overwrite=True)["rows"] == 41


def test_an_input_that_is_touched_or_taken_away_at_the_end_does_no_harm(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", sample_rows(40))

    class Meddling(StubScorer):
        def __init__(self, meddle):
            super().__init__()
            self.meddle = meddle

        def score_window(self, rows, watch=None):
            if len(self.windows) == 1:
                self.meddle(path)
            return super().score_window(rows)

    lines = []
    score(path, tmp_path / "a.jsonl", Meddling(lambda path: os.utime(path, (1, 1))), log=lines.append)
    assert any("was touched while it was scored" in line for line in lines)
    assert score(path, tmp_path / "b.jsonl", Meddling(os.unlink), window_rows=20)["rows"] == 40
    with pytest.raises(InputError, match="does not exist"):
        score(path, tmp_path / "c.jsonl")


def test_an_interrupted_overwrite_keeps_the_old_output_and_goes_on(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", sample_rows(40))
    score(path, limit=5)
    old = (tmp_path / "in.scored.jsonl").read_bytes()
    with pytest.raises(RuntimeError):
        score(path, scorer=StubScorer(2), overwrite=True)
    assert (tmp_path / "in.scored.jsonl").read_bytes() == old
    scorer = StubScorer()
    score(path, scorer=scorer)
    assert len(scorer.windows) == 2 and len(read_rows(tmp_path / "in.scored.jsonl")) == 40


def test_an_overwrite_goes_on_from_its_own_work_and_from_no_other(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", sample_rows(40))

    def windows_of(**options):
        scorer = StubScorer()
        score(path, scorer=scorer, **options)
        return len(scorer.windows)

    def interrupt(**options):
        with pytest.raises(RuntimeError):
            score(path, scorer=StubScorer(2), **options)

    interrupt(overwrite=True)
    assert windows_of(overwrite=True) == 2
    assert windows_of(overwrite=True) == 4  # that run is over, so this is another one
    interrupt(overwrite=True)
    assert windows_of(overwrite=True, drop_contexts=True) == 4
    interrupt(overwrite=True)
    (tmp_path / "in.scored.jsonl.parts" / "finished" / "part-00000.json").write_text("{")
    assert windows_of(overwrite=True) == 4
    (tmp_path / "in.scored.jsonl").unlink()
    interrupt()
    assert windows_of(overwrite=True) == 4


# Plan, progress, threads -----------------------------------------------------------------------------------------


def test_plan(tmp_path):
    path = write_rows(tmp_path / "in.parquet", sample_rows(50))
    made = plan(str(path), options=FileOptions(limit=20))
    assert made.output.endswith("in.scored.parquet") and made.total == 20 and made.output_bytes > 0
    assert [row.position for row in made.rows] == [0, 1, 2] and made.columns.answer == "answer"
    assert os.listdir(tmp_path) == ["in.parquet"]


@pytest.mark.parametrize(("ending", "shares"), [("parquet", [0.05, 0.1, 0.5, 1.0]), ("jsonl", [0.1, 0.2, 1.0, 1.0])])
def test_progress_inside_a_window(tmp_path, ending, shares):
    path = write_rows(tmp_path / f"in.{ending}", sample_rows(200))

    class Telling(StubScorer):
        def score_window(self, rows, watch=None):
            if not self.windows:
                for read in (10, 20, 100):  # of 100 pairs; with the last one the window is over
                    watch(read, 100)
            return super().score_window(rows)

    seen = []
    score_file(Telling(), str(path), progress=seen.append, window_rows=100)
    assert [progress.rows for progress in seen] == [10, 20, 100, 200]
    assert [progress.pairs for progress in seen][:2] == [10, 20]
    for progress, share in zip(seen, shares, strict=True):
        assert progress.share == pytest.approx(share)  # a small file of lines is read at once


def test_progress(tmp_path):
    path = write_rows(tmp_path / "in.csv", sample_rows(600))
    seen = []
    score_file(StubScorer(), str(path), progress=seen.append, window_rows=100)
    assert [progress.rows for progress in seen] == [100, 200, 300, 400, 500, 600]
    assert (
        all(a.share <= b.share for a, b in itertools.pairwise(seen))
        and seen[-1].share == 1.0
        and seen[-1].total is None
    )


def test_reading_ahead_is_bounded_and_ends():
    read = []

    def items():
        for number in range(100):
            read.append(number)
            yield number

    with read_ahead(items()) as ahead:
        assert next(ahead) == 0
        time.sleep(0.1)
        assert len(read) <= 4
    assert not own_threads()
    with read_ahead(range(100)) as ahead:
        assert list(ahead) == list(range(100))


def test_errors_cross_threads_after_the_items_before_them():
    def items():
        yield 1
        raise InputError("line 2")

    seen = []
    with pytest.raises(InputError, match="line 2"), read_ahead(items()) as ahead:
        for item in ahead:
            seen.append(item)
    assert seen == [1] and not own_threads()
