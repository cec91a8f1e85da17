"""What people read on stdout: the summary of a run, one checked answer, known models, the doctor's findings, a plan.

Colour and line breaks for the width only on a terminal. Text from data can't command the terminal or rich.
"""

from __future__ import annotations

import json
import os
import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nli_faith.options import DEFAULT_MODEL
from nli_faith.types import AnswerScore

_MARKS = {"supported": ("✓", "green"), "contradicted": ("✗", "red"), "unsupported": ("?", "yellow")}
_STATE_HELP = {
    "no_claims": "the answer makes no claim (a refusal, a question, a greeting)",
    "no_context": "claims, but nothing was retrieved",
    "empty_answer": "the answer is empty",
}

class _Console(Console):
    def on_broken_pipe(self) -> None:
        # rich would end the process with 1; the command line has its own way (this is called while one is handled).
        raise


def _console() -> Console:
    console = _Console(highlight=False)
    if not console.is_terminal:
        # In a pipe a line is cut by nobody: whoever greps wants whole sentences.
        console = _Console(highlight=False, width=10_000, no_color=True)
    return console


def show_json(value: object, indent: int | None = 2) -> None:
    """`value` as JSON on stdout, which stays JSON when stdout's encoding lacks a character."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(value, indent=indent, ensure_ascii=not utf8))


def one_line(text: object) -> str:
    """`text` on one line and without control characters, so that data can't command the terminal."""
    line = " ".join(str(text).split())
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)


def _number(value: float | None, digits: int = 4) -> str:
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _share(part: int | None, whole: int) -> str:
    return "" if not whole or part is None else f"{100 * part / whole:.1f} %"


def show_summary(summary: dict, as_json: bool = False) -> None:
    """The summary of a run on stdout: one JSON object, or a short table."""
    if as_json:
        show_json(summary, indent=None)
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
        rows.add_row("  error", Text(_number(summary["error"]), "red"), "not scored; the column error says why")
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
        count = _many(summary["unmeasured_language"], "answer")
        measured = "was measured on English only" if summary["model"] == DEFAULT_MODEL else "was not measured on them"
        console.print(Text(f"{count} not in English; {one_line(summary['model'])} {measured}.", "yellow"))
    if summary.get("by"):
        _show_groups(console, summary["by"])
    speed = f"{_number(summary['answers_per_second'], 1)} answers/s, {_number(summary['pairs_per_second'], 1)} pairs/s"
    ran = ", ".join(str(summary[name]) for name in ("model", "device", "dtype", "attention"))
    spent = f"{_many(summary['pairs'], 'pair')} in {summary['seconds']:,.1f} s"
    padding = f"{100 * summary['padding']:.1f} % padding"
    console.print(Text(f"{spent}: {speed}, {padding} ({one_line(ran)})", "dim"))


def _made_up_or_garbled(summary: dict) -> str:
    made_up, garbled = summary["unsupported"], summary["contradicted"]
    if garbled is None:
        return f"{_many(made_up, 'claim')} without support; this two-class model can't tell made up from garbled."
    if not made_up and not garbled:
        return "Every claim is supported by at least one chunk." if summary["claims"] else "No claim was scored."
    return f"Made up (no chunk states it): {_many(made_up, 'claim')}. Garbled (a chunk says otherwise): {garbled:,}."


def _show_groups(console: Console, by: dict) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column(Text(one_line(by["column"])), style="bold")
    for name in ("rows", "faithfulness", "claims", "unsupported", "contradicted"):
        table.add_column(name, justify="right")
    for label, numbers in by["groups"].items():
        table.add_row(
            Text(one_line(label)),
            *(_number(numbers[key]) for key in ("rows", "mean_faithfulness", "claims", "unsupported", "contradicted")),
        )
    console.print(table)
    if by["groups_left_out"]:
        console.print(f"and {by['groups_left_out']:,} smaller groups", style="dim")


def show_check(answer: str, score: AnswerScore) -> None:
    """One answer, claim by claim, with the evidence."""
    console = _console()
    for claim in score.claims:
        line = Text()
        if claim.verdict is None:
            line.append(f"– {claim.kind}: ", "dim").append(one_line(claim.text), "dim")
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
        console.print(Text(f"    {one_line(claim.text)}"))
        if claim.hypothesis:
            console.print(Text(f"    read as: {one_line(claim.hypothesis)}", "dim"))
        if claim.evidence:
            label = "evidence" if claim.verdict != "unsupported" else "nearest"
            joined = f" of chunks {', '.join(map(str, claim.joined))} read as one" if claim.joined else ""
            console.print(Text(f"    {label} (chunk {claim.chunk}{joined}): {one_line(claim.evidence)}", "cyan"))
    console.print(Text(_verdict_line(score), "bold"))


def _verdict_line(score: AnswerScore) -> str:
    if score.status == "error":
        return f"error: {one_line(score.error or '')}"
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
        about = [card.get(key, "") for key in ("size", "licence", "about")]
        about.insert(1, len(card.get("labels") or ()))
        table.add_row(*(Text(str(cell)) for cell in (name, *about)))
    console.print(table)
    advice = "Any other Hugging Face id or folder with an NLI head works with --model. --json prints the whole cards."
    console.print(Text(advice, "dim"))


def show_doctor(findings: dict) -> None:
    """Findings line by line, advice at the end."""
    console = _console()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in findings["facts"].items():
        table.add_row(name, Text(one_line(value)))
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
        show_json(shown)
        return
    console = _console()
    console.print(Text(f"input    {one_line(', '.join(plan.inputs[:5]))}{' ...' if len(plan.inputs) > 5 else ''}"))
    exists = " (exists; a run needs --overwrite)" if os.path.exists(plan.output) else ""
    console.print(Text(f"output   {one_line(plan.output)}{exists}"))
    console.print(Text(f"columns  {one_line(plan.columns)} (of {one_line(', '.join(plan.names))})"))
    for row in shown["first_rows"]:
        windows = f"{_many(row['windows'], 'window')} in {_many(row['chunks'], 'chunk')}"
        console.print(Text(f"row {row['row']}: {_many(len(row['units']), 'unit')}, {windows}", "bold"))
        if row["error"]:
            console.print(Text(f"    error: {one_line(row['error'])}", "red"))
        for unit in row["units"]:
            console.print(Text(f"    {unit['kind']:<8} {one_line(unit['hypothesis'] or unit['text'])}"))
    rows = "known after reading only" if plan.total is None else f"{plan.total:,}"
    console.print(Text(f"rows     {rows}"))
    if shown["pairs_per_second"] is not None:
        about = "" if shown["seconds"] is None else f"about {duration(shown['seconds'])} at "
        console.print(Text(f"time     {about}{shown['pairs_per_second']:,.0f} pairs/s, measured now on these rows"))
    if plan.output_bytes is not None:
        console.print(Text(f"disk     about {plan.output_bytes / 1e6:,.1f} MB"))


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, whichever a person would say."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
