#!/bin/sh
# What somebody does with the packages on a Debian that has nothing else: in_root.sh ROOT, a hook of mmdebstrap.
# Installs those of DEBS, uses them, removes them, and looks at what is left. SOURCE is a tree of the sources.
set -eu
root=$1
in_root() { chroot "$root" env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
# What dpkg, apt and ldconfig note of their own is no trace of ours.
files() {
    in_root find / -xdev ! -path '/proc/*' ! -path '/sys/*' ! -path '/dev/*' ! -path '/tmp/*' ! -path '/var/log/*' ! -path '/var/cache/*' \
        ! -path '/var/lib/apt/*' ! -path '/var/lib/dpkg/*' ! -name '*.dpkg-*' ! -path '/run/*' | sort
}

mkdir "$root/tmp/debs" "$root/tmp/work"
cp "$DEBS"/*.deb "$root/tmp/debs"
rm -f "$root"/tmp/debs/*-dbgsym_*
cp "$SOURCE/docs/examples/top.c" "$root/tmp/work"
files >"$root/tmp/before"

in_root sh -c 'apt-get install -y --no-install-recommends /tmp/debs/*.deb' >/dev/null
echo "installed: $(in_root dpkg-query -W -f='${Package} ${Version} ${Installed-Size} KB, ' 'spaa' 'libspaa*')"
in_root spaa --version
in_root sh -euc '
    cd /tmp/work
    spaa demo -o orders >/dev/null
    cd orders
    spaa top orders-1.perf.data.zst --symfs symfs --kallsyms kallsyms -n 3 | grep checksum
    spaa convert -q orders-1.perf.data.zst --symfs symfs --kallsyms kallsyms -o orders.spaa
    spaa validate -q orders.spaa
    cc -o top ../top.c $(pkg-config --cflags --libs spaa)
    ./top orders.spaa | grep checksum
    cc -o static-top ../top.c $(pkg-config --static --cflags --libs spaa | sed "s|-lspaa|$(pkg-config --variable=libdir spaa)/libspaa.a|")
    ./static-top orders.spaa | grep checksum
    ls /usr/share/man/man1/spaa-top.1.gz /usr/share/bash-completion/completions/spaa /usr/share/spaa/skill/spaa/SKILL.md
    sptdump --help | head -1'

in_root apt-get purge -y --autoremove spaa libspaa1 libspaa-dev >/dev/null
files >"$root/tmp/after"
if ! diff "$root/tmp/before" "$root/tmp/after" >"$root/tmp/left"; then
    echo "left behind or taken away:" >&2
    cat "$root/tmp/left" >&2
    exit 1
fi
echo "removed: nothing is left of $(wc -l <"$root/tmp/before") files that were there before"
