/* The record in work: its keys, its title, and how it ends. */
#include "formats/dtrace/records.h"

#include "base/num.h"

#include <string.h>

enum { TITLE_MAX = 80, GROUPS_MAX = 256 };

struct sp_where dt_here_at_record(const struct dt_reader *r)
{
    return SP_AT_LINE(r->lines.line, r->lines.offset);
}

void dt_begin_record(struct dt_reader *r)
{
    if (r->open)
        return;
    r->open = true;
    r->sure = r->in_block = false;
    r->keys.stacks = r->keys.n = 0;
    r->first_block = r->agg.blocks.n;
    r->first_value = r->agg.values.n;
    r->first_line = r->lines.line;
    r->rows_total = 0;
    r->lead.is = false;
    r->after = 0;
    r->behind = false;
}

static void dtrace_reset(struct dt_reader *r)
{
    r->open = r->in_block = r->sure = r->in_rows = false;
    r->keys.n = r->keys.stacks = 0;
    r->lead.is = false;
}

spaa_status dt_add_key(struct dt_reader *r, struct dt_text t)
{
    return sp_agg_key_add(&r->keys, t.p, t.n) ? SPAA_OK : sp_nomem(r->d);
}

spaa_status dt_add_keys(struct dt_reader *r, struct dt_text t)
{
    struct dt_text words[DT_KEYS_MAX];
    size_t n = dt_words(t, words, DT_KEYS_MAX);
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < n; i++)
        st = dt_add_key(r, words[i]);
    return st;
}

bool dt_is_rule(struct dt_text t, size_t indent)
{
    size_t i = 0;
    while (i < t.n && t.p[i] == '-')
        i++;
    return !indent && i == t.n;
}

/* The keys from `first` on were the line t before a stack, and it may end, or begin, with the value. */
static spaa_status dtrace_note_lead(struct dt_reader *r, uint32_t first, struct dt_text t, size_t indent)
{
    struct dt_text keys;
    if (dt_default_print(t, indent) ||
        (!dt_value_at_end(t, &keys, &r->lead.v) && !dt_value_at_start(t, &keys, &r->lead.v)))
        return SPAA_OK;
    r->lead.is = true;
    r->lead.first = first;
    r->lead.n = r->keys.n - first;
    r->lead.keys = sp_profile_str(r->p, keys.p, keys.n);
    return r->lead.keys == SP_STR_FAIL ? sp_nomem(r->d) : SPAA_OK;
}

spaa_status dt_keys_of_line(struct dt_reader *r, struct dt_text t, size_t indent, bool distribution)
{
    uint32_t first = r->keys.n;
    if (dt_is_rule(t, indent))
        return SPAA_OK;
    spaa_status st = dt_add_keys(r, t);
    return st || r->keys.stacks || distribution ? st : dtrace_note_lead(r, first, t, indent);
}

spaa_status dt_keys_before(struct dt_reader *r, bool distribution)
{
    struct dt_text t = {r->last.data, r->last.len};
    bool near = !r->last_gap || (distribution && r->last_line + 2 == r->lines.line);
    dt_begin_record(r);
    if (!r->last.len || !near || (!r->last_indent && r->last_gap))
        return SPAA_OK;
    sp_buf_clear(&r->last); /* what it holds stays */
    r->other_lines--;
    return dt_keys_of_line(r, t, r->last_indent, distribution);
}

/* The first n bytes of the last line as a name: valid UTF-8, not too long. */
static uint32_t dtrace_title_text(struct dt_reader *r, size_t n)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < n && b.len < TITLE_MAX;) {
        size_t k = sp_utf8_at(r->last.data + i, r->last.data + n);
        if (k)
            sp_buf_add(&b, r->last.data + i, k);
        else
            sp_buf_puts(&b, "\xEF\xBF\xBD");
        i += k ? k : 1;
    }
    uint32_t title = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    return title;
}

spaa_status dt_take_title(struct dt_reader *r)
{
    size_t n = r->last.len;
    if (!n || !r->last_gap || r->last_indent)
        return SPAA_OK;
    while (n && strchr(":,. ", r->last.data[n - 1]))
        n--;
    uint32_t title = n ? dtrace_title_text(r, n) : SP_STR_NONE;
    sp_buf_clear(&r->last);
    if (title == SP_STR_FAIL)
        return sp_nomem(r->d);
    if (!n)
        return SPAA_OK;
    if (r->groups.n == 1 && !r->groups.v[0].title && !r->any)
        r->groups.v[0].title = title;
    for (uint32_t i = 0; i < r->groups.n; i++)
        if (r->groups.v[i].title == title) {
            r->group = i;
            return SPAA_OK;
        }
    if (r->groups.n == GROUPS_MAX) {
        sp_emit(r->d, SP_W311, dt_here_at_record(r),
                "more than %d titles: the aggregations under the others are one", GROUPS_MAX);
        r->group = GROUPS_MAX - 1;
        return SPAA_OK;
    }
    struct sp_event e = r->p->events.v[0];
    struct dt_group g = {.title = title, .event = sp_event_add(r->p, &e)};
    r->group = (uint32_t)r->groups.n;
    return g.event != SP_NONE && sp_vec_push(&r->groups, g) ? SPAA_OK : sp_nomem(r->d);
}

