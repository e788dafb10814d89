/*
 * Dumps of a heap say what is live at a moment. Those of several processes add up to what they hold together;
 * those of one process count what stays live once for each dump, which nobody has.
 */
#include "base/hash.h"
#include "model/merge_private.h"
#include "json/find.h"

#include <string.h>

#define KNOWN ((size_t)256) /* processes that are told apart */

static uint64_t text_hash(struct sp_str s)
{
    return s.n ? sp_hash64(s.p, s.n) | 1 : 0;
}

static bool has_live(const struct sp_profile *p)
{
    static const char *const names[] = {"live_bytes", "live_count"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        uint32_t m = sp_metric_find(p, names[k], strlen(names[k]));
        for (uint32_t i = 0; m != SP_NONE && i < p->stacks.n; i++) {
            int64_t v = sp_weight(p, i, m);
            if (v != SP_ABSENT && v != 0)
                return true;
        }
    }
    return false;
}

/* The first binary that is no library. */
static uint64_t program_of(const struct sp_profile *p)
{
    for (uint32_t i = 0; i < p->dsos.n; i++) {
        struct sp_str name = sp_pstr(p, p->dsos.v[i].name);
        if (name.n && name.p[0] != '[' && !p->dsos.v[i].is_kernel && !memmem(name.p, name.n, ".so", 3))
            return text_hash(name);
    }
    return 0;
}

/* Where its files stood in memory, as a pprof says: another process has them elsewhere. */
static uint64_t places_of(const struct sp_profile *p)
{
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    struct sp_span list, item, start, file;
    uint64_t sum = 0;
    if (!more.n || !sp_json_find2((struct sp_span){more.p, more.n}, "x_pprof", "mappings", &list))
        return 0;
    while (sp_json_next(&list, &item))
        if (sp_json_find(item, "start", &start) && !sp_span_is(start, "\"0x0\"") &&
            sp_json_find(item, "file", &file) && memmem(file.p, file.n, ".so", 3))
            sum += sp_hash_mix(sp_hash64(start.p, start.n), sp_hash64(file.p, file.n)) | 1;
    return sum;
}

static bool may_be(uint64_t a, uint64_t b)
{
    return !a || !b || a == b;
}

bool sp_merge_note_snapshot(struct sp_merger *m, const struct sp_profile *from)
{
    const struct sp_header *h = &from->header;
    /* heaptrack writes one recording of a process. */
    if (m->opts.compared || sp_str_is(sp_pstr(from, h->source_tool), "heaptrack") || !has_live(from))
        return true;
    struct sp_snapshot s = {.host = text_hash(sp_pstr(from, h->host.name)),
                            .command = text_hash(sp_pstr(from, h->command)),
                            .program = program_of(from),
                            .places = places_of(from),
                            .pid = from->threads.n ? (uint64_t)from->threads.v[0].pid + 1 : 0,
                            .n = 1};
    for (size_t i = 0; i < m->snapshots.n; i++) {
        struct sp_snapshot *t = &m->snapshots.v[i];
        if (!may_be(s.host, t->host) || !may_be(s.command, t->command) || !may_be(s.program, t->program) ||
            !may_be(s.places, t->places) || !may_be(s.pid, t->pid))
            continue;
        t->n++;
        return true;
    }
    return m->snapshots.n >= KNOWN || sp_vec_push(&m->snapshots, s);
}

void sp_merge_say_snapshots(const struct sp_merger *m)
{
    uint64_t most = 0;
    for (size_t i = 0; i < m->snapshots.n; i++)
        most = m->snapshots.v[i].n > most ? m->snapshots.v[i].n : most;
    if (most > 1)
        sp_emit(
            m->d, SP_W629, SP_AT_NOTHING,
            "%llu inputs of one program: live bytes and blocks were added up, and what stays live through "
            "dumps of one process counts once for each",
            (unsigned long long)most);
}
