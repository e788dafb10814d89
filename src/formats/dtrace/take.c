/* What a line of DTrace's output is where it stands: the state machine that makes records of lines. */
#include "formats/dtrace/records.h"

#include "base/num.h"
#include "json/json.h"

#include <string.h>

/*
 * Lines of text that may be frames of a ustack helper (Java methods) are indented at least this much; key
 * lines, and what programs print, less.
 */
enum { HELPER_INDENT = 8, ONE_LINE_COLUMNS = 50 };

/* Keys after a stack; the next line says whether a number in it is a value, and of which record. */
static spaa_status dtrace_keys_after(struct dt_reader *r, const struct dt_line *l)
{
    struct dt_text keys;
    int64_t v;
    spaa_status st = dt_take_title(r);
    r->in_block = r->gap = false;
    if (st || dt_is_rule(l->text, l->indent))
        return st;
    if (!dt_value_at_end(l->text, &keys, &v) && !(r->lead.is && dt_value_at_start(l->text, &keys, &v)))
        return dt_add_keys(r, l->text);
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

/* No keys follow, so that what waits ends in a value. */
static spaa_status dtrace_waiting_are_values(struct dt_reader *r)
{
    spaa_status st = dt_held_is_value(r);
    return st ? st : dt_tail_is_value(r);
}

static spaa_status dtrace_take_text(struct dt_reader *r, const struct dt_line *l, const char *p, size_t n)
{
    bool helper = l->indent >= HELPER_INDENT;
    if (r->in_block && !r->gap && l->indent >= r->indent)
        return dt_take_frame(r, l, p, n);
    if ((r->held || r->tail) && !r->gap && helper && !dtrace_one_line(l))
        return dt_take_frame(r, l, p, n);
    spaa_status st = dtrace_waiting_are_values(r);
    if (st)
        return st;
    if (r->open && r->keys.stacks) {
        struct dt_text keys;
        int64_t v;
        if (l->indent < r->indent && (!r->gap || (l->indent && dt_value_at_end(l->text, &keys, &v))))
            return dtrace_keys_after(r, l);
        if (r->gap && helper)
            return dt_take_frame(r, l, p, n);
    }
    st = dt_abandon(r);
    if (st)
        return st;
    bool after_keys = r->last.len && !r->last_gap && r->last_indent && r->last_indent < HELPER_INDENT;
    if (helper && (r->gap || after_keys))
        return dt_take_frame(r, l, p, n);
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
    return sp_agg_bucket_add(&r->agg, marks[l->indent], l->label.p, l->label.n < 24 ? l->label.n : 24,
                             l->number, &r->rows_total, dt_here_at_record(r));
}

static spaa_status dtrace_rows_end(struct dt_reader *r)
{
    if (!r->in_rows)
        return SPAA_OK;
    r->in_rows = false;
    r->run = SIZE_MAX;
    return dt_complete_with(r, r->rows_total);
}

/* "dtrace: 12 drops on CPU 0", "dtrace: 5 dynamic variable drops": may stand inside a record. */
static void dtrace_take_message(struct dt_reader *r, struct dt_text t)
{
    uint64_t n;
    const char *end = t.p + t.n, *p = t.p + 8;
    size_t used = sp_parse_u64(p, end, &n);
    if (used && memmem(p, (size_t)(end - p), " drop", 5)) {
        r->p->header.lost += n;
        sp_emit_hint(r->d, SP_L303, dt_here_at_record(r),
                     "raise DTrace's buffers: -b, -x aggsize, -x dynvarsize", "%.*s",
                     (int)(t.n < 200 ? t.n : 200), t.p);
    } else if (memmem(p, (size_t)(end - p), "error on enabled probe", 22)) {
        sp_emit(r->d, SP_W311, dt_here_at_record(r), "%.*s", (int)(t.n < 200 ? t.n : 200), t.p);
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

static spaa_status dtrace_take_blank(struct dt_reader *r)
{
    spaa_status st = dt_waits_behind_blank(r) ? SPAA_OK : dtrace_waiting_are_values(r);
    if (r->last.len && !r->last_indent) /* perhaps a title: what follows may be printed otherwise */
        r->leads = r->trails = false;
    r->gap = true;
    r->last_gap = true;
    r->blanks++;
    r->after += r->behind;
    return st;
}

static spaa_status dtrace_take_number(struct dt_reader *r, const struct dt_line *l)
{
    bool by_default = dt_default_print(l->text, l->indent);
    spaa_status st =
        dt_held_is_first_key(r) && by_default ? dt_waiting_are_keys(r, false) : dt_held_is_value(r);
    if (!st)
        st = dt_tail_is_keys(r, false);
    if (r->bare && r->in_block && !r->gap && l->indent == r->indent && dt_bare_address(l->text))
        return st ? st : dt_push_address(r, l->number, l->indent);
    r->held = true;
    r->held_gap = r->gap;
    r->held_default = by_default;
    r->held_key = dt_ends_in_key(l->text, l->indent);
    r->held_number = l->number;
    r->held_indent = l->indent;
    r->held_digits = l->text.n;
    r->gap = false;
    r->blanks = 0;
    return st;
}

static spaa_status dtrace_take_kind(struct dt_reader *r, const struct dt_line *l, const char *p, size_t n)
{
    spaa_status st = SPAA_OK;
    if (l->kind != DT_BLANK && l->kind != DT_NOTE)
        r->behind = false;
    if (r->waited && l->kind != DT_BLANK && l->kind != DT_FRAME) {
        st = dtrace_waiting_are_values(r);
        r->waited = false;
        if (st)
            return st;
    }
    switch (l->kind) {
    case DT_BLANK:
        return dtrace_take_blank(r);
    case DT_NUMBER:
        return dtrace_take_number(r, l);
    case DT_FRAME:
        return dt_take_frame(r, l, p, n);
    case DT_NOTE:
        if (!r->in_block || r->gap)
            return dtrace_take_text(r, l, p, n);
        return dt_take_note(r, l->text);
    case DT_HEAD:
        st = dt_waiting_are_keys(r, true);
        r->in_rows = true;
        r->in_block = false;
        break;
    case DT_HIST:
    case DT_PACK:
        st = dtrace_waiting_are_values(r);
        if (!st)
            st = dt_abandon(r);
        r->hist = true;
        r->pack = l->kind == DT_PACK;
        r->gap = true;
        r->last_gap = true;
        return st;
    case DT_ROW:
        return r->in_rows ? dtrace_take_row(r, l) : dtrace_take_text(r, l, p, n);
    case DT_PROLOGUE:
    case DT_FIRING:
        st = dtrace_waiting_are_values(r);
        if (!st)
            st = dt_abandon(r);
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
            return dt_add_frames(r, known);
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
    if (!st && r->lines.cut && n)
        sp_lines_say_cut(r->d, r->lines.line, r->lines.offset);
    return !st && r->opts->strict && r->unfinished ? SPAA_ERR_INPUT : st;
}

spaa_status dt_take_end(struct dt_reader *r)
{
    spaa_status st = dtrace_rows_end(r);
    if (!st)
        st = dtrace_waiting_are_values(r);
    if (!st && r->open && r->any && r->keys.stacks && !r->sure &&
        !r->lead.is) /* others were followed by it */
        sp_emit(r->d, SP_I322, SP_AT_LINE(r->first_line, SP_NOWHERE),
                "the file ends inside what may be a stack without its value: it may be cut off");
    return st ? st : dt_abandon(r);
}
