"""To the judge and back: what is sent, and how its verdicts are merged."""

from __future__ import annotations

import datetime
import errno
import gzip
import json
import os
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_fixtures import folder, run  # noqa: F401
from file_stubs import read_rows, write_rows
from prefilter_stubs import GivenScorer, given_rows, noisy, scored_file

from nli_faith import formats, judge
from nli_faith.files import score_file
from nli_faith.options import FileOptions

STATES = ("no_claims", "no_context", "empty_answer", "error")


def routed(run, folder, ending: str = ".jsonl", n: int = 60) -> list[dict]:
    """Triage `n` rows into t<ending> and j.jsonl; returns the rows for the judge."""
    support, _ = noisy(n)
    answers = [{"status": STATES[i // 6 % 4]} if i % 6 == 5 else {"s": [s, 0.9]} for i, s in enumerate(support)]
    scored_file(folder / f"a{ending}", given_rows(answers))
    assert run("triage", f"a{ending}", "-o", f"t{ending}", "--budget", 0.3, "--judge-out", "j.jsonl")[0] == 0
    return [json.loads(line) for line in open("j.jsonl")]


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_what_the_judge_gets(run, folder, ending):
    sent = routed(run, folder, ending)
    rows = read_rows(folder / f"t{ending}")
    assert [one["row"] for one in sent] == [i for i, row in enumerate(rows) if row["route"] == "judge"]
    for one in sent:
        row = rows[one["row"]]
        assert (one["id"], one["question"], one["answer"]) == (row["id"], row["question"], row["answer"])
        assert one["contexts"] == [f"chunk {one['row']}", ""] and one["risk"] == pytest.approx(float(row["risk"]), abs=1e-6)
        assert (one["error"] == "broken") == (row["status"] == "error")
        claims = json.loads(row["claims"]) if ending == ".csv" else row["claims"]
        wanted = [claim["text"] for claim in claims if claim["verdict"] == "unsupported"]
        assert [claim["text"] for claim in one["unsupported"]] == wanted
        assert all(claim["evidence"] == "evidence" and claim["chunk"] == 0 for claim in one["unsupported"])


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
@pytest.mark.parametrize("kind", ["row", "id"])
def test_a_perfect_judge_decides_its_rows(run, folder, ending, kind):
    sent = routed(run, folder, ending)
    truth = {one["row"]: one["row"] % 2 == 0 for one in sent}
    verdicts = [{kind: one[kind], "verdict": "PASS" if truth[one["row"]] else "FAIL"} for one in reversed(sent)]
    write_rows(folder / f"v{ending}", verdicts)
    status, out, err = run("merge", f"t{ending}", f"v{ending}")
    assert status == 0 and f"Wrote t.merged{ending}." in err and "null" not in out
    before, after = read_rows(folder / f"t{ending}"), read_rows(folder / f"t.merged{ending}")
    new = ("judge_faithful", "final_faithful", "final_source")
    assert [{k: v for k, v in row.items() if k not in new} for row in after] == before and list(after[0])[-3:] == list(new)
    read = {"true": True, "false": False, "": None}.get if ending == ".csv" else lambda value: value
    for position, row in enumerate(after):
        if row["route"] == "judge":
            assert read(row["final_faithful"]) == read(row["judge_faithful"]) == truth[position]
            assert row["final_source"] == "judge"
        else:
            assert read(row["final_faithful"]) == (row["route"] == "pass") and read(row["judge_faithful"]) is None
            assert row["final_source"] == "nli-faith"


def test_columns_of_views_go_to_the_judge(run, folder):
    support, _ = noisy(30)
    rows = given_rows([{"s": [s]} for s in support])
    kinds = {"id": pa.string_view(), "question": pa.string_view(), "answer": pa.string_view()}
    columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()}
    pq.write_table(pa.table(columns | {"contexts": [row["contexts"] for row in rows]}), folder / "in.parquet")
    score_file(GivenScorer(), "in.parquet", "a.parquet")
    words = ("-o", "t.parquet", "--budget", 0.3, "--judge-out", "j.jsonl")
    status, _, err = run("triage", "a.parquet", *words)
    assert status == 0, err
    sent = [json.loads(line) for line in open("j.jsonl")]
    assert len(sent) == 9 and all(one["answer"] == rows[one["row"]]["answer"] for one in sent)
    score_file(GivenScorer(), "in.parquet", "sample.parquet", FileOptions(sample=0.5))
    assert 5 < pq.read_metadata("sample.parquet").num_rows < 25


@pytest.mark.parametrize("failing", ["judge_lines", "join"])
def test_both_files_of_triage_or_none(run, folder, monkeypatch, failing):
    support, _ = noisy(30)
    scored_file(folder / "a.jsonl", given_rows([{"s": [s]} for s in support]))
    before = sorted(os.listdir(folder))

    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    words = ("triage", "a.jsonl", "-o", "t.jsonl", "--budget", 0.3, "--judge-out", "j.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr(judge if failing == "judge_lines" else formats.LineFormat, failing, full)
        status, _, err = run(*words)
    assert status == 1 and "can't be written: No space left" in err
    assert sorted(os.listdir(folder)) == before
    assert run(*words)[0] == 0


def test_positions_of_any_spelling(run, folder):
    sent = routed(run, folder)
    for name, spell in (("v.csv", lambda row: f"{row}.0"), ("w.csv", lambda row: f" {row:03d}"), ("x.jsonl", float)):
        write_rows(folder / name, [{"row": spell(one["row"]), "faithful": True} for one in sent])
        status, out, err = run("merge", "t.jsonl", name, "-o", "m.jsonl", "--overwrite")
        assert status == 0 and f"{len(sent)} of them decided by the judge" in out, err
    write_rows(folder / "y.csv", [{"row": "1.5", "faithful": True}])
    assert "row is '1.5' name no single row" in run("merge", "t.jsonl", "y.csv", "-o", "m.jsonl", "--overwrite")[2]
    # An id is a text: 1.0 and 1 may be two versions.
    rows = [row | {"id": f"{i}.0"} for i, row in enumerate(read_rows(folder / "t.jsonl"))]
    write_rows(folder / "ids.jsonl", rows)
    write_rows(folder / "z.csv", [{"id": "1", "faithful": True}])
    assert "id is '1' name no single row" in run("merge", "ids.jsonl", "z.csv", "-o", "n.jsonl")[2]


def test_missing_and_spare_verdicts_are_counted(run, folder):
    sent = routed(run, folder)
    rows = read_rows(folder / "t.jsonl")
    spare = next(i for i, row in enumerate(rows) if row["route"] == "pass")
    verdicts = [{"row": one["row"], "faithful": True} for one in sent[2:]] + [{"row": sent[1]["row"], "faithful": None}]
    write_rows(folder / "v.jsonl", [*verdicts, {"row": spare, "faithful": False}])
    status, out, _ = run("merge", "t.jsonl", "v.jsonl", "-o", "m.parquet")
    assert status == 0 and "2 rows for the judge have no verdict" in out and "1 verdicts are of rows" in out
    merged = read_rows(folder / "m.parquet")
    assert [merged[sent[i]["row"]]["final_faithful"] for i in (0, 1)] == [None, None]
    assert merged[sent[0]["row"]]["final_source"] is None
    assert (merged[spare]["judge_faithful"], merged[spare]["final_faithful"]) == (False, True)
    counts = json.loads(run("merge", "t.jsonl", "v.jsonl", "-o", "n.jsonl", "--json")[1])
    assert counts["missing"] == 2 and counts["faithful"] + counts["unfaithful"] == 58


def test_refusals(run, folder):
    sent = routed(run, folder)
    first = sent[0]["row"]

    def refused(word: str, verdicts: list[dict], *words: str) -> None:
        write_rows(folder / "v.jsonl", verdicts)
        status, _, err = run("merge", "t.jsonl", "v.jsonl", *words)
        assert status == 1 and word in err and err.count("nli-faith:") == 1, err
        assert not (folder / "t.merged.jsonl").exists()

    refused("row is '999', '-1' name no single row of 60", [{"row": 999, "label": 1}, {"row": -1, "label": 1}])
    refused(f"'{first}' are there more than once", [{"row": first, "label": 1}, {"row": first, "label": 0}])
    refused("id is 'nobody'", [{"id": "nobody", "label": 1}])
    refused("'unsure' (1 row, first 1)", [{"row": first, "verdict": "PASS"}, {"row": first + 1, "verdict": "unsure"}])
    refused("has no column 'row' or 'id'", [{"key": 1, "label": 1}])
    refused("no column 'key'", [{"key": 1, "label": 1}], "--id", "key")
    refused("--verdict", [{"row": first, "says": 1}])
    write_rows(folder / "v.jsonl", [{"row": first, "label": 1}])
    assert "no column 'route'" in run("merge", "a.jsonl", "v.jsonl")[2]
    assert run("merge", "t.jsonl", "v.jsonl", "-o", "v.jsonl", "--overwrite")[0] == 1
    assert run("merge", "t.jsonl", "v.jsonl")[0] == 0
    assert "exists already" in run("merge", "t.jsonl", "v.jsonl")[2]
    assert "already has the columns" in run("merge", "t.merged.jsonl", "v.jsonl")[2]


def test_our_own_verdict_is_never_the_judges(run, folder):
    sent = routed(run, folder)
    ours = [row | {"row": i, "verdict": "FAIL"} for i, row in enumerate(read_rows(folder / "t.jsonl"))]
    write_rows(folder / "v.jsonl", [ours[one["row"]] for one in sent])
    status, _, err = run("merge", "t.jsonl", "v.jsonl")
    assert status == 1 and "v.jsonl has the columns faithful, verdict, of which only one" in err and "--verdict COLUMN" in err
    assert run("merge", "t.jsonl", "v.jsonl", "--verdict", "verdict")[0] == 0
    merged = read_rows(folder / "t.merged.jsonl")
    assert {merged[one["row"]]["final_faithful"] for one in sent} == {False}
    for beside in ("status", "min_support"):
        names = ("row", "faithful", beside)
        write_rows(folder / "w.jsonl", [{name: ours[one["row"]][name] for name in names} for one in sent])
        status, _, err = run("merge", "t.jsonl", "w.jsonl", "-o", "m.jsonl")
        assert status == 1 and f"'faithful' stands beside '{beside}'" in err and "--verdict COLUMN" in err
    write_rows(folder / "x.jsonl", [{"row": one["row"], "label": 1, "verdict": True} for one in sent])
    assert "label, verdict" in run("merge", "t.jsonl", "x.jsonl", "-o", "m.jsonl")[2]


def test_rows_that_were_renumbered_are_refused(run, folder):
    sent = routed(run, folder)
    write_rows(folder / "v.jsonl", [{"row": i, "id": one["id"], "verdict": "PASS"} for i, one in enumerate(sent)])
    status, _, err = run("merge", "t.jsonl", "v.jsonl")
    wrong = next(i for i, one in enumerate(sent) if one["row"] != i)
    assert status == 1 and f"row {wrong} has the id '{sent[wrong]['id']}', and row {wrong} of the routed file 'r{wrong}'" in err
    assert not (folder / "t.merged.jsonl").exists()
    some = [{"row": one["row"], "id": one["id"] if i % 2 else None, "verdict": True} for i, one in enumerate(sent)]
    write_rows(folder / "v.jsonl", some)
    status, _, err = run("merge", "t.jsonl", "v.jsonl")
    assert status == 0 and "1, true or yes in the column 'verdict' was read as faithful." in err


@pytest.mark.parametrize("ids", [
    [7, 8, 9], [1.5, 2.5, 3.5], ["007", "008", "009"], [datetime.datetime(2026, 1, day) for day in (1, 2, 3)],
    [uuid.UUID(int=i).bytes for i in (1, 2, 3)],
])  # fmt: skip
def test_ids_of_any_type_are_those_that_were_sent(run, folder, ids):
    rows = [row | {"id": id} for row, id in zip(given_rows([{"s": [0.5]}] * 3), ids, strict=True)]
    write_rows(folder / "in.parquet", rows)
    score_file(GivenScorer(), "in.parquet", "a.parquet", FileOptions(id="id"))
    assert run("triage", "a.parquet", "-o", "t.parquet", "--budget", 1, "--judge-out", "j.jsonl")[0] == 0
    sent = [json.loads(line) for line in open("j.jsonl")]
    for name, keys in (("both.jsonl", ("row", "id")), ("ids.csv", ("id",))):
        write_rows(folder / name, [{key: one[key] for key in keys} | {"verdict": "FAIL"} for one in sent])
        status, _, err = run("merge", "t.parquet", name, "-o", f"m-{name}.parquet")
        assert status == 0, err


@pytest.mark.parametrize("name", ["j.jsonl", "v.csv", "v.json", "v.jsonl.gz"])
def test_an_empty_file_of_verdicts_holds_none(run, folder, name):
    scored_file(folder / "a.jsonl", given_rows([{"s": [0.9]}] * 3))
    run("triage", "a.jsonl", "-o", "t.jsonl", "--judge-out", "j.jsonl")
    assert (folder / "j.jsonl").read_bytes() == b""
    data = {"v.json": b"[]", "v.jsonl.gz": gzip.compress(b"")}.get(name, b"")
    (folder / name).write_bytes(data)
    status, out, err = run("merge", "t.jsonl", name)
    assert status == 0 and f"{name} is empty: no verdicts." in err and "faithful    3" in out
    assert [row["final_source"] for row in read_rows(folder / "t.merged.jsonl")] == ["nli-faith"] * 3


def test_ids_are_one_whatever_a_format_makes_of_them(run, folder):
    support, _ = noisy(30)
    rows = [row | {"id": i} for i, row in enumerate(given_rows([{"s": [s]} for s in support]))]
    scored_file(folder / "a.csv", rows)
    run("triage", "a.csv", "-o", "t.csv", "--budget", 1)
    write_rows(folder / "v.parquet", [{"id": float(i), "label": i % 2} for i in range(30)])
    assert run("merge", "t.csv", "v.parquet")[0] == 0
    assert [row["final_faithful"] for row in read_rows(folder / "t.merged.csv")] == ["false", "true"] * 15
