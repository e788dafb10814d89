/*
 * The tables of a module from the files that were found.
 *
 * The kernel: kallsyms. A copy says nothing about which kernel it is of, so one that was named is
 * believed; the running kernel's is taken only when it was recorded (running.c). Where kernels are loaded at
 * a random address (KASLR), the recording's _text and the file's differ by how much the kernel moved; modules
 * move on their own, so their addresses mean something only when the kernel did not. Without kallsyms, the
 * debug file of the recorded build-id (vmlinux) serves.
 */
#include "io/file.h"
#include "symbols/internal.h"
#include "symbols/kallsyms.h"
#include "symbols/store.h"
#include "symbols/windows.h"

#include <limits.h>
#include <string.h>

static spaa_status add_elf(struct sp_module *m, const char *file)
{
    struct sp_elf e = {0};
    size_t before = m->tab.syms.n, files = m->tab.files.n, stops = m->tab.stops.n;
    bool lacks_some = m->tab.lacks_some;
    spaa_status st = sp_module_read(m, file, &e, &m->tab);
    const char *id = m->elf.build_id[0] ? m->elf.build_id : m->key.build_id;
    /* The file may have been replaced since it was found. */
    if (st != SPAA_OK || (id && !sp_same_build_id(id, e.build_id)))
        m->tab.syms.n = before, m->tab.files.n = files, m->tab.stops.n = stops,
        m->tab.lacks_some = lacks_some;
    else if (e.damage && m->file && !strcmp(file, m->file)) /* which may show in its symbols alone */
        m->elf.damage = e.damage;
    else if (e.damage && !m->bad_debug)
        m->bad_debug = file, m->bad_debug_why = e.damage;
    sp_elf_free(&e);
    return sp_file_fatal(st);
}

static uint64_t shift_to(const struct sp_module *m, uint64_t text)
{
    return text && m->key.kernel_text ? m->key.kernel_text - text : 0;
}

/* Of a kernel with symbols; asked before equals are dropped, for _text is seldom alone. */
static uint64_t load_text_of(const struct sp_symtab *t)
{
    uint64_t text = 0, stext = 0;
    for (size_t i = 0; i < t->syms.n; i++) {
        const struct sp_sym *s = &t->syms.v[i];
        if (!strcmp(s->name, "_text"))
            text = s->start;
        else if (!strcmp(s->name, "_stext"))
            stext = s->start;
    }
    return text ? text : stext;
}

spaa_status sp_load_elf(struct sp_module *m)
{
    spaa_status st = SPAA_OK;
    m->built = true;
    if (m->is_pe || m->has_pdb)
        return sp_load_windows(m);
    if (m->file && !m->elf.has_symtab)
        st = sp_find_debug(m);
    if (st == SPAA_OK && m->debug)
        st = add_elf(m, m->debug);
    if (st == SPAA_OK && m->file)
        st = add_elf(m, m->file);
    if (st == SPAA_OK && m->file && !m->debug && m->elf.has_mini)
        st = sp_minidebug_add(m);
    if (st == SPAA_OK && m->file && !m->debug && m->elf.go && !m->elf.has_symtab)
        st = sp_gopclntab_add(m);
    if (st == SPAA_OK && m->key.kind == SP_MODULE_KERNEL)
        m->shift = shift_to(m, load_text_of(&m->tab));
    if (st == SPAA_OK && !sp_symtab_finish(&m->tab, m->elf.macho ? SP_RULES_MACHO : SP_RULES_ELF))
        st = SPAA_ERR_NOMEM;
    return st;
}

static spaa_status try_kallsyms(struct sp_module *m, const char *path, bool named)
{
    struct sp_ksyms *k;
    if (m->ksyms || !*path)
        return SPAA_OK;
    spaa_status st = sp_ksyms_of(m->owner, path, &k);
    if (st != SPAA_OK)
        return st;
    if (k->tab.syms.n) {
        m->shift = shift_to(m, sp_ksyms_at(k, m->key.kernel_ref));
        if (m->shift && m->key.kind == SP_MODULE_KMOD) {
            m->why = SP_WHY_OTHER_BOOT;
            m->other = k->path;
        } else {
            m->ksyms = k;
        }
    } else if (k->restricted || named) {
        m->why = k->restricted ? SP_WHY_RESTRICTED : SP_WHY_NO_KALLSYMS;
        m->other = k->path;
    }
    return SPAA_OK;
}

/* The running kernel's, if it is the recorded one. */
static spaa_status try_running(struct sp_module *m, const char *id)
{
    bool same = false;
    spaa_status st = SPAA_OK;
    if (m->ksyms)
        return SPAA_OK;
    if (id)
        st = sp_running_build(id, m->owner->d, &same);
    else if (m->why == SP_WHY_NO_KALLSYMS && !m->other) /* else what was named is what there is to say */
        st = sp_running_boot(m, &same);
    return st == SPAA_OK && same ? try_kallsyms(m, SP_RUNNING_KALLSYMS, false) : st;
}

