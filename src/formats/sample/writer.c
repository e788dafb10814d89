/*
 * Writes a report of sample(1) from the records and the stacks, which reads back to the same profile. An
 * analysis is of one process, so other profiles give several.
 */
#include "base/num.h"
#include "formats/common/hang/write.h"
#include "formats/sample/sample.h"
#include "model/identity.h"

#include <string.h>

static bool sample_frame_member(struct sp_hang_writer *w, const struct sp_frame *f, const char *key,
                                struct sp_span *out)
{
    struct sp_span raw;
    if (!sp_json_find2(sp_hang_span(sp_pstr(w->p, f->extra_json)), "x_sample", key, &raw))
        return false;
    *out = sp_hang_decoded(w, raw);
    return out->n > 0;
}

static void sample_image_text(struct sp_hang_writer *w, const struct sp_frame *f, struct sp_buf *b)
{
    struct sp_str dso = sp_pstr(w->p, w->p->dsos.v[w->p->functions.v[f->function].dso].name);
    struct sp_span s;
    char t[16];
    sp_buf_puts(b, "  (in ");
    if (sp_str_is(dso, "[unknown]"))
        sp_buf_puts(b, "<unknown binary>");
    else
        sp_hang_add_plain(b, sp_hang_span(sp_base_name(dso)));
    sp_buf_ch(b, ')');
    if (sample_frame_member(w, f, "load_address", &s)) {
        sp_buf_puts(b, "  load address ");
        sp_hang_add_plain(b, s);
        sp_buf_puts(b, " + 0x");
        sp_buf_add(b, t, sp_hex_text(f->ip, t));
    } else if (sample_frame_member(w, f, "offsets", &s)) {
        sp_buf_puts(b, " + ");
        sp_hang_add_plain(b, s);
    } else if (f->flags & SP_FRAME_SYMOFF) {
        sp_buf_puts(b, " + ");
        sp_buf_u64(b, f->symoff);
    }
}

static uint32_t sample_frame_text(struct sp_hang_writer *w, uint32_t frame)
{
    const struct sp_frame *f = &w->p->frames.v[frame];
    struct sp_str name = sp_pstr(w->p, w->p->functions.v[f->function].name);
    struct sp_span more = sp_hang_span(sp_pstr(w->p, f->extra_json)), s;
    struct sp_buf b;
    int64_t one;
    if (w->frame_text[frame])
        return w->frame_text[frame];
    sp_buf_init(&b, 0);
    bool bare = sp_json_find(more, "x_sample", &s) && sp_json_find_i64(s, "bare", &one);
    bool address = sp_json_find2(more, "x_sample", "address", &s);
    if (f->flags & SP_FRAME_UNRESOLVED && !(bare && !address))
        sp_buf_puts(&b, "???");
    else
        sp_hang_add_plain(&b, name.n ? sp_hang_trim(sp_hang_span(name)) : (struct sp_span){"???", 3});
    if (!bare)
        sample_image_text(w, f, &b);
    if ((s = sp_hang_frame_address(w, f)).n) {
        sp_buf_puts(&b, "  [");
        sp_hang_add_plain(&b, s);
        sp_buf_ch(&b, ']');
    }
    if (f->srcline) {
        sp_buf_puts(&b, "  ");
        sp_hang_add_plain(&b, sp_hang_span(sp_pstr(w->p, f->srcline)));
    }
    uint32_t text = b.failed ? SP_STR_FAIL : sp_intern(&w->texts, b.data, b.len);
    sp_buf_free(&b);
    if (text != SP_STR_FAIL)
        w->frame_text[frame] = text;
    return text;
}

/* sample(1) prints no states. */
static uint32_t sample_no_state(struct sp_hang_writer *w, uint32_t context)
{
    (void)w, (void)context;
    return SP_STR_NONE;
}

/* ---- trees ---- */

struct sample_level {
    char bar;       /* drawn below a row that has a sibling to come */
    unsigned turns; /* levels from the root on that have several rows */
};

/*
 * Rows below a thread. Bars are `+ ! : |` in turn, one for each level that has several rows, and end with the
 * last of these. `more`: another thread follows.
 */
