"""Commands -> calls of the library -> exit statuses. Imports torch only when something is scored."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import fields

from nli_faith.arguments import NO_CLAIMS, make_parser
from nli_faith.errors import InputError, NliFaithError, UsageError
from nli_faith.options import FileOptions
from nli_faith.pipes import reader_may_go
from nli_faith.prefilter_commands import run_calibrate, run_merge, run_triage

DONE, FAILED, USAGE, MISSED, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status (see the README) and never raises for bad data."""
    _keep_streams_alive()
    args = _parse(argv)
    if isinstance(args, int):
        return args
    previous = _interrupt_on_terminate()
    try:
        return _COMMANDS[args.command](args)
    except UsageError as error:
        return _say(error, USAGE)
    except NliFaithError as error:
        return _say(error, FAILED)
    except KeyboardInterrupt:
        print(f"Interrupted.{_kept() if args.command == 'score' else ''}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # stderr has gone in the midst of the work; for stdout see `pipes`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        return FAILED
    finally:
        if previous is not None:
            signal.signal(signal.SIGTERM, previous)


def _kept() -> str:
    from nli_faith.rows import WINDOW_ROWS

    return f" Finished work is kept, {WINDOW_ROWS} rows at a time: the same command goes on from there."


def _parse(argv: Sequence[str] | None) -> argparse.Namespace | int:
    """The arguments, or the exit status of help, version or wrong usage, which argparse has printed."""
    with reader_may_go():
        try:
            return make_parser().parse_args(argv)
        except SystemExit as stop:
            status = int(stop.code or 0)
    return status


def _keep_streams_alive() -> None:
    """Print what the streams' encoding lacks as an escape: a check mark must not end a run on an ASCII terminal."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _say(error: Exception, status: int) -> int:
    from nli_faith.display import one_line

    print(f"nli-faith: {one_line(error)}", file=sys.stderr)
    return status


def _interrupt_on_terminate():
    """Let SIGTERM do what Ctrl-C does, where signals can be set (the main thread)."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    try:
        return signal.signal(signal.SIGTERM, interrupt)
    except ValueError:
        return None


def _make_scorer(args: argparse.Namespace, **options):
    from nli_faith.memory import keep_freed_memory
    from nli_faith.pipeline import Scorer

    keep_freed_memory()
    labels = [name.strip() for name in args.labels.split(",")] if args.labels else None
    return Scorer(args.model, labels=labels, device=args.device, dtype=args.dtype, **options)


def _rule(args: argparse.Namespace) -> dict:
    names = ("threshold", "calibration", "granularity", "joined_evidence", "prefix_pronouns", "flags", "strict_numbers")
    return {name: getattr(args, name) for name in names} | {"no_claims": NO_CLAIMS[args.no_claims]}


def _score(args: argparse.Namespace) -> int:
    from nli_faith import display
    from nli_faith.files import score_file
    from nli_faith.progress import Meter

    options = FileOptions(**{field.name: getattr(args, field.name) for field in fields(FileOptions)})
    if args.min_faithfulness is not None and not 0.0 <= args.min_faithfulness <= 1.0:
        raise UsageError(f"--min-faithfulness {args.min_faithfulness} is not between 0 and 1.")
    _check_calibration_stays(args)
    devices = _devices(args)
    scorer = _make_scorer(args, early_exit=args.early_exit, **_rule(args))
    with Meter(quiet=args.quiet) as meter:
        if args.dry_run:
            from nli_faith.plans import plan

            planned = plan(args.input, args.out, options, log=meter.log)
            with reader_may_go():
                display.show_plan(planned, scorer, args.json)
            return DONE
        with _at_work(scorer, devices) as working:
            summary = score_file(
                working, args.input, args.out, options, log=meter.log, progress=meter.advance, strict=args.strict
            )
    with reader_may_go():
        display.show_summary(summary, as_json=args.json)
    return _gate(summary, args.min_faithfulness)


def _check_calibration_stays(args: argparse.Namespace) -> None:
    """UsageError when the file of --calibration would be replaced by an output."""
    from nli_faith.targets import same_place

    names = [args.claims_out, *([] if args.out is None else [args.out, f"{args.out}.summary.json"])]
    for name in names if args.calibration is not None else ():
        if name is not None and same_place(name, args.calibration):
            raise UsageError(f"{name} is the file of --calibration, which would be replaced. Give the output another name.")


def _devices(args: argparse.Namespace) -> list[str]:
    """The devices of --devices; the first of them is the one of --device, which whatever needs no other takes."""
    if args.devices is None:
        return []
    if args.device != "auto":
        raise UsageError("--device and --devices exclude each other; leave one out.")
    from nli_faith.devices import pick_devices

    devices = pick_devices(args.devices)
    args.device = devices[0]
    return devices


def _at_work(scorer, devices: Sequence[str]):
    """A context with `scorer`, or with one copy a device in processes of their own when there are several."""
    if len(devices) < 2:
        return nullcontext(scorer)
    from nli_faith.devices import threads_each
    from nli_faith.workers import Workers

    return Workers([scorer.on(device) for device in devices], threads_each(devices))


def _gate(summary: dict, least: float | None) -> int:
    if least is None:
        return DONE
    mean = summary["mean_faithfulness"]
    if mean is None or math.isnan(mean):
        print("nli-faith: no row has a score, so there is no mean to hold against --min-faithfulness.", file=sys.stderr)
        return MISSED
    if mean < least:
        print(f"nli-faith: mean faithfulness {mean:.4f} is below --min-faithfulness {least}.", file=sys.stderr)
        return MISSED
    return DONE


def _check(args: argparse.Namespace) -> int:
    from nli_faith import display

    contexts = [_read_context(text) for text in args.context]
    score = _make_scorer(args, **_rule(args)).score(args.answer, contexts, args.question)
    with reader_may_go():
        if args.json:
            display.show_json(score.to_dict())
        else:
            display.show_check(args.answer, score)
    return FAILED if score.status == "error" else DONE


def _read_context(text: str) -> str:
    if not text.startswith("@"):
        return text
    try:
        with open(text[1:], encoding="utf-8-sig") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(
            f"The context file {text[1:]!r} can't be read: {reason}. "
            "After --context, @ is followed by the name of a file; put a chunk that begins with @ into one."
        ) from None


def _models(args: argparse.Namespace) -> int:
    from nli_faith import display
    from nli_faith.checkpoints import known_cards

    cards = known_cards()
    with reader_may_go():
        if args.json:
            display.show_json(list(cards.values()))
        else:
            display.show_models(cards)
    return DONE


def _doctor(args: argparse.Namespace) -> int:
    from nli_faith import display
    from nli_faith.doctor import examine

    findings = examine(_make_scorer(args))
    with reader_may_go():
        if args.json:
            display.show_json(findings)
        else:
            display.show_doctor(findings)
    return DONE if findings["ok"] else FAILED


def _bench(args: argparse.Namespace) -> int:
    from nli_faith import display
    from nli_faith.bench import bench, show
    from nli_faith.progress import Meter

    reader = _make_scorer(args).reader
    with Meter(quiet=args.json) as meter:
        report = bench(reader, args.lengths, args.seconds, meter.log)
    with reader_may_go():
        if args.json:
            display.show_json(report)
        else:
            print(show(report))
    return DONE if report["parity"]["ok"] else FAILED


_COMMANDS = {"score": _score, "check": _check, "models": _models, "doctor": _doctor, "bench": _bench, "calibrate": run_calibrate,
             "triage": run_triage, "merge": run_merge}  # fmt: skip
