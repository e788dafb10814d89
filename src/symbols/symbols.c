/*
 * The registry of modules, and the way from an address to a name.
 *
 * Opening a module finds its file; its table is read when the first address is asked for. Names are
 * demangled when they are handed out, once per name.
 */
#include "symbols/symbols.h"

#include "base/buf.h"
#include "base/hash.h"
#include "io/file.h"
#include "pdb/pdb.h"
#include "symbols/internal.h"
#include "symbols/store.h"
#include "symbols/windows.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool symbols_copy_text(struct sp_symbols *s, const char **text)
{
    if (*text)
        *text = sp_arena_dup(&s->arena, *text, strlen(*text));
    return *text;
}

spaa_status sp_symbols_new(const struct sp_symbol_opts *opts, struct sp_diags *d, struct sp_symbols **out)
{
    struct sp_symbols *s = calloc(1, sizeof *s);
    if (!s)
        return sp_nomem(d);
    s->d = d;
    s->opts = opts ? *opts : (struct sp_symbol_opts){0};
    s->home = getenv("HOME");
    sp_arena_init(&s->arena, 0);
    const char **texts[] = {&s->opts.symfs, &s->opts.debug_dir, &s->opts.dsym, &s->opts.kallsyms, &s->home};
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    s->store = sp_store_folder(s->opts.store, &b);
    bool ok = sp_strtab_init(&s->names) && (!s->store || symbols_copy_text(s, &s->store)) && !b.nomem;
    sp_buf_free(&b);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ok = (!*texts[i] || symbols_copy_text(s, texts[i])) && ok;
    if (!ok) {
        sp_symbols_free(s);
        return sp_nomem(d);
    }
    *out = s;
    return SPAA_OK;
}

void sp_symbols_free(struct sp_symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->modules.n; i++) {
        sp_symtab_free(&s->modules.v[i]->tab);
        sp_elf_free(&s->modules.v[i]->elf);
        sp_dwarf_free(s->modules.v[i]->dwarf);
        sp_cfi_free(s->modules.v[i]->cfi);
        sp_pdb_free(s->modules.v[i]->pdb);
        sp_jitdump_free(&s->modules.v[i]->jit);
    }
    for (struct sp_ksyms *k = s->ksyms; k; k = k->next)
        sp_symtab_free(&k->tab);
    sp_macho_files_free(s);
    sp_debuginfod_end(s);
    sp_minidebug_end(s);
    sp_vec_free(&s->modules);
    sp_vec_free(&s->jit_paths);
    sp_vec_free(&s->offered);
    sp_map_free(&s->by_key);
    sp_vec_free(&s->plain);
    sp_strtab_free(&s->names);
    sp_arena_free(&s->arena);
    free(s);
}

spaa_status sp_symbols_failed(const struct sp_symbols *s)
{
    return s->failed;
}

static uint64_t hash_text(const char *s, uint64_t seed)
{
    return s ? sp_hash_key_seed(s, strlen(s), seed) : sp_hash_mix(seed, 1);
}

