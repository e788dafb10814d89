/* What is said in the end about modules without symbols: the worst few one by one, then how many more. */
#include "pdb/pdb.h"
#include "symbols/internal.h"

#include <stdlib.h>
#include <string.h>

#define TOLD_MAX 5

static bool is_lacking(const struct sp_module *m)
{
    return m->misses && m->why != SP_WHY_NONE;
}

static int by_misses(const void *a, const void *b)
{
    const struct sp_module *x = *(struct sp_module *const *)a, *y = *(struct sp_module *const *)b;
    if (x->misses != y->misses)
        return x->misses < y->misses ? 1 : -1;
    if (x->key.kind != y->key.kind)
        return x->key.kind < y->key.kind ? -1 : 1;
    if (x->key.pid != y->key.pid)
        return x->key.pid < y->key.pid ? -1 : 1;
    int order = strcmp(x->key.path ? x->key.path : "", y->key.path ? y->key.path : "");
    return order ? order
                 : strcmp(x->key.build_id ? x->key.build_id : "", y->key.build_id ? y->key.build_id : "");
}

static void say_name(const struct sp_module *m, struct sp_buf *b)
{
    if (m->key.kind == SP_MODULE_KERNEL)
        sp_buf_puts(b, "the kernel");
    else if (m->key.kind == SP_MODULE_JIT)
        sp_buf_printf(b, "just-in-time code of process %lld", (long long)m->key.pid);
    else if (m->key.kind == SP_MODULE_KMOD)
        sp_buf_printf(b, "kernel module %s", m->key.path ? m->key.path : "?");
    else
        sp_buf_puts(b, m->key.path ? m->key.path : "a file without a name");
    sp_buf_printf(b, ": %llu address%s without a name: ", (unsigned long long)m->misses,
                  m->misses == 1 ? "" : "es");
}

#define HINT_KALLSYMS                                                                                        \
    "pass `--kallsyms FILE`, a copy of /proc/kallsyms made as root during the recorded boot "                \
    "(`sudo cat /proc/kallsyms > FILE`)"

/* Where the recording has no build-id of the kernel. */
#define HINT_RUNNING                                                                                         \
    "pass `--kallsyms /proc/kallsyms` only if the kernel that runs here made the recording, not booted "     \
    "since; else a copy of it made as root during the recorded boot (`sudo cat /proc/kallsyms > FILE`)"
#define HINT_BOOTED                                                                                          \
    "pass `--kallsyms /proc/kallsyms` only if the machine was booted since with the same build of the "      \
    "kernel (its modules get no names then); else a copy of it made as root during the recorded boot"

static const char *hint_kallsyms(const struct sp_module *m)
{
    return m->key.build_id || m->other ? HINT_KALLSYMS : HINT_RUNNING;
}

static const char *say_wanted_image(const struct sp_module *m, struct sp_buf *hint)
{
    sp_buf_printf(hint, "pass `--dsym DIR`, below which is its .dSYM bundle, or itself: the one with UUID %s",
                  sp_module_wanted_id(m));
    return sp_buf_cstr(hint);
}

/* Of a file whose build-id is as long as a UUID. */
static const char *say_no_image(const struct sp_module *m, struct sp_buf *b, struct sp_buf *hint)
{
    const char *cache = sp_macho_cache(m->owner);
    bool path = m->key.path && m->key.path[0] == '/';
    sp_buf_puts(b, path ? "the file was not found" : "no file with its UUID was found");
    if (cache)
        sp_buf_printf(b, ", and %s, a dyld shared cache, is not read", cache);
    if (path)
        sp_buf_printf(hint,
                      "pass `--symfs DIR` with a copy of the recorded machine's files, or `--debug-dir DIR` "
                      "with the debug file of build-id %s; of macOS, ",
                      m->key.build_id);
    return say_wanted_image(m, hint);
}

