"""Parts: whole or not there, locked while in use, refused when they were made from something else."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nli_faith import formats
from nli_faith.errors import InputError, ResumeError
from nli_faith.formats import LineFormat, ParquetFormat, csv_line
from nli_faith.disk import put
from nli_faith.shards import discard_empty, open_parts, read_manifest

MANIFEST = {
    "input": [{"path": "a", "size": 1}],
    "options": {"limit": None, "labels": ["x", "y"]},
    "scorer": {"model": "m"},
}

OUTPUT = Path("no such output")


def write_part(parts, index, text="x"):
    parts.write("data", index, ".jsonl", lambda path: path.write_text(text))
    parts.finish(index, {"rows": index})


def test_parts_come_back(tmp_path):
    folder = tmp_path / "out.parts"
    with open_parts(folder, MANIFEST, OUTPUT, anew=False) as parts:
        assert list(parts.finished()) == []
        write_part(parts, 0)
        write_part(parts, 1)
        parts.write("data", 2, ".jsonl", lambda path: path.write_text("not finished"))
    assert read_manifest(folder) == MANIFEST
    (folder / "data" / "part-00007.jsonl.tmp").write_text("torn")
    with open_parts(folder, MANIFEST, OUTPUT, anew=False) as parts:
        assert list(parts.finished()) == [{"rows": 0}, {"rows": 1}]
        # What a crash left behind is gone, so that it can't get into a folder of parts.
        assert sorted(os.listdir(folder / "data")) == ["part-00000.jsonl", "part-00001.jsonl"]
        parts.remove()
    assert not folder.exists()


def test_a_gap_ends_the_finished_parts(tmp_path):
    with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False) as parts:
        for index in range(3):
            write_part(parts, index)
        parts.path("finished", 1, ".json").unlink()
        assert list(parts.finished()) == [{"rows": 0}]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scorer": {"model": "n"}}, 'scorer.model was "m" and is now "n"'),
        ({"options": {"limit": 5, "labels": ["x", "y"]}}, "options.limit was null and is now 5"),
        ({"options": {"limit": None, "labels": ["y", "x"]}}, "options.labels"),
        ({"input": [{"path": "a", "size": 2}]}, "input.0.size was 1 and is now 2"),
        ({"input": [{"path": "a", "size": 1}, {"path": "b", "size": 1}]}, "input.1.path was null"),
        ({"versions": {"pyarrow": "2"}}, "versions.pyarrow"),
    ],
)
def test_another_manifest_is_refused_and_says_what_changed(tmp_path, change, words):
    with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False) as parts:
        write_part(parts, 0)
    with pytest.raises(ResumeError) as caught, open_parts(tmp_path / "p", MANIFEST | change, OUTPUT, anew=False):
        pass
    assert words in str(caught.value) and "--overwrite" in str(caught.value)
    with open_parts(tmp_path / "p", MANIFEST | change, OUTPUT, anew=True) as parts:
        assert list(parts.finished()) == [] and os.listdir(tmp_path / "p" / "data") == []


def test_damaged_and_missing_manifest(tmp_path):
    with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False) as parts:
        write_part(parts, 0)
    (tmp_path / "p" / "manifest.json").write_text("{")
    with pytest.raises(ResumeError, match="damaged"), open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False):
        pass
    (tmp_path / "p" / "manifest.json").unlink()
    with pytest.raises(ResumeError, match=r"missing or damaged.*--overwrite"):
        with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False):
            pass


def test_work_without_a_finished_part_leaves_nothing(tmp_path):
    with pytest.raises(InputError), open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False) as parts:
        parts.write("data", 0, ".jsonl", lambda path: path.write_text("x"))
        raise InputError("a bad line")
    assert not (tmp_path / "p").exists()
    # After a crash that could not tidy up, there is nothing that another run could be at odds with.
    with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False):
        pass
    with open_parts(tmp_path / "p", {"other": 1}, OUTPUT, anew=False) as parts:
        assert list(parts.finished()) == []
    assert read_manifest(tmp_path / "p") == {"other": 1}


def test_parts_that_were_moved_away_are_not_finished(tmp_path):
    with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False) as parts:
        write_part(parts, 0)
    os.rename(tmp_path / "p" / "data", tmp_path / "out")
    with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False) as parts:
        assert list(parts.finished()) == []


def test_a_part_that_was_cut_off_is_made_again(tmp_path):
    with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False) as parts:
        for index in range(3):
            write_part(parts, index)
    (tmp_path / "p" / "data" / "part-00001.jsonl").write_text("")
    with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False) as parts:
        assert list(parts.finished()) == [{"rows": 0}]
        assert os.listdir(tmp_path / "p" / "data") == ["part-00000.jsonl"]


def test_damaged_statistics_are_said_and_can_be_begun_anew(tmp_path):
    with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False) as parts:
        write_part(parts, 0)
    for text in ("", "[]", "{}"):
        (tmp_path / "p" / "finished" / "part-00000.json").write_text(text)
        with pytest.raises(ResumeError, match=r"part-00000.json is damaged.*--overwrite"):
            with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False):
                pass
    with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=True) as parts:
        assert list(parts.finished()) == []


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_done_is_done_only_while_the_output_stands(tmp_path, kind):
    folder, output = tmp_path / "p", tmp_path / "out"
    with open_parts(folder, MANIFEST, output, anew=False) as parts:
        write_part(parts, 0)
        (folder / "joined.jsonl").write_text("x")
        parts.settle({"rows": 1}, "joined.jsonl" if kind == "file" else "data")
    with open_parts(folder, MANIFEST, output, anew=False) as parts:
        assert parts.done is None, "nothing was moved yet"
        (folder / "joined.jsonl").write_text("x")
        parts.settle({"rows": 1}, "joined.jsonl" if kind == "file" else "data")
    os.rename(folder / ("joined.jsonl" if kind == "file" else "data"), output)
    with open_parts(folder, MANIFEST, output, anew=False) as parts:
        assert parts.done == {"rows": 1}
    with pytest.raises(ResumeError, match="input.0.size"):
        with open_parts(folder, MANIFEST | {"input": [{"path": "a", "size": 2}]}, output, anew=False):
            pass
    os.rename(output, tmp_path / "taken away")
    with open_parts(folder, MANIFEST, output, anew=False) as parts:
        assert parts.done is None and list(parts.finished()) == ([{"rows": 0}] if kind == "file" else [])


def test_a_folder_with_nothing_but_a_lock_is_discarded(tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "lock").touch()
    discard_empty(tmp_path / "p")
    discard_empty(tmp_path / "p")
    assert not (tmp_path / "p").exists()
    with open_parts(tmp_path / "p", MANIFEST, OUTPUT, anew=False):
        discard_empty(tmp_path / "p")
        assert (tmp_path / "p").exists()


def test_one_process_at_a_time(tmp_path):
    code = """
        import sys, time
        from pathlib import Path
        from nli_faith.shards import open_parts
        with open_parts(Path(sys.argv[1]), {}, Path('output'), anew=False):
            print("locked", flush=True)
            time.sleep(60)
    """
    args = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "p")]
    other = subprocess.Popen(args, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(ResumeError, match="Another process"), open_parts(tmp_path / "p", {}, OUTPUT, anew=False):
            pass
        # Not even --overwrite takes the work of a living process away.
        with pytest.raises(ResumeError, match="Another process"), open_parts(tmp_path / "p", {}, OUTPUT, anew=True):
            pass
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
        other.stdout.close()
    # The lock has died with its process.
    with open_parts(tmp_path / "p", {}, OUTPUT, anew=False) as parts:
        assert list(parts.finished()) == []


def test_put_leaves_the_old_file_when_writing_fails(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def full(fresh):
        fresh.write_text("ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"No space left.*Free some space.*same command"):
        put(path, full)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["file"]
    put(path, lambda fresh: fresh.write_text("new"))
    assert path.read_text() == "new" and not (tmp_path / "file.tmp").exists()


# Joins -----------------------------------------------------------------------------------------------------------


def join(form, tmp_path, contents, name="joined"):
    parts = []
    for index, content in enumerate(contents):
        parts.append(tmp_path / f"part-{index}{form.ending}")
        form.write(parts[-1], content)
    form.join(parts, tmp_path / name)
    return (tmp_path / name).read_bytes()


def test_lines(tmp_path):
    assert join(LineFormat(".jsonl"), tmp_path, [['{"a": 1}'], [], ['{"a": "é"}']]) == '{"a": 1}\n{"a": "é"}\n'.encode()
    assert join(LineFormat(".csv", 'a,"b\nc"\n'), tmp_path, [["1,2"], [], ["3,4"]]) == b'a,"b\nc"\n1,2\n3,4\n'
    assert json.loads(join(LineFormat(".json"), tmp_path, [['{"a": 1}'], [], ['{"a": 2}']])) == [{"a": 1}, {"a": 2}]
    assert json.loads(join(LineFormat(".json"), tmp_path, [[]])) == []
    with pytest.raises(InputError, match="surrogate"):
        LineFormat(".csv").write(tmp_path / "x", ["\ud800"])


def test_gzip_holds_no_time(tmp_path):
    first = join(LineFormat(".jsonl.gz"), tmp_path, [["1"], ["2"]], "one")
    time.sleep(1.1)
    assert join(LineFormat(".jsonl.gz"), tmp_path, [["1"], ["2"]], "two") == first
    assert gzip.decompress(first) == b"1\n2\n"


def test_csv_line():
    assert csv_line(["a", "b c", 'say "x"', "1,5", "l\nm", "c\rd", ""]) == 'a,b c,"say ""x""","1,5","l\nm","c\rd",'


def test_parquet_groups_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "GROUP_ROWS", 100)
    monkeypatch.setattr(formats, "GROUP_BYTES", 10_000)
    schema = pa.schema([("a", pa.dictionary(pa.int32(), pa.string())), ("t", pa.string())], {b"k": b"v"})
    form = ParquetFormat(schema)
    tables = [
        pa.table(
            [pa.array([f"v{i}"] * rows, pa.dictionary(pa.int32(), pa.string())), ["x" * size] * rows], schema=schema
        )
        for i, (rows, size) in enumerate([(40, 1), (40, 1), (40, 1), (0, 1), (30, 300), (5, 300), (250, 1)])
    ]
    join(form, tmp_path, tables)
    file = pq.ParquetFile(tmp_path / "joined")
    groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert groups == [80, 70, 5, 100, 100, 50]
    assert file.schema_arrow.equals(schema, check_metadata=True)
    assert file.read()["a"].to_pylist() == [value for table in tables for value in table["a"].to_pylist()]


def test_a_schema_that_parquet_lacks_is_a_sentence():
    with pytest.raises(InputError, match=r"-o NAME\.jsonl"):
        ParquetFormat(pa.schema([("a", pa.struct([]))]))
