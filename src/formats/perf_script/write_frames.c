/*
 * A frame as `perf script` prints it:
 *
 *     \t            1418 parse_value+0x48 (/tmp/gen/mix)
 *       mix.c:118                                           with source lines
 *     \t            1418 hash (inlined)
 *
 * The address is 0 where the profile has none. Names of DSOs become those that perf uses, so that a reader
 * tells the kernel and JIT code from the rest.
 */
#include "base/num.h"
#include "formats/perf_script/perf_script.h"
#include "formats/perf_script/write.h"
#include "json/find.h"

#include <stdlib.h>
#include <string.h>

static bool perf_script_is_relative(const struct sp_ps_printer *w, const struct sp_frame *f)
{
    uint32_t dso = w->p->functions.v[f->function].dso;
    return w->p->dsos.v[dso].is_kernel && f->flags & SP_FRAME_IP && !w->p->dsos.v[dso].place.base &&
           !(f->ip >> 63);
}

bool sp_ps_printer_init(struct sp_ps_printer *w, const struct sp_profile *p, bool srclines)
{
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    struct sp_span own;
    *w = (struct sp_ps_printer){.p = p, .srclines = srclines};
    w->printed = sp_json_find((struct sp_span){more.p, more.n}, "x_perf_script", &own);
    sp_arena_init(&w->text, 0);
    sp_buf_init(&w->row, 0);
    w->frames = calloc(p->frames.n + 1, sizeof *w->frames);
    for (size_t i = 0; i < p->frames.n && !w->printed; i++)
        w->relative |= perf_script_is_relative(w, &p->frames.v[i]);
    return w->frames;
}

void sp_ps_printer_free(struct sp_ps_printer *w)
{
    sp_arena_free(&w->text);
    sp_buf_free(&w->row);
    free(w->frames);
}

void sp_ps_put_text(struct sp_buf *out, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sp_buf_ch(out, p[i] == '\n' || p[i] == '\r' || p[i] == '\t' ? ' ' : p[i]);
}

/* The member of `extra_json` as text; false: there is none. */
static bool perf_script_put_member(struct sp_buf *out, const struct sp_profile *p, uint32_t more,
                                   const char *key)
{
    struct sp_str t = sp_pstr(p, more);
    struct sp_span raw;
    if (more == SP_STR_NONE || !sp_json_find((struct sp_span){t.p, t.n}, key, &raw))
        return false;
    return sp_json_text_to(out, raw);
}

/* perf prints offsets in files, and addresses of the kernel. What is none in the profile may be one already.
 */
static uint64_t perf_script_address_of(const struct sp_ps_printer *w, const struct sp_frame *f,
                                       struct sp_str func)
{
    uint32_t dso = w->p->functions.v[f->function].dso;
    uint64_t ip = 0, addr, base = w->p->dsos.v[dso].is_kernel ? w->p->dsos.v[dso].place.base : 0;
    if (f->flags & SP_FRAME_IP)
        ip = f->ip;
    else if (!(f->flags & SP_FRAME_UNRESOLVED && sp_parse_0x(func.p, func.n, &ip)))
        return 0;
    if (!w->p->dsos.v[dso].is_kernel)
        return ip;
    bool is_address = __builtin_add_overflow(base, ip, &addr) || (base <= UINT32_MAX && addr > UINT32_MAX);
    return is_address ? ip : addr;
}

static void perf_script_put_dso(struct sp_buf *b, const struct sp_profile *p, const struct sp_frame *f,
                                uint64_t ip)
{
    const struct sp_dso *dso = &p->dsos.v[p->functions.v[f->function].dso];
    struct sp_str name = sp_pstr(p, dso->name);
    struct sp_ps_dso is;
    if (perf_script_put_member(b, p, f->extra_json, "x_raw_dso"))
        return;
    if (sp_str_is(name, "[kernel]")) {
        sp_buf_puts(b, "[kernel.kallsyms]");
    } else if (sp_str_is(name, "[jit]")) {
        sp_buf_puts(b, "//anon");
    } else if (name.n >= 6 && memcmp(name.p, "memfd:", 6) == 0) {
        sp_buf_ch(b, '/');
        sp_ps_put_text(b, name.p, name.n);
        sp_buf_puts(b, " (deleted)");
    } else if (!name.n) {
        sp_buf_puts(b, "[unknown]");
    } else {
        sp_ps_classify_dso((struct sp_ps_text){name.p, name.n}, ip, &is);
        bool module = dso->is_kernel && !is.kernel; /* "[ext4]" is how perf prints one without a path */
        if (module)
            sp_buf_ch(b, '[');
        sp_ps_put_text(b, name.p, name.n);
        if (module)
            sp_buf_ch(b, ']');
    }
}

/* As it was printed, else as demanglers write it. */
static void perf_script_put_symbol(struct sp_ps_printer *w, struct sp_buf *b, uint32_t frame)
{
    struct sp_str symbol = sp_frame_symbol(w->p, frame);
    struct sp_buf shown;
    sp_buf_init(&shown, 0);
    if (!w->printed) {
        sp_put_symbol_shown(&shown, w->p, frame);
        symbol = (struct sp_str){shown.data, (uint32_t)shown.len};
    }
    b->failed |= shown.failed;
    sp_ps_put_text(b, symbol.p, symbol.n);
    sp_buf_free(&shown);
}

static bool perf_script_make_frame_text(struct sp_ps_printer *w, uint32_t frame, struct sp_ps_printed *out)
{
    const struct sp_profile *p = w->p;
    const struct sp_frame *f = &p->frames.v[frame];
    struct sp_str func = sp_pstr(p, sp_frame_function(p, frame)->name);
    struct sp_buf *b = &w->row;
    uint64_t ip = perf_script_address_of(w, f, func);
    sp_buf_clear(b);
    sp_buf_printf(b, "\t%16llx ", (unsigned long long)ip);
    if (f->flags & SP_FRAME_UNRESOLVED || !func.n)
        sp_buf_puts(b, "[unknown]");
    else
        perf_script_put_symbol(w, b, frame);
    if (f->flags & SP_FRAME_SYMOFF && !(f->flags & SP_FRAME_UNRESOLVED))
        sp_buf_printf(b, "+0x%llx", (unsigned long long)f->symoff);
    sp_buf_puts(b, " (");
    if (f->inline_depth)
        sp_buf_puts(b, "inlined");
    else
        perf_script_put_dso(b, p, f, ip);
    sp_buf_puts(b, ")\n");
    if (w->srclines && f->srcline) {
        struct sp_str line = sp_pstr(p, f->srcline);
        sp_buf_puts(b, "  ");
        sp_ps_put_text(b, line.p, line.n);
        sp_buf_ch(b, '\n');
    }
    out->text = b->failed ? NULL : sp_arena_dup(&w->text, b->data, b->len);
    out->n = b->len;
    return out->text != NULL;
}

bool sp_ps_put_frames(struct sp_ps_printer *w, uint32_t stack, struct sp_buf *out)
{
    const uint32_t *frames = sp_stack_frames(w->p, stack);
    for (uint32_t i = 0; i < w->p->stacks.v[stack].n; i++) {
        struct sp_ps_printed *f = &w->frames[frames[i]];
        if (!f->text && !perf_script_make_frame_text(w, frames[i], f))
            return false;
        sp_buf_add(out, f->text, f->n);
    }
    return !out->failed;
}
