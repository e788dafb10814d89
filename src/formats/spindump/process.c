/*
 * A process: its line, its keys in any order, its threads' rows, its images. Rows wait until the images below
 * them are known, since these tell which file a frame's image is.
 *
 * Where a line that begins something is damaged, what follows is not counted for what came before: it
 * gets a thread or a process without a number.
 */
#include "base/num.h"
#include "formats/spindump/spindump.h"

#include <string.h>

/* The context of samples that end in the row whose text has this number. */
static uint32_t context_of(void *who, uint32_t text)
{
    struct sp_sd_reader *r = who;
    const struct sp_sd_meaning *x = &r->frames.meanings.v[text];
    unsigned by = r->opts->group_by;
    struct sp_context c = {.pid = by & SP_BY_PID ? r->pid : SP_ABSENT,
                           .tid = by & SP_BY_TID ? r->tid : SP_ABSENT,
                           .cpu = SP_ABSENT,
                           .event = r->event,
                           .comm = by & SP_BY_COMM ? r->comm : SP_STR_NONE,
                           .state = by & SP_BY_STATE ? x->state : SP_STR_NONE,
                           .more = by & SP_BY_STATE ? x->state_extra : SP_STR_NONE};
    return sp_context_intern(r->p, &c);
}

bool sp_sd_prepare(struct sp_sd_reader *r)
{
    struct sp_profile *p = r->p;
    r->metric = sp_metric_intern(p, "samples", 7);
    struct sp_event e = {.name = sp_profile_cstr(p, "stackshot"),
                         .kind = SP_TIMER,
                         .mode = SP_FREQUENCY,
                         .primary = r->metric};
    if (r->metric == SP_NONE || e.name == SP_STR_FAIL)
        return false;
    r->event = sp_event_add(p, &e);
    r->tree = (struct sp_hang_tree){
        .p = p, .d = r->d, .metric = r->metric, .context = context_of, .who = r, .excess = SP_W517};
    r->tree.layout = sp_layout_simple(p, r->metric, SP_STR_NONE, SP_NONE, SP_STR_NONE);
    return r->event != SP_NONE && r->tree.layout != SP_NONE;
}

/* The last "[digits]" of s. */
static const char *last_pid(struct sp_span s, size_t *n)
{
    for (size_t i = s.n; i-- > 0;) {
        size_t k = i + 1;
        if (s.p[i] != '[')
            continue;
        while (k < s.n && sp_hang_digit(s.p[k]))
            k++;
        if (k > i + 1 && k < s.n && s.p[k] == ']') {
            *n = k + 1 - i;
            return s.p + i;
        }
    }
    return NULL;
}

/* "name (bundle) [pid] [unique pid N] (suspended)" */
static void process_name(struct sp_sd_reader *r, struct sp_span s)
{
    size_t n;
    s = sp_hang_trim(s);
    if (sp_hang_ends(s, "(suspended)")) {
        r->suspended = true;
        s = sp_hang_trim((struct sp_span){s.p, s.n - strlen("(suspended)")});
    }
    const char *unique = s.n && s.p[s.n - 1] == ']' ? memmem(s.p, s.n, "[unique pid ", 12) : NULL;
    if (unique) {
        r->unique_pid = (struct sp_span){unique + 12, (size_t)(s.p + s.n - 1 - (unique + 12))};
        s = sp_hang_trim((struct sp_span){s.p, (size_t)(unique - s.p)});
    }
    if (!sp_hang_cut_pid(&s, &r->pid)) {
        const char *at = last_pid(s, &n);
        r->pid = SP_ABSENT;
        if (at) {
            struct sp_span head = {s.p, (size_t)(at + n - s.p)};
            struct sp_span rest = sp_hang_trim(sp_hang_after(s, head.n));
            if (sp_hang_cut_pid(&head, &r->pid)) {
                s = head;
                sp_hang_member(&r->extra, "rest", rest);
            }
        }
    }
    const char *group = sp_hang_group(s);
    if (group && group - s.p > 1 && group[-1] == ' ') {
        struct sp_span b = {group + 1, (size_t)(s.p + s.n - 1 - (group + 1))};
        if (memchr(b.p, '.', b.n) && !memchr(b.p, ' ', b.n)) {
            r->bundle = b;
            s = sp_hang_trim((struct sp_span){s.p, (size_t)(group - s.p)});
        }
    }
    r->name = s;
}

