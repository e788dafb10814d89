#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FIRST_MS = 500, NEXT_MS = 100, BAR = 24, NAME = 40, LEAST = 8 };

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

/* What stands behind the name, or without a bar where there is no room for one. */
static void progress_tail(const struct progress *p, const struct spaa_progress *now, bool with_bar, char *out,
                          size_t size)
{
    char bar[BAR + 1];
    double seconds = progress_seconds(&p->began);
    if (!now->whole) {
        snprintf(out, size, ", %.1f s", seconds);
        return;
    }
    char speed[32] = "";
    draw_bar(bar, now->done, now->whole);
    if (strcmp(now->what, "merging") != 0)
        snprintf(speed, sizeof speed, ", %.0f MB/s", (double)now->done / 1e6 / seconds);
    snprintf(out, size, "%s%s%s %3llu%%%s", with_bar ? " [" : "", with_bar ? bar : "", with_bar ? "]" : "",
             (unsigned long long)(now->done * 100 / now->whole), speed);
}

/* One line of the terminal: what does not fit is cut, for of a line that wraps only the end could be taken
 * away again. */
static void progress_show(struct progress *p, const struct spaa_progress *now)
{
    char head[64], tail[120], *name = NULL, *line = NULL, *whole;
    struct winsize w;
    unsigned columns = ioctl(2, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col - 1u : 79, fixed;
    bool merging = strcmp(now->what, "merging") == 0 && now->whole;
    if (merging)
        snprintf(head, sizeof head, "spaa: %llu of %llu files", (unsigned long long)now->done,
                 (unsigned long long)now->whole);
    else
        snprintf(head, sizeof head, "spaa: %s ", now->what);
    progress_tail(p, now, true, tail, sizeof tail);
    if (strlen(head) + strlen(tail) + (merging ? 0 : LEAST) > columns)
        progress_tail(p, now, false, tail, sizeof tail);
    fixed = (unsigned)(strlen(head) + strlen(tail));
    unsigned room = columns > fixed ? columns - fixed : 0;
    bool named = !merging && room > 1;
    if (named && spaa_safe_text(now->name, room < NAME ? room : NAME, &name) != SPAA_OK)
        return;
    if ((whole = malloc(strlen(head) + strlen(tail) + (name ? strlen(name) : 0) + 1))) {
        sprintf(whole, "%s%s%s", head, name ? name : "", tail);
        if (spaa_safe_text(whole, columns, &line) == SPAA_OK)
            fprintf(stderr, "\r\033[K%s", line);
        fflush(stderr);
        p->shown = true;
    }
    free(whole);
    spaa_free(line);
    spaa_free(name);
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
