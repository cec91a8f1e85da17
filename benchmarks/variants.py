"""What an option of `Scorer` changes in the agreement with people, and what it costs in pairs.

    python benchmarks/variants.py --data DATA --out benchmarks/results/variants --slice 400
    (variants.json and variants.md; a table on stdout)

Every variant scores the same answers as the plain run (labelled by people, else by an LLM judge). Figures: balanced
accuracy and F1 of the unfaithful class for the strict rule (every claim supported) and for `faithful` (whose threshold was
fitted on ragtruth_human, so there it is no test), AUROC of `min_support`, claims, pairs; differences from the plain run are
paired, with 95 % intervals by a bootstrap over source documents. Data as for agreement.py. A pair that several variants ask
for is read once, and not at all when agreement.py has it in --pairs; what each would have read alone is
counted all the same. Finished answers stay in --store, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))

from cascade import SETTLED  # noqa: E402
from measures import DRAWS, Bootstrap, auroc, cells, figure, rates  # noqa: E402
from nli_faith import Scorer  # noqa: E402
from nli_faith.memory import keep_freed_memory  # noqa: E402
from nli_faith.options import DEFAULT_MODEL  # noqa: E402
from nli_faith.types import Counts, PairTable  # noqa: E402
from pair_store import PairStore, code_digest, row_of  # noqa: E402
from read_rows import ReadRow  # noqa: E402
from references import load, main_label, sets_in  # noqa: E402

PLAIN = "plain"
VARIANTS = {
    PLAIN: {},
    "clause": {"granularity": "clause"},
    "joined 2": {"joined_evidence": 2},
    "joined 3": {"joined_evidence": 3},
    "joined 5": {"joined_evidence": 5},
    "pronouns": {"prefix_pronouns": True},
    "strict numbers": {"flags": True, "strict_numbers": True},
    "joined 2, strict numbers": {"joined_evidence": 2, "flags": True, "strict_numbers": True},
    "clause, pronouns, joined 3": {"granularity": "clause", "prefix_pronouns": True, "joined_evidence": 3},
}
ROWS_AT_ONCE = 32


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with eval/<set>.dev.jsonl(.gz)")
    parser.add_argument("--out", type=Path, required=True, help="name of the .json and .md files, without ending")
    parser.add_argument("--model", default=DEFAULT_MODEL, help="as for `Scorer` (default: %(default)s)")
    parser.add_argument("--dtype", default="auto", help="number format of the model (default: auto)")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="only these (default: every file in eval/)")
    parser.add_argument("--slice", type=int, metavar="N", help="about N answers of each set")
    parser.add_argument("--variants", nargs="+", metavar="V", choices=[name for name in VARIANTS if name != PLAIN],
                        help="only these beside the plain run (default: all)")  # fmt: skip
    parser.add_argument("--pairs", type=Path, default=Path("work/pairs"), help="agreement.py's --store (default: work/pairs)")
    parser.add_argument("--store", type=Path, default=Path("work/variants"), help="finished answers (default: work/variants)")
    parser.add_argument("--draws", type=int, default=DRAWS, help="of the bootstrap (default: 1000)")
    args = parser.parse_args(argv)
    keep_freed_memory()
    chosen = [PLAIN, *(args.variants or [name for name in VARIANTS if name != PLAIN])]
    pairs = PairStore(args.pairs, args.model, args.dtype, probe=args.model != "fake")
    reader = Remembering(pairs.scorer.reader)
    scorers = {name: Scorer(args.model, dtype=args.dtype, **VARIANTS[name]).over(reader) for name in chosen}
    report = {}
    for name in args.sets or sets_in(args.data):
        records = [record for record in load(args.data, name, args.slice) if main_label(record) is not None]
        reader.learn(pairs, pairs.rows(name, records, _say), records)
        answers = {variant: read(scorer, name, records, args.store) for variant, scorer in scorers.items()}
        reader.known.clear()
        report[name] = measure(records, answers, args.draws)
        print(table(name, report[name]), flush=True)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"slice": args.slice, "draws": args.draws, "sets": report}, indent=1)
    args.out.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    note = "`faithful` uses the threshold of the model's card. That of the bundled model was fitted on ragtruth_human: no test there.\n"
    tables = [table(name, one) for name, one in report.items()]
    args.out.with_suffix(".md").write_text("\n".join([note, *tables]), encoding="utf-8")
    return 0


class Remembering:
    """A `model.Reader` that reads no pair twice, whichever variant asks for it.

    Attributes:
        known: float32[C] of every pair read so far, under a digest of its ids.
    """

    def __init__(self, reader) -> None:
        self._reader = reader
        self.known: dict[bytes, np.ndarray] = {}

    def __getattr__(self, name: str):
        return getattr(self._reader, name)

    def learn(self, pairs: PairStore, rows: Sequence[ReadRow], records: Sequence[dict]) -> None:
        """Keep what `pairs` gave out for these records."""
        seen = pairs.scorer.read_window([row_of(record) for record in records], model=False)
        premises, hypotheses = _digests(seen.premises.ids), _digests(seen.hypotheses.ids)
        for draft, row in zip(seen.drafts, rows, strict=True):
            for hypothesis, own in zip(draft.hypotheses if draft.status == "scored" else (), row.p):
                self.known |= {premises[w] + hypotheses[hypothesis]: p for w, p in zip(draft.premises, own, strict=True)}

    def probabilities(self, table: PairTable, premises, hypotheses, counts: Counts) -> np.ndarray:
        """float32[P, C]; `counts.pairs_scored` grows by P, as if nothing had been known."""
        sides = _digests(premises), _digests(hypotheses)
        keys = [sides[0][a] + sides[1][b] for a, b in zip(table.premise.tolist(), table.hypothesis.tolist(), strict=True)]
        fresh = [i for i, key in enumerate(keys) if key not in self.known]
        asked = PairTable(table.premise[fresh], table.hypothesis[fresh], table.length[fresh])
        p = self._reader.probabilities(asked, premises, hypotheses, counts)
        self.known |= {keys[i]: own for i, own in zip(fresh, p, strict=True)}
        counts.pairs_scored += len(keys) - len(fresh)
        return np.stack([self.known[key] for key in keys]) if keys else p


def _digests(texts: Sequence[np.ndarray]) -> list[bytes]:
    return [hashlib.blake2b(ids.tobytes(), digest_size=16).digest() for ids in texts]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def read(scorer: Scorer, name: str, records: Sequence[dict], store: Path) -> list[dict]:
    """Status, verdicts and cost of every record; what is stored of the same model, options, texts and code is not read again."""
    texts = json.dumps([[r["id"], r["response"], r["contexts"], r.get("question")] for r in records])
    key = json.dumps([scorer.identity(), code_digest(), hashlib.sha256(texts.encode()).hexdigest()], sort_keys=True)
    path = store / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    begun = time.perf_counter()
    for start in range(len(done), len(records), ROWS_AT_ONCE):
        part = records[start : start + ROWS_AT_ONCE]
        result = scorer.score_window([row_of(record) for record in part])
        for i, score in enumerate(result.scores):
            joined = sum(claim.joined is not None for claim in score.claims)
            kept = {"status": score.status, "support": score.min_support, "faithfulness": score.faithfulness}
            kept |= {"faithful": score.faithful, "claims": score.n_claims, "joined": joined}
            # A window's cost belongs to all its rows; it is kept with the first.
            cost = {"pairs": result.counts.pairs, "pairs_scored": result.counts.pairs_scored}
            done.append(kept | {"cost": cost if i == 0 else None})
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(row) + "\n" for row in done[start:]))
        _say(f"{name}: {len(done)} of {len(records)}, {time.perf_counter() - begun:.0f} s")
    return done


def measure(records: Sequence[dict], answers: dict[str, list[dict]], draws: int) -> dict:
    """Figures of each variant and its differences from the plain run, on the answers that all of them scored."""
    kept = [i for i in range(len(records)) if all(rows[i]["status"] != "error" for rows in answers.values())]
    faithful = np.array([main_label(records[i]) for i in kept], dtype=bool)
    bootstrap = Bootstrap(np.array([str(records[i]["source_id"]) for i in kept]), draws)
    values = {name: _values([rows[i] for i in kept], faithful, bootstrap) for name, rows in answers.items()}
    out = {"rows": len(kept), "sources": bootstrap.sources, "unfaithful": int((~faithful).sum()), "variants": {}}
    for name, rows in answers.items():
        own, plain = values[name], values[PLAIN]
        costs = [row["cost"] for row in rows if row["cost"]]
        out["variants"][name] = {
            "figures": {key: figure(*own[key]) for key in own},
            "differences": {key: figure(own[key][0] - plain[key][0], own[key][1] - plain[key][1]) for key in own},
            "claims": sum(row["claims"] for row in rows),
            "joined": sum(row["joined"] for row in rows),
            "pairs": sum(cost["pairs"] for cost in costs),
            "pairs_scored": sum(cost["pairs_scored"] for cost in costs),
        }
    return out


def _values(rows: Sequence[dict], faithful: np.ndarray, bootstrap: Bootstrap) -> dict[str, tuple[float, np.ndarray]]:
    """(value, float64[draws]) of each figure."""
    settled = [SETTLED.get(row["status"]) for row in rows]
    pairs = list(zip(rows, settled))
    support = np.array([row["support"] if s is None else s for row, s in pairs], dtype=float)
    said = {
        "strict": np.array([row["faithfulness"] == 1 if s is None else s == 1 for row, s in pairs], dtype=bool),
        "faithful": np.array([bool(row["faithful"]) if s is None else s == 1 for row, s in pairs], dtype=bool),
    }
    found = {}
    for rule, verdict in said.items():
        sums = cells(verdict, faithful)
        whole, drawn = rates(sums.sum(axis=0)), rates(bootstrap.sums(sums))
        for key in ("balanced_accuracy", "f1_unfaithful"):
            found[f"{rule} {key}"] = float(whole[key]), drawn[key]
    if len(np.unique(faithful)) == 2:
        found["auroc"] = float(auroc(support, faithful)[0]), auroc(support, faithful, bootstrap.weights)
    return found


def table(name: str, one: dict) -> str:
    """Markdown of one set."""
    keys = list(one["variants"][PLAIN]["figures"])
    head = [f"### {name}: {one['rows']} answers, {one['sources']} sources, {one['unfaithful']} unfaithful", ""]
    head += ["| variant | claims | rescued | pairs scored | " + " | ".join(keys) + " |", "|---" * (4 + len(keys)) + "|"]
    lines = []
    for variant, own in one["variants"].items():
        shown = [f"{100 * own['figures'][key][0]:.1f}" for key in keys]
        if variant != PLAIN:
            changes = [tuple(100 * x for x in own["differences"][key]) for key in keys]
            shown = [f"{cell} ({d:+.1f}, {low:+.1f} to {high:+.1f})" for cell, (d, low, high) in zip(shown, changes)]
        cost = own["pairs_scored"] / max(1, one["variants"][PLAIN]["pairs_scored"])
        counts = f"{own['claims']} | {own['joined']} | {own['pairs_scored']} ({cost:.2f}x)"
        lines.append(f"| {variant} | {counts} | {' | '.join(shown)} |")
    return "\n".join([*head, *lines, ""])


if __name__ == "__main__":
    sys.exit(main())