bool sp_sd_begin_process(struct sp_sd_reader *r, struct sp_span rest, bool powerstats)
{
    r->in_process = true;
    r->powerstats = powerstats;
    r->suspended = false;
    r->stamp++;
    r->processes++;
    r->name = r->bundle = r->unique_pid = (struct sp_span){NULL, 0};
    r->comm = SP_STR_NONE;
    r->process_line = r->line;
    sp_buf_clear(&r->keys);
    sp_buf_clear(&r->extra);
    sp_buf_clear(&r->not_understood);
    sp_buf_clear(&r->annotations);
    r->process_images.n = r->blocks.n = r->rows.n = r->notes.n = 0;
    sp_buf_ch(&r->extra, '{'); /* the record's beginning, so that commas come out right */
    process_name(r, rest);
    if (r->name.n)
        r->comm = sp_hang_str(r->p, r->name);
    r->zone = SP_SD_PROCESS;
    return r->comm != SP_STR_FAIL && !r->extra.failed;
}

static void pid_member(struct sp_sd_reader *r, const char *key, struct sp_span value)
{
    size_t n;
    int64_t pid;
    const char *at = last_pid(value, &n);
    struct sp_span head = {value.p, at ? (size_t)(at + n - value.p) : 0};
    if (at && sp_hang_cut_pid(&head, &pid))
        sp_hang_number(&r->extra, key, pid);
}

static void footprint(struct sp_sd_reader *r, struct sp_span value)
{
    int64_t v;
    const char *arrow = memmem(value.p, value.n, "->", 2);
    if (!sp_hang_bytes(value, &v))
        return;
    sp_hang_number(&r->extra, arrow ? "footprint_before_bytes" : "footprint_bytes", v);
    if (arrow && sp_hang_bytes(sp_hang_trim(sp_hang_after(value, (size_t)(arrow + 2 - value.p))), &v))
        sp_hang_number(&r->extra, "footprint_bytes", v);
}

/* Numbers of what is well known, beside the texts. */
enum known { RESPONSIBLE, PARENT, CPU_TIME, IO, FOOTPRINT, NUM_SAMPLES, UNKNOWN };

static enum known known_key(struct sp_span key)
{
    static const char *const names[] = {"Responsible", "Parent",    "CPU Time",
                                        "I/O",         "Footprint", "Num samples"};
    unsigned i = key.n && memchr("RPCIFN", *key.p, 6) ? 0 : UNKNOWN;
    while (i < UNKNOWN && !sp_span_is(key, names[i]))
        i++;
    return (enum known)i;
}

/* A key that repeats counts the first time. */
static void known_value(struct sp_sd_reader *r, enum known key, struct sp_span value)
{
    int64_t v;
    if (key == UNKNOWN || r->seen_keys >> key & 1)
        return;
    r->seen_keys |= 1u << key;
    switch (key) {
    case RESPONSIBLE:
        pid_member(r, "responsible_pid", value);
        break;
    case PARENT:
        pid_member(r, "parent_pid", value);
        break;
    case CPU_TIME:
        sp_hang_cpu_members(&r->extra, "cpu_time", value);
        break;
    case IO:
        sp_hang_io_members(&r->extra, value);
        break;
    case FOOTPRINT:
        footprint(r, value);
        break;
    case NUM_SAMPLES:
        if (sp_parse_i64(value.p, value.p + value.n, &v))
            sp_hang_number(&r->extra, "num_samples", v);
        break;
    case UNKNOWN:
        break;
    }
}

void sp_sd_process_line(struct sp_sd_reader *r, struct sp_span line)
{
    struct sp_span key, value;
    if (!sp_sd_key_value(line, &key, &value)) {
        sp_sd_not_understood(r, line, &r->not_understood, "no field of a process");
        return;
    }
    sp_hang_pair(&r->keys, key, value);
    known_value(r, known_key(sp_hang_trim(key)), value);
}

