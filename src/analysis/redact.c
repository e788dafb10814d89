#include "analysis/redact.h"

#include "analysis/leaks.h"
#include "analysis/match.h"
#include "analysis/own.h"
#include "analysis/own_table.h"
#include "analysis/recursion.h"
#include "analysis/redact_keep.h"
#include "analysis/redacted_name.h"
#include "base/nearest.h"
#include "base/sha256.h"
#include "model/callgraph.h"
#include "model/entries.h"
#include "model/facts.h"
#include "model/originals.h"
#include "model/samples.h"

#include <stdlib.h>
#include <string.h>

enum rule {
    REDACT_PATHS = 1,
    REDACT_HOST = 2,
    REDACT_COMMAND = 4,
    REDACT_THREADS = 8,
    REDACT_FUNCTIONS = 16,
    REDACT_LABELS = 32,
    REDACT_FILES = 64,
    REDACT_ALL = 127,
};

struct redaction {
    struct sp_profile *p;
    struct sp_diags *d;
    const char *key;
    unsigned rules;
    unsigned char *matches; /* per string of the profile: a /RE/ fits; NULL: there is none */
    size_t nmatches;
    uint32_t *paths;   /* per string of the profile: 1 + what it is as a path; 0: not known yet */
    uint64_t left_out; /* members without a field */
    bool ok;
};

static struct sp_str redact_str(const struct redaction *x, uint32_t s)
{
    return sp_pstr(x->p, s);
}

static bool is_named(const struct redaction *x, uint32_t s)
{
    return x->matches && s && s < x->nmatches && x->matches[s];
}

/* "f-1f2e3d4c5b6a" of a name. */
static void put_hash(const struct redaction *x, struct sp_buf *b, char kind, const char *p, size_t n)
{
    unsigned char digest[SP_SHA256];
    sp_hmac_sha256(x->key ? x->key : "", x->key ? strlen(x->key) : 0, p, n, digest);
    sp_buf_printf(b, "%c-", kind);
    for (int i = 0; i < 6; i++)
        sp_buf_printf(b, "%02x", digest[i]);
}

static uint32_t redact_intern(struct redaction *x, struct sp_buf *b)
{
    uint32_t s = b->failed ? SP_STR_FAIL : sp_profile_str(x->p, b->data, b->len);
    sp_buf_free(b);
    x->ok = x->ok && s != SP_STR_FAIL;
    return s == SP_STR_FAIL ? SP_STR_NONE : s;
}

static uint32_t hashed(struct redaction *x, uint32_t s, char kind)
{
    struct sp_str t = redact_str(x, s);
    struct sp_buf b;
    if (!t.n)
        return s;
    sp_buf_init(&b, 0);
    put_hash(x, &b, kind, t.p, t.n);
    return redact_intern(x, &b);
}

/* ---- paths ---- */

/* A folder that tells nothing of its owner: "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/lib64". */
static bool is_system(const char *p, size_t n)
{
    static const char *const folders[] = {"/usr/lib",     "/usr/lib64",      "/usr/bin",       "/usr/sbin",
                                          "/lib",         "/lib64",          "/bin",           "/sbin",
                                          "/usr/libexec", "/System/Library", "/usr/lib/system"};
    static const char *const triplets[] = {"x86_64-linux-gnu", "aarch64-linux-gnu", "i386-linux-gnu",
                                           "arm-linux-gnueabihf", "riscv64-linux-gnu"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t m = strlen(folders[i]);
        if (n < m || memcmp(p, folders[i], m) != 0)
            continue;
        if (n == m || strcmp(folders[i], "/System/Library") == 0)
            return true;
        for (size_t k = 0; k < sizeof triplets / sizeof *triplets; k++)
            if (n == m + 1 + strlen(triplets[k]) && p[m] == '/' &&
                memcmp(p + m + 1, triplets[k], strlen(triplets[k])) == 0)
                return true;
    }
    return false;
}