/* The store's, of the boot with this _text or of any (0). */
static spaa_status try_stored(struct sp_module *m, struct sp_buf *b, const char *id, uint64_t text)
{
    const char *store = m->owner->store;
    if (m->ksyms || !store || !id)
        return SPAA_OK;
    spaa_status st = try_kallsyms(m, sp_store_kallsyms(b, store, id, text), false);
    if (m->ksyms)
        sp_file_used(m->ksyms->path);
    return st;
}

/* Whether the kernel itself was opened: what it does not use, its modules do not either. */
static bool kernel_is_open(const struct sp_symbols *s)
{
    for (size_t i = 0; i < s->modules.n; i++)
        if (s->modules.v[i]->key.kind == SP_MODULE_KERNEL)
            return true;
    return false;
}

spaa_status sp_load_kernel(struct sp_module *m)
{
    const struct sp_symbols *s = m->owner;
    const char *id = sp_is_build_id(m->key.build_id) ? m->key.build_id : NULL;
    spaa_status st = SPAA_OK;
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    m->built = true;
    m->why = SP_WHY_NO_KALLSYMS;
    if (s->opts.kallsyms)
        st = try_kallsyms(m, s->opts.kallsyms, true);
    if (st == SPAA_OK && s->opts.symfs)
        st = try_kallsyms(m, sp_path_below(&b, s->opts.symfs, "/proc/kallsyms"), false);
    if (m->key.kind == SP_MODULE_KMOD) {
        id = NULL; /* its build-id is the module's, not the kernel's */
        for (size_t i = 0; i < s->modules.n && st == SPAA_OK; i++)
            if (s->modules.v[i]->key.kind == SP_MODULE_KERNEL && s->modules.v[i]->ksyms)
                st = try_kallsyms(m, s->modules.v[i]->ksyms->path, false);
    }
    if (st == SPAA_OK && m->key.kernel_text)
        st = try_stored(m, &b, id, m->key.kernel_text);
    if (st == SPAA_OK && id && s->home)
        st = try_kallsyms(m, sp_path(&b, "%s/.debug/.build-id/%.2s/%s/kallsyms", s->home, id, id + 2), false);
    if (st == SPAA_OK && (m->key.kind == SP_MODULE_KERNEL || !kernel_is_open(s)))
        st = try_running(m, id);
    if (st == SPAA_OK)
        st = try_stored(m, &b, id, 0);
    if (st == SPAA_OK && id && !m->ksyms)
        st = sp_find_debug(m);
    if (st == SPAA_OK && m->debug)
        st = sp_load_elf(m);
    if (m->ksyms || m->debug)
        m->why = SP_WHY_NONE;
    return sp_path_end(&b, st);
}

/*
 * Anybody can write to /tmp what the names of somebody else's process are: files below `--symfs` were named,
 * others must be root's or of the one who asks.
 */
static spaa_status not_believed(struct sp_module *m, const char *path, spaa_status st)
{
    if (st == SPAA_ERR_USAGE)
        sp_emit(m->owner->d, SP_W807, SP_AT_NOTHING, "%s", path);
    return sp_file_fatal(st);
}

/* Code of a process that is in no mapping at all is another module, which has the same files. */
static bool is_second_of_process(const struct sp_module *m)
{
    const struct sp_symbols *s = m->owner;
    for (size_t i = 0; i < s->modules.n; i++)
        if (s->modules.v[i]->key.kind == SP_MODULE_JIT && s->modules.v[i]->key.pid == m->key.pid)
            return s->modules.v[i] != m;
    return false;
}

static void tell_skipped(const struct sp_module *m, const struct sp_map_skipped *skipped)
{
    if (is_second_of_process(m))
        return;
    if (skipped->empty)
        sp_emit_hint(m->owner->d, SP_W802, SP_AT_NOTHING, "the program may have ended before it wrote one",
                     "%s: no line in it", m->file);
    if (skipped->n)
        sp_emit(m->owner->d, SP_W802, SP_AT_NOTHING,
                "%s: %llu line%s could not be used, or not all of %s, the first is line %llu: %s", m->file,
                (unsigned long long)skipped->n, skipped->n == 1 ? "" : "s", skipped->n == 1 ? "it" : "them",
                (unsigned long long)skipped->first, skipped->why);
}

static void tell_damage(const struct sp_module *m, const char *path)
{
    const struct sp_jit_damage *d = &m->jit.damage;
    if (d->n && !is_second_of_process(m))
        sp_emit(m->owner->d, SP_W802, SP_AT_NOTHING,
                "%s: %zu record%s could not be used, the first at byte %llu: %s", path, d->n,
                d->n == 1 ? "" : "s", (unsigned long long)d->first, d->why);
}

