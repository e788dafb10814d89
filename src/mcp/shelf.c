#include "mcp/shelf.h"

#include "base/buf.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    BOOKS = 1024, /* handles at a time */
    WINDOWS = 48  /* of time, as `spaa leaks` reads them */
};

/* A profile with samples holds a descriptor of them; as many are for what reads it, and for the server. */
static size_t open_most(void)
{
    struct rlimit most;
    size_t n = getrlimit(RLIMIT_NOFILE, &most) || most.rlim_cur > BOOKS * 2 ? BOOKS * 2 : most.rlim_cur;
    return n / 2 > 8 ? n / 2 : 8;
}

void sp_mcp_shelf_init(struct sp_mcp_shelf *s, struct sp_mcp_roots *roots, uint64_t memory)
{
    *s = (struct sp_mcp_shelf){.roots = roots, .memory = memory, .open = open_most()};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->freed, NULL);
}

static void book_close(struct sp_mcp_book *b)
{
    spaa_profile_free(b->profile);
    spaa_diagnostics_free(b->said);
    b->profile = NULL;
    b->said = NULL;
}

static void book_free(struct sp_mcp_book *b)
{
    book_close(b);
    free(b->path);
    free(b->real);
    free(b->from);
    free(b->symfs);
    free(b->debug_dir);
    free(b->dsym);
    free(b->off_cpu);
    free(b);
}

void sp_mcp_shelf_free(struct sp_mcp_shelf *s)
{
    for (size_t i = 0; i < s->books.n; i++)
        book_free(s->books.v[i]);
    sp_vec_free(&s->books);
    pthread_cond_destroy(&s->freed);
    pthread_mutex_destroy(&s->lock);
}

void sp_mcp_shelf_wake(struct sp_mcp_shelf *s)
{
    pthread_mutex_lock(&s->lock);
    pthread_cond_broadcast(&s->freed);
    pthread_mutex_unlock(&s->lock);
}

/* ---- what may go: all of it under the lock ---- */

/* The book that nobody wants and nobody used for longest; open: of those that are open. */
static size_t shelf_oldest(const struct sp_mcp_shelf *s, bool open)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < s->books.n; i++) {
        const struct sp_mcp_book *b = s->books.v[i];
        if (!b->wanted && (b->profile || !open) && (found == SIZE_MAX || b->used < s->books.v[found]->used))
            found = i;
    }
    return found;
}

/* What malloc has given out: measured, since nobody knows what a profile takes. */
static uint64_t shelf_in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return (uint64_t)m.uordblks + m.hblkhd;
}

static void shelf_trim(struct sp_mcp_shelf *s)
{
    size_t i, open = 0;
    for (size_t k = 0; k < s->books.n; k++)
        open += s->books.v[k]->profile != NULL;
    for (; (open > s->open || shelf_in_use() > s->memory) && (i = shelf_oldest(s, true)) != SIZE_MAX; open--)
        book_close(s->books.v[i]);
}

/* ---- finding ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool copy_text(char **to, const char *text)
{
    *to = text ? sp_mcp_copy(text) : NULL;
    return *to || !text;
}

/* A new book, or NULL: out of memory. */
static struct sp_mcp_book *shelf_add(struct sp_mcp_shelf *s, const struct sp_mcp_wish *w, const char *path,
                                     const char *real)
{
    struct sp_mcp_book *b = calloc(1, sizeof *b);
    size_t old = s->books.n >= BOOKS ? shelf_oldest(s, false) : SIZE_MAX;
    if (!b)
        return NULL;
    if (old != SIZE_MAX) {
        book_free(s->books.v[old]);
        s->books.v[old] = s->books.v[--s->books.n];
    }
    if (copy_text(&b->path, path) && copy_text(&b->real, real) && copy_text(&b->from, w->from) &&
        copy_text(&b->symfs, w->symfs) && copy_text(&b->debug_dir, w->debug_dir) &&
        copy_text(&b->dsym, w->dsym) && copy_text(&b->off_cpu, w->off_cpu) && sp_vec_push(&s->books, b))
        return b;
    book_free(b);
    return NULL;
}

/* Who says how it is to be read means that; who only names it means what was opened last. */
static struct sp_mcp_book *shelf_by_path(struct sp_mcp_shelf *s, const struct sp_mcp_wish *w,
                                         const char *real)
{
    bool plain = !w->from && !w->symfs && !w->debug_dir && !w->dsym && !w->off_cpu;
    struct sp_mcp_book *found = NULL;
    for (size_t i = 0; i < s->books.n; i++) {
        struct sp_mcp_book *b = s->books.v[i];
        bool same = same_text(b->from, w->from) && same_text(b->symfs, w->symfs) &&
                    same_text(b->debug_dir, w->debug_dir) && same_text(b->dsym, w->dsym) &&
                    same_text(b->off_cpu, w->off_cpu);
        if (strcmp(b->real, real) == 0 && (same || plain) && (!found || b->used > found->used))
            found = b;
    }
    return found;
}

static bool is_handle(const char *name)
{
    return name[0] == 'p' && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1);
}

static struct sp_mcp_book *shelf_by_handle(struct sp_mcp_shelf *s, const char *name, struct sp_buf *why)
{
    unsigned long number = strtoul(name + 1, NULL, 10);
    for (size_t i = 0; i < s->books.n; i++)
        if (s->books.v[i]->number == number && number)
            return s->books.v[i];
    sp_buf_printf(
        why,
        "there is no profile %s: a handle holds while this server runs; open the file again, or give its "
        "path",
        name);
    return NULL;
}

