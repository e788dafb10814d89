/* Frames of the record in work, and notes about them. */
#include "formats/dtrace/records.h"

#include "base/num.h"
#include "json/json.h"

#include <string.h>

/* Frames of a line go to the block in work, or begin one. */
static spaa_status dtrace_push_frames(struct dt_reader *r, const struct sp_agg_line *k)
{
    if (!r->in_block || r->gap) {
        if (!sp_agg_block_begin(&r->agg, sp_agg_keys_side(&r->keys, r->keys.stacks), r->keys.stacks))
            return sp_nomem(r->d);
        r->keys.stacks++;
        r->in_block = true;
        r->indent = k->indent;
    }
    r->sure = r->sure || k->within == UINT16_MAX;
    r->gap = false;
    r->after = 0;
    r->behind = true;
    return sp_agg_lines_push(&r->agg, k) ? SPAA_OK : sp_nomem(r->d);
}

/* A line of decimal digits that is an address, where the others around it are. */
static bool dtrace_held_is_address(const struct dt_reader *r, size_t indent)
{
    return r->bare && !r->gap && r->held_indent == indent && r->held_digits >= 8 && r->held_digits <= 16;
}

spaa_status dt_push_address(struct dt_reader *r, int64_t digits, size_t indent)
{
    char t[64];
    struct sp_agg_line l = {.indent = (uint16_t)(indent < 1000 ? indent : 1000), .within = UINT16_MAX};
    uint32_t n;
    if (!dt_frame(&r->agg, (struct dt_text){t, sp_scaled_text(digits, 0, t)}, &l.first, &n))
        return sp_nomem(r->d);
    l.count = (uint16_t)n;
    l.told = r->agg.frames.v[l.first].side;
    return dtrace_push_frames(r, &l);
}

/* The first line of a stack may be one. */
static spaa_status dtrace_held_is_frame(struct dt_reader *r)
{
    r->held = false;
    spaa_status st = dt_waiting_are_keys(r, false);
    r->gap = r->held_gap;
    return st ? st : dt_push_address(r, r->held_number, r->held_indent);
}

spaa_status dt_add_frames(struct dt_reader *r, const struct sp_agg_line *k)
{
    spaa_status st = SPAA_OK;
    if (r->held && dtrace_held_is_address(r, k->indent))
        st = dtrace_held_is_frame(r);
    if (!st && dt_waiting_begins_next(r))
        st = dt_complete_by_lead(r);
    if (!st)
        st = dt_waiting_are_keys(r, false);
    r->waited = false;
    if (!st && r->keys.stacks == DT_STACKS_MAX && (!r->in_block || r->gap)) {
        st = dt_abandon(r);
        dt_begin_record(r);
    }
    return st ? st : dtrace_push_frames(r, k);
}

/* The frame with a note: once more, with `note` beside what it has. */
static uint32_t dtrace_noted_frame(struct dt_reader *r, uint32_t frame, struct dt_text note)
{
    struct sp_agg_frame f = r->agg.frames.v[frame];
    struct sp_str raw = sp_pstr(r->p, f.more);
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, "\"x_dtrace\":{\"note\":");
    sp_json_string(&b, note.p, note.n);
    if (raw.n > 12) { /* what is in there already: "x_dtrace":{"raw":…} */
        sp_buf_ch(&b, ',');
        sp_buf_add(&b, raw.p + 12, raw.n - 12);
    } else {
        sp_buf_ch(&b, '}');
    }
    f.more = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    return f.more == SP_STR_FAIL ? SP_NONE : sp_agg_frame_add(&r->agg, &f);
}

spaa_status dt_take_note(struct dt_reader *r, struct dt_text t)
{
    struct sp_agg *a = &r->agg;
    struct sp_buf key;
    if (!r->in_block || r->gap || !a->blocks.v[a->blocks.n - 1].n) {
        r->other_lines++;
        return SPAA_OK;
    }
    uint32_t *last = &a->block_frames.v[a->block_frames.n - 1];
    static const char noted[] = "\"x_dtrace\":{\"note\":";
    struct sp_str has = sp_pstr(r->p, a->frames.v[*last].more);
    if (has.n >= sizeof noted - 1 && memcmp(has.p, noted, sizeof noted - 1) == 0) {
        r->other_lines++; /* a frame has one note */
        return SPAA_OK;
    }
    sp_buf_init(&key, 0);
    sp_buf_u64(&key, *last);
    sp_buf_ch(&key, '\n');
    sp_buf_add(&key, t.p, t.n);
    const struct sp_agg_line *known = key.failed ? NULL : sp_agg_lines_find(&r->known, key.data, key.len);
    if (!known && !key.failed) {
        struct dt_text note = {t.p + 1, t.n - 2};
        for (; note.n && *note.p == ' '; note.n--)
            note.p++;
        while (note.n && note.p[note.n - 1] == ' ')
            note.n--;
        uint32_t f = dtrace_noted_frame(r, *last, note);
        if (f != SP_NONE)
            known = sp_agg_lines_add(&r->known, a, key.data, key.len,
                                     &(struct sp_agg_line){.first = f, .count = 1});
    }
    sp_buf_free(&key);
    if (!known)
        return sp_nomem(r->d);
    *last = known->first;
    return SPAA_OK;
}

spaa_status dt_take_frame(struct dt_reader *r, const struct dt_line *l, const char *p, size_t n)
{
    struct sp_agg_line new = {.indent = (uint16_t)(l->indent < 1000 ? l->indent : 1000)};
    new.within = l->kind == DT_FRAME ? UINT16_MAX : new.indent;
    const struct sp_agg_line *known = sp_agg_lines_find(&r->known, p, n);
    uint32_t count;
    if (!known) {
        if (!dt_frame(&r->agg, l->text, &new.first, &count))
            return sp_nomem(r->d);
        new.count = (uint16_t)count;
        r->bare = r->bare || (l->kind == DT_FRAME && dt_bare_address(l->text));
        if (l->kind == DT_NOTE) /* below a frame it would be none */
            return dt_add_frames(r, &new);
        known = sp_agg_lines_add(&r->known, &r->agg, p, n, &new);
    }
    return known ? dt_add_frames(r, known) : sp_nomem(r->d);
}
