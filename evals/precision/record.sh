#!/bin/sh
# Records ordinary programs, none with a planted fault: record.sh DIR. What is not installed is left out. About four
# minutes; DIR/record.log has the commands. Inputs are made here, and the sources of this project.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$1/bin" && cd "$1" || exit 1
programs=$here/programs
exec 3>record.log

build() {
    echo "$*" >&3
    "$@" >>build.out 2>&1 || echo "record.sh: failed: $*" >&2
}
# rec NAME "perf options" command…
rec() {
    name=$1 how=$2
    shift 2
    command -v "$1" >/dev/null 2>&1 || return 0
    echo "perf record $how -o $name.perf.data $*" >&3
    # shellcheck disable=SC2086
    timeout 60 perf record -q $how -o "$name.perf.data" "$@" >>record.out 2>&1 </dev/null
    test -s "$name.perf.data" || echo "record.sh: nothing: $name" >&2
}

cat "$root"/src/*/*.[ch] "$root"/docs/*.md >source.txt
cat source.txt source.txt source.txt source.txt source.txt source.txt >text.txt
awk 'BEGIN { srand(1); for (i = 0; i < 700000; i++) printf "%d row%d %s\n", rand() * 1000000, i % 977, (i % 3) ? "alpha" : "beta" }' >rows.txt
awk 'BEGIN { printf "["; for (i = 0; i < 120000; i++) printf "%s{\"id\":%d,\"name\":\"n%d\",\"v\":[%d,%d]}", i ? "," : "", i, i % 977, i * 7 % 13, i }
    END { print "]" }' /dev/null >objects.json
g="-F 999 -g" d="-F 299 --call-graph dwarf,16384" flat="-F 999"

build gcc -O2 -g -o bin/matrix "$programs/matrix.c"
build gcc -O2 -g -fno-omit-frame-pointer -o bin/matrix-fp "$programs/matrix.c"
build g++ -O2 -g -fno-omit-frame-pointer -o bin/words "$programs/words.cpp"
build g++ -O0 -g -o bin/words-debug "$programs/words.cpp"
build clang++ -O2 -g -o bin/words-clang "$programs/words.cpp"
build g++ -O2 -g -fno-omit-frame-pointer -o bin/tree "$programs/tree.cpp"
build g++ -O0 -g -o bin/tree-debug "$programs/tree.cpp"
build go build -o bin/pipeline "$programs/pipeline.go"
build go build -o bin/sieve "$programs/sieve.go"
build rustc -O -g -C force-frame-pointers=yes -o bin/graph "$programs/graph.rs"
build rustc -g -C force-frame-pointers=yes -o bin/graph-debug "$programs/graph.rs"
build g++ -O2 -g -fno-omit-frame-pointer -pthread -o bin/queue "$programs/queue.cpp"
build javac -d bin "$programs/Words.java"

rec matrix "$g" bin/matrix 12
rec matrix-fp "$g" bin/matrix-fp 12
rec matrix-dwarf "$d" bin/matrix 12
rec matrix-flat "$flat" bin/matrix 12
rec words "$g" bin/words source.txt 4
rec words-dwarf "$d" bin/words source.txt 4
rec words-debug "$g" bin/words-debug source.txt 3
rec words-clang "$d" bin/words-clang source.txt 4
rec tree "$g" bin/tree 20
rec tree-dwarf "$d" bin/tree 20
rec tree-debug "$g" bin/tree-debug 15
rec pipeline "$g" bin/pipeline
rec sieve "$g" bin/sieve
rec graph "$g" bin/graph 12
rec graph-dwarf "$d" bin/graph 8
rec graph-debug "$g" bin/graph-debug 2
rec gzip "$g" gzip -9 -k -f text.txt
rec gunzip "$g" gzip -d -k -f text.txt.gz
rec bzip2 "$g" bzip2 -k -f source.txt
rec xz "$g" xz -6 -k -f -T1 source.txt
rec xz-threads "$d" xz -6 -k -f -T4 text.txt
rec zstd "$g" zstd -q -15 -f source.txt
rec sort "$g" sort -k2 rows.txt -o sorted.txt
rec sort-number "$d" sort -n rows.txt -o sorted.txt
rec awk "$g" awk '{ n[$2] += $1 } END { for (k in n) print k, n[k] }' rows.txt
rec grep "$g" grep -cE '(row1[0-9]+) (alpha|gamma)$' rows.txt
rec sed "$g" sed -E 's/row([0-9]+)/r\1/; s/alpha/a/' rows.txt
rec tar "$g" tar cf all.tar /usr/include
rec find "$g" find /usr/share /usr/lib -name '*.so*' -newer /etc/passwd
rec copy "$g" cp -r /usr/include include-copy
rec dd "$g" dd if=/dev/zero of=zeros bs=64k count=20000
rec sha "$g" sha256sum text.txt text.txt text.txt text.txt
rec openssl "$g" openssl enc -aes-256-cbc -pbkdf2 -iter 100000 -k x -in text.txt -out text.enc
rec diff "$g" diff text.txt rows.txt
rec objdump "$g" objdump -d /usr/bin/perf
rec gcc "$g" gcc -O2 -g -I"$root/src" -c -o diag.o "$programs/matrix.c"
rec gxx "$g" g++ -O2 -g -c -o words.o "$programs/words.cpp"
rec gxx-dwarf "-F 199 --call-graph dwarf,8192" g++ -O2 -c -o words.o "$programs/words.cpp"
rec clang "$g" clang++ -O2 -c -o words.o "$programs/words.cpp"
rec ld "$g" g++ -static -g -o bin/words-static words.o
rec rustc "$g" rustc -O -o bin/graph2 "$programs/graph.rs"
rec go-build "$g" go build -a -o bin/pipeline2 "$programs/sieve.go"
rec python "$g" python3 "$programs/inventory.py"
rec python-regex "$g" python3 "$programs/logs.py"
rec python-dwarf "-F 199 --call-graph dwarf,16384" python3 "$programs/logs.py"
rec perl "$g" perl -ne 'for (split) { $n{$_}++ } END { print scalar keys %n, "\n" }' text.txt
rec sqlite "$g" sqlite3 :memory: "create table t(a,b,c); with recursive r(i) as (select 1 union all select i+1 from r where i < 400000)
    insert into t select i, i % 977, 'x' || i from r; create index u on t(b); select b, count(*), max(c) from t group by b order by 2 limit 3;"
rec sqlite-file "$g" sqlite3 file.db "create table if not exists t(a,b,c); with recursive r(i) as (select 1 union all select i+1 from r where i < 300000)
    insert into t select i, i % 977, 'x' || i from r; create index if not exists u on t(b); select count(*) from t where c like '%99%';"
rec git-log "$g" git -C "$root" log -p --stat -n 150
rec git-gc "$g" git -C "$root" log --oneline --all -S'sp_own' -- src
rec jq "$g" jq 'group_by(.name) | map({n: .[0].name, s: (map(.v[1]) | add)}) | length' objects.json
rec node "$g" node --perf-basic-prof "$programs/render.js"
rec node-plain "$g" node "$programs/render.js"
rec java "$g" java -cp bin Words
rec java-frames "$g" java -XX:+PreserveFramePointer -cp bin Words
rec bash "$g" bash -c 'for i in $(seq 150000); do x=$((x + i % 7)); s=${s:0:20}$i; done; echo $x'
rec spaa-top "$g" "${SPAA_BIN:-$root/build/spaa}" top matrix-dwarf.perf.data
rec perf-report "$g" perf report --stdio -i graph-dwarf.perf.data
rec queue "$g" bin/queue
rec queue-dwarf "$d" bin/queue
rec python-loop "$g" python3 "$programs/loop.py"
rec python-loop-dwarf "-F 199 --call-graph dwarf,16384" python3 "$programs/loop.py"
rec javac "$g" javac -J-XX:+PreserveFramePointer -d bin "$programs/Words.java"
rec node-frames "$g" node --perf-basic-prof --interpreted-frames-native-stack --max-semi-space-size=1 "$programs/render.js"
rec sort-threads "$d" sort --parallel=4 -S 50M rows.txt -o sorted.txt
rec zstd-threads "$d" zstd -q -T4 -9 -f text.txt
rec perl-regex "$g" perl -ne '$n++ if /row(\d+) (alpha|beta)$/ && $1 % 7; END { print "$n\n" }' rows.txt
rec grep-perl "$g" grep -cP 'row(\d+)\s(?=beta)' rows.txt
rec git-repack "$d" git -C "$root" pack-objects --all --stdout --no-reuse-delta
rec cmake "$g" cmake --system-information
rec clang-dwarf "-F 199 --call-graph dwarf,8192" clang++ -O2 -c -o words.o "$programs/words.cpp"
rec strings "$g" strings -n 6 /usr/bin/perf
rec wc "$g" wc text.txt text.txt text.txt
rec openssl-speed "$g" openssl speed -seconds 1 rsa2048
exec 3>&-
rm -rf include-copy all.tar zeros text.enc sorted.txt ./*.gz ./*.bz2 ./*.xz ./*.zst file.db
