#!/bin/sh
# Records the fixtures massif, dhat and memcheck into o/; afterwards $PWD in them is written /src.
set -e
M="-ffile-prefix-map=$PWD=/src"
gcc -g -O1 $M -fno-builtin -fno-optimize-sibling-calls vg_heap.c -o vg_heap -lpthread
gcc -O1 -fno-builtin -fno-optimize-sibling-calls vg_heap.c -o vg_nodebug -lpthread
g++ -g -O2 -std=c++17 $M vg_cpp.cpp -o vg_cpp
gcc -g -O0 $M vg_errors.c -o vg_errors
gcc -g vg_clean.c -o vg_clean
gcc -g -O1 -fno-builtin $M vg_copy.c -o vg_copy
rustc -g -O --remap-path-prefix=$PWD=/src vg_rust.rs
V=valgrind; F=--leak-check=full; mkdir -p o
$V -q --tool=massif --massif-out-file=o/massif.heap ./vg_heap
$V -q --tool=massif --massif-out-file=o/massif.nodebug ./vg_nodebug
$V -q --tool=massif --massif-out-file=o/massif.cpp --max-snapshots=12 --detailed-freq=2 --time-unit=B ./vg_cpp
$V -q --tool=massif --massif-out-file=o/massif.stacks --stacks=yes --time-unit=B --detailed-freq=3 --max-snapshots=20 ./vg_heap
$V -q --tool=massif --massif-out-file=o/massif.pages --pages-as-heap=yes --max-snapshots=20 ./vg_heap
$V -q --tool=massif --massif-out-file=o/massif.ms --time-unit=ms --threshold=0 --depth=4 --detailed-freq=1 --max-snapshots=10 ./vg_heap
$V -q --tool=dhat --dhat-out-file=o/dhat.heap ./vg_heap
$V -q --tool=dhat --dhat-out-file=o/dhat.cpp ./vg_cpp
$V -q --tool=dhat --mode=copy --dhat-out-file=o/dhat.copy ./vg_copy
$V -q --tool=dhat --mode=ad-hoc --dhat-out-file=o/dhat.adhoc ./vg_copy
$V $F --show-leak-kinds=all --log-file=o/mc.all.log ./vg_heap
$V $F --log-file=o/mc.default.log ./vg_heap
$V --log-file=o/mc.summary.log ./vg_heap
$V --leak-check=no --log-file=o/mc.no.log ./vg_heap
$V $F --show-leak-kinds=all --log-file=o/mc.nodebug.log --time-stamp=yes ./vg_nodebug
$V $F --show-leak-kinds=all --log-file=o/mc.cpp.log ./vg_cpp
$V $F --xml=yes --xml-file=o/mc.cpp.xml ./vg_cpp
$V $F --show-leak-kinds=all --xml=yes --xml-file=o/mc.all.xml ./vg_heap
$V --log-file=o/mc.clean.log ./vg_clean
$V $F --track-origins=yes --log-file=o/mc.errors.log ./vg_errors
$V $F --show-leak-kinds=all --track-origins=yes --xml=yes --xml-file=o/mc.errors.xml ./vg_errors
$V $F --show-leak-kinds=all --log-fd=9 ./vg_errors fork 9>o/mc.fork.log
$V $F --show-leak-kinds=all --log-file=o/mc.checks.log ./vg_errors leaks
$V $F --show-leak-kinds=all --xml=yes --xml-file=o/mc.checks.xml ./vg_errors leaks
$V $F -v --log-file=o/mc.verbose.log --fullpath-after= --show-leak-kinds=all ./vg_heap
$V $F --show-leak-kinds=all --suppressions=lose.supp --gen-suppressions=all --log-file=o/mc.supp.log ./vg_heap
$V $F --xtree-memory=full --xtree-memory-file=o/xtmemory.ms --log-file=/dev/null ./vg_heap
$V $F --show-leak-kinds=all --log-file=o/mc.rust.log ./vg_rust
$V $F --show-leak-kinds=all --fullpath-after= --log-file=o/mc.folders.log ./vg_cpp
