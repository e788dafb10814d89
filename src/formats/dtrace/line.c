/* What a line of DTrace's output can be by itself, and what a frame line says. */
#include "base/num.h"
#include "formats/dtrace/dtrace.h"
#include "model/kernel_names.h"
#include "json/json.h"

#include <string.h>

static bool dtrace_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool dtrace_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool dtrace_is_blank_line(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool dtrace_starts_with(struct dt_text t, const char *literal)
{
    size_t n = strlen(literal);
    return t.n >= n && memcmp(t.p, literal, n) == 0;
}

bool dt_integer(struct dt_text t, int64_t *out)
{
    return t.n && t.n <= 20 && (t.p[0] == '-' || dtrace_is_digit(t.p[0])) &&
           sp_parse_i64(t.p, t.p + t.n, out) == t.n && *out > SP_DECIMAL;
}

static size_t dtrace_digits(const char *p, const char *end)
{
    const char *s = p;
    while (p < end && dtrace_is_digit(*p))
        p++;
    return (size_t)(p - s);
}

static const char *dtrace_skip_blanks(const char *p, const char *end)
{
    while (end - p >= 8 && memcmp(p, "        ", 8) == 0)
        p += 8;
    while (p < end && dtrace_is_blank_line(*p))
        p++;
    return p;
}

static bool dtrace_hex_address(struct dt_text t)
{
    uint64_t v;
    return t.n > 2 && t.n <= 18 && dtrace_starts_with(t, "0x") &&
           sp_parse_hex(t.p + 2, t.p + t.n, &v) == t.n - 2;
}

bool dt_bare_address(struct dt_text t)
{
    uint64_t v;
    return t.n >= 8 && t.n <= 16 && sp_parse_hex(t.p, t.p + t.n, &v) == t.n;
}

/* Of "symbol+0x16B" what stands before the offset: its length, or t.n where there is none. */
static size_t dtrace_before_offset(struct dt_text t)
{
    uint64_t v;
    size_t i = t.n;
    while (i > 0 &&
           (dtrace_is_digit(t.p[i - 1]) || ((t.p[i - 1] | 0x20) >= 'a' && (t.p[i - 1] | 0x20) <= 'f')))
        i--;
    bool offset = i < t.n && t.n - i <= 16 && i >= 4 && memcmp(t.p + i - 3, "+0x", 3) == 0 &&
                  sp_parse_hex(t.p + i, t.p + t.n, &v) == t.n - i;
    return offset ? i - 3 : t.n;
}

/*
 * Where the symbol begins: behind "module`"; of frames without a backtick behind the "module!" of Windows'
 * debuggers; 0: no module. "`0x…" is an address whose module is not known.
 */
static size_t dtrace_symbol_at(struct dt_text t)
{
    const char *tick = memchr(t.p, '`', t.n), *bang = memchr(t.p, '!', t.n), *end = t.p + t.n;
    if (tick && bang && bang < tick) /* Microsoft's names have backticks: app!`anonymous namespace'::f */
        tick = NULL;
    if (tick)
        return tick > t.p || dtrace_hex_address((struct dt_text){t.p + 1, t.n - 1}) ? (size_t)(tick + 1 - t.p)
                                                                                    : 0;
    if (!bang || bang == t.p || bang + 1 == end)
        return 0;
    for (const char *p = t.p; p < bang; p++)
        if (!dtrace_is_digit(*p) && !dtrace_is_letter(*p) && !strchr("_.-~", *p))
            return 0;
    return dtrace_is_letter(bang[1]) || strchr("_?<@~`", bang[1]) ? (size_t)(bang + 1 - t.p) : 0;
}

/* "symbol+0x16B" of a binary without a name, "module!symbol+0x16B": one word that says by its end what it is.
 */
static bool dtrace_is_offset_frame(struct dt_text t)
{
    return dtrace_before_offset(t) < t.n && !memchr(t.p, ' ', t.n) && !memchr(t.p, '\t', t.n);
}

/* "module`rest", with no blank in the module and no two blanks anywhere; prose is no frame at the margin. */
static bool dtrace_is_frame(struct dt_text t, size_t indent)
{
    if (dtrace_hex_address(t) || (indent && dt_bare_address(t)))
        return true;
    const char *tick = memchr(t.p, '`', t.n);
    if (indent && (!tick || tick == t.p) && dtrace_is_offset_frame(t))
        return true;
    if (tick == t.p && dtrace_symbol_at(t))
        return true;
    if (!tick || tick == t.p || tick + 1 == t.p + t.n || dtrace_is_blank_line(tick[1]))
        return false;
    for (const char *p = t.p; p < tick; p++)
        if (dtrace_is_blank_line(*p) || *p == '\'' || *p == '"')
            return false;
    bool paren =
        memchr(tick, '(', (size_t)(t.p + t.n - tick)) || memchr(tick, '<', (size_t)(t.p + t.n - tick));
    for (const char *p = tick; p + 1 < t.p + t.n; p++)
        if (dtrace_is_blank_line(*p) && (dtrace_is_blank_line(p[1]) || (!indent && !paren)))
            return false;
    return true;
}

size_t dt_bar_at(const char *p, const char *end)
{
    static const char ascii[] = "@_xXv ";
    if (p < end && *p && strchr(ascii, *p))
        return 1;
    /* U+2580 to U+259F */
    bool block = end - p >= 3 && memcmp(p, "\xE2\x96", 2) == 0 && (p[2] & 0xE0) == 0x80;
    return block ? 3 : 0;
}

/* "< 0 |@@ 3", "16 |@@@ 3", ">= 100 | 0" */
static bool dtrace_is_row(struct dt_text t, struct dt_line *out)
{
    const char *end = t.p + t.n, *p = t.p, *number = end;
    const char *bar = memchr(t.p, '|', t.n);
    if (!bar)
        return false;
    size_t mark = dtrace_starts_with(t, ">=") ? 2 : dtrace_starts_with(t, "<") ? 1 : 0;
    p = dtrace_skip_blanks(p + mark, bar);
    const char *label = p;
    p += p < bar && *p == '-';
    size_t n = dtrace_digits(p, bar);
    if (!n)
        return false;
    for (const char *q = p + n; q < bar; q++) /* bars of negative counts stand before it */
        if (!dtrace_is_blank_line(*q) && *q != '@')
            return false;
    while (number > bar && (dtrace_is_digit(number[-1]) || number[-1] == '-'))
        number--;
    for (const char *q = bar + 1; q < number;) {
        size_t piece = dt_bar_at(q, number);
        if (!piece && !dtrace_is_blank_line(*q))
            return false;
        q += piece ? piece : 1;
    }
    /* The mark and the number stand next to each other in the label, whatever blanks were between. */
    if (!dt_integer((struct dt_text){number, (size_t)(end - number)}, &out->number))
        return false;
    out->label = (struct dt_text){label, (size_t)(p + n - label)};
    out->indent = mark;
    return true;
}

/* "  0  64091                        :tick-60s ": processor, probe id, FUNCTION:NAME */
static bool dtrace_is_firing(struct dt_text t, struct dt_text *name)
{
    const char *end = t.p + t.n, *p = t.p;
    for (int i = 0; i < 2; i++) {
        size_t n = dtrace_digits(p, end);
        if (!n || n > 10 || p + n == end || !dtrace_is_blank_line(p[n]))
            return false;
        p = dtrace_skip_blanks(p + n, end);
    }
    const char *stop = p;
    while (stop < end && !dtrace_is_blank_line(*stop))
        stop++;
    *name = (struct dt_text){p, (size_t)(stop - p)};
    return memchr(p, ':', name->n) != NULL;
}

static bool dtrace_is_head(struct dt_text t)
{
    static const char mid[] = " Distribution ";
    return dtrace_starts_with(t, "value ") && t.n > 40 && memmem(t.p, t.n, mid, sizeof mid - 1) &&
           memmem(t.p, t.n, "---", 3);
}

/* Of -x agghist, and of -x aggpack. */
static bool dtrace_is_key_head(struct dt_text t, enum dt_kind *kind)
{
    static const char mid[] = " Distribution ", count[] = "| count", min[] = "min .-";
    bool key = dtrace_starts_with(t, "key ");
    if (key && t.n > 40 && memmem(t.p, t.n, mid, sizeof mid - 1) && memmem(t.p, t.n, "---", 3))
        *kind = DT_HIST;
    else if ((key || dtrace_starts_with(t, "min .-")) && memmem(t.p, t.n, min, sizeof min - 1) && t.n > 16 &&
             memcmp(t.p + t.n - (sizeof count - 1), count, sizeof count - 1) == 0)
        *kind = DT_PACK;
    else
        return false;
    return true;
}

static size_t dtrace_columns(const char **p, const char *end)
{
    size_t at = 0;
    for (; end - *p >= 8 && memcmp(*p, "        ", 8) == 0; *p += 8)
        at += 8;
    for (; *p < end && dtrace_is_blank_line(**p); (*p)++)
        at = **p == '\t' ? (at / 8 + 1) * 8 : **p == ' ' ? at + 1 : at;
    return at;
}

void dt_classify(const char *p, size_t n, struct dt_line *out)
{
    const char *end = p + n;
    *out = (struct dt_line){.kind = DT_TEXT};
    out->indent = dtrace_columns(&p, end);
    while (end > p && dtrace_is_blank_line(end[-1]))
        end--;
    struct dt_text t = out->text = (struct dt_text){p, (size_t)(end - p)};
    size_t indent = out->indent;
    if (!t.n)
        out->kind = DT_BLANK;
    else if (dt_integer(t, &out->number))
        out->kind = DT_NUMBER;
    else if (t.p[0] == '[' && t.p[t.n - 1] == ']' && indent && t.n > 4)
        out->kind = DT_NOTE;
    else if (dtrace_is_frame(t, indent))
        out->kind = DT_FRAME;
    else if (dtrace_is_row(t, out))
        out->kind = DT_ROW;
    else if (dtrace_is_head(t))
        out->kind = DT_HEAD;
    else if (dtrace_is_key_head(t, &out->kind))
        return;
    else if (dtrace_is_firing(t, &out->label))
        out->kind = DT_FIRING;
    else if (dtrace_starts_with(t, "CPU") && memmem(t.p, t.n, "FUNCTION:NAME", 13))
        out->kind = DT_PROLOGUE;
    else if (!indent && dtrace_starts_with(t, "dtrace: "))
        out->kind = DT_MESSAGE;
}

size_t dt_words(struct dt_text t, struct dt_text *out, size_t max)
{
    const char *p = t.p, *end = t.p + t.n;
    size_t n = 0;
    while (p < end && n < max) {
        const char *stop = p;
        bool number = false;
        for (; stop < end; stop++) {
            if (!dtrace_is_blank_line(*stop))
                continue;
            struct dt_text word = {p, (size_t)(stop - p)};
            int64_t v;
            number = dt_integer(word, &v);
            if (number || stop + 1 == end || dtrace_is_blank_line(stop[1]))
                break;
        }
        out[n++] = (struct dt_text){p, (size_t)(stop - p)};
        p = dtrace_skip_blanks(stop, end);
    }
    return n;
}

/* "libc.so.1", "libsystem_kernel.dylib": of programs. */
static bool dtrace_is_shared_object(struct dt_text module)
{
    return memmem(module.p, module.n, ".so.", 4) ||
           (module.n > 3 && memcmp(module.p + module.n - 3, ".so", 3) == 0) ||
           (module.n > 6 && memcmp(module.p + module.n - 6, ".dylib", 6) == 0);
}

/* Kernel or user code by its module or address. */
static enum sp_agg_side dtrace_side_of(struct dt_text module, bool has_ip, uint64_t ip)
{
    static const char *const kernels[] = {"genunix", "unix", "mach_kernel", "kernel", "nt", "vmlinux"};
    static const char *const users[] = {"[vdso]",    "[vsyscall]", "[jit]",  "[anon]",
                                        "[unknown]", "[heap]",     "[stack]"};
    if (has_ip)
        return sp_agg_address_side(ip);
    if (sp_is_kernel_name((struct sp_str){module.p, (uint32_t)module.n}))
        return SP_AGG_KERNEL;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strlen(kernels[i]) == module.n && memcmp(module.p, kernels[i], module.n) == 0)
            return SP_AGG_KERNEL;
    bool brackets = module.n > 2 && module.p[0] == '[' && module.p[module.n - 1] == ']';
    for (size_t i = 0; i < sizeof users / sizeof *users && brackets; i++)
        brackets = strlen(users[i]) != module.n || memcmp(module.p, users[i], module.n) != 0;
    if (brackets) /* [ext4], a module of Linux */
        return SP_AGG_KERNEL;
    if (dtrace_is_shared_object(module))
        return SP_AGG_USER;
    bool driver = module.n > 4 && strncasecmp(module.p + module.n - 4, ".sys", 4) == 0; /* of Windows */
    return driver || dtrace_starts_with(module, "com.apple.") || dtrace_starts_with(module, "kernel.")
               ? SP_AGG_KERNEL
               : SP_AGG_ANY;
}

