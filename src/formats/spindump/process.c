/* Processes, their threads and their stacks. */
#include "base/num.h"
#include "formats/spindump/report.h"

#include <string.h>

static bool spindump_open_process(struct spindump_reader *r, struct sp_span rest, bool powerstats)
{
    r->in_process = true;
    r->powerstats = powerstats;
    r->stamp++;
    r->lines_lost = false;
    r->num_threads = -1;
    r->omitted = 0;
    r->first_nameless = r->first_nameless || (!r->processes && !rest.n);
    r->processes++;
    r->microstackshots += powerstats;
    r->started = r->uuid = (struct sp_span){NULL, 0};
    sp_spindump_parse_process(rest, &r->at);
    r->comm = SP_STR_NONE;
    sp_buf_clear(&r->keys);
    sp_buf_clear(&r->extra);
    sp_buf_clear(&r->not_understood);
    sp_buf_clear(&r->annotations);
    r->facts = (struct sp_process_fact){0};
    sp_facts_clear(sp_process_facts, &r->facts);
    r->process_images.n = r->blocks.n = r->rows.n = r->notes.n = 0;
    sp_buf_ch(&r->extra, '{'); /* the record's beginning, so that commas come out right */
    if (r->at.rest.p)
        sp_hang_member(&r->extra, "rest", r->at.rest);
    if (r->at.name.n)
        r->comm = sp_hang_str(r->p, r->at.name);
    r->zone = SPINDUMP_PROCESS;
    return r->comm != SP_STR_FAIL && !r->extra.failed;
}

/* SP_ABSENT: there is none. */
static int64_t spindump_pid_in(struct sp_span value)
{
    size_t n;
    int64_t pid;
    const char *at = sp_spindump_last_pid(value, &n);
    struct sp_span head = {value.p, at ? (size_t)(at + n - value.p) : 0};
    return at && sp_hang_cut_pid(&head, &pid) ? pid : SP_ABSENT;
}

static void spindump_footprint(struct spindump_reader *r, struct sp_span value)
{
    int64_t v;
    const char *arrow = memmem(value.p, value.n, "->", 2);
    if (!sp_hang_bytes(value, &v))
        return;
    if (arrow)
        sp_hang_number(&r->extra, "footprint_before_bytes", v);
    else
        r->facts.footprint_bytes = v;
    if (arrow && sp_hang_bytes(sp_hang_trim(sp_hang_after(value, (size_t)(arrow + 2 - value.p))), &v))
        r->facts.footprint_bytes = v;
}

/* Numbers of what is well known, beside the texts. */
enum spindump_key {
    KEY_RESPONSIBLE,
    KEY_PARENT,
    KEY_CPU_TIME,
    KEY_IO,
    KEY_FOOTPRINT,
    KEY_NUM_SAMPLES,
    KEY_NUM_THREADS,
    KEY_NOTE,
    KEY_PATH,
    KEY_START,
    KEY_END,
    KEY_UUID,
    KEY_UNKNOWN
};

static enum spindump_key spindump_known_key(struct sp_span key)
{
    static const char *const names[] = {"Responsible", "Parent",      "CPU Time",    "I/O",
                                        "Footprint",   "Num samples", "Num threads", "Note",
                                        "Path",        "Start time",  "End time",    "UUID"};
    unsigned i = key.n && memchr("RPCIFNSEU", *key.p, 9) ? 0 : KEY_UNKNOWN;
    while (i < KEY_UNKNOWN && !sp_span_is(key, names[i]))
        i++;
    return (enum spindump_key)i;
}

/* A key that repeats counts the first time, but for notes. */
static void spindump_known_value(struct spindump_reader *r, enum spindump_key key, struct sp_span value)
{
    int64_t v;
    struct sp_hang_cpu cpu;
    if (key == KEY_UNKNOWN || r->seen_keys >> key & 1)
        return;
    r->seen_keys |= key == KEY_NOTE ? 0 : 1u << key;
    switch (key) {
    case KEY_RESPONSIBLE:
        v = spindump_pid_in(value);
        if (v != SP_ABSENT)
            sp_hang_number(&r->extra, "responsible_pid", v);
        break;
    case KEY_PARENT:
        r->facts.parent_pid = spindump_pid_in(value);
        break;
    case KEY_CPU_TIME:
        cpu = sp_hang_cpu(value);
        r->facts.cpu_time_ns = cpu.ns;
        r->facts.cycles = cpu.cycles;
        r->facts.instructions = cpu.instructions;
        break;
    case KEY_IO:
        sp_hang_io_members(&r->extra, value);
        break;
    case KEY_FOOTPRINT:
        spindump_footprint(r, value);
        break;
    case KEY_NUM_SAMPLES:
        if (sp_parse_i64(value.p, value.p + value.n, &v))
            sp_hang_number(&r->extra, "num_samples", v);
        break;
    case KEY_NUM_THREADS:
        if (sp_parse_i64(value.p, value.p + value.n, &v) == value.n)
            r->num_threads = v;
        break;
    case KEY_NOTE: /* "2 idle work queue threads omitted" */
        if (sp_parse_i64(value.p, value.p + value.n, &v) && memmem(value.p, value.n, " thread", 7) &&
            sp_hang_ends(value, " omitted"))
            r->omitted = v > 0 && v < INT32_MAX ? v : 0;
        break;
    case KEY_PATH:
        r->facts.path = value.n ? sp_profile_text(r->p, value.p, value.n) : SP_STR_NONE;
        break;
    case KEY_START:
        r->started = value;
        if (!r->powerstats && sp_spindump_date(value, &v)) /* of these it is when samples were taken */
            r->facts.start_ns = v;
        break;
    case KEY_END:
        if (!r->powerstats && sp_spindump_date(value, &v))
            r->facts.exit_ns = v;
        break;
    case KEY_UUID:
        r->uuid = value;
        break;
    case KEY_UNKNOWN:
        break;
    }
}

