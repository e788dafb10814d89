/* What a line of DTrace's output is where it stands: the state machine that makes records of lines. */
#include "base/num.h"
#include "formats/dtrace/dtrace.h"
#include "json/json.h"

#include <string.h>

/*
 * Lines of text that may be frames of a ustack helper (Java methods) are indented at least this much; key
 * lines, and what programs print, less.
 */
enum { HELPER_INDENT = 8, ONE_LINE_COLUMNS = 50, TITLE_MAX = 80, GROUPS_MAX = 256 };

static struct sp_where dtrace_here_at_record(const struct dt_reader *r)
{
    return SP_AT_LINE(r->lines.line, r->lines.offset);
}

static void dtrace_begin_record(struct dt_reader *r)
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
}

static void dtrace_reset(struct dt_reader *r)
{
    r->open = r->in_block = r->sure = r->in_rows = false;
    r->keys.n = r->keys.stacks = 0;
    r->lead.is = false;
}

static spaa_status dtrace_add_key(struct dt_reader *r, struct dt_text t)
{
    return sp_agg_key_add(&r->keys, t.p, t.n) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status dtrace_add_keys(struct dt_reader *r, struct dt_text t)
{
    struct dt_text words[DT_KEYS_MAX];
    size_t n = dt_words(t, words, DT_KEYS_MAX);
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < n; i++)
        st = dtrace_add_key(r, words[i]);
    return st;
}

/* "-", which programs print between the two stacks of a record. */
static bool dtrace_is_rule(struct dt_text t, size_t indent)
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

/* A line of keys before a stack, or between two. */
static spaa_status dtrace_keys_of_line(struct dt_reader *r, struct dt_text t, size_t indent,
                                       bool distribution)
{
    uint32_t first = r->keys.n;
    if (dtrace_is_rule(t, indent))
        return SPAA_OK;
    spaa_status st = dtrace_add_keys(r, t);
    return st || r->keys.stacks || distribution ? st : dtrace_note_lead(r, first, t, indent);
}

/*
 * The line of text before, when what follows makes it the keys of a record. An empty stack between keys and a
 * distribution leaves a blank line.
 */
static spaa_status dtrace_keys_before(struct dt_reader *r, bool distribution)
{
    struct dt_text t = {r->last.data, r->last.len};
    bool near = !r->last_gap || (distribution && r->last_line + 2 == r->lines.line);
    dtrace_begin_record(r);
    if (!r->last.len || !near || (!r->last_indent && r->last_gap))
        return SPAA_OK;
    sp_buf_clear(&r->last); /* what it holds stays */
    r->other_lines--;
    return dtrace_keys_of_line(r, t, r->last_indent, distribution);
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

/* A title over records of another aggregation makes an event of its own. */
static spaa_status dtrace_take_title(struct dt_reader *r)
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
        sp_emit(r->d, SP_W311, dtrace_here_at_record(r),
                "more than %d titles: the aggregations under the others are one", GROUPS_MAX);
        r->group = GROUPS_MAX - 1;
        return SPAA_OK;
    }
    struct sp_event e = r->p->events.v[0];
    struct dt_group g = {.title = title, .event = sp_event_add(r->p, &e)};
    r->group = (uint32_t)r->groups.n;
    return g.event != SP_NONE && sp_vec_push(&r->groups, g) ? SPAA_OK : sp_nomem(r->d);
}