/* Appends the reason and returns the hint, which may stand in `hint`. */
static const char *say_no_file(const struct sp_module *m, const char *id, struct sp_buf *b,
                               struct sp_buf *hint)
{
    if (m->key.path && !strncmp(m->key.path, "memfd:", 6)) {
        sp_buf_puts(b, "it was in memory only");
        return id ? "add its file by `perf buildid-cache -a FILE`"
                  : "of a program: record with `perf record --buildid-mmap`, and add its file by `perf "
                    "buildid-cache -a FILE`; of just-in-time code: have the runtime write perf-PID.map";
    }
    if (sp_is_uuid(id))
        return say_no_image(m, b, hint);
    if (!m->key.path || m->key.path[0] != '/') {
        sp_buf_puts(b, "it is not a file");
        return "";
    }
    sp_buf_puts(b, "the file was not found");
    sp_buf_puts(hint, "pass `--symfs DIR` with a copy of the recorded machine's files");
    if (id)
        sp_buf_printf(hint, ", or `--debug-dir DIR` with the debug file of build-id %s", id);
    return sp_buf_cstr(hint);
}

/* Of a file: what was found in its place, or was not. */
static const char *say_why_file(const struct sp_module *m, struct sp_buf *b, struct sp_buf *hint)
{
    const char *id = m->elf.build_id[0] ? m->elf.build_id : m->key.build_id;
    switch ((int)m->why) {
    case SP_WHY_NO_FILE:
        return say_no_file(m, id, b, hint);
    case SP_WHY_NO_PDB:
        sp_buf_puts(b, m->file ? "its PDB was not found, and the image names what it exports alone"
                               : "neither its PDB nor the image was found");
        sp_buf_printf(
            hint, "pass %s`--symfs DIR` with the PDB in DIR, or in DIR/NAME.pdb/%s as symbol servers keep it",
            m->owner->opts.takes_images ? "`--image FILE` (PDB, PE, ELF), `--map FILE` (link /MAP), or " : "",
            id ? id : "GUIDAGE");
        return sp_buf_cstr(hint);
    case SP_WHY_BAD_PDB:
        sp_buf_printf(b, "%s is %s", m->other, m->other_id);
        return "pass `--symfs DIR` with the PDB that the linker wrote beside the image";
    case SP_WHY_OTHER_BUILD:
        sp_buf_printf(b, "%s is of another build", m->other);
        if (sp_is_uuid(m->key.build_id) && (!m->key.path || m->key.path[0] != '/'))
            return say_wanted_image(m, hint);
        return "pass `--symfs DIR` with the files of the recorded machine as they were then";
    case SP_WHY_NOT_ELF:
        sp_buf_printf(b, "%s is neither an ELF, a Mach-O nor a PE file that can be read", m->other);
        return "pass `--symfs DIR` with a copy of the recorded machine's files";
    case SP_WHY_STRIPPED:
        sp_buf_puts(b, "it is stripped, and no debug file was found");
        if (m->elf.macho)
            return say_wanted_image(m, hint);
        sp_buf_puts(hint, "install its debug package, or pass `--debug-dir DIR`");
        if (id)
            sp_buf_printf(hint, " with the debug file of build-id %s", id);
        return sp_buf_cstr(hint);
    case SP_WHY_NO_UUID:
        sp_buf_printf(b, "%s is a Mach-O file, and no UUID tells whether it is the recorded one", m->other);
        return "";
    case SP_WHY_DAMAGED:
        sp_buf_printf(b, "%s is damaged", m->file ? m->file : m->other);
        return m->elf.macho ? say_wanted_image(m, hint)
                            : "pass `--symfs DIR` with whole copies of the recorded machine's files";
    }
    return "";
}

