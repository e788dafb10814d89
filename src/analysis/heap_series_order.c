/* Which dumps are there twice, and in which order they were made: by their times, by the numbers in their
 * names, or as they were given. */
#include "analysis/heap_series.h"

#include "base/num.h"

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits in front of `end`; where they begin. */
static const char *digits_before(const char *begin, const char *end)
{
    while (end > begin && digit(end[-1]))
        end--;
    return end;
}

bool sp_heap_jemalloc_name(const char *name, int64_t *pid, int64_t *number)
{
    static const char last[] = ".heap";
    size_t n = strlen(name);
    if (n < sizeof last)
        return false;
    const char *end = name + n - (sizeof last - 1), *p = digits_before(name, end), *q;
    if (strcmp(end, last) != 0 || p - name < 2 || !strchr("imfu", p[-1]) || p[-2] != '.')
        return false;
    end = p - 2;
    p = digits_before(name, end);
    if (p == end || p == name || p[-1] != '.' || !sp_parse_i64(p, end, number))
        return false;
    end = p - 1;
    q = digits_before(name, end);
    return q < end && q > name && q[-1] == '.' && sp_parse_i64(q, end, pid);
}

/* Numbers in texts are compared as numbers. */
static int natural(const char *a, const char *b)
{
    while (*a && *b) {
        if (digit(*a) && digit(*b)) {
            while (*a == '0' && digit(a[1]))
                a++;
            while (*b == '0' && digit(b[1]))
                b++;
            const char *x = a, *y = b;
            while (digit(*a))
                a++;
            while (digit(*b))
                b++;
            int c = a - x != b - y ? (a - x < b - y ? -1 : 1) : memcmp(x, y, (size_t)(a - x));
            if (c)
                return c;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return (*a != 0) - (*b != 0);
}

bool sp_heap_names_alike(const char *a, const char *b)
{
    while (*a && *b) {
        if (digit(*a) && digit(*b)) {
            while (digit(*a))
                a++;
            while (digit(*b))
                b++;
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return *a == *b;
}

/* ---- twice ---- */

/*
 * A program that does nothing may make two dumps that are the same, but not at one time; where there are no
 * times, not under a name that is of no series.
 */
static bool is_same(const struct sp_heap_dump *a, const struct sp_heap_dump *b)
{
    if (a->digest != b->digest || a->timed != b->timed || a->rate != b->rate)
        return false;
    if (*a->name && strcmp(a->name, "-") != 0 && strcmp(a->name, b->name) == 0)
        return true;
    if (a->timed)
        return a->time_ns == b->time_ns;
    return *a->name && *b->name && !(a->number != SP_ABSENT && b->number != SP_ABSENT) &&
           !sp_heap_names_alike(a->name, b->name);
}

/* The one to keep has a name like those of the others. */
static size_t alike(const struct sp_heap_series *h, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < h->dumps.n; i++)
        n += sp_heap_names_alike(h->dumps.v[i].name, name);
    return n;
}

static bool note_same(struct sp_heap_series *h, size_t kept, size_t i, bool *left_out)
{
    const struct sp_heap_dump *a = &h->dumps.v[kept], *b = &h->dumps.v[i];
    bool other = alike(h, b->name) > alike(h, a->name);
    left_out[other ? kept : i] = true;
    return sp_vec_push(&h->same,
                       ((struct sp_heap_same){other ? a->name : b->name, other ? b->name : a->name}));
}

bool sp_heap_drop_same(struct sp_heap_series *h)
{
    size_t n = h->dumps.n, to = 0, left = n;
    bool *out = calloc(n + 1, sizeof *out), ok = out != NULL;
    for (size_t i = 1; ok && i < n; i++)
        for (size_t k = 0; ok && k < i; k++)
            if (!out[k] && is_same(&h->dumps.v[k], &h->dumps.v[i])) {
                ok = note_same(h, k, i, out);
                left--;
                break;
            }
    for (size_t i = 0; ok && left > 1 && i < n; i++)
        if (!out[i])
            h->dumps.v[to++] = h->dumps.v[i];
    if (ok && left > 1)
        h->dumps.n = to;
    free(out);
    return ok;
}

/* ---- order ---- */

/* Two may be of one time; all of them say nothing. */
static bool all_timed(const struct sp_heap_series *h)
{
    bool differ = false;
    for (size_t i = 0; i < h->dumps.n; i++) {
        if (!h->dumps.v[i].timed)
            return false;
        differ = differ || h->dumps.v[i].time_ns != h->dumps.v[0].time_ns;
    }
    return differ;
}

static bool all_numbered(const struct sp_heap_series *h)
{
    bool jemalloc = true, names = true;
    for (size_t i = 0; i < h->dumps.n; i++) {
        const struct sp_heap_dump *x = &h->dumps.v[i];
        jemalloc = jemalloc && x->number != SP_ABSENT;
        names =
            names && (!i || (sp_heap_names_alike(x[-1].name, x->name) && natural(x[-1].name, x->name) != 0));
    }
    return jemalloc || names;
}

static size_t alike_to(const struct sp_heap_series *h, size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k < h->dumps.n; k++) {
        const struct sp_heap_dump *a = &h->dumps.v[i], *b = &h->dumps.v[k];
        bool numbered = a->number != SP_ABSENT && b->number != SP_ABSENT;
        n += k != i && (numbered || (sp_heap_names_alike(a->name, b->name) && natural(a->name, b->name)));
    }
    return n;
}

/*
 * As given is an order that somebody chose, but where some have their times or their numbers: there a pattern
 * of the shell's has them, and where the others belong is not known.
 */
static void find_lost(struct sp_heap_series *h)
{
    size_t n = h->dumps.n, timed = 0, without = 0, alone = 0;
    h->lost = SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        timed += h->dumps.v[i].timed;
    for (size_t i = 0; i < n; i++) {
        bool lost = timed && timed < n ? !h->dumps.v[i].timed : !alike_to(h, i);
        h->mixed = h->mixed || !lost;
        without += lost;
        alone = lost ? i : alone;
    }
    h->mixed = h->mixed && n > 2 && timed < n;
    if (h->mixed && without == 1)
        h->lost = alone;
}

static int compare(const struct sp_heap_series *h, const struct sp_heap_dump *a, const struct sp_heap_dump *b)
{
    if (h->order == SP_HEAP_BY_TIME)
        return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
    if (a->number != SP_ABSENT && b->number != SP_ABSENT && a->pid == b->pid)
        return (a->number > b->number) - (a->number < b->number);
    return natural(a->name, b->name);
}

/* Merge sort, since equal ones stay as they were given. */
bool sp_heap_order_of(struct sp_heap_series *h)
{
    size_t n = h->dumps.n;
    struct sp_heap_dump *v = h->dumps.v, *to = malloc((n + 1) * sizeof *to);
    if (!to)
        return false;
    size_t runs = 0;
    for (size_t i = 0; i < n; i++)
        runs += v[i].of_run;
    h->order = runs > 1          ? SP_HEAP_AS_GIVEN
               : all_timed(h)    ? SP_HEAP_BY_TIME
               : all_numbered(h) ? SP_HEAP_BY_NAME
                                 : SP_HEAP_AS_GIVEN;
    h->lost = SIZE_MAX;
    if (h->order == SP_HEAP_AS_GIVEN &&
        runs < 2) /* what was given first is what the others are compared to */
        find_lost(h);
    for (size_t width = 1; h->order != SP_HEAP_AS_GIVEN && width < n; width *= 2) {
        for (size_t from = 0; from < n; from += 2 * width) {
            size_t a = from, middle = from + width < n ? from + width : n, b = middle, k = from,
                   end = middle + width < n ? middle + width : n;
            while (k < end)
                to[k++] = b == end || (a < middle && compare(h, &v[a], &v[b]) <= 0) ? v[a++] : v[b++];
        }
        memcpy(v, to, n * sizeof *v);
    }
    free(to);
    for (size_t i = 1; i < n; i++)
        h->moved = h->moved || v[i].input < v[i - 1].input;
    return true;
}
