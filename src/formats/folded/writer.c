/*
 * Writes folded stacks: one line per distinct stack, root first, sorted bytewise.
 *
 * A file holds one event and one metric. For profiles of perf the lines are those of
 * stackcollapse-perf.pl and its options; for others names stay as they are, and the process is the first
 * frame where stacks are grouped by comm. Thread states, of which the format knows nothing, are frames before
 * it where there are several. Profiles that were folded before come back with their marks.
 */
#include "base/hash.h"
#include "base/num.h"
#include "base/watch.h"
#include "formats/common/text/left_out.h"
#include "formats/common/text/one_number.h"
#include "formats/folded/folded.h"

#include <stdlib.h>
#include <string.h>

struct line {
    const char *text;
    size_t n;
    __int128 sum; /* times 10^-scale */
    unsigned scale;
    unsigned parts;
    struct sp_str alone; /* the only number, where it has too many digits for sum */
};

struct name {
    uint32_t n;
    const char *text; /* NULL: not asked for yet */
};

struct writer {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_fold_style style;
    bool pid, tid, states;
    uint32_t event, metric;
    struct sp_arena text;
    SP_VEC(struct line) lines;
    struct sp_map map;
    struct name *names; /* two per frame: others, java */
    struct sp_buf buf;
};

static bool folded_option(const struct sp_write_opts *o, const char *name)
{
    return sp_own_opt(o->own, o->nown, name) != NULL;
}

static void folded_choose_style(struct writer *w, const struct sp_write_opts *o)
{
    const struct sp_header *h = &w->p->header;
    bool perf = sp_str_is(sp_pstr(w->p, h->source_tool), "perf");
    bool folded = sp_str_is(sp_pstr(w->p, h->source_tool), "folded"), all = folded_option(o, "all") || folded;
    w->style.perf = perf;
    w->style.tidy = perf && !folded_option(o, "raw-names");
    w->style.printed =
        w->style.tidy && h->extra_json && strstr(sp_pstr(w->p, h->extra_json).p, "\"x_perf_script\":");
    w->style.addrs = folded_option(o, "addrs");
    w->style.kernel = all || folded_option(o, "mark-kernel");
    w->style.jit = all || folded_option(o, "jit");
    w->style.inlined = all || folded_option(o, "inlines");
    w->tid = folded_option(o, "tid");
    w->pid = w->tid || folded_option(o, "with-pid");
}

static uint32_t folded_event_of(const struct sp_profile *p, uint32_t stack)
{
    return p->contexts.v[p->stacks.v[stack].context].event;
}

/*
 * States that were not chosen are not added up: each is a first frame, where there are several. Of perf's
 * profiles the lines stay those of the peers, who do not know states.
 */
static bool folded_choose_states(struct writer *w, const struct sp_write_opts *o)
{
    struct sp_buf names;
    if (w->style.perf)
        return !sp_say_states_added(w->p, o, w->event, w->d);
    sp_buf_init(&names, 0);
    size_t n = o->add_states ? 0 : sp_states_of(w->p, w->event, &names);
    w->states = n > 1 && n != SIZE_MAX;
    if (w->states)
        sp_emit_hint(w->d, SP_I322, SP_AT_NOTHING, "--group-by comm or none adds them up",
                     "a folded file has no thread states: each is a first frame, of %s", sp_buf_cstr(&names));
    sp_buf_free(&names);
    return n != SIZE_MAX;
}

/* A frame's name, made once. */
static const struct name *folded_name_of(struct writer *w, uint32_t frame, bool java)
{
    struct name *n = &w->names[2 * (size_t)frame + java];
    if (n->text)
        return n;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    if (sp_fold_name(&b, w->p, frame, &w->style, java)) {
        n->text = sp_arena_dup(&w->text, b.len ? b.data : "", b.len);
        n->n = (uint32_t)b.len;
    }
    sp_buf_free(&b);
    return n->text ? n : NULL;
}

static void folded_put_id(struct sp_buf *b, char before, int64_t id)
{
    sp_buf_ch(b, before);
    if (id == SP_ABSENT)
        sp_buf_ch(b, '?');
    else
        sp_buf_i64(b, id);
}

