/*
 * The symbolizer, on files that the tests make themselves: small ELF files built section by section,
 * kallsyms and perf maps of a few lines, and the test binary as a real one.
 */
#include "base/buf.h"
#include "symbols/symbols.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "made_elf.h"

struct world {
    struct sp_diags d;
    struct sp_symbols *s;
    char dir[64];
    struct sp_buf cleanup; /* paths that were made, NUL-separated, parents first */
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    if (!w)
        return -1;
    sp_diags_init(&w->d);
    sp_buf_init(&w->cleanup, 0);
    snprintf(w->dir, sizeof w->dir, "/tmp/test-symbols-XXXXXX");
    *state = w;
    /* What this machine has under ~/.debug must not matter. */
    return mkdtemp(w->dir) && !setenv("HOME", w->dir, 1) ? 0 : -1;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sp_symbols_free(w->s);
    sp_diags_free(&w->d);
    for (size_t end = w->cleanup.len; end > 0;) {
        size_t at = end - 1;
        while (at > 0 && w->cleanup.data[at - 1])
            at--;
        remove(w->cleanup.data + at);
        end = at;
    }
    sp_buf_free(&w->cleanup);
    rmdir(w->dir);
    free(w);
    return 0;
}

static void start(struct world *w, struct sp_symbol_opts opts)
{
    sp_symbols_free(w->s);
    w->s = NULL;
    sp_diags_free(&w->d);
    assert_int_equal(sp_symbols_new(&opts, &w->d, &w->s), SPAA_OK);
}

static void remember(struct world *w, const char *path)
{
    assert_true(sp_buf_add(&w->cleanup, path, strlen(path) + 1));
}

/* Writes dir/name with its directories; returns the path, valid for the test's duration. */
static const char *put(struct world *w, const char *name, const void *data, size_t n)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", w->dir, name);
    for (char *p = path + strlen(w->dir) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        if (!mkdir(path, 0700))
            remember(w, path);
        *p = '/';
    }
    bool is_new = remove(path) != 0;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    if (is_new)
        remember(w, path);
    return path;
}

static const char *put_text(struct world *w, const char *name, const char *text)
{
    return put(w, name, text, strlen(text));
}

static struct sp_module *open_key(struct world *w, struct sp_module_key key)
{
    struct sp_module *m = NULL;
    assert_int_equal(sp_symbols_module(w->s, &key, &m), SPAA_OK);
    assert_non_null(m);
    return m;
}

static void expect(struct sp_module *m, uint64_t addr, const char *func, uint64_t symoff)
{
    struct sp_resolved r = {0};
    size_t n = sp_module_resolve(m, addr, &r, 1);
    if (!func) {
        assert_int_equal(n, 0);
        return;
    }
    assert_int_equal(n, 1);
    assert_string_equal(r.func, func);
    assert_int_equal(r.symoff, symoff);
    assert_int_equal(r.inline_depth, 0);
}

/* The message of the nth diagnostic of a code, or NULL. */
static const struct sp_diag *said(const struct world *w, enum sp_code code, size_t nth)
{
    for (size_t i = 0; i < w->d.list.n; i++)
        if (w->d.list.v[i].code == code && nth-- == 0)
            return &w->d.list.v[i];
    return NULL;
}

static const char kallsyms_text[] = "0000000000000000 A fixed_percpu_data\n"
                                    "ffffffff81000000 T _stext\n"
                                    "ffffffff81000000 T _text\n"
                                    "ffffffff81000100 t helper\n"
                                    "ffffffff81000100 W strong_alias\n"
                                    "ffffffff81000180 r table\n"
                                    "nonsense\n"
                                    "ffffffff81000200 T do_work\n"
                                    "ffffffff81000300 T last_of_kernel\n"
                                    "ffffffffc0002000 t late\t[nf_tables]\n"
                                    "ffffffffc0001000 t early\t[nf_tables]\n"
                                    "ffffffffc0009000 T bpf_prog_1\t[bpf]";