void sp_spindump_process_line(struct spindump_reader *r, struct sp_span line)
{
    struct sp_span key, value;
    if (!sp_spindump_key_value(line, &key, &value)) {
        sp_spindump_not_understood(r, line, sp_spindump_here(r, line.p), &r->not_understood,
                                   "no field of a process");
        return;
    }
    sp_hang_pair(&r->keys, key, value);
    spindump_known_value(r, spindump_known_key(sp_hang_trim(key)), value);
}

bool sp_spindump_begin_thread(struct spindump_reader *r, const struct sp_spindump_thread *t)
{
    struct spindump_block b = {.thread = {.tid = SP_ABSENT, .nsamples = -1},
                               .has_thread = t,
                               .rows = {.first = r->rows.n, .line = r->line},
                               .notes = r->notes.n};
    if (t)
        b.thread = *t;
    r->zone = SPINDUMP_THREAD;
    r->first_column = SP_HANG_NO_COLUMN;
    return sp_vec_push(&r->blocks, b);
}

/* {…} of what a thread's header and annotations say; `alone`: no record of a thread has the rest. */
static void spindump_thread_object(struct spindump_reader *r, struct sp_buf *to,
                                   const struct spindump_block *b, bool alone)
{
    sp_buf_ch(to, '{');
    if (alone && b->thread.tid != SP_ABSENT)
        sp_hang_number(to, "tid", b->thread.tid);
    if (b->number > 1)
        sp_hang_number(to, "header", b->number);
    sp_spindump_thread_members(to, &b->thread, alone);
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
static bool spindump_thread_record(struct spindump_reader *r, const struct spindump_block *b, bool *known)
{
    size_t before = r->p->threads.n;
    uint32_t number = sp_thread_intern(r->p, r->at.pid, b->thread.tid, r->comm);
    *known = r->p->threads.n == before;
    if (number == SP_NONE || *known)
        return number != SP_NONE;
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "\"x_spindump\":");
    spindump_thread_object(r, &r->buf, b, false);
    uint32_t extra = r->buf.failed ? SP_STR_FAIL : sp_profile_str(r->p, r->buf.data, r->buf.len);
    r->p->threads.v[number].extra_json = extra == SP_STR_FAIL ? SP_STR_NONE : extra;
    struct sp_thread facts = r->p->threads.v[number];
    bool ok = extra != SP_STR_FAIL && sp_spindump_thread_facts(r->p, &b->thread, &facts);
    if (ok)
        r->p->threads.v[number] = facts;
    return ok;
}

static void spindump_array(struct sp_buf *to, const char *key, const struct sp_buf *items)
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

static bool spindump_is_frontmost(const struct spindump_reader *r)
{
    for (size_t i = 0; i < r->notes.n; i++)
        if (memmem(r->notes.v[i].p, r->notes.v[i].n, "process frontmost", 17))
            return true;
    return false;
}

/* Threads as their numbers; those that have no record of their own as objects. */
static spaa_status spindump_threads(struct spindump_reader *r, struct sp_buf *list)
{
    spaa_status st = SPAA_OK;
    for (size_t i = 0; i < r->blocks.n && !st; i++) {
        const struct spindump_block *b = &r->blocks.v[i];
        bool known = true;
        if (b->thread.tid != SP_ABSENT && !spindump_thread_record(r, b, &known))
            return sp_nomem(r->d);
        if (b->has_thread)
            sp_hang_comma(list);
        if (!known)
            sp_buf_i64(list, b->thread.tid);
        else if (b->has_thread)
            spindump_thread_object(r, list, b, true);
        st = sp_spindump_block_stacks(r, b);
    }
    return st;
}

