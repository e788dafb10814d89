/* What is done with a profile before its writer sees it, and how much that may write. */
#include "formats/open.h"

#include "base/watch.h"
#include "formats/original.h"
#include "io/bounded.h"
#include "model/callees.h"
#include "model/extent.h"

#include <string.h>

/* The original, where the profile has one of this format and nothing else than all of it is asked for. */
static spaa_status write_original(struct sp_profile *p, const struct spaa_format *f,
                                  const struct sp_write_opts *opts, struct sp_diags *d, struct sp_output *out,
                                  bool *done)
{
    bool part = opts->event != SP_NONE || opts->metric != SP_NONE || opts->nown;
    *done = false;
    if (!p->originals || part || opts->original == SP_ORIGINAL_UNUSED || f->caps & SP_CAN_STATE_OWN)
        return SPAA_OK;
    spaa_status st = sp_callees_join(p);
    return st ? st : sp_original_give(p, f, opts, d, out, done);
}

static spaa_status too_long(struct sp_diags *d, uint64_t bytes)
{
    sp_emit_hint(d, SP_E036, SP_AT_NOTHING,
                 "convert, merge and symbolize write it with --expand; SPAA says each stack once",
                 "the text would be more than %llu MB, out of all proportion to what the profile holds",
                 (unsigned long long)(bytes / 1000000));
    return SPAA_ERR_INPUT;
}

/* One stack may be too long, or so long that no line, nor the buffer of one, has room for it. */
static spaa_status check_stacks(const struct sp_spelled *stacks, uint64_t most,
                                const struct sp_write_opts *opts, struct sp_diags *d)
{
    if (stacks->longest > most && !opts->expand)
        return too_long(d, stacks->longest);
    if (stacks->longest <= SP_BUF_MAX / 2)
        return SPAA_OK;
    sp_emit_hint(d, SP_E007, SP_AT_NOTHING, "SPAA says each name once",
                 "a stack whose names have %llu MB together",
                 (unsigned long long)(stacks->longest / 1000000));
    return SPAA_ERR_LIMIT;
}

struct write_call {
    struct sp_profile *p;
    const struct spaa_format *f;
    const struct sp_write_opts *opts;
    struct sp_diags *d;
};

static spaa_status write_call(void *arg, struct sp_output *out)
{
    const struct write_call *c = arg;
    return c->f->write(c->p, c->opts, c->d, out);
}

static spaa_status write_format(struct write_call *c, struct sp_output *out)
{
    uint64_t bytes;
    if (c->f->caps & SP_CAN_STATE_OWN) /* SPAA, which says each stack once, and each name once for a row */
        return !c->opts->expand && sp_profile_repeats(c->p, &bytes) ? too_long(c->d, bytes)
                                                                    : write_call(c, out);
    uint64_t most = sp_profile_most(c->p, NULL);
    struct sp_spelled stacks = sp_profile_spelled(c->p);
    spaa_status st = c->f->caps & SP_SPELLS_STACKS ? check_stacks(&stacks, most, c->opts, c->d) : SPAA_OK;
    if (st)
        return st;
    if (c->opts->expand)
        return write_call(c, out);
    struct sp_bounds bounds = {.most = most, .aside = stacks.all > most / 4};
    st = sp_write_bounded(out, &bounds, c->d, write_call, c);
    return bounds.beyond ? too_long(c->d, most) : st;
}

/*
 * Stacks are written as they were recorded: what stands beside them, that a caller is missing or a chain is
 * broken, is in a SPAA file alone. Views count it, so that totals differ.
 */
static void say_inferred(const struct sp_profile *p, const struct spaa_format *f,
                         const struct sp_write_opts *opts, struct sp_diags *d)
{
    unsigned long long n = 0;
    for (size_t i = 0; i < p->stacks.n && p->edge_lists.n; i++) {
        const struct sp_stack *s = &p->stacks.v[i];
        n += s->edges && (opts->event == SP_NONE || p->contexts.v[s->context].event == opts->event);
    }
    if (n && !(f->caps & SP_OF_BRANCHES) && strcmp(f->name, "spaa") != 0)
        sp_emit(d, SP_I324, SP_AT_NOTHING, "%llu stack%s", n, n == 1 ? "" : "s");
}

spaa_status sp_write_profile(struct sp_profile *p, const struct spaa_format *f,
                             const struct sp_write_opts *opts, struct sp_diags *d, struct sp_output *out)
{
    bool split = p->rests.list.n, done = false; /* what was assumed was said then */
    spaa_status st = sp_progress(d, "writing", "", "bytes", 0, 0);
    if (!st)
        st = write_original(p, f, opts, d, out, &done);
    if (st || done)
        return st;
    if (!sp_named_format(f->name, SP_CAN_WRITE, d))
        return SPAA_ERR_UNSUPPORTED;
    if (p->source_pieces.n && strcmp(f->name, "spaa") != 0)
        sp_emit(d, SP_I321, SP_AT_NOTHING, "source text: SPAA alone has a place for it");
    st = f->caps & SP_CAN_STATE_OWN ? sp_callees_join(p) : sp_callees_split(p, split ? NULL : d);
    if (!st)
        say_inferred(p, f, opts, d);
    return st ? st : write_format(&(struct write_call){p, f, opts, d}, out);
}
