/*
 * A frame line of `perf script` text, and what its DSO is:
 *
 *     \t    7f56a8d0 std::map<int, (anonymous namespace)::X>::find(int) const+0x1c (/usr/lib/libx.so
 * (deleted))
 *
 * Symbols hold spaces, parentheses and "+"; the DSO is the last group in balanced parentheses, after a
 * space. `[unknown]` stands for a missing symbol as for a missing DSO.
 */
#include "base/num.h"
#include "formats/perf_script/perf_script.h"

#include <string.h>

static bool perf_script_span_equals(struct sp_ps_text t, const char *literal)
{
    return strlen(literal) == t.n && memcmp(t.p, literal, t.n) == 0;
}

static bool perf_script_starts_with(struct sp_ps_text t, const char *literal)
{
    size_t n = strlen(literal);
    return n <= t.n && memcmp(t.p, literal, n) == 0;
}

static bool perf_script_ends_with(struct sp_ps_text t, const char *literal)
{
    size_t n = strlen(literal);
    return n <= t.n && memcmp(t.p + t.n - n, literal, n) == 0;
}

/* Strips "+0x1f" off the end; false if there is none. */
static bool perf_script_strip_offset(struct sp_ps_text *t, uint64_t *off)
{
    size_t i = t->n;
    while (i > 0 && ((unsigned char)(t->p[i - 1] - '0') < 10 || (unsigned char)(t->p[i - 1] - 'a') < 6))
        i--;
    if (i == t->n || t->n - i > 16 || i < 3 || memcmp(t->p + i - 3, "+0x", 3) != 0)
        return false;
    sp_parse_hex(t->p + i, t->p + t->n, off);
    t->n = i - 3;
    return true;
}

/* Where the last group in parentheses opens, when it closes the text and follows a blank; else NULL. */
static const char *perf_script_last_group(const char *p, const char *end)
{
    if (p == end || end[-1] != ')')
        return NULL;
    size_t open = 0;
    for (const char *q = end; q-- > p;) {
        if (*q == ')')
            open++;
        else if (*q == '(' && --open == 0)
            return q == p || sp_ps_blank(q[-1]) ? q : NULL;
    }
    for (const char *q = end; q-- > p;) /* unbalanced: the last one */
        if (*q == '(' && (q == p || sp_ps_blank(q[-1])))
            return q;
    return NULL;
}

/* An address with its DSO, where that is printed: "0x401136(/bin/app)/"; the slash at its end, or NULL. */
static const char *perf_script_branch_side(const char *p, const char *end)
{
    enum { DSO_MAX = 4200 }; /* a path and " (deleted)" */
    uint64_t addr;
    size_t n = end - p > 2 && p[0] == '0' && p[1] == 'x' ? sp_parse_hex(p + 2, end, &addr) : 0;
    if (!n)
        return NULL;
    p += 2 + n;
    if (p < end && *p == '(') {
        p = memmem(p, end - p > DSO_MAX ? DSO_MAX : (size_t)(end - p), ")/", 2);
        p = p ? p + 1 : end;
    }
    return p < end && *p == '/' ? p : NULL;
}

/* "0x401136(/bin/app)/0x401120(/bin/app)/P/-/-/20/": from, to, whether it was predicted, and more. */
static bool perf_script_is_branch(const char *p, const char *end)
{
    p = perf_script_branch_side(p, end);
    p = p ? perf_script_branch_side(p + 1, end) : NULL;
    return p && end - p > 2 && p[2] == '/';
}

/* Where what is known of the first branch begins: "/P/-/-/20/"; NULL. */
static const char *perf_script_branch_flags(const char *p, const char *end)
{
    for (const char *q; end - p > 8 && (q = memchr(p, '/', (size_t)(end - p) - 8)); p = q + 1) {
        const char *f = q + (memchr("MPN-", q[1], 4) ? 2 : 1);
        f += f > q + 1 && *f == 'N'; /* newer: not taken */
        if (f > q + 1 && f[0] == '/' && (f[1] == 'X' || f[1] == '-') && f[2] == '/' &&
            (f[3] == 'A' || f[3] == '-') && f[4] == '/' && (unsigned char)(f[5] - '0') < 10)
            return q;
    }
    return NULL;
}

/* Behind "+0x1f", of the first one; NULL: there is none. */
static const char *perf_script_behind_offset(const char *p, const char *end)
{
    uint64_t offset;
    for (const char *q; (q = memmem(p, (size_t)(end - p), "+0x", 3)); p = q + 3) {
        size_t n = sp_parse_hex(q + 3, end, &offset);
        if (n)
            return q + 3 + n;
    }
    return NULL;
}

/* "main+0x14(/bin/app)/", "[unknown]/": a name with its DSO, where that is printed. */
static bool perf_script_named_side(const char *p, const char *end)
{
    const char *q = end - p > 9 && memcmp(p, "[unknown]", 9) == 0 ? p + 9 : perf_script_behind_offset(p, end);
    return q && q < end && (*q == '(' || *q == '/') && memchr(q, '/', (size_t)(end - q));
}

