/*
 * Output files of the commands, and what becomes of a half-written one when a signal ends the program.
 *
 * The library writes beside the final name and knows nothing of signals; this is the program's business.
 * There is one output file at a time. The handler may run at any moment: it looks at a flag and a name that
 * was copied while the signals were blocked, and calls unlink and raise only. After the output was renamed or
 * discarded, before the flag is down, the name belongs to nobody, and unlink fails.
 */
#include "output.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { SIGNALS = sizeof signals / sizeof *signals };

static volatile sig_atomic_t half_written;
static char half_path[PATH_MAX];

/* The disposition is the default again (SA_RESETHAND), and takes effect when the handler returns. */
static void remove_half(int signal)
{
    if (half_written)
        unlink(half_path);
    raise(signal);
}

void cli_output_signals(void)
{
    struct sigaction on = {.sa_handler = remove_half, .sa_flags = (int)SA_RESETHAND}, was;
    sigfillset(&on.sa_mask);
    for (int i = 0; i < SIGNALS; i++) /* who ignores one (nohup) means it */
        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            sigaction(signals[i], &on, NULL);
    signal(SIGPIPE, SIG_IGN); /* writing says so: a pipe that was closed, a file that may not grow further */
    signal(SIGXFSZ, SIG_IGN);
}

spaa_status cli_output_open(struct cli *c, const char *path, struct sp_output **out)
{
    sigset_t held, before;
    sigemptyset(&held);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&held, signals[i]);
    sigprocmask(SIG_BLOCK, &held, &before);
    spaa_status st = sp_output_open(path, &c->diags, out);
    const char *name = st ? NULL : sp_output_temporary(*out);
    if (name && strlen(name) < sizeof half_path) {
        memcpy(half_path, name, strlen(name) + 1);
        half_written = 1;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return st;
}

void cli_output_close(struct sp_output *out)
{
    sp_output_close(out);
    half_written = 0;
}
