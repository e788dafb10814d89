#include "model/facts.h"

#include "base/hash.h"
#include "json/find.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER(row, field)                                                                                   \
    {                                                                                                        \
#field, SP_FACT_NUMBER, offsetof(struct row, field), 0                                               \
    }
#define TEXT(row, field)                                                                                     \
    {                                                                                                        \
#field, SP_FACT_TEXT, offsetof(struct row, field), 0                                                 \
    }
#define ADDRESS(row, field)                                                                                  \
    {                                                                                                        \
#field, SP_FACT_ADDRESS, offsetof(struct row, field), 0                                              \
    }
#define FLAG(row, name, the_bit)                                                                             \
    {                                                                                                        \
#name, SP_FACT_FLAG, offsetof(struct row, flags), the_bit                                            \
    }

const struct sp_fact sp_process_facts[] = {
    NUMBER(sp_process_fact, pid),
    TEXT(sp_process_fact, name),
    TEXT(sp_process_fact, path),
    TEXT(sp_process_fact, instance),
    NUMBER(sp_process_fact, parent_pid),
    NUMBER(sp_process_fact, start_ns),
    NUMBER(sp_process_fact, exit_ns),
    NUMBER(sp_process_fact, cpu_time_ns),
    NUMBER(sp_process_fact, cycles),
    NUMBER(sp_process_fact, instructions),
    NUMBER(sp_process_fact, footprint_bytes),
    NUMBER(sp_process_fact, rss_bytes),
    FLAG(sp_process_fact, frontmost, SP_FACT_FRONTMOST),
    FLAG(sp_process_fact, suspended, SP_FACT_SUSPENDED),
    FLAG(sp_process_fact, lines_lost, SP_FACT_LINES_LOST),
    {0},
};

const struct sp_fact sp_thread_facts[] = {
    TEXT(sp_thread, name),         TEXT(sp_thread, queue),
    TEXT(sp_thread, priority),     NUMBER(sp_thread, cpu_time_ns),
    NUMBER(sp_thread, cycles),     NUMBER(sp_thread, instructions),
    NUMBER(sp_thread, start_ns),   NUMBER(sp_thread, exit_ns),
    TEXT(sp_thread, renamed_from), {0},
};

const struct sp_fact sp_image_facts[] = {
    ADDRESS(sp_image, start),
    ADDRESS(sp_image, end),
    TEXT(sp_image, name),
    TEXT(sp_image, path),
    TEXT(sp_image, build_id),
    FLAG(sp_image, kernel, SP_FACT_KERNEL),
    {0},
};

const struct sp_fact sp_wait_facts[] = {
    TEXT(sp_wait_fact, text),
    TEXT(sp_wait_fact, on),
    FLAG(sp_wait_fact, lock, SP_FACT_LOCK),
    TEXT(sp_wait_fact, holder_name),
    NUMBER(sp_wait_fact, holder_pid),
    NUMBER(sp_wait_fact, holder_tid),
    NUMBER(sp_wait_fact, hops),
    FLAG(sp_wait_fact, self, SP_FACT_SELF),
    FLAG(sp_wait_fact, deadlock, SP_FACT_DEADLOCK),
    FLAG(sp_wait_fact, receive, SP_FACT_RECEIVE),
    {0},
};

const struct sp_fact sp_source_facts[] = {
    TEXT(sp_source_piece, file),
    TEXT(sp_source_piece, path),
    TEXT(sp_source_piece, comp_dir),
    TEXT(sp_source_piece, binary),
    TEXT(sp_source_piece, build_id),
    TEXT(sp_source_piece, sha256),
    NUMBER(sp_source_piece, lines),
    FLAG(sp_source_piece, newer, SP_SOURCE_NEWER),
    FLAG(sp_source_piece, older, SP_SOURCE_OLDER),
    NUMBER(sp_source_piece, first),
    TEXT(sp_source_piece, text),
    {0},
};

void sp_facts_clear(const struct sp_fact *facts, void *row)
{
    for (const struct sp_fact *f = facts; f->key; f++) {
        if (f->type == SP_FACT_NUMBER)
            *(int64_t *)sp_fact_place(f, row) = SP_ABSENT;
        else if (f->type == SP_FACT_ADDRESS)
            *(uint64_t *)sp_fact_place(f, row) = SP_NO_ADDRESS;
        else
            *(uint32_t *)sp_fact_place(f, row) = 0;
    }
}

static bool fact_is_there(const struct sp_fact *f, const void *row)
{
    switch (f->type) {
    case SP_FACT_NUMBER:
        return sp_fact_get_number(f, row) != SP_ABSENT;
    case SP_FACT_ADDRESS:
        return sp_fact_get_address(f, row) != SP_NO_ADDRESS;
    case SP_FACT_TEXT:
        return sp_fact_get_text(f, row) != SP_STR_NONE;
    case SP_FACT_FLAG:
        break;
    }
    return sp_fact_get_flag(f, row);
}

bool sp_facts_any(const struct sp_fact *facts, const void *row)
{
    for (const struct sp_fact *f = facts; f->key; f++)
        if (fact_is_there(f, row))
            return true;
    return false;
}

static int fact_text_cmp(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    if (a == b || a == SP_STR_NONE || b == SP_STR_NONE)
        return (a != SP_STR_NONE) - (b != SP_STR_NONE);
    return sp_str_cmp(sp_pstr(p, a), sp_pstr(p, b));
}

