"""Units of measure and money: spelling -> what it measures and how many base units one of it is.

A spelling that means several things ("pounds") has several readings; whoever compares takes the one that fits.
"""

from __future__ import annotations

import re

from nli_faith.quantities import Reading

_YEAR = 365.25 * 86400
# One line a unit: dimension, base units, then its spellings; "(s)" stands for both forms.
_TABLE = """
%           1           % percent per_cent pct percentage_point(s) percent_point(s) percentage pp
%           0.01        basis_point(s) bps
USD         1           dollar(s) usd buck(s)
EUR         1           euro(s) eur
GBP         1           pound(s)_sterling gbp quid pound(s)
JPY         1           yen jpy
INR         1           rupee(s) inr
CNY         1           yuan renminbi rmb cny
CHF         1           franc(s) chf
KRW         1           krw
AUD         1           aud australian_dollar(s)
CAD         1           cad canadian_dollar(s)
NZD         1           nzd new_zealand_dollar(s)
HKD         1           hkd hong_kong_dollar(s)
SGD         1           sgd singapore_dollar(s)
SEK         1           sek krona kronor
NOK         1           nok krone kroner
DKK         1           dkk krone kroner
PLN         1           pln zloty zlotys
MXN         1           mxn peso(s)
BRL         1           brl
ZAR         1           zar
USD         0.01        cent(s)
EUR         0.01        cent(s)
GBP         0.01        pence penny
time        1           second(s) sec(s)
time        60          minute(s) min(s)
time        3600        hour(s) hr(s) h
time        86400       day(s)
time        604800      week(s) wk(s)
time        1209600     fortnight(s)
time        {month}     month(s)
time        {year}      year(s) yr(s)
time        {decade}    decade(s)
time        {century}   century centuries
time        0.001       millisecond(s) ms
length      1           metre(s) meter(s) m
length      1000        kilometre(s) kilometer(s) km(s)
length      0.01        centimetre(s) centimeter(s) cm(s)
length      0.001       millimetre(s) millimeter(s) mm
length      1e-6        micrometre(s) micrometer(s) micron(s) μm um
length      1e-9        nanometre(s) nanometer(s) nm
length      1609.344    mile(s) mi
length      0.9144      yard(s) yd(s)
length      0.3048      foot feet ft
length      0.0254      inch inches
length      1852        nautical_mile(s)
mass        1           kilogram(s) kilogramme(s) kilo(s) kg(s)
mass        0.001       gram(s) gramme(s) g
mass        1e-6        milligram(s) mg
mass        1e-9        microgram(s) microgramme(s) mcg(s) μg ug
mass        1e-12       nanogram(s) ng
mass        1000        tonne(s) ton(s) metric_ton(s)
mass        907.185     ton(s) short_ton(s)
mass        0.45359237  pound(s) lb(s)
mass        0.0283495   ounce(s) oz
mass        6.35029     stone
volume      1           litre(s) liter(s) l
volume      0.001       millilitre(s) milliliter(s) ml cc cm3 cubic_centimetre(s) cubic_centimeter(s)
volume      1e-6        microlitre(s) microliter(s) μl ul
volume      0.1         decilitre(s) deciliter(s) dl
volume      0.01        centilitre(s) centiliter(s) cl
volume      1000        cubic_metre(s) cubic_meter(s) m3
volume      28.3168     cubic_foot cubic_feet cu_ft ft3
volume      3.78541     gallon(s)
volume      4.54609     gallon(s)
volume      0.568       pint(s)
volume      0.473       pint(s)
volume      158.987     barrel(s)
area        1           square_metre(s) square_meter(s) sq_m m2 sqm
area        1e-4        square_centimetre(s) square_centimeter(s) sq_cm cm2
area        1e6         square_kilometre(s) square_kilometer(s) sq_km sqkm km2
area        0.092903    square_foot square_feet sq_ft sqft ft2
area        0.00064516  square_inch square_inches sq_in in2
area        2589988     square_mile(s) sq_mi sq_mile(s) mi2
area        4046.86     acre(s)
area        10000       hectare(s) ha
speed       1           kph kmh
speed       1.609344    mph
speed       1.852       knot(s)
celsius     1           °c degrees_celsius degree_celsius degrees_c deg_c celsius degrees degree deg °
fahrenheit  1           °f degrees_fahrenheit degree_fahrenheit degrees_f deg_f fahrenheit degrees degree deg °
data        1           byte(s)
data        1e3         kb kilobyte(s)
data        1e6         mb megabyte(s)
data        1e9         gb gigabyte(s) gig(s)
data        1e12        tb terabyte(s)
bitrate     1e6         mbps megabits_per_second mbit(s)
bitrate     1e9         gbps gigabits_per_second gbit(s)
power       1           watt(s) w
power       1e3         kilowatt(s) kw
power       1e6         megawatt(s) mw
power       1e9         gigawatt(s) gw
power       745.7       horsepower hp
energy      1           kilowatt_hour(s) kwh
energy      1e3         megawatt_hour(s) mwh
energy      1e6         gigawatt_hour(s) gwh
food        1           calorie(s) kcal cal(s) kilocalorie(s)
voltage     1           volt(s) v
voltage     1e3         kilovolt(s) kv
voltage     1e-3        millivolt(s) mv
current     1           amp(s) ampere(s)
current     1e-3        milliamp(s) milliampere(s) ma
current     1e-6        microamp(s) microampere(s) μa
substance   1           mole(s) mol
substance   1e-3        millimole(s) mmol
substance   1e-6        micromole(s) μmol umol
substance   1e-9        nanomole(s) nmol
charged     1e-3        milliequivalent(s) meq
activity    1           international_unit(s) iu(s)
pressure    1e3         kilopascal(s) kpa
pressure    1e2         hectopascal(s) hpa millibar(s) mbar
pressure    1e6         megapascal(s) mpa
pressure    6894.76     psi
pressure    133.322     mmhg mm_hg
loudness    1           decibel(s) db
part        1e-6        ppm parts_per_million
part        1e-9        ppb parts_per_billion
energy      2.7778e-7   joule(s)
energy      2.7778e-4   kilojoule(s) kj
frequency   1           hertz hz
frequency   1e3         kilohertz khz
frequency   1e6         megahertz mhz
frequency   1e9         gigahertz ghz
charge      1           mah
pixels      1e6         megapixel(s) mp
""".format(month=_YEAR / 12, year=_YEAR, decade=_YEAR * 10, century=_YEAR * 100)