bool sp_sd_begin_thread(struct sp_sd_reader *r, const struct sp_sd_thread *t)
{
    struct sp_sd_block b = {.thread = {.tid = SP_ABSENT, .nsamples = -1},
                            .has_thread = t,
                            .first = r->rows.n,
                            .line = r->line,
                            .notes = r->notes.n};
    if (t)
        b.thread = *t;
    r->zone = SP_SD_THREAD;
    return sp_vec_push(&r->blocks, b);
}

/* {…} of what a thread's header and annotations say, behind `key`; `tid` where no record of a thread has it.
 */
static void thread_object(struct sp_sd_reader *r, struct sp_buf *to, const struct sp_sd_block *b,
                          bool with_tid)
{
    sp_buf_ch(to, '{');
    if (with_tid && b->thread.tid != SP_ABSENT)
        sp_hang_number(to, "tid", b->thread.tid);
    sp_sd_thread_members(to, &b->thread);
    if (b->notes_n) {
        sp_hang_comma(to);
        sp_buf_puts(to, "\"annotations\":[");
        for (size_t i = 0; i < b->notes_n; i++)
            sp_hang_item(to, r->notes.v[b->notes + i]);
        sp_buf_ch(to, ']');
    }
    sp_buf_ch(to, '}');
}

/* The thread's record; *known: there was one of this thread already. */
static bool thread_record(struct sp_sd_reader *r, const struct sp_sd_block *b, bool *known)
{
    size_t before = r->p->threads.n;
    uint32_t number = sp_thread_intern(r->p, r->pid, b->thread.tid, r->comm);
    *known = r->p->threads.n == before;
    if (number == SP_NONE || *known)
        return number != SP_NONE;
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "\"x_spindump\":");
    thread_object(r, &r->buf, b, false);
    uint32_t extra = r->buf.failed ? SP_STR_FAIL : sp_profile_str(r->p, r->buf.data, r->buf.len);
    r->p->threads.v[number].more = extra == SP_STR_FAIL ? SP_STR_NONE : extra;
    return extra != SP_STR_FAIL;
}

/* Rows hold texts: their frames in this process. */
static bool bind_rows(struct sp_sd_reader *r, struct sp_hang_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t text = rows[i].frame;
        if (!sp_sd_bind(&r->frames, text, r->stamp))
            return false;
        rows[i].frame = r->frames.texts.v.v[text].frame;
        rows[i].tag = text;
        if (r->frames.meanings.v[text].truncated)
            r->p->header.truncated += (uint64_t)rows[i].count;
    }
    return true;
}

/* The rows of one thread as stacks. */
static spaa_status block_stacks(struct sp_sd_reader *r, const struct sp_sd_block *b)
{
    struct sp_hang_row *rows = r->rows.v + b->first;
    const struct sp_sd_thread *t = &b->thread;
    int64_t roots;
    if (!b->n)
        return SPAA_OK;
    r->tid = t->tid;
    if (!bind_rows(r, rows, b->n))
        return sp_nomem(r->d);
    spaa_status st = sp_hang_tree_build(&r->tree, rows, b->n, &roots);
    if (!st && t->nsamples >= 0 && roots != t->nsamples)
        sp_emit(r->d, SP_W516, SP_AT_LINE(b->line, SP_NOWHERE),
                "thread %.*s has %lld samples, its roots %lld", (int)(t->id.n ? t->id.n : 10),
                t->id.n ? t->id.p : "<multiple>", (long long)t->nsamples, (long long)roots);
    return st;
}

static void array(struct sp_buf *to, const char *key, const struct sp_buf *items)
{
    if (!items->len)
        return;
    sp_hang_comma(to);
    sp_buf_ch(to, '"');
    sp_buf_puts(to, key);
    sp_buf_puts(to, "\":[");
    sp_buf_add(to, items->data, items->len);
    sp_buf_ch(to, ']');
}