/* The record in work has its values. */
static spaa_status dtrace_complete(struct dt_reader *r)
{
    spaa_status st = dtrace_take_title(r);
    if (st)
        return st;
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

/* The value stood behind the stacks, if there are any. */
static spaa_status dtrace_complete_with(struct dt_reader *r, int64_t v)
{
    if (r->lead.is && r->keys.stacks) {
        r->trails = true;
        r->leads = false;
    }
    bool ok = sp_agg_value_add(&r->agg, SP_NONE, v);
    return ok ? dtrace_complete(r) : sp_nomem(r->d);
}

/* It stood before the first of them, where it was taken for a key. */
static spaa_status dtrace_complete_by_lead(struct dt_reader *r)
{
    struct sp_agg_key after[SP_AGG_KEYS_MAX];
    struct dt_lead lead = r->lead;
    struct sp_str keys = sp_pstr(r->p, lead.keys);
    uint32_t from = lead.first + lead.n, n = r->keys.n - from, stacks = r->keys.stacks;
    memcpy(after, r->keys.list + from, n * sizeof *after);
    r->keys.n = lead.first;
    r->keys.stacks = 0;
    spaa_status st = dtrace_add_keys(r, (struct dt_text){keys.p, keys.n});
    r->keys.stacks = stacks;
    for (uint32_t i = 0; i < n && r->keys.n < SP_AGG_KEYS_MAX; i++)
        r->keys.list[r->keys.n++] = after[i];
    r->leads = r->any_leads = true;
    r->run = SIZE_MAX;
    if (!st && !sp_agg_value_add(&r->agg, SP_NONE, lead.v))
        st = sp_nomem(r->d);
    return st ? st : dtrace_complete(r);
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

/* A number became the value of the record in work, which ends here. */
static void dtrace_note_run(struct dt_reader *r)
{
    bool apart = r->held_gap && !r->held_default && !r->keys.n;
    if (apart && !r->keys.stacks && r->blanks < 2)
        r->run = r->agg.records.n;
    else if (!apart || !r->keys.stacks)
        r->run = SIZE_MAX;
}

/* What began like a record ends without a value behind it. */
static spaa_status dtrace_abandon(struct dt_reader *r)
{
    if (!r->open)
        return SPAA_OK;
    if (r->lead.is && r->keys.stacks && !r->trails)
        return dtrace_complete_by_lead(r);
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

/* The number that waited is no key. */
static spaa_status dtrace_held_is_value(struct dt_reader *r)
{
    if (!r->held)
        return SPAA_OK;
    r->held = false;
    if (r->open && r->lead.is && r->keys.stacks && r->leads) {
        spaa_status st = dtrace_complete_by_lead(r);
        if (st)
            return st;
    }
    if (r->open) {
        dtrace_note_run(r);
        return dtrace_complete_with(r, r->held_number);
    }
    bool keys = r->last.len && !r->last_gap && r->last_indent;
    if (keys || r->held_gap || r->leads) { /* keys with an empty stack, or nothing but an empty stack */
        spaa_status st = keys ? dtrace_keys_before(r, false) : SPAA_OK;
        dtrace_begin_record(r);
        dtrace_note_run(r);
        return st ? st : dtrace_complete_with(r, r->held_number);
    }
    r->other_lines++;
    return SPAA_OK;
}

static spaa_status dtrace_rows_end(struct dt_reader *r)
{
    if (!r->in_rows)
        return SPAA_OK;
    r->in_rows = false;
    r->run = SIZE_MAX;
    return dtrace_complete_with(r, r->rows_total);
}

/* The line of text that waited holds keys and, after them, the value. */
static spaa_status dtrace_tail_is_value(struct dt_reader *r)
{
    struct dt_text keys, t = {r->last.data, r->last.len};
    int64_t v = 0;
    if (!r->tail)
        return SPAA_OK;
    r->tail = false;
    dtrace_begin_record(r);
    bool value = dt_value_at_end(t, &keys, &v);
    spaa_status st = dtrace_add_keys(r, value ? keys : t);
    sp_buf_clear(&r->last);
    r->run = SIZE_MAX;
    return st || !value ? st : dtrace_complete_with(r, v);
}

/* It holds keys alone: a stack, or a distribution, follows without a blank line. */
static spaa_status dtrace_tail_is_keys(struct dt_reader *r, bool distribution)
{
    struct dt_text t = {r->last.data, r->last.len};
    if (!r->tail)
        return SPAA_OK;
    r->tail = false;
    dtrace_begin_record(r);
    spaa_status st = dtrace_keys_of_line(r, t, r->last_indent, distribution);
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
    dtrace_begin_record(r);
    if (!r->keys.stacks && !r->held_default)
        r->lead = (struct dt_lead){true, r->held_number, r->keys.n, 1, SP_STR_NONE};
    return dtrace_add_key(r, (struct dt_text){t, sp_scaled_text(r->held_number, 0, t)});
}

/* What waited are keys of the record that goes on here, or begins. */
static spaa_status dtrace_waiting_are_keys(struct dt_reader *r, bool distribution)
{
    spaa_status st = dtrace_held_is_key(r);
    if (!st)
        st = dtrace_tail_is_keys(r, distribution);
    return st || r->open ? st : dtrace_keys_before(r, distribution);
}

/*
 * A stack follows the line that waits, and the record in work, which has its stacks, has no value behind
 * them: if both have a number before them, these are the values.
 */
static bool dtrace_waiting_begins_next(const struct dt_reader *r)
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
    return sp_agg_lines_push(&r->agg, k) ? SPAA_OK : sp_nomem(r->d);
}

/* A line of decimal digits that is an address, where the others around it are. */
static bool dtrace_held_is_address(const struct dt_reader *r, size_t indent)
{
    return r->bare && !r->gap && r->held_indent == indent && r->held_digits >= 8 && r->held_digits <= 16;
}

static spaa_status dtrace_push_address(struct dt_reader *r, int64_t digits, size_t indent)
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
    spaa_status st = dtrace_waiting_are_keys(r, false);
    r->gap = r->held_gap;
    return st ? st : dtrace_push_address(r, r->held_number, r->held_indent);
}

static spaa_status dtrace_add_frames(struct dt_reader *r, const struct sp_agg_line *k)
{
    spaa_status st = SPAA_OK;
    if (r->held && dtrace_held_is_address(r, k->indent))
        st = dtrace_held_is_frame(r);
    if (!st && dtrace_waiting_begins_next(r))
        st = dtrace_complete_by_lead(r);
    if (!st)
        st = dtrace_waiting_are_keys(r, false);
    if (!st && r->keys.stacks == DT_STACKS_MAX && (!r->in_block || r->gap)) {
        st = dtrace_abandon(r);
        dtrace_begin_record(r);
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

/*
 * "[ ./func.py:3 (func) ]" under a frame. Frames with notes are known by the frame's number, a newline, and
 * the note.
 */
static spaa_status dtrace_take_note(struct dt_reader *r, struct dt_text t)
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

/* A frame line: DT_FRAME, or text that can be a frame where it stands. */
static spaa_status dtrace_take_frame(struct dt_reader *r, const struct dt_line *l, const char *p, size_t n)
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
            return dtrace_add_frames(r, &new);
        known = sp_agg_lines_add(&r->known, &r->agg, p, n, &new);
    }
    return known ? dtrace_add_frames(r, known) : sp_nomem(r->d);
}

/* Keys after a stack; the next line says whether a number in it is a value, and of which record. */
static spaa_status dtrace_keys_after(struct dt_reader *r, const struct dt_line *l)
{
    struct dt_text keys;
    int64_t v;
    spaa_status st = dtrace_take_title(r);
    r->in_block = r->gap = false;
    if (st || dtrace_is_rule(l->text, l->indent))
        return st;
    if (!dt_value_at_end(l->text, &keys, &v) && !(r->lead.is && dt_value_at_start(l->text, &keys, &v)))
        return dtrace_add_keys(r, l->text);
    sp_buf_clear(&r->last);
    r->tail = true;
    r->last_indent = l->indent;
    r->last_gap = false;
    return sp_buf_add(&r->last, l->text.p, l->text.n) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status dtrace_keep_text(struct dt_reader *r, const struct dt_line *l)
{
    sp_buf_clear(&r->last);
    r->last_indent = l->indent;
    r->last_line = r->lines.line;
    r->last_gap = false;
    r->other_lines++;
    return sp_buf_add(&r->last, l->text.p, l->text.n) ? SPAA_OK : sp_nomem(r->d);
}

/* Text with a number at its end, with two blanks before it. */
static bool dtrace_ends_in_column(struct dt_text t)
{
    struct dt_text words[DT_KEYS_MAX];
    size_t n = dt_words(t, words, DT_KEYS_MAX);
    int64_t v;
    return n > 1 && words[n - 1].p + words[n - 1].n == t.p + t.n && dt_integer(words[n - 1], &v) &&
           words[n - 1].p - (words[n - 2].p + words[n - 2].n) > 1;
}

/* "  bash                                                    12": keys and a value without a stack, or keys.
 */
static bool dtrace_one_line(const struct dt_line *l)
{
    return l->indent > 0 && l->indent + l->text.n >= ONE_LINE_COLUMNS && dtrace_ends_in_column(l->text);
}

static spaa_status dtrace_take_text(struct dt_reader *r, const struct dt_line *l, const char *p, size_t n)
{
    bool helper = l->indent >= HELPER_INDENT;
    if (r->in_block && !r->gap && l->indent >= r->indent)
        return dtrace_take_frame(r, l, p, n);
    if ((r->held || r->tail) && !r->gap && helper && !dtrace_one_line(l))
        return dtrace_take_frame(r, l, p, n);
    spaa_status st = dtrace_held_is_value(r);
    if (!st)
        st = dtrace_tail_is_value(r);
    if (st)
        return st;
    if (r->open && r->keys.stacks) {
        struct dt_text keys;
        int64_t v;
        if (l->indent < r->indent && (!r->gap || (l->indent && dt_value_at_end(l->text, &keys, &v))))
            return dtrace_keys_after(r, l);
        if (r->gap && helper)
            return dtrace_take_frame(r, l, p, n);
    }
    st = dtrace_abandon(r);
    if (st)
        return st;
    bool after_keys = r->last.len && !r->last_gap && r->last_indent && r->last_indent < HELPER_INDENT;
    if (helper && (r->gap || after_keys))
        return dtrace_take_frame(r, l, p, n);
    st = dtrace_keep_text(r, l);
    if (!st && dtrace_one_line(l)) {
        r->tail = true;
        r->other_lines--;
    }
    return st;
}

static spaa_status dtrace_take_row(struct dt_reader *r, const struct dt_line *l)
{
    static const char *const marks[] = {"", "<", ">="};
    struct sp_buf b;
    if (!r->in_rows) {
        r->other_lines++;
        return SPAA_OK;
    }
    if (!l->number) /* the rows around those that count */
        return SPAA_OK;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "bucket:%s%.*s", marks[l->indent], (int)(l->label.n < 24 ? l->label.n : 24),
                  l->label.p);
    uint32_t metric = b.failed ? SP_NONE : sp_metric_intern(r->p, b.data, b.len);
    bool failed = b.failed;
    sp_buf_free(&b);
    if (metric == SP_NONE) {
        if (failed || r->p->metrics.n < SP_METRICS_MAX)
            return sp_nomem(r->d);
        sp_emit(r->d, SP_E007, dtrace_here_at_record(r), "more kinds of buckets than %u metrics can hold",
                SP_METRICS_MAX);
        return SPAA_ERR_LIMIT;
    }
    if (__builtin_add_overflow(r->rows_total, l->number, &r->rows_total)) {
        r->rows_total = INT64_MAX;
        sp_emit(r->d, SP_L304, dtrace_here_at_record(r), " ");
    }
    return sp_agg_value_add(&r->agg, metric, l->number) ? SPAA_OK : sp_nomem(r->d);
}

/* "dtrace: 12 drops on CPU 0", "dtrace: 5 dynamic variable drops": may stand inside a record. */
static void dtrace_take_message(struct dt_reader *r, struct dt_text t)
{
    uint64_t n;
    const char *end = t.p + t.n, *p = t.p + 8;
    size_t used = sp_parse_u64(p, end, &n);
    if (used && memmem(p, (size_t)(end - p), " drop", 5)) {
        r->p->header.lost += n;
        sp_emit_hint(r->d, SP_L303, dtrace_here_at_record(r),
                     "raise DTrace's buffers: -b, -x aggsize, -x dynvarsize", "%.*s",
                     (int)(t.n < 200 ? t.n : 200), t.p);
    } else if (memmem(p, (size_t)(end - p), "error on enabled probe", 22)) {
        sp_emit(r->d, SP_W311, dtrace_here_at_record(r), "%.*s", (int)(t.n < 200 ? t.n : 200), t.p);
    } else {
        r->other_lines++;
    }
}

/* What printed, from its first line: processor, probe id, FUNCTION:NAME. */
static spaa_status dtrace_note_firing(struct dt_reader *r, const struct dt_line *l)
{
    struct dt_text words[2] = {{NULL, 0}, {NULL, 0}};
    struct sp_buf b;
    int64_t cpu = 0, id = 0;
    if (r->probe)
        return SPAA_OK;
    dt_words(l->text, words, 2);
    dt_integer(words[0], &cpu);
    dt_integer(words[1], &id);
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "{\"cpu\":%lld,\"id\":%lld,\"probe\":", (long long)cpu, (long long)id);
    sp_json_string(&b, l->label.p, l->label.n);
    sp_buf_ch(&b, '}');
    r->probe = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    return r->probe == SP_STR_FAIL ? sp_nomem(r->d) : SPAA_OK;
}