/* Behind the group of a DSO that opens at p; NULL: it is none. */
static const char *perf_script_dso_group(const char *p, const char *end)
{
    size_t open = 0;
    if (end - p < 2 || (p[1] != '/' && p[1] != '['))
        return NULL;
    for (const char *q = p; q < end; q++) {
        open += *q == '(';
        if (*q == ')' && --open == 0)
            return q + 1;
    }
    return NULL;
}

/*
 * The frame before branches by name, which follow its DSO with nothing between them: "401176 run+0x4
 * (/bin/app)main+0x14(/bin/app)/run+0x0(/bin/app)/P/-/-/6/". Where no DSO is printed, its offset goes on in
 * the branch's name, which may begin with what looks like a digit of it; without an offset the name itself.
 */
static size_t perf_script_before_named(const char *p, const char *end)
{
    const char *flags = perf_script_branch_flags(p, end), *behind, *name = p;
    uint64_t ip;
    if (!flags)
        return (size_t)(end - p);
    for (const char *q = p; q < flags; q++)
        if (*q == '(' && q > p && sp_ps_blank(q[-1]) && (behind = perf_script_dso_group(q, flags)) &&
            perf_script_named_side(behind, flags))
            return (size_t)(behind - p);
    while (name < flags && sp_ps_blank(*name))
        name++;
    name += sp_parse_hex(name, flags, &ip);
    behind = perf_script_behind_offset(name, flags);
    if (!behind || !sp_ps_blank(*name))
        return (size_t)(end - p);
    return (size_t)((*behind == '(' || *behind == '/'
                         ? name
                         : (const char *)memmem(name, (size_t)(behind - name), "+0x", 3)) -
                    p);
}

size_t sp_ps_before_branches(const char *p, const char *end)
{
    for (const char *q = p; q < end; q++)
        if ((q == p || sp_ps_blank(q[-1])) && perf_script_is_branch(q, end)) {
            while (q > p && sp_ps_blank(q[-1]))
                q--;
            return (size_t)(q - p);
        }
    return perf_script_before_named(p, end);
}

bool sp_ps_has_branches(const char *p, const char *end)
{
    const char *flags = perf_script_branch_flags(p, end);
    return flags && (perf_script_named_side(p, flags) || sp_ps_before_branches(p, end) < (size_t)(end - p));
}

size_t sp_ps_source_before_branches(const char *p, const char *end)
{
    static const char discriminator[] = " (discriminator ";
    const char *flags = perf_script_branch_flags(p, end), *q = p;
    size_t plain = sp_ps_before_branches(p, end), n = sizeof discriminator - 1;
    if (!flags || plain < (size_t)(end - p))
        return plain;
    while ((q = memchr(q, ':', (size_t)(flags - q))) && (unsigned char)(q[1] - '0') > 9)
        q++;
    if (!q)
        return (size_t)(end - p);
    for (q++; (unsigned char)(*q - '0') < 10;)
        q++;
    const char *close = (size_t)(flags - q) > n && memcmp(q, discriminator, n) == 0
                            ? memchr(q, ')', (size_t)(flags - q))
                            : NULL;
    return (size_t)((close ? close + 1 : q) - p);
}

bool sp_ps_frame_line(const char *p, const char *end, struct sp_ps_frame *f)
{
    while (p < end && sp_ps_blank(*p))
        p++;
    size_t n = sp_parse_hex(p, end, &f->ip);
    if (!n || (p + n < end && !sp_ps_blank(p[n])))
        return false;
    p += n;
    while (p < end && sp_ps_blank(*p))
        p++;
    while (end > p && sp_ps_blank(end[-1]))
        end--;
    f->dso = (struct sp_ps_text){NULL, 0};
    f->has_symoff = f->has_dsoff = f->inlined = f->deleted = false;
    const char *group = perf_script_last_group(p, end);
    if (group) {
        f->dso = (struct sp_ps_text){group + 1, (size_t)(end - group - 2)};
        f->inlined = perf_script_span_equals(f->dso, "inlined");
        f->has_dsoff = perf_script_strip_offset(&f->dso, &f->dsoff);
        f->deleted = perf_script_ends_with(f->dso, " (deleted)");
        if (f->deleted)
            f->dso.n -= strlen(" (deleted)");
        end = group;
        while (end > p && sp_ps_blank(end[-1]))
            end--;
    }
    f->symbol = (struct sp_ps_text){p, (size_t)(end - p)};
    f->has_symoff = perf_script_strip_offset(&f->symbol, &f->symoff);
    if (perf_script_span_equals(f->symbol, "[unknown]"))
        f->symbol.n = 0;
    return true;
}

bool sp_ps_trimmed_frame(const char *p, const char *end)
{
    enum { DIGITS = 4 /* of an address alone, or with a name alone: shorter ones may be words */ };
    struct sp_ps_frame f;
    uint64_t ip;
    if (p == end || sp_ps_blank(*p) || !sp_ps_frame_line(p, end, &f))
        return false;
    return f.dso.p || f.has_symoff || sp_parse_hex(p, end, &ip) >= DIGITS;
}

