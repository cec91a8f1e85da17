"""Counts, amounts, shares and ranks, in figures or written out: how they begin and what they mean."""

from __future__ import annotations

import re

from nli_faith.hedges import hedge_of
from nli_faith.number_words import CARDINALS, ORDINALS, WRITTEN, written_values
from nli_faith.quantities import Date, Number, Quantity, Reading, read_code
from nli_faith.rates import with_rate
from nli_faith.units import BLANK, CURRENCIES, EUROPEAN, SCALES, UNITS, either, unit_at

_FRACTIONS = {"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5}
_SIGNS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
_VAGUE = frozenset("one hundred thousand million billion trillion".split())
_SPOKEN_YEAR = re.compile(
    r"(?:(?:thir|four|fif|six|seven|eigh|nine)teen|twenty)[ -](?:hundred|[a-z]+ty\b|[a-z]+teen\b|twelve|eleven|ten)"
)
_SIGN_BEHIND = re.compile(rf"{BLANK}?([$€£¥₹])(?!{BLANK}?\d)")
_DEGREE = re.compile(rf"{BLANK}?([CF])(?![\w'’+#$&]|\.{BLANK}?[a-z\d])")
_EDGES = (" ", "\u00a0", "\u202f", "\u2009")
_YEAR_AHEAD = re.compile(r"\b(?:in|since|until|during) $", re.I)
_RATE = re.compile(r"([a-z]+|[%€$£]) $", re.I)
_LASTING = frozenset("is was takes lasts needs keeps stays requires runs spends waits exceeds as plus its this".split())
SMALLEST_TANK = 10  # "5L" is a name as often as not
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

_GROUPED = (
    rf"\d{{1,3}}(?:,\d{{2,3}}){{0,6}},\d{{3}}(?!\d)(?:\.\d+)?|\d{{1,3}}(?:{BLANK}\d{{3}}){{1,6}}"
    r"(?:,\d{1,2}(?![\d,])|(?!\d|,\d)(?:\.\d+)?)"
)
_SWISS = r"\d{1,3}(?:['’]\d{3}){1,4}(?!\d)(?:\.\d+)?"
_HALF = rf"(?:{BLANK}?[½¼¾⅓⅔]|{BLANK}and{BLANK}an?{BLANK}(?:half|quarter)(?![a-z]))"
_POWER = r"(?:e[+-]?\d{1,2}(?![a-z0-9])|\s?[×x]\s?10(?:\^\d{1,2}|[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2}))"
_SCALE = re.compile(rf"(?:{BLANK}|-)?([a-z]+)(?![a-z0-9])", re.I)
_OF_SCALE = r"(?: of)?(?: an?)?[ -](?P<fs>dozen|hundred|thousand|million|billion|trillion)\b"

FIGURES = {
    "rank": r"(?<![\d.,])(?P<rn>\d{1,9})(?:st|nd|rd|th)(?![a-z])",
    "amount": rf"(?P<figure>{EUROPEAN}|{_GROUPED}|{_SWISS}|\d+(?:\.\d+|,\d{{1,2}}(?![\d,]))?|\.\d+(?!\.?\d))"
              rf"(?P<more>{_HALF})?(?P<power>{_POWER})?",
    "sign": r"[½¼¾⅓⅔]",
}  # fmt: skip
# "3/4 inch" and "1 1/2" are one number; "3/5" alone is a score, see `numerals`.
SLASHED = {"slash": r"(?<![\d./])(?:(?P<xw>\d{1,3})[ -])?(?P<xn>\d{1,2})/(?P<xd>[2-9]|1[0-6])(?![\d/]|\.\d)(?: of an?(?= ))?"}
_PART = {"part": rf"(?:half|(?P<fa>an?|one|two|three|four)[ -](?P<fb>{either(_FRACTIONS)}))\b(?:{_OF_SCALE})?(?:(?: of)? an?\b)?"}
_WRITTEN = {"words": rf"(?P<written>{WRITTEN})(?![a-z])(?P<half>{_HALF})?"}
_SINGLE = {"single": r"an?\b"}
WORDS = (
    {word: _WRITTEN for word in [*CARDINALS, *ORDINALS, "hundred", "thousand", "million", "billion", "trillion"]}
    | {word: _PART | _WRITTEN for word in ("one", "two", "three", "four")}
    | {word: _PART | _WRITTEN | _SINGLE for word in ("a", "an")}
    | {"half": _PART}
)


def _amount(m: re.Match) -> list[Quantity]:
    text, start, end = m.string, m.start(), m.end()
    if len(m["figure"]) > 15 or (len(m["figure"]) > 6 and m["figure"].isdigit() and m["figure"][0] == "0"):
        return [read_code(m["figure"], start)]
    formula = text[start - 1 : start] == text[m.end() : m.end() + 1] == "$"  # LaTeX
    money, begin = _money(text, start) if not formula else ("", start)
    value, step = _figure(m["figure"])
    if m["more"]:
        value, step = value + _fraction(m["more"]), 0.25
    scale, end = (_power(m["power"]), end) if m["power"] else _scale_at(text, end, bool(money))
    units, end = _unit_at(text, end + formula) if not money else (((money, 1.0),), end)
    units, per, every = with_rate(text, end, units)
    unit, firm = text[m.end() : end].strip(" -\u00a0") if units and not money else "", _is_firm(text, start, end)
    if unit == "m" and not (per or every or units[0][0] == "speed"):
        units = (*units, ("time", 60.0), ("", 1e6))
    elif unit == "B":
        units = (("", 1e9), ("", 1.0))  # "70B parameters", and "gate 70B"
    elif unit in ("C", "F"):
        firm = firm and value > 10  # "5C" is one as often as not
    elif unit in ("G", "H") or (unit == "L" and value <= SMALLEST_TANK and text[m.end()] == "L"):
        units, firm = (units, firm) if per or every else ((), False)  # "5G" is a name
    if units and units[0][0] == "EUR" and re.fullmatch(r"\d{1,3}\.\d{3}", m["figure"]) and scale == 1:
        units = (*units, ("EUR", 1000.0))  # a point between the thousands, as on the continent
    bare = not money and m.end() == m.end("figure") and scale == 1 and len(m["figure"]) == 4 and m["figure"].isdigit()
    if bare and 1000 <= value < 2200 and (end == m.end() or _YEAR_AHEAD.search(text, max(0, start - 8), start)):
        return [Date(start, m.end(), int(value), firm=_is_firm(text, start, m.end()))]
    return [Number(value * scale, begin, end, units, step * scale, scale, step < 1, hedge_of(text, begin, m.end(), end), firm,
                   per=per, every=every)]  # fmt: skip


def _unit_at(text: str, at: int) -> tuple[tuple[Reading, ...], int]:
    """As `unit_at`, behind a "+" too; and the sign of "50 €", the bare letters of "350F", "20 C" and "7B"."""
    units, end = unit_at(text, at + 1 if text[at : at + 1] == "+" else at)
    if units:
        return units, end
    sign = _SIGN_BEHIND.match(text, at)
    if sign:
        return ((CURRENCIES[sign[1]], 1.0),), sign.end()
    if text[at : at + 1] == "B" and not text[at + 1 : at + 2].isalnum():
        return (("", 1e9),), at + 1
    degree = _DEGREE.match(text, at)
    return (UNITS[f"°{degree[1].lower()}"], degree.end()) if degree else ((), at)


def _money(text: str, start: int) -> tuple[str, int]:
    """(currency before the figure, where that begins); ("", start) for none."""
    end = start - 1 if text[start - 1 : start] in _EDGES and start else start
    for length in (3, 2, 1):
        sign = text[max(0, end - length) : end].lower()
        if sign in CURRENCIES and not (sign[0].isalpha() and text[max(0, end - length - 1) : end - length].isalpha()):
            return CURRENCIES[sign], end - len(sign)
    return "", start


def _figure(raw: str) -> tuple[float, float]:
    """(value, place of the last digit) of digits with or without marks between the thousands."""
    plain = re.sub(rf"{BLANK}|['’]", "", raw)
    if re.match(EUROPEAN, raw) or plain.count(".") > 1:
        plain = plain.replace(".", "")
    if re.fullmatch(r"\d+,\d{1,2}", plain):
        plain = plain.replace(",", ".")
    plain = plain.replace(",", "")
    decimals = len(plain) - plain.index(".") - 1 if "." in plain else 0
    return float(plain), 10.0**-decimals


def _fraction(text: str) -> float:
    return _SIGNS.get(text[-1]) or (0.25 if text.lower().endswith("quarter") else 0.5)


def _scale_at(text: str, at: int, money: bool) -> tuple[float, int]:
    """(factor of the scale word at this place, where it ends); (1, at) for none. "m" and "b" are one behind money only, "M" is everywhere."""
    match = _SCALE.match(text, at)
    if match is None:
        return 1.0, at
    word = match[1].lower()
    if money:
        factor = {"m": 1e6, "b": 1e9, "t": 1e12}.get(word)
    else:
        factor = 1e6 if match[1] == "M" else None
    factor = factor or SCALES.get(word)
    return (factor, match.end()) if factor else (1.0, at)


def _power(text: str) -> float:
    digits = text.translate(_SUPERSCRIPTS).lower()
    exponent = digits[1:] if digits[0] == "e" else re.split(r"10\^?", digits, maxsplit=1)[1]
    return 10.0 ** int(exponent)


def _slash(m: re.Match) -> list[Quantity]:
    top, bottom = int(m["xn"]), int(m["xd"])
    units, end = unit_at(m.string, m.end())
    if top >= bottom or not (units or m["xw"]):
        return []
    end = end if units else m.end("xd")
    return [Number(int(m["xw"] or 0) + top / bottom, m.start(), end, units, 0.1, 1.0, True, hedge_of(m.string, m.start(), end))]


def _part(m: re.Match) -> list[Quantity]:
    count = 1 if m["fa"] is None or m["fa"].lower() in ("a", "an") else CARDINALS[m["fa"].lower()]
    share = count / _FRACTIONS[(m["fb"] or "half").lower()]
    scale = SCALES[m["fs"].lower()] if m["fs"] else 1.0
    units, end = unit_at(m.string, m.end())
    if scale > 1 or units:
        return [Number(share * scale, m.start(), end, units, 0.05 * scale, scale, True, hedge_of(m.string, m.start()))]
    return [Number(100 * share, m.start(), m.end(), UNITS["%"], firm=False)]


def _words(m: re.Match) -> list[Quantity]:
    text, start, written = m.string, m.start(), m["written"].lower()
    *others, (last, ordinal) = written_values(written)
    found: list[Quantity] = [Number(float(value), start, m.end(), firm=value != 1) for value, _ in others]
    scale, end = _scale_at(text, m.end(), money=False)
    units, end = ((), end) if ordinal else unit_at(text, end)  # "the seventh year" lasts no seven years
    units, per, every = with_rate(text, end, units)
    if end == m.end() and m["half"] is None and _SPOKEN_YEAR.match(written):
        return [*found, Date(start, end, last)]
    value = (last + (_fraction(m["half"]) if m["half"] else 0)) * scale
    named = next((SCALES[word] for word in ("trillion", "billion", "million", "thousand") if written.endswith(word)), 1.0)
    # "One" is a pronoun as often as a number, nobody counted in "a million reasons", and "hundred euros" are several.
    firm = re.sub("^an? ", "", written) not in _VAGUE or (scale > 1 or (bool(units) and written not in _VAGUE))
    firm = firm and _is_firm(text, start, end)
    step = named * scale * (0.25 if m["half"] else 1.0)
    found.append(Number(value, start, end, units, step, named * scale, m["half"] is not None, hedge_of(text, start, end), firm,
                        per=per, every=every))  # fmt: skip
    return found


_DOZEN = re.compile(rf"{BLANK}(dozen|couple|pair)\b", re.I)
_AND_A_HALF = re.compile(r" and a half\b", re.I)


def _single(m: re.Match) -> list[Quantity]:
    dozen = _DOZEN.match(m.string, m.end())
    if dozen:
        return [Number(12.0 if dozen[1].lower() == "dozen" else 2.0, m.start(), dozen.end(), firm=False)]
    units, end = unit_at(m.string, m.end())
    half = _AND_A_HALF.match(m.string, end)
    if units and half:
        return [Number(1.5, m.start(), half.end(), units, 0.25, decimals=True)]
    before = _RATE.search(m.string, max(0, m.start() - 12), m.start())
    word = before[1].lower() if before else ""
    if not units or word in UNITS or word in ("once", "twice") or (word.endswith("s") and word not in _LASTING):
        return []  # a rate: "3 days a week", "900 boxes an hour"
    return [Number(1.0, m.start(), end, units, firm=False)]


def _is_firm(text: str, start: int, end: int) -> bool:
    """Whether it stands for itself, and not in a name ("F-16"), a citation mark ("[1]") or a scale ("3 out of 5")."""
    if text[max(0, start - 7) : start].lower() == "out of ":
        return False
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if before == "-":
        return not text[max(0, start - 2) : start - 1].isalpha()
    if before in ("v", "V") and "." in text[start:end]:  # "v2.3"
        return not text[max(0, start - 2) : start - 1].isalnum()
    return not (before.isalpha() or before == "_" or after.isalpha() or (before == "[" and after in ("]", ",")))


READERS = {
    "rank": lambda m: [Number(float(m["rn"]), m.start(), m.end())],
    "amount": _amount,
    "sign": lambda m: [Number(100 * _SIGNS[m[0]], m.start(), m.end(), UNITS["%"], firm=False)],
    "slash": _slash,
    "part": _part,
    "words": _words,
    "single": _single,
}