/*
 * A line that says what printed. What a program prints first stands on it too: only values before a stack are
 * taken from there.
 */
static spaa_status dtrace_take_firing(struct dt_reader *r, const struct dt_line *l)
{
    const char *p = l->label.p + l->label.n;
    struct dt_text keys;
    struct dt_line rest;
    int64_t v;
    r->firings += r->any || !r->firings;
    spaa_status st = dtrace_note_firing(r, l);
    dt_classify(p, (size_t)(l->text.p + l->text.n - p), &rest);
    bool value = rest.kind == DT_NUMBER || dt_value_at_end(rest.text, &keys, &v) ||
                 dt_value_at_start(rest.text, &keys, &v);
    if (st || !value)
        return st;
    if (rest.kind == DT_TEXT) {
        st = dtrace_keep_text(r, &rest);
        r->last_indent = 1; /* no title */
        return st;
    }
    r->held = true;
    r->held_gap = r->held_default = false;
    r->held_indent = 0;
    r->held_digits = rest.text.n;
    r->held_number = rest.number;
    return st;
}

static spaa_status dtrace_take_kind(struct dt_reader *r, const struct dt_line *l, const char *p, size_t n)
{
    spaa_status st = SPAA_OK;
    switch (l->kind) {
    case DT_BLANK:
        st = dtrace_held_is_value(r);
        if (!st)
            st = dtrace_tail_is_value(r);
        if (r->last.len && !r->last_indent) /* perhaps a title: what follows may be printed otherwise */
            r->leads = r->trails = false;
        r->gap = true;
        r->last_gap = true;
        r->blanks++;
        return st;
    case DT_NUMBER:
        st = dtrace_held_is_value(r);
        if (!st)
            st = dtrace_tail_is_keys(r, false);
        if (r->bare && r->in_block && !r->gap && l->indent == r->indent && dt_bare_address(l->text))
            return st ? st : dtrace_push_address(r, l->number, l->indent);
        r->held = true;
        r->held_gap = r->gap;
        r->held_number = l->number;
        r->held_indent = l->indent;
        r->held_digits = l->text.n;
        r->held_default = dt_default_print(l->text, l->indent);
        break;
    case DT_FRAME:
        return dtrace_take_frame(r, l, p, n);
    case DT_NOTE:
        if (!r->in_block || r->gap)
            return dtrace_take_text(r, l, p, n);
        return dtrace_take_note(r, l->text);
    case DT_HEAD:
        st = dtrace_waiting_are_keys(r, true);
        r->in_rows = true;
        r->in_block = false;
        break;
    case DT_HIST:
    case DT_PACK:
        st = dtrace_held_is_value(r);
        if (!st)
            st = dtrace_tail_is_value(r);
        if (!st)
            st = dtrace_abandon(r);
        r->hist = true;
        r->pack = l->kind == DT_PACK;
        r->gap = true;
        r->last_gap = true;
        return st;
    case DT_ROW:
        return r->in_rows ? dtrace_take_row(r, l) : dtrace_take_text(r, l, p, n);
    case DT_PROLOGUE:
    case DT_FIRING:
        st = dtrace_held_is_value(r);
        if (!st)
            st = dtrace_tail_is_value(r);
        if (!st)
            st = dtrace_abandon(r);
        sp_buf_clear(&r->last);
        if (!st && l->kind == DT_FIRING)
            st = dtrace_take_firing(r, l);
        break;
    default:
        st = dtrace_take_text(r, l, p, n);
    }
    r->gap = false;
    r->blanks = 0;
    return st;
}