/* The book of a name, wanted from now on. */
static struct sp_mcp_book *shelf_find(struct sp_mcp_shelf *s, const struct sp_mcp_wish *w, const char *name,
                                      struct sp_buf *why)
{
    char real[PATH_MAX];
    bool handle = is_handle(name);
    int fd = handle ? -1 : sp_mcp_roots_open(s->roots, name, false, real, why);
    if (!handle && fd < 0)
        return NULL;
    pthread_mutex_lock(&s->lock);
    struct sp_mcp_book *b = handle ? shelf_by_handle(s, name, why) : shelf_by_path(s, w, real);
    if (!b && !handle && !(b = shelf_add(s, w, name, real)))
        sp_buf_puts(why, "out of memory");
    if (b)
        b->wanted++;
    pthread_mutex_unlock(&s->lock);
    if (fd >= 0)
        close(fd);
    return b;
}

/* ---- taking ---- */

static bool shelf_wait(struct sp_mcp_shelf *s, const struct sp_mcp_wish *w, struct sp_mcp_book **books)
{
    pthread_mutex_lock(&s->lock);
    for (;;) {
        bool busy = false;
        for (size_t i = 0; i < w->n; i++)
            busy = busy || books[i]->busy;
        if (!busy || atomic_load(w->cancelled))
            break;
        pthread_cond_wait(&s->freed, &s->lock);
    }
    bool mine = !atomic_load(w->cancelled);
    for (size_t i = 0; mine && i < w->n; i++)
        books[i]->busy = true;
    pthread_mutex_unlock(&s->lock);
    return mine;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

void sp_mcp_say_errors(const struct spaa_diagnostics *said, struct sp_buf *out)
{
    struct spaa_diagnostic d = {.size = sizeof d};
    for (size_t i = 0; spaa_diagnostics_get(said, i, &d) == SPAA_OK; i++) {
        char *line = NULL;
        bool error = strcmp(d.severity, "error") == 0 || strcmp(d.severity, "fatal") == 0;
        if (error && spaa_diagnostics_text(said, i, 0, &line) == SPAA_OK)
            sp_buf_puts(out, line);
        spaa_free(line);
    }
}

/* Samples are read too: any question may follow. */
static bool book_read(struct sp_mcp_book *b, int fd, const struct sp_mcp_wish *w, struct sp_buf *why)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const struct spaa_format_option off_cpu = {"off-cpu", b->off_cpu};
    const struct spaa_open_options how = {.size = sizeof how,
                                          .format = b->from,
                                          .group_by = w->cpus ? "pid,tid,comm,cpu,state" : NULL,
                                          .symfs = b->symfs,
                                          .debug_dir = b->debug_dir,
                                          .dsym = b->dsym,
                                          .samples = 1,
                                          .windows = WINDOWS,
                                          .own = &off_cpu,
                                          .own_count = b->off_cpu != NULL,
                                          .jobs = cores > 0 ? (unsigned)cores : 1,
                                          .watch = w->watch};
    struct spaa_profile *p = NULL;
    struct spaa_diagnostics *said = NULL;
    spaa_status st = spaa_profile_open_fd(fd, b->path, &how, &p, &said);
    if (st && st != SPAA_ERR_CANCELLED) {
        sp_mcp_say_errors(said, why);
        if (!why->len)
            sp_buf_printf(why, "%s cannot be opened: %s", b->path, spaa_status_name(st));
    }
    if (st) {
        spaa_diagnostics_free(said);
        return false;
    }
    b->profile = p;
    b->said = said;
    b->cpus = w->cpus;
    return true;
}

/* Open as the file is now. The caller has the book. */
static bool book_ready(struct sp_mcp_shelf *s, struct sp_mcp_book *b, const struct sp_mcp_wish *w,
                       struct sp_buf *why)
{
    char real[PATH_MAX];
    struct stat now;
    int fd = sp_mcp_roots_open(s->roots, b->real, false, real, why);
    if (fd < 0)
        return false;
    bool same = fstat(fd, &now) == 0 && same_file(&b->was, &now);
    b->reread = b->reread || (b->number && !same);
    if (b->profile && (!same || b->cpus != w->cpus))
        book_close(b);
    bool ok = b->profile || book_read(b, fd, w, why);
    if (ok)
        b->was = now;
    close(fd);
    return ok;
}

bool sp_mcp_shelf_take(struct sp_mcp_shelf *s, const struct sp_mcp_wish *wish, struct sp_mcp_book **books,
                       struct sp_buf *why)
{
    size_t n = 0;
    bool ok = true;
    while (n < wish->n && (books[n] = shelf_find(s, wish, wish->names[n], why)))
        n++;
    bool taken = n == wish->n && shelf_wait(s, wish, books);
    for (size_t i = 0; taken && ok && i < n; i++)
        ok = book_ready(s, books[i], wish, why);
    if (taken && !ok)
        sp_mcp_shelf_return(s, books, n);
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < n && !taken; i++)
        books[i]->wanted--;
    for (size_t i = 0; i < n && taken && ok; i++) {
        books[i]->number = books[i]->number ? books[i]->number : ++s->last;
        books[i]->used = ++s->clock;
    }
    pthread_mutex_unlock(&s->lock);
    return taken && ok;
}

void sp_mcp_shelf_return(struct sp_mcp_shelf *s, struct sp_mcp_book **books, size_t n)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < n; i++) {
        books[i]->busy = false;
        books[i]->wanted--;
    }
    shelf_trim(s);
    pthread_cond_broadcast(&s->freed);
    pthread_mutex_unlock(&s->lock);
}
