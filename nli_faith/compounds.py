"""One amount in two units, 3h30m, 12 min 5 s, 5'10", 5 ft 10 in; and the name 401(k), which is no amount."""

from __future__ import annotations

import re

from nli_faith.hedges import hedge_of
from nli_faith.quantities import Number, Quantity

FIGURES = {
    "lasting": r"(?<![\d.,:])(?:(?P<qh>\d{1,3}) ?h(?:rs?)?\.? ?(?P<qm>\d{1,2}) ?m(?:ins?)?\b(?:\.? ?(?P<qs>\d{1,2}) ?s(?:ecs?)?\b)?"
               r"|(?P<qn>\d{1,3})(?:m| ?mins?\.?) ?(?P<qt>\d{1,2}) ?s(?:ecs?)?\b)",
    "height": r"(?<![\d.,'’\"“‘°])(?P<hf>\d{1,2})(?:['’′] ?(?P<hi>\d{1,2}(?:\.\d+)?)(?![\d'’′])(?:\"|”|″|'')?"
              r"| ?(?:ft|feet|foot)\.?,? ?(?P<hj>\d{1,2}(?:\.\d+)?) ?(?:in\b\.?|[\"”″]))",
    "plan": r"(?<![\d.,$€£])401(?: ?\(k\)|k\b)",
}  # fmt: skip
_TIMES = {"qh": 3600.0, "qm": 60.0, "qs": 1.0, "qn": 60.0, "qt": 1.0}


def _lasting(m: re.Match) -> list[Quantity]:
    return _sum(m, "time", [(float(m[name]), factor) for name, factor in _TIMES.items() if m[name]])


def _height(m: re.Match) -> list[Quantity]:
    inches = float(m["hi"] or m["hj"])
    return _sum(m, "length", [(float(m["hf"]), 0.3048), (inches, 0.0254)]) if inches < 12 else []


def _sum(m: re.Match, kind: str, counts: list[tuple[float, float]]) -> list[Quantity]:
    """One number for all of them, and each by itself, which is not asked of a claim."""
    start, end, least = m.start(), m.end(), counts[-1][1]
    parts = [Number(count, start, end, ((kind, factor),), firm=False) for count, factor in counts]
    total = sum(count * factor for count, factor in counts)
    return [*parts, Number(total, start, end, ((kind, 1.0),), least, decimals=True, hedge=hedge_of(m.string, start))]


READERS = {
    "lasting": _lasting,
    "height": _height,
    "plan": lambda m: [Number(401.0, m.start(), m.end(), firm=False)],
}