/* Parses the first of the candidates that is there. */
static spaa_status try_map(struct sp_module *m, const char *path, bool named)
{
    struct sp_map_skipped skipped;
    char *text;
    size_t n;
    if (m->file || !*path)
        return SPAA_OK;
    bool any = named || m->owner->opts.trust_maps;
    spaa_status st = sp_file_slurp_own(path, SP_PERF_MAP_MAX, any, m->owner->d, &text, &n);
    if (st != SPAA_OK)
        return not_believed(m, path, st);
    m->file = sp_module_keep(m, path);
    if (!sp_symtab_keep(&m->tab, text) || !m->file || !sp_perf_map_parse(text, n, &m->tab, &skipped))
        return SPAA_ERR_NOMEM;
    tell_skipped(m, &skipped);
    m->why = SP_WHY_NONE;
    return SPAA_OK;
}

/* Whether the dump's times can be compared with the recording's; they are made the same. */
static void fit_times(struct sp_module *m)
{
    const struct sp_recording_clock *c = &m->owner->clock;
    m->jit_timed = m->jit.arch_times ? c->cycles && c->shift < 64 : c->monotonic;
    if (!m->jit_timed || !m->jit.arch_times)
        return;
    for (size_t i = 0; i < m->jit.codes.n; i++) {
        uint64_t t = m->jit.codes.v[i].time, rest = t & (((uint64_t)1 << c->shift) - 1);
        m->jit.codes.v[i].time = c->zero + (t >> c->shift) * c->mult + (rest * c->mult >> c->shift);
    }
}

static spaa_status try_jitdump(struct sp_module *m, const char *path, bool named)
{
    char *data;
    size_t n;
    bool is_one = false;
    if (m->file || !*path)
        return SPAA_OK;
    bool any = named || m->owner->opts.trust_maps;
    spaa_status st = sp_file_slurp_own(path, SP_JITDUMP_MAX, any, m->owner->d, &data, &n);
    if (st != SPAA_OK)
        return not_believed(m, path, st);
    if (!sp_symtab_keep(&m->tab, data) ||
        !sp_jitdump_parse((const unsigned char *)data, n, &m->tab, &m->jit, &is_one))
        return SPAA_ERR_NOMEM;
    tell_damage(m, path);
    if (!is_one)
        return SPAA_OK;
    fit_times(m);
    m->file = sp_module_keep(m, path);
    m->why = SP_WHY_NONE;
    return m->file ? SPAA_OK : SPAA_ERR_NOMEM;
}

static spaa_status load_jitdump(struct sp_module *m, struct sp_buf *b)
{
    const struct sp_symbols *s = m->owner;
    const char *symfs = s->opts.symfs;
    long long pid = m->key.pid;
    spaa_status st = SPAA_OK;
    for (size_t i = 0; i < s->jit_paths.n && !st; i++) {
        if (s->jit_paths.v[i].pid != m->key.pid)
            continue;
        if (symfs)
            st = try_jitdump(m, sp_path_below(b, symfs, "%s", s->jit_paths.v[i].path), true);
        if (!st && sp_is_recorded_path(s->jit_paths.v[i].path))
            st = try_jitdump(m, s->jit_paths.v[i].path, false);
    }
    if (!st && symfs && pid > 0)
        st = try_jitdump(m, sp_path_below(b, symfs, "/tmp/jit-%lld.dump", pid), true);
    return !st && pid > 0 ? try_jitdump(m, sp_path(b, "/tmp/jit-%lld.dump", pid), false) : st;
}

spaa_status sp_load_perf_map(struct sp_module *m)
{
    const char *symfs = m->owner->opts.symfs, *p = m->key.path;
    long long pid = m->key.pid;
    size_t n = p ? strlen(p) : 0;
    spaa_status st = SPAA_OK;
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    m->built = true;
    m->why = SP_WHY_NO_MAP;
    st = load_jitdump(m, &b);
    if (!st && symfs && pid > 0)
        st = try_map(m, sp_path_below(&b, symfs, "/tmp/perf-%lld.map", pid), true);
    if (st == SPAA_OK && symfs && pid > 0)
        st = try_map(m, sp_path_below(&b, symfs, "/perf-%lld.map", pid), true);
    if (st == SPAA_OK && n > 4 && !strcmp(p + n - 4, ".map") && sp_is_recorded_path(p))
        st = try_map(m, p, false);
    if (st == SPAA_OK && pid > 0)
        st = try_map(m, sp_path(&b, "/tmp/perf-%lld.map", pid), false);
    return sp_path_end(&b, st);
}
