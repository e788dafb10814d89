/*
 * The profile of what was read: a stack for each record of the last leak check of each process, and rows for
 * what summaries have more, so that sums are those of LEAK SUMMARY.
 */
#include "formats/memcheck/memcheck.h"
#include "model/facts.h"
#include "model/labels.h"
#include "json/json.h"

#include <string.h>

enum { LIVE_BYTES, LIVE_COUNT, INDIRECT_BYTES, METRICS };
static const struct sp_vg_metric mc_metrics[METRICS] = {
    {"live_bytes", "bytes"}, {"live_count", "count"}, {"x_indirect_bytes", "bytes"}};

/* What is read of a process. */
struct mc_sums {
    struct sp_mc_amount kinds[SP_MC_KINDS];
    bool any;
};

/* The check that counts; 0: there is none. */
static uint32_t mc_last_check(const struct sp_mc_process *x)
{
    return x->done ? x->done : x->search;
}

/* 1 + number of the set {leak_kind}, 0: it is not asked for; SP_NONE: out of memory. */
static uint32_t mc_labels(struct sp_mc *m, int kind)
{
    static const char key[] = "leak_kind";
    struct sp_label label = {.key = sp_profile_cstr(m->p, key)};
    if (kind < 0 ||
        (m->opts->labels && !sp_label_keys_have(m->opts->labels, (struct sp_str){key, sizeof key - 1})))
        return 0;
    label.value = sp_profile_cstr(m->p, sp_mc_labels[kind]);
    if (label.key == SP_STR_FAIL || label.value == SP_STR_FAIL)
        return SP_NONE;
    return sp_labels_intern(m->p, &label, 1);
}

/* A process alone needs not be told from others: so stacks of two runs are the same. */
static unsigned mc_by(const struct sp_mc *m)
{
    return m->processes.n > 1 ? m->opts->group_by & SP_BY_PID : 0;
}

/* kind -1: not known. */
static uint32_t mc_context(struct sp_mc *m, const struct sp_mc_process *x, int kind)
{
    struct sp_context c = {.pid = mc_by(m) & SP_BY_PID ? x->pid : SP_ABSENT,
                           .tid = SP_ABSENT,
                           .cpu = SP_ABSENT,
                           .event = m->event.event,
                           .labels = mc_labels(m, kind)};
    return c.labels == SP_NONE ? SP_NONE : sp_context_intern(m->p, &c);
}

static bool mc_weigh(struct sp_mc *m, uint32_t stack, struct sp_mc_amount a, int64_t indirect)
{
    return sp_weight_add(m->p, stack, m->event.metric[LIVE_BYTES], a.bytes) &&
           sp_weight_add(m->p, stack, m->event.metric[LIVE_COUNT], a.blocks) &&
           sp_weight_add(m->p, stack, m->event.metric[INDIRECT_BYTES], indirect);
}

/* A row without functions, of these words. */
static uint32_t mc_mark(struct sp_mc *m, const struct sp_mc_process *x, int kind, const char *words,
                        struct sp_mc_amount a)
{
    struct sp_vg_place place;
    uint32_t context = mc_context(m, x, kind), stack = SP_NONE;
    if (context != SP_NONE && sp_vg_mark(&m->vg, words, &place))
        stack = sp_vg_stack(&m->vg, &place, 1, context, m->event.layout);
    return stack != SP_NONE && mc_weigh(m, stack, a, 0) ? stack : SP_NONE;
}

static bool mc_record(struct sp_mc *m, const struct sp_mc_record *r, struct mc_sums *sums)
{
    const struct sp_mc_process *x = &m->processes.v[r->process];
    struct sp_mc_amount *sum = &sums[r->process].kinds[r->leak.kind];
    if (r->search != mc_last_check(x))
        return true;
    sums[r->process].any = true;
    if (__builtin_add_overflow(sum->bytes, r->leak.direct.bytes, &sum->bytes) ||
        __builtin_add_overflow(sum->blocks, r->leak.direct.blocks, &sum->blocks))
        *sum = (struct sp_mc_amount){INT64_MAX, INT64_MAX};
    uint32_t context = mc_context(m, x, (int)r->leak.kind);
    uint32_t stack = context == SP_NONE
                         ? SP_NONE
                         : sp_vg_stack(&m->vg, m->places.v + r->first, r->n, context, m->event.layout);
    return stack != SP_NONE && mc_weigh(m, stack, r->leak.direct, r->leak.indirect);
}

/* ---- what summaries have more ---- */

