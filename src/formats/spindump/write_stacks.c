/*
 * The stacks of a profile as trees of a report: grouped by process and thread, frames as texts. A frame's
 * text is made once; an address that was printed comes back from x_spindump, others are "[0]" where a state
 * or a range must follow, since these are told by what stands before them.
 */
#include "base/num.h"
#include "formats/spindump/write.h"
#include "model/identity.h"
#include "model/order.h"

#include <math.h>
#include <stdlib.h>

static struct sp_span of(struct sp_str s)
{
    return (struct sp_span){s.p, s.n};
}

/* Appends on one line. */
static void plain(struct sp_buf *b, struct sp_span s)
{
    for (size_t i = 0; i < s.n; i++)
        sp_buf_ch(b, s.p[i] == '\n' || s.p[i] == '\r' ? ' ' : s.p[i]);
}

static void image_text(struct sp_buf *b, const struct sp_profile *p, const struct sp_frame *f,
                       struct sp_span printed)
{
    struct sp_str dso = sp_pstr(p, p->dsos.v[p->functions.v[f->function].dso].name);
    if (!printed.n && (sp_str_is(dso, "[unknown]") || (sp_str_is(dso, "[kernel]") && !f->srcline)))
        return;
    sp_buf_puts(b, " (");
    if (f->srcline) {
        plain(b, of(sp_pstr(p, f->srcline)));
        sp_buf_puts(b, " in ");
    }
    plain(b, printed.n ? printed : of(sp_base_name(dso)));
    if (f->flags & SP_FRAME_IP) {
        sp_buf_puts(b, " + ");
        sp_buf_u64(b, f->ip);
    }
    sp_buf_ch(b, ')');
}

static bool in_no_image(const struct sp_profile *p, const struct sp_frame *f)
{
    struct sp_str dso = sp_pstr(p, p->dsos.v[p->functions.v[f->function].dso].name);
    return sp_str_is(dso, "[unknown]") || sp_str_is(dso, "[kernel]");
}

uint32_t sp_sd_frame_text(struct sp_hang_writer *w, uint32_t frame)
{
    const struct sp_profile *p = w->p;
    const struct sp_frame *f = &p->frames.v[frame];
    struct sp_span raw, more = of(sp_pstr(p, f->more));
    struct sp_buf b, printed;
    if (w->frame_text[frame])
        return w->frame_text[frame];
    sp_buf_init(&b, 0);
    sp_buf_init(&printed, 0);
    if (sp_json_find2(more, "x_spindump", "image", &raw))
        sp_json_text_to(&printed, raw);
    sp_buf_ch(&b, f->kind == SP_KERNEL ? '*' : ' ');
    if (f->flags & SP_FRAME_UNRESOLVED) {
        sp_buf_puts(&b, "???");
    } else {
        struct sp_span name = sp_hang_trim(of(sp_pstr(p, p->functions.v[f->function].name)));
        plain(&b, name.n ? name : (struct sp_span){"???", 3});
        if (f->flags & SP_FRAME_SYMOFF) {
            sp_buf_puts(&b, " + ");
            sp_buf_u64(&b, f->symoff);
        }
    }
    image_text(&b, p, f, (struct sp_span){printed.data, printed.len});
    bool nowhere = in_no_image(p, f) && f->flags & SP_FRAME_UNRESOLVED;
    sp_buf_clear(&printed);
    if (sp_json_find2(more, "x_spindump", "address", &raw) && sp_json_text_to(&printed, raw)) {
        sp_buf_puts(&b, " [");
        plain(&b, (struct sp_span){printed.data, printed.len});
        sp_buf_ch(&b, ']');
    } else if (nowhere && f->flags & SP_FRAME_IP) {
        char t[16];
        sp_buf_puts(&b, " [0x");
        sp_buf_add(&b, t, sp_hex_text(f->ip, t));
        sp_buf_ch(&b, ']');
    }
    uint32_t text = b.failed || printed.failed ? SP_STR_FAIL : sp_intern(&w->texts, b.data, b.len);
    sp_buf_free(&b);
    sp_buf_free(&printed);
    if (text != SP_STR_FAIL)
        w->frame_text[frame] = text;
    return text;
}

/* What is printed behind the frame where samples ended; SP_STR_NONE: nothing. */
uint32_t sp_sd_context_text(struct sp_hang_writer *w, uint32_t context)
{
    const struct sp_profile *p = w->p;
    const struct sp_context *c = &p->contexts.v[context];
    struct sp_span raw;
    uint32_t *out = &w->context_state[context];
    if (*out != SP_NONE)
        return *out;
    struct sp_str word = sp_pstr(p, c->state);
    if (sp_json_find2(of(sp_pstr(p, c->more)), "x_spindump", "state", &raw)) {
        struct sp_span s = sp_hang_decoded(w, raw);
        *out = sp_intern(&w->texts, s.n ? s.p : "", s.n);
    } else if (!word.n && !w->ours) {
        *out = sp_intern_cstr(&w->texts, "running"); /* other profilers see what runs */
    } else if (!word.n || sp_str_is(word, "WAITING")) {
        *out = SP_STR_NONE;
    } else {
        const char *usual = sp_sd_state_text(word);
        sp_buf_clear(&w->buf);
        sp_buf_puts(&w->buf, usual ? usual : "state ");
        if (!usual)
            sp_buf_add(&w->buf, word.p, word.n);
        *out = w->buf.failed ? SP_STR_FAIL : sp_intern(&w->texts, w->buf.data, w->buf.len);
    }
    return *out;
}

static bool has_address(struct sp_span s)
{
    return s.n && s.p[s.n - 1] == ']' && (sp_hang_ends(s, "[0]") || memmem(s.p, s.n, " [0x", 4));
}

bool sp_sd_put_rows(struct sp_hang_writer *w, struct sp_hang_group *g)
{
    int64_t most = 0;
    char digits[20];
    g->written = true;
    if (!sp_hang_render(&w->render, w->stacks.v + g->first, g->n))
        return false;
    for (size_t i = 0; i < w->render.lines.n; i++)
        if (w->render.lines.v[i].count > most)
            most = w->render.lines.v[i].count;
    size_t width = sp_u64_text((uint64_t)most, digits);
    for (size_t i = 0; i < w->render.lines.n; i++) {
        const struct sp_hang_line *l = &w->render.lines.v[i];
        struct sp_span text = of(sp_str_at(&w->texts, l->text)), state = of(sp_str_at(&w->texts, l->state));
        bool kernel = *text.p == '*';
        text = sp_hang_after(text, 1);
        for (uint32_t k = 0; k < 3 + 2 * l->depth; k++)
            sp_write(w->out, " ", 1);
        sp_write(w->out, kernel ? "*" : " ", 1);
        size_t n = sp_u64_text((uint64_t)l->count, digits);
        sp_write(w->out, digits, n);
        for (; n < width + 2; n++)
            sp_write(w->out, " ", 1);
        sp_write(w->out, text.p, text.n);
        if ((l->state || l->from) && !has_address(text))
            sp_puts(w->out, " [0]");
        if (l->state) {
            sp_puts(w->out, " (");
            sp_hang_put(w, state);
            sp_puts(w->out, ")");
        }
        if (l->from && l->from == l->to)
            sp_printf(w->out, " %lld", (long long)l->from);
        else if (l->from)
            sp_printf(w->out, " %lld-%lld", (long long)l->from, (long long)l->to);
        sp_puts(w->out, "\n");
    }
    return true;
}
