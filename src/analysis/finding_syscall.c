/*
 * System calls, by which they are: the kernel's frames say so, else the function of the C library or of Go
 * that made the call. One finding for each that is heavy; where none is and all together are, one for all.
 * How many there were and of what size is nothing that samples know.
 */
#include "analysis/finding_private.h"
#include "model/identity.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 3, ALL_PERCENT = 20 };

static const struct call {
    const char *name, *remedy;
} known_calls[] = {
#define SP_CALL(name, remedy) {name, remedy},
#include "analysis/finding_calls.def"
#undef SP_CALL
};

static const struct call *call_of(struct sp_str name)
{
    for (size_t i = 0; i < sizeof known_calls / sizeof *known_calls; i++)
        if (sp_str_is(name, known_calls[i].name))
            return &known_calls[i];
    return NULL;
}

static bool strip(struct sp_str *s, const char *prefix)
{
    size_t n = strlen(prefix);
    if (s->n <= n || memcmp(s->p, prefix, n) != 0)
        return false;
    s->p += n;
    s->n -= (uint32_t)n;
    return true;
}

static struct sp_str until(struct sp_str s, const char *ends)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (strchr(ends, s.p[i]))
            return (struct sp_str){s.p, i};
    return s;
}

/* "write" of "__x64_sys_write"; n 0: it is no function of that kind. */
static struct sp_str kernels_name(struct sp_str s)
{
    static const char *const prefixes[] = {"__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__se_sys_",
                                           "__do_sys_",  "ksys_",       "SyS_",         "sys_"};
    s = until(s, ".");
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strip(&s, prefixes[i]))
            return s;
    return (struct sp_str){s.p, 0};
}

/* "write" of "__GI___libc_write", "__write_nocancel", "syscall.write"; n 0: it is none that is known. */
static struct sp_str callers_name(struct sp_str s)
{
    static const char *const prefixes[] = {"__GI_", "__libc_", "___", "__", "syscall."};
    s = until(s, "@");
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        strip(&s, prefixes[i]);
    if (s.n > 9 && memcmp(s.p + s.n - 9, "_nocancel", 9) == 0)
        s.n -= 9;
    if (!call_of(s) && s.n > 2 && memcmp(s.p + s.n - 2, "64", 2) == 0)
        s.n -= 2;
    if (sp_str_is(s, "pread") || sp_str_is(s, "pwrite")) /* without their 64 */
        return (struct sp_str){sp_str_is(s, "pread") ? "pread64" : "pwrite64", sp_str_is(s, "pread") ? 7 : 8};
    return call_of(s) ? s : (struct sp_str){s.p, 0};
}

static struct sp_str name_at(const struct finder *x, const struct finding_row *row, size_t k)
{
    return sp_pstr(x->p, x->p->functions.v[x->p->frames.v[row->frames[k]].function].name);
}

static struct sp_str name_of_call(const struct finder *x, const struct finding_row *row, size_t entry)
{
    enum { STEPS = 4 }; /* of a library between the program and the kernel */
    for (size_t k = entry + 1; k-- > 0;) {
        struct sp_str s = kernels_name(name_at(x, row, k));
        if (s.n)
            return s;
    }
    for (size_t k = entry + 1; k < row->n && k <= entry + STEPS; k++) {
        struct sp_str s = callers_name(name_at(x, row, k));
        if (s.n)
            return s;
    }
    return (struct sp_str){NULL, 0};
}

/* Of recordings without the kernel: the leaf is the C library's function for it. */
static bool leaf_calls(const struct finder *x, const struct finding_row *row)
{
    if (x->kernel_seen || !row->n)
        return false;
    const struct sp_function *f = &x->p->functions.v[x->p->frames.v[row->frames[0]].function];
    struct sp_str dso = sp_base_name(sp_pstr(x->p, x->p->dsos.v[f->dso].name));
    bool libc = dso.n > 4 && (memcmp(dso.p, "libc", 4) == 0) && (dso.p[4] == '.' || dso.p[4] == '-');
    return libc && callers_name(sp_pstr(x->p, f->name)).n;
}

static bool syscall_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                        struct finding_hit *hit)
{
    bool leaf = false;
    if (!finding_class_hit(r, x, row, hit) && !(leaf = leaf_calls(x, row)))
        return false;
    struct sp_str s = leaf ? callers_name(name_at(x, row, 0)) : name_of_call(x, row, hit->top);
    const struct call *c = call_of(s);
    if (c && !c->remedy)
        return false;
    hit->group = s.n && s.n < SP_FINDING_WHAT ? sp_intern(&x->calls, s.p, s.n) : SP_STR_NONE;
    x->nomem = x->nomem || hit->group == SP_STR_FAIL;
    hit->parts = row->parts & 1u << SP_PART_BYTES;
    return true;
}

static void syscall_words(struct sp_finding *f, struct sp_str name)
{
    const struct call *c = call_of(name);
    snprintf(f->what, sizeof f->what, "%.*s", (int)name.n, name.p);
    if (c)
        f->remedy = c->remedy;
    if (f->parts[SP_PART_BYTES] * 2 > f->weight)
        f->remedy = "fewer bytes: most of it goes by the byte, not by the call";
}

static bool syscall_tell(const struct finding_rule *r, struct finder *x)
{
    struct sp_finding f;
    size_t n = x->calls.strs.n, had = x->out.list.n;
    int64_t *of = calloc(n + 1, sizeof *of);
    bool ok = of != NULL;
    for (size_t i = 0; ok && i < x->hits[r->kind].n; i++)
        if (x->hits[r->kind].v[i].group < n)
            of[x->hits[r->kind].v[i].group] += x->s->rows.v[x->hits[r->kind].v[i].row].weight;
    for (unsigned turn = 0; ok && turn < MOST; turn++) {
        uint32_t best = SP_STR_NONE;
        for (uint32_t i = 0; i < n; i++)
            if (i != SP_STR_NONE && of[i] > 0 && (best == SP_STR_NONE || of[i] > of[best]))
                best = i;
        if (best == SP_STR_NONE)
            break;
        of[best] = 0;
        ok = finding_of_hits(r, x, best, &f);
        if (ok)
            syscall_words(&f, sp_str_at(&x->calls, best));
        ok = ok && finding_add(x, &f);
    }
    free(of);
    if (!ok || x->out.list.n > had)
        return ok;
    if (!finding_of_hits(r, x, UINT32_MAX, &f))
        return false;
    syscall_words(&f, (struct sp_str){"", 0});
    bool heavy = (__int128)f.weight * 100 >= (__int128)f.of * ALL_PERCENT;
    return !heavy || finding_add(x, &f);
}

const struct finding_rule finding_rule_syscall = {SP_FIND_SYSCALL, FC_SYSCALL, syscall_hit, syscall_tell};