/* Not shown, or contradicted. */
static bool mc_kind(struct sp_mc *m, const struct sp_mc_process *x, int kind, struct sp_mc_amount read,
                    bool *hidden)
{
    char words[64] = "[not shown: ";
    struct sp_mc_amount all = x->summary[kind], more = {all.bytes - read.bytes, all.blocks - read.blocks};
    if (!more.bytes && !more.blocks)
        return true;
    if (more.bytes < 0 || more.blocks < 0) {
        sp_emit(m->d, SP_W772, SP_AT_NOTHING,
                "process %lld: %s are %lld bytes in %lld blocks by LEAK SUMMARY, %lld in %lld by its records",
                (long long)x->pid, sp_mc_words[kind], (long long)all.bytes, (long long)all.blocks,
                (long long)read.bytes, (long long)read.blocks);
        more.bytes = more.bytes > 0 ? more.bytes : 0;
        more.blocks = more.blocks > 0 ? more.blocks : 0;
        if (!more.bytes && !more.blocks)
            return true;
    }
    *hidden = true;
    memcpy(words + strlen(words), sp_mc_words[kind], strlen(sp_mc_words[kind]));
    words[strlen(words)] = ']';
    return mc_mark(m, x, kind, words, more) != SP_NONE;
}

/* What a suppression of valgrind's fits is no leak to whoever wrote it. */
static bool mc_suppressed(struct sp_mc *m, const struct sp_mc_process *x)
{
    if (!x->suppressed.bytes && !x->suppressed.blocks)
        return true;
    uint32_t stack = mc_mark(m, x, -1, "[suppressed]", x->suppressed);
    uint32_t text = sp_profile_cstr(m->p, "\"x_valgrind\":{\"suppressed\":true}");
    if (stack == SP_NONE || text == SP_STR_FAIL)
        return false;
    m->p->stacks.v[stack].extra_json = text;
    return true;
}

static void mc_check_exit(struct sp_mc *m, const struct sp_mc_process *x)
{
    __int128 sum = x->suppressed.bytes;
    for (int i = 0; i < SP_MC_KINDS; i++)
        sum += x->summary[i].bytes;
    if (x->exited && x->has_in_use && sum != x->in_use.bytes)
        sp_emit(m->d, SP_W772, SP_AT_NOTHING,
                "process %lld: %lld bytes are in use at exit, but LEAK SUMMARY has %lld", (long long)x->pid,
                (long long)x->in_use.bytes, (long long)(sum > INT64_MAX ? INT64_MAX : sum));
}

static bool mc_process(struct sp_mc *m, const struct sp_mc_process *x, const struct mc_sums *sums,
                       bool *hidden)
{
    bool ok = true;
    if (!x->has_summary) {
        if (x->has_in_use && !sums->any && !x->freed && x->in_use.bytes) {
            *hidden = true;
            ok = mc_mark(m, x, -1, "[no leak check]", x->in_use) != SP_NONE;
        } else if (x->has_in_use && !sums->any) {
            ok = mc_mark(m, x, -1, "[all heap blocks were freed]", x->in_use) != SP_NONE;
        }
        return ok;
    }
    for (int i = 0; ok && i < SP_MC_KINDS; i++)
        ok = mc_kind(m, x, i, sums->kinds[i], hidden);
    mc_check_exit(m, x);
    return ok && mc_suppressed(m, x);
}

/* ---- the header ---- */

static bool mc_facts(struct sp_mc *m, const struct sp_mc_process *x)
{
    struct sp_process_fact f = {0};
    sp_facts_clear(sp_process_facts, &f);
    f.pid = x->pid;
    f.parent_pid = x->parent;
    f.name = x->command;
    return sp_process_add(m->p, &f, NULL, 0);
}

static void mc_json(const struct sp_mc_process *x, struct sp_buf *b)
{
    sp_buf_printf(b, "{\"pid\":%lld,\"leak_checks\":%u,\"errors\":%llu", (long long)x->pid, x->checks,
                  (unsigned long long)x->errors);
    if (x->has_in_use)
        sp_buf_printf(b, ",\"in_use_bytes\":%lld,\"in_use_blocks\":%lld", (long long)x->in_use.bytes,
                      (long long)x->in_use.blocks);
    if (x->has_usage)
        sp_buf_printf(b, ",\"alloc_count\":%lld,\"free_count\":%lld,\"alloc_bytes\":%lld",
                      (long long)x->usage.allocs, (long long)x->usage.frees, (long long)x->usage.bytes);
    for (int i = 0; x->has_summary && i < SP_MC_KINDS; i++)
        sp_buf_printf(b, ",\"%s_bytes\":%lld,\"%s_blocks\":%lld", sp_mc_labels[i],
                      (long long)x->summary[i].bytes, sp_mc_labels[i], (long long)x->summary[i].blocks);
    if (x->has_summary)
        sp_buf_printf(b, ",\"suppressed_bytes\":%lld,\"suppressed_blocks\":%lld",
                      (long long)x->suppressed.bytes, (long long)x->suppressed.blocks);
    sp_buf_ch(b, '}');
}

