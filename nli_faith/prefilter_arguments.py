"""The words of calibrate, triage and merge. Imports nothing heavy, so that --help is instant."""

from __future__ import annotations

import argparse


def add_calibrate(commands) -> None:
    parser = commands.add_parser(
        "calibrate", help="find the threshold that fits your own labels", allow_abbrev=False,
        description="Find a threshold on scored rows (or on a file of --claims-out) that also carry labels of your own, "
                    "and store it for score --calibration and for triage.",
    )  # fmt: skip
    parser.add_argument("labels", nargs="+", metavar="LABELS",
                        help="scored files with a column of labels; all of answers, or all of claims")  # fmt: skip
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="the calibration to write, a .json file")
    parser.add_argument("--label", metavar="COLUMN", help="column of the labels (default: by its name)")
    aim = parser.add_mutually_exclusive_group()
    aim.add_argument("--target-precision", type=float, metavar="P",
                     help="flag as many unfaithful ones as can be with this share of right flags")  # fmt: skip
    aim.add_argument("--max-f1", action="store_true", help="the highest F1 of the flag")
    aim.add_argument("--balanced", action="store_true", help="the highest balanced accuracy (default)")
    _add_run(parser, "calibration")


def add_triage(commands) -> None:
    parser = commands.add_parser(
        "triage", help="pass, fail, or send to a judge: a route for every scored row", allow_abbrev=False,
        description="Give every scored row a risk and a route (pass, fail or judge). Without --budget and --max-miss only "
                    "rows that could not be scored go to the judge.",
    )  # fmt: skip
    parser.add_argument("scored", metavar="SCORED", help="a file that `nli-faith score` wrote")
    parser.add_argument("-o", "--out", required=True, metavar="OUT", help="output; its ending sets the format")
    parser.add_argument("--calibration", metavar="FILE", help="threshold and labels from `nli-faith calibrate`")
    share = parser.add_mutually_exclusive_group()
    share.add_argument("--budget", type=float, metavar="F", help="send this share of the rows, the most uncertain ones")
    share.add_argument("--max-miss", type=float, metavar="F",
                       help="send as few rows as keep the unfaithful ones that pass at most this share of all rows; "
                            "needs --calibration")  # fmt: skip
    parser.add_argument("--judge-out", metavar="FILE", help="also write the rows for the judge as .jsonl")
    columns = parser.add_argument_group("columns of --judge-out")
    for role in ("question", "answer", "contexts"):
        columns.add_argument(f"--{role}", metavar="C", help=f"column of the {role} (default: by its name)")
    columns.add_argument("--id", metavar="C", help="column of the id (default: id, if there is one)")
    parser.add_argument("--overwrite-columns", action="store_true", help="replace columns named risk and route")
    _add_run(parser, "output")


def add_merge(commands) -> None:
    parser = commands.add_parser(
        "merge", help="bring a judge's verdicts back into a routed file", allow_abbrev=False,
        description="Write the routed file with the columns judge_faithful, final_faithful and final_source.",
    )  # fmt: skip
    parser.add_argument("routed", metavar="OUT", help="a file that `nli-faith triage` wrote")
    parser.add_argument("verdicts", metavar="VERDICTS",
                        help="file with a column row (the position) or the id, and faithful, label or verdict")  # fmt: skip
    parser.add_argument("-o", "--out", metavar="FILE", help="output (default: <stem>.merged.<format>)")
    parser.add_argument("--id", metavar="C", help="column of the id in both files (default: row, else id)")
    parser.add_argument("--verdict", metavar="COLUMN", help="column of the verdict (default: the one of these names that is there)")
    parser.add_argument("--overwrite-columns", action="store_true", help="replace the columns of an earlier merge")
    _add_run(parser, "output", summary=False)


def _add_run(parser: argparse.ArgumentParser, what: str, summary: bool = True) -> None:
    if summary:
        parser.add_argument("--summary", metavar="FILE",
                            help="summary of the run that scored the input, where it isn't beside it")  # fmt: skip
    parser.add_argument("--overwrite", action="store_true", help=f"replace the {what} that exists")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
