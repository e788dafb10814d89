/* What is said while `spaa upload` sends: on a terminal, once it takes half a second. */
#include "upload.h"

#include "api/api.h"

#include <stdio.h>
#include <unistd.h>

static bool slow(struct upload *u)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ms = (now.tv_sec - u->began.tv_sec) * 1000 + (now.tv_nsec - u->began.tv_nsec) / 1000000;
    return isatty(2) && !u->run->v.quiet && ms > 500;
}

void upload_show_sent(uint64_t sent, uint64_t size, void *arg)
{
    struct upload *u = arg;
    if (!slow(u))
        return;
    fprintf(stderr, "\r\033[Kspaa: sending %.1f of %.1f MB", (double)sent / 1e6, (double)size / 1e6);
    u->shown = true;
}

void upload_clear_line(struct upload *u)
{
    if (u->shown)
        fputs("\r\033[K", stderr);
    u->shown = false;
}

/* Why there is a wait is said while there is one. */
void upload_say_waiting(unsigned ms, void *arg)
{
    struct upload *u = arg;
    (void)ms;
    upload_clear_line(u);
    struct spaa_diagnostics so_far = {.d = *u->run->diags}; /* lent */
    cli_say(u->cli, &so_far);
}
