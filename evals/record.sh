#!/bin/sh
# Builds the programs of evals/programs and records them: record.sh DIR. Needs perf (tracepoints too), gcc, g++, go, rustc,
# node, heaptrack, and two CPUs; takes about two minutes. DIR/record.log says what was run; a recording that cannot be made here
# is left out, and evals/run.py leaves out its questions.
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && cd "$1" || exit 1
mkdir -p bin build
programs=$here/programs
exec 3>record.log
# What to do, said and kept. As much the same from run to run as recordings can be: fixed work, one locale, as many threads, and
# an environment that tells nothing (copies of stacks have it).
run() {
    echo "$*" >&3
    env -i PATH="$PATH" HOME="$HOME" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" \
        LC_ALL=C TZ=UTC GOMAXPROCS=2 "$@" >>record.out 2>&1 || echo "record.sh: failed: $*" >&2
}

# The folder of sources is not the agents': paths in debug information begin with /src.
map="-ffile-prefix-map=$programs=/src"
run g++ -O2 -g "$map" -std=c++17 -pthread -fomit-frame-pointer -o bin/server "$programs/server.cpp"
run gcc -O2 -g "$map" -fno-omit-frame-pointer -o bin/twins "$programs/twins_main.c" "$programs/twins_a.c" "$programs/twins_b.c"
run g++ -O2 -fno-omit-frame-pointer -shared -fPIC -s -o bin/libimages.so "$programs/images_lib.cpp"
run g++ -O2 -g "$map" -fno-omit-frame-pointer -o bin/images "$programs/images.cpp" -Lbin -limages '-Wl,-rpath,$ORIGIN'
run g++ -O1 -g "$map" -fno-omit-frame-pointer -o bin/cache "$programs/cache.cpp"
run gcc -O2 -g "$map" -fno-omit-frame-pointer -o bin/report "$programs/report.c"
run gcc -O2 -g "$map" -fno-omit-frame-pointer -DNEW -o build/report "$programs/report.c"
run gcc -O2 -g "$map" -fno-omit-frame-pointer -o bin/phases "$programs/phases.c"
run gcc -O2 -g "$map" -fno-omit-frame-pointer -o bin/pages "$programs/pages.c"
run gcc -O2 -g "$map" -fno-omit-frame-pointer -D_GNU_SOURCE -pthread -o bin/stall "$programs/stall.c"
run rustc -O -g -C force-frame-pointers=yes --remap-path-prefix "$programs=/src" -o bin/words "$programs/words.rs"
run go build -trimpath -o bin/shop "$programs/shop.go"

run perf record -q -F 299 --call-graph dwarf,16384 -o server.perf.data bin/server 40000
run perf record -q -F 999 -g -o server-quick.perf.data bin/server 60000
run perf record -q -F 999 -g -o twins.perf.data bin/twins 400
run perf record -q -F 999 -g -o images.perf.data bin/images 100
run perf record -q -F 999 -g -o phases.perf.data bin/phases 8
run perf record -q -F 999 -g -o pages.perf.data bin/pages 2000
run perf record -q -F 999 -g -o words.perf.data bin/words 4000
for n in 1 2 3; do
    run perf record -q -F 997 -g -o report-old-$n.perf.data bin/report 400
    run perf record -q -F 997 -g -o report-new-$n.perf.data build/report 400
    run perf record -q -F 997 -g -o nightly-mon-$n.perf.data bin/report 400
    run perf record -q -F 997 -g -o nightly-tue-$n.perf.data bin/report 400
done
# Without inlining: else sortRows is a part of renderRow's code, and has no frames. perf reads names from /tmp/perf-PID.map.
cp "$programs/render.js" build/render.js
run perf record -q -F 999 -g -o render.perf.data \
    node --perf-basic-prof --interpreted-frames-native-stack --no-turbo-inlining --random-seed=1 build/render.js 60
rm -f build/render.js
run perf record -q -a -g -e sched:sched_switch -o stall-switch.perf.data bin/stall
run perf record -q -a -g --switch-events -e sched:sched_switch,sched:sched_waking -o stall-wake.perf.data bin/stall
run perf record -q -F 999 -g -o stall-cpu.perf.data bin/stall
run heaptrack -o "$PWD/cache" bin/cache 20000
mkdir -p shop && run bin/shop shop
exec 3>&-
rm -f record.out isolate-*.log
ls
