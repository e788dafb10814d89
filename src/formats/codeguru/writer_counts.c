/* What the stacks of a node sum up to, by counter, and its member `counts`. */
#include "formats/codeguru/writer.h"

#include "base/num.h"

#include <stdlib.h>

/* The sum of two numbers as text, exactly where it fits. */
static void codeguru_add_texts(struct sp_cg_sums *s, struct sp_cg_sum *c, struct sp_str text)
{
    char out[64];
    size_t n = sp_scaled_sum(c->text.p, c->text.n, text.p, text.n, out);
    if (!n) {
        sp_emit(s->w->d, SP_L304, SP_AT_NOTHING, "a sum of counts was rounded");
        n = sp_double_text(sp_text_double(c->text.p, c->text.n) + sp_text_double(text.p, text.n), out);
    }
    char *kept = sp_arena_dup(&s->w->text, out, n);
    s->nomem = s->nomem || !kept;
    c->text = (struct sp_str){kept ? kept : "", kept ? (uint32_t)n : 0};
}

static struct sp_str codeguru_number(struct sp_cg_sums *s, int64_t v)
{
    char out[64];
    size_t n = sp_scaled_text(v, 0, out);
    char *kept = sp_arena_dup(&s->w->text, out, n);
    s->nomem = s->nomem || !kept;
    return (struct sp_str){kept ? kept : "", kept ? (uint32_t)n : 0};
}

void sp_cg_sums_add(struct sp_cg_sums *s, uint32_t counter, int64_t v, struct sp_str text)
{
    for (size_t i = 0; i < s->v.n; i++) {
        struct sp_cg_sum *c = &s->v.v[i];
        int64_t sum;
        if (c->counter != counter)
            continue;
        if (c->v != SP_DECIMAL && v != SP_DECIMAL && !__builtin_add_overflow(c->v, v, &sum) &&
            sum > SP_DECIMAL) {
            c->v = sum;
            return;
        }
        if (c->v != SP_DECIMAL)
            c->text = codeguru_number(s, c->v);
        codeguru_add_texts(s, c, v == SP_DECIMAL ? text : codeguru_number(s, v));
        c->v = SP_DECIMAL;
        return;
    }
    s->nomem = !sp_vec_push(&s->v, ((struct sp_cg_sum){counter, v, text})) || s->nomem;
}

static int codeguru_by_rank(const void *a, const void *b, void *arg)
{
    const struct sp_cg_writer *w = arg;
    uint32_t x = w->counters.v[((const struct sp_cg_sum *)a)->counter].rank,
             y = w->counters.v[((const struct sp_cg_sum *)b)->counter].rank;
    return (x > y) - (x < y);
}

static void codeguru_put_sum(struct sp_cg_sums *s, const struct sp_cg_sum *c)
{
    struct sp_str name = s->w->counters.v[c->counter].text;
    sp_write(s->w->out, name.p, name.n);
    if (c->v == SP_DECIMAL) {
        sp_write(s->w->out, c->text.p, c->text.n);
        return;
    }
    char *room = sp_output_room(s->w->out, 64);
    if (c->v >= 0)
        sp_output_took(s->w->out, sp_u64_text((uint64_t)c->v, room));
    else
        sp_output_took(s->w->out, sp_scaled_text(c->v, 0, room));
}

/* Kept counts (zeros, and what is no number) between the others; a counter that has both keeps the sum. */
static void codeguru_put_with_kept(struct sp_cg_sums *s, struct sp_span kept)
{
    struct sp_json j;
    struct sp_span key, raw;
    size_t i = 0;
    bool any = false;
    sp_json_init(&j, kept.p, kept.n);
    bool ok = sp_json_object(&j);
    sp_write(s->w->out, "{", 1);
    while (ok && sp_json_key(&j, &key)) {
        sp_buf_clear(&s->w->b);
        sp_json_string(&s->w->b, key.p, key.n);
        s->nomem = s->nomem || s->w->b.failed;
        struct sp_str name = {key.p, (uint32_t)key.n};
        int c = -1;
        for (; i < s->v.n; i++) {
            c = sp_str_cmp(sp_pstr(s->w->p, s->w->counters.v[s->v.v[i].counter].name), name);
            if (c >= 0)
                break;
            if (any)
                sp_write(s->w->out, ",", 1);
            codeguru_put_sum(s, &s->v.v[i]);
            any = true;
        }
        if (!sp_json_skip(&j, &raw))
            break;
        if (i < s->v.n && c == 0)
            continue;
        sp_write(s->w->out, any ? "," : "", any);
        sp_write(s->w->out, s->w->b.data, s->w->b.len);
        sp_write(s->w->out, ":", 1);
        sp_write(s->w->out, raw.p, raw.n);
        any = true;
    }
    for (; i < s->v.n; i++) {
        sp_write(s->w->out, any ? "," : "", any);
        codeguru_put_sum(s, &s->v.v[i]);
        any = true;
    }
    s->nomem = s->nomem || j.scratch.failed;
    sp_json_free(&j);
    sp_write(s->w->out, "}", 1);
}

void sp_cg_sums_put(struct sp_cg_sums *s, struct sp_span kept)
{
    if (s->v.n > 1)
        qsort_r(s->v.v, s->v.n, sizeof *s->v.v, codeguru_by_rank, s->w);
    if (kept.n && (kept.p[0] == '{' || !s->v.n)) {
        if (kept.p[0] == '{')
            codeguru_put_with_kept(s, kept);
        else
            sp_write(s->w->out, kept.p, kept.n);
    } else {
        for (size_t i = 0; i < s->v.n; i++) {
            sp_write(s->w->out, i ? "," : "{", 1);
            codeguru_put_sum(s, &s->v.v[i]);
        }
        sp_write(s->w->out, "}", 1);
    }
    s->v.n = 0;
}