static void test_kallsyms_give_kernel_and_module_symbols(void **state)
{
    struct world *w = *state;
    const char *file = put_text(w, "kallsyms", kallsyms_text);
    start(w, (struct sp_symbol_opts){.kallsyms = file});
    struct sp_module *k =
        open_key(w, (struct sp_module_key){.kind = SP_MODULE_KERNEL, .path = "[kernel.kallsyms]"});
    assert_true(sp_module_found(k));
    expect(k, 0xffffffff81000010, "_text", 0x10);
    expect(k, 0xffffffff810001ff, "strong_alias", 0xff);
    expect(k, 0xffffffff81000204, "do_work", 4);
    expect(k, 0xffffffff81000fff, "last_of_kernel", 0xcff);
    expect(k, 0xffffffff81002000, NULL, 0);
    expect(k, 0x10, NULL, 0);
    expect(k, 0xffffffffc0001001, "early", 1);
    struct sp_module *m = open_key(w, (struct sp_module_key){.kind = SP_MODULE_KMOD, .path = "nf-tables"});
    expect(m, 0xffffffffc0001fff, "early", 0xfff);
    expect(m, 0xffffffffc0002abc, "late", 0xabc);
    expect(m, 0xffffffffc0009000, NULL, 0);
    expect(m, 0xffffffff81000204, NULL, 0);
    struct sp_module *bpf = open_key(w, (struct sp_module_key){.kind = SP_MODULE_KMOD, .path = "bpf"});
    expect(bpf, 0xffffffffc0009001, "bpf_prog_1", 1);
}

static void test_a_moved_kernel_is_found_by_its_text_and_its_modules_are_not(void **state)
{
    struct world *w = *state;
    const char *file = put_text(w, "kallsyms", kallsyms_text);
    start(w, (struct sp_symbol_opts){.kallsyms = file});
    struct sp_module_key key = {.kind = SP_MODULE_KERNEL, .kernel_text = 0xffffffff9a000000};
    struct sp_module *k = open_key(w, key);
    expect(k, 0xffffffff9a000204, "do_work", 4);
    expect(k, 0xffffffff81000204, NULL, 0);
    key = (struct sp_module_key){
        .kind = SP_MODULE_KMOD, .path = "nf_tables", .kernel_text = 0xffffffff9a000000};
    struct sp_module *m = open_key(w, key);
    expect(m, 0xffffffffc0001001, NULL, 0);
    sp_symbols_report(w->s);
    assert_non_null(said(w, SP_I320, 0));
    assert_non_null(strstr(said(w, SP_I320, 0)->message, "another boot"));
    assert_null(said(w, SP_I320, 1)); /* the kernel itself has symbols */
}

static void test_hidden_kernel_addresses_are_said_to_be(void **state)
{
    struct world *w = *state;
    const char *file = put_text(w, "kallsyms", "0000000000000000 T _text\n0000000000000000 T do_work\n");
    start(w, (struct sp_symbol_opts){.kallsyms = file});
    struct sp_module *k =
        open_key(w, (struct sp_module_key){.kind = SP_MODULE_KERNEL, .kernel_text = 0x1000});
    assert_false(sp_module_found(k));
    expect(k, 0x1004, NULL, 0);
    sp_symbols_report(w->s);
    assert_non_null(strstr(said(w, SP_I320, 0)->message, "kptr_restrict"));
    assert_non_null(strstr(said(w, SP_I320, 0)->hint, "--kallsyms FILE"));
}

static void test_the_running_kernel_is_not_taken_for_an_unknown_one(void **state)
{
    struct world *w = *state;
    start(w, (struct sp_symbol_opts){0});
    struct sp_module *k = open_key(w, (struct sp_module_key){.kind = SP_MODULE_KERNEL});
    assert_false(sp_module_found(k));
    k = open_key(w, (struct sp_module_key){.kind = SP_MODULE_KERNEL,
                                           .build_id = "00112233445566778899aabbccddeeff00112233"});
    assert_false(sp_module_found(k));
    expect(k, 0xffffffff81000000, NULL, 0);
    sp_symbols_report(w->s);
    assert_non_null(strstr(said(w, SP_I320, 0)->message, "1 address without a name"));
}

static void test_perf_maps_are_found_and_read(void **state)
{
    struct world *w = *state;
    put_text(w, "tmp/perf-42.map",
             "1000 40 JS:*fib /tmp/j.js:1:13\r\nbroken\n0x2000 0x10 old\n2000 20 new\n3000 8 _ZN3foo3barEv");
    put_text(w, "perf-43.map", "1000 10 beside\n");
    start(w, (struct sp_symbol_opts){.symfs = w->dir});
    struct sp_module *m = open_key(w, (struct sp_module_key){.kind = SP_MODULE_JIT, .pid = 42});
    assert_true(sp_module_found(m));
    expect(m, 0x103f, "JS:*fib /tmp/j.js:1:13", 0x3f);
    expect(m, 0x1040, NULL, 0);
    expect(m, 0x2011, "new", 0x11);
    expect(m, 0x3000, "foo::bar()", 0);
    m = open_key(w, (struct sp_module_key){.kind = SP_MODULE_JIT, .pid = 43});
    expect(m, 0x1001, "beside", 1);
    m = open_key(w, (struct sp_module_key){.kind = SP_MODULE_JIT, .pid = INT64_MAX});
    expect(m, 0x1001, NULL, 0);
    sp_symbols_report(w->s);
    assert_non_null(strstr(said(w, SP_I320, 0)->message, "no perf-9223372036854775807.map"));
}

