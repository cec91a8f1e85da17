"""The report of agreement.py in Markdown, and its short table for the terminal."""

from __future__ import annotations

from contenders import OURS, STRICT

_COLUMNS = {
    "balanced_accuracy": "balanced accuracy", "f1_unfaithful": "F1 unfaithful", "f1_macro": "F1 macro", "kappa": "kappa",
    "caught": "caught", "spared": "spared", "auroc": "AUROC",
}  # fmt: skip
_HOW_TO_READ = """\
`nli-faith` calls an answer faithful when its weakest claim has at least the threshold's support; `strict` when every
claim is supported. Thresholds: "elsewhere" is {elsewhere}; "own" is chosen on the labels at hand. What is fitted is
fitted for balanced accuracy and by cross-fitting over source documents: no answer is judged by a threshold that saw
its source. A number, "its verdict" and "none" were not fitted here. Caught: share of the unfaithful answers called so;
spared: of the faithful. In brackets: 95 % intervals, a bootstrap over source documents with thresholds held fixed."""


def markdown(report: dict) -> str:
    """The whole report."""
    rule = report["claim_rule"]
    rule = "argmax" if rule == "argmax" else f"P(entailment) >= {rule:g}"
    part = f"; about {report['slice']} answers of each set" if report["slice"] else ""
    part += f"; the first {report['first']} answers of each set" if report.get("first") else ""
    lines = [
        "# Agreement with people and with LLM judges", "",
        f"Model {report['model']} (weights {report['model_hash']}, {', '.join(report['precision'])}); one claim per "
        f"{report['granularity']}; a claim is supported by {rule}{part}.", "", _HOW_TO_READ.format(**report), "", "## Overview", "",
        *_table(["set", "task", "against", "answers", "unfaithful", "balanced accuracy", "strict", "F1 unfaithful", "AUROC",
                 "kappa"], _overview(report, _figure)),
    ]  # fmt: skip
    for name, tasks in report["sets"].items():
        lines += ["", f"## {name}"]
        if name in report["warnings"]:
            lines += ["", f"**{report['warnings'][name]}**"]
        if report["errors"].get(name):
            lines += ["", f"{report['errors'][name]} answers could not be scored and are left out."]
        for task, found in tasks.items():
            lines += ["", f"### {name}, {task}", "", _facts(found)]
            for reference, table in found["references"].items():
                lines += ["", f"Against {reference}: {table['rows']} answers to {table['sources']} sources, "
                          f"{table['unfaithful']} unfaithful.", "", *_contenders(table)]  # fmt: skip
            if "claims" in found:
                lines += ["", *_claims(found["claims"])]
    return "\n".join(lines) + "\n"


def summary(report: dict) -> str:
    """The overview in plain columns."""
    head = ["set", "task", "against", "answers", "unfaithful", "bal. acc.", "strict", "F1 unf.", "AUROC", "kappa"]
    rows = [head, *_overview(report, lambda figure: _number(figure[0]) if figure else "-")]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _overview(report: dict, show) -> list[list[str]]:
    rows = []
    for name, tasks in report["sets"].items():
        for task, found in tasks.items():
            table = found["references"].get(found.get("main"))
            if table is None:
                continue
            ours = next(one for one in table["contenders"] if one["name"] == OURS)
            strict = next(one for one in table["contenders"] if one["name"] == STRICT)
            figures = ours["figures"]
            rows.append([
                name, task, found["main"], str(table["rows"]), str(table["unfaithful"]),
                show(figures["balanced_accuracy"]), show(strict["figures"]["balanced_accuracy"]),
                show(figures["f1_unfaithful"]), show(figures.get("auroc")), show(figures["kappa"]),
            ])  # fmt: skip
    return rows


def _facts(found: dict) -> str:
    states = ", ".join(f"{count} {status}" for status, count in found["states"].items())
    facts = [f"{found['rows']} answers to {found['sources']} sources ({states})."]
    if "threshold" in found:
        low, high = found["threshold"]
        facts.append(f"Answer threshold {low:g}." if low == high else f"Answer thresholds {low:g} to {high:g}.")
    if "spearman" in found:
        value = _figure(found["spearman"])
        facts.append(f"Rank correlation of faithfulness with the share of text outside human spans: {value}.")
    if found.get("aggregations"):
        ways = ", ".join(f"{name} {_figure(value)}" for name, value in found["aggregations"].items())
        facts.append(f"AUROC by aggregation: {ways}.")
    return " ".join(facts)


def _contenders(table: dict) -> list[str]:
    rows = [
        [one["name"], one["threshold"], *(_figure(one["figures"].get(column)) for column in _COLUMNS)]
        for one in table["contenders"]
    ]
    return _table(["verdict", "threshold", *_COLUMNS.values()], rows)


def _claims(claims: dict) -> list[str]:
    figures = claims["figures"]
    line = (
        f"Claims: {claims['claims']}, of which people's marks touch {claims['wrong']}. An unsupported claim is touched by one: "
        f"precision {_figure(figures['precision_unfaithful'])}, recall {_figure(figures['caught'])}, "
        f"F1 {_figure(figures['f1_unfaithful'])}; AUROC of the support {_figure(figures.get('auroc'))}."
    )
    if "spans" in claims:
        line += (
            f" Of {claims['spans']} marks, {_figure(claims['spans_caught'])} touch an unsupported claim and "
            f"{_figure(claims['spans_outside_claims'])} touch no claim at all."
        )
    rows = [
        [one["windows"], str(one["supported"]), _figure(one["precision"]), str(one["wrong"]), _figure(one["wrong_supported"])]
        for one in claims["windows"]
    ]
    head = ["windows of the contexts", "supported claims", "of these right", "wrong claims", "of these supported"]
    return [line, "", *_table(head, rows)]


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def _figure(figure: list[float] | None) -> str:
    if figure is None or figure[0] != figure[0]:
        return "-"
    return f"{_number(figure[0])} [{_number(figure[1])}, {_number(figure[2])}]"


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"