static size_t folder_of(struct sp_str t)
{
    size_t n = t.n;
    while (n && t.p[n - 1] != '/' && t.p[n - 1] != '\\')
        n--;
    return n;
}

/* A binary that every system has, or the kernel gives. */
static bool is_systems(struct sp_str path)
{
    size_t n = folder_of(path);
    return (n > 1 && is_system(path.p, n - 1)) || sp_str_is(path, "[vdso]") || sp_str_is(path, "[vsyscall]");
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/*
 * The folder's hash, and what stays of it: "/p-1f2e…/", "/p-1f2e…/include/c++/", "/usr/lib/p-1f2e…/". It was
 * hashed as a whole, so that equal ones have equal hashes. keep NULL: nothing stays.
 */
static void put_folder(const struct redaction *x, struct sp_buf *b, struct sp_str t, size_t n,
                       const unsigned char *keep)
{
    bool is_hashed = false;
    if (t.p[0] == '/' && !(keep && keep[0]))
        sp_buf_ch(b, '/');
    for (size_t i = 0; i < n; i++) {
        char last = b->len ? sp_buf_text(b)[b->len - 1] : '/';
        bool kept = keep && keep[i], begins = kept && i && !keep[i - 1];
        if (begins && !is_slash(last) && !is_slash(t.p[i]))
            sp_buf_ch(b, '/');
        if (kept && !(begins && b->len && is_slash(last) && is_slash(t.p[i])))
            sp_buf_ch(b, t.p[i]);
        if (kept || is_hashed)
            continue;
        if (!is_slash(last))
            sp_buf_ch(b, '/');
        put_hash(x, b, 'p', t.p, n);
        is_hashed = true;
    }
    if (b->len && !is_slash(sp_buf_text(b)[b->len - 1]))
        sp_buf_ch(b, '/');
}

/* The base name's hash, and what stays before and behind it: "n-1f2e….go", "memfd:n-1f2e…",
 * "libpython-n-1f2e….so". */
static void put_base(const struct redaction *x, struct sp_buf *b, struct sp_str path, size_t n,
                     const unsigned char *keep)
{
    struct sp_str base = {path.p + n, (uint32_t)(path.n - n)};
    size_t kept = keep ? sp_redact_keep_base(base) : 0;
    while (keep && n + kept < path.n && keep[n + kept])
        kept++;
    if (!kept && base.n > 6 && memcmp(base.p, "memfd:", 6) == 0)
        kept = 6; /* code in memory, not of a file: of its callers less is known */
    sp_buf_add(b, base.p, kept);
    if (kept == base.n)
        return;
    if (kept && !strchr(".-:/< ", base.p[kept - 1]))
        sp_buf_ch(b, '-');
    put_hash(x, b, 'n', base.p + kept, base.n - kept);
    if (!keep)
        return;
    sp_buf_puts(b, sp_redact_keep_end(base));
    struct sp_str made = {sp_buf_text(b), (uint32_t)b->len};
    if (!sp_starts_threads(path) && sp_starts_threads(made))
        sp_buf_puts(b, ".so");
}

/* Where a file's name ends, before its line: "file.c:12". */
static size_t end_of_path(struct sp_str t, size_t n)
{
    size_t end = t.n;
    while (end > n && strchr("0123456789:", t.p[end - 1]))
        end--;
    return end == n || (end < t.n && t.p[end] != ':') ? t.n : end;
}

/*
 * "/home/me/acme/bin/server" as "/p-1f2e…/server"; what stands behind the name stays ("file.c:12"). A /RE/
 * that fits may fit the folder: it is hidden, too, and no word of it stays.
 */
static uint32_t path_made(struct redaction *x, uint32_t s)
{
    struct sp_str t = redact_str(x, s);
    size_t n = folder_of(t);
    bool system = (n > 1 && is_system(t.p, n - 1)) || (t.n && t.p[0] == '[');
    bool named = is_named(x, s) || (x->rules & REDACT_FILES && !system);
    bool hides = (x->rules & REDACT_PATHS || is_named(x, s)) && n && !system;
    if (!t.n || !(hides || named))
        return s;
    size_t end = end_of_path(t, n);
    struct sp_str path = {t.p, (uint32_t)end};
    unsigned char *keep = is_named(x, s) ? NULL : calloc(end + 1, 1);
    struct sp_buf b;
    x->ok = x->ok && (keep || is_named(x, s));
    sp_buf_init(&b, 0);
    if (keep && sp_redact_keep_path(path, (uint32_t)n, keep)) { /* all of it is a word of a table */
        sp_buf_add(&b, t.p, end);
    } else {
        if (hides)
            put_folder(x, &b, t, n, keep);
        else
            sp_buf_add(&b, t.p, n);
        if (named)
            put_base(x, &b, path, n, keep);
        else
            sp_buf_add(&b, t.p + n, end - n);
    }
    sp_buf_add(&b, t.p + end, t.n - end);
    free(keep);
    return redact_intern(x, &b);
}

/* Many frames have the same line. */
static uint32_t path_of(struct redaction *x, uint32_t s)
{
    if (s >= x->nmatches)
        return path_made(x, s);
    if (!x->paths[s])
        x->paths[s] = 1 + path_made(x, s);
    return x->paths[s] - 1;
}

/* ---- names ---- */

/* "http-12" as "t-1f2e…-12": the digits tell threads of a pool apart. */
static uint32_t thread_name(struct redaction *x, uint32_t s)
{
    struct sp_str t = redact_str(x, s);
    size_t n = t.n;
    struct sp_buf b;
    if (!n || !(x->rules & REDACT_THREADS || is_named(x, s)))
        return s;
    while (n && t.p[n - 1] >= '0' && t.p[n - 1] <= '9')
        n--;
    sp_buf_init(&b, 0);
    put_hash(x, &b, 't', t.p, n);
    if (n < t.n)
        sp_buf_ch(&b, '-');
    sp_buf_add(&b, t.p + n, t.n - n);
    return redact_intern(x, &b);
}

/* Markers ("[unknown]") and addresses are no names. */
static bool is_a_name(struct sp_str t)
{
    return t.n && t.p[0] != '[' && !(t.n > 2 && t.p[0] == '0' && t.p[1] == 'x');
}

/*
 * "f-1f2e3d4c5b6a", "f-1f2e3d4c5b6a-allocator": memory is to have the owner that it had, and a library's
 * function is none of the program's. An entry is to stay one, too: its name in the table stays. A /RE/ is
 * meant to hide all.
 */
static uint32_t function_name(struct redaction *x, uint32_t s, const struct sp_redacted_name *what, bool go)
{
    struct sp_str t = redact_str(x, s), entry = sp_entry_of(t, SP_SIDE_USER);
    struct sp_buf b;
    if (!is_named(x, s) && (entry.n == t.n || (go && sp_redact_keep_go(t, what->library))))
        return s;
    sp_buf_init(&b, 0);
    if (entry.n && !is_named(x, s)) {
        sp_buf_add(&b, entry.p, entry.n);
        sp_buf_ch(&b, t.p[entry.n] == '@' ? '@' : '-');
    }
    put_hash(x, &b, 'f', t.p, t.n);
    sp_redacted_marks(&b, what);
    return redact_intern(x, &b);
}

/* Whose functions a declaration is of. */
enum { INFO_SYSTEMS = 1, INFO_OWN = 2 };

static void info_users(const struct sp_profile *p, const unsigned char *own, unsigned char *users)
{
    for (size_t i = 0; i < p->functions.n; i++)
        users[p->functions.v[i].info] |= own[p->functions.v[i].dso] ? INFO_OWN : INFO_SYSTEMS;
    for (size_t i = 0; i < p->frames.n; i++)
        users[p->frames.v[i].info] |=
            own[p->functions.v[p->frames.v[i].function].dso] ? INFO_OWN : INFO_SYSTEMS;
}

/* What is known of functions before their names go. */
struct verdicts {
    unsigned char *own;   /* per DSO: its functions are hidden */
    unsigned char *go;    /* per function: it is of a binary or a source file of Go */
    unsigned char *kinds; /* per function: enum sp_owner_kind */
    struct sp_own of;     /* per function */
};

static void verdicts_free(struct verdicts *v)
{
    free(v->own);
    free(v->go);
    free(v->kinds);
    sp_own_free(&v->of);
}

/* What every program of Go has, and of others none: a name in a package `runtime` alone may be anybody's. */
static bool is_go_runtime(struct sp_str name)
{
    static const char *const names[] = {
        "runtime.main",           "runtime.goexit",      "runtime.goexit.abi0",
        "runtime.mcall",          "runtime.schedule",    "runtime.findRunnable",
        "runtime.mstart",         "runtime.mstart1",     "runtime.mallocgc",
        "runtime.gcBgMarkWorker", "runtime.systemstack", "runtime.systemstack.abi0",
        "runtime.mstart.abi0",    "runtime.newobject",   "runtime.growslice",
        "runtime.rt0_go.abi0",    "runtime.rt0_go",      "runtime.gcBgMarkWorker.func2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sp_str_is(name, names[i]))
            return true;
    return false;
}

/* False: out of memory. */
static bool verdicts_find_go(const struct redaction *x, unsigned char *go)
{
    const struct sp_profile *p = x->p;
    unsigned char *dsos = calloc(p->dsos.n + 1, 1);
    for (size_t i = 0; dsos && i < p->functions.n; i++)
        dsos[p->functions.v[i].dso] |= is_go_runtime(redact_str(x, p->functions.v[i].name));
    for (size_t i = 0; dsos && i < p->functions.n; i++) {
        struct sp_str dso = redact_str(x, p->dsos.v[p->functions.v[i].dso].name);
        go[i] = dsos[p->functions.v[i].dso] && dso.n && dso.p[0] != '['; /* else all that has no binary */
    }
    for (int others = 0; others < 2; others++) /* one other source file, and it is none of Go */
        for (size_t i = 0; dsos && i < p->frames.n; i++) {
            struct sp_str file = sp_frame_file(p, &p->frames.v[i]);
            bool is = file.n > 3 && memcmp(file.p + file.n - 3, ".go", 3) == 0;
            if (file.n && is == !others)
                go[p->frames.v[i].function] = is;
        }
    free(dsos);
    return dsos;
}

/* False: out of memory, or reported. */
static bool verdicts_make(struct redaction *x, struct verdicts *v)
{
    const struct sp_profile *p = x->p;
    bool any;
    *v = (struct verdicts){.own = calloc(p->dsos.n + 1, 1), .go = calloc(p->functions.n + 1, 1)};
    if (!v->own || !v->go || sp_owner_kinds(p, NULL, &any, x->d, &v->kinds) ||
        sp_own_by_rules(p, x->d, &v->of) || !verdicts_find_go(x, v->go))
        return false;
    for (size_t i = 0; i < p->dsos.n; i++)
        v->own[i] = !p->dsos.v[i].is_kernel && !is_systems(redact_str(x, p->dsos.v[i].name));
    return true;
}

static void redact_infos(struct redaction *x, const unsigned char *own)
{
    struct sp_profile *p = x->p;
    unsigned char *users = calloc(p->func_infos.n + 1, 1);
    x->ok = x->ok && users;
    if (x->ok)
        info_users(p, own, users);
    for (size_t i = 0; x->ok && i < p->func_infos.n; i++) {
        struct sp_func_info *f = &p->func_infos.v[i];
        bool all = x->rules & REDACT_FUNCTIONS && users[i + 1] != INFO_SYSTEMS; /* as their names are */
        bool hide = all || is_named(x, f->linkage);
        f->linkage = hide ? hashed(x, f->linkage, 'f') : f->linkage;
        f->file = path_of(x, f->file);
    }
    free(users);
}

static void redact_functions(struct redaction *x)
{
    struct sp_profile *p = x->p;
    struct verdicts v = {0};
    x->ok = x->ok && verdicts_make(x, &v);
    for (size_t i = 0; x->ok && i < p->functions.n; i++) {
        struct sp_function *f = &p->functions.v[i];
        bool all = x->rules & REDACT_FUNCTIONS && v.own[f->dso];
        bool hide = (all || is_named(x, f->name)) && is_a_name(redact_str(x, f->name));
        const struct sp_redacted_name what = {(enum sp_owner_kind)v.kinds[i], !v.of.own[i]};
        f->name = hide ? function_name(x, f->name, &what, v.go[i]) : f->name;
        f->tells = hide || x->rules & REDACT_PATHS ? hashed(x, f->tells, 'x') : f->tells;
    }
    if (x->ok)
        redact_infos(x, v.own);
    verdicts_free(&v);
}

/* ---- what has no field ---- */

static void drop(struct redaction *x, uint32_t *extra)
{
    x->left_out += *extra != SP_STR_NONE;
    *extra = SP_STR_NONE;
}

/* "c-1f2e3d4c5b6a record --call-graph fp": how perf walked the chains says how far they can be trusted. */
static uint32_t command_of(struct redaction *x)
{
    enum sp_callgraph how = sp_callgraph_of(x->p);
    struct sp_str t = redact_str(x, x->p->header.command);
    struct sp_buf b;
    if (how == SP_CALLGRAPH_NOT_TOLD || !t.n)
        return hashed(x, x->p->header.command, 'c');
    sp_buf_init(&b, 0);
    put_hash(x, &b, 'c', t.p, t.n);
    sp_buf_printf(&b, " record --call-graph %s", sp_callgraph_names[how]);
    return redact_intern(x, &b);
}

static void redact_header(struct redaction *x)
{
    struct sp_header *h = &x->p->header;
    if (x->rules & REDACT_HOST)
        h->host.name = hashed(x, h->host.name, 'h');
    if (x->rules & REDACT_COMMAND)
        h->command = command_of(x);
    drop(x, &h->extra_json);
    drop(x, &h->source_extra_json);
    drop(x, &h->time_extra_json);
    drop(x, &h->x_spaa_extra_json);
    for (size_t i = 0; i < x->p->sources.n; i++)
        x->p->sources.v[i] = path_of(x, x->p->sources.v[i]);
    for (size_t i = 0; x->ok && i < x->p->events.n; i++) {
        struct sp_event *e = &x->p->events.v[i];
        struct sp_str extra = redact_str(x, e->extra_json);
        uint32_t name = is_named(x, e->name) ? hashed(x, e->name, 'e') : e->name;
        x->ok = x->ok && sp_event_rename(x->p, (uint32_t)i, name);
        if (!sp_str_is(extra, "\"x_threads\":\"all\"") && !sp_str_is(extra, "\"x_threads\":\"some\"") &&
            !sp_str_is(extra, "\"x_threads\":\"cpus\""))
            drop(x, &e->extra_json); /* the two are ours: whose time was recorded */
        drop(x, &e->sampling_extra_json);
    }
    x->left_out += x->p->source_pieces.n;
    x->p->source_pieces.n = 0;
    x->left_out += x->p->extensions.n;
    x->p->extensions.n = 0;
}

static void redact_processes(struct redaction *x)
{
    struct sp_profile *p = x->p;
    for (size_t i = 0; x->ok && i < p->threads.n; i++) {
        struct sp_thread *t = &p->threads.v[i];
        t->comm = thread_name(x, t->comm);
        t->renamed_from = thread_name(x, t->renamed_from);
        t->name = thread_name(x, t->name);
        t->queue = thread_name(x, t->queue);
        drop(x, &t->extra_json);
    }
    for (size_t i = 0; x->ok && i < p->processes.n; i++) {
        struct sp_process_fact *f = &p->processes.v[i];
        f->name = thread_name(x, f->name);
        f->path = path_of(x, f->path);
        drop(x, &f->extra_json);
    }
    for (size_t i = 0; x->ok && i < p->images.n; i++) {
        p->images.v[i].name = path_of(x, p->images.v[i].name);
        p->images.v[i].path = path_of(x, p->images.v[i].path);
        drop(x, &p->images.v[i].extra_json);
    }
    for (size_t i = 0; x->ok && i < p->waits.n; i++) {
        p->waits.v[i].holder_name = thread_name(x, p->waits.v[i].holder_name);
        drop(x, &p->waits.v[i].text); /* names are in it */
        drop(x, &p->waits.v[i].extra_json);
    }
}

/* What memcheck says of leaks: its words, by which leaks are told. */
static bool is_leak_kind(const struct redaction *x, const struct sp_label *label)
{
    struct sp_str value = redact_str(x, label->value);
    return sp_str_is(redact_str(x, label->key), "leak_kind") &&
           sp_name_index(sp_leak_reach_names, value.p, value.n) >= 0;
}

/* Which names a profiler suppresses goes; that it does stays, for what is so is not counted as live. */
static void redact_suppressed(struct redaction *x, uint32_t stack)
{
    bool heaptrack = sp_str_is(redact_str(x, x->p->header.source_tool), "heaptrack");
    uint32_t *extra = &x->p->stacks.v[stack].extra_json;
    bool suppressed = sp_stack_suppressed(x->p, stack);
    struct sp_buf b;
    drop(x, extra);
    if (!suppressed)
        return;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "\"%s\":{\"suppressed\":true}", heaptrack ? "x_heaptrack" : "x_valgrind");
    *extra = redact_intern(x, &b);
}

static void redact_stacks(struct redaction *x)
{
    struct sp_profile *p = x->p;
    for (size_t i = 0; x->ok && i < p->contexts.n; i++) {
        struct sp_context *c = &p->contexts.v[i];
        c->comm = thread_name(x, c->comm);
        c->source = path_of(x, c->source);
        drop(x, &c->extra_json);
    }
    for (size_t i = 0; x->ok && i < p->labels.n; i++)
        if (x->rules & REDACT_LABELS && !(p->labels.v[i].flags & SP_LABEL_NUMBER) &&
            !is_leak_kind(x, &p->labels.v[i]))
            p->labels.v[i].value = hashed(x, p->labels.v[i].value, 'l');
    for (size_t i = 0; x->ok && i < p->stacks.n; i++)
        redact_suppressed(x, (uint32_t)i);
    for (size_t i = 0; i < p->exclusives.n; i++)
        drop(x, &p->exclusives.v[i].extra_json);
    for (size_t i = 0; i < p->window_rows.n; i++)
        drop(x, &p->window_rows.v[i].extra_json);
    for (size_t i = 0; i < p->layout_fields.n; i++)
        drop(x, &p->layout_fields.v[i].extra_json);
    p->ids.n = p->linked_ids.n = 0;
}

static void redact_code(struct redaction *x)
{
    struct sp_profile *p = x->p;
    redact_functions(x); /* by the folders of their binaries, as they are */
    for (size_t i = 0; x->ok && i < p->dsos.n; i++) {
        p->dsos.v[i].name = path_of(x, p->dsos.v[i].name);
        drop(x, &p->dsos.v[i].extra_json);
    }
    for (size_t i = 0; x->ok && i < p->frames.n; i++) {
        p->frames.v[i].srcline = path_of(x, p->frames.v[i].srcline);
        drop(x, &p->frames.v[i].extra_json);
    }
    p->notes.n = 0; /* their words name files */
}

/* ---- the rules ---- */

static spaa_status redact_rule(struct redaction *x, const char *p, size_t n)
{
    static const char *const names[] = {"paths",     "host",   "command", "threads",
                                        "functions", "labels", "files",   "all"};
    static const unsigned bits[] = {REDACT_PATHS,     REDACT_HOST,   REDACT_COMMAND, REDACT_THREADS,
                                    REDACT_FUNCTIONS, REDACT_LABELS, REDACT_FILES,   REDACT_ALL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && memcmp(names[i], p, n) == 0) {
            x->rules |= bits[i];
            return SPAA_OK;
        }
    sp_emit_hint(x->d, SP_E037, SP_AT_NOTHING,
                 "paths, files, host, command, threads, functions, labels, all, or /REGEX/ for names",
                 n ? "--redact has no rule \"%.*s\"" : "--redact has an empty rule%.*s", (int)n, p);
    return SPAA_ERR_USAGE;
}

static spaa_status redact_pattern(struct redaction *x, const char *p, size_t n)
{
    char *pattern = strndup(p, n);
    unsigned char *is = NULL;
    size_t strings = x->nmatches;
    spaa_status st =
        pattern ? sp_match_strings(&x->p->strs, NULL, strings, pattern, x->d, &is) : sp_nomem(x->d);
    bool any = false;
    for (size_t i = 0; !st && i < strings; i++)
        any |= is[i];
    if (!st && !any)
        sp_emit(x->d, SP_W611, SP_AT_NOTHING, "--redact /%.*s/ fits no name", (int)n, p);
    if (!st && !x->matches) {
        x->matches = is;
        is = NULL;
    }
    for (size_t i = 0; !st && is && i < strings; i++)
        x->matches[i] |= is[i];
    free(is);
    free(pattern);
    return st;
}

/* An empty list has an empty rule, and so has one that ends in a comma: who wrote it meant something. */
static spaa_status redact_list(struct redaction *x, const char *list)
{
    const char *p = list;
    for (;;) {
        const char *close = *p == '/' ? strchr(p + 1, '/') : NULL;
        bool pattern = close && close > p + 1;
        size_t n = pattern ? (size_t)(close - p) + 1 : strcspn(p, ",");
        spaa_status st = pattern ? redact_pattern(x, p + 1, n - 2) : redact_rule(x, p, n);
        p += n;
        if (st || !*p)
            return st;
        p += *p == ',';
    }
}

static spaa_status redact_rules(struct redaction *x, const char *const *lists, size_t n)
{
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < n; i++)
        st = redact_list(x, lists[i]);
    return st;
}