#define ID_BYTES "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67"
#define ID_TEXT  "0123456789abcdef0123456789abcdef01234567"

static void put_elf(struct world *w, const char *name, struct made_elf e)
{
    struct maker k;
    size_t n = make_elf(&k, &e);
    put(w, name, k.bytes, n);
}

static struct sp_module *open_file(struct world *w, const char *path, const char *id)
{
    return open_key(w, (struct sp_module_key){.kind = SP_MODULE_FILE, .path = path, .build_id = id});
}

static void test_elf_symbols_resolve(void **state)
{
    struct world *w = *state;
    put_elf(w, "bin/prog", (struct made_elf){.symtab = true, .dynsym = true, .id = ID_BYTES});
    start(w, (struct sp_symbol_opts){.symfs = w->dir});
    struct sp_module *m = open_file(w, "/bin/prog", ID_TEXT);
    assert_true(sp_module_found(m));
    assert_ptr_equal(m, open_file(w, "/bin/prog", ID_TEXT));
    assert_string_equal(sp_module_build_id(m), ID_TEXT);
    expect(m, TEXT_ADDR + 0x3f, "alpha", 0x3f);
    expect(m, TEXT_ADDR + 0x7f, "foo::bar()", 0x3f);
    expect(m, TEXT_ADDR + 0x8f, "label", 0xf);
    expect(m, TEXT_ADDR + 0x90, NULL, 0);
    expect(m, TEXT_ADDR - 1, NULL, 0);
    expect(m, PLT_ADDR + 16, "imported@plt", 0);
    expect(m, PLT_ADDR + 47, "*ABS*+0x4242@plt", 15);
    struct sp_resolved r;
    assert_int_equal(sp_module_resolve(m, TEXT_ADDR + 0x40, &r, 1), 1);
    assert_string_equal(r.raw, "_ZN3foo3barEv");
    assert_int_equal(sp_module_resolve(m, TEXT_ADDR, &r, 1), 1);
    assert_null(r.raw);
}

static void test_file_offsets_map_through_the_load_segments(void **state)
{
    struct world *w = *state;
    put_elf(w, "bin/prog", (struct made_elf){.symtab = true});
    start(w, (struct sp_symbol_opts){.symfs = w->dir});
    struct sp_module *m = open_file(w, "/bin/prog", NULL);
    uint64_t text = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr), v = 0;
    assert_null(sp_module_build_id(m));
    assert_true(sp_module_vaddr(m, text + 5, &v));
    assert_int_equal(v, TEXT_ADDR + 5);
    assert_true(sp_module_vaddr(m, 8, &v));
    assert_int_equal(v, 0x400008);
    assert_false(sp_module_vaddr(m, 1 << 20, &v));
    assert_false(sp_module_vaddr(m, UINT64_MAX, &v));
    assert_false(sp_module_vaddr(open_file(w, "/bin/none", NULL), 8, &v));
}

static void test_debug_files_are_found_by_build_id(void **state)
{
    struct world *w = *state;
    put_elf(w, "bin/prog", (struct made_elf){.dynsym = true, .id = ID_BYTES});
    put_elf(w, "usr/lib/debug/.build-id/01/23456789abcdef0123456789abcdef01234567.debug",
            (struct made_elf){.symtab = true, .id = ID_BYTES});
    start(w, (struct sp_symbol_opts){.symfs = w->dir});
    struct sp_module *m = open_file(w, "/bin/prog", NULL);
    expect(m, TEXT_ADDR + 0x41, "foo::bar()", 1);
    expect(m, PLT_ADDR + 16, "imported@plt", 0);
    /* Also when the file itself is not there. */
    expect(open_file(w, "/bin/none", ID_TEXT), TEXT_ADDR + 0x41, "foo::bar()", 1);
    char dir[128];
    snprintf(dir, sizeof dir, "%s/usr/lib/debug", w->dir);
    start(w, (struct sp_symbol_opts){.debug_dir = dir});
    expect(open_file(w, "/bin/none", ID_TEXT), TEXT_ADDR + 1, "alpha", 1);
    sp_symbols_report(w->s); /* the name of one of the symbols is not in the file */
    assert_int_equal(w->d.list.n, 1);
    assert_int_equal(w->d.list.v[0].code, SP_W802);
}