/* A text that may have bytes that end a frame, or a line. */
static void folded_put_word(struct writer *w, struct sp_str s)
{
    for (uint32_t i = 0; i < s.n; i++) {
        char ch = s.p[i];
        if (ch == ';')
            ch = ':';
        else if (ch == '\n' || ch == '\r' || (ch == ' ' && w->style.perf))
            ch = w->style.perf ? '_' : ' ';
        sp_buf_ch(&w->buf, ch);
    }
}

/* "comm", "comm-pid", "comm-pid/tid" */
static void folded_put_process(struct writer *w, const struct sp_context *c, struct sp_str comm)
{
    folded_put_word(w, comm);
    if (w->pid)
        folded_put_id(&w->buf, '-', c->pid);
    if (w->tid)
        folded_put_id(&w->buf, '/', c->tid);
}

static bool folded_put_frames(struct writer *w, uint32_t stack, bool java)
{
    const struct sp_stack *s = &w->p->stacks.v[stack];
    const uint32_t *frames = sp_stack_frames(w->p, stack);
    for (uint32_t i = s->n; i-- > 0;) {
        const struct name *n = folded_name_of(w, frames[i], java);
        if (!n)
            return false;
        if (w->buf.len || i + 1 < s->n) /* the root's name may be empty */
            sp_buf_ch(&w->buf, ';');
        sp_buf_add(&w->buf, n->text, n->n);
    }
    return true;
}

/* The stack's text; linked records of one observation are one line, the kernel's frames last. */
static bool folded_put_stack(struct writer *w, uint32_t stack)
{
    const struct sp_context *c = &w->p->contexts.v[w->p->stacks.v[stack].context];
    struct sp_str comm = sp_pstr(w->p, c->comm);
    bool java = w->style.tidy && !w->pid && sp_str_is(comm, "java"); /* the peers' rule: exactly this frame */
    uint32_t other = sp_stack_linked(w->p, stack);
    sp_buf_clear(&w->buf);
    if (w->states && c->state != SP_STR_NONE) {
        sp_buf_ch(&w->buf, '[');
        folded_put_word(w, sp_pstr(w->p, c->state));
        sp_buf_puts(&w->buf, c->comm != SP_STR_NONE ? "];" : "]");
    }
    if (c->comm != SP_STR_NONE)
        folded_put_process(w, c, comm);
    if (!folded_put_frames(w, stack, java) || (other != SP_NONE && !folded_put_frames(w, other, java)))
        return false;
    if (!w->buf.len && !w->p->stacks.v[stack].n)
        sp_buf_puts(&w->buf, "[unknown]");
    return !w->buf.failed;
}

static bool folded_raise_scale(__int128 *v, unsigned *scale, unsigned to)
{
    for (; *scale < to; ++*scale)
        if (__builtin_mul_overflow(*v, (__int128)10, v))
            return false;
    return true;
}

/* A decimal that is too long to be added exactly. */
static void folded_rounded(struct writer *w, struct sp_str text, __int128 *v, unsigned *scale)
{
    char t[32];
    int64_t mantissa = 0;
    double d = sp_text_double(text.p, text.n);
    if (!sp_parse_scaled(t, sp_double_text(d, t), &mantissa, scale)) {
        mantissa = d >= 9e18 ? INT64_MAX : d <= -9e18 ? -INT64_MAX : 0;
        *scale = 0;
    }
    *v = mantissa;
    sp_emit(w->d, SP_L304, SP_AT_NOTHING, "%s was rounded to be added", text.p);
}

static void writer_folded_add_number(struct writer *w, struct line *l, __int128 v, unsigned scale)
{
    unsigned to = scale > l->scale ? scale : l->scale;
    if (!folded_raise_scale(&l->sum, &l->scale, to) || !folded_raise_scale(&v, &scale, to) ||
        __builtin_add_overflow(l->sum, v, &l->sum))
        sp_emit(w->d, SP_L304, SP_AT_NOTHING, "the sum of one stack");
}

