"""How far nli-faith agrees with people and with LLM judges, beside what detectors and rules without a model reach.

    python benchmarks/agreement.py --data DATA --out benchmarks/results/agreement
    (agreement.json, agreement.md and three charts; a table on stdout; charts need `pip install 'nli-faith[bench]'`)

Reads every `DATA/eval/<set>.dev.jsonl(.gz)`: id, source_id, contexts, response, question, task, human {faithful, label,
spans} and judges {name: verdict or score}. The public originals: RAGTruth (ParticleMedia/RAGTruth), FaithBench and
FaithJudge (vectara), WiCE (ryokamoi/wice), AggreFact and LLM-AggreFact. The answers are scored by `Scorer`, and the
probabilities of all pairs stay in `--store`, so that a second run needs no model and an interrupted one goes on.

Figures are made per set and task. Thresholds are never chosen on rows that they are reported on; see contenders.py.
Intervals: 95 %, a bootstrap over source documents, with thresholds held fixed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))

import cascade  # noqa: E402
from agreement_figures import measure  # noqa: E402
from agreement_report import markdown, summary  # noqa: E402
from answers import columns, plain_rows  # noqa: E402
from contenders import elsewhere  # noqa: E402
from measures import DRAWS  # noqa: E402
from nli_faith.errors import NliFaithError, UsageError  # noqa: E402
from nli_faith.memory import keep_freed_memory  # noqa: E402
from nli_faith.options import DEFAULT_MODEL, GRANULARITIES  # noqa: E402
from nli_faith.scores import Rule  # noqa: E402
from pair_store import PairStore  # noqa: E402
from references import load, sets_in  # noqa: E402

FIT_SETS = ("ragtruth_human", "wice")
WARNINGS = {
    "faithbench": "FaithBench holds only answers on which such detectors disagreed: its figures are no measure of "
    "ordinary answers.",
}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with eval/<set>.dev.jsonl(.gz)")
    parser.add_argument("--out", type=Path, required=True, help="name of the .json, .md and .png files, without ending")
    parser.add_argument("--model", default=DEFAULT_MODEL,
                        help="bundled name, folder, Hugging Face id or 'fake' (default: %(default)s)")  # fmt: skip
    parser.add_argument("--dtype", default="auto", help="number format of the model (default: auto)")
    parser.add_argument("--device", default="auto", help="where the model runs (default: auto)")
    parser.add_argument("--granularity", default="sentence", choices=GRANULARITIES, help="of the claims (default: sentence)")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="only these (default: every file in eval/)")
    parser.add_argument("--slice", type=int, metavar="N",
                        help="about N answers of each set, tasks and labels in their shares")  # fmt: skip
    parser.add_argument("--first", type=int, metavar="N", help="the first N answers of each set")
    parser.add_argument("--fit-sets", nargs="+", default=list(FIT_SETS), metavar="SET",
                        help="sets that the answer threshold is chosen on (default: ragtruth_human wice)")  # fmt: skip
    parser.add_argument("--threshold", type=float, metavar="P",
                        help="P(entailment) from which a claim is supported (default: argmax)")  # fmt: skip
    parser.add_argument("--store", type=Path, default=Path("work/pairs"),
                        help="folder of the pair probabilities (default: %(default)s)")  # fmt: skip
    parser.add_argument("--draws", type=int, default=DRAWS, help="of the bootstrap (default: %(default)s)")
    parser.add_argument("--no-charts", action="store_true", help="draw nothing, which needs no matplotlib")
    args = parser.parse_args(argv)
    try:
        _run(args)
    except NliFaithError as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _run(args: argparse.Namespace) -> None:
    keep_freed_memory()
    there = sets_in(args.data)
    if unknown := [name for name in args.sets or () if name not in there]:
        raise UsageError(f"{args.data / 'eval'} holds no set {unknown[0]!r}; it holds {', '.join(there) or 'none'}.")
    if not there:
        raise UsageError(f"{args.data / 'eval'} holds no *.dev.jsonl(.gz); --data names the folder above eval/.")
    if not args.no_charts:
        charts = _charts()
    store = PairStore(args.store, args.model, args.dtype, args.granularity, args.device)
    rule, answers, errors = Rule(args.threshold), {}, {}
    for name in args.sets or there:
        records = load(args.data, name, args.slice)[: args.first]
        answers[name] = columns(records, store.rows(name, records, _say), rule)
        errors[name] = len(records) - len(answers[name])
    begun = time.perf_counter()
    thresholds, where = elsewhere(answers, args.fit_sets, store.card.answer_threshold)
    sets = measure(answers, thresholds, args.draws)
    _say(f"figures made in {time.perf_counter() - begun:.0f} s")
    rows = [row for name, one in answers.items() for row in plain_rows(name, one)]
    report = {
        "model": args.model, "model_hash": store.model_hash, "precision": sorted(store.precisions),
        "granularity": args.granularity, "claim_rule": "argmax" if args.threshold is None else args.threshold,
        "card_threshold": store.card.answer_threshold,
        "elsewhere": where, "slice": args.slice, "first": args.first, "draws": args.draws, "errors": errors,
        "warnings": {name: WARNINGS[name] for name in answers if name in WARNINGS}, "sets": sets,
    }  # fmt: skip
    args.out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_without_nan(report), indent=1, ensure_ascii=False) + "\n"
    Path(f"{args.out}.json").write_text(text, encoding="utf-8")
    Path(f"{args.out}.md").write_text(markdown(report), encoding="utf-8")
    # For cascade.py and fit_threshold.py; beside the pairs, since it is large and made anew in a moment.
    store.folder.mkdir(parents=True, exist_ok=True)
    (store.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    _say(f"rows for cascade.py and fit_threshold.py: {store.folder / 'rows.jsonl'}")
    print(summary(report))
    if not args.no_charts:
        charts.draw_roc(report, Path(f"{args.out}-roc.png"))
        charts.draw_reliability(report, Path(f"{args.out}-reliability.png"))
        if saved := cascade.measure(rows, args.data):
            cascade.draw(saved, Path(f"{args.out}-cascade.png"))


def _charts():
    try:
        import agreement_charts
    except ImportError:
        advice = "Run: pip install 'nli-faith[bench]', or leave them out with --no-charts."
        raise UsageError(f"The charts need matplotlib. {advice}") from None
    return agreement_charts


def _without_nan(value):
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and np.isnan(value) else value


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
