"""To the judge and back: the rows that need one as JSONL, and its verdicts merged into the routed file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nli_faith.cells import make_row
from nli_faith.columns import Columns, lacks
from nli_faith.errors import InputError
from nli_faith.json_text import to_json
from nli_faith.labels import VERDICTS, LabelReader, pick_column
from nli_faith.readers import Reader
from nli_faith.scored_cells import FAIL, JUDGE, PASS, claims_of
from nli_faith.triage import Triage

_KEPT = ("text", "hypothesis", "verdict", "support", "chunk", "evidence")
_NAMED = 5


def judge_lines(path: str, reader: Reader, columns: Columns, triage: Triage) -> Iterator[str]:
    """One JSON object for each row to be judged, in order.

    It holds `row` (position in the file), `id`, `question`, `answer`, `contexts` (a list, empty chunks included), `risk`,
    `error` (why it could not be scored, else null) and `unsupported`: the claims that no chunk supports, each with
    text, hypothesis, verdict, support, chunk (an index into `contexts`) and evidence.
    """
    start = 0
    for records, _ in reader.batches(0):
        wanted = [i for i in range(len(records)) if triage.route[start + i] == JUDGE]
        if wanted:
            chosen = records.take(np.array(wanted))
            names = (columns.answer, columns.contexts, columns.question, columns.id, "error", "claims")
            cells = [[None] * len(wanted) if name is None else chosen.cells(name) for name in names]
            for i, answer, contexts, question, key, error, claims in zip(wanted, *cells, strict=True):
                position = start + i
                row = make_row(position, answer, contexts, question, key)
                found = claims_of(claims, f"{path}, row {position}")
                yield to_json(
                    {
                        "row": position,
                        "id": key,
                        "question": row.question,
                        "answer": row.answer,
                        # What could not be read as chunks goes as it stands: the judge may make sense of it.
                        "contexts": list(row.chunks) if row.error is None else contexts,
                        "risk": round(float(triage.risk[position]), 6),
                        "error": error or None,
                        "unsupported": [
                            {name: claim.get(name) for name in _KEPT}
                            for claim in found
                            if claim.get("verdict") in ("unsupported", "contradicted")
                        ],
                    }
                )
        start += len(records)


@dataclass(frozen=True, slots=True)
class Merged:
    """Verdicts in the order of the rows.

    Attributes:
        judge, final: True, False or None a row; source: "nli-faith", "judge" or None where a verdict is missing.
        missing: rows for the judge without a verdict; spare: verdicts of rows that needed none.
    """

    judge: list[bool | None]
    final: list[bool | None]
    source: list[str | None]
    missing: int
    spare: int


def merge(routes: Sequence[str], verdicts: dict[int, bool | None]) -> Merged:
    """The final verdict of every row: the judge's where the row was sent to it, else what the route says.

    Args:
        verdicts: row -> faithful; a verdict of a row that was passed or failed is kept in `judge` but decides nothing.
    """
    judge = [verdicts.get(row) for row in range(len(routes))]
    final = [said if route == JUDGE else route == PASS for said, route in zip(judge, routes, strict=True)]
    source = [
        None if verdict is None else "judge" if route == JUDGE else "nli-faith"
        for verdict, route in zip(final, routes, strict=True)
    ]
    spare = sum(said is not None and route != JUDGE for said, route in zip(judge, routes, strict=True))
    return Merged(judge, final, source, source.count(None), spare)


def read_routes(path: str, reader: Reader, id: str | None) -> tuple[list[str], list[str | None]]:
    """(route, id as text) of every row; ids are None when there is no column of that name.

    Raises:
        InputError: no column `route`, or a route that is none.
    """
    if "route" not in reader.names:
        raise InputError(f"{lacks(path, reader.named_by)} 'route'. Run `nli-faith triage` on the scored file first.")
    routes: list[str] = []
    ids: list[str | None] = []
    for records, _ in reader.batches(0):
        for route in records.cells("route"):
            if route not in (PASS, FAIL, JUDGE):
                raise InputError(f"{path}, row {len(routes)} (counted from 0): {route!r} is no route. Run triage again.")
            routes.append(route)
        ids += [None] * len(records) if id not in reader.names else [_key(cell) for cell in records.cells(id)]
    return routes, ids


def read_verdicts(
    path: str, reader: Reader, ids: Sequence[str | None], id: str | None, verdict: str | None,
    log: Callable[[str], None] = lambda line: None,
) -> dict[int, bool | None]:  # fmt: skip
    """Row -> faithful, from a file with `row` (the position) or the id, and a verdict.

    Raises:
        InputError: rows that are unknown, or there twice, or whose id is another than in the routed file; several columns
            that may be the verdict; an unknown spelling of one; all with names.
    """
    column = _verdict_column(path, reader, verdict)
    key = "row" if id is None and "row" in reader.names else (id or "id")
    if key not in reader.names:
        raise InputError(
            f"{lacks(path, reader.named_by)} 'row' or {key!r}, so its verdicts belong to no row. "
            f"Name the id with --id COLUMN. Its columns are: {', '.join(reader.names[:40])}."
        )
    places = {str(row): row for row in range(len(ids))}
    if key != "row":
        if all(value is None for value in ids):
            raise InputError(f"The routed file has no column {key!r}. Give verdicts by 'row', or name another --id COLUMN.")
        twice = {value for value, count in Counter(ids).items() if count > 1}
        places = {value: row for row, value in enumerate(ids) if value is not None and value not in twice}
    labels = LabelReader(column, path)
    given: list[str | None] = []
    said: list[bool | None] = []
    names: list[object] = []
    for records, _ in reader.batches(0):
        said += labels.read(records.cells(column), len(given))
        if key == "row" and "id" in reader.names:
            names += records.cells("id")
        given += [_number_key(cell) if key == "row" else _key(cell) for cell in records.cells(key)]
    labels.check()
    _refuse(path, key, [value for value in given if value not in places], f"name no single row of {len(ids)}")
    _refuse(path, key, [value for value, count in Counter(given).items() if count > 1], "are there more than once")
    for row, name in zip(given, names):
        theirs, ours = _number_key(name), _number_key(ids[int(row)])
        if None not in (theirs, ours) and theirs != ours:
            raise InputError(
                f"{path}: the verdict of row {row} has the id {theirs!r}, and row {row} of the routed file {ours!r}, so "
                "one of the files was put in another order. Remove the column that is wrong, row or id, from the verdicts."
            )
    if labels.read_as is not None:
        log(labels.read_as)
    return {places[value]: verdict for value, verdict in zip(given, said, strict=True)}


def _verdict_column(path: str, reader: Reader, chosen: str | None) -> str:
    """The column of the judge's verdicts; never a guess between several, nor our own `faithful` in a copy of our output."""
    there = [name for name in VERDICTS if name in reader.names]
    if chosen is None and len(there) > 1:
        raise InputError(
            f"{path} has the columns {', '.join(there)}, of which only one can be the judge's verdict. "
            "Name it with --verdict COLUMN."
        )
    ours = [name for name in ("min_support", "status") if name in reader.names]
    if chosen is None and there == ["faithful"] and ours:
        raise InputError(
            f"{path}: its column 'faithful' stands beside {ours[0]!r}, so it looks like nli-faith's own verdict and not the "
            "judge's. Name the judge's with --verdict COLUMN."
        )
    return pick_column(reader.names, chosen, VERDICTS, "--verdict", path, reader.named_by)


def _refuse(path: str, key: str, values: Sequence[str | None], why: str) -> None:
    if values:
        shown = ", ".join(repr(value) for value in values[:_NAMED])
        more = f" and {len(values) - _NAMED} more" if len(values) > _NAMED else ""
        raise InputError(f"{path}: verdicts whose {key} is {shown}{more} {why}. Correct or remove them.")


def _key(cell: object) -> str | None:
    """An id as text, so that 7, 7.0 and "7" are one; formats differ in what they make of a number."""
    if cell is None or cell == "" or cell != cell:
        return None
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    # As the file of --judge-out spells a date or a UUID.
    return cell if isinstance(cell, str) else to_json(cell).strip('"')


def _number_key(cell: object) -> str | None:
    """The same of what is a number in any spelling: what wrote a CSV file may have made 3.0 of it."""
    found = re.fullmatch(r"\s*(\d+)(?:\.0*)?\s*", cell, re.ASCII) if isinstance(cell, str) else None
    return _key(cell) if found is None else found[1].lstrip("0") or "0"
