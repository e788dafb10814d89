/*
 * What becomes of a half-written output file when a signal ends the program.
 *
 * The library writes beside the final name, says under which, and knows nothing of signals. There is one such
 * file at a time. The handler may run at any moment: it looks at a flag and a name that was copied while the
 * signals were blocked, and calls unlink and raise only. After the output was renamed or discarded, before
 * the flag is down, the name belongs to nobody, and unlink fails.
 */
#include "signals.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
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

void cli_signals(void)
{
    struct sigaction on = {.sa_handler = remove_half, .sa_flags = (int)SA_RESETHAND}, was;
    sigfillset(&on.sa_mask);
    for (int i = 0; i < SIGNALS; i++) /* who ignores one (nohup) means it */
        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            sigaction(signals[i], &on, NULL);
    signal(SIGPIPE, SIG_IGN); /* writing says so: a pipe that was closed, a file that may not grow further */
    signal(SIGXFSZ, SIG_IGN);
}

void cli_half_written(void *arg, const char *path)
{
    (void)arg;
    half_written = 0;
    if (path && strlen(path) < sizeof half_path) {
        memcpy(half_path, path, strlen(path) + 1);
        half_written = 1;
    }
}
