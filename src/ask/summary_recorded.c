/* What was recorded: the program, and the processes and threads that the weight is of. */
#include "ask/summary.h"

#include "analysis/process.h"
#include "base/hash.h"
#include "base/map.h"
#include "model/identity.h"

#include <stdlib.h>

enum { COMM_MOST = 15 };

static struct sp_str recorded_word(struct sp_str *rest)
{
    while (rest->n && *rest->p == ' ')
        *rest = (struct sp_str){rest->p + 1, rest->n - 1};
    const char *space = rest->n ? memchr(rest->p, ' ', rest->n) : NULL;
    struct sp_str word = {rest->p, space ? (uint32_t)(space - rest->p) : rest->n};
    *rest = (struct sp_str){rest->p + word.n, rest->n - word.n};
    return word;
}

/* The kernel keeps 15 bytes of the name of what it starts. */
static bool is_comm(struct sp_str base, struct sp_str comm)
{
    uint32_t n = base.n < COMM_MOST ? base.n : COMM_MOST;
    return n && comm.n == n && memcmp(base.p, comm.p, n) == 0;
}

/* ---- which program ---- */

/* A process is called so, or a binary. */
static bool was_recorded(const struct sp_profile *p, const struct sp_processes *all, struct sp_str base)
{
    for (size_t i = 0; i < all->list.n; i++)
        if (is_comm(base, sp_pstr(p, all->list.v[i].comm)))
            return true;
    for (size_t i = 0; i < p->dsos.n; i++)
        if (base.n && sp_str_cmp(base, sp_base_name(sp_pstr(p, p->dsos.v[i].name))) == 0)
            return true;
    return false;
}

static bool recorded_is(const struct sp_summary *x, const void *all, struct sp_str base)
{
    return was_recorded(x->x.s.profile, all, base);
}

static void recorded_program(struct sp_summary *x, const struct sp_processes *all)
{
    const struct sp_profile *p = x->x.s.profile;
    struct sp_str command = sp_pstr(p, p->header.command), rest = command;
    struct sp_str base = sp_base_name(recorded_word(&rest));
    if (sp_str_is(base, "perf") && memmem(command.p, command.n, " record", 7)) {
        sp_summary_command(x, command, recorded_is, all);
    } else if (base.n && was_recorded(p, all, base)) { /* else it may be the recorder's own */
        x->program = base;
        x->command = command;
    }
}

/* ---- its processes ---- */

static int by_weight(const void *va, const void *vb)
{
    const struct sp_recorded *a = va, *b = vb;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    int c = sp_str_cmp(a->name, b->name);
    return c ? c : (a->pid > b->pid) - (a->pid < b->pid);
}

/* A process is named by its main thread, or where a name is told of it: what others are called says nothing
 * of it. */
static bool recorded_add(struct sp_summary *x, const struct sp_processes *all, const struct sp_top_row *r,
                         struct sp_map *names)
{
    const struct sp_profile *p = x->x.s.profile;
    int64_t pid = r->context == SP_NONE ? SP_ABSENT : p->contexts.v[r->context].pid;
    const struct sp_process *known = sp_process_find(all, pid);
    struct sp_recorded one = {.pid = pid, .n = 1, .weight = r->self};
    if (known && (known->tid == known->pid || known->told))
        one.name = sp_process_name_of(p, all, &p->contexts.v[r->context]);
    if (!one.name.n)
        return sp_vec_push(&x->recorded, one);
    struct sp_probe at = sp_map_probe(names, sp_hash64(one.name.p, one.name.n));
    for (uint32_t i; (i = sp_map_next(names, &at)) != SP_MAP_NONE;) {
        if (sp_str_cmp(x->recorded.v[i].name, one.name) != 0)
            continue;
        x->recorded.v[i].weight += r->self;
        x->recorded.v[i].n++;
        return true;
    }
    return sp_map_add_at(names, &at, (uint32_t)x->recorded.n) && sp_vec_push(&x->recorded, one);
}

void sp_summary_recorded(struct sp_summary *x)
{
    struct sp_processes all;
    if (sp_processes_of(x->x.s.profile, x->x.q->diags, &all)) {
        x->x.out->failed = true;
        return;
    }
    recorded_program(x, &all);
    struct sp_map names = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < x->processes.rows.n; i++)
        ok = recorded_add(x, &all, &x->processes.rows.v[i], &names);
    sp_map_free(&names);
    if (x->recorded.n)
        qsort(x->recorded.v, x->recorded.n, sizeof *x->recorded.v, by_weight);
    for (size_t i = 0; i < x->recorded.n; i++)
        x->recorded.v[i].is_command = is_comm(x->program, x->recorded.v[i].name);
    x->x.out->failed |= !ok;
    sp_processes_free(&all);
}