static const char *say_why(const struct sp_module *m, struct sp_buf *b, struct sp_buf *hint)
{
    switch ((int)m->why) {
    case SP_WHY_NO_KALLSYMS:
        sp_buf_printf(b, m->other ? "%s cannot be used as kallsyms" : "no kallsyms of the recorded kernel%s",
                      m->other ? m->other : "");
        return hint_kallsyms(m);
    case SP_WHY_UNPROVEN:
    case SP_WHY_BOOTED:
        sp_buf_printf(b, "no kallsyms of the recorded kernel: the recording has no build-id of it and %s",
                      m->other);
        return m->why == SP_WHY_BOOTED ? HINT_BOOTED : HINT_RUNNING;
    case SP_WHY_RESTRICTED:
        sp_buf_printf(b, "%s hides the addresses (kernel.kptr_restrict)", m->other);
        return HINT_KALLSYMS;
    case SP_WHY_OTHER_BOOT:
        sp_buf_printf(b, "%s is of another boot, and modules move at each", m->other);
        return HINT_KALLSYMS;
    case SP_WHY_OTHER_VDSO:
        sp_buf_puts(b, "the running kernel has another one");
        return "convert where it was recorded, or copy that machine's ~/.debug/.build-id";
    case SP_WHY_NO_MAP:
        sp_buf_printf(b, "no perf-%lld.map", (long long)m->key.pid);
        sp_buf_printf(hint,
                      "have the runtime write it (`node --perf-basic-prof`, `java -XX:+DumpPerfMapAtExit`, "
                      "`PYTHONPERFSUPPORT=1`, ...) and pass `--symfs DIR` with it as DIR/tmp/perf-%lld.map",
                      (long long)m->key.pid);
        return sp_buf_cstr(hint);
    }
    return say_why_file(m, b, hint);
}

const char *sp_module_missing(const struct sp_module *m, struct sp_buf *why, struct sp_buf *hint)
{
    return say_why(m, why, hint);
}

static void report_tell(struct sp_diags *d, const struct sp_module *m)
{
    struct sp_buf text, hint;
    sp_buf_init(&text, 64 << 10);
    sp_buf_init(&hint, 4 << 10);
    if (m->why == SP_WHY_OTHER_BUILD)
        sp_emit(d, SP_W312, SP_AT_NOTHING, "%s has build-id %s, the recording %s", m->other,
                m->other_id[0] ? m->other_id : "(none)", m->key.build_id);
    say_name(m, &text);
    const char *advice = say_why(m, &text, &hint);
    bool kernel = m->key.kind == SP_MODULE_KERNEL || m->key.kind == SP_MODULE_KMOD;
    /* What to do depends on what only the reader knows: it is told at once. */
    if (kernel && !m->key.build_id)
        sp_buf_printf(&text, "; %s", advice);
    sp_emit_hint(d, SP_I320, SP_AT_NOTHING, advice, "%s", sp_buf_cstr(&text));
    sp_buf_free(&text);
    sp_buf_free(&hint);
}

/* Each file in one line. */
static void tell_damaged(struct sp_diags *d, const struct sp_dwarf *dwarf)
{
    struct sp_dwarf_damage damage;
    struct sp_buf text;
    size_t at = 0, n = 0;
    sp_buf_init(&damage.sections, 4 << 10);
    sp_buf_init(&text, 4 << 10);
    for (; sp_dwarf_damaged(dwarf, &at, &damage); n++) {
        sp_buf_clear(&text);
        if (damage.units)
            sp_buf_printf(&text, "%zu %s", damage.units,
                          damage.units == 1 ? "unit or line table" : "units or line tables");
        if (damage.sections.len)
            sp_buf_printf(&text, "%s%s (missing, cut off or damaged)", text.len ? ", " : "",
                          sp_buf_cstr(&damage.sections));
        if (n < TOLD_MAX)
            sp_emit(d, SP_W802, SP_AT_NOTHING, "%s: %s", damage.file, sp_buf_cstr(&text));
    }
    if (n > TOLD_MAX)
        sp_emit(d, SP_W802, SP_AT_NOTHING, "%zu more files", n - TOLD_MAX);
    sp_buf_free(&damage.sections);
    sp_buf_free(&text);
}

/* Files that stand where one was looked for. */
static void tell_unusable(struct sp_diags *d, const struct sp_dwarf *dwarf, const char *by)
{
    size_t n = 0;
    bool other;
    for (const char *path; (path = sp_dwarf_unusable(dwarf, n, &other)); n++) {
        if (n < TOLD_MAX && other)
            sp_emit(d, SP_W801, SP_AT_NOTHING, "%s: %s is of another build", by, path);
        else if (n < TOLD_MAX)
            sp_emit(d, SP_W802, SP_AT_NOTHING, "%s: it cannot be read as debug information of %s", path, by);
    }
    if (n > TOLD_MAX)
        sp_emit(d, SP_W802, SP_AT_NOTHING, "%s: %zu more files of its debug information", by, n - TOLD_MAX);
}

