#!/bin/sh
# What spaa does on a recording, from its bytes to answers: the summary, SPAA, a flame graph.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
spaa=${SPAA_BIN:-build/spaa}
out=demo/out
mkdir -p "$out"
symbols="--symfs demo/symfs --kallsyms demo/kallsyms"
echo "\$ spaa summary demo/orders-1.perf.data.zst $symbols"
# shellcheck disable=SC2086
"$spaa" summary demo/orders-1.perf.data.zst $symbols
echo
for command in \
    "convert demo/orders-1.perf.data.zst $symbols -o $out/orders.spaa" \
    "validate $out/orders.spaa" \
    "flamegraph $out/orders.spaa --title orders -o $out/orders.svg"; do
    echo "\$ spaa $command"
    # shellcheck disable=SC2086
    "$spaa" $command
done
echo
echo "the profile as SPAA   $out/orders.spaa"
echo "the flame graph       $out/orders.svg (open it in a browser)"