bool sp_ps_trimmed_source(const char *p, const char *end)
{
    const char *q = end;
    while (q > p && (sp_ps_blank(q[-1]) || q[-1] == '\r'))
        end = --q;
    if (p == end || sp_ps_blank(*p))
        return false;
    if (end[-1] == ']')
        return memchr(p, '[', (size_t)(end - p)) && !sp_ps_trimmed_frame(p, end);
    if (end[-1] == ')') { /* "a.c:12 (discriminator 3)", "a.c:12 (inlined)" */
        q = memmem(p, (size_t)(end - p), " (discriminator ", 16);
        if (!q)
            q = memmem(p, (size_t)(end - p), " (inlined)", 10);
        if (!q)
            return false;
    }
    const char *digits = q;
    while (q > p && (unsigned char)(q[-1] - '0') < 10)
        q--;
    return q < digits && q > p && q[-1] == ':'; /* ":0": unknown */
}

/* ".../perf-1234.map" */
static bool perf_script_perf_map(struct sp_ps_text t)
{
    if (!perf_script_ends_with(t, ".map"))
        return false;
    size_t i = t.n - 4, start = i;
    while (i > 0 && (unsigned char)(t.p[i - 1] - '0') < 10)
        i--;
    return i < start && i >= 6 && memcmp(t.p + i - 6, "/perf-", 6) == 0;
}

/* ".../jitted-1234-5.so", written by `perf inject --jit` */
static bool perf_script_jitdump(struct sp_ps_text t)
{
    const char *slash = memrchr(t.p, '/', t.n);
    struct sp_ps_text base = t;
    if (slash)
        base = (struct sp_ps_text){slash + 1, (size_t)(t.p + t.n - slash - 1)};
    return perf_script_starts_with(base, "jitted-") && perf_script_ends_with(base, ".so");
}

static bool perf_script_anonymous(struct sp_ps_text t)
{
    static const char *const names[] = {"anon_inode:", "/anon_hugepage", "/dev/zero", "/SYSV", "[anon"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (perf_script_starts_with(t, names[i]))
            return true;
    return false;
}

static bool perf_script_user_bracket(struct sp_ps_text t)
{
    static const char *const names[] = {"[vdso", "[vsyscall", "[vvar", "[heap", "[stack", "[uprobes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (perf_script_starts_with(t, names[i]))
            return true;
    return false;
}

static bool perf_script_kernel_file(struct sp_ps_text t, uint64_t ip)
{
    const char *slash = memrchr(t.p, '/', t.n);
    struct sp_ps_text base = t;
    if (slash)
        base = (struct sp_ps_text){slash + 1, (size_t)(t.p + t.n - slash - 1)};
    return perf_script_starts_with(base, "vmlinu") || perf_script_span_equals(base, "kcore") ||
           perf_script_ends_with(base, ".ko") || perf_script_ends_with(base, ".ko.xz") ||
           perf_script_ends_with(base, ".ko.gz") || perf_script_ends_with(base, ".ko.zst") ||
           (perf_script_starts_with(t, "bpf_prog_") && ip >> 48 == 0xffff);
}

void sp_ps_classify_dso(struct sp_ps_text dso, uint64_t ip, struct sp_ps_dso *out)
{
    *out = (struct sp_ps_dso){.name = dso};
    if (!dso.p || !dso.n || perf_script_span_equals(dso, "[unknown]")) {
        out->name = (struct sp_ps_text){"[unknown]", 9};
        out->unknown = true;
    } else if (perf_script_starts_with(dso, "[kernel.kallsyms]") ||
               perf_script_span_equals(dso, "[kernel]")) {
        out->name = (struct sp_ps_text){"[kernel]", 8};
        out->kernel = true;
        out->renamed = !perf_script_span_equals(dso, "[kernel.kallsyms]");
    } else if (perf_script_span_equals(dso, "//anon") || perf_script_perf_map(dso) ||
               perf_script_jitdump(dso)) {
        out->name = (struct sp_ps_text){"[jit]", 5};
        out->jit = out->renamed = true;
    } else if (perf_script_starts_with(dso, "/memfd:")) {
        out->name = (struct sp_ps_text){dso.p + 1, dso.n - 1};
    } else if (perf_script_anonymous(dso)) {
        out->name = (struct sp_ps_text){"[anon]", 6};
        out->renamed = true;
    } else if (dso.p[0] == '[') {
        out->kernel = !perf_script_user_bracket(dso);
    } else {
        out->kernel = perf_script_kernel_file(dso, ip);
        out->is_file = !out->kernel;
    }
}

size_t sp_ps_jit_parts(struct sp_ps_text symbol)
{
    size_t parts = 1;
    const char *p = symbol.p, *end = p + symbol.n;
    for (const char *q; (q = memmem(p, (size_t)(end - p), "->", 2)); p = q + 2) {
        if (q == p || q + 2 == end || (q - p >= 8 && memcmp(q - 8, "operator", 8) == 0))
            return 1;
        parts++;
    }
    return parts;
}