static void test_a_kernel_with_symbols_serves_without_kallsyms(void **state)
{
    struct world *w = *state;
    put_elf(w, "usr/lib/debug/.build-id/01/23456789abcdef0123456789abcdef01234567.debug",
            (struct made_elf){.symtab = true, .id = ID_BYTES});
    start(w, (struct sp_symbol_opts){.symfs = w->dir});
    struct sp_module_key key = {
        .kind = SP_MODULE_KERNEL, .build_id = ID_TEXT, .kernel_text = 0xffffffff81000000};
    struct sp_module *m = open_key(w, key);
    assert_true(sp_module_found(m));
    expect(m, 0xffffffff81000041, "foo::bar()", 1);
    expect(m, TEXT_ADDR, NULL, 0);
}

static uint32_t crc_of(const unsigned char *p, size_t n)
{
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int b = 0; b < 8; b++)
            c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0);
    }
    return ~c;
}

static void test_debug_links_are_followed_when_the_checksum_fits(void **state)
{
    struct world *w = *state;
    struct maker k;
    size_t n = make_elf(&k, &(struct made_elf){.symtab = true});
    put(w, "bin/.debug/prog.debug", k.bytes, n);
    put_elf(w, "bin/prog",
            (struct made_elf){.dynsym = true, .link = "prog.debug", .crc = crc_of(k.bytes, n)});
    put_elf(w, "bin/stale", (struct made_elf){.dynsym = true, .link = "prog.debug", .crc = 1});
    put_elf(w, "bin/evil",
            (struct made_elf){.dynsym = true, .link = ".debug/prog.debug", .crc = crc_of(k.bytes, n)});
    start(w, (struct sp_symbol_opts){.symfs = w->dir});
    expect(open_file(w, "/bin/prog", NULL), TEXT_ADDR + 0x41, "foo::bar()", 1);
    expect(open_file(w, "/bin/stale", NULL), TEXT_ADDR + 0x41, NULL, 0);
    expect(open_file(w, "/bin/evil", NULL), TEXT_ADDR + 0x41, NULL, 0);
}

static void test_files_of_another_build_are_not_used(void **state)
{
    struct world *w = *state;
    put_elf(w, "bin/prog", (struct made_elf){.symtab = true, .id = ID_BYTES});
    put_elf(w, "bin/bare", (struct made_elf){.symtab = true});
    start(w, (struct sp_symbol_opts){.symfs = w->dir});
    struct sp_module *m = open_file(w, "/bin/prog", "fedcba9876543210fedcba9876543210fedcba98");
    assert_false(sp_module_found(m));
    assert_null(sp_module_build_id(m));
    expect(m, TEXT_ADDR, NULL, 0);
    assert_false(sp_module_found(open_file(w, "/bin/bare", ID_TEXT)));
    sp_symbols_report(w->s);
    assert_non_null(strstr(said(w, SP_W312, 0)->message, ID_TEXT));
    assert_non_null(strstr(said(w, SP_I320, 0)->message, "another build"));
    assert_non_null(strstr(said(w, SP_I320, 0)->hint, "--symfs DIR"));
    assert_null(said(w, SP_I320, 1)); /* nothing was asked of the other one */
}

