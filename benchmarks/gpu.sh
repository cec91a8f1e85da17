#!/usr/bin/env bash
# One command for a machine with a CUDA GPU: throughput at the shapes xsmall, base and large, early exit, parity, files.
#
#     benchmarks/gpu.sh [ANSWERS.jsonl]          # rows to measure on; made-up ones without it
#
# THIS SCRIPT HAS NEVER RUN ON A GPU: it was written and checked on a machine without one. Its parts run on CPUs in the
# tests; the figures, and whether it stays under its ten minutes, are for the first run to tell.
#
# Needs no weights beyond the bundled ones (base and large are made from their configs: the same cost) and no network.
# Python packages that the machine lacks are taken from .wheels/ in the root of the repository, where it is there. Fill it
# elsewhere, one version of each, and carry it along; without disentangled-flash only the padded path is measured:
#
#     pip download --no-deps -d .wheels nltk==3.10.4 disentangled-flash==1.1.1
#
# Writes gpu-*.json into benchmarks/results ($OUT where that is set), eight files and nothing else, most of them after
# every figure, so what an interrupted run measured is kept. Each step has a time limit, a failed step doesn't stop the
# rest, and none runs past $TOTAL seconds.
set -u
data="${1:-}"
if [ -n "$data" ]; then
    data="$(realpath -- "$data")" && [ -r "$data" ] || { echo "gpu.sh: $1 can't be read." >&2; exit 1; }
fi
cd "$(dirname "$0")/.." || exit 1
python="${PYTHON:-$(command -v python3 || command -v python)}"
device="${DEVICE:-cuda}"   # DEVICE=cpu SECONDS_EACH=0.2 ROWS=4 PATIENCE=20 is a rehearsal
patience="${PATIENCE:-1}"  # time limits are so many times those below
each="${SECONDS_EACH:-1}"  # seconds of one pass of a contender
rows="${ROWS:-1024}"
total=$((${TOTAL:-580} * patience))
wheels="${WHEELS:-.wheels}"
results="${OUT:-benchmarks/results}"
mkdir -p "$results" || exit 1
scratch="$(mktemp -d)" || exit 1
trap 'rm -rf "$scratch"' EXIT
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" HF_HUB_OFFLINE=1 TMPDIR="$scratch"
failed=0

if compgen -G "$wheels/*.whl" > /dev/null; then
    "$python" -m pip install -q --no-index --no-deps --no-compile --target "$scratch/site" "$wheels"/*.whl ||
        { echo "gpu.sh: the wheels in $wheels can't be installed; see the line above." >&2; exit 1; }
    export PYTHONPATH="$PYTHONPATH:$scratch/site"
fi
# joblib, click, tqdm and regex are what nltk needs.
missing="$("$python" - torch numpy tokenizers safetensors transformers pyarrow fsspec rich nltk joblib click tqdm regex <<'PYTHON'
import sys
from importlib.util import find_spec

print(*(name for name in sys.argv[1:] if find_spec(name) is None))
PYTHON
)" || { echo "gpu.sh: ${python:-python3} does not run; name a Python: PYTHON=/path/to/python $0" >&2; exit 1; }
if [ -n "$missing" ]; then
    echo "gpu.sh: $python lacks ${missing// /, }: install them, or put their wheels into $wheels (see the top of this script)." >&2
    exit 1
fi
if ! "$python" -c 'import sys; from importlib.util import find_spec as f; sys.exit(not (f("disentangled_flash") and f("triton")))'
then
    echo "== disentangled-flash or triton is not installed: only the padded path is measured"
fi

step() {  # step LIMIT_S NAME COMMAND...; with into=FILE before it, what the command prints is kept there
    local limit=$(($1 * patience)) name="$2" begun=$SECONDS
    shift 2
    [ "$limit" -le $((total - SECONDS)) ] || limit=$((total - SECONDS))
    if [ "$limit" -lt 5 ]; then
        echo "== $name LEFT OUT: the $total s are over"
        failed=1
        return
    fi
    echo "== $name"
    if [ -n "${into:-}" ]; then
        timeout -k 5 "$limit" "$@" > "$scratch/printed"
    else
        timeout -k 5 "$limit" "$@"
    fi || { echo "== $name FAILED or ran past $limit s (exit $?)"; failed=1; }
    if [ -n "${into:-}" ] && [ -s "$scratch/printed" ]; then
        cp "$scratch/printed" "$into"
        cat "$into"
    fi
    echo "== $name took $((SECONDS - begun)) s"
}

into="$results/gpu-doctor.json" step 40 doctor "$python" -m nli_faith doctor --device "$device" --json
into="$results/gpu-bench.json" step 45 parity "$python" -m nli_faith bench --device "$device" --seconds 12 --json
# The aims are pairs/s at 256 tokens: xsmall 18,600 (goal 14,000), base 7,400 (goal 6,000), large 2,000.
for shape in xsmall base large; do
    what=(--shape "$shape" --lengths "${LENGTHS:-256,128,512}")
    [ "$shape" = xsmall ] && what=(--model nli-faith-xsmall --lengths "${LENGTHS:-256,128,512}")
    [ "$shape" = large ] && what=(--shape large --lengths "${LENGTHS:-256,512}" --no-steps)
    step 100 "throughput, $shape" "$python" benchmarks/throughput.py "${what[@]}" --device "$device" \
        --peers "${PEERS:-crossencoder}" --seconds "$each" --passes 3 --out "$results/gpu-throughput-$shape.json"
done
if [ -z "$data" ]; then
    data="$scratch/made-up.jsonl"
    step 30 "made-up rows" "$python" benchmarks/timing.py --rows "$rows" --out "$scratch/once.jsonl"
    for _ in 1 2 3 4; do cat "$scratch/once.jsonl"; done > "$data"  # several windows, and no text twice in one
fi
# Aims: 600 answers/s exhaustive, 1,000 with --early-exit.
step 60 "early exit" "$python" benchmarks/early_exit.py --device "$device" --limit "$rows" --data "$data" \
    --passes 3 --seconds 5 --out "$results/gpu-early-exit.json"
# Whole files: reading, tokenising and writing overlap with the device; two processes on one device hide what one can't.
for devices in "$device" "$device,$device"; do
    step 45 "files, $devices" "$python" -m nli_faith score "$data" --limit "$((rows * 4))" --devices "$devices" --quiet --json \
        -o "$scratch/scored.jsonl" --overwrite
    [ -f "$scratch/scored.jsonl.summary.json" ] &&
        mv "$scratch/scored.jsonl.summary.json" "$results/gpu-files-${devices//[:,]/-}.json"
done
rm -f "$results"/gpu-*.json.tmp  # of a step that was cut off while it wrote
echo "== all steps took $SECONDS s; figures in $results/gpu-*.json"
exit "$failed"
