#include "formats/files.h"

#include "base/thread.h"
#include "base/watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* An input that is read, or was. */
struct slot {
    struct sp_profile *profile;
    const struct spaa_format *format;
    struct sp_diags diags;
    spaa_status status;
    bool ready;
};

struct reading {
    const char *const *paths;
    size_t n;
    const struct sp_files_opts *opts;
    struct sp_read_opts read;
    struct sp_watch *watch; /* who watches the call, or NULL */
    struct slot *slots;     /* of input i: i % nslots */
    size_t nslots;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t next, taken; /* the next input to read; those added up, whose slots are free */
    bool stop;
};

static const char *files_name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

/* What ends the reading of all, even where files may be bad. */
static bool files_fatal(spaa_status st)
{
    return st == SPAA_ERR_USAGE || st == SPAA_ERR_NOMEM || st == SPAA_ERR_CANCELLED;
}

static void read_one(const struct reading *r, size_t i, struct slot *s)
{
    struct sp_input *in = NULL;
    const char *path = r->paths[i];
    sp_diags_init(&s->diags);
    s->diags.watch = r->watch;
    s->profile = NULL;
    s->format = NULL;
    sp_diags_source(&s->diags, files_name_of(path), NULL);
    s->status = sp_input_open(path, &s->diags, &in);
    if (!s->status) {
        sp_input_set_jobs(in, r->read.jobs);
        s->status = sp_input_format(in, r->opts->from, &s->diags, &s->format);
    }
    if (!s->status) {
        sp_diags_source(&s->diags, files_name_of(path), s->format->name);
        s->status = sp_read_profile(in, s->format, &r->read, &s->diags, &s->profile);
    }
    sp_input_close(in);
}

static void slot_free(struct slot *s)
{
    sp_profile_free(s->profile);
    sp_diags_free(&s->diags);
    s->profile = NULL;
}

static void *files_work(void *arg)
{
    struct reading *r = arg;
    pthread_mutex_lock(&r->lock);
    for (;;) {
        while (!r->stop && r->next < r->n && r->next >= r->taken + r->nslots)
            pthread_cond_wait(&r->changed, &r->lock);
        if (r->stop || r->next >= r->n)
            break;
        size_t i = r->next++;
        struct slot *s = &r->slots[i % r->nslots];
        pthread_mutex_unlock(&r->lock);
        read_one(r, i, s);
        pthread_mutex_lock(&r->lock);
        s->ready = true;
        pthread_cond_broadcast(&r->changed);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* What the input said, or that it was left out and why. */
static void files_report(const struct reading *r, size_t i, struct slot *s, struct sp_diags *d)
{
    if (!s->status || !r->opts->skip_bad || files_fatal(s->status)) {
        sp_diags_merge(d, &s->diags);
        return;
    }
    const char *why = spaa_status_name(s->status);
    for (size_t k = 0; k < s->diags.list.n; k++)
        if (s->diags.list.v[k].severity >= SP_ERROR)
            why = s->diags.list.v[k].message;
    sp_diags_source(d, files_name_of(r->paths[i]), NULL);
    sp_emit_hint(d, SP_L300, SP_AT_NOTHING, "", "%s was left out: %s", files_name_of(r->paths[i]), why);
    sp_diags_source(d, NULL, NULL);
}

static void see(struct sp_formats *seen, const struct spaa_format *f)
{
    size_t i = 0;
    while (i < seen->n && seen->v[i] != f)
        i++;
    if (i == seen->n && i < sizeof seen->v / sizeof *seen->v)
        seen->v[seen->n++] = f;
}

/* Adds a read input up; its slot is free then. */
static spaa_status files_take(const struct reading *r, size_t i, struct slot *s, struct sp_merger *m,
                              struct sp_diags *d, struct sp_formats *seen)
{
    spaa_status st = s->status;
    files_report(r, i, s, d);
    if (!st) {
        see(seen, s->format);
        sp_diags_source(d, files_name_of(r->paths[i]), s->format->name);
        st = sp_merger_add(m, s->profile, r->paths[i]);
        sp_diags_source(d, NULL, NULL);
    } else if (r->opts->skip_bad && !files_fatal(st)) {
        st = SPAA_OK;
    }
    slot_free(s);
    if (!st)
        st = sp_progress(d, "merging", "", "files", i + 1, r->n);
    if (r->opts->done)
        __atomic_store_n(r->opts->done, i + 1, __ATOMIC_RELAXED);
    return st;
}

static spaa_status one_by_one(struct reading *r, struct sp_merger *m, struct sp_diags *d,
                              struct sp_formats *seen)
{
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < r->n; i++) {
        struct slot s = {0};
        read_one(r, i, &s);
        st = files_take(r, i, &s, m, d, seen);
    }
    return st;
}

static spaa_status in_parallel(struct reading *r, size_t workers, struct sp_merger *m, struct sp_diags *d,
                               struct sp_formats *seen)
{
    spaa_status st = SPAA_OK;
    size_t started = 0, i = 0;
    r->nslots = workers + 1;
    r->slots = calloc(r->nslots, sizeof *r->slots);
    pthread_t *threads = calloc(workers, sizeof *threads);
    if (!r->slots || !threads) {
        free(r->slots);
        free(threads);
        return sp_nomem(d);
    }
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    while (started < workers && sp_thread_start(&threads[started], files_work, r) == 0)
        started++;
    for (; !st && started && i < r->n; i++) {
        struct slot *s = &r->slots[i % r->nslots];
        pthread_mutex_lock(&r->lock);
        while (!s->ready)
            pthread_cond_wait(&r->changed, &r->lock);
        s->ready = false;
        pthread_mutex_unlock(&r->lock);
        st = files_take(r, i, s, m, d, seen);
        pthread_mutex_lock(&r->lock);
        r->taken = i + 1;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
    }
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    for (size_t k = 0; k < started; k++)
        pthread_join(threads[k], NULL);
    for (size_t k = 0; k < r->nslots; k++)
        if (r->slots[k].ready)
            slot_free(&r->slots[k]);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->changed);
    free(r->slots);
    free(threads);
    return started || st ? st : one_by_one(r, m, d, seen); /* no thread to be had */
}

spaa_status sp_read_files(const char *const *paths, size_t n, const struct sp_files_opts *opts,
                          struct sp_diags *d, struct sp_profile **out, struct sp_formats *seen)
{
    struct reading r = {.paths = paths, .n = n, .opts = opts, .read = opts->read, .watch = d->watch};
    struct sp_merger *m = NULL;
    size_t workers = opts->jobs < n ? opts->jobs : n;
    spaa_status st = sp_merger_new(&opts->merge, d, &m);
    *seen = (struct sp_formats){0};
    if (workers > 1)
        r.read.jobs = (unsigned)(opts->jobs / workers);
    if (n > 1)
        sp_progress_only(d, "merging");
    if (!st)
        st = sp_progress(d, "merging", "", "files", 0, n);
    if (!st)
        st = workers > 1 ? in_parallel(&r, workers, m, d, seen) : one_by_one(&r, m, d, seen);
    if (!st && !seen->n) {
        sp_emit(d, SP_E011, SP_AT_NOTHING, "none of %zu inputs could be read", n);
        st = SPAA_ERR_INPUT;
    }
    if (!st)
        st = sp_merger_finish(m, out);
    sp_merger_free(m);
    sp_progress_only(d, NULL);
    return st;
}