static bool frontmost(const struct sp_sd_reader *r)
{
    for (size_t i = 0; i < r->notes.n; i++)
        if (memmem(r->notes.v[i].p, r->notes.v[i].n, "process frontmost", 17))
            return true;
    return false;
}

/* Threads as their numbers; those that have no record of their own as objects. */
static spaa_status threads(struct sp_sd_reader *r, struct sp_buf *list)
{
    spaa_status st = SPAA_OK;
    for (size_t i = 0; i < r->blocks.n && !st; i++) {
        const struct sp_sd_block *b = &r->blocks.v[i];
        bool known = true;
        if (b->thread.tid != SP_ABSENT && !thread_record(r, b, &known))
            return sp_nomem(r->d);
        if (b->has_thread)
            sp_hang_comma(list);
        if (!known)
            sp_buf_i64(list, b->thread.tid);
        else if (b->has_thread)
            thread_object(r, list, b, true);
        st = block_stacks(r, b);
    }
    return st;
}

static bool process_record(struct sp_sd_reader *r, const struct sp_buf *list)
{
    struct sp_buf *b = &r->buf;
    sp_buf_clear(b);
    sp_buf_puts(b, "{\"type\":\"x_spindump_process\"");
    if (r->name.n)
        sp_hang_member(b, "name", r->name);
    if (r->bundle.n)
        sp_hang_member(b, "bundle", r->bundle);
    if (r->pid != SP_ABSENT)
        sp_hang_number(b, "pid", r->pid);
    if (r->unique_pid.n)
        sp_hang_member(b, "unique_pid", r->unique_pid);
    if (r->suspended)
        sp_buf_puts(b, ",\"suspended\":true");
    if (r->powerstats)
        sp_buf_puts(b, ",\"powerstats\":true");
    if (frontmost(r))
        sp_buf_puts(b, ",\"frontmost\":true");
    array(b, "fields", &r->keys);
    if (r->extra.len > 1) {
        sp_hang_comma(b);
        sp_buf_add(b, r->extra.data + 1, r->extra.len - 1);
    }
    array(b, "annotations", &r->annotations);
    array(b, "threads", list);
    sp_buf_puts(b, ",\"images\":");
    sp_hang_image_list(b, r->process_images.v, r->process_images.n);
    array(b, "not_understood", &r->not_understood);
    b->failed |= r->keys.failed || r->extra.failed || list->failed || r->not_understood.failed ||
                 r->annotations.failed;
    return sp_hang_extension(r->p, b);
}

/* Images that no frame names are DSOs too. */
static bool image_dsos(struct sp_sd_reader *r)
{
    for (size_t i = 0; i < r->process_images.n; i++) {
        struct sp_hang_image *m = &r->images.v.v[r->process_images.v[i]];
        if (m->named)
            continue;
        m->named = true;
        struct sp_span file = sp_hang_image_file(m);
        if (file.n && !sp_span_is(file, "???") && sp_hang_dso(r->p, file, m->uuid, m->kernel) == SP_NONE)
            return false;
    }
    return true;
}

spaa_status sp_sd_end_process(struct sp_sd_reader *r)
{
    struct sp_buf *list = &r->threads;
    if (!r->in_process)
        return SPAA_OK;
    r->in_process = false;
    r->seen_keys = 0;
    if (r->blocks.n)
        r->blocks.v[r->blocks.n - 1].n = r->rows.n - r->blocks.v[r->blocks.n - 1].first;
    for (size_t i = 0; i + 1 < r->blocks.n; i++)
        r->blocks.v[i].n = r->blocks.v[i + 1].first - r->blocks.v[i].first;
    for (size_t i = 0; i < r->blocks.n; i++)
        r->blocks.v[i].notes_n =
            (i + 1 < r->blocks.n ? r->blocks.v[i + 1].notes : r->notes.n) - r->blocks.v[i].notes;
    sp_buf_clear(list);
    spaa_status st = threads(r, list);
    if (!st && (!image_dsos(r) || !process_record(r, list)))
        st = sp_nomem(r->d);
    return st;
}