static uint64_t hash_key(const struct sp_module_key *k)
{
    uint64_t h = sp_hash_mix((uint64_t)k->kind, (uint64_t)k->pid);
    h = sp_hash_mix(h, k->kernel_text);
    return hash_text(k->build_id, hash_text(k->path, h));
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_key(const struct sp_module_key *a, const struct sp_module_key *b)
{
    return a->kind == b->kind && a->pid == b->pid && a->kernel_text == b->kernel_text &&
           a->replaced == b->replaced && same_text(a->path, b->path) && same_text(a->build_id, b->build_id);
}

static spaa_status symbols_open_module(struct sp_module *m)
{
    spaa_status st = SPAA_OK;
    switch (m->key.kind) {
    case SP_MODULE_FILE:
        st = sp_find_file(m);
        if (st == SPAA_OK && !m->file && !m->has_pdb)
            st = sp_find_debug(m);
        if (st == SPAA_OK && !m->file && !m->debug)
            st = sp_vdso_add(m);
        return st;
    case SP_MODULE_KERNEL:
    case SP_MODULE_KMOD:
        return sp_load_kernel(m);
    case SP_MODULE_JIT:
        return sp_load_perf_map(m);
    }
    return st;
}

spaa_status sp_symbols_module(struct sp_symbols *s, const struct sp_module_key *key, struct sp_module **out)
{
    uint64_t hash = hash_key(key);
    struct sp_probe at = sp_map_probe(&s->by_key, hash);
    for (uint32_t i; (i = sp_map_next(&s->by_key, &at)) != SP_MAP_NONE;) {
        if (same_key(&s->modules.v[i]->key, key)) {
            *out = s->modules.v[i];
            (*out)->doubtful |= key->doubtful;
            return SPAA_OK;
        }
    }
    struct sp_module *m = sp_arena_zalloc(&s->arena, sizeof *m);
    if (!m)
        return sp_nomem(s->d);
    m->owner = s;
    m->key = *key;
    if ((key->path && !symbols_copy_text(s, &m->key.path)) ||
        (key->build_id && !symbols_copy_text(s, &m->key.build_id)) || s->modules.n >= UINT32_MAX - 1 ||
        !sp_vec_reserve(&s->modules, s->modules.n + 1) ||
        !sp_map_add(&s->by_key, hash, (uint32_t)s->modules.n))
        return sp_nomem(s->d);
    sp_symtab_init(&m->tab);
    s->modules.v[s->modules.n++] = m;
    spaa_status st = s->opts.no_symbols ? SPAA_OK : symbols_open_module(m);
    if (st) {
        sp_symbols_fail(s, st);
        return st;
    }
    *out = m;
    return SPAA_OK;
}

/* Digits from p on; 0: none. */
static size_t digits_at(const char *p)
{
    return strspn(p, "0123456789");
}

spaa_status sp_symbols_mapped(struct sp_symbols *s, int64_t pid, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t digits = !strncmp(base, "jit-", 4) ? digits_at(base + 4) : 0;
    if (s->opts.no_symbols || !digits || strcmp(base + 4 + digits, ".dump") != 0)
        return SPAA_OK;
    for (size_t i = 0; i < s->jit_paths.n; i++)
        if (s->jit_paths.v[i].pid == pid && !strcmp(s->jit_paths.v[i].path, path))
            return SPAA_OK;
    struct sp_jit_path p = {pid, sp_arena_dup(&s->arena, path, strlen(path))};
    return p.path && sp_vec_push(&s->jit_paths, p) ? SPAA_OK : sp_nomem(s->d);
}

void sp_symbols_clock(struct sp_symbols *s, const struct sp_recording_clock *clock)
{
    s->clock = *clock;
}

void sp_symbols_recorded(struct sp_symbols *s, struct timespec written)
{
    s->recorded = written;
}

spaa_status sp_symbols_machine(struct sp_symbols *s, const char *host, const char *release)
{
    s->host = host;
    s->release = release;
    bool ok = (!host || symbols_copy_text(s, &s->host)) && (!release || symbols_copy_text(s, &s->release));
    return ok ? SPAA_OK : sp_nomem(s->d);
}

uint32_t sp_module_code(const struct sp_module *m, uint64_t addr, uint64_t time)
{
    uint32_t code = m->jit_timed ? sp_jitdump_code(&m->jit, addr - m->shift, time) : SP_JIT_ONE;
    return code == SP_JIT_ONE ? SP_MODULE_LATEST : code;
}

bool sp_module_code_times(const struct sp_module *m, uint64_t **times, size_t *n)
{
    *times = NULL;
    *n = 0;
    if (!m->jit_timed || !m->jit.nodes.n)
        return true;
    uint64_t *v = malloc(m->jit.nodes.n * sizeof *v);
    if (!v)
        return false;
    for (size_t i = 0; i < m->jit.codes.n; i++) { /* by time */
        const struct sp_jit_code *c = &m->jit.codes.v[i];
        if (c->shared && (!*n || v[*n - 1] != c->time))
            v[(*n)++] = c->time;
    }
    *times = v;
    return true;
}

bool sp_module_found(const struct sp_module *m)
{
    return m->file || m->debug || m->ksyms;
}

const char *sp_module_file(const struct sp_module *m)
{
    return m->elf.macho ? NULL : m->file;
}

const char *sp_module_dated_file(const struct sp_module *m)
{
    return m->original ? m->original : sp_module_file(m);
}

const char *sp_module_debug(const struct sp_module *m)
{
    return m->elf.macho ? NULL : m->debug;
}

bool sp_module_is_doubtful(const struct sp_module *m)
{
    return m->doubtful;
}

const char *sp_module_build_id(const struct sp_module *m)
{
    return m->file && m->elf.build_id[0] ? m->elf.build_id : NULL;
}

bool sp_module_vaddr(const struct sp_module *m, uint64_t file_offset, uint64_t *vaddr)
{
    if (!m->file && m->has_pdb && sp_is_windows_path(m->key.path)) { /* as sp_pe_as_elf has it */
        *vaddr = file_offset;
        return true;
    }
    bool known = m->file || m->elf.macho;
    return m->key.kind == SP_MODULE_FILE && known && sp_elf_vaddr(&m->elf, file_offset, vaddr);
}

bool sp_module_is_data(const struct sp_module *m, uint64_t vaddr)
{
    bool data = false;
    if (m->key.kind != SP_MODULE_FILE || !m->file)
        return false;
    for (size_t i = 0; i < m->elf.loads.n; i++) {
        const struct sp_elf_load *l = &m->elf.loads.v[i];
        if (vaddr < l->vaddr || vaddr - l->vaddr >= l->filesz)
            continue;
        if (l->exec)
            return false;
        data = true;
    }
    return data;
}

static bool same_kmod(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b)))
            return false;
    return *a == *b;
}