CURRENCIES = {"$": "USD", "us$": "USD", "a$": "AUD", "au$": "AUD", "c$": "CAD", "ca$": "CAD", "nz$": "NZD", "hk$": "HKD",
              "s$": "SGD", "r$": "BRL", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "rs": "INR", "rs.": "INR"} | {
    code.lower(): code for code in "USD EUR GBP CHF JPY AUD CAD NZD INR CNY KRW HKD SGD SEK NOK DKK PLN MXN BRL ZAR".split()
}  # fmt: skip
SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "lakh": 1e5, "crore": 1e7, "dozen": 12.0,
    "k": 1e3, "mn": 1e6, "mln": 1e6, "mio": 1e6, "bn": 1e9, "bln": 1e9, "tn": 1e12, "trn": 1e12,
}  # fmt: skip


def _read_table() -> dict[str, tuple[Reading, ...]]:
    units: dict[str, tuple[Reading, ...]] = {}
    for line in _TABLE.split("\n"):
        if not line:
            continue
        dimension, factor, *spellings = line.split()
        for spelling in spellings:
            name = spelling.replace("_", " ")
            for form in {name.replace("(s)", ""), name.replace("(s)", "s")}:
                units[form] = (*units.get(form, ()), (dimension, float(factor)))
    return units


BLANK = "[ \u00a0\u202f\u2009]"
# Look-alikes as people type them, powers, and the point of "sq. km".
_SPELLING = str.maketrans("º˚µ²³", "°°μ23", ".^")
# "1.234,56" anywhere, "1.234.567" beside a euro only: it may be a version or an address.
EUROPEAN = (
    r"(?:(?<![\d.,])\d{1,3}(?:\.\d{3}){1,6}(?:,\d{1,2}(?![\d,])"
    rf"|(?<=\.\d{{3}}\.\d{{3}})(?={BLANK}?(?:€|EUR\b|euros?\b)))|(?<=€)\d{{1,3}}(?:\.\d{{3}}){{2,6}}(?!\d|[.,]\d))"
)
UNITS = _read_table()
# Small letters would say something else. "50 A" may be a gate.
CASED = {"mW": (("power", 1e-3),), "A": (("current", 1.0), ("", 1.0)), "MV": (("voltage", 1e6),)}


# As many words as the longest unit has; "3 more years" and "eight agonising months" are years and months.
_BETWEEN = r"(?:more|further|full|extra|additional|consecutive|straight|whole|solid|long|short|[a-z]+(?:ing|ous|ful|less|ive))"
_NEXT = re.compile(
    rf"(?:{BLANK}{_BETWEEN}(?={BLANK}))?(?:{BLANK}|-)?(sq\.|[^\W\d_]+(?:\^?[23²³](?!\d))?|[°˚]{BLANK}?[cf]?|%)"
    rf"(?:(?:(?<=\.)|{BLANK}|-)([a-z]+))?(?:(?:{BLANK}|-)([a-z]+))?",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?![^\W_])")


def unit_at(text: str, at: int) -> tuple[tuple[Reading, ...], int]:
    """(what the unit at this place may mean, where it ends); ((), at) where there is none."""
    match = _NEXT.match(text, at)
    if match is None or match[1] in ("Ms", "MS", "MA"):
        return (), at
    if match[1] in CASED and _ENDS.match(text, match.end(1)):
        return CASED[match[1]], match.end(1)
    words = [re.sub(BLANK, "", word.lower()).translate(_SPELLING) for word in match.groups() if word]
    for count in range(len(words), 0, -1):
        found = UNITS.get(" ".join(words[:count]))
        if found is not None and _ENDS.match(text, match.end(count)):
            return found, match.end(count)
    return (), at


def either(words: object) -> str:
    """An alternation of the words, longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
