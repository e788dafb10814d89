#!/bin/sh
# What spaa does on a recording that comes with it, from its bytes to answers: the summary, SPAA, a flame graph.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
spaa=$(realpath "${SPAA_BIN:-build/spaa}")
out=demo/out
"$spaa" demo -o "$out" >/dev/null
cd "$out"
symbols="--symfs symfs --kallsyms kallsyms"
first=true
for command in \
    "summary orders-1.perf.data.zst $symbols" \
    "convert orders-1.perf.data.zst $symbols -o orders.spaa" \
    "validate orders.spaa" \
    "flamegraph orders.spaa --title orders -o orders.svg"; do
    echo "\$ spaa $command"
    # shellcheck disable=SC2086
    "$spaa" $command
    if $first; then echo; fi
    first=false
done
echo
echo "the profile as SPAA   $out/orders.spaa"
echo "the flame graph       $out/orders.svg (open it in a browser)"