static bool mc_header(struct sp_mc *m)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "\"x_memcheck\":{\"xml\":%s,\"processes\":[", m->xml ? "true" : "false");
    bool ok = true;
    for (size_t i = 0; ok && i < m->processes.n; i++) {
        if (i)
            sp_buf_ch(&b, ',');
        mc_json(&m->processes.v[i], &b);
        ok = mc_facts(m, &m->processes.v[i]);
    }
    sp_buf_puts(&b, "]}");
    ok = ok && sp_vg_header(&m->vg, sp_pstr(m->p, m->processes.v[0].command), &b);
    m->p->header.group_by = mc_by(m);
    sp_buf_free(&b);
    return ok;
}

/* ---- what is said ---- */

/* Whether a process lacks its end; *quiet: no summaries were written, or it was cut off before them. */
static bool mc_is_cut(const struct sp_mc *m, const struct sp_mc_process *x, bool *quiet)
{
    if (m->xml || x->ended)
        return false;
    *quiet = *quiet || (!x->exited && !x->has_summary && x->leak.number);
    return x->exited || x->has_summary || !x->leak.number;
}

static void mc_say(struct sp_mc *m, bool hidden)
{
    unsigned long long errors = 0, earlier = 0;
    bool cut = m->cut, quiet = false;
    for (size_t i = 0; i < m->processes.n; i++) {
        const struct sp_mc_process *x = &m->processes.v[i];
        errors += x->errors;
        earlier += x->checks > x->has_summary ? x->checks - x->has_summary : 0;
        cut = mc_is_cut(m, x, &quiet) || cut;
    }
    if (cut)
        sp_emit(m->d, SP_L301, SP_AT_NOTHING,
                "of a process the end is missing, where all leaks are summed up");
    if (quiet)
        sp_emit_hint(m->d, SP_I322, SP_AT_NOTHING, "record without -q",
                     "no LEAK SUMMARY (-q, or the log is cut off): what else was left is not known");
    sp_vg_say(&m->vg, m->d);
    if (m->lost_stacks)
        sp_emit(m->d, SP_L300, SP_AT_NOTHING, "%llu loss records without a stack",
                (unsigned long long)m->lost_stacks);
    if (errors)
        sp_emit(m->d, SP_I321, SP_AT_NOTHING, "%llu errors that are no leaks, as invalid reads", errors);
    if (earlier)
        sp_emit(m->d, SP_I321, SP_AT_NOTHING, "%llu leak checks before the last one", earlier);
    if (hidden || (m->xml && !m->all_kinds))
        sp_emit_hint(m->d, SP_I322, SP_AT_NOTHING,
                     "record with --leak-check=full --show-leak-kinds=all --fullpath-after=",
                     hidden
                         ? "the log does not show the stacks of some of what was left"
                         : "XML has the kinds of leaks alone that were asked for, and no sums of the others");
    if (m->processes.n > 1)
        sp_emit(m->d, SP_I322, SP_AT_NOTHING,
                "%zu processes; what was allocated before a fork is left in both, and counts twice",
                m->processes.n);
    if (m->other_lines && !m->opts->keeper)
        sp_emit_hint(m->d, SP_I321, SP_AT_NOTHING, "--lossless keeps them", "%llu lines of other text",
                     (unsigned long long)m->other_lines);
}

spaa_status sp_mc_finish(struct sp_mc *m)
{
    bool hidden = false;
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < m->processes.n; i++)
        st = sp_mc_end(m, &m->processes.v[i]);
    if (st)
        return st;
    struct mc_sums *sums = calloc(m->processes.n, sizeof *sums);
    m->event.name = "leak";
    m->event.kind = SP_ALLOCATION;
    m->event.allocation_tracking = "{\"tracks_frees\":true,\"has_timestamps\":false}";
    m->event.metrics = mc_metrics;
    m->event.nmetrics = METRICS;
    bool ok = sums && sp_vg_declare(&m->vg, &m->event);
    for (size_t i = 0; ok && i < m->records.n; i++)
        ok = mc_record(m, &m->records.v[i], sums);
    for (size_t i = 0; ok && i < m->processes.n; i++)
        ok = mc_process(m, &m->processes.v[i], &sums[i], &hidden);
    ok = ok && mc_header(m);
    free(sums);
    if (!ok)
        return sp_nomem(m->d);
    mc_say(m, hidden);
    return SPAA_OK;
}
