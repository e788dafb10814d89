/*
 * A frame as bpftrace prints it:
 *
 *         schedule+35                                       symbol+decimal offset
 *         0x7f61937691f5                                    no symbol
 *     \tffffffff8134f1d0 do_foo+12 ([kernel.kallsyms])      perf mode: address, symbol, module
 *         7f61937691f5                                      raw mode
 *     5a1c…(40 digits) 0x1169                           build_id mode: the offset in the file
 *         spin+37@/src/app.c:14                             from 0.24 on, with debug information
 *         [inlined] leaf@/src/app.c:3                       before what it is inlined into; in perf mode
 *     \t401136 leaf (inlined)
 *
 * In JSON from 0.24 on no blanks are left in it.
 */
#include "base/num.h"
#include "formats/bpftrace/bpftrace.h"

static bool bpftrace_frame_is(struct sp_span t, const char *literal)
{
    return sp_span_is(t, literal);
}

static bool bpftrace_starts_with(struct sp_span t, const char *literal)
{
    size_t n = strlen(literal);
    return t.n >= n && memcmp(t.p, literal, n) == 0;
}

/* Where the kernel is entered: no user stack has these. */
static bool bpftrace_kernel_entry(struct sp_span name)
{
    static const char *const whole[] = {"do_syscall_64",
                                        "ret_from_fork",
                                        "ret_from_fork_asm",
                                        "kthread",
                                        "start_kernel",
                                        "el0_sync",
                                        "el0_svc",
                                        "el1_irq",
                                        "cpu_startup_entry",
                                        "start_secondary",
                                        "ret_to_user",
                                        "el0t_64_sync",
                                        "x86_64_start_kernel",
                                        "page_fault",
                                        "apic_timer_interrupt"};
    static const char *const begin[] = {"entry_SYSCALL",      "asm_sysvec_", "asm_exc_", "asm_common_",
                                        "secondary_startup_", "el0t_64_",    "el1h_64_", "__x64_sys_",
                                        "__arm64_sys_",       "entry_INT80"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (bpftrace_frame_is(name, whole[i]))
            return true;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (bpftrace_starts_with(name, begin[i]))
            return true;
    return false;
}

static void bpftrace_strip_offset(struct sp_span *t, struct sp_agg_frame *f)
{
    size_t i = t->n;
    while (i > 0 && t->p[i - 1] >= '0' && t->p[i - 1] <= '9')
        i--;
    if (i == t->n || i < 2 || t->p[i - 1] != '+')
        return;
    if (sp_parse_u64(t->p + i, t->p + t->n, &f->symoff) == t->n - i) {
        f->flags |= SP_FRAME_SYMOFF;
        t->n = i - 1;
    }
}

static struct sp_span bpftrace_frame_trimmed(const char *p, size_t n)
{
    while (n && (*p == ' ' || *p == '\t')) {
        p++;
        n--;
    }
    while (n && (p[n - 1] == ' ' || p[n - 1] == '\t' || p[n - 1] == '\r'))
        n--;
    return (struct sp_span){p, n};
}

/* An address: with 0x, or (raw mode) at least eight hexadecimal digits. */
static size_t bpftrace_frame_address(struct sp_span t, uint64_t *ip)
{
    size_t x = bpftrace_starts_with(t, "0x") ? 2 : 0;
    size_t n = sp_parse_hex(t.p + x, t.p + t.n, ip);
    return x ? (n ? n + 2 : 0) : n >= 8 ? n : 0;
}

/* Of programs at a fixed address they are shorter: alone (raw mode), or before "symbol (module)". */
static size_t bpftrace_short_address(struct sp_span t, uint64_t *ip)
{
    size_t n = sp_parse_hex(t.p, t.p + t.n, ip);
    return n >= 4 && (n == t.n || (t.p[n] == ' ' && t.p[t.n - 1] == ')')) ? n : 0;
}

/* " (module)" of perf mode off the end, or behind the offset "(module)"; "[unknown]" is none. */
static bool bpftrace_strip_module(struct bt_reader *r, struct sp_span *t, bool glued, struct sp_agg_frame *f)
{
    if (!t->n || t->p[t->n - 1] != ')')
        return true;
    const char *open = NULL;
    for (const char *p = t->p + t->n; p-- > t->p + 1 && !open;)
        open = *p == '(' && (p[-1] == ' ' || (glued && p[-1] >= '0' && p[-1] <= '9')) ? p : NULL;
    if (!open)
        return true;
    struct sp_span module = {open + 1, (size_t)(t->p + t->n - open - 2)};
    *t = bpftrace_frame_trimmed(t->p, (size_t)(open - t->p));
    if (bpftrace_starts_with(module, "[kernel"))
        f->side = SP_AGG_KERNEL;
    else if (!bpftrace_frame_is(module, "[unknown]"))
        f->module = sp_profile_str(r->p, module.p, module.n);
    return f->module != SP_STR_FAIL;
}

/* "\tffffffff8134f1d0do_foo+12([kernel.kallsyms])": addresses of Linux programs have these many digits. */
static size_t bpftrace_glued_address(struct sp_span t, uint64_t *ip)
{
    static const struct {
        const char *begin;
        size_t digits;
    } known[] = {{"ffff", 16}, {"7f", 12}, {"55", 12}, {"56", 12}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = known[i].digits;
        if (t.n > n && t.p[n] != ' ' && bpftrace_starts_with(t, known[i].begin) &&
            sp_parse_hex(t.p, t.p + n, ip) == n)
            return n;
    }
    return 0;
}

/* "@/src/app.c:14" off the end of "spin+37@/src/app.c:14". */
static bool bpftrace_strip_line(struct bt_reader *r, struct sp_span *t, bool inlined, struct sp_agg_frame *f)
{
    const char *end = t->p + t->n, *at = NULL, *digits = end;
    while (digits > t->p && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    if (digits == end || digits == t->p || digits[-1] != ':')
        return true;
    for (const char *p = t->p + 1; p < digits && !at; p++) /* behind an offset, but for inlined ones */
        at = *p == '@' && (inlined || (p[-1] >= '0' && p[-1] <= '9')) && p + 2 < digits ? p : NULL;
    if (!at || (!inlined && !memchr(t->p, '+', (size_t)(at - t->p))))
        return true;
    f->srcline = sp_profile_text(r->p, at + 1, (size_t)(end - at - 1));
    t->n = (size_t)(at - t->p);
    return f->srcline != SP_STR_FAIL;
}

/* "[inlined] " and " (inlined)" are no part of it. */
static bool bpftrace_strip_inlined(struct sp_span *t)
{
    static const char before[] = "[inlined]", after[] = "(inlined)";
    size_t n = sizeof before - 1;
    if (t->n > n && memcmp(t->p, before, n) == 0)
        *t = bpftrace_frame_trimmed(t->p + n, t->n - n);
    else if (t->n > n && memcmp(t->p + t->n - n, after, n) == 0)
        *t = bpftrace_frame_trimmed(t->p, t->n - n);
    else
        return false;
    return true;
}

/* A build id and an offset: how many digits the former has; 0: it is none. */
static size_t bpftrace_build_id(struct sp_span t, uint64_t *offset)
{
    enum { DIGITS = 40 };
    size_t n = 0;
    while (n < t.n && ((t.p[n] >= '0' && t.p[n] <= '9') || (t.p[n] >= 'a' && t.p[n] <= 'f')))
        n++;
    /* Without a blank the 0 of 0x follows the digits. */
    n = n == DIGITS + 1 ? DIGITS : n;
    if (n != DIGITS)
        return 0;
    struct sp_span rest = bpftrace_frame_trimmed(t.p + n, t.n - n);
    bool is =
        bpftrace_starts_with(rest, "0x") && sp_parse_hex(rest.p + 2, rest.p + rest.n, offset) == rest.n - 2;
    return is ? n : 0;
}

static uint32_t bpftrace_frame_of_build_id(struct bt_reader *r, struct sp_span t, size_t n, uint64_t offset)
{
    struct sp_agg_frame f = {.flags = SP_FRAME_UNRESOLVED, .side = SP_AGG_USER};
    char hex[20] = "0x";
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "[build-id:%.*s]", (int)n, t.p);
    f.module = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_clear(&b);
    sp_buf_printf(&b, "\"x_bpftrace\":{\"raw\":\"%.*s 0x%llx\"}", (int)n, t.p, (unsigned long long)offset);
    f.more = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    f.build_id = sp_profile_str(r->p, t.p, n);
    f.name = sp_profile_str(r->p, hex, 2 + sp_hex_text(offset, hex + 2));
    bool ok = f.module != SP_STR_FAIL && f.more != SP_STR_FAIL && f.build_id != SP_STR_FAIL &&
              f.name != SP_STR_FAIL;
    return ok ? sp_agg_frame_add(&r->agg, &f) : SP_NONE;
}

/* Its address in *ip, which goes off t with the module; false: out of memory. */
static bool bpftrace_strip_address(struct bt_reader *r, struct sp_span *t, struct sp_agg_frame *f,
                                   uint64_t *ip, bool *bare)
{
    size_t used = bpftrace_frame_address(*t, ip);
    if (!used)
        used = bpftrace_short_address(*t, ip);
    bool has = used && (used == t->n || t->p[used] == ' ');
    bool glued = !has && (used = bpftrace_glued_address(*t, ip));
    has = has || glued;
    *bare = has && used == t->n;
    if (!has)
        return true;
    struct sp_span rest = bpftrace_frame_trimmed(t->p + used, t->n - used);
    f->side = (uint8_t)sp_agg_address_side(*ip);
    if (!rest.n)
        return true;
    *t = rest;
    if (bpftrace_strip_inlined(t))
        f->flags |= SP_FRAME_INLINED;
    return bpftrace_strip_module(r, t, glued, f);
}

static uint32_t bpftrace_parse_frame(struct bt_reader *r, const char *p, size_t n)
{
    struct sp_agg_frame f = {.name = SP_STR_NONE};
    struct sp_span t = bpftrace_frame_trimmed(p, n);
    uint64_t ip = 0;
    bool bare;
    size_t id = bpftrace_build_id(t, &ip);
    if (id)
        return bpftrace_frame_of_build_id(r, t, id, ip);
    if (!bpftrace_strip_address(r, &t, &f, &ip, &bare))
        return SP_NONE;
    uint64_t again = ip;
    if (bare ||
        bpftrace_frame_address(t, &again) == t.n) { /* named after its address, which is one of this run */
        char hex[20] = "0x";
        size_t digits = sp_hex_text(again, hex + 2);
        f.name = sp_profile_str(r->p, hex, digits + 2);
        f.flags = SP_FRAME_UNRESOLVED | (f.module ? 0 : SP_FRAME_IP);
        f.ip = f.module ? 0 : again;
        f.side = (uint8_t)sp_agg_address_side(again);
        return f.name == SP_STR_FAIL ? SP_NONE : sp_agg_frame_add(&r->agg, &f);
    }
    if (!(f.flags & SP_FRAME_INLINED) && bpftrace_strip_inlined(&t))
        f.flags |= SP_FRAME_INLINED;
    if (!bpftrace_strip_line(r, &t, f.flags & SP_FRAME_INLINED, &f))
        return SP_NONE;
    r->lined = r->lined || f.srcline;
    r->inlined = r->inlined || f.flags & SP_FRAME_INLINED;
    bpftrace_strip_offset(&t, &f);
    if (!f.side && bpftrace_kernel_entry(t))
        f.side = SP_AGG_KERNEL;
    return sp_agg_name(&r->agg, t.p, t.n, "x_bpftrace", &f.name, &f.more) ? sp_agg_frame_add(&r->agg, &f)
                                                                          : SP_NONE;
}

/* The frame at that depth, made once: known by its number, a newline, and the depth. */
static uint32_t bpftrace_at_depth(struct bt_reader *r, uint32_t frame, uint32_t depth)
{
    struct sp_agg_frame f = r->agg.frames.v[frame];
    char key[48];
    size_t n = sp_u64_text(frame, key);
    key[n++] = '\n';
    n += sp_u64_text(depth, key + n);
    const struct sp_agg_line *known = sp_agg_lines_find(&r->known, key, n);
    if (known)
        return known->first;
    f.inline_depth = depth;
    uint32_t at = sp_agg_frame_add(&r->agg, &f);
    if (at != SP_NONE)
        known = sp_agg_lines_add(&r->known, &r->agg, key, n, &(struct sp_agg_line){.first = at, .count = 1});
    return known ? at : SP_NONE;
}

bool bt_frames_inlined(struct bt_reader *r)
{
    for (size_t k = r->first_block; r->inlined && k < r->agg.blocks.n; k++) {
        const struct sp_agg_block *b = &r->agg.blocks.v[k];
        uint32_t *list = r->agg.block_frames.v + b->first, depth = 0;
        for (uint32_t i = b->n; i-- > 0;) {
            depth = r->agg.frames.v[list[i]].flags & SP_FRAME_INLINED ? depth + 1 : 0;
            if (depth && (list[i] = bpftrace_at_depth(r, list[i], depth)) == SP_NONE)
                return false;
        }
    }
    return true;
}

bool bt_frame(struct bt_reader *r, const char *p, size_t n)
{
    const struct sp_agg_line *known = sp_agg_lines_find(&r->known, p, n);
    if (!known) {
        uint32_t frame = bpftrace_parse_frame(r, p, n);
        if (frame != SP_NONE)
            known =
                sp_agg_lines_add(&r->known, &r->agg, p, n, &(struct sp_agg_line){.first = frame, .count = 1});
    }
    return known && sp_agg_lines_push(&r->agg, known);
}