/* What the row has no field for: "x_spindump":{…}. */
static uint32_t spindump_process_extra(struct spindump_reader *r, const struct sp_buf *list)
{
    struct sp_buf *b = &r->buf;
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_spindump\":{");
    if (r->at.bundle.n)
        sp_hang_member(b, "bundle", r->at.bundle);
    if (r->at.unique_pid.n)
        sp_hang_member(b, "unique_pid", r->at.unique_pid);
    if (r->powerstats) {
        sp_hang_comma(b);
        sp_buf_puts(b, "\"powerstats\":true");
    }
    spindump_array(b, "fields", &r->keys);
    if (r->extra.len > 1) {
        sp_hang_comma(b);
        sp_buf_add(b, r->extra.data + 1, r->extra.len - 1);
    }
    spindump_array(b, "annotations", &r->annotations);
    spindump_array(b, "threads", list);
    spindump_array(b, "not_understood", &r->not_understood);
    sp_buf_ch(b, '}');
    b->failed |= r->keys.failed || r->extra.failed || list->failed || r->not_understood.failed ||
                 r->annotations.failed;
    return b->failed ? SP_STR_FAIL : sp_profile_str(r->p, b->data, b->len);
}

static bool spindump_process_record(struct spindump_reader *r, const struct sp_buf *list)
{
    struct sp_process_fact *x = &r->facts;
    x->pid = r->at.pid;
    x->name = r->at.name.n ? sp_profile_text(r->p, r->at.name.p, r->at.name.n) : SP_STR_NONE;
    x->flags = (r->at.suspended ? SP_FACT_SUSPENDED : 0) |
               (spindump_is_frontmost(r) ? SP_FACT_FRONTMOST : 0) | (r->lines_lost ? SP_FACT_LINES_LOST : 0);
    x->extra_json = spindump_process_extra(r, list);
    return x->name != SP_STR_FAIL && x->path != SP_STR_FAIL && x->extra_json != SP_STR_FAIL &&
           sp_process_add(r->p, x, r->process_images.v, r->process_images.n);
}

/* Images that no frame names are DSOs too. */
static bool spindump_image_dsos(struct spindump_reader *r)
{
    for (size_t i = 0; i < r->process_images.n; i++) {
        struct sp_hang_image *m = &r->images.v.v[r->process_images.v[i]];
        if (m->named)
            continue;
        m->named = true;
        if (m->file.n && !sp_span_is(m->file, "???") &&
            sp_hang_dso(r->p, m->file, m->uuid, m->kernel) == SP_NONE)
            return false;
    }
    return true;
}

static bool spindump_part_blocks(struct spindump_reader *r)
{
    for (size_t i = 0, all = r->blocks.n; i < all; i++) {
        struct spindump_block *b = &r->blocks.v[i], rest = {.thread = {.tid = SP_ABSENT, .nsamples = -1}};
        if (b->thread.tid != SP_ABSENT &&
            !sp_hang_part_slice(&r->tree, r->rows.v, &b->rows, b->thread.nsamples, "thread ", b->thread.id,
                                &rest.rows))
            return false;
        if (rest.rows.n && !sp_vec_push(&r->blocks, rest))
            return false;
    }
    return true;
}

/* As many threads as it says, but for those that it says are left out; where headers stand for several, that
 * is not known. */
static void spindump_count_threads(struct spindump_reader *r)
{
    int64_t n = r->omitted;
    for (size_t i = 0; i < r->blocks.n; i++) {
        const struct spindump_block *b = &r->blocks.v[i];
        if (b->has_thread && b->thread.tid == SP_ABSENT)
            return;
        n += b->has_thread && b->number == 1;
    }
    if (r->powerstats || !r->blocks.n || n >= r->num_threads)
        return;
    r->lines_lost = true;
    sp_emit(r->d, SP_W529, SP_AT_LINE(r->blocks.v[0].rows.line, SP_NOWHERE),
            "%.*s has %lld threads, of which the report has %lld", (int)r->at.name.n, r->at.name.p,
            (long long)r->num_threads, (long long)n);
}

spaa_status sp_spindump_end_process(struct spindump_reader *r)
{
    struct sp_buf *list = &r->threads;
    if (!r->in_process)
        return SPAA_OK;
    r->in_process = false;
    r->seen_keys = 0;
    for (size_t i = 0; i < r->blocks.n; i++) {
        struct spindump_block *b = &r->blocks.v[i], *next = i + 1 < r->blocks.n ? b + 1 : NULL;
        b->rows.n = (next ? next->rows.first : r->rows.n) - b->rows.first;
        b->notes_n = (next ? next->notes : r->notes.n) - b->notes;
    }
    sp_buf_clear(list);
    if (!sp_spindump_settle_image(r) || !spindump_part_blocks(r) || !sp_spindump_number_blocks(r) ||
        !sp_spindump_instance(r))
        return sp_nomem(r->d);
    spindump_count_threads(r);
    spaa_status st = spindump_threads(r, list);
    if (!st && (!spindump_image_dsos(r) || !spindump_process_record(r, list)))
        st = sp_nomem(r->d);
    return st;
}

spaa_status sp_spindump_begin_process(struct spindump_reader *r, struct sp_span rest, bool powerstats)
{
    spaa_status st = sp_spindump_end_process(r);
    if (!st && !spindump_open_process(r, rest, powerstats))
        st = sp_nomem(r->d);
    return st;
}