static bool sample_put_rows(struct sp_hang_writer *w, struct sp_hang_group *g, bool more, bool several)
{
    static const char bars[] = "+!:|";
    SP_VEC(struct sample_level) levels = {0};
    bool ok = sp_hang_render(&w->render, w->stacks.v + g->first, g->n);
    struct sample_level top = {more ? '+' : ' ', several};
    SP_VEC(unsigned char) last = {0}; /* by row: it is the last one of its siblings */
    ok = ok && sp_vec_reserve(&last, w->render.lines.n + 1);
    SP_VEC(unsigned char) seen = {0}; /* by depth: a later sibling was seen, from the end */
    for (size_t i = w->render.lines.n; ok && i-- > 0;) {
        uint32_t depth = w->render.lines.v[i].depth;
        ok = sp_vec_reserve(&seen, depth + 2);
        while (ok && seen.n <= depth)
            seen.v[seen.n++] = 0;
        if (!ok)
            break;
        last.v[i] = !seen.v[depth];
        seen.v[depth] = 1;
        seen.n = depth + 1;
    }
    ok = ok && sp_vec_push(&levels, top);
    for (size_t i = 0; ok && !w->out->status && i < w->render.lines.n; i++) {
        const struct sp_hang_line *l = &w->render.lines.v[i];
        bool first = levels.n <= l->depth + 1;
        bool turn = !last.v[i] || !first;
        levels.n = l->depth + 1;
        struct sp_span text = sp_hang_span(sp_str_at(&w->texts, l->text));
        sp_puts(w->out, "    ");
        for (size_t k = 0; k < levels.n; k++) {
            sp_write(w->out, &levels.v[k].bar, 1);
            sp_puts(w->out, " ");
        }
        sp_printf(w->out, "%lld ", (long long)l->count);
        sp_write(w->out, text.p, text.n);
        sp_puts(w->out, "\n");
        unsigned turns = levels.v[l->depth].turns;
        struct sample_level next = {last.v[i] ? ' ' : bars[turns % 4], turns + turn};
        ok = sp_vec_push(&levels, next);
    }
    sp_vec_free(&levels);
    sp_vec_free(&last);
    sp_vec_free(&seen);
    g->written = true;
    return ok;
}

/* As reports of sample have it, of spindump's too; of what other texts say of queues there is no place. */
static void sample_put_queue(struct sp_hang_writer *w, struct sp_span queue)
{
    struct sp_span label, number;
    if (!queue.p)
        return;
    if (sp_hang_starts(queue, "\"") && sp_hang_queue_of(queue, &label, &number)) {
        sp_printf(w->out, "   DispatchQueue_%.*s: ", (int)number.n, number.p);
        sp_hang_put(w, label);
    } else if (sp_hang_starts(queue, "DispatchQueue_")) {
        sp_puts(w->out, "   ");
        sp_hang_put(w, queue);
    }
}

/* ---- threads and processes ---- */

static bool sample_put_thread(struct sp_hang_writer *w, struct sp_span id, struct sp_hang_thread t,
                              struct sp_hang_group *g, bool more, bool several)
{
    int64_t samples;
    if (!sp_json_find_i64(t.members, "samples", &samples))
        samples = sp_hang_sum_of(w, g);
    sp_printf(w->out, "    %lld Thread_", (long long)samples);
    sp_hang_put(w, id);
    struct sp_span s = sp_hang_thread_text(w, &t, "name");
    if (s.p) {
        sp_puts(w->out, ": ");
        sp_hang_put(w, s);
    }
    sample_put_queue(w, sp_hang_thread_text(w, &t, "queue"));
    sp_puts(w->out, "\n");
    return !g || sample_put_rows(w, g, more, several);
}

static struct sp_span sample_number(int64_t v, char t[static 24])
{
    if (v < 0)
        return (struct sp_span){"?", 1};
    return (struct sp_span){t, sp_u64_text((uint64_t)v, t)};
}

/* What is written as one thread: an item of the record's list, or stacks that no item is of. */
struct sample_part {
    struct sp_span item; /* n 0: none */
    int64_t tid;
    struct sp_hang_group *group;
};

static bool sample_put_part(struct sp_hang_writer *w, const struct sample_part *x, bool more, bool several)
{
    char t[24];
    struct sp_hang_thread none = {NULL, {NULL, 0}};
    if (!x->item.n || *x->item.p != '{')
        return sample_put_thread(w, sample_number(x->tid, t),
                                 x->tid < 0 ? none : sp_hang_thread_of(w, x->tid), x->group, more, several);
    struct sp_buf id;
    sp_buf_init(&id, 0);
    struct sp_span s = sp_hang_decoded_member(w, x->item, "id");
    sp_buf_add(&id, s.n ? s.p : "?", s.n ? s.n : 1);
    bool ok =
        !id.failed && sample_put_thread(w, (struct sp_span){id.data, id.len},
                                        (struct sp_hang_thread){NULL, x->item}, x->group, more, several);
    sp_buf_free(&id);
    return ok;
}

static bool sample_put_threads(struct sp_hang_writer *w, struct sp_span list, struct sp_hang_group *first,
                               uint32_t owner)
{
    const struct sp_hang_group *end = w->groups.v + w->groups.n;
    SP_VEC(struct sample_part) parts = {0};
    bool ok = true;
    for (struct sp_span item; ok && sp_json_next(&list, &item);) {
        struct sp_hang_listed who = sp_hang_listed_of(w, item, "id");
        struct sample_part x = {.item = item, .tid = who.tid};
        x.group = sp_hang_group_of(w, first, who, owner);
        if (x.group)
            x.group->written = true; /* as it will be */
        ok = sp_vec_push(&parts, x);
    }
    for (struct sp_hang_group *g = first;
         ok && g && g < end && g->pid == first->pid && g->comm == first->comm; g++) {
        struct sample_part x = {.tid = g->tid, .group = g};
        if (sp_hang_unwritten(g, owner))
            ok = sp_vec_push(&parts, x);
    }
    for (size_t i = 0; ok && i < parts.n; i++)
        ok = sample_put_part(w, &parts.v[i], i + 1 < parts.n, parts.n > 1);
    sp_vec_free(&parts);
    return ok;
}

