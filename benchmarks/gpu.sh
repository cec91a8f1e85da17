#!/usr/bin/env bash
# One command for a machine with a CUDA GPU: throughput at the shapes xsmall, base and large, early exit, parity, files.
#
#     benchmarks/gpu.sh [ANSWERS.jsonl]          # rows to measure on; made-up ones without it
#
# THIS SCRIPT HAS NEVER RUN ON A GPU: it was written and checked on a machine without one. Its parts run on CPUs in the
# tests; the figures, and whether it stays under its ten minutes, are for the first run to tell.
#
# Needs no weights beyond the bundled ones (base and large are made from their configs: the same cost) and no network.
# For the packed kernel and the peers: pip install 'nli-faith[flash,bench]'. Writes benchmarks/results/gpu-*.json after
# every figure, so what an interrupted run measured is kept. Each step has a time limit; a failed step doesn't stop the rest.
set -u
cd "$(dirname "$0")/.."
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" HF_HUB_OFFLINE=1
python="${PYTHON:-python}"
device="${DEVICE:-cuda}"   # DEVICE=cpu SECONDS_EACH=0.2 ROWS=4 PATIENCE=20 is a rehearsal
patience="${PATIENCE:-1}"  # time limits are so many times those below
each="${SECONDS_EACH:-1}"  # seconds of one pass of a contender
rows="${ROWS:-2048}"
results="${OUT:-benchmarks/results}"
data="${1:-}"
mkdir -p "$results"
failed=0

step() {  # step LIMIT_S NAME COMMAND...
    local limit=$(($1 * patience)) name="$2" begun=$SECONDS
    shift 2
    echo "== $name"
    timeout "$limit" "$@" || { echo "== $name FAILED or ran past $limit s (exit $?)"; failed=1; }
    echo "== $name took $((SECONDS - begun)) s"
}

step 40 doctor "$python" -m nli_faith doctor --device "$device"
step 40 parity "$python" -m nli_faith bench --device "$device" --seconds 12
# The aims are pairs/s at 256 tokens: xsmall 18,600 (goal 14,000), base 7,400 (goal 6,000), large 2,000.
for shape in xsmall base large; do
    what=(--shape "$shape")
    [ "$shape" = xsmall ] && what=(--model nli-faith-xsmall)
    step 100 "throughput, $shape" "$python" benchmarks/throughput.py "${what[@]}" --device "$device" \
        --lengths "${LENGTHS:-256,128,512}" --peers "${PEERS:-crossencoder}" --seconds "$each" --passes 3 \
        --out "$results/gpu-throughput-$shape.json"
done
# Aims: 600 answers/s exhaustive, 1,000 with --early-exit.
step 70 "early exit" "$python" benchmarks/early_exit.py --device "$device" --limit "$rows" ${data:+--data "$data"} \
    --passes 3 --seconds 8 --out "$results/gpu-early-exit.json"
if [ -z "$data" ]; then
    data="$results/gpu-made-up.jsonl"
    step 40 "made-up rows" "$python" benchmarks/timing.py --rows "$rows" --out "$data.once"
    cat "$data.once" "$data.once" "$data.once" "$data.once" > "$data"  # several windows, and no text twice in one
fi
# Whole files: reading, tokenising and writing overlap with the device; two processes on one device hide what one can't.
for devices in "$device" "$device,$device"; do
    step 50 "files, $devices" "$python" -m nli_faith score "$data" --limit "$((rows * 4))" --devices "$devices" --quiet --json \
        -o "$results/gpu-scored.jsonl" --overwrite
    [ -f "$results/gpu-scored.jsonl.summary.json" ] &&
        mv "$results/gpu-scored.jsonl.summary.json" "$results/gpu-files-${devices//[:,]/-}.json"
done
rm -f "$results/gpu-scored.jsonl" "$results/gpu-made-up.jsonl" "$results/gpu-made-up.jsonl.once"
echo "== all steps took $SECONDS s; figures in $results/gpu-*.json"
exit "$failed"