spaa_status sp_redact_profile(struct sp_profile *p, const char *const *lists, size_t n, const char *key,
                              struct sp_diags *d)
{
    bool has_key = key && *key;
    struct redaction x = {
        .p = p, .d = d, .key = has_key ? key : NULL, .nmatches = p->strs.strs.n, .ok = true};
    x.paths = calloc(x.nmatches + 1, sizeof *x.paths);
    spaa_status st = x.paths ? redact_rules(&x, lists, n) : sp_nomem(d);
    if (st) {
        free(x.matches);
        free(x.paths);
        return st;
    }
    redact_header(&x);
    redact_processes(&x);
    redact_code(&x);
    redact_stacks(&x);
    x.left_out += sp_originals_count(p->originals);
    sp_originals_free(p->originals);
    p->originals = NULL;
    bool samples = sp_samples_count(p->samples) > 0;
    sp_samples_free(p->samples);
    sp_samples_free(p->switches);
    p->samples = p->switches = NULL;
    free(x.matches);
    free(x.paths);
    if (x.ok && (x.left_out || samples))
        sp_emit(d, SP_I664, SP_AT_NOTHING, "%llu members that no rule knows%s",
                (unsigned long long)x.left_out, samples ? ", and all raw samples" : "");
    if (x.ok && !has_key)
        sp_emit(d, SP_I665, SP_AT_NOTHING, "who guesses a name can check it; SPAA_REDACT_KEY is a key");
    return x.ok ? SPAA_OK : sp_nomem(d);
}