/* Debug information that is there and cannot all be used. */
static void tell_dwarf(struct sp_diags *d, const struct sp_module *m)
{
    size_t units;
    const char *missing = sp_dwarf_missing(m->dwarf, &units);
    const char *file = m->file ? m->file : m->debug ? m->debug : "?";
    if (missing)
        sp_emit(d, SP_W801, SP_AT_NOTHING, "%s: %s was not found%s", file, missing,
                units > 1 ? ", nor were others" : "");
    if (sp_dwarf_excess(m->dwarf))
        sp_emit(d, SP_W805, SP_AT_NOTHING, "%s", file);
    tell_damaged(d, m->dwarf);
    tell_unusable(d, m->dwarf, file);
}

static void tell_symtab(struct sp_diags *d, const struct sp_module *m)
{
    const char *file = m->debug ? m->debug : m->file ? m->file : "?";
    sp_emit(d, SP_W806, SP_AT_NOTHING, "%s", file);
}

static void tell_pdb(struct sp_diags *d, const struct sp_module *m)
{
    size_t damaged = sp_pdb_damaged(m->pdb);
    if (sp_pdb_is_fastlink(m->pdb))
        sp_emit_hint(
            d, SP_W801, SP_AT_NOTHING,
            "link with /DEBUG:FULL, or make it whole by `mspdbcmf NAME.pdb` where the object files are",
            "%s was linked with /DEBUG:FASTLINK: it has the names of public symbols, and static "
            "functions have that of the one before them",
            m->debug);
    if (damaged)
        sp_emit(d, SP_W802, SP_AT_NOTHING, "%s: %zu module%s or table%s", m->debug, damaged,
                damaged == 1 ? "" : "s", damaged == 1 ? "" : "s");
}

static void tell_places(struct sp_diags *d, const struct sp_module *m)
{
    const char *file = m->file ? m->file : m->debug ? m->debug : "?";
    sp_emit(d, SP_W802, SP_AT_NOTHING, "%s: a name of a source file is too long, and its lines were left out",
            file);
}

/* Files that were found and are not whole. */
static void tell_files(struct sp_diags *d, const struct sp_module *m)
{
    if (m->file && m->elf.damage)
        sp_emit(d, SP_W802, SP_AT_NOTHING, "%s: %s", m->file, m->elf.damage);
    else if (!m->file && m->why == SP_WHY_DAMAGED && m->other)
        sp_emit(d, SP_W802, SP_AT_NOTHING, "%s: %s", m->other, m->other_id);
    if (m->bad_debug && m->bad_debug_why)
        sp_emit(d, SP_W802, SP_AT_NOTHING, "%s: %s", m->bad_debug, m->bad_debug_why);
    else if (m->bad_debug)
        sp_emit(d, SP_W801, SP_AT_NOTHING, "%s: %s is of another build", m->file ? m->file : "?",
                m->bad_debug);
}

/* A .dSYM bundle that fits by its name alone. */
static void tell_stray(struct sp_diags *d, const struct sp_module *m)
{
    if (m->misses || m->lineless)
        sp_emit(d, SP_W312, SP_AT_NOTHING, "%s has UUID %s, the recording %s", m->stray,
                m->stray_id[0] ? m->stray_id : "(none)", sp_module_wanted_id(m));
}

bool sp_module_lacks_lines(const struct sp_module *m)
{
    return m->key.kind == SP_MODULE_FILE && m->dwarf_tried && !m->dwarf && m->lineless;
}

static int by_lineless(const void *a, const void *b)
{
    const struct sp_module *x = *(struct sp_module *const *)a, *y = *(struct sp_module *const *)b;
    if (x->lineless != y->lineless)
        return x->lineless < y->lineless ? 1 : -1;
    return strcmp(x->key.path ? x->key.path : "", y->key.path ? y->key.path : "");
}

static void tell_lineless(struct sp_diags *d, const struct sp_module *m)
{
    sp_emit_hint(d, SP_I803, SP_AT_NOTHING, m->elf.macho ? SP_HINT_DSYM : SP_HINT_LINES,
                 "%s: %llu addresses with a name: no debug information was found",
                 m->key.path ? m->key.path : "?", (unsigned long long)m->lineless);
}