static bool dtrace_add_name(struct sp_agg *a, struct dt_text symbol, const struct sp_agg_frame *like,
                            uint32_t *n)
{
    struct sp_agg_frame f = *like;
    if (!sp_agg_name(a, symbol.p, symbol.n, "x_dtrace", &f.name, &f.more))
        return false;
    ++*n;
    return sp_agg_frame_add(a, &f) != SP_NONE;
}

/* Java's `outer->inner->innermost`, as the agents that write names for profilers join inlined methods. */
static bool dtrace_add_inlined(struct sp_agg *a, struct dt_text t, struct sp_agg_frame *like, uint32_t *n)
{
    const char *end = t.p + t.n;
    struct dt_text parts[16];
    size_t count = 0;
    for (const char *p = t.p; count < 16;) {
        const char *arrow = count == 15 ? NULL : memmem(p, (size_t)(end - p), "->", 2);
        parts[count++] = (struct dt_text){p, (size_t)((arrow ? arrow : end) - p)};
        if (!arrow)
            break;
        p = arrow + 2;
    }
    for (size_t i = count; i-- > 0;) {
        struct sp_agg_frame f = *like;
        f.inline_depth = (uint32_t)i;
        f.flags |= i ? SP_FRAME_INLINED : 0;
        if (!dtrace_add_name(a, parts[i], &f, n))
            return false;
    }
    return true;
}

