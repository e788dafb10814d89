/*
 * What no function of the kernel tells of both sides: of time off the CPU what was waited for, of calls of
 * the system and the like which ones.
 */
#include "ask/diff.h"

#include "analysis/stack_kinds.h"
#include "ask/waits_parts.h"

#include <math.h>
#include <stdlib.h>

enum { WAITS_SAID = 4 };

enum { REASON, FUNCTION, BASE, NEW, BASE_AT_LEAST, NEW_AT_LEAST, UNSURE };
static const struct sp_answer_column diff_waits_columns[] = {
    [REASON] = {"reason", SP_COL_TEXT, .doc = "lock, sleep, …; \"for a CPU\"; [unknown]: not recorded"},
    [FUNCTION] = {"function", SP_COL_TEXT, .doc = "the program's own one that waited; null: none is known"},
    [BASE] = {"base", SP_COL_NUMBER, .doc = "nanoseconds a run"},
    [NEW] = {"new", SP_COL_NUMBER, .doc = "likewise"},
    [BASE_AT_LEAST] = {"base_at_least", SP_COL_BOOL,
                       .doc = "some of these waits are longer than what was seen"},
    [NEW_AT_LEAST] = {"new_at_least", SP_COL_BOOL, .doc = "likewise"},
    [UNSURE] = {"unsure", SP_COL_BOOL,
                .doc = "the reason of some is the likely one: callers are missing that would tell"},
};
const struct sp_table_decl sp_diff_waits_table = {"waits", diff_waits_columns, 7,
                                                  .doc =
                                                      "of time off the CPU: what was waited for, and where; "
                                                      "what changed most first, what is not known last"};

enum { WHAT, COUNTED_BASE, COUNTED_NEW };
static const struct sp_answer_column diff_counted_columns[] = {
    [WHAT] = {"what", SP_COL_TEXT, .doc = "fields of the event: the thread, and the call, the device, …"},
    [COUNTED_BASE] = {"base", SP_COL_NUMBER, .doc = "weight a run"},
    [COUNTED_NEW] = {"new", SP_COL_NUMBER, .doc = "likewise"},
};
const struct sp_table_decl sp_diff_counted_table = {
    "counted", diff_counted_columns, 3,
    .doc = "of events of the kernel: which calls and the like, what changed most first"};

static struct diff_wait *waits_find(struct diff_answer *a, struct sp_str reason, struct sp_str function)
{
    struct sp_strtab *strs = &a->d.strs;
    uint32_t r = sp_intern(strs, reason.n ? reason.p : "", reason.n),
             f = sp_intern(strs, function.n ? function.p : "", function.n);
    if (r == SP_STR_FAIL || f == SP_STR_FAIL)
        return NULL;
    uint64_t hash = (uint64_t)r << 32 | f;
    struct sp_probe at = sp_map_probe(&a->waits_map, hash);
    for (uint32_t i; (i = sp_map_next(&a->waits_map, &at)) != SP_MAP_NONE;)
        if (a->waits.v[i].reason == r && a->waits.v[i].function == f)
            return &a->waits.v[i];
    struct diff_wait fresh = {.reason = r, .function = f};
    if (!sp_map_add(&a->waits_map, hash, (uint32_t)a->waits.n) || !sp_vec_push(&a->waits, fresh))
        return NULL;
    return &a->waits.v[a->waits.n - 1];
}

static void add_weight(struct diff_answer *a, struct diff_wait *w, unsigned side, int64_t weight,
                       bool at_least)
{
    w->weight[side] += weight;
    w->at_least[side] |= at_least;
    a->at_least[side] |= at_least;
}

spaa_status sp_diff_waits_add(struct diff_answer *a, unsigned side, struct sp_selection *s,
                              struct sp_profile *p)
{
    struct sp_stack_kinds kinds;
    spaa_status st = sp_stack_kinds_of(s, p, a->q->options->own_re, a->q->diags, &kinds);
    if (st)
        return st;
    if (!kinds.list.n) {
        sp_stack_kinds_free(&kinds);
        return SPAA_OK;
    }
    a->has_waits |= sp_is_off_cpu(s);
    for (size_t i = 0; !st && i < s->rows.n; i++) {
        const struct sp_stack_kind *k = &kinds.list.v[kinds.of.v[i]];
        struct sp_str function = {"", 0};
        if (k->function != SP_NONE)
            function = sp_pstr(p, p->functions.v[k->function].name);
        struct diff_wait *w = waits_find(a, sp_str_at(&kinds.texts, k->text), function);
        if (!w) {
            st = sp_nomem(a->q->diags);
            break;
        }
        add_weight(a, w, side, s->rows.v[i].weight, i < kinds.at_least.n && kinds.at_least.v[i]);
        w->unsure |= k->unsure;
    }
    sp_stack_kinds_free(&kinds);
    return st;
}

