/* What is done with a profile before its writer sees it, and how much that may write. */
#include "formats/open.h"

#include "base/watch.h"
#include "formats/original.h"
#include "io/temporary.h"
#include "model/callees.h"
#include "model/extent.h"

#include <string.h>
#include <unistd.h>

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

static spaa_status too_long(struct sp_diags *d, const char *how, uint64_t bytes)
{
    sp_emit_hint(d, SP_E036, SP_AT_NOTHING,
                 "convert, merge and symbolize write it with --expand; SPAA says each name and stack once",
                 "the text would be %s %llu MB, out of all proportion to what the profile holds", how,
                 (unsigned long long)(bytes / 1000000));
    return SPAA_ERR_INPUT;
}

/* A stack that no line, nor the buffer of one, has room for. */
static spaa_status check_stacks(const struct sp_extent *e, const struct sp_write_opts *opts,
                                struct sp_diags *d)
{
    if (e->longest > e->most && !opts->expand)
        return too_long(d, "more than", e->longest);
    if (e->longest <= SP_BUF_MAX / 2)
        return SPAA_OK;
    sp_emit_hint(d, SP_E007, SP_AT_NOTHING, "SPAA says each name once",
                 "a stack whose names have %llu MB together", (unsigned long long)(e->longest / 1000000));
    return SPAA_ERR_LIMIT;
}

static spaa_status write_at_most(struct sp_profile *p, const struct spaa_format *f,
                                 const struct sp_write_opts *opts, uint64_t most, struct sp_diags *d,
                                 struct sp_output *out)
{
    sp_output_at_most(out, most);
    spaa_status st = f->write(p, opts, d, out);
    bool within = sp_output_within(out);
    sp_output_at_most(out, UINT64_MAX);
    return within ? st : too_long(d, "more than", most);
}

static spaa_status copy_out(int fd, struct sp_diags *d, struct sp_output *out)
{
    char *room;
    ssize_t n;
    enum { PART = 64 << 10 };
    off_t at = 0;
    do {
        room = sp_output_room(out, PART);
        n = pread(fd, room, PART, at);
        sp_output_took(out, n > 0 ? (size_t)n : 0);
        at += n > 0 ? n : 0;
    } while (n > 0 && !out->status);
    return n < 0 ? sp_temporary_failed(d, "the output") : out->status;
}

/* What may turn out to be too long is seen whole before anything of it goes where it cannot be taken back. */
static spaa_status write_aside(struct sp_profile *p, const struct spaa_format *f,
                               const struct sp_write_opts *opts, uint64_t most, struct sp_diags *d,
                               struct sp_output *out)
{
    struct sp_output *aside = NULL;
    int fd = sp_temporary_file();
    if (fd < 0)
        return sp_temporary_failed(d, "the output");
    spaa_status st = sp_output_fd(fd, "temporary file", d, &aside);
    if (!st)
        st = write_at_most(p, f, opts, most, d, aside);
    if (!st)
        st = sp_output_commit(aside);
    if (!st)
        st = copy_out(fd, d, out);
    sp_output_close(aside);
    close(fd);
    return st;
}

static spaa_status write_format(struct sp_profile *p, const struct spaa_format *f,
                                const struct sp_write_opts *opts, struct sp_diags *d, struct sp_output *out)
{
    if (f->caps & SP_CAN_STATE_OWN) /* SPAA, which says each name and stack once */
        return f->write(p, opts, d, out);
    struct sp_extent e = sp_profile_extent(p);
    spaa_status st = f->caps & SP_SPELLS_STACKS ? check_stacks(&e, opts, d) : SPAA_OK;
    if (st)
        return st;
    if (opts->expand)
        return f->write(p, opts, d, out);
    bool risky = e.spelled > e.most / 4 && !sp_output_temporary(out);
    return (risky ? write_aside : write_at_most)(p, f, opts, e.most, d, out);
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
    return st ? st : write_format(p, f, opts, d, out);
}
