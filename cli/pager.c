/*
 * `SPAA_PAGER`, else `PAGER`, else less, with LESS=FRX where that is not set: it ends at once when all fits
 * the screen, takes colours, and leaves what it showed. Empty, or `cat`: none. What does not begin with the
 * name of a program that is there is not started, so that no answer goes where nobody reads it.
 */
#include "pager.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *pager_command(void)
{
    const char *own = getenv("SPAA_PAGER"), *any = getenv("PAGER");
    return own ? own : any ? any : "less";
}

bool cli_has_program(const char *command)
{
    char path[PATH_MAX];
    size_t n = strcspn(command, " \t");
    if (memchr(command, '/', n)) {
        snprintf(path, sizeof path, "%.*s", (int)n, command);
        return access(path, X_OK) == 0;
    }
    for (const char *at = getenv("PATH"); at && *at;) {
        size_t length = strcspn(at, ":");
        int took = snprintf(path, sizeof path, "%.*s/%.*s", (int)length, at, (int)n, command);
        if (took > 0 && (size_t)took < sizeof path && access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

void pager_want(struct pager *p)
{
    const char *command = pager_command(), *term = getenv("TERM");
    *p = (struct pager){.wanted = *command && strcmp(command, "cat") != 0 && isatty(0) && isatty(1) && term &&
                                  *term && strcmp(term, "dumb") != 0 && cli_has_program(command)};
}

static _Noreturn void pager_run(const int ends[2])
{
    dup2(ends[0], 0);
    close(ends[0]);
    close(ends[1]);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    execl("/bin/sh", "sh", "-c", pager_command(), (char *)NULL);
    _exit(127);
}

void pager_begin(struct pager *p)
{
    int ends[2];
    if (!p->wanted || p->pid)
        return;
    p->out = dup(1);
    if (p->out < 0 || pipe(ends)) {
        if (p->out >= 0)
            close(p->out);
        return;
    }
    setenv("LESS", "FRX", 0);
    pid_t pid = fork();
    if (!pid) {
        close(p->out);
        pager_run(ends);
    }
    close(ends[0]);
    if (pid > 0) {
        p->pid = pid;
        dup2(ends[1], 1);
        signal(SIGINT, SIG_IGN); /* it is the pager's, which is not to be left alone with the terminal */
        signal(SIGQUIT, SIG_IGN);
    } else {
        close(p->out);
    }
    close(ends[1]);
}

void pager_end(struct pager *p)
{
    int status;
    if (!p->pid)
        return;
    dup2(p->out, 1); /* the pipe's only end for writing goes */
    close(p->out);
    while (waitpid((pid_t)p->pid, &status, 0) < 0 && errno == EINTR) {
    }
    p->pid = 0;
}
