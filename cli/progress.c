#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_MS = 500, NEXT_MS = 100, BAR = 24, NAME = 40 };

static double progress_seconds(const struct timespec *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) / 1e9;
}

static void draw_bar(char bar[BAR + 1], uint64_t done, uint64_t whole)
{
    size_t full = (size_t)(done * BAR / whole);
    for (size_t i = 0; i < BAR; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR] = '\0';
}

static void progress_show(struct progress *p, const struct spaa_progress *now)
{
    char bar[BAR + 1], *name = NULL;
    if (spaa_safe_text(now->name, NAME, &name) != SPAA_OK)
        return;
    if (strcmp(now->what, "merging") == 0 && now->whole) {
        draw_bar(bar, now->done, now->whole);
        fprintf(stderr, "\r\033[Kspaa: %llu of %llu files [%s] %3llu%%", (unsigned long long)now->done,
                (unsigned long long)now->whole, bar, (unsigned long long)(now->done * 100 / now->whole));
    } else if (now->whole) {
        draw_bar(bar, now->done, now->whole);
        fprintf(stderr, "\r\033[Kspaa: %s %s [%s] %3llu%%, %.0f MB/s", now->what, name, bar,
                (unsigned long long)(now->done * 100 / now->whole),
                (double)now->done / 1e6 / progress_seconds(&p->began));
    } else {
        fprintf(stderr, "\r\033[Kspaa: %s %s, %.1f s", now->what, name, progress_seconds(&p->began));
    }
    fflush(stderr);
    spaa_free(name);
    p->shown = true;
}

/* Another piece of work begins another half second; what comes behind reading shows nothing. */
static int progress_hear(void *arg, const struct spaa_progress *now)
{
    struct progress *p = arg;
    if (strcmp(p->what, now->what) != 0 || strncmp(p->name, now->name, sizeof p->name - 1) != 0) {
        snprintf(p->what, sizeof p->what, "%s", now->what);
        snprintf(p->name, sizeof p->name, "%s", now->name);
        clock_gettime(CLOCK_MONOTONIC, &p->began);
        progress_clear(p);
    } else if ((strcmp(now->what, "reading") == 0 || strcmp(now->what, "merging") == 0) &&
               progress_seconds(&p->began) * 1000 >= FIRST_MS) {
        progress_show(p, now);
    }
    return 0;
}

bool progress_begin(const struct cli *c, struct progress *p, struct spaa_watch *out)
{
    *p = (struct progress){.what = "reading"};
    *out = (struct spaa_watch){.size = sizeof *out, .progress = progress_hear, .arg = p, .every_ms = NEXT_MS};
    clock_gettime(CLOCK_MONOTONIC, &p->began);
    return isatty(2) && !cli_option(c, "quiet");
}

void progress_clear(struct progress *p)
{
    if (p && p->shown)
        fputs("\r\033[K", stderr);
    if (p)
        p->shown = false;
}
