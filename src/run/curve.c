#include "run/curve.h"

#include "ask/said_names.h"
#include "ask/timeline_memory.h"
#include "render/curve.h"

struct curve_parts {
    struct sp_asked x;
    struct sp_timeline_memory m;
    struct sp_level_owners owners;
    struct sp_said_names said;
    struct sp_buf texts[SP_CURVE_OWNERS];
    const char *names[SP_CURVE_OWNERS];
};

/* Names that tell the owners apart. */
static bool curve_names(struct curve_parts *c)
{
    bool ok = true;
    for (size_t i = 0; ok && i < c->owners.n; i++)
        ok = sp_said_add(&c->said, c->owners.functions[i]);
    ok = ok && !sp_said_shorten(&c->said, &c->x);
    for (size_t i = 0; ok && i < c->owners.n; i++) {
        sp_said_text(&c->texts[i], &c->said, &c->x, c->owners.functions[i]);
        c->names[i] = sp_buf_cstr(&c->texts[i]);
        ok = !c->texts[i].failed;
    }
    return ok;
}

static void curve_subtitle(const struct sp_run *run, struct curve_parts *c, struct sp_buf *b)
{
    sp_buf_puts(b, run->files.n ? run->files.v[0] : "");
    sp_buf_puts(b, " · ");
    sp_timeline_memory_words(&c->m, b);
    if (c->x.s.filters.len) {
        sp_buf_puts(b, " · ");
        sp_buf_add(b, c->x.s.filters.data, c->x.s.filters.len);
    }
}

static spaa_status curve_draw(struct sp_run *run, struct curve_parts *c)
{
    struct sp_buf words;
    struct sp_output *out = NULL;
    const struct sp_profile *p = c->x.s.profile;
    sp_buf_init(&words, 0);
    curve_subtitle(run, c, &words);
    const struct sp_curve picture = {
        .l = &c->m.l,
        .owners = &c->owners,
        .names = c->names,
        .subtitle = sp_buf_cstr(&words),
        .bytes = sp_str_is(sp_pstr(p, p->metrics.v[c->x.s.metric].name), "live_bytes")};
    spaa_status st = words.failed ? sp_nomem(run->diags) : sp_run_output_open(run, run->v.output, &out);
    if (!st)
        st = sp_curve_svg(&picture, run->diags, out);
    if (!st)
        st = sp_output_commit(out);
    sp_run_output_close(run, out);
    sp_buf_free(&words);
    return st;
}

int sp_run_draw_curve(struct sp_run *run, struct sp_ask *q)
{
    struct curve_parts c = {0};
    struct sp_answer scratch;
    sp_answer_init(&scratch, q->question->schema, run->diags);
    for (size_t i = 0; i < SP_CURVE_OWNERS; i++)
        sp_buf_init(&c.texts[i], 0);
    spaa_status st = sp_timeline_memory_open(q, &scratch, &c.x, &c.m);
    if (!st)
        st = sp_level_owners_of(&c.x.s, &c.m.l, SP_CURVE_OWNERS, run->diags, &c.owners);
    if (!st && !curve_names(&c))
        st = sp_nomem(run->diags);
    if (!st)
        st = curve_draw(run, &c);
    for (size_t i = 0; i < SP_CURVE_OWNERS; i++)
        sp_buf_free(&c.texts[i]);
    sp_said_free(&c.said);
    sp_level_owners_free(&c.owners);
    if (c.m.on)
        sp_levels_free(&c.m.l);
    sp_asked_free(&c.x);
    sp_answer_free(&scratch);
    return sp_run_exit(run, st);
}