void sp_symbols_report_lines(struct sp_symbols *s)
{
    SP_VEC(const struct sp_module *) lacking = {0};
    for (size_t i = 0; i < s->modules.n && !s->opts.no_lines && !s->opts.no_symbols; i++) {
        const struct sp_module *m = s->modules.v[i];
        if (!sp_module_lacks_lines(m))
            continue;
        if (!sp_vec_push(&lacking, m)) {
            sp_nomem(s->d);
            break;
        }
    }
    if (lacking.n)
        qsort(lacking.v, lacking.n, sizeof *lacking.v, by_lineless);
    for (size_t i = 0; i < lacking.n && i < TOLD_MAX; i++)
        tell_lineless(s->d, lacking.v[i]);
    if (lacking.n > TOLD_MAX)
        sp_emit(s->d, SP_I803, SP_AT_NOTHING, "%zu more files", lacking.n - TOLD_MAX);
    sp_vec_free(&lacking);
}

/* Code that was replaced, with no way to tell which a sample was in. */
static void tell_untold(struct sp_symbols *s)
{
    for (size_t i = 0; i < s->modules.n; i++) {
        const struct sp_module *m = s->modules.v[i];
        if (m->jit_untold)
            sp_emit(s->d, SP_I834, SP_AT_NOTHING, "process %lld: %llu address%s", (long long)m->key.pid,
                    (unsigned long long)m->jit_untold, m->jit_untold == 1 ? "" : "es");
    }
}

/* An image that was found where it is said to be, of which the recording does not say which build it was. */
static void tell_unproven(struct sp_symbols *s)
{
    for (size_t i = 0; i < s->modules.n; i++) {
        const struct sp_module *m = s->modules.v[i];
        if (m->is_pe && !m->key.build_id)
            sp_emit(s->d, SP_I322, SP_AT_NOTHING,
                    "the recording has no GUID and age of %s; %s was used for its name alone",
                    m->key.path ? m->key.path : "?", m->file);
    }
}

/* Files that gave names and may be of another build. Of names that a profile has already, its reader told. */
static void tell_doubtful(struct sp_symbols *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->modules.n; i++) {
        const struct sp_module *m = s->modules.v[i];
        if (m->doubtful && !m->key.doubtful && m->file && m->built && n++ < TOLD_MAX)
            sp_emit(s->d, SP_W809, SP_AT_NOTHING, "%s", m->file);
    }
    if (n > TOLD_MAX)
        sp_emit(s->d, SP_W809, SP_AT_NOTHING, "%zu more files", n - TOLD_MAX);
}

void sp_symbols_report(struct sp_symbols *s)
{
    SP_VEC(struct sp_module *) lacking = {0};
    uint64_t more = 0;
    for (size_t i = 0; i < s->modules.n; i++) {
        if (s->modules.v[i]->stray && !s->modules.v[i]->debug)
            tell_stray(s->d, s->modules.v[i]);
        tell_files(s->d, s->modules.v[i]);
        if (s->modules.v[i]->dwarf)
            tell_dwarf(s->d, s->modules.v[i]);
        if (s->modules.v[i]->tab.excess)
            tell_symtab(s->d, s->modules.v[i]);
        if (s->modules.v[i]->pdb)
            tell_pdb(s->d, s->modules.v[i]);
        if (s->modules.v[i]->long_places)
            tell_places(s->d, s->modules.v[i]);
        if (is_lacking(s->modules.v[i]) && !sp_vec_push(&lacking, s->modules.v[i])) {
            sp_nomem(s->d);
            goto done;
        }
    }
    if (lacking.n)
        qsort(lacking.v, lacking.n, sizeof *lacking.v, by_misses);
    for (size_t i = 0; i < lacking.n; i++) {
        if (i < TOLD_MAX)
            report_tell(s->d, lacking.v[i]);
        else
            more += lacking.v[i]->misses;
    }
    if (more)
        sp_emit(s->d, SP_I320, SP_AT_NOTHING, "%zu more modules with %llu addresses without a name",
                lacking.n - TOLD_MAX, (unsigned long long)more);
    tell_untold(s);
    tell_unproven(s);
    tell_doubtful(s);
done:
    sp_vec_free(&lacking);
}
