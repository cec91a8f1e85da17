"""Several processes: the bytes of one, whatever happens to them, and none of them outlives the run."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import torch
from cli_fixtures import folder, run  # noqa: F401
from file_stubs import StubScorer, read_rows, sample_rows, write_rows
from worker_stubs import OutOfReach, Slow, Troubled, Unloadable

from nli_faith import DeviceError, InputError, ModelError, UsageError
from nli_faith.devices import pick_devices, threads_each
from nli_faith.files import score_file
from nli_faith.options import FileOptions
from nli_faith.workers import WINDOWS_EACH, Workers

posix = pytest.mark.skipif(os.name == "nt", reason="signals and process ids of POSIX")


def score(scorer, path, out, strict=False, progress=lambda done: None, **options):
    return score_file(
        scorer, str(path), str(out), FileOptions(**options), window_rows=13, strict=strict, progress=progress
    )


@pytest.fixture
def source(tmp_path):
    return write_rows(tmp_path / "in.jsonl", sample_rows(100))


@pytest.fixture
def whole(source, tmp_path):
    """What one process writes."""
    score(StubScorer(), source, tmp_path / "whole.jsonl")
    return (tmp_path / "whole.jsonl").read_bytes()


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    assert not multiprocessing.active_children()


def without_times(summary):
    return {key: value for key, value in summary.items() if "second" not in key}


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_two_processes_write_the_bytes_of_one(tmp_path, ending):
    path = write_rows(tmp_path / f"in{ending}", sample_rows(100))
    one = score(StubScorer(), path, tmp_path / f"one{ending}", claims_out=str(tmp_path / f"claims-one{ending}"))
    seen = []
    with Workers([StubScorer(), StubScorer()]) as workers:
        two = score(workers, path, tmp_path / f"two{ending}", progress=seen.append, claims_out=str(tmp_path / f"claims-two{ending}"))
    assert (tmp_path / f"two{ending}").read_bytes() == (tmp_path / f"one{ending}").read_bytes()
    assert (tmp_path / f"claims-two{ending}").read_bytes() == (tmp_path / f"claims-one{ending}").read_bytes()
    assert without_times(two) == without_times(one)
    assert [progress.rows for progress in seen] == [13, 26, 39, 52, 65, 78, 91, 100]


def test_a_faster_process_does_not_overtake_in_the_output(tmp_path, source, whole):
    with Workers([Slow(0.05), Slow(0.05)]) as workers:
        score(workers, source, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == whole


def test_windows_in_flight_are_bounded():
    """A consumer that lies idle holds the reading up."""
    from nli_faith.records import JsonRecords
    from nli_faith.rows import Window
    from nli_faith.types import Row

    read = []

    def windows():
        for number in range(40):
            read.append(number)
            yield Window([Row(number, "a", ("b",))], JsonRecords([], []), number + 1, None)

    given = 0
    with Workers([StubScorer(), StubScorer()]) as workers:
        for window, result in workers.score_windows(windows()):
            assert window.end == given + 1 and len(result.scores) == 1
            given += 1
            time.sleep(0.005)
            assert len(read) <= given + 2 * WINDOWS_EACH
    assert given == 40


def finish_with(scorer, source, out, whole):
    """The same command again, in one process, gives the bytes of an undisturbed run and does less than all."""
    rest = StubScorer() if scorer is None else scorer
    score(rest, source, out)
    assert out.read_bytes() == whole
    return len(rest.windows)


@pytest.mark.parametrize(
    ("raised", "argument", "kind", "words"),
    [
        (InputError, "Row 60 is odd.", InputError, "^Row 60 is odd.$"),
        (ValueError, "a bug", ValueError, "^a bug\n"),
        (OutOfReach, 1, RuntimeError, "OutOfReach: number 2"),
    ],
)
def test_an_error_crosses_over_and_finished_work_is_kept(tmp_path, source, whole, raised, argument, kind, words):
    out = tmp_path / "out.jsonl"
    with pytest.raises(kind, match=words) as caught, Workers([Troubled(60, raised, argument)] * 2) as workers:
        score(workers, source, out)
    if kind is not InputError:
        assert "score_window" in "".join(caught.value.__notes__), "where it happened is told"
    assert not out.exists()
    assert finish_with(None, source, out, whole) == 4, "the four windows before row 60 were kept"


@posix
def test_a_killed_process_is_one_sentence(tmp_path, source, whole):
    out = tmp_path / "out.jsonl"
    with (
        pytest.raises(DeviceError, match=r"killed by signal 9 \(most likely memory ran out.*the same command again"),
        Workers([Troubled(60), Troubled(60)]) as workers,
    ):
        score(workers, source, out)
    assert finish_with(None, source, out, whole) == 4


def test_an_interrupted_run_is_continued_by_several_processes(tmp_path, source, whole):
    out = tmp_path / "out.jsonl"

    def interrupt(done):
        if done.rows > 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Workers([StubScorer(), StubScorer()]) as workers:
        score(workers, source, out, progress=interrupt)
    assert not out.exists() and (tmp_path / "out.jsonl.parts").exists()
    with Workers([StubScorer(), StubScorer(), StubScorer()]) as workers:
        score(workers, source, out)
    assert out.read_bytes() == whole


@posix
def test_signals_that_all_processes_get_are_for_the_first_one_to_obey(tmp_path, source, whole):
    with Workers([StubScorer(), StubScorer()]) as workers:
        for process in multiprocessing.active_children():
            os.kill(process.pid, signal.SIGINT)
            os.kill(process.pid, signal.SIGTERM)
        score(workers, source, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == whole


@posix
def test_processes_end_when_the_first_one_is_killed(tmp_path):
    code = """
        import multiprocessing, time
        from file_stubs import StubScorer
        from nli_faith.workers import Workers
        if __name__ == "__main__":
            with Workers([StubScorer(), StubScorer()]) as workers:
                workers.identity()
                print(*(child.pid for child in multiprocessing.active_children()), flush=True)
                time.sleep(600)
    """
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(code))
    places = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1])])}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=os.environ | places) as first:
        children = [int(word) for word in first.stdout.readline().split()]
        first.kill()
    assert len(children) == 2
    for _ in range(600):
        if not any(_alive(child) for child in children):
            return
        time.sleep(0.1)
    raise AssertionError("a process outlived the one that began it")


def _alive(pid: int) -> bool:
    """The process is there and no corpse, which nobody may collect inside a container."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_model_that_cannot_be_loaded_leaves_nothing(tmp_path, source):
    with pytest.raises(ModelError, match="^The weights are not of this model.$"), Workers([StubScorer(), Unloadable()]) as workers:
        score(workers, source, tmp_path / "out.jsonl")
    assert os.listdir(tmp_path) == ["in.jsonl"]


