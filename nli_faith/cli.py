"""Words on the command line -> calls of the library; exit codes; progress. Imports torch only when something is scored."""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import fields

from nli_faith import __version__
from nli_faith.errors import InputError, NliFaithError, UsageError
from nli_faith.options import DEFAULT_MODEL, DTYPES, GRANULARITIES, FileOptions

DONE, FAILED, USAGE, MISSED, INTERRUPTED = 0, 1, 2, 3, 130
_NO_CLAIMS = {"1": 1.0, "0": 0.0, "null": None}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status (see the README) and never raises for bad data."""
    try:
        args = _parser().parse_args(argv)
    except SystemExit as stop:  # argparse has printed its message
        return int(stop.code or 0)
    previous = _interrupt_on_terminate()
    try:
        return args.run(args)
    except UsageError as error:
        return _say(error, USAGE)
    except NliFaithError as error:
        return _say(error, FAILED)
    except KeyboardInterrupt:
        print("Interrupted. Finished work is kept: the same command goes on from there.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; Python would complain once more while it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    finally:
        if previous is not None:
            signal.signal(signal.SIGTERM, previous)


def _say(error: Exception, status: int) -> int:
    # Data must not command the terminal, whatever a message quotes.
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in str(error))
    print(f"nli-faith: {text}", file=sys.stderr)
    return status


def _interrupt_on_terminate():
    """Let SIGTERM do what Ctrl-C does, where signals can be set (the main thread)."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    try:
        return signal.signal(signal.SIGTERM, interrupt)
    except ValueError:
        return None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nli-faith",
        description="Tells whether the answers of a RAG system are faithful to what was retrieved. No LLM, no API key.",
    )
    parser.add_argument("--version", action="version", version=f"nli-faith {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_score(commands)
    _add_check(commands)
    models = commands.add_parser("models", help="list the known models and what is known of them")
    models.add_argument("--json", action="store_true", help="print the cards as JSON")
    models.set_defaults(run=_models)
    doctor = commands.add_parser("doctor", help="say what runs here, how, and what would make it faster")
    _add_model_flags(doctor)
    doctor.add_argument("--json", action="store_true", help="print the findings as JSON")
    doctor.set_defaults(run=_doctor)
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
    group.add_argument("--granularity", default="sentence", choices=GRANULARITIES,
                       help="one claim per sentence, or the whole answer as one (default: sentence)")  # fmt: skip
    group.add_argument("--no-claims", default="1", choices=sorted(_NO_CLAIMS), metavar="1|0|null",
                       help="faithfulness of an answer without a claim, such as a refusal (default: 1)")  # fmt: skip


def _add_score(commands) -> None:
    score = commands.add_parser(
        "score", help="score a file of answers",
        description="Score every row of a parquet, JSONL, JSON or CSV file and write a copy with the verdicts.",
    )  # fmt: skip
    score.add_argument("input", nargs="+", metavar="INPUT",
                       help=".parquet, .jsonl(.gz), .json, .csv(.gz), a folder, a glob, a URL (s3://, gs://) or hf://user/set[:split]")  # fmt: skip
    score.add_argument("-o", "--out", metavar="OUT",
                       help="output; its ending sets the format, a trailing / keeps the parts (default: <stem>.scored.<format>)")  # fmt: skip
    score.add_argument("--claims-out", metavar="FILE", help="also write one row a claim")
    _add_model_flags(score)
    _add_rule_flags(score)
    columns = score.add_argument_group("columns")
    for role in ("question", "answer", "contexts", "id"):
        columns.add_argument(f"--{role}", metavar="C", help=f"column of the {role} (default: by its name)" if role != "id"
                             else "column quoted in messages")  # fmt: skip
    columns.add_argument("--by", metavar="COLUMN", help="also give the mean for each value of this column")
    columns.add_argument("--drop-contexts", action="store_true", help="leave the contexts out of the output")
    columns.add_argument("--overwrite-columns", action="store_true",
                         help="replace input columns that carry an output column's name")  # fmt: skip
    rows = score.add_argument_group("rows")
    rows.add_argument("--limit", type=int, metavar="N", help="score the first N rows only")
    rows.add_argument("--sample", type=float, metavar="F", help="score a random share F of the rows")
    rows.add_argument("--seed", type=int, default=0, metavar="S", help="which share (default: 0)")
    rows.add_argument("--strict", action="store_true", help="stop at the first row that can't be scored")
    rows.add_argument("--min-faithfulness", type=float, metavar="F", help="exit with 3 when the mean is below F")
    run = score.add_argument_group("run")
    run.add_argument("--dry-run", action="store_true", help="show columns, claims and windows of three rows, score nothing")
    run.add_argument("--overwrite", action="store_true", help="start anew, whatever stands at the output")
    run.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    run.add_argument("--quiet", action="store_true", help="no log lines and no progress")
    score.set_defaults(run=_score)


def _add_check(commands) -> None:
    check = commands.add_parser(
        "check", help="check one answer",
        description="Check one answer against its contexts and show the verdict of every claim with its evidence.",
    )  # fmt: skip
    check.add_argument("--answer", required=True, metavar="TEXT", help="the answer")
    check.add_argument("--context", required=True, action="append", metavar="TEXT",
                       help="one retrieved chunk; give it once for each chunk; @FILE reads a file")  # fmt: skip
    check.add_argument("--question", metavar="TEXT", help="the question, read before an answer that is a fragment")
    _add_model_flags(check)
    _add_rule_flags(check)
    check.add_argument("--json", action="store_true", help="print the score as one JSON object")
    check.set_defaults(run=_check)


def _threshold(text: str) -> float | None:
    if text == "argmax":
        return None
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither argmax nor a number") from None


def _make_scorer(args: argparse.Namespace, **options):
    from nli_faith.memory import keep_freed_memory
    from nli_faith.pipeline import Scorer

    keep_freed_memory()
    labels = [name.strip() for name in args.labels.split(",")] if args.labels else None
    return Scorer(args.model, labels=labels, device=args.device, dtype=args.dtype, **options)


def _rule(args: argparse.Namespace) -> dict:
    return {"threshold": args.threshold, "granularity": args.granularity, "no_claims": _NO_CLAIMS[args.no_claims]}


def _score(args: argparse.Namespace) -> int:
    from nli_faith import display
    from nli_faith.files import score_file

    options = FileOptions(**{field.name: getattr(args, field.name) for field in fields(FileOptions)})
    if args.min_faithfulness is not None and not 0.0 <= args.min_faithfulness <= 1.0:
        raise UsageError(f"--min-faithfulness {args.min_faithfulness} is not between 0 and 1.")
    scorer = _make_scorer(args, **_rule(args))
    with display.Meter(quiet=args.quiet) as meter:
        if args.dry_run:
            from nli_faith.plans import plan

            display.show_plan(plan(args.input, args.out, options, log=meter.log), scorer, args.json)
            return DONE
        summary = score_file(scorer, args.input, args.out, options, log=meter.log, progress=meter.advance, strict=args.strict)
    display.show_summary(summary, as_json=args.json)
    return _gate(summary, args.min_faithfulness)


def _gate(summary: dict, least: float | None) -> int:
    if least is None:
        return DONE
    mean = summary["mean_faithfulness"]
    if mean is None or math.isnan(mean):
        print("nli-faith: no row with claims was scored, so there is no mean to hold against --min-faithfulness.", file=sys.stderr)
        return MISSED
    if mean < least:
        print(f"nli-faith: mean faithfulness {mean:.4f} is below --min-faithfulness {least}.", file=sys.stderr)
        return MISSED
    return DONE


def _check(args: argparse.Namespace) -> int:
    from nli_faith import display

    contexts = [_read_context(text) for text in args.context]
    score = _make_scorer(args, **_rule(args)).score(args.answer, contexts, args.question)
    if args.json:
        print(json.dumps(score.to_dict(), indent=2, ensure_ascii=False))
    else:
        display.show_check(args.answer, score)
    return DONE


def _read_context(text: str) -> str:
    if not text.startswith("@"):
        return text
    try:
        with open(text[1:], encoding="utf-8-sig") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"The context file {text[1:]} can't be read: {reason}.") from None


def _models(args: argparse.Namespace) -> int:
    from nli_faith import display
    from nli_faith.checkpoints import known_cards

    cards = known_cards()
    if args.json:
        print(json.dumps(list(cards.values()), indent=2, ensure_ascii=False))
    else:
        display.show_models(cards)
    return DONE


def _doctor(args: argparse.Namespace) -> int:
    from nli_faith import display
    from nli_faith.doctor import examine

    findings = examine(_make_scorer(args))
    if args.json:
        print(json.dumps(findings, indent=2, ensure_ascii=False))
    else:
        display.show_doctor(findings)
    return DONE if findings["ok"] else FAILED
