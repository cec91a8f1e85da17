"""What is read in headings, lists, tables, fences, bibliographies and JSON: laws where there are any, cases otherwise."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.claims import split_claims
from nli_faith.types import CLAIM


def read(answer, question=None):
    """(kind, hypothesis) of every unit."""
    return [(claim.kind, claim.hypothesis) for claim in split_claims(answer, question)]


def claims(answer, question=None):
    return [hypothesis for kind, hypothesis in read(answer, question) if kind == CLAIM]


WORDS = st.lists(st.sampled_from("Oslo Ghana Acme maple harbour lamp river".split()), min_size=1, max_size=3).map(" ".join)
MARKED = ["**{}**", "__{}__", "# {}", "### {} ###", "{}\n==="]


# Headings


@given(st.sampled_from(MARKED), WORDS)
def test_an_answer_that_is_one_heading_is_read_with_the_question(mark, words):
    assert claims(mark.format(words), "Which one is it?") == [f"Which one is it? {words}"]


@given(st.lists(st.tuples(st.sampled_from(MARKED), WORDS, st.integers(0, 99)), min_size=1, max_size=4))
def test_what_is_given_behind_a_colon_counts_however_it_is_marked(lines):
    answer = "\n\n".join(mark.format(f"{words}: ${price}") for mark, words, price in lines)
    assert claims(answer) == [f"{words}: ${price}" for _, words, price in lines]


@given(st.sampled_from(MARKED), WORDS)
def test_a_heading_above_a_paragraph_names_it(mark, words):
    assert claims(f"{mark.format(words)}\n\nThe mill was sold.") == ["The mill was sold."]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("The return window is:\n\n**30 days**", ["The return window is: 30 days"]),
        ("**30 days**\n\nThe window opens on delivery.", ["30 days", "The window opens on delivery."]),
        ("## Rating: 4.5/5\n\nIt is liked.", ["Rating: 4.5/5", "It is liked."]),
        ("## Side effects: nausea\n\nIt is safe.", ["Side effects: nausea", "It is safe."]),
        ("# Paris\n\nI hope this helps!", ["Paris"]),
        ("# Fees\n\nIt costs $5.\n\n**$9 for groups**", ["It costs $5.", "Fees: $9 for groups"]),
        # Titles have colons too, and what stands above everything names everything.
        ("# Summary: The Fall of a King\n\nHe fled.", ["He fled."]),
        ("## Step 2: Preheat\n\nHeat it.", ["Heat it."]),
        ("**The Blue Door**\n\n**Hours**\n\nIt opens at 9.", ["It opens at 9."]),
        ("**Details:**\n\n**Hours:**\n- 9 to 5", ["Hours: 9 to 5"]),
        ("# Guide\n\n## Care\n\nWater it.", ["Water it."]),
        ("## Refund policy\n\nThe documents do not mention it.", []),
        ("**Answer: Oslo**\n\nIt is the capital.", ["Oslo", "It is the capital."]),
        ("**Champion: Ghana**\n\nIt won in May.", ["Champion: Ghana", "It won in May."]),
        ("## No dogs\n\nThe hall is small.", ["No dogs", "The hall is small."]),
        ("No bikes inside\n- Folding ones excepted", ["No bikes inside", "No bikes inside: Folding ones excepted"]),
        ("## Delivery terms: overview\n\nIt is fast.", ["It is fast."]),
        ("**Phone X2: Technical Specifications**\n\nIt is light.", ["It is light."]),
        ("### 3. Storage\n1. **Files**\n   - 9 GB per seat", ["3. Storage: Files: 9 GB per seat"]),
        ("The plan includes:\n- **Files**\n  - 9 GB per seat", ["The plan includes: Files", "The plan includes: Files: 9 GB per seat"]),
        ("- **Food:** a fine pasta, good bread, and old wine\n  - new cups", ["Food: a fine pasta, good bread, and old wine", "Food: a fine pasta, good bread, and old wine: new cups"]),
        ("**Yes**\n\nThe lease allows cats.", ["The lease allows cats."]),
    ],
)
def test_headings(answer, said):
    assert claims(answer) == said


def test_a_bold_yes_is_read_with_the_question():
    assert claims("**Yes**\n\nThe lease allows cats.", "Are cats allowed?")[0] == "Are cats allowed? Yes"


# Numbers that count a list, and others


@given(st.integers(2, 999), st.sampled_from(["{}. ", "{}) ", "({}) "]), st.sampled_from(["", "How many are there? ", "It is old.\n\n"]))
def test_a_number_that_counts_no_list_is_in_a_unit(number, mark, before):
    figure = mark.format(number)
    answer = f"{before}{figure}That is all of them."
    at = answer.index(str(number))
    assert any(claim.start <= at < claim.end for claim in split_claims(answer))


@given(st.integers(2, 9), st.sampled_from(["{}. ", "{}) ", "({}) "]), st.sampled_from(["\n", "\n\n", " "]), st.integers(1, 30))
def test_numbers_that_count_are_in_no_unit(count, mark, glue, first):
    first = 1 if glue == " " else first
    answer = glue.join(f"{mark.format(number)}It has a lamp." for number in range(first, first + count))
    assert claims(answer) == ["It has a lamp."] * count


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("How many? 12. Is it heated? Yes.", ["How many? 12.", "Is it heated? Yes."]),
        ("Goals: 1. Assists: 2. Cards: 3. He left early.", ["Goals: 1.", "Assists: 2.", "Cards: 3.", "He left early."]),
        ("Rules: 1. Be kind. 2. Be quick.", ["Rules: Be kind.", "Rules: Be quick."]),
        ("30. These are they:\n1. Ten for rest\n2. Twenty for travel", ["30. These are they:", "30. These are they: Ten for rest", "30. These are they: Twenty for travel"]),
        ("2. They are listed here:\n1. Oslo\n2. Lima\n3. Rome", ["2. They are listed here:", *(f"2. They are listed here: {name}" for name in ("Oslo", "Lima", "Rome"))]),
        ("3. It is old.\n2. It is new.\n1. It is best.", ["It is old.", "It is new.", "It is best."]),
        ("5. It has five.", ["5. It has five."]),
        ("(5) people came.", ["(5) people came."]),
        ("c) Open it.\nd) Close it.", ["Open it.", "Close it."]),
        ("(c) Acme, 2021", ["(c) Acme, 2021"]),
        ("1. It ends.\n\n2. It begins.\n\n10. It goes on.", ["It ends.", "It begins.", "It goes on."]),
        ("1. To sue, one must show: (1) harm and (2) a lie.\n2. It is hard.", ["To sue, one must show: harm and", "To sue, one must show: a lie.", "It is hard."]),
    ],
)
def test_numbers(answer, said):
    assert claims(answer) == said


# Tables


@given(st.lists(st.tuples(WORDS, st.integers(0, 99)), min_size=2, max_size=4), st.booleans())
def test_every_row_of_a_table_of_values_counts(pairs, ruled):
    rows = [f"| Seats {words} | {value} % |" for words, value in pairs]
    if ruled:
        rows.insert(1, "|---|---|")
    assert claims("\n".join(rows)) == [f"Seats {words}: {value} %" for words, value in pairs]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("| **Founded** | in May |\n|:--|:--|\n| **Seat** | Oslo |", ["Founded: in May", "Seat: Oslo"]),
        ("| Founded | 1998 |\n|--|--|\n| Seat | Oslo |", ["Founded: 1998", "Seat: Oslo"]),
        ("| | |\n|--|--|\n| Seat | Oslo |", ["Seat: Oslo"]),
        ("| Metric | 2023 |\n|--|--|\n| Sales | $5 |", ["Metric: Sales; 2023: $5"]),
        ("| North | 2023 |\n|--|--|\n| Sales | $5 |", ["North: Sales; 2023: $5"]),
        ("| **Feature** | **Size** |\n|--|--|\n| **Lamp** | 5 cm |", ["Feature: Lamp; Size: 5 cm"]),
        ("| Accuracy | > 90% |", ["Accuracy: > 90%"]),
        ("| Tier | Covers | Fee |\n|--|--|--|\n| Gold | theft | $5 |", ["Tier: Gold; Covers: theft; Fee: $5"]),
        ("> | Tier | Fee |\n> |--|--|\n> | Gold | $5 |", ["Tier: Gold; Fee: $5"]),
    ],
)
def test_tables(answer, said):
    assert claims(answer) == said


# Fences

TEXTS = st.sampled_from(["The fee is $5.", "- It is new.\n- It is old.", "| Plan | Fee |\n|---|---|\n| Basic | $5 |", "# Fees\n\nIt costs $5 [1].", "I don't know."])


@given(TEXTS, st.sampled_from(["markdown", "md", "text", "txt", "Markdown"]), st.sampled_from(["\n```", "\n~~~", ""]), st.sampled_from(["", "See below.\n\n"]))
def test_text_in_a_fence_is_read_as_if_there_were_none(text, name, closing, before):
    mark = "~~~" if "~" in closing else "```"
    fenced = read(f"{before}{mark}{name}\n{text}{closing}")
    assert fenced == read(f"{before}{text}")


@given(st.dictionaries(WORDS, st.integers(0, 99) | WORDS, min_size=1, max_size=3), st.sampled_from(["json", "JSON", ""]), st.sampled_from([None, 2]))
def test_json_in_a_fence_is_read_like_json(value, name, indent):
    body = json.dumps(value, indent=indent)
    before = f"Here is the JSON:\n\n```{name}\n"
    answer = f"{before}{body}\n```\n\nIt is final."
    inside = [(claim.start + len(before), claim.end + len(before), claim.kind, claim.hypothesis) for claim in split_claims(body)]
    assert [(claim.start, claim.end, claim.kind, claim.hypothesis) for claim in split_claims(answer)[1:-1]] == inside


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("```\nThe price is $40\n```", ["The price is $40"]),
        ('```json {"fee": "$5"}', ["fee: $5"]),
        ('```json {"fee": "$5"}```\nIt is final.', ["fee: $5", "It is final."]),
        ('```json\n{"fee": "$5", "ter', ['{"fee": "$5", "ter']),
        ("```Fee: $9 per head\n```\nIt is due.", ["Fee: $9 per head", "It is due."]),
        ("```\nx = f(1)```\nThe lamp is new.", ["The lamp is new."]),
        ("```sh\nls -l\n``` The lamp is new.\n\nIt is over.", ["The lamp is new.", "It is over."]),
        ("```output\nThe lamp is on the mill.\n```", ["The lamp is on the mill."]),
        ("```Oslo\n```", ["Oslo"]),
        ("```\nThe mill is old.```\nIt is sold.\n```py\nx = 1\n```", ["The mill is old.", "It is sold."]),
        ("```markdown\nRun this:\n```sh\nls -l\n```\nIt is done.\n```\nIt is over.", ["It is done.", "It is over."]),
    ],
)
def test_fences(answer, said):
    assert claims(answer) == said


@pytest.mark.parametrize("inside", ["x = 5\nprint(x)", "pip install acme", "# This sets the price to five.\nprice = 5\nfee = price + 1", "for (;;) { stop(); }", "name: acme\nport: 80"])
@pytest.mark.parametrize("name", ["", "python"])
def test_code_stays_code(inside, name):
    assert [kind for kind, _ in read(f"See this.\n\n```{name}\n{inside}\n```")][1:] == ["code"]


# Citations and other brackets, signs, tags, speakers


@pytest.mark.parametrize(
    "text",
    [
        "The function returns [1, 2, 3].", "Use arr[5]", "Use my_list[5] here.", "Use arr[1][2] here.", "It has values [3, 5] and the range was [6, 8].", "sorted([3,1,2]) gives [1, 2, 3]",
        "The ratio was 3 (95% CI [1, 9]).", "The scale [3–18] was used.", "2*3*7 = 42 and 5*2 = 10", "It fell (context: a bribe at the mill).", "【定休日】月曜は休みです。",
        "As shown in [3-5], it works.", "If a<b then b>a.", "If x <b and y> c.", ">90% of patients recovered.", "Customer: Acme Inc.", "Agent: J. Park",
    ],
)  # fmt: skip
def test_signs_and_numbers_in_brackets_are_kept(text):
    assert claims(text) == [text]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Sales rose [1, 2].", "Sales rose."),
        ("Sales rose[1] in May [2,3], too [4].", "Sales rose in May, too."),
        ("Sales rose (5%)[1].", "Sales rose (5%)."),
        ("Sales rose ([1], [2]).", "Sales rose."),
        ("We offer free returns [1, 2].", "We offer free returns."),
        ("He is Bo Lee [1][2].", "He is Bo Lee."),
        ("It is new [1](http://a.b).", "It is new."),
        ("- >5 years of work", ">5 years of work"),
        ("> It is new.", "It is new."),
        ("It costs $8<sup>2</sup> and covers 10<sup>3</sup> m<sup>2</sup>.", "It costs $8 and covers 10^3 m^2."),
        ('It is <b>new</b> <a href="x">here</a><br/>now.', "It is new here now."),
        ("Agent: The lease allows cats.", "The lease allows cats."),
        ("**Assistant:** It is new.", "It is new."),
    ],
)
def test_marks_are_not_read(text, said):
    assert claims(text) == [said]


def test_what_a_speaker_says_has_its_kind():
    assert read("User: Thanks!\n\nAgent: You're welcome!") == [("greeting", "Thanks!"), ("greeting", "You're welcome!")]


@pytest.mark.parametrize("answer", ["<answer>Oslo</answer>", "<answer>\nOslo\n</answer>"])
def test_tags_around_an_answer_leave_it_alone(answer):
    assert claims(answer, "Where is it?") == ["Where is it? Oslo"]


# Bibliographies


@given(st.lists(st.sampled_from(["Lease agreement", "https://x.org/a", "Handbook, 2019", '"Rates"']), min_size=1, max_size=4), st.sampled_from(["\n", "\n\n"]), st.sampled_from(["Sources:", "**References**"]))
def test_entries_below_sources_are_no_claims(entries, glue, lead):
    answer = glue.join(f"[{number}] {entry}" for number, entry in enumerate(entries, 1))
    assert claims(f"It ends in May.\n\n{lead}\n{answer}\n\nThe lease is new.") == ["It ends in May.", "The lease is new."]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("It ends.[^1]\n\n[^1]: Lease, section 4.", ["It ends."]),
        ("It ends.[^1]\n\n[^1]: The lease ends in May.", ["It ends.", "The lease ends in May."]),
        ("Sources:\n[1] Lease\n[2] The lease ends in May.\n\nPrice: $40", ["The lease ends in May.", "Price: $40"]),
        ("**Sources:**\n- Lease\n\nPrice: $40", ["Price: $40"]),
        ("## Sources\n- Lentils\n- Spinach", ["Sources: Lentils", "Sources: Spinach"]),
        ("**Sources:**\n- Wind\n- Tidal power such as La Rance", ["Sources: Wind", "Sources: Tidal power such as La Rance"]),
        ("Sources: coal, gas, and peat.", ["Sources: coal, gas, and peat."]),
        ("It ends.\n\nSource: [Acme](https://a.b/c)", ["It ends."]),
        ("It ends.\n\nSources: *The Mill*, doc_3", ["It ends."]),
        ("It is free.[^1]\n\n[^1]: Not on Mondays.\n[^2]: $9 fee for coaches", ["It is free.", "Not on Mondays.", "$9 fee for coaches"]),
    ],
)
def test_sources(answer, said):
    assert claims(answer) == said


# JSON


@pytest.mark.parametrize(
    ("value", "notes"),
    [
        ({"match": "Ghana vs Peru", "score": "3-1", "source": "Lake Oslo"}, []),
        ({"answer": "It is 5.", "score": 0.9, "source": "a.pdf"}, ["score", "source"]),
        ({"answer": "It is 5.", "confidence": "high", "sources": ["https://x.org"]}, ["confidence", "sources"]),
        ({"answer": "It is 5.", "score": "3-1"}, []),
        ({"answer": "It is 5.", "source": "The lease was signed in May."}, []),
        ({"answer": "It is 5.", "notes": {"score": "98%", "source_id": 7}}, ["notes: score", "notes: source_id"]),
        ({"club": "Ghana Stars", "score": 71, "summary": "It won."}, []),
        ({"answer": "It was sold.", "reference": "Lamp hall, Oslo, June 2011"}, []),
        ({"answer": "It was sold.", "reference": "Lee et al., 2011"}, ["reference"]),
        ({"confidence": 0.9}, []),
    ],
)
def test_notes_stand_beside_an_answer(value, notes):
    found = [hypothesis.rpartition(": ")[0] for kind, hypothesis in read(json.dumps(value)) if kind == "meta" and ":" in hypothesis]
    assert found == notes


# What stands before an item, or before an answer


@pytest.mark.parametrize("lead", ["You can't enter if:", "These beliefs are false:", "The pass is void when:", "According to critics:", "Opponents argue that:", "The fee is not charged when:", "## Myths"])
def test_what_governs_its_items_is_read_before_sentences_too(lead):
    answer = f"{lead}\n- The lamp is broken.\n- It is cold in the hall."
    start = lead.strip("# ").rstrip(":") + ":"
    assert claims(answer)[-2:] == [f"{start} The lamp is broken.", f"{start} It is cold in the hall."]


@pytest.mark.parametrize("lead", ["The pass covers:", "Here are some facts:", "The documents say:", "The article debunks some myths:", "If you do not have a key, do this:"])
def test_other_lead_ins_leave_sentences_alone(lead):
    assert claims(f"{lead}\n- The lamp is broken.\n- The hall is cold.")[-2:] == ["The lamp is broken.", "The hall is cold."]


@pytest.mark.parametrize("bullet", ["▪️ ", "✅ ", "🔹 ", "", "- "])
def test_every_fragment_of_a_list_has_its_lead_in(bullet):
    items = ("Meals", "Travel outside Oslo", "Towels")
    answer = "The pass does not include:\n" + "\n".join(f"{bullet}{item}" for item in items)
    mark = bullet if bullet in ("✅ ", "🔹 ") else ""
    assert claims(f"{answer}\n\nIt is new.") == [*(f"The pass does not include: {mark}{item}" for item in items), "It is new."]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Is it new? Yes. Is it heated? No.", ["Is it new? Yes.", "Is it heated? No."]),
        ("Q: Is it new?\nA: No.", ["Is it new? No."]),
        ("## Is it new?\n\nNo.", ["Is it new? No."]),
        ("Who built it? It was Bo Lee.", ["It was Bo Lee."]),
    ],
)
def test_an_answer_inside_an_answer_has_its_question(answer, said):
    assert claims(answer) == said


@pytest.mark.parametrize("name", ["Hello Dolly", "Good Morning Vietnam", "Dear Evan Hansen", "Welcome to the Dollhouse"])
def test_a_greeting_may_be_the_name_that_was_asked_for(name):
    assert claims(name, "Which film is it?") == [f"Which film is it? {name}"]
    assert not claims(name) and not claims("Hello there!", "Which film is it?")


def test_records_are_read_with_their_names():
    value = {"tiers": [{"name": "Gold", "note": "It is for theft."}, {"name": "Tin", "note": "It is for fire.", "fee": 5}]}
    assert claims(json.dumps(value)) == ["tiers: name: Gold", "tiers: Gold: note: It is for theft.", "tiers: name: Tin", "tiers: Tin: note: It is for fire.", "tiers: Tin: fee: 5"]


@given(st.sampled_from(["<p>{}</p>", "<li>{}</li>", "{}<br>", "<div>{}</div>"]), st.integers(1, 4))
def test_tags_of_blocks_part_sentences(tag, count):
    assert claims("".join(tag.format("The mill is old") for _ in range(count))) == ["The mill is old"] * count


@pytest.mark.parametrize("behind", ["a" + "/" * 300 + "!", "a:" + "/." * 200 + " !", "x " + 'a="b ' * 60 + "!", "a " + "{a " * 60])
def test_what_stands_behind_a_fence_mark_is_read_in_one_way_only(behind):
    begun = time.perf_counter()
    split_claims(f"The fee is due.\n```{behind}\nx = 1\n```\nIt is new.")
    assert time.perf_counter() - begun < 2
