"""How fast pairs are read on this machine, by length, and how far the numbers are from plain float32: `nli-faith bench`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from nli_faith import parity
from nli_faith.batches import MAX_PAIRS
from nli_faith.devices import DTYPES
from nli_faith.errors import UsageError
from nli_faith.made_up import made_up_pairs
from nli_faith.speed import EagerNetwork, ceiling, disturbed, list_pairs, load, machine, passes, peak_memory, read, speed
from nli_faith.types import Counts

# Batches of one pass: enough that the last, smaller one does not show.
_BATCHES = 4
_PARITY_PAIRS = 4


def bench(reader, lengths: Sequence[int], seconds: float = 60.0, say: Callable[[str], None] = lambda line: None) -> dict:
    """JSON-able: `machine`, `load_before`, `load_after`, `disturbed`, `ceiling_tflops`, `lengths` (one dict each), `parity`.

    Args:
        reader: a loaded `NliModel`.
        seconds: about how long to measure; a slow machine takes a little longer, as every length is read at least twice.
        say: gets a line about what is done next.
    Raises:
        UsageError: the reader is no network, or no length fits the model.
    """
    if not hasattr(reader, "checkpoint"):
        raise UsageError("bench measures a network, and --model fake has none. Leave --model out for the bundled one.")
    fitting = [length for length in lengths if length <= reader.card.max_length]
    if not fitting:
        raise UsageError(f"{reader.checkpoint.name} reads at most {reader.card.max_length} tokens; give shorter --lengths.")
    report = {"machine": machine(reader), "load_before": load()}
    top = ceiling(reader.device, DTYPES[reader.dtype])
    report |= {"ceiling_tflops": round(top / 1e12, 3), "lengths": []}
    for length in fitting:
        say(f"{length} tokens ...")
        report["lengths"].append(_measure(reader, length, seconds / len(fitting), top))
    say("parity with float32 ...")
    report["parity"] = _parity(reader, fitting)
    report |= {"peak_memory_mib": peak_memory(reader.device), "load_after": load()}
    return report | {"disturbed": disturbed(report["load_before"], report["load_after"], reader.device)}


def _measure(reader, length: int, seconds: float, top: float) -> dict:
    """Speed at one length. The first batch warms up and tells how many pairs a pass can have."""
    batch = max(1, reader.budget // length)
    # A GPU takes about as long for 4 pairs as for a whole batch, so that only a whole one tells what a pair costs.
    sample = min(4, batch) if reader.device.type == "cpu" else min(MAX_PAIRS, batch)
    few = list_pairs(made_up_pairs(length, sample, reader), reader)
    read(reader, few)
    begun = time.perf_counter()
    read(reader, few)
    each = (time.perf_counter() - begun) / len(few)
    count = max(len(few), min(_BATCHES * batch, int(seconds / 4 / each)))
    pairs = list_pairs(made_up_pairs(length, count, reader), reader)
    counts = Counts()
    read(reader, pairs, counts)
    taken = passes(lambda: read(reader, pairs), seconds / 2)
    padding = 1 - counts.tokens / counts.padded_tokens
    line = {"length": length, "pairs": len(pairs), "mean_tokens": round(pairs.tokens / len(pairs), 1), "padding": round(padding, 4)}
    return line | speed(taken, pairs, reader.checkpoint.config, top, reader.reads_first_only)


def _parity(reader, lengths: Sequence[int]) -> dict:
    """The chosen way to run beside transformers' eager code in float32, on few pairs of every length."""
    texts = [pair for length in lengths for pair in made_up_pairs(length, _PARITY_PAIRS, reader)]
    pairs = list_pairs([*texts, *((premise, hypothesis) for premise, hypothesis, _ in parity.PROBE)], reader)
    reference = read(reader.variant(network=EagerNetwork(reader.checkpoint).to(reader.device), dtype="fp32"), pairs)
    p = read(reader, pairs)
    return {
        "pairs": len(pairs),
        "max_difference": parity.written(parity.difference(p, reference)),
        "limit": parity.TOLERANCE[reader.dtype],
        "verdict_agreement": parity.agreement(p, reference),
        "ok": parity.fault(p, reference, reader.dtype) is None,
    }


def show(report: dict) -> str:
    """What `bench` found, for people."""
    ran, parity_found = report["machine"], report["parity"]
    on = ran["gpu"] or f"{ran['threads']} threads of {ran['cores']} cores, {ran['capability']}"
    rows = [
        {
            "tokens": str(line["length"]),
            "pairs/s": line["pairs_per_second"],
            "tokens/s": line["tokens_per_second"],
            "padding": f"{100 * line['padding']:.1f} %",
            "of ceiling": f"{line['percent_of_ceiling']:.1f} %",
            "spread": f"{100 * line['spread']:.0f} %",
        }
        for line in report["lengths"]
    ]
    state = "within" if parity_found["ok"] else "OUTSIDE"
    agreed = f"verdicts equal on {100 * parity_found['verdict_agreement']:.1f} % of {parity_found['pairs']} pairs"
    change = parity_found["max_difference"]
    differs = f"largest difference {'infinite' if change is None else f'{change:.4f}'} from transformers' float32"
    lines = [
        f"{ran['model']} on {ran['device']} ({on}), {ran['dtype']}, {ran['attention']}; packed: {ran['packing']}",
        text_table(rows, tuple(rows[0])),
        f"ceiling  {report['ceiling_tflops']:,.2f} TFLOP/s, a matrix product in {ran['dtype']}",
        f"parity   {differs} ({state} {parity_found['limit']}), {agreed}",
    ]
    if report["disturbed"]:
        loads = f"load average {report['load_before']} before, {report['load_after']} after"
        lines.append(f"note     other work ran ({loads}): measure again on an idle machine")
    return "\n".join(lines)


def text_table(rows: Sequence[dict], names: Sequence[str]) -> str:
    """Lines of equal columns; the first is text to the left, the rest numbers to the right, and what is missing is empty."""
    cells = [list(names), *([_cell(row.get(name)) for name in names] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(names))]
    return "\n".join(
        "  ".join(cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths))).rstrip()
        for row in cells
    )


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.4f}" if abs(value) < 1 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
