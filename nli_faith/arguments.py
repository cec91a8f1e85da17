"""The words of the command line: commands, flags and their help. Imports nothing heavy, so that --help is instant."""

from __future__ import annotations

import argparse

from nli_faith import __version__
from nli_faith.options import DEFAULT_MODEL, DTYPES, GRANULARITIES
from nli_faith.prefilter_arguments import add_calibrate, add_merge, add_triage

BENCH_LENGTHS = (128, 256, 384, 512)
NO_CLAIMS = {"1": 1.0, "0": 0.0, "null": None}


def make_parser() -> argparse.ArgumentParser:
    """The parser of every command; the namespace has `command`, the name of one."""
    parser = argparse.ArgumentParser(
        prog="nli-faith",
        allow_abbrev=False,  # what a script's flag means must not change when another flag is added
        description="Tells whether the answers of a RAG system are faithful to what was retrieved. No LLM, no API key.",
    )
    parser.add_argument("--version", action="version", version=f"nli-faith {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_score(commands)
    _add_check(commands)
    add_calibrate(commands)
    add_triage(commands)
    add_merge(commands)
    models = commands.add_parser(
        "models", help="list the known models and what is known of them", allow_abbrev=False,
        description="List the models that have a card: labels, size, licence.",
    )  # fmt: skip
    models.add_argument("--json", action="store_true", help="print the cards as JSON")
    doctor = commands.add_parser(
        "doctor", help="say what runs here, how, and what would make it faster", allow_abbrev=False,
        description="Load the model, say what runs here and how, check it on obvious pairs, give advice on speed.",
    )  # fmt: skip
    _add_model_flags(doctor)
    doctor.add_argument("--json", action="store_true", help="print the findings as JSON")
    _add_bench(commands)
    return parser


def _add_model_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument("--model", default=DEFAULT_MODEL, metavar="M",
                       help="bundled name, folder, Hugging Face id, or 'fake' (default: %(default)s)")  # fmt: skip
    group.add_argument("--labels", metavar="A,B[,C]", help="label names in the order of the model's outputs")
    group.add_argument("--device", default="auto", metavar="D", help="auto, cpu, cuda, cuda:N or mps (default: auto)")
    group.add_argument("--dtype", default="auto", choices=DTYPES, help="number format (default: auto)")


def _add_rule_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("claims and verdicts")
    group.add_argument("--threshold", type=_threshold, default=None, metavar="argmax|P",
                       help="P(entailment) from which a chunk supports a claim (default: argmax)")  # fmt: skip
    group.add_argument("--calibration", metavar="FILE",
                       help="threshold of `nli-faith calibrate`, for claims or for answers")  # fmt: skip
    group.add_argument("--granularity", default="sentence", choices=GRANULARITIES,
                       help="one claim per sentence, per coordinated clause ('takes 5 days and goes to the card' "
                            "is two), or the whole answer as one (default: sentence)")  # fmt: skip
    group.add_argument("--joined-evidence", type=int, metavar="K",
                       help="read a claim that is still unsupported once more, against its K best windows as one text "
                            "(default: off)")  # fmt: skip
    group.add_argument("--prefix-pronouns", action="store_true",
                       help="read a claim that opens with 'It', 'They', 'This' with the claim before it (default: off)")  # fmt: skip
    group.add_argument("--no-claims", default="1", choices=sorted(NO_CLAIMS), metavar="1|0|null",
                       help="faithfulness of an answer without a claim, such as a refusal (default: 1)")  # fmt: skip
    group.add_argument("--flags", action="store_true",
                       help="also say which claims have a number that no chunk behind them states, or a negation their evidence lacks")  # fmt: skip
    group.add_argument("--strict-numbers", action="store_true",
                       help="as --flags, and a claim with such a number is not supported")  # fmt: skip


def _add_score(commands) -> None:
    score = commands.add_parser(
        "score", help="score a file of answers", allow_abbrev=False,
        description="Score every row of a parquet, JSONL, JSON or CSV file and write a copy with the verdicts.",
    )  # fmt: skip
    score.add_argument("input", nargs="+", metavar="INPUT",
                       help=".parquet, .jsonl(.gz), .json, .csv(.gz), a folder, a glob, a URL (s3://, gs://) "
                            "or hf://user/set[:split]")  # fmt: skip
    score.add_argument("-o", "--out", metavar="OUT",
                       help="output; its ending sets the format, a trailing / keeps the parts "
                            "(default: <stem>.scored.<format>)")  # fmt: skip
    score.add_argument("--claims-out", metavar="FILE", help="also write one row for every claim, and for every unit that is none")
    _add_model_flags(score)
    _add_rule_flags(score)
    columns = score.add_argument_group("columns")
    for role in ("question", "answer", "contexts"):
        columns.add_argument(f"--{role}", metavar="C", help=f"column of the {role} (default: by its name)")
    columns.add_argument("--id", metavar="C", help="column quoted in messages and in the file of --claims-out")
    columns.add_argument("--by", metavar="COLUMN", help="also give the mean for each value of this column")
    columns.add_argument("--drop-contexts", action="store_true", help="leave the contexts out of the output")
    columns.add_argument("--overwrite-columns", action="store_true",
                         help="replace input columns that carry an output column's name")  # fmt: skip
    rows = score.add_argument_group("rows")
    rows.add_argument("--limit", type=int, metavar="N", help="score the first N rows only")
    rows.add_argument("--sample", type=float, metavar="F", help="score a random share F of the rows")
    rows.add_argument("--seed", type=int, default=0, metavar="S", help="which share (default: 0)")
    rows.add_argument("--strict", action="store_true", help="stop at the first row that can't be scored")
    rows.add_argument("--min-faithfulness", type=float, metavar="F", help="exit with 3 when the mean is below F, or there is none")
    run = score.add_argument_group("run")
    run.add_argument("--dry-run", action="store_true", help="show what three rows are read as, write nothing")
    run.add_argument("--early-exit", action="store_true",
                     help="stop reading chunks for a claim at the first that supports it: same verdicts, fewer pairs")  # fmt: skip
    run.add_argument("--devices", metavar="D,D|all",
                     help="one process for each device named, or for every CUDA device; name one twice to have two "
                          "processes feed it")  # fmt: skip
    run.add_argument("--overwrite", action="store_true", help="start anew, whatever stands at the output")
    run.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    run.add_argument("--quiet", action="store_true", help="no log lines and no progress")


def _add_check(commands) -> None:
    check = commands.add_parser(
        "check", help="check one answer", allow_abbrev=False,
        description="Check one answer against its contexts and show the verdict of every claim with its evidence.",
    )  # fmt: skip
    check.add_argument("--answer", required=True, metavar="TEXT", help="the answer")
    check.add_argument("--context", required=True, action="append", metavar="TEXT",
                       help="one retrieved chunk; give it once for each chunk; @FILE reads a file")  # fmt: skip
    check.add_argument("--question", metavar="TEXT", help="the question, read before an answer that is a fragment")
    _add_model_flags(check)
    _add_rule_flags(check)
    check.add_argument("--json", action="store_true", help="print the score as one JSON object")


def _add_bench(commands) -> None:
    bench = commands.add_parser(
        "bench", help="measure how fast this machine reads pairs", allow_abbrev=False,
        description="Read made-up pairs of several lengths and tell pairs/s, tokens/s, padding, the share of what the "
                    "hardware can do, and how far the numbers are from plain float32.",
    )  # fmt: skip
    _add_model_flags(bench)
    bench.add_argument("--lengths", type=_lengths, default=BENCH_LENGTHS, metavar="N,N",
                       help="tokens of a pair (default: 128,256,384,512)")  # fmt: skip
    bench.add_argument("--seconds", type=_seconds, default=60.0, metavar="S", help="about how long (default: 60)")
    bench.add_argument("--json", action="store_true", help="print the figures as one JSON object")


def _lengths(text: str) -> tuple[int, ...]:
    try:
        lengths = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers such as 128,256") from None
    if min(lengths) < 32:
        raise argparse.ArgumentTypeError(f"{min(lengths)} tokens hold no pair worth timing; give at least 32")
    return lengths


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds


def _threshold(text: str) -> float | None:
    if text == "argmax":
        return None
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither argmax nor a number") from None