static spaa_status dtrace_take_line(struct dt_reader *r, const char *p, size_t n)
{
    struct dt_line l;
    if (r->hist && !r->in_rows && dt_unpacked(p, n, r->pack, &r->line)) {
        if (r->line.failed)
            return sp_nomem(r->d);
        p = r->line.data;
        n = r->line.len;
        r->packed = r->packed || r->pack;
    }
    if (!r->in_rows && n > 4) {
        /* Most lines are frames, and most of those were met before. */
        const struct sp_agg_line *known = sp_agg_lines_find(&r->known, p, n);
        if (known && known->within == UINT16_MAX)
            return dtrace_add_frames(r, known);
    }
    dt_classify(p, n, &l);
    if (l.kind == DT_MESSAGE) {
        dtrace_take_message(r, l.text);
        return SPAA_OK;
    }
    if (r->in_rows && l.kind != DT_ROW) {
        spaa_status st = dtrace_rows_end(r);
        if (st)
            return st;
    }
    return dtrace_take_kind(r, &l, p, n);
}

spaa_status dt_take_line(void *reader, const char *p, size_t n)
{
    struct dt_reader *r = reader;
    spaa_status st = dtrace_take_line(r, p, n);
    return !st && r->opts->strict && r->unfinished ? SPAA_ERR_INPUT : st;
}

spaa_status dt_take_end(struct dt_reader *r)
{
    spaa_status st = dtrace_rows_end(r);
    if (!st)
        st = dtrace_held_is_value(r);
    if (!st)
        st = dtrace_tail_is_value(r);
    return st ? st : dtrace_abandon(r);
}