def test_devices_that_compute_differently_are_refused(tmp_path, source):
    scorers = [StubScorer(device="cuda", gpu="A100"), StubScorer(device="cuda", gpu="T4")]
    with pytest.raises(DeviceError, match="gpu is A100 on one and T4 on another"), Workers(scorers) as workers:
        score(workers, source, tmp_path / "out.jsonl")
    with Workers([StubScorer(device="cuda", gpu="T4")] * 2) as workers:
        assert workers.identity() == StubScorer(device="cuda", gpu="T4").identity(), "as of one process"


def test_an_error_of_the_input_comes_after_the_windows_before_it(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", sample_rows(1400))
    path.write_text(path.read_text() + "{broken\n")
    with pytest.raises(InputError, match="line 1401 is not valid JSON"), Workers([StubScorer(), StubScorer()]) as workers:
        score(workers, path, tmp_path / "out.jsonl")
    assert len(os.listdir(tmp_path / "out.jsonl.parts" / "finished")) > 50


def test_strict_stops_at_the_first_bad_row(tmp_path):
    rows = sample_rows(100)
    rows[40]["contexts"] = 5
    rows[80]["contexts"] = 5
    path = write_rows(tmp_path / "in.jsonl", rows)
    with pytest.raises(InputError, match="Row 40 .*can't be scored"), Workers([StubScorer(), StubScorer()]) as workers:
        score(workers, path, tmp_path / "out.jsonl", strict=True)
    assert len(os.listdir(tmp_path / "out.jsonl.parts" / "finished")) == 3


# The command line ------------------------------------------------------------------------------------------------


def test_the_command_line_takes_several_devices(run, tmp_path):  # noqa: F811
    path = write_rows(tmp_path / "in.parquet", sample_rows(60))
    common = ("score", path, "--model", "fake", "--json", "--quiet")
    status, one, _ = run(*common, "-o", "one.parquet")
    assert status == 0
    status, two, err = run(*common, "-o", "two.parquet", "--devices", "cpu, cpu")
    assert (status, err) == (0, "")
    assert Path("two.parquet").read_bytes() == Path("one.parquet").read_bytes()
    assert without_times(json.loads(two)) == without_times(json.loads(one))


def test_one_device_needs_no_process(run, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(multiprocessing, "get_context", lambda *_: pytest.fail("a process for one device"))
    path = write_rows(tmp_path / "in.jsonl", sample_rows(5))
    assert run("score", path, "--model", "fake", "--devices", "cpu", "--quiet")[0] == 0
    assert run("score", path, "--model", "fake", "--devices", "cpu,cpu", "--dry-run", "--quiet")[0] == 0


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (["--device", "cpu", "--devices", "cpu,cpu"], 2, "--device and --devices exclude each other"),
        (["--devices", ","], 2, "names no device"),
        (["--devices", "cpu,abacus"], 2, "'abacus' is no device"),
        (["--devices", "cpu,cuda:999"], 1, "cuda:999 is not there"),
    ],
)
def test_devices_that_make_no_sense(run, tmp_path, words, status, sentence):  # noqa: F811
    path = write_rows(tmp_path / "in.jsonl", sample_rows(5))
    found, out, err = run("score", path, "--model", "fake", *words)
    assert found == status and sentence in err and not out and err.count("\n") == 1


