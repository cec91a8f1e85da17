"""Peak memory of `nli-faith score --model fake`: does it depend on how many rows there are, or only on how large they are?

    python benchmarks/memory.py [--rows 10000,300000] [--formats parquet,jsonl,csv] [--big 50] [--out FILE.json]

Every run is a process of its own; its peak is the maximum resident set that the kernel saw. Rows are short, so that many of
them are read in minutes, and all different, so that nothing can be remembered instead of read. One more run has a single
chunk of `--big` MB in the middle of 10,000 rows, between two halves without it. The goal: within 5 % from few rows to many.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

GOAL = 0.05
# Runs the command and prints its peak: resource.getrusage counts in KiB on Linux, in bytes on macOS.
_CHILD = """
import resource, sys
from nli_faith.cli import main
status = main(sys.argv[1:])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak // 1024 if sys.platform == "darwin" else peak, file=sys.stderr)
sys.exit(status)
"""


def rows(count: int, big: int = 0) -> Iterator[dict]:
    """`count` rows; the one in the middle has a chunk of `big` bytes more."""
    for number in range(count):
        fact = f"Item {number} costs {number * 7 % 1000} euros and weighs {number * 13 % 100} kilos."
        contexts = [f"{fact} It was added to the list in {1990 + number % 30}.", f"Item {number + 1} is sold out."]
        if big and number == count // 2:
            contexts.append("This chunk is long, and bears on nothing that the answer says. " * (big // 62))
        yield {"id": f"{number:07d}", "answer": fact, "contexts": contexts}


def write(path: Path, count: int, big: int = 0) -> None:
    """The rows as a file, written piece by piece."""
    if path.suffix == ".parquet":
        schema = pa.schema([("id", pa.string()), ("answer", pa.string()), ("contexts", pa.list_(pa.string()))])
        with pq.ParquetWriter(path, schema) as writer:
            batch: list[dict] = []
            for row in rows(count, big):
                batch.append(row)
                if len(batch) == 10_000:
                    writer.write_table(pa.Table.from_pylist(batch, schema))
                    batch = []
            if batch:
                writer.write_table(pa.Table.from_pylist(batch, schema))
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            writer = csv.writer(file)
            writer.writerow(["id", "answer", "contexts"])
            writer.writerows([row["id"], row["answer"], json.dumps(row["contexts"])] for row in rows(count, big))
        else:
            file.writelines(json.dumps(row) + "\n" for row in rows(count, big))


def measure(format: str, count: int, big: int = 0) -> dict:
    """Peak memory in MiB and seconds of one run over fresh rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"in.{format}"
        write(path, count, big)
        begun = time.perf_counter()
        words = ["score", str(path), "--model", "fake", "--device", "cpu", "--json"]
        done = subprocess.run([sys.executable, "-c", _CHILD, *words], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"memory: the run over {count:,} rows of {format} failed:\n{done.stderr[-2000:]}")
        assert json.loads(done.stdout)["rows"] == count
        return {"format": format, "rows": count, "input_mib": round(path.stat().st_size / 2**20, 1),
                "peak_mib": round(int(done.stderr.split()[-1]) / 1024, 1),
                "seconds": round(time.perf_counter() - begun, 1)}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", default="10000,300000", help="numbers of rows (default: 10000,300000)")
    parser.add_argument("--formats", default="parquet,jsonl,csv", help="default: parquet,jsonl,csv")
    parser.add_argument("--big", type=int, default=50, help="MB of the one large chunk; 0 for no such run (default: 50)")
    parser.add_argument("--out", help="also write the figures to this JSON file")
    args = parser.parse_args()
    counts = [int(count) for count in args.rows.split(",")]
    measured, worst = [], 0.0
    print(f"{'format':<10}{'rows':>10}{'input MiB':>12}{'peak MiB':>12}{'seconds':>10}{'to first':>10}")
    for format in args.formats.split(","):
        first = None
        for count in counts:
            run = measure(format, count)
            first = first or run["peak_mib"]
            run["ratio"] = round(run["peak_mib"] / first, 3)
            worst = max(worst, run["ratio"] - 1)
            measured.append(run)
            print(f"{format:<10}{count:>10,}{run['input_mib']:>12,}{run['peak_mib']:>12,}{run['seconds']:>10,}{run['ratio']:>10}", flush=True)
        if args.big:
            run = measure(format, counts[0], args.big * 1_000_000) | {"big_mb": args.big}
            measured.append(run)
            print(f"{format:<10}{counts[0]:>10,}{run['input_mib']:>12,}{run['peak_mib']:>12,}{run['seconds']:>10,}   with one chunk of {args.big} MB", flush=True)
    print(f"\nThe largest growth from {counts[0]:,} rows is {100 * worst:.1f} %; the goal is {100 * GOAL:.0f} %.")
    if args.out:
        about = {"python": platform.python_version(), "pyarrow": pa.__version__, "cpus": os.cpu_count(), "machine": platform.machine()}
        Path(args.out).write_text(json.dumps({"about": about, "runs": measured}, indent=1) + "\n")
    return 0 if worst <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
