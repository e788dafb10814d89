/*
 * A frame as bpftrace prints it:
 *
 *         schedule+35                                       symbol+decimal offset
 *         0x7f61937691f5                                    no symbol
 *     \tffffffff8134f1d0 do_foo+12 ([kernel.kallsyms])      perf mode: address, symbol, module
 *         7f61937691f5                                      raw mode
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

/* " (module)" of perf mode off the end; "[unknown]" is none. */
static bool bpftrace_strip_module(struct bt_reader *r, struct sp_span *t, struct sp_agg_frame *f)
{
    if (!t->n || t->p[t->n - 1] != ')')
        return true;
    const char *open = NULL;
    for (const char *p = t->p + t->n; p-- > t->p + 1 && !open;)
        open = *p == '(' && p[-1] == ' ' ? p : NULL;
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

static uint32_t bpftrace_parse_frame(struct bt_reader *r, const char *p, size_t n)
{
    struct sp_agg_frame f = {.name = SP_STR_NONE};
    struct sp_span t = bpftrace_frame_trimmed(p, n);
    uint64_t ip = 0;
    size_t used = bpftrace_frame_address(t, &ip);
    if (!used)
        used = bpftrace_short_address(t, &ip);
    bool has_ip = used && (used == t.n || t.p[used] == ' '), bare = has_ip && used == t.n;
    if (has_ip) {
        struct sp_span rest = bpftrace_frame_trimmed(t.p + used, t.n - used);
        f.side = (uint8_t)sp_agg_address_side(ip);
        if (rest.n)
            t = rest;
        if (rest.n && !bpftrace_strip_module(r, &t, &f))
            return SP_NONE;
    }
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
    bpftrace_strip_offset(&t, &f);
    if (!f.side && bpftrace_kernel_entry(t))
        f.side = SP_AGG_KERNEL;
    return sp_agg_name(&r->agg, t.p, t.n, "x_bpftrace", &f.name, &f.more) ? sp_agg_frame_add(&r->agg, &f)
                                                                          : SP_NONE;
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