def test_all_devices_and_shares_of_the_cores(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert pick_devices("all") == ["cuda:0", "cuda:1", "cuda:2"] == pick_devices("cuda:0,cuda:1,cuda:2")
    with pytest.raises(UsageError, match="mixes cpu and cuda"):
        pick_devices("cpu,cuda:1")
    assert threads_each(["cuda:0", "cuda:1"]) is None
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(DeviceError, match="torch sees none"):
        pick_devices("all")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    assert threads_each(["cpu"] * 3) == 2 and threads_each(["cpu"] * 9) == 1


@pytest.mark.slow
def test_a_network_in_two_processes_gives_the_verdicts_of_one(run, tmp_path, tiny_folder, monkeypatch):  # noqa: F811
    from nli_faith import model

    monkeypatch.setattr(model.NliModel, "_probe", lambda self: None)
    monkeypatch.setattr("nli_faith.cli._make_scorer", lambda args, **options: _unprobed(tiny_folder, args.device))
    path = write_rows(tmp_path / "in.jsonl", sample_rows(60))
    for words in (["-o", "one.jsonl", "--device", "cpu"], ["-o", "two.jsonl", "--devices", "cpu,cpu"]):
        assert run("score", path, "--quiet", *words)[0] == 0
    for one, two in zip(read_rows(Path("one.jsonl")), read_rows(Path("two.jsonl")), strict=True):
        assert [claim["verdict"] for claim in one["claims"]] == [claim["verdict"] for claim in two["claims"]]
        for a, b in zip(one["claims"], two["claims"], strict=True):
            assert a["support"] == b["support"] or abs(a["support"] - b["support"]) < 1e-3


def _unprobed(path, device):
    from nli_faith import Scorer

    return Scorer(str(path), device=device, dtype="fp32", probe=False)


def test_the_summary_names_the_kind_of_device(tmp_path, source):
    with Workers([StubScorer(), StubScorer()]) as workers:
        summary = score(workers, source, tmp_path / "out.jsonl")
    assert summary["device"] == "cpu" and re.fullmatch("fp32", summary["dtype"])