static int fact_cmp(const struct sp_profile *p, const struct sp_fact *f, const void *a, const void *b)
{
    int64_t x, y;
    uint64_t u, v;
    switch (f->type) {
    case SP_FACT_NUMBER: /* SP_ABSENT is the smallest */
        x = sp_fact_get_number(f, a), y = sp_fact_get_number(f, b);
        return (x > y) - (x < y);
    case SP_FACT_ADDRESS:
        u = sp_fact_get_address(f, a) + 1, v = sp_fact_get_address(f, b) + 1; /* none is 0 */
        return (u > v) - (u < v);
    case SP_FACT_TEXT:
        return fact_text_cmp(p, sp_fact_get_text(f, a), sp_fact_get_text(f, b));
    case SP_FACT_FLAG:
        break;
    }
    return sp_fact_get_flag(f, a) - sp_fact_get_flag(f, b);
}

int sp_facts_cmp(const struct sp_profile *p, const struct sp_fact *facts, const void *a, const void *b)
{
    int c = 0;
    for (const struct sp_fact *f = facts; !c && f->key; f++)
        c = fact_cmp(p, f, a, b);
    return c;
}

/* ---- rows ---- */

bool sp_process_add(struct sp_profile *p, const struct sp_process_fact *x, const uint32_t *images, size_t n)
{
    struct sp_process_fact row = *x;
    if (p->processes.n >= SP_NONE - 1 || n >= SP_NONE - p->process_images.n ||
        !sp_vec_reserve(&p->process_images, p->process_images.n + n))
        return false;
    row.first = (uint32_t)p->process_images.n;
    row.images = (uint32_t)n;
    if (n)
        memcpy(p->process_images.v + p->process_images.n, images, n * sizeof *images);
    p->process_images.n += n;
    return sp_vec_push(&p->processes, row);
}

bool sp_image_add(struct sp_profile *p, const struct sp_image *x)
{
    return p->images.n < SP_NONE - 1 && sp_vec_push(&p->images, *x);
}

uint32_t sp_wait_intern(struct sp_profile *p, const struct sp_wait_fact *x)
{
    uint64_t hash = sp_hash_key(x, sizeof *x);
    struct sp_probe at = sp_map_probe(&p->wait_map, hash);
    for (uint32_t i; (i = sp_map_next(&p->wait_map, &at)) != SP_MAP_NONE;)
        if (memcmp(&p->waits.v[i], x, sizeof *x) == 0)
            return i + 1;
    uint32_t n = (uint32_t)p->waits.n;
    if (p->waits.n >= SP_NONE - 1 || !sp_vec_reserve(&p->waits, p->waits.n + 1) ||
        !sp_map_add_at(&p->wait_map, &at, n))
        return SP_NONE;
    p->waits.v[p->waits.n++] = *x;
    return n + 1;
}

bool sp_stack_suppressed(const struct sp_profile *p, uint32_t stack)
{
    struct sp_str more = sp_pstr(p, p->stacks.v[stack].extra_json);
    struct sp_span raw, text = {more.p, more.n};
    return more.n && (sp_json_find2(text, "x_heaptrack", "suppressed", &raw) ||
                      sp_json_find2(text, "x_valgrind", "suppressed", &raw));
}

/* ---- order ---- */

static int fact_cmp_image(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_image *a = &p->images.v[*(const uint32_t *)va], *b = &p->images.v[*(const uint32_t *)vb];
    int c = sp_facts_cmp(p, sp_image_facts, a, b);
    return c ? c : fact_text_cmp(p, a->extra_json, b->extra_json);
}

static int fact_cmp_process(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_process_fact *a = va, *b = vb;
    int c = sp_facts_cmp(p, sp_process_facts, a, b);
    if (!c)
        c = fact_text_cmp(p, a->extra_json, b->extra_json);
    if (!c)
        c = (a->images > b->images) - (a->images < b->images);
    for (uint32_t i = 0; !c && i < a->images; i++) {
        uint32_t x = p->process_images.v[a->first + i], y = p->process_images.v[b->first + i];
        c = (x > y) - (x < y);
    }
    return c;
}

/* Images in order, each once; rank[i]: where number i went. */
static void fact_place_images(struct sp_profile *p, const uint32_t *order, struct sp_image *sorted,
                              uint32_t *rank)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->images.n; i++) {
        if (!i || fact_cmp_image(&order[i - 1], &order[i], p))
            sorted[kept++] = p->images.v[order[i]];
        rank[order[i]] = (uint32_t)kept - 1;
    }
    if (kept)
        memcpy(p->images.v, sorted, kept * sizeof *sorted);
    p->images.n = kept;
}

spaa_status sp_facts_sort(struct sp_profile *p)
{
    size_t n = p->images.n;
    uint32_t *order = malloc((n + 1) * sizeof *order), *rank = malloc((n + 1) * sizeof *rank);
    struct sp_image *sorted = malloc((n + 1) * sizeof *sorted);
    bool ok = order && rank && sorted;
    for (uint32_t i = 0; ok && i < n; i++)
        order[i] = i;
    if (ok) {
        qsort_r(order, n, sizeof *order, fact_cmp_image, p);
        fact_place_images(p, order, sorted, rank);
        for (size_t i = 0; i < p->process_images.n; i++)
            p->process_images.v[i] = rank[p->process_images.v[i]];
        if (p->processes.n)
            qsort_r(p->processes.v, p->processes.n, sizeof *p->processes.v, fact_cmp_process, p);
    }
    free(order);
    free(rank);
    free(sorted);
    return ok ? SPAA_OK : sp_nomem(p->diags);
}
