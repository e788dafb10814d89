/* How a command begins and ends: where its answer goes, what comes of a status, what is freed. */
#include "run/run.h"

#include <stdlib.h>

void sp_run_init(struct sp_run *run, struct sp_diags *d)
{
    *run = (struct sp_run){.diags = d, .fd = -1};
    sp_buf_init(&run->arguments, 0);
}

void sp_run_free(struct sp_run *run)
{
    sp_output_close(run->out);
    if (!run->lent)
        sp_profile_free(run->profile);
    for (size_t i = 0; i < run->copies.n; i++)
        sp_profile_free(run->copies.v[i]);
    sp_vec_free(&run->copies);
    sp_vec_free(&run->files);
    sp_vec_free(&run->own);
    sp_options_free(&run->v);
    sp_run_label_keys_free(&run->grouping);
    sp_run_label_keys_free(&run->needed);
    free(run->written);
    sp_buf_free(&run->arguments);
}

int sp_run_exit(struct sp_run *run, spaa_status st)
{
    run->status = run->status ? run->status : st;
    switch (st) {
    case SPAA_OK:
    case SPAA_ERR_CLOSED:
        return SP_EXIT_FINE;
    case SPAA_ERR_NOT_FOUND:
        return SP_EXIT_NO;
    case SPAA_ERR_USAGE:
        return SP_EXIT_USAGE;
    case SPAA_ERR_BUG:
        return SP_EXIT_BUG;
    default:
        return SP_EXIT_IO;
    }
}

int sp_run_usage(struct sp_run *run, const char *hint, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    spaa_status st = sp_usage_of(run->diags, hint, fmt, args);
    va_end(args);
    return sp_run_exit(run, st);
}

int sp_run_stdout(struct sp_run *run)
{
    if (run->out)
        return SP_EXIT_FINE;
    if (run->answering)
        run->answering(run->answering_arg);
    return sp_run_exit(run, run->fd < 0 ? sp_output_memory(run->diags, &run->out)
                                        : sp_output_fd(run->fd, "standard output", run->diags, &run->out));
}

spaa_status sp_run_status(const struct sp_run *run, int code)
{
    if (run->status || run->out || code == SP_EXIT_FINE)
        return run->status;
    return code == SP_EXIT_USAGE ? SPAA_ERR_USAGE : code == SP_EXIT_BUG ? SPAA_ERR_BUG : SPAA_ERR_IO;
}

int sp_run_finish(struct sp_run *run, int code)
{
    if (run->out) {
        spaa_status st = sp_output_commit(run->out);
        int end = sp_run_exit(run, st);
        code = code == SP_EXIT_FINE ? end : code;
    }
    if (code == SP_EXIT_FINE && run->v.strict && sp_diags_count(run->diags, SP_LOSS))
        code = SP_EXIT_IO;
    return code;
}
