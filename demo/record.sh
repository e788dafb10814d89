#!/bin/sh
# Makes the recordings and their symbols anew: needs perf, gcc, zstd, libc6-dbg and root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=/opt/orders
mkdir -p "$work" && cd "$work"
gcc -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id \
    -o orders "$here/orders.c" -lpthread
libc=$(ldd orders | awk '/libc\.so/ {print $3}' | xargs readlink -f)
id=$(readelf -n "$libc" | awk '/Build ID/ {print $3}')
debug=/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
for i in 1 2; do
    perf record -q -e cpu-clock -F 499 --call-graph fp -o orders-$i.perf.data -- ./orders 6 >/dev/null
    zstd -q -19 -f orders-$i.perf.data -o "$here/orders-$i.perf.data.zst"
done
mkdir -p "$here/symfs$work" "$here/symfs/usr/lib/x86_64-linux-gnu"
cp orders "$here/symfs$work/orders"
names() { # function names of a binary in both recordings
    for i in 1 2; do perf script -F ip,sym,dso -i orders-$i.perf.data 2>/dev/null; done |
        sed -n "s/^[[:space:]]*[0-9a-f]* \([^ ]*\) ($1)\$/\1/p" | sed 's/+0x.*//' | grep -v -e '^\[' -e '@plt' | sort -u
}
names '[^)]*libc\.so\.6' | xargs python3 "$here/thin_elf.py" "$libc" "$debug" \
    "$here/symfs/usr/lib/x86_64-linux-gnu/libc.so.6"
{ echo _text; names '\[kernel\.kallsyms\]'; } > kernel-names
# Each kernel function of the recordings, and what follows it, so that sizes stay known.
awk 'NR==FNR {want[$1]=1; next} want[$3] && NF==3 {print; more=1; next} more {print; more=0}' kernel-names \
    /proc/kallsyms > "$here/kallsyms"