static double waits_a_run(const struct diff_answer *a, const struct diff_wait *w, unsigned side)
{
    size_t runs = a->d.side[side].runs;
    return runs ? (double)w->weight[side] / (double)runs : 0;
}

static int waits_cmp(const void *va, const void *vb, void *arg)
{
    const struct diff_answer *a = arg;
    const struct diff_wait *x = va, *y = vb;
    bool nx = sp_str_is(sp_str_at(&a->d.strs, x->reason), SP_KIND_UNSEEN),
         ny = sp_str_is(sp_str_at(&a->d.strs, y->reason), SP_KIND_UNSEEN);
    if (nx != ny)
        return nx ? 1 : -1;
    double cx = fabs(waits_a_run(a, x, SP_NEW) - waits_a_run(a, x, SP_BASE)),
           cy = fabs(waits_a_run(a, y, SP_NEW) - waits_a_run(a, y, SP_BASE));
    if (cx != cy)
        return cx > cy ? -1 : 1;
    int c = sp_str_cmp(sp_str_at(&a->d.strs, x->reason), sp_str_at(&a->d.strs, y->reason));
    return c ? c : sp_str_cmp(sp_str_at(&a->d.strs, x->function), sp_str_at(&a->d.strs, y->function));
}

void sp_diff_waits_sort(struct diff_answer *a)
{
    if (a->waits.n)
        qsort_r(a->waits.v, a->waits.n, sizeof *a->waits.v, waits_cmp, a);
}

static void say_a_run(const struct diff_answer *a, struct sp_buf *b, const struct diff_wait *w, unsigned side)
{
    int64_t weight = (int64_t)waits_a_run(a, w, side);
    if (a->has_waits)
        sp_waits_duration(b, weight, w->at_least[side]);
    else
        sp_text_weight(b, a->words.unit, a->words.scale, weight);
}

/* "lock in lookup 45.4 → 12.1 s, for a CPU 10.4 → 11.0 s" */
void sp_diff_say_waits(const struct diff_answer *a, struct sp_buf *b)
{
    for (size_t i = 0; i < a->waits.n && i < WAITS_SAID; i++) {
        const struct diff_wait *w = &a->waits.v[i];
        struct sp_str reason = sp_str_at(&a->d.strs, w->reason),
                      function = sp_str_at(&a->d.strs, w->function);
        sp_buf_puts(b, i ? ", " : "");
        sp_buf_add(b, reason.p, reason.n);
        sp_buf_puts(b, w->unsure ? "?" : "");
        if (function.n) {
            sp_buf_puts(b, " in ");
            sp_diff_say_name(b, function);
        }
        sp_buf_ch(b, ' ');
        say_a_run(a, b, w, SP_BASE);
        sp_buf_puts(b, " → ");
        say_a_run(a, b, w, SP_NEW);
    }
    if (a->waits.n > WAITS_SAID)
        sp_buf_printf(b, "; and %zu more", a->waits.n - WAITS_SAID);
}

static void put_counted(const struct diff_answer *a)
{
    struct sp_answer_table *t = sp_answer_table(a->out, &sp_diff_counted_table);
    for (size_t i = 0; t && i < a->waits.n && (!a->compact || i < 2 * WAITS_SAID); i++) {
        const struct diff_wait *w = &a->waits.v[i];
        sp_table_row(a->out, t);
        sp_put_str(a->out, t, WHAT, sp_str_at(&a->d.strs, w->reason));
        sp_put_scaled(t, COUNTED_BASE, (int64_t)waits_a_run(a, w, SP_BASE), a->words.scale);
        sp_put_scaled(t, COUNTED_NEW, (int64_t)waits_a_run(a, w, SP_NEW), a->words.scale);
    }
}

void sp_diff_put_waits(const struct diff_answer *a)
{
    if (a->waits.n && !a->has_waits) {
        put_counted(a);
        return;
    }
    struct sp_answer_table *t = a->has_waits ? sp_answer_table(a->out, &sp_diff_waits_table) : NULL;
    for (size_t i = 0; t && i < a->waits.n && (!a->compact || i < 2 * WAITS_SAID); i++) {
        const struct diff_wait *w = &a->waits.v[i];
        struct sp_str reason = sp_str_at(&a->d.strs, w->reason),
                      function = sp_str_at(&a->d.strs, w->function);
        sp_table_row(a->out, t);
        sp_put_str(a->out, t, REASON, reason);
        if (function.n)
            sp_put_str(a->out, t, FUNCTION, function);
        sp_put_scaled(t, BASE, (int64_t)waits_a_run(a, w, SP_BASE), 0);
        sp_put_scaled(t, NEW, (int64_t)waits_a_run(a, w, SP_NEW), 0);
        sp_put_int(t, BASE_AT_LEAST, w->at_least[SP_BASE]);
        sp_put_int(t, NEW_AT_LEAST, w->at_least[SP_NEW]);
        sp_put_int(t, UNSURE, w->unsure);
    }
}
