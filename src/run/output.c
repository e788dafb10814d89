/*
 * Output files of commands. Who runs one is told of a file that is half-written, so that it can be removed
 * when the program ends before its time: at a moment at which no signal can come between the file and the
 * telling. What is a profile is written as it is, but not to a terminal where that would obey it.
 */
#include "run/run.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* Devices and pipes are written directly: there is no file to tell of, and opening one may wait for a reader.
 */
static bool is_written_beside(const char *path)
{
    struct stat st;
    return stat(path, &st) != 0 || S_ISREG(st.st_mode);
}

spaa_status sp_run_output_open(struct sp_run *run, const char *path, struct sp_output **out)
{
    sigset_t all, before;
    if (strcmp(path, "-") == 0) {
        bool screen = run->fd >= 0 && isatty(run->fd); /* before a pager stands in between */
        sp_run_stdout(run);
        if (run->out && screen)
            sp_output_for_screen(run->out);
        *out = run->out;
        return run->out ? SPAA_OK : run->status;
    }
    if (is_written_beside(path))
        sigfillset(&all);
    else
        sigemptyset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    spaa_status st = sp_output_open(path, run->diags, out);
    const char *name = st ? NULL : sp_output_temporary(*out);
    if (name && run->temporary)
        run->temporary(run->temporary_arg, name);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return st;
}

void sp_run_output_close(struct sp_run *run, struct sp_output *out)
{
    bool answer = out && out == run->out;
    if (answer && run->fd < 0) /* its bytes are still to be handed over */
        return;
    sp_output_close(out);
    if (answer)
        run->out = NULL;
    if (run->temporary)
        run->temporary(run->temporary_arg, NULL);
}