static void test_padded_build_ids_are_equal(void **state)
{
    struct world *w = *state;
    /* 16 bytes in the file, recorded in 20. */
    unsigned char note[32] = {4, 0, 0, 0, 16, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
    memcpy(note + 16, ID_BYTES, 16);
    struct maker k;
    size_t n = make_elf(&k, &(struct made_elf){.symtab = true, .id = ID_BYTES});
    memcpy(k.bytes + k.sh[2].sh_offset, note, sizeof note);
    put(w, "bin/prog", k.bytes, n);
    start(w, (struct sp_symbol_opts){.symfs = w->dir});
    struct sp_module *m = open_file(w, "/bin/prog", "0123456789abcdef0123456789abcdef00000000");
    assert_string_equal(sp_module_build_id(m), "0123456789abcdef0123456789abcdef");
    expect(m, TEXT_ADDR, "alpha", 0);
}

/* Resolves everything there is to ask; only that it survives is checked. */
static void poke(struct world *w)
{
    start(w, (struct sp_symbol_opts){.symfs = w->dir});
    struct sp_module *m = open_file(w, "/bin/prog", NULL);
    struct sp_resolved r;
    uint64_t v;
    for (uint64_t off = 0; off < 0x400; off += 0x10)
        sp_module_vaddr(m, off, &v);
    for (uint64_t a = TEXT_ADDR; a < TEXT_ADDR + 0xa0; a += 0x20)
        sp_module_resolve(m, a, &r, 1);
    sp_module_resolve(m, PLT_ADDR + 16, &r, 1);
    sp_symbols_report(w->s);
}

static void test_cut_and_damaged_elf_files_do_no_harm(void **state)
{
    struct world *w = *state;
    struct maker k;
    size_t n =
        make_elf(&k, &(struct made_elf){.symtab = true, .dynsym = true, .id = ID_BYTES, .link = "x.debug"});
    put(w, "bin/prog", k.bytes, n);
    for (size_t cut = 0; cut < n; cut += cut < 256 ? 1 : 7) {
        put(w, "bin/prog", k.bytes, cut);
        poke(w);
    }
    static const unsigned char values[] = {0x00, 0x7f, 0x80, 0xff};
    for (size_t i = 0; i < n; i++) {
        for (size_t v = 0; v < sizeof values; v++) {
            unsigned char was = k.bytes[i];
            k.bytes[i] = values[v];
            put(w, "bin/prog", k.bytes, n);
            poke(w);
            k.bytes[i] = was;
        }
    }
}

static int first_object(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    *(uint64_t *)base = info->dlpi_addr;
    return 1;
}

__attribute__((noinline, used)) void sp_test_landmark(void);
void sp_test_landmark(void)
{
    __asm__ volatile("" ::: "memory");
}

static void test_the_running_binary_names_its_own_functions(void **state)
{
    struct world *w = *state;
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    assert_true(n > 0);
    exe[n] = '\0';
    uint64_t base = 0;
    dl_iterate_phdr(first_object, &base);
    start(w, (struct sp_symbol_opts){0});
    struct sp_module *m = open_file(w, exe, NULL);
    expect(m, (uint64_t)(uintptr_t)sp_test_landmark - base, "sp_test_landmark", 0);
    const char *id = sp_module_build_id(m);
    if (!id)
        return;
    assert_ptr_not_equal(m, open_file(w, exe, id));
    expect(open_file(w, exe, id), (uint64_t)(uintptr_t)sp_test_landmark - base, "sp_test_landmark", 0);
}

static void test_the_report_names_the_worst_and_counts_the_rest(void **state)
{
    struct world *w = *state;
    put_elf(w, "lib/lib3", (struct made_elf){.dynsym = true, .id = ID_BYTES});
    put_text(w, "lib/lib4", "not an ELF file");
    start(w, (struct sp_symbol_opts){.symfs = w->dir});
    struct sp_resolved r;
    for (unsigned i = 1; i <= 8; i++) {
        char path[32];
        snprintf(path, sizeof path, "/lib/lib%u", i);
        struct sp_module *m = open_file(w, path, NULL);
        for (unsigned a = 0; a < (i <= 4 ? i + 10 : i); a++)
            assert_int_equal(sp_module_resolve(m, a, &r, 1), 0);
    }
    assert_int_equal(sp_module_resolve(open_file(w, "[vdso]", NULL), 0, &r, 1), 0);
    sp_symbols_report(w->s);
    assert_int_equal(w->d.list.n, 6);
    static const char *const want[] = {"/lib/lib4: 14 addresses without a name",
                                       "/lib/lib3: 13 addresses",
                                       "/lib/lib2: 12",
                                       "/lib/lib1: 11",
                                       "/lib/lib8: 8 ",
                                       "4 more modules with 19 addresses"};
    for (size_t i = 0; i < 6; i++)
        assert_non_null(strstr(said(w, SP_I320, i)->message, want[i]));
    assert_non_null(strstr(said(w, SP_I320, 0)->message, "neither an ELF, a Mach-O nor a PE file"));
    assert_non_null(strstr(said(w, SP_I320, 1)->message, "stripped"));
    assert_non_null(strstr(said(w, SP_I320, 1)->hint, "--debug-dir DIR"));
    assert_non_null(strstr(said(w, SP_I320, 2)->message, "not found"));
}

static void test_no_symbols_means_no_lookups_and_no_complaints(void **state)
{
    struct world *w = *state;
    put_elf(w, "bin/prog", (struct made_elf){.symtab = true});
    start(w, (struct sp_symbol_opts){.symfs = w->dir, .no_symbols = true});
    struct sp_module *m = open_file(w, "/bin/prog", NULL);
    assert_false(sp_module_found(m));
    expect(m, TEXT_ADDR, NULL, 0);
    sp_symbols_report(w->s);
    assert_int_equal(w->d.list.n, 0);
}

static void test_recorded_names_that_are_no_files_are_not_opened(void **state)
{
    struct world *w = *state;
    static const char *const names[] = {"/dev/zero", "//anon",   "/memfd:x",       "[heap]",
                                        "",          "bin/prog", "/proc/self/exe", "/tmp"};
    start(w, (struct sp_symbol_opts){0});
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_false(sp_module_found(open_file(w, names[i], NULL)));
    assert_false(sp_module_found(open_file(w, "/none", "../../../../../etc/passwd")));
    assert_false(sp_module_found(open_file(w, NULL, NULL)));
}

static void test_names_of_a_real_recording_agree_with_perf(void **state)
{
    struct world *w = *state;
    const char *corpus = getenv("SPAA_CORPUS");
    char symfs[PATH_MAX], kallsyms[PATH_MAX + 16], map[PATH_MAX + 32];
    snprintf(symfs, sizeof symfs, "%s/perf-data/made/symfs", corpus ? corpus : "../shared/corpus");
    snprintf(kallsyms, sizeof kallsyms, "%s/kallsyms", symfs);
    if (access(kallsyms, R_OK))
        skip();
    snprintf(map, sizeof map, "%s/../perf-8020.map", symfs);
    char *there = realpath(map, NULL); /* paths with ".." are nobody's recording */
    assert_non_null(there);
    start(w, (struct sp_symbol_opts){.symfs = symfs, .kallsyms = kallsyms});
    struct sp_module *mix = open_file(w, "/tmp/gen/mix", "4836bdf96d58b0f73d5cc000ee65a1a226135cca");
    expect(mix, 0x1418, "parse_value", 0x48);
    expect(mix, 0x1397, "hash_document", 0x47);
    expect(mix, 0x1130, "rand@plt", 0);
    struct sp_module *libc =
        open_file(w, "/usr/lib/x86_64-linux-gnu/libc.so.6", "93ac61ec5a8eb1396f9fbd350e3169a558528a40");
    expect(libc, 0x891f5, "start_thread", 0x305);
    expect(libc, 0xee137, "sched_setaffinity@@GLIBC_2.3.4", 7);
    struct sp_module *k =
        open_key(w, (struct sp_module_key){.kind = SP_MODULE_KERNEL, .kernel_text = 0xffffffff81000000});
    expect(k, 0xffffffff821ef691, "do_syscall_64", 0x71);
    expect(k, 0xffffffff81000130, "entry_SYSCALL_64_after_hwframe", 0x76);
    struct sp_module *jit =
        open_key(w, (struct sp_module_key){.kind = SP_MODULE_JIT, .pid = 8020, .path = there});
    expect(jit, 0x7fe8167c6497, "JS:*fib /tmp/gen/j.js:1:13", 0x97);
    free(there);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_kallsyms_give_kernel_and_module_symbols),
        T(test_a_moved_kernel_is_found_by_its_text_and_its_modules_are_not),
        T(test_hidden_kernel_addresses_are_said_to_be),
        T(test_the_running_kernel_is_not_taken_for_an_unknown_one),
        T(test_perf_maps_are_found_and_read),
        T(test_elf_symbols_resolve),
        T(test_file_offsets_map_through_the_load_segments),
        T(test_debug_files_are_found_by_build_id),
        T(test_a_kernel_with_symbols_serves_without_kallsyms),
        T(test_debug_links_are_followed_when_the_checksum_fits),
        T(test_files_of_another_build_are_not_used),
        T(test_padded_build_ids_are_equal),
        T(test_cut_and_damaged_elf_files_do_no_harm),
        T(test_the_running_binary_names_its_own_functions),
        T(test_the_report_names_the_worst_and_counts_the_rest),
        T(test_no_symbols_means_no_lookups_and_no_complaints),
        T(test_recorded_names_that_are_no_files_are_not_opened),
        T(test_names_of_a_real_recording_agree_with_perf),
    };
#undef T
    return cmocka_run_group_tests_name("symbols", tests, NULL, NULL);
}