static bool sample_put_tail(struct sp_hang_writer *w, struct sp_span tail, const struct sp_process_fact *x)
{
    bool placed = false;
    for (struct sp_span item; sp_json_next(&tail, &item);) {
        struct sp_span s = sp_hang_decoded(w, item);
        bool here = !placed && sp_hang_starts(s, "Binary Images:");
        sp_hang_put(w, s);
        sp_puts(w->out, "\n");
        if (here && !sp_hang_put_images(w, x, ""))
            return false;
        placed = placed || here;
    }
    return placed || sp_hang_put_images(w, x, "Binary Images:\n");
}

static bool sample_put_process(struct sp_hang_writer *w, const struct sp_process_fact *x,
                               struct sp_span members, uint32_t owner)
{
    struct sp_span fields, threads = {NULL, 0}, tail = {NULL, 0};
    sp_hang_put(w, sp_hang_decoded_member(w, members, "title"));
    sp_puts(w->out, "\n");
    if (sp_json_find(members, "fields", &fields))
        sp_hang_put_fields(w, fields, 17);
    sp_json_find(members, "threads", &threads);
    sp_json_find(members, "tail", &tail);
    sp_puts(w->out, "\nCall graph:\n");
    bool ok = sample_put_threads(w, threads, sp_hang_first_group(w, x), owner);
    sp_puts(w->out, "\n");
    return ok && sample_put_tail(w, tail, x);
}

static void sample_put_interval(struct sp_hang_writer *w)
{
    struct sp_str hz = sp_pstr(w->p, w->p->events.v[w->event].frequency_hz);
    double rate = hz.n ? sp_text_double(hz.p, hz.n) : 0;
    if (rate > 0 && rate <= 1000)
        sp_printf(w->out, "%lld millisecond%s\n", (long long)(1000 / rate + 0.5), rate > 999 ? "" : "s");
    else
        sp_puts(w->out, "1 millisecond\n");
}

/* A process of another origin; x NULL: the table has none of it. */
static bool sample_put_foreign(struct sp_hang_writer *w, const struct sp_process_fact *x,
                               struct sp_hang_group *g)
{
    sp_puts(w->out, "Analysis of sampling ");
    sp_hang_put(w, sp_hang_span(sp_pstr(w->p, g->comm)));
    if (g->pid != SP_ABSENT)
        sp_printf(w->out, " (pid %lld) every ", (long long)g->pid);
    else
        sp_puts(w->out, " (pid ?) every ");
    sample_put_interval(w);
    if (x)
        sp_hang_key_line(w, "Path", sp_hang_span(sp_pstr(w->p, x->path)));
    sp_hang_key_line(w, "OS Version", sp_hang_span(sp_pstr(w->p, w->p->header.host.os)));
    sp_hang_key_line(w, "Code Type", sp_hang_span(sp_pstr(w->p, w->p->header.host.arch)));
    sp_puts(w->out, "\nCall graph:\n");
    bool ok = sample_put_threads(w, (struct sp_span){0}, g, 0);
    sp_puts(w->out, "\n");
    ok = ok && (!x || sp_hang_put_images(w, x, "Binary Images:\n"));
    sp_puts(w->out, x && x->images ? "\n" : "");
    return ok;
}

static bool sample_put_report(struct sp_hang_writer *w)
{
    const struct sp_hang_group *end = w->groups.v + w->groups.n;
    if (!sp_hang_settle_owners(w, "id"))
        return false;
    for (uint32_t i = 0; i < w->p->processes.n; i++) {
        const struct sp_process_fact *x = &w->p->processes.v[i];
        struct sp_span members;
        bool ours = sp_hang_process_members(w, i, &members);
        struct sp_hang_group *g = ours ? NULL : sp_hang_first_group(w, x);
        if (ours ? !sample_put_process(w, x, members, i + 1)
                 : g && sp_hang_unwritten(g, 0) && !sample_put_foreign(w, x, g))
            return false;
    }
    for (struct sp_hang_group *g = w->groups.v; g < end; g++)
        if (!g->written && !sample_put_foreign(w, NULL, g))
            return false;
    return true;
}

spaa_status sp_sample_report_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                                   struct sp_output *out)
{
    struct sp_hang_writer w = {.p = p,
                               .d = d,
                               .out = out,
                               .x_key = "x_sample",
                               .text_of = sample_frame_text,
                               .state_of = sample_no_state,
                               .no_states = true};
    return sp_hang_write(&w, "sample", opts, sample_put_report);
}
