#include "progress.h"

#include "render/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 500, NEXT_MS = 100, BAR = 24 };

struct progress {
    const struct sp_input *in; /* NULL: files are counted */
    const size_t *done;
    size_t files;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool stop, shown;
    struct timespec began;
};

static double seconds_since(const struct timespec *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) / 1e9;
}

static void draw_bar(char bar[BAR + 1], uint64_t done, uint64_t size)
{
    size_t full = (size_t)(done * BAR / size);
    for (size_t i = 0; i < BAR; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR] = '\0';
}

static void show_files(struct progress *p)
{
    char bar[BAR + 1];
    size_t done = __atomic_load_n(p->done, __ATOMIC_RELAXED);
    draw_bar(bar, done, p->files);
    fprintf(stderr, "\r\033[Kspaa: %zu of %zu files [%s] %3zu%%", done, p->files, bar, done * 100 / p->files);
    fflush(stderr);
    p->shown = true;
}

static void progress_show(struct progress *p)
{
    uint64_t done, size;
    char bar[BAR + 1];
    if (!p->in) {
        show_files(p);
        return;
    }
    struct sp_buf name;
    const char *path = sp_input_name(p->in);
    sp_buf_init(&name, 4096);
    sp_text_fit(&name, path, strlen(path), 40);
    sp_input_watch(p->in, &done, &size);
    if (size && done <= size) {
        draw_bar(bar, done, size);
        fprintf(stderr, "\r\033[Kspaa: reading %s [%s] %3llu%%", sp_buf_cstr(&name), bar,
                (unsigned long long)(done * 100 / size));
    } else {
        fprintf(stderr, "\r\033[Kspaa: reading %s, %.1f s", sp_buf_cstr(&name), seconds_since(&p->began));
    }
    fflush(stderr);
    sp_buf_free(&name);
    p->shown = true;
}

static void *progress_run(void *arg)
{
    struct progress *p = arg;
    long wait = FIRST_MS;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += wait * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p->ended, &p->lock, &until);
        if (!p->stop)
            progress_show(p);
        wait = NEXT_MS;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static struct progress *progress_begin(const struct cli *c, const struct progress *what)
{
    if (!isatty(2) || c->v.quiet)
        return NULL;
    struct progress *p = calloc(1, sizeof *p);
    pthread_condattr_t attr;
    if (!p)
        return NULL;
    *p = *what;
    clock_gettime(CLOCK_MONOTONIC, &p->began);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->ended, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&p->thread, NULL, progress_run, p) == 0)
        return p;
    pthread_cond_destroy(&p->ended);
    pthread_mutex_destroy(&p->lock);
    free(p);
    return NULL;
}

struct progress *progress_start(const struct cli *c, const struct sp_input *in)
{
    return progress_begin(c, &(struct progress){.in = in});
}

struct progress *progress_start_files(const struct cli *c, const size_t *done, size_t files)
{
    return progress_begin(c, &(struct progress){.done = done, .files = files});
}

void progress_stop(struct progress *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    if (p->shown)
        fputs("\r\033[K", stderr);
    pthread_cond_destroy(&p->ended);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
