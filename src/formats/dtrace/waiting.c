/* A number, or a line that ends in one, waits: what follows makes it a value, a key or a frame. */
#include "formats/dtrace/records.h"

#include "base/num.h"

spaa_status dt_held_is_value(struct dt_reader *r)
{
    if (!r->held)
        return SPAA_OK;
    r->held = false;
    if (r->open && r->lead.is && r->keys.stacks && r->leads) {
        spaa_status st = dt_complete_by_lead(r);
        if (st)
            return st;
    }
    if (r->open) {
        dt_note_run(r);
        return dt_complete_with(r, r->held_number);
    }
    bool keys = r->last.len && !r->last_gap && r->last_indent;
    if (keys || r->held_gap || r->leads) { /* keys with an empty stack, or nothing but an empty stack */
        spaa_status st = keys ? dt_keys_before(r, false) : SPAA_OK;
        dt_begin_record(r);
        dt_note_run(r);
        return st ? st : dt_complete_with(r, r->held_number);
    }
    r->other_lines++;
    return SPAA_OK;
}

spaa_status dt_tail_is_value(struct dt_reader *r)
{
    struct dt_text keys, t = {r->last.data, r->last.len};
    int64_t v = 0;
    if (!r->tail)
        return SPAA_OK;
    r->tail = false;
    dt_begin_record(r);
    bool value = dt_value_at_end(t, &keys, &v);
    spaa_status st = dt_add_keys(r, value ? keys : t);
    sp_buf_clear(&r->last);
    r->run = SIZE_MAX;
    return st || !value ? st : dt_complete_with(r, v);
}

spaa_status dt_tail_is_keys(struct dt_reader *r, bool distribution)
{
    struct dt_text t = {r->last.data, r->last.len};
    if (!r->tail)
        return SPAA_OK;
    r->tail = false;
    dt_begin_record(r);
    spaa_status st = dt_keys_of_line(r, t, r->last_indent, distribution);
    sp_buf_clear(&r->last);
    r->in_block = false;
    return st;
}

/* The number that waited is a key. */
static spaa_status dtrace_held_is_key(struct dt_reader *r)
{
    char t[64];
    if (!r->held)
        return SPAA_OK;
    r->held = r->in_block = false;
    dt_begin_record(r);
    if (!r->keys.stacks && !r->held_default)
        r->lead = (struct dt_lead){true, r->held_number, r->keys.n, 1, SP_STR_NONE};
    return dt_add_key(r, (struct dt_text){t, sp_scaled_text(r->held_number, 0, t)});
}

spaa_status dt_waiting_are_keys(struct dt_reader *r, bool distribution)
{
    spaa_status st = dtrace_held_is_key(r);
    if (!st)
        st = dt_tail_is_keys(r, distribution);
    return st || r->open ? st : dt_keys_before(r, distribution);
}

bool dt_waits_behind_blank(struct dt_reader *r)
{
    bool tail = r->tail && dt_ends_in_key((struct dt_text){r->last.data, r->last.len}, r->last_indent);
    r->waited = !r->open && !r->waited && ((r->held && r->held_key) || tail);
    return r->waited;
}

bool dt_held_is_first_key(const struct dt_reader *r)
{
    return r->held && !r->open && !r->waited && r->held_key;
}

bool dt_waiting_begins_next(const struct dt_reader *r)
{
    struct dt_text keys, t = {r->last.data, r->last.len};
    int64_t v;
    if (!r->open || !r->keys.stacks || !r->lead.is || r->trails || r->gap)
        return false;
    if (r->held)
        return !r->held_default;
    return r->tail && !dt_default_print(t, r->last_indent) &&
           (dt_value_at_end(t, &keys, &v) || dt_value_at_start(t, &keys, &v));
}
