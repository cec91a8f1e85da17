"""What calibrate, triage and merge do: files in, files out, and a few lines for people. Loads no model."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from nli_faith.errors import InputError, UsageError
from nli_faith.pipes import reader_may_go


def run_calibrate(args: argparse.Namespace) -> int:
    """Write the calibration and say what it is worth; 1 when there are enough labels for the agreement only."""
    from nli_faith.calibrate import TooFewLabels, calibrate
    from nli_faith.cuts import Aim
    from nli_faith.prefilter_display import show_agreement, show_calibration
    from nli_faith.sources import find_sources

    if not args.out.lower().endswith(".json"):
        raise UsageError(f"-o {args.out} does not end in .json, as a calibration does.")
    sources = [source for path in args.labels for source in find_sources([path], lambda line: None, scored=True)]
    _check_free(args.out, args.overwrite, [*(source.path for source in sources if source.local), args.summary])
    aim = Aim("balanced")
    if args.target_precision is not None:
        aim = Aim("target_precision", args.target_precision)
    elif args.max_f1:
        aim = Aim("max_f1")
    try:
        made = calibrate(args.labels, aim, args.label, args.summary, log=_log)
    except TooFewLabels as error:
        with reader_may_go():
            show_agreement(args, error)
        raise
    made.save(args.out)
    _log(f"Wrote {args.out}.")
    with reader_may_go():
        show_calibration(args, made)
    return 0


def run_triage(args: argparse.Namespace) -> int:
    """Write the routed copy, and the rows for the judge."""
    from nli_faith.copies import ROUTE_FIELDS, check_new, write_copy
    from nli_faith.prefilter_display import show_triage
    from nli_faith.scored import ROW, open_scored, read_scored
    from nli_faith.scored_cells import JUDGE
    from nli_faith.scored_runs import read_run
    from nli_faith.targets import check_free, find_target
    from nli_faith.triage import by_budget, by_miss, expected, threshold_of

    _check_share("--budget", args.budget)
    _check_share("--max-miss", args.max_miss)
    if args.max_miss is not None and args.calibration is None:
        raise UsageError("--max-miss needs to know what rows are like that pass: give --calibration FILE.")
    source, reader, level = open_scored(args.scored)
    if level != ROW:
        raise InputError(f"{args.scored} holds claims; routes are for answers. Give the scored file itself.")
    target = find_target(args.out, [args.scored], [source])
    if target.folder:
        raise UsageError(f"-o {args.out} is a folder; name a file.")
    if not args.overwrite:
        check_free(target)
    check_new(reader, ROUTE_FIELDS, args.scored, args.overwrite_columns)
    _check_no_input(target.path, [args.calibration, args.summary])
    columns = _judge_columns(args, reader, source, target)
    calibration = None
    if args.calibration is not None:
        calibration = _row_calibration(args.calibration)
        run = read_run(source, reader, args.summary)
        calibration.check(run, args.scored)
    scored = read_scored(args.scored, reader, level)
    if args.max_miss is not None:
        triage = by_miss(scored, calibration, args.max_miss)
    else:
        threshold = threshold_of(scored, args.scored) if calibration is None else calibration.threshold
        triage = by_budget(scored, threshold, args.budget or 0.0)
    chances = None if calibration is None else expected(triage, calibration)
    if calibration is not None and calibration.margins is None:
        _log(f"{args.calibration} is of an earlier version: what it lets expect was measured on the labels that its threshold "
             "was chosen on, and looks better than it is. Make it anew with `nli-faith calibrate`.")  # fmt: skip
    over = 0 if args.budget is None else triage.count(JUDGE) - int(args.budget * len(scored) + 1e-9)
    metadata = {
        "nli_faith_triage": json.dumps({
            "threshold": triage.threshold, "budget": args.budget, "max_miss": args.max_miss,
            "calibration": calibration and calibration.identity(),
        }, sort_keys=True)
    }  # fmt: skip

    def judge() -> None:
        if args.judge_out is not None:
            _write_judge(args, reader, columns, triage)

    values = [triage.risk.tolist(), triage.route.tolist()]
    write_copy(reader, target, ROUTE_FIELDS, values, metadata, args.overwrite, last=judge)
    _log(f"Wrote {target.path}.")
    if over > 0:
        _log(f"{over} rows more than --budget {args.budget:g} allows go to the judge, as they could not be scored.")
    with reader_may_go():
        show_triage(args, triage, chances, None if calibration is None else sum(map(sum, calibration.states.values())))
    return 0


def run_merge(args: argparse.Namespace) -> int:
    """Write the routed file with the final verdicts."""
    from nli_faith.copies import VERDICT_FIELDS, check_new, write_copy
    from nli_faith.judge import merge, read_routes, read_verdicts
    from nli_faith.prefilter_display import show_merged
    from nli_faith.readers import NoRows, open_reader
    from nli_faith.sources import find_sources, split_ending
    from nli_faith.targets import check_free, find_target

    files = (args.routed, args.verdicts)
    (source,), (given,) = (_one_file(find_sources([path], _log, scored=True), path) for path in files)
    stem, ending = split_ending(source.name)
    target = find_target(args.out or f"{stem}.merged{ending}", [args.routed], [source, given])
    if target.folder:
        raise UsageError(f"-o {args.out} is a folder; name a file.")
    if not args.overwrite:
        check_free(target)
    reader = open_reader([source])
    check_new(reader, VERDICT_FIELDS, args.routed, args.overwrite_columns)
    routes, ids = read_routes(args.routed, reader, args.id or "id")
    try:
        verdicts = read_verdicts(args.verdicts, open_reader([given]), ids, args.id, args.verdict, _log)
    except NoRows:  # of a triage that sends nothing to the judge
        _log(f"{args.verdicts} is empty: no verdicts.")
        verdicts = {}
    merged = merge(routes, verdicts)
    write_copy(reader, target, VERDICT_FIELDS, [merged.judge, merged.final, merged.source], {}, args.overwrite)
    _log(f"Wrote {target.path}.")
    counts = {"rows": len(routes), "faithful": merged.final.count(True), "unfaithful": merged.final.count(False),
              "by_judge": merged.source.count("judge"), "missing": merged.missing, "spare": merged.spare}  # fmt: skip
    with reader_may_go():
        show_merged(args, counts)
    return 0


def _judge_columns(args: argparse.Namespace, reader, source, target):
    """The columns of the rows for the judge, or None when they are not asked for."""
    from nli_faith.columns import find_columns
    from nli_faith.options import FileOptions
    from nli_faith.targets import same_place

    if args.judge_out is None:
        return None
    if not args.judge_out.lower().endswith(".jsonl"):
        raise UsageError(f"--judge-out {args.judge_out} does not end in .jsonl.")
    if same_place(args.judge_out, target.path):
        raise UsageError("-o and --judge-out are the same file. Give them different names.")
    summary = args.summary or f"{source.path}.summary.json"
    _check_free(args.judge_out, args.overwrite, [source.path if source.local else None, args.calibration, summary])
    id = args.id or ("id" if "id" in reader.names else None)
    return find_columns(reader.names, FileOptions(args.question, args.answer, args.contexts, id), args.scored, reader.named_by)


def _write_judge(args: argparse.Namespace, reader, columns, triage) -> None:
    from nli_faith.disk import make_folder, put
    from nli_faith.formats import LineFormat
    from nli_faith.judge import judge_lines

    path = Path(args.judge_out)
    make_folder(path.absolute().parent)
    put(path, lambda fresh: LineFormat(".jsonl").write(fresh, judge_lines(args.scored, reader, columns, triage)))
    _log(f"Wrote {path}.")


def _row_calibration(path: str):
    from nli_faith.calibrations import load_calibration

    calibration = load_calibration(path)
    if calibration.level != "row":
        raise InputError(f"{path} is a calibration of claims; routes need one of answers. Calibrate on the scored file.")
    return calibration


def _one_file(sources: list, path: str) -> list:
    if len(sources) > 1:
        raise InputError(f"{path} is {len(sources)} files; this command reads one.")
    return sources


def _check_share(flag: str, value: float | None) -> None:
    if value is not None and not 0.0 <= value <= 1.0:
        raise UsageError(f"{flag} {value} is not between 0 and 1.")


def _check_free(out: str, overwrite: bool, inputs: list) -> None:
    """InputError when a file of ours would replace another that it may not, or one of the inputs."""
    _check_no_input(out, inputs)
    if Path(out).exists() and not overwrite:
        raise InputError(f"{out} exists already. Give another name, or replace it with --overwrite.")


def _check_no_input(out: str | Path, inputs: list) -> None:
    from nli_faith.targets import same_place

    if any(name is not None and same_place(out, name) for name in inputs):
        raise InputError(f"{out} is one of the inputs, which are never changed. Give another name.")


def _log(line: str) -> None:
    from nli_faith.display import one_line

    print(one_line(line), file=sys.stderr)