static const struct sp_sym *find_symbol(const struct sp_module *m, uint64_t addr)
{
    const struct sp_sym *s = sp_symtab_find(m->ksyms ? &m->ksyms->tab : &m->tab, addr);
    if (!s || !m->ksyms)
        return s;
    /* Padding before a function, where nothing runs: what ends there is what follows, whose address minus one
     * it is. */
    if (strncmp(s->name, "__pfx_", 6) == 0 && s->end == addr + 1)
        s = sp_symtab_find(&m->ksyms->tab, addr + 1);
    if (!s)
        return NULL;
    if (m->key.kind == SP_MODULE_KMOD)
        return s->module && m->key.path && same_kmod(s->name + s->module, m->key.path) ? s : NULL;
    /* A module the recording did not name; it moved on its own if the kernel did. */
    return s->module && m->shift ? NULL : s;
}

bool sp_module_covers(const struct sp_module *m, uint64_t addr)
{
    return find_symbol(m, addr - m->shift);
}

/* The code that was named, or what the table has. */
static const struct sp_sym *named_symbol(struct sp_module *m, uint32_t code, uint64_t addr,
                                         struct sp_sym *room)
{
    if (code < m->jit.codes.n) {
        const struct sp_jit_code *c = &m->jit.codes.v[code];
        *room = (struct sp_sym){.start = c->start, .end = c->end, .name = c->name, .order = code};
        return room;
    }
    if (m->jit.nodes.n && !m->jit_timed && sp_jitdump_code(&m->jit, addr, UINT64_MAX) != SP_JIT_ONE)
        m->jit_untold++;
    return find_symbol(m, addr);
}

const struct sp_module_key *sp_module_key(const struct sp_module *m)
{
    return &m->key;
}

/* Its symbol table is there. */
static bool module_table(struct sp_module *m)
{
    struct sp_symbols *s = m->owner;
    if (m->key.kind != SP_MODULE_FILE || s->opts.no_symbols || s->failed)
        return false;
    spaa_status st = m->built ? SPAA_OK : sp_load_elf(m);
    if (st)
        return sp_symbols_fail(s, st);
    return true;
}

bool sp_module_extent(struct sp_module *m, uint64_t vaddr, uint64_t *start, uint64_t *end, const char **name)
{
    if (!module_table(m))
        return false;
    const struct sp_sym *sym = sp_symtab_find(&m->tab, vaddr);
    if (!sym)
        return false;
    *start = sym->start;
    *end = sym->end;
    *name = sym->name;
    return true;
}