/* Exactly; what does not fit is reported. A number that stays alone keeps its text. */
static void folded_add_row(struct writer *w, struct line *l, struct sp_str text, int64_t v)
{
    __int128 number = v;
    unsigned scale = 0;
    int64_t mantissa;
    bool fits = v != SP_DECIMAL || sp_parse_scaled(text.p, text.n, &mantissa, &scale);
    l->parts++;
    if (!fits && l->parts == 1) {
        l->alone = text;
        return;
    }
    if (l->alone.n) {
        __int128 first;
        unsigned first_scale;
        folded_rounded(w, l->alone, &first, &first_scale);
        writer_folded_add_number(w, l, first, first_scale);
        l->alone.n = 0;
    }
    if (!fits)
        folded_rounded(w, text, &number, &scale);
    else if (v == SP_DECIMAL)
        number = mantissa;
    writer_folded_add_number(w, l, number, scale);
}

static struct line *folded_line_of(struct writer *w)
{
    const char *p = w->buf.len ? w->buf.data : "";
    size_t n = w->buf.len;
    uint64_t hash = sp_hash_key(p, n);
    struct sp_probe at = sp_map_probe(&w->map, hash);
    for (uint32_t i; (i = sp_map_next(&w->map, &at)) != SP_MAP_NONE;)
        if (w->lines.v[i].n == n && memcmp(w->lines.v[i].text, p, n) == 0)
            return &w->lines.v[i];
    struct line l = {.text = sp_arena_dup(&w->text, p, n), .n = n};
    if (!l.text || w->lines.n >= SP_NONE - 1 || !sp_vec_push(&w->lines, l) ||
        !sp_map_add(&w->map, hash, (uint32_t)w->lines.n - 1))
        return NULL;
    return &w->lines.v[w->lines.n - 1];
}

static bool folded_collect(struct writer *w)
{
    for (uint32_t s = 0; s < w->p->stacks.n; s++) {
        if (folded_event_of(w->p, s) != w->event)
            continue;
        int64_t v = sp_weight(w->p, s, w->metric);
        if (v == SP_ABSENT ||
            (w->p->stacks.v[s].type == SP_KERNEL_STACK && sp_stack_linked(w->p, s) != SP_NONE))
            continue;
        struct line *l = !sp_leaving(w->d, s) && folded_put_stack(w, s) ? folded_line_of(w) : NULL;
        if (!l)
            return false;
        folded_add_row(w, l, v == SP_DECIMAL ? sp_weight_text(w->p, s, w->metric) : (struct sp_str){"", 0},
                       v);
    }
    return true;
}

static int folded_by_text(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int c = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

static void folded_print_rows(struct writer *w, struct sp_output *out)
{
    if (w->lines.n)
        qsort(w->lines.v, w->lines.n, sizeof *w->lines.v, folded_by_text);
    for (size_t i = 0; i < w->lines.n && !out->status; i++) {
        const struct line *l = &w->lines.v[i];
        char number[64];
        size_t n = sp_scaled_text(l->sum, l->scale, number);
        sp_write(out, l->text, l->n);
        sp_write(out, " ", 1);
        sp_write(out, l->alone.n ? l->alone.p : number, l->alone.n ? l->alone.n : n);
        sp_write(out, "\n", 1);
    }
}

spaa_status sp_fold_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                          struct sp_output *out)
{
    struct writer w = {.p = p, .d = d};
    sp_arena_init(&w.text, 0);
    sp_buf_init(&w.buf, 0);
    folded_choose_style(&w, opts);
    w.names = calloc(2 * p->frames.n + 1, sizeof *w.names);
    w.event = sp_one_event(p, opts);
    w.metric = SP_NONE;
    bool ok = w.names && (w.event == SP_NONE || !sp_say_events_left(p, opts, w.event, "a folded file", d)) &&
              folded_choose_states(&w, opts);
    if (ok && w.event != SP_NONE) {
        w.metric = sp_one_metric(p, opts, w.event, d);
        ok = w.metric == SP_NONE || folded_collect(&w);
    }
    if (ok)
        folded_print_rows(&w, out);
    free(w.names);
    sp_arena_free(&w.text);
    sp_vec_free(&w.lines);
    sp_map_free(&w.map);
    sp_buf_free(&w.buf);
    return ok ? out->status : sp_nomem(d);
}
