"""What people read: the summary of a run, one checked answer, known models, the doctor's findings, progress.

Tables go to stdout, progress and log lines to stderr. Colour only on a terminal. Text from data is escaped.
"""

from __future__ import annotations

import json
import sys
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from nli_faith.types import AnswerScore

_MARKS = {"supported": ("✓", "green"), "contradicted": ("✗", "red"), "unsupported": ("?", "yellow")}
_STATE_HELP = {
    "no_claims": "the answer makes no claim (a refusal, a question, a greeting)",
    "no_context": "claims, but nothing was retrieved",
    "empty_answer": "the answer is empty",
}
_QUIET_SECONDS = 30.0


def _console() -> Console:
    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        # In a pipe a line is cut by nobody: whoever greps wants whole sentences.
        console = Console(highlight=False, width=100, no_color=True)
    return console


def printable(text: str) -> str:
    """`text` without control characters, so that data can't command the terminal."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _number(value: float | None, digits: int = 4) -> str:
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"


def _share(part: int | None, whole: int) -> str:
    return "" if not whole or part is None else f"{100 * part / whole:.1f} %"


def show_summary(summary: dict, as_json: bool = False) -> None:
    """The summary of a run on stdout: one JSON object, or a short table."""
    if as_json:
        print(json.dumps(summary, ensure_ascii=False))
        return
    console = _console()
    rows = Table(box=None, show_header=False, pad_edge=False)
    rows.add_column(style="bold")
    rows.add_column(justify="right")
    rows.add_column(style="dim")
    rows.add_row("rows", _number(summary["rows"]), "")
    rows.add_row("  scored", _number(summary["scored"]), _share(summary["scored"], summary["rows"]))
    for state, meaning in _STATE_HELP.items():
        if summary[state]:
            rows.add_row(f"  {state}", _number(summary[state]), meaning)
    if summary["error"]:
        rows.add_row("  error", Text(_number(summary["error"]), "red"), "could not be scored; the column error says why")
    rows.add_row("faithfulness", Text(_number(summary["mean_faithfulness"]), "bold"), "mean over rows with claims")
    if summary["no_claims"]:
        rows.add_row("  with no_claims", _number(summary["mean_all"]), "mean over all rows that have a number")
    rows.add_row("  over claims", _number(summary["micro_faithfulness"]), "supported claims / all claims")
    claims = summary["claims"]
    rows.add_row("claims", _number(claims), "")
    rows.add_row("  supported", _number(summary["supported"]), _share(summary["supported"], claims))
    for name in ("unsupported", "contradicted"):
        if summary[name] is not None:
            rows.add_row(f"  {name}", _number(summary[name]), _share(summary[name], claims))
    console.print(rows)
    console.print(_made_up_or_garbled(summary))
    if summary.get("unmeasured_language"):
        console.print(
            f"{summary['unmeasured_language']:,} rows are not in English; the bundled model was measured on English only.",
            style="yellow",
        )
    if summary.get("by"):
        _show_groups(console, summary["by"])
    console.print(
        f"{_number(summary['pairs'])} pairs in {summary['seconds']:,.1f} s: {_number(summary['answers_per_second'], 1)} answers/s,"
        f" {_number(summary['pairs_per_second'], 1)} pairs/s, {100 * summary['padding']:.1f} % padding"
        f" ({summary['model']}, {summary['device']}, {summary['dtype']}, {summary['attention']})",
        style="dim",
    )


def _made_up_or_garbled(summary: dict) -> str:
    made_up, garbled = summary["unsupported"], summary["contradicted"]
    if garbled is None:
        return f"{made_up:,} claims stand in no chunk; this two-class model can't tell made up from garbled."
    if not made_up and not garbled:
        return "Every claim is supported by at least one chunk." if summary["claims"] else "No claim was scored."
    return f"{made_up:,} claims made up (no chunk states them), {garbled:,} garbled (a chunk says otherwise)."


def _show_groups(console: Console, by: dict) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column(printable(by["column"]), style="bold")
    for name in ("rows", "faithfulness", "claims", "unsupported", "contradicted"):
        table.add_column(name, justify="right")
    for label, numbers in by["groups"].items():
        table.add_row(
            Text(_one_line(label)), _number(numbers["rows"]), _number(numbers["mean_faithfulness"]), _number(numbers["claims"]),
            _number(numbers["unsupported"]), _number(numbers["contradicted"]),
        )  # fmt: skip
    console.print(table)
    if by["groups_left_out"]:
        console.print(f"and {by['groups_left_out']:,} smaller groups", style="dim")


def show_check(answer: str, score: AnswerScore) -> None:
    """One answer, claim by claim, with the evidence."""
    console = _console()
    for claim in score.claims:
        line = Text()
        if claim.verdict is None:
            line.append(f"– {claim.kind}: ", "dim").append(_one_line(claim.text), "dim")
            console.print(line)
            continue
        mark, colour = _MARKS[claim.verdict]
        line.append(f"{mark} {claim.verdict}", f"bold {colour}")
        if claim.p_entailment is not None:
            numbers = f" entailment {claim.p_entailment:.2f}"
            if claim.p_contradiction is not None:
                numbers += f", contradiction {claim.p_contradiction:.2f}"
            line.append(numbers, "dim")
        if claim.conflict:
            line.append("  another chunk contradicts it", "red")
        console.print(line)
        console.print(Text(f"    {_one_line(claim.text)}"))
        if claim.hypothesis:
            console.print(Text(f"    read as: {_one_line(claim.hypothesis)}", "dim"))
        if claim.evidence:
            label = "evidence" if claim.verdict != "unsupported" else "nearest"
            console.print(Text(f"    {label} (chunk {claim.chunk}): {_one_line(claim.evidence)}", "cyan"))
    console.print(Text(_verdict_line(score), "bold"))


def _verdict_line(score: AnswerScore) -> str:
    if score.status == "error":
        return f"error: {printable(score.error or '')}"
    if score.status in _STATE_HELP and score.status != "no_context":
        value = "none" if score.faithfulness is None else f"{score.faithfulness:.2f}"
        return f"{score.status}: {_STATE_HELP[score.status]}; faithfulness {value}"
    note = " (nothing was retrieved)" if score.status == "no_context" else ""
    verdict = "faithful" if score.faithful else "not faithful"
    return (
        f"faithfulness {score.faithfulness:.2f}: {score.n_supported} of {score.n_claims} claims supported{note};"
        f" answer verdict: {verdict}"
    )


def show_models(cards: dict[str, dict]) -> None:
    """A table of the known models."""
    console = _console()
    table = Table(box=None, pad_edge=False)
    for name in ("model", "size", "classes", "licence", "what it is"):
        table.add_column(name, overflow="fold")
    for name, card in cards.items():
        table.add_row(name, card.get("size", ""), str(len(card.get("labels") or [])), card.get("licence", ""), card.get("about", ""))
    console.print(table)
    console.print("Any other Hugging Face id or folder with an NLI head works with --model. --json prints the whole cards.", style="dim")


def show_doctor(findings: dict) -> None:
    """Findings line by line, advice at the end."""
    console = _console()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in findings["facts"].items():
        table.add_row(name, Text(str(value)))
    console.print(table)
    for check in findings["checks"]:
        mark, colour = ("✓", "green") if check["ok"] else ("✗", "red")
        console.print(Text(f"{mark} {check['name']}: {check['detail']}", colour))
    for line in findings["advice"]:
        console.print(Text(f"→ {line}", "yellow"))


def show_plan(plan, scorer, as_json: bool = False) -> None:
    """What a run would do: columns, the claims and windows of the first rows, an estimate of time and disk."""
    from nli_faith.preview import preview

    shown = preview(plan, scorer)
    if as_json:
        print(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    console = _console()
    console.print(Text(f"input    {', '.join(plan.inputs[:5])}{' ...' if len(plan.inputs) > 5 else ''}"))
    console.print(Text(f"output   {plan.output}"))
    console.print(Text(f"columns  {plan.columns} (of {', '.join(printable(name) for name in plan.names)})"))
    for row in shown["first_rows"]:
        console.print(Text(f"row {row['row']}: {len(row['units'])} units, {row['windows']} windows in {row['chunks']} chunks", "bold"))
        if row["error"]:
            console.print(Text(f"    error: {printable(row['error'])}", "red"))
        for unit in row["units"]:
            console.print(Text(f"    {unit['kind']:<8} {_one_line(unit['hypothesis'] or unit['text'])}"))
    rows = "unknown" if plan.total is None else f"{plan.total:,}"
    console.print(Text(f"rows     {rows}"))
    if shown["seconds"] is not None:
        console.print(Text(f"time     about {_duration(shown['seconds'])} at {shown['pairs_per_second']:,.0f} pairs/s, measured now"))
    if plan.output_bytes is not None:
        console.print(Text(f"disk     about {plan.output_bytes / 1e6:,.1f} MB"))


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class Meter:
    """Log lines and progress on stderr: a bar on a terminal, a line every half minute elsewhere, nothing when quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._console = Console(stderr=True, highlight=False)
        self._bar: Progress | None = None
        self._task = None
        self._said = time.monotonic()

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def log(self, line: str) -> None:
        """One whole line for people."""
        if not self._quiet:
            self._console.print(Text(printable(line)), soft_wrap=True)

    def advance(self, done) -> None:
        """Show a `files.Progress`."""
        if self._quiet:
            return
        fresh = done.rows - done.resumed
        rate = f"{fresh / done.seconds:,.1f} answers/s, {done.pairs / done.seconds:,.0f} pairs/s" if done.seconds else ""
        share = done.rows / done.total if done.total else done.share
        if self._console.is_terminal:
            self._draw(done.rows, share, rate)
        elif time.monotonic() - self._said > _QUIET_SECONDS:
            self._said = time.monotonic()
            left = ""
            if share and done.total and fresh and done.rows < done.total:
                left = f", about {_duration(done.seconds * (done.total - done.rows) / fresh)} left"
            percent = f" ({100 * share:.0f} %)" if share else ""
            print(f"{done.rows:,} rows{percent}, {rate}{left}", file=sys.stderr, flush=True)

    def _draw(self, rows: int, share: float | None, rate: str) -> None:
        if self._bar is None:
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), TextColumn("{task.fields[rate]}"))
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=1.0, rate="")
        self._bar.update(self._task, description=f"{rows:,} rows", completed=share or 0.0, rate=rate)