/* The record in work has its values, which stood behind its stacks or before them. */
static spaa_status dtrace_complete(struct dt_reader *r, bool behind)
{
    spaa_status st = dt_take_title(r);
    if (st)
        return st;
    if (behind)
        dt_note_end(r, &r->groups.v[r->group]);
    bool distribution = r->agg.values.n > r->first_value + 1;
    for (size_t i = r->first_value; !distribution && i < r->agg.values.n; i++) {
        struct sp_agg_seen *seen = &r->groups.v[r->group].seen;
        seen->bare = true;
        seen->negative = seen->negative || r->agg.values.v[i].v < 0;
    }
    uint32_t context = sp_agg_keys_context(&r->keys, r->groups.v[r->group].event, r->first_line);
    bool ok = context != SP_NONE && sp_agg_record_add(&r->agg, r->first_block, r->first_value, context);
    r->any = true;
    dtrace_reset(r);
    return ok ? SPAA_OK : sp_nomem(r->d);
}

spaa_status dt_complete_with(struct dt_reader *r, int64_t v)
{
    if (r->lead.is && r->keys.stacks) {
        r->trails = true;
        r->leads = false;
    }
    bool ok = sp_agg_value_add(&r->agg, SP_NONE, v);
    return ok ? dtrace_complete(r, true) : sp_nomem(r->d);
}

spaa_status dt_complete_by_lead(struct dt_reader *r)
{
    struct sp_agg_key after[SP_AGG_KEYS_MAX];
    struct dt_lead lead = r->lead;
    struct sp_str keys = sp_pstr(r->p, lead.keys);
    uint32_t from = lead.first + lead.n, n = r->keys.n - from, stacks = r->keys.stacks;
    memcpy(after, r->keys.list + from, n * sizeof *after);
    r->keys.n = lead.first;
    r->keys.stacks = 0;
    spaa_status st = dt_add_keys(r, (struct dt_text){keys.p, keys.n});
    r->keys.stacks = stacks;
    for (uint32_t i = 0; i < n && r->keys.n < SP_AGG_KEYS_MAX; i++)
        r->keys.list[r->keys.n++] = after[i];
    r->leads = r->any_leads = true;
    r->run = SIZE_MAX;
    if (!st && !sp_agg_value_add(&r->agg, SP_NONE, lead.v))
        st = sp_nomem(r->d);
    return st ? st : dtrace_complete(r, false);
}

/*
 * printa("%@d\n%k\n", @): values and stacks with blank lines between, so that each stack was given the value
 * of the one behind it. The first value looked like a record with an empty stack, the last stack has none.
 */
static bool dtrace_move_values(struct dt_reader *r)
{
    struct sp_agg *a = &r->agg;
    if (r->run >= a->records.n || r->keys.n || !r->gap)
        return false;
    for (size_t i = r->run; i < a->records.n; i++) {
        bool last = i + 1 == a->records.n;
        struct sp_agg_record *to = &a->records.v[i];
        to->first_block = last ? r->first_block : to[1].first_block;
        to->blocks = last ? (uint32_t)(a->blocks.n - r->first_block) : to[1].blocks;
    }
    r->any_leads = true;
    dtrace_reset(r);
    return true;
}

void dt_note_run(struct dt_reader *r)
{
    bool apart = r->held_gap && !r->held_default && !r->keys.n;
    if (apart && !r->keys.stacks && r->blanks < 2)
        r->run = r->agg.records.n;
    else if (!apart || !r->keys.stacks)
        r->run = SIZE_MAX;
}

spaa_status dt_abandon(struct dt_reader *r)
{
    if (!r->open)
        return SPAA_OK;
    if (r->lead.is && r->keys.stacks && !r->trails)
        return dt_complete_by_lead(r);
    if (r->sure && dtrace_move_values(r))
        return SPAA_OK;
    if (r->sure) {
        r->unfinished++;
        sp_emit_hint(
            r->d, SP_L302, SP_AT_LINE(r->first_line, SP_NOWHERE),
            "a stack is followed by its value; the output may have been cut or mixed with other output",
            "a stack without a value");
    }
    r->other_lines += r->lines.line - r->first_line;
    sp_agg_drop(&r->agg, r->first_block, r->first_value);
    dtrace_reset(r);
    r->run = SIZE_MAX;
    return SPAA_OK;
}