static bool dtrace_joins_inlined(struct dt_text t)
{
    const char *arrow = memmem(t.p, t.n, "->", 2);
    return arrow && arrow > t.p && arrow + 2 < t.p + t.n && !memchr(t.p, '(', t.n) &&
           !memchr(t.p, '<', t.n) && !memchr(t.p, ' ', t.n) && !memmem(t.p, t.n, "operator", 8);
}

/* An address as DTrace prints it, whoever printed it. */
static struct dt_text dtrace_address_text(uint64_t ip, char t[20])
{
    memcpy(t, "0x", 2);
    return (struct dt_text){t, 2 + sp_hex_text(ip, t + 2)};
}

bool dt_frame(struct sp_agg *a, struct dt_text t, uint32_t *first, uint32_t *n)
{
    struct sp_agg_frame f = {.name = SP_STR_NONE};
    size_t at = dtrace_symbol_at(t);
    struct dt_text module = {t.p, at ? at - 1 : 0};
    bool address = dtrace_hex_address((struct dt_text){t.p + at, t.n - at}), bare = !at && dt_bare_address(t);
    char hex[20];
    *first = (uint32_t)a->frames.n;
    *n = 0;
    t = (struct dt_text){t.p + at, t.n - at};
    if (module.n) {
        f.module = sp_profile_str(a->p, module.p, module.n);
        if (f.module == SP_STR_FAIL)
            return false;
    }
    if (address || bare) {
        sp_parse_hex(t.p + (bare ? 0 : 2), t.p + t.n, &f.ip);
        t = dtrace_address_text(f.ip, hex);
        /* In a module it is where that was loaded in this run: the name of the frame, and no place in the
         * file. */
        f.flags = SP_FRAME_UNRESOLVED | (module.n ? 0 : SP_FRAME_IP);
        f.side = (uint8_t)dtrace_side_of(module, true, f.ip);
        f.ip = module.n ? 0 : f.ip;
        return dtrace_add_name(a, t, &f, n);
    }
    size_t name = dtrace_before_offset(t);
    if (name < t.n) {
        sp_parse_hex(t.p + name + 3, t.p + t.n, &f.symoff);
        f.flags |= SP_FRAME_SYMOFF;
        t.n = name;
    }
    f.side = (uint8_t)dtrace_side_of(module, false, 0);
    return dtrace_joins_inlined(t) ? dtrace_add_inlined(a, t, &f, n) : dtrace_add_name(a, t, &f, n);
}