bool sp_module_symbol(struct sp_module *m, const char *name, uint64_t *vaddr)
{
    if (!module_table(m))
        return false;
    for (size_t i = 0; i < m->tab.syms.n; i++) {
        const struct sp_sym *sym = &m->tab.syms.v[i];
        if (sym->bind == SP_BIND_GLOBAL && !strcmp(sym->name, name)) {
            *vaddr = sym->start;
            return true;
        }
    }
    return false;
}

size_t sp_module_bytes(struct sp_module *m, uint64_t vaddr, unsigned char *out, size_t n)
{
    const struct sp_elf_load *in = NULL;
    uint64_t size, at = vaddr - m->shift;
    for (size_t i = 0; i < m->elf.loads.n && !in; i++)
        if (m->elf.loads.v[i].exec && at - m->elf.loads.v[i].vaddr < m->elf.loads.v[i].filesz)
            in = &m->elf.loads.v[i];
    int fd = in && m->key.kind == SP_MODULE_FILE && m->file && !m->elf.macho && !m->is_pe
                 ? sp_file_open(m->file, &size)
                 : -1;
    if (fd < 0)
        return 0;
    uint64_t skip = at - in->vaddr, room = in->filesz - skip, offset = in->offset + skip;
    n = n < room ? n : (size_t)room;
    bool there = offset <= size && n <= size - offset;
    spaa_status st = there ? sp_file_read(fd, size, offset, out, n, m->file, m->owner->d) : SPAA_OK;
    close(fd);
    if (st)
        sp_symbols_fail(m->owner, st);
    return st || !there ? 0 : n;
}

spaa_status sp_module_fetch_source(struct sp_module *m, const char *path, const char **out)
{
    const char *id = m->file && m->elf.build_id[0] ? m->elf.build_id : m->key.build_id;
    *out = NULL;
    return m->key.kind == SP_MODULE_FILE ? sp_debuginfod_source(m->owner, id, path, out) : SPAA_OK;
}

void sp_module_missed(struct sp_module *m)
{
    m->misses += !m->owner->opts.no_symbols;
}

size_t sp_module_resolve(struct sp_module *m, uint64_t addr, struct sp_resolved *out, size_t max)
{
    return sp_module_resolve_code(m, SP_MODULE_LATEST, addr, out, max);
}

size_t sp_module_resolve_code(struct sp_module *m, uint32_t code, uint64_t addr, struct sp_resolved *out,
                              size_t max)
{
    struct sp_symbols *s = m->owner;
    size_t n;
    if (s->opts.no_symbols || !max)
        return 0;
    if (s->failed)
        return 0;
    spaa_status st = m->built ? SPAA_OK : sp_load_elf(m);
    if (st) {
        sp_symbols_fail(s, st);
        return 0;
    }
    struct sp_sym room;
    const struct sp_sym *sym = named_symbol(m, code, addr - m->shift, &room);
    if (!sp_module_lines(m, addr - m->shift, out, max, &n))
        return 0;
    if (sym) {
        struct sp_resolved *physical = &out[n ? n - 1 : 0];
        if (!n)
            *physical = (struct sp_resolved){0};
        n += !n;
        if (!sp_symbols_names(s, sym->name, physical) || !sp_module_known(m, sym, physical))
            return 0;
        for (size_t i = 0; i < n; i++)
            out[i].symoff = addr - m->shift - sym->start;
        if (m->jit.codes.n && !sp_module_jit_line(m, sym, addr, physical))
            return 0;
        m->lineless += !physical->srcline;
    }
    if (!n || !out[n - 1].func) {
        m->misses++;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        if (!sp_symbols_arguments(s, &out[i]))
            return 0;
    return n;
}

void sp_module_prepare(struct sp_module *m, const uint64_t *addrs, size_t n, unsigned jobs)
{
    struct sp_dwarf *d = m->owner->opts.no_symbols ? NULL : sp_module_dwarf(m);
    if (d)
        sp_dwarf_prepare(d, addrs, n, m->owner->opts.no_lines ? SP_DWARF_INLINES : SP_DWARF_LINES, jobs);
}
