"""The command line: what it accepts, what it prints, how it ends. Almost all in one process and with the fake model."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import fsspec
import pyarrow.parquet as pq
import pytest
from cli_fixtures import folder, run  # noqa: F401
from file_stubs import read_rows, sample_rows, write_rows

from nli_faith import __version__, cli
from nli_faith.arguments import make_parser
from nli_faith.options import FileOptions, ModelOptions, ScoreOptions
from nli_faith.outputs import CLAIM_FILE_NAMES, CLAIM_NAMES, SCORE_NAMES

ROOT = Path(__file__).parent.parent
ENDINGS = [".parquet", ".jsonl", ".jsonl.gz", ".json", ".csv", ".csv.gz"]
SUMMARY = (
    "rows, scored, no_claims, no_context, empty_answer, error, mean_faithfulness, mean_all, micro_faithfulness, claims,"
    " supported, contradicted, unsupported, pairs, pairs_scored, truncated_pairs, padding, seconds, answers_per_second,"
    " pairs_per_second, model, device, dtype, attention"
).split(", ")
SUMMARY_EXTRAS = (
    "model_hash, window, granularity, labels, joined_evidence, prefix_pronouns, strict_numbers, claim_rule, fp32_retries, out_of_memory,"
    " unmeasured_language"
).split(", ")


@pytest.fixture
def score(run):
    """`nli-faith score --model fake`, which must succeed."""

    def score(*words: object):
        status, out, err = run("score", *words, "--model", "fake")
        assert status == 0, err
        return out, err

    return score


def environment() -> dict:
    return os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}


# Inputs and outputs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_default_output_stands_beside_the_input(score, folder, ending):
    write_rows(folder / f"in{ending}", sample_rows(12))
    out, err = score(f"in{ending}")
    rows = read_rows(folder / f"in.scored{ending}")
    assert len(rows) == 12 and list(rows[0]) == [*sample_rows(1)[0], *SCORE_NAMES]
    assert "Columns taken: answer: answer, contexts: contexts, question: question." in err
    assert f"Wrote in.scored{ending}." in err
    assert not (folder / f"in.scored{ending}.parts").exists()
    assert json.loads((folder / f"in.scored{ending}.summary.json").read_text())["rows"] == 12


def test_a_folder_a_glob_several_files_and_a_url(score, folder):
    (folder / "in").mkdir()
    for name in ("a", "b"):
        write_rows(folder / "in" / f"{name}.jsonl", sample_rows(5))
    for name, words in {"1": ["in"], "2": ["in/*.jsonl"], "3": ["in/a.jsonl", "in/b.jsonl"]}.items():
        score(*words, "-o", f"{name}.jsonl")
        assert len(read_rows(folder / f"{name}.jsonl")) == 10
    with fsspec.open("memory://cli/rows.jsonl", "wb") as file:
        file.write((folder / "in" / "a.jsonl").read_bytes())
    score("memory://cli/rows.jsonl", "-o", "4.jsonl")
    assert read_rows(folder / "4.jsonl") == read_rows(folder / "1.jsonl")[:5]


def test_outputs_of_earlier_runs_are_no_inputs(score, folder):
    write_rows(folder / "in.jsonl", sample_rows(5))
    score("in.jsonl")
    _, err = score(".", "-o", "../out.jsonl")
    assert "Skipped" in err and len(read_rows(folder.parent / "out.jsonl")) == 5
    (folder.parent / "out.jsonl").unlink()


def test_the_ending_of_the_output_sets_the_format(score, folder):
    write_rows(folder / "in.jsonl", sample_rows(5))
    score("in.jsonl", "-o", "out.parquet")
    assert pq.read_table(folder / "out.parquet").column_names[-len(SCORE_NAMES) :] == list(SCORE_NAMES)
    score("in.jsonl", "-o", "parts/")
    assert [path.name for path in (folder / "parts").iterdir()] == ["part-00000.jsonl"]


@pytest.mark.parametrize("words", [["in"], ["in/*.jsonl"], ["in/a.jsonl", "in/b.jsonl"], ["memory://cli/rows.jsonl"]])
def test_where_there_is_no_default_output(run, folder, words):
    (folder / "in").mkdir()
    for name in ("a", "b"):
        write_rows(folder / "in" / f"{name}.jsonl", sample_rows(2))
    with fsspec.open("memory://cli/rows.jsonl", "wb") as file:
        file.write((folder / "in" / "a.jsonl").read_bytes())
    status, _, err = run("score", *words, "--model", "fake")
    assert status == 2 and "-o OUT" in err


# The summary -----------------------------------------------------------------------------------------------------


def test_json_is_one_object_of_the_documented_keys(score, folder):
    write_rows(folder / "in.jsonl", sample_rows(20))
    out, _ = score("in.jsonl", "--json")
    summary = json.loads(out)
    assert out.count("\n") == 1 and list(summary) == [*SUMMARY, *SUMMARY_EXTRAS]
    assert summary == json.loads((folder / "in.scored.jsonl.summary.json").read_text())
    assert summary["rows"] == 20 and summary["truncated_pairs"] == 0
    assert summary["model"] == "fake" and summary["device"] == "cpu"


def test_the_table_is_for_people(score, folder):
    write_rows(folder / "in.jsonl", sample_rows(20))
    out, _ = score("in.jsonl")
    lines = dict(re.findall(r"^ *(\w+) +([\d,.]+)", out, re.M))
    summary = json.loads((folder / "in.scored.jsonl.summary.json").read_text())
    for name in ("rows", "scored", "no_context", "empty_answer", "claims", "supported", "unsupported", "contradicted"):
        assert int(lines[name]) == summary[name]
    assert float(lines["faithfulness"]) == round(summary["mean_faithfulness"], 4)
    told = r"^Made up \(no chunk states it\): \d+ claims?\. Garbled \(a chunk says otherwise\): \d+\.$"
    assert re.search(told, out, re.M)
    assert "\x1b" not in out and max(map(len, out.splitlines())) < 160


def test_groups(score, folder):
    write_rows(folder / "in.jsonl", sample_rows(20))
    out, _ = score("in.jsonl", "--by", "group", "--json")
    by = json.loads(out)["by"]
    assert by["column"] == "group" and set(by["groups"]) == {"a", "b"} and by["groups_left_out"] == 0
    assert by["groups"]["a"]["rows"] == 10
    out, _ = score("in.jsonl", "--by", "group", "--overwrite")
    assert re.search(r"^group +rows +faithfulness +claims +unsupported +contradicted\s*$", out, re.M)


def test_quiet(score, folder):
    write_rows(folder / "in.jsonl", sample_rows(5))
    out, err = score("in.jsonl", "--quiet")
    assert err == "" and out.startswith("rows")


# Flags of score --------------------------------------------------------------------------------------------------


def test_limit_and_sample(score, folder):
    write_rows(folder / "in.jsonl", sample_rows(200))
    score("in.jsonl", "--limit", 3)
    assert [row["n"] for row in read_rows(folder / "in.scored.jsonl")] == [0, 1, 2]
    for seed in (0, 1):
        score("in.jsonl", "--sample", 0.2, "--seed", seed, "-o", f"{seed}.jsonl")
    first, second = (read_rows(folder / f"{seed}.jsonl") for seed in (0, 1))
    assert 15 < len(first) < 70 and [row["n"] for row in first] != [row["n"] for row in second]


def test_drop_contexts_and_claims_out(score, folder):
    write_rows(folder / "in.jsonl", sample_rows(6))
    score("in.jsonl", "--drop-contexts", "--claims-out", "claims.csv", "--id", "id")
    rows, units = read_rows(folder / "in.scored.jsonl"), read_rows(folder / "claims.csv")
    assert "contexts" not in rows[0] and "answer" in rows[0]
    assert list(units[0]) == list(CLAIM_FILE_NAMES)
    assert [unit["text"] for unit in units] == [claim["text"] for row in rows for claim in row["claims"]]
    assert list(rows[0]["claims"][0]) == list(CLAIM_NAMES) and {unit["id"] for unit in units} <= {r["id"] for r in rows}


def test_columns_by_flag(score, folder):
    rows = [{"q": "Why?", "text": "It rains.", "found": ["It rains."], "key": 7}]
    write_rows(folder / "in.jsonl", rows)
    _, err = score("in.jsonl", "--question", "q", "--answer", "text", "--contexts", "found", "--id", "key")
    assert "answer: text, contexts: found, question: q, id: key" in err


def test_overwrite(run, score, folder):
    write_rows(folder / "in.jsonl", sample_rows(5))
    score("in.jsonl")
    status, _, err = run("score", "in.jsonl", "--model", "fake")
    assert status == 1 and "in.scored.jsonl exists already" in err and "--overwrite" in err
    score("in.jsonl", "--overwrite", "--limit", 2)
    assert len(read_rows(folder / "in.scored.jsonl")) == 2


def test_overwrite_columns(run, score, folder):
    write_rows(folder / "in.jsonl", [{"answer": "It rains.", "contexts": ["It rains."], "claims": "mine"}])
    status, _, err = run("score", "in.jsonl", "--model", "fake")
    assert status == 1 and "already has the column claims" in err and "--overwrite-columns" in err
    score("in.jsonl", "--overwrite-columns")
    assert isinstance(read_rows(folder / "in.scored.jsonl")[0]["claims"], list)


def test_strict(run, score, folder):
    rows = [{"answer": "It rains.", "contexts": contexts} for contexts in (["x y"], 7)]
    write_rows(folder / "in.jsonl", rows)
    out, err = score("in.jsonl", "-o", "out.jsonl")
    assert "Row 1 (counted from 0) can't be scored" in err and "error" in out
    assert read_rows(folder / "out.jsonl")[1]["status"] == "error"
    status, _, err = run("score", "in.jsonl", "--model", "fake", "--strict")
    assert status == 1 and "Row 1" in err and not (folder / "in.scored.jsonl").exists()


def test_min_faithfulness(run, score, folder):
    write_rows(folder / "in.jsonl", sample_rows(20))
    score("in.jsonl", "--min-faithfulness", 0)
    status, out, err = run("score", "in.jsonl", "--model", "fake", "--overwrite", "--min-faithfulness", "1.0")
    assert status == 3 and "below --min-faithfulness 1.0" in err and out.startswith("rows")
    write_rows(folder / "none.jsonl", [{"answer": None, "contexts": ["x"]}])
    status, _, err = run("score", "none.jsonl", "--model", "fake", "--min-faithfulness", "0")
    assert status == 3 and "no mean" in err


def test_rules(score, folder):
    rows = [{"answer": answer, "contexts": ["x"]} for answer in ("Hello!", "It is. It was.")]
    write_rows(folder / "in.jsonl", rows)
    score("in.jsonl", "--no-claims", "null", "--granularity", "answer", "--threshold", "0.9999")
    rows = read_rows(folder / "in.scored.jsonl")
    assert rows[0]["faithfulness"] is None and rows[0]["status"] == "no_claims"
    assert rows[1]["n_units"] == 1 and rows[1]["n_supported"] == 0


def test_dry_run_writes_nothing(score, folder):
    write_rows(folder / "in.parquet", sample_rows(12))
    before = sorted(path.name for path in folder.iterdir())
    out, _ = score("in.parquet", "--dry-run")
    assert "in.scored.parquet" in out and "Answer 0 is short." in out and re.search(r"^rows +12$", out, re.M)
    assert "answer: answer" in out and "pairs/s" in out
    shown = json.loads(score("in.parquet", "--dry-run", "--json")[0])
    keys = "inputs output columns first_rows rows pairs_per_second seconds output_bytes"
    assert list(shown) == keys.split()
    assert shown["rows"] == 12 and len(shown["first_rows"]) == 3
    assert list(shown["first_rows"][0]) == ["row", "error", "chunks", "windows", "units"]
    assert sorted(path.name for path in folder.iterdir()) == before
    (folder / "in.scored.parquet").write_bytes(b"x")
    assert "exists; a run needs --overwrite" in score("in.parquet", "--dry-run")[0]


# Errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["score", "missing.jsonl"], 1, "missing.jsonl does not exist"),
        (["score", "in.jsonl", "--answer", "anwser"], 1, "no column 'anwser', which --answer names. Did you mean"),
        (["score", "in.jsonl", "--by", "nothing"], 1, "no column 'nothing', which --by names"),
        (["score", "other.csv"], 1, "Name it with --answer COLUMN. Its columns are: a, b."),
        (["score", "in.jsonl", "-o", "out.xyz"], 2, "no known ending"),
        (["score", "in.jsonl", "-o", "s3://bucket/out.jsonl"], 2, "must be a local path"),
        (["score", "in.jsonl", "-o", "in.jsonl"], 1, "one of the inputs"),
        (["score", "in.jsonl", "--device", "tpu"], 2, "'tpu' is no device"),
        (["score", "in.jsonl", "--device", "cuda:99"], 1, "cuda:99 is not there"),
        (["score", "in.jsonl", "--model", "./nowhere"], 1, "./nowhere does not exist"),
        (["score", "in.jsonl", "--model", "bare"], 1, "config.json does not exist"),
        (["score", "in.jsonl", "--model", "other.csv"], 1, "other.csv is a file"),
        (["score", "in.jsonl", "--labels", "a,b,c"], 1, "--labels entailment,neutral,contradiction"),
        (["score", "in.jsonl", "--threshold", "2"], 2, "threshold 2.0 is not above 0 and at most 1"),
        (["score", "in.jsonl", "--threshold", "high"], 2, "neither argmax nor a number"),
        (["score", "in.jsonl", "--min-faithfulness", "2"], 2, "not between 0 and 1"),
        (["score", "in.jsonl", "--limit", "0"], 2, "--limit 0"),
        (["score", "in.jsonl", "--sample", "1.5"], 2, "--sample 1.5"),
        (["score", "in.jsonl", "--over"], 2, "unrecognized arguments: --over"),
        (["score"], 2, "INPUT"),
        (["check", "--answer", "a"], 2, "--context"),
        (["check", "--answer", "a", "--context", "@none.txt"], 1, "'none.txt' can't be read"),
        (["check", "--answer", "a", "--context", "b", "--model", "./nowhere"], 1, "./nowhere does not exist"),
        (["doctor", "--model", "./nowhere"], 1, "./nowhere does not exist"),
        (["nonsense"], 2, "invalid choice"),
        ([], 2, "COMMAND"),
    ],
)
def test_errors_are_one_sentence(run, folder, words, status, said):
    write_rows(folder / "in.jsonl", sample_rows(2))
    (folder / "other.csv").write_text("a,b\n1,2\n")
    (folder / "bare").mkdir()
    before = sorted(folder.iterdir())
    got, out, err = run(*words)
    assert got == status and said in err and out == ""
    assert sorted(folder.iterdir()) == before


def test_data_cannot_command_the_terminal(run, folder):
    evil = "\x1b[31mred\x1b]0;title\x07"
    row = {"answer": f"It is {evil}.", "contexts": [f"It {evil}."], f"g{evil}[bold]": f"[red]{evil}"}
    write_rows(folder / "in.jsonl", [row])
    printed = [
        run("score", "in.jsonl", "--model", "fake", "--by", f"g{evil}[bold]"),
        run("score", "in.jsonl", "--model", "fake", "--dry-run"),
        run("score", "in.jsonl", "--model", "fake", "--answer", evil),
        run("check", "--model", "fake", "--answer", f"It is {evil}.", "--context", f"It {evil}."),
        run("check", "--model", "fake", "--answer", "It is.", "--context", f"@{evil}"),
    ]
    for _, out, err in printed:
        assert "\x1b" not in out + err and "\x07" not in out + err
    assert "[bold]" in printed[0][1] and "[red]" in printed[0][1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_goes_on(folder, number):
    rows = [{"answer": f"Answer {i} is here.", "contexts": ["A chunk."]} for i in range(8 * 2048 + 1)]
    write_rows(folder / "in.jsonl", rows)
    command = [sys.executable, "-m", "nli_faith", "score", "in.jsonl", "--model", "fake"]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list(folder.glob("in.scored.jsonl.parts/data/*.jsonl")):
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "the same command goes on from there" in err and "Traceback" not in err
    assert not (folder / "in.scored.jsonl").exists()
    if number == signal.SIGTERM:  # what is left behind is the same
        return
    again = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert again.returncode == 0 and re.search(r"Going on after \d+ finished rows", again.stderr)
    assert [row["answer"] for row in read_rows(folder / "in.scored.jsonl")] == [row["answer"] for row in rows]


# The other commands ----------------------------------------------------------------------------------------------


def test_check_says_what_is_supported(run):
    answer = "The shop opens at nine in the morning. The shop never closes."
    context = "The shop opens at nine in the morning and closes at six."
    status, out, _ = run("check", "--answer", answer, "--context", "Bread is baked daily.", "--context", context)
    assert status == 0
    assert re.search(r"^✓ supported.*\n    The shop opens at nine.*\n    evidence \(chunk 1\): The shop", out)
    assert re.search(r"^[✗?] (contradicted|unsupported).*\n    The shop never closes\.", out, re.M)
    assert out.splitlines()[-1].startswith("faithfulness 0.50: 1 of 2 claims supported; answer verdict: not faithful")


def test_check_json_and_file(run, folder):
    (folder / "chunk.txt").write_text("The cat sleeps on the red sofa.\n", encoding="utf-8-sig")
    status, out, _ = run("check", "--answer", "The cat sleeps on the red sofa.", "--context", "@chunk.txt", "--json")
    score = json.loads(out)
    assert status == 0 and list(score) == list(SCORE_NAMES)
    assert score["faithfulness"] == 1.0 and score["claims"][0]["verdict"] == "supported"
    assert list(score["claims"][0]) == list(CLAIM_NAMES)


def test_check_reads_a_fragment_with_its_question(run):
    words = ["check", "--answer", "15", "--context", "There are 15 days.", "--model", "fake"]
    assert "read as: How many days are there? 15" in run(*words, "--question", "How many days are there?")[1]
    assert "read as" not in run(*words)[1]


@pytest.mark.parametrize(
    ("answer", "context", "said"),
    [
        ("", "x", "empty_answer: the answer is empty; faithfulness none"),
        ("Hello!", "x", "no_claims"),
        ("It rains.", " ", "faithfulness 0.00: 0 of 1 claims supported (nothing was retrieved)"),
    ],
)
def test_check_states(run, answer, context, said):
    status, out, _ = run("check", "--answer", answer, "--context", context, "--model", "fake")
    assert status == 0 and said in out


def test_models(run):
    status, out, _ = run("models")
    assert status == 0 and "nli-faith-xsmall" in out
    (card,) = [card for card in json.loads(run("models", "--json")[1]) if card["name"] == "nli-faith-xsmall"]
    assert card["labels"] == ["entailment", "neutral", "contradiction"]


def test_doctor(run):
    status, out, _ = run("doctor")
    assert status == 0 and "✓ obvious pairs" in out and "✓ tokenizer" in out and "device" in out
    status, out, _ = run("doctor", "--model", "fake", "--json")
    findings = json.loads(out)
    assert status == 0 and findings["ok"] and list(findings) == ["facts", "checks", "advice", "ok"]


def test_version_and_help(run):
    assert run("--version")[:2] == (0, f"nli-faith {__version__}\n")
    for words in ([], ["score"], ["check"], ["models"], ["doctor"]):
        status, out, _ = run(*words, "--help")
        assert status == 0 and out.startswith("usage: nli-faith") and "show this help" in out


def test_help_and_version_import_nothing_heavy():
    code = (
        "import sys; from nli_faith.cli import main; main(['score', '--help']); main(['--version']);"
        "heavy = {'torch', 'transformers', 'pyarrow', 'nltk', 'rich'} & set(sys.modules);"
        "sys.exit(repr(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_pipe_that_closes_and_a_terminal_without_unicode():
    command = [sys.executable, "-m", "nli_faith", "models"]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(command, env=environment(), stdout=closed, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0 and done.stderr == ""
    words = ["check", "--model", "fake", "--answer", "Ünï \U0001f600 is.", "--context", "x y"]
    ascii_only = environment() | {"PYTHONIOENCODING": "ascii"}
    for more in ([], ["--json"]):
        done = subprocess.run([*command[:3], *words, *more], env=ascii_only, capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == ""
    assert json.loads(done.stdout)["claims"][0]["text"] == "Ünï \U0001f600 is."


def closed_pipe(*words: str, code: str = "", **streams) -> subprocess.CompletedProcess:
    """A command whose stdout nobody reads; `code` runs before it."""
    reading, writing = os.pipe()
    os.close(reading)
    script = f"import sys\nfrom nli_faith import cli\n{code}\nsys.exit(cli.main(sys.argv[1:]))"
    with os.fdopen(writing, "wb") as closed:
        streams = {"stdout": closed, "stderr": subprocess.PIPE} | {name: closed for name in streams}
        return subprocess.run([sys.executable, "-c", script, *words], env=environment(), text=True, **streams)


def test_a_reader_that_goes_changes_no_status(folder, run):
    write_rows(folder / "in.jsonl", sample_rows(20))
    done = closed_pipe("score", "in.jsonl", "--model", "fake", "--quiet", "--min-faithfulness", "1")
    assert done.returncode == 3 and "is below --min-faithfulness" in done.stderr and "Traceback" not in done.stderr
    assert len(read_rows(folder / "in.scored.jsonl")) == 20
    for words in (["models"], ["--help"], ["score", "--help"], ["score", "in.jsonl", "--model", "fake", "--dry-run"],
                  ["check", "--model", "fake", "--answer", "A b.", "--context", "c"]):  # fmt: skip
        done = closed_pipe(*words)
        assert done.returncode == 0 and "Traceback" not in done.stderr and "Exception" not in done.stderr, done.stderr
    bad = "from nli_faith import doctor\ndoctor.examine = lambda scorer: dict(facts={}, checks=[], advice=[], ok=False)"
    assert closed_pipe("doctor", "--model", "fake", code=bad).returncode == 1
    rows = [row | {"label": i % 2} for i, row in enumerate(sample_rows(60))]
    write_rows(folder / "few.jsonl", rows[:40])
    assert run("score", "few.jsonl", "--model", "fake")[0] == 0
    done = closed_pipe("calibrate", "few.scored.jsonl", "-o", "c.json")
    assert done.returncode == 1 and "too few for a threshold" in done.stderr and "Traceback" not in done.stderr
    # Nobody hears of the work any more, and it is not done: that is no success.
    done = closed_pipe("score", "in.jsonl", "-o", "new.jsonl", "--model", "fake", stderr=True)
    assert done.returncode != 0 or (folder / "new.jsonl").exists()


# Laws ------------------------------------------------------------------------------------------------------------


def test_early_exit_gives_the_same_verdicts_from_fewer_pairs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"answer": "One is here. Two are there now. Three came.", "contexts": [f"{'word ' * n}end." for n in range(1, 9)]}
        for _ in range(3)
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = {}
    for name, flags in (("all", []), ("early", ["--early-exit"])):
        assert cli.main(["score", "in.jsonl", "-o", f"{name}.jsonl", "--model", "fake", "--json", "--quiet", *flags]) == 0
        summary = json.loads(capsys.readouterr().out)
        scored = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
        verdicts = [[claim["verdict"] for claim in row["claims"]] for row in scored]
        found[name] = summary["pairs"], summary["pairs_scored"], verdicts
        if flags:
            supported = [claim for row in scored for claim in row["claims"] if claim["verdict"] == "supported"]
            assert supported and all(claim["exhaustive"] is False and claim["conflict"] is None for claim in supported)
    assert found["early"][0] == found["all"][0] and found["early"][2] == found["all"][2]
    assert found["early"][1] < found["all"][1]


def flags(command: str) -> set[str]:
    """The long flags of a command, and -o."""
    (choices,) = [action.choices for action in make_parser()._actions if action.dest == "command"]
    return {flag for action in choices[command]._actions for flag in action.option_strings} - {"-h", "--help", "--out"}


def test_every_flag_of_the_synopsis():
    synopsis = (
        "-o --claims-out --model --labels --device --dtype --question --answer --contexts --id --threshold --calibration"
        " --granularity --no-claims --early-exit --limit --sample --seed --by --drop-contexts --dry-run --overwrite"
        " --overwrite-columns --strict --min-faithfulness --json --quiet"
    )
    assert flags("score") >= set(synopsis.split())
    assert flags("check") >= {"--answer", "--context", "--question", "--model", "--json"}


def test_defaults_are_those_of_the_library():
    args = make_parser().parse_args(["score", "in.jsonl"])
    for options in (FileOptions(), ModelOptions()):
        for field in fields(options):
            if hasattr(args, field.name):
                assert getattr(args, field.name) == getattr(options, field.name)
    assert (args.threshold, args.granularity) == (ScoreOptions().threshold, ScoreOptions().granularity)
    assert cli.NO_CLAIMS[args.no_claims] == ScoreOptions().no_claims
