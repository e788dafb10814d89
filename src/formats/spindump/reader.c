/*
 * Reads the text of spindump(8), macOS' hang reporter (`spindump -i FILE.tailspin -stdout`, hang and watchdog
 * reports, `.ips` files):
 *
 *     Date/Time:        2026-02-02 23:22:34.999 -0800              fields of the system
 *     Process:          Safari [412]                               then, for each process, its fields,
 *     Path:             /Applications/Safari.app/…
 *       Thread 0x3fd504    DispatchQueue "com.apple.main-thread"(1)    341 samples (1-341)    priority 31 …
 *       341  start + 7184 (dyld + 36180) [0x19df79d54]             a tree of frames with inclusive counts
 *         258  main + 12 (Safari + 2304) [0x100000900]
 *        *83   ??? (kernel.release.t6041 + 602) [0xfffffe0008d] (blocked by turnstile waiting for …)
 *       Binary Images:
 *     KEY_IO Size Histogram:  …                                        and what else the versions append
 *
 * Quirks: `*` marks kernel frames and takes the column before the count, so only the column of the first
 * digit tells the depth. Counts are padded, or not. Keys come in any order, and unknown ones are kept. Which
 * of several binaries a frame's image is stands below the frames. A report that `Timeline format` names puts
 * siblings in order of time, with the range of samples behind each.
 *
 * What a sample was doing is the state behind the frame where it ended, none meaning that it waited; see
 * sp_spindump_state. Facts of threads, processes and images (their distinct lines) go to the tables of the
 * profile (model/facts.h); what these have no field for, under `x_spindump` beside them.
 */
#include "base/num.h"
#include "formats/common/hang/images.h"
#include "formats/common/hang/tree.h"
#include "formats/spindump/frames.h"
#include "formats/spindump/spindump.h"

#include <string.h>

#define ADVICE "decode it on a Mac: `spindump -i FILE -stdout > report.txt` (no root needed)"

/* What the lines at hand belong to. */
enum spindump_zone {
    SPINDUMP_HEADER,
    SPINDUMP_HEAVIEST,
    SPINDUMP_PROCESS,
    SPINDUMP_THREAD,
    SPINDUMP_IMAGES,
    SPINDUMP_TAIL
};

struct spindump_block { /* a thread's rows, or those of a process without thread lines */
    struct sp_spindump_thread thread;
    bool has_thread;
    size_t first, n; /* rows */
    uint64_t line;
    size_t notes, notes_n; /* slice of the annotations */
};

struct spindump_reader {
    const struct sp_read_opts *opts;
    struct sp_diags *d;
    struct sp_profile *p;
    const char *start, *end;
    uint64_t line;
    enum spindump_zone zone, before_heaviest;
    bool after_blank;
    struct sp_spindump_frames frames;
    struct sp_hang_images images;
    struct sp_hang_tree tree;
    uint32_t event;

    /* the header */
    struct sp_buf fields, banner, heaviest;
    struct sp_span ips, version, os, arch, cpus, begin, finish, duration;
    bool timeline, in_banner;
    int64_t interval_ns;

    /* the process at hand */
    bool in_process, powerstats, suspended;
    unsigned seen_keys;
    uint32_t stamp;
    struct sp_span name, bundle, unique_pid;
    int64_t pid;
    uint32_t comm;
    struct sp_process_fact facts;
    struct sp_buf keys, extra, threads, annotations, not_understood;
    SP_VEC(uint32_t) process_images;
    SP_VEC(struct spindump_block) blocks;
    SP_VEC(struct sp_hang_row) rows;
    SP_VEC(struct sp_span) notes;
    int64_t tid;     /* of the block whose stacks are built */
    uint32_t labels; /* likewise */

    /* the tail */
    struct sp_buf tail;
    size_t tail_lines;
    uint64_t table_line; /* of the title of the table at hand */
    SP_VEC(struct sp_span) histogram;
    uint64_t processes;
    struct sp_buf buf;
};

static struct sp_where spindump_here(const struct spindump_reader *r, const char *at)
{
    return SP_AT_LINE(r->line, (uint64_t)(at - r->start));
}

/* Reports a line that was not understood, and keeps it in `keep`. */
static void spindump_not_understood(struct spindump_reader *r, struct sp_span line, struct sp_buf *keep,
                                    const char *what)
{
    int n = line.n > 80 ? 80 : (int)line.n;
    sp_emit(r->d, SP_W515, spindump_here(r, line.p), "%s: \"%.*s\"", what, n, line.p);
    sp_hang_item(keep, line);
}

/*
 * ---- the header ----
 *
 * What stands before the first process: fields by name, the banner between rows of dashes, the `.ips` line.
 */

/* Keys as long as their column may have their value right behind the colon. */
enum { KEY_COLUMN = 17 };

static bool spindump_key_value(struct sp_span line, struct sp_span *key, struct sp_span *value)
{
    const char *p = line.p, *end = line.p + line.n;
    while ((p = memchr(p, ':', (size_t)(end - p)))) {
        if (p + 1 == end || sp_hang_blank(p[1]) || (p - line.p >= KEY_COLUMN && p[1] != ':'))
            break;
        p++;
    }
    if (!p || p == line.p || p - line.p > 64)
        return false;
    *key = (struct sp_span){line.p, (size_t)(p - line.p)};
    *value = sp_hang_trim((struct sp_span){p + 1, (size_t)(end - p - 1)});
    return sp_hang_trim(*key).n > 0;
}

static bool spindump_is_dashes(struct sp_span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '-')
            return false;
    return s.n >= 10;
}

static bool spindump_digits(const char **p, const char *end, size_t digits, int64_t *v)
{
    *v = 0;
    if ((size_t)(end - *p) < digits)
        return false;
    for (size_t i = 0; i < digits; i++, (*p)++) {
        if (!sp_hang_digit(**p))
            return false;
        *v = *v * 10 + (**p - '0');
    }
    return true;
}

static int64_t spindump_days(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = y / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* "2026-02-02 23:22:34.999 -0800" in nanoseconds since 1970. */
static bool spindump_date(struct sp_span s, int64_t *ns)
{
    static const char between[] = "-- ::";
    static const size_t widths[] = {4, 2, 2, 2, 2, 2};
    int64_t v[6], zone = 0, hours, minutes, fraction = 0;
    const char *p = s.p, *end = s.p + s.n;
    for (int i = 0; i < 6; i++) {
        if (!spindump_digits(&p, end, widths[i], &v[i]))
            return false;
        if (i < 5 && (p == end || *p++ != between[i]))
            return false;
    }
    if (v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > 31 || v[0] < 1970)
        return false;
    if (p < end && *p == '.') {
        int64_t unit = 100000000;
        for (p++; p < end && sp_hang_digit(*p); p++, unit /= 10)
            fraction += unit * (*p - '0');
    }
    struct sp_span rest = sp_hang_trim((struct sp_span){p, (size_t)(end - p)});
    p = rest.p;
    if (rest.n == 5 && (*p == '-' || *p == '+')) {
        p++;
        if (!spindump_digits(&p, rest.p + rest.n, 2, &hours) ||
            !spindump_digits(&p, rest.p + rest.n, 2, &minutes))
            return false;
        zone = (hours * 60 + minutes) * (*rest.p == '-' ? -60 : 60);
    }
    *ns = ((spindump_days(v[0], v[1], v[2]) * 24 + v[3]) * 60 + v[4]) * 60 + v[5] - zone;
    *ns = *ns * 1000000000 + fraction;
    return true;
}

/* "341 (10ms sampling interval)" */
static void spindump_interval(struct spindump_reader *r, struct sp_span s)
{
    const char *open = memchr(s.p, '(', s.n);
    int64_t ns;
    if (open && memmem(s.p, s.n, "sampling interval", 17) &&
        sp_hang_seconds(sp_hang_after(s, (size_t)(open + 1 - s.p)), &ns) && ns > 0)
        r->interval_ns = ns;
}

static void spindump_header_field(struct spindump_reader *r, struct sp_span key, struct sp_span value)
{
    struct {
        const char *key;
        struct sp_span *value;
    } known[] = {{"OS Version", &r->os},    {"Architecture", &r->arch}, {"Report Version", &r->version},
                 {"Active cpus", &r->cpus}, {"Date/Time", &r->begin},   {"End time", &r->finish},
                 {"Duration", &r->duration}};
    key = sp_hang_trim(key);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sp_span_is(key, known[i].key) && !known[i].value->p)
            *known[i].value = value;
    if (sp_span_is(key, "Steps") || sp_span_is(key, "Sampling interval"))
        spindump_interval(r, value);
}

static void spindump_banner_line(struct spindump_reader *r, struct sp_span line)
{
    sp_hang_item(&r->banner, line);
    if (sp_hang_starts(line, "Timeline format"))
        r->timeline = true;
}

static bool spindump_header_line(struct spindump_reader *r, struct sp_span line)
{
    struct sp_span key, value, text = sp_hang_trim(line);
    if (spindump_is_dashes(text)) {
        r->in_banner = !r->in_banner;
    } else if (r->in_banner || sp_hang_starts(text, "Heavy format") ||
               sp_hang_starts(text, "Timeline format")) {
        spindump_banner_line(r, text);
    } else if (!r->ips.p && !r->fields.len && *text.p == '{') {
        r->ips = line;
    } else {
        sp_hang_comma(&r->fields);
        sp_buf_ch(&r->fields, '[');
        if (spindump_key_value(line, &key, &value)) {
            sp_hang_item(&r->fields, key);
            sp_hang_item(&r->fields, value);
            spindump_header_field(r, key, value);
        } else {
            int n = line.n > 80 ? 80 : (int)line.n;
            sp_emit(r->d, SP_W515, spindump_here(r, line.p), "no field of the header: \"%.*s\"", n, line.p);
            sp_buf_puts(&r->fields, "\"\"");
            sp_hang_item(&r->fields, line);
        }
        sp_buf_ch(&r->fields, ']');
    }
    return !r->fields.failed && !r->banner.failed;
}

static bool spindump_ns_text(struct spindump_reader *r, int64_t ns, uint32_t *out)
{
    char t[32];
    *out = sp_profile_str(r->p, t, sp_ns_seconds(ns, t));
    return *out != SP_STR_FAIL;
}

static bool spindump_set_text(struct spindump_reader *r, struct sp_span s, uint32_t *out)
{
    if (s.n)
        *out = sp_hang_str(r->p, s);
    return *out != SP_STR_FAIL;
}

static bool spindump_times(struct spindump_reader *r)
{
    struct sp_header *h = &r->p->header;
    int64_t from, to, ns;
    size_t n = sp_hang_seconds(r->duration, &ns);
    if (n && !spindump_ns_text(r, ns, &h->duration))
        return false;
    if (!spindump_date(r->begin, &from) || !spindump_date(r->finish, &to) || to < from)
        return true;
    h->time_unit = sp_profile_cstr(r->p, "seconds");
    h->clock = sp_profile_cstr(r->p, "realtime");
    return h->time_unit != SP_STR_FAIL && h->clock != SP_STR_FAIL &&
           spindump_ns_text(r, from, &h->time_start) && spindump_ns_text(r, to, &h->time_end);
}

/* The sampling frequency in hertz, from the interval. */
static bool spindump_frequency(struct spindump_reader *r)
{
    struct sp_event *e = &r->p->events.v[r->event];
    char t[64];
    if (!r->interval_ns)
        return true;
    size_t n = sp_scaled_text((__int128)1000000000 * 1000000 / r->interval_ns, 6, t);
    e->frequency_hz = sp_profile_str(r->p, t, n);
    return e->frequency_hz != SP_STR_FAIL;
}

static bool spindump_header_extra(struct spindump_reader *r)
{
    struct sp_buf *b = &r->buf;
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_spindump\":{\"fields\":[");
    sp_buf_add(b, r->fields.data, r->fields.len);
    sp_buf_puts(b, r->timeline ? "],\"form\":\"timeline\"" : "],\"form\":\"heavy\"");
    if (r->interval_ns)
        sp_hang_number(b, "interval_ns", r->interval_ns);
    if (r->ips.n)
        sp_hang_member(b, "ips", r->ips);
    sp_buf_ch(b, '}');
    r->p->header.extra_json =
        b->failed || r->fields.failed ? SP_STR_FAIL : sp_profile_str(r->p, b->data, b->len);
    sp_buf_clear(b);
    return r->p->header.extra_json != SP_STR_FAIL;
}

static bool spindump_banner_record(struct spindump_reader *r)
{
    if (!r->banner.len)
        return true;
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "{\"type\":\"x_spindump_banner\",\"lines\":[");
    sp_buf_add(&r->buf, r->banner.data, r->banner.len);
    sp_buf_ch(&r->buf, ']');
    r->buf.failed |= r->banner.failed;
    return sp_hang_extension(r->p, &r->buf);
}

static spaa_status spindump_finish_header(struct spindump_reader *r)
{
    struct sp_header *h = &r->p->header;
    uint64_t cpus;
    h->version = sp_profile_cstr(r->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(r->p, "spindump");
    h->has_x_spaa = true;
    h->frames = r->frames.frames;
    h->group_by = r->opts->group_by & (SP_BY_DEFAULT | SP_BY_STATE);
    if (r->cpus.n && sp_parse_u64(r->cpus.p, r->cpus.p + r->cpus.n, &cpus) == r->cpus.n &&
        (*r->cpus.p != '0' || r->cpus.n == 1) && !spindump_set_text(r, r->cpus, &h->host.cpus))
        return sp_nomem(r->d);
    bool ok = h->version != SP_STR_FAIL && h->tool != SP_STR_FAIL &&
              spindump_set_text(r, r->version, &h->tool_version) &&
              spindump_set_text(r, r->os, &h->host.os) && spindump_set_text(r, r->arch, &h->host.arch) &&
              spindump_times(r) && spindump_frequency(r) && spindump_header_extra(r) &&
              spindump_banner_record(r);
    return ok ? SPAA_OK : sp_nomem(r->d);
}

/*
 * ---- a process ----
 *
 * A process: its line, its keys in any order, its threads' rows, its images. Rows wait until the images
 * below them are known, since these tell which file a frame's image is.
 *
 * Where a line that begins something is damaged, what follows is not counted for what came before: it
 * gets a thread or a process without a number.
 */

/* The context of samples that end in the row whose text has this number. */
static uint32_t spindump_context(void *who, uint32_t text)
{
    struct spindump_reader *r = who;
    const struct sp_spindump_meaning *x = &r->frames.meanings.v[text];
    unsigned by = r->opts->group_by;
    struct sp_context c = {.pid = by & SP_BY_PID ? r->pid : SP_ABSENT,
                           .tid = by & SP_BY_TID ? r->tid : SP_ABSENT,
                           .cpu = SP_ABSENT,
                           .event = r->event,
                           .comm = by & SP_BY_COMM ? r->comm : SP_STR_NONE,
                           .state = by & SP_BY_STATE ? x->state : SP_STR_NONE,
                           .extra_json = by & SP_BY_STATE ? x->state_extra : SP_STR_NONE,
                           .wait = by & SP_BY_STATE ? x->wait : 0,
                           .labels = r->labels};
    return sp_context_intern(r->p, &c);
}

static bool spindump_prepare(struct spindump_reader *r)
{
    struct sp_profile *p = r->p;
    uint32_t metric = sp_metric_intern(p, "samples", 7);
    struct sp_event e = {
        .name = sp_profile_cstr(p, "stackshot"), .kind = SP_TIMER, .mode = SP_FREQUENCY, .primary = metric};
    if (metric == SP_NONE || e.name == SP_STR_FAIL)
        return false;
    r->event = sp_event_add(p, &e);
    r->tree = (struct sp_hang_tree){
        .p = p, .d = r->d, .metric = metric, .context = spindump_context, .who = r, .excess = SP_W517};
    r->tree.layout = sp_layout_simple(p, metric, SP_STR_NONE, SP_NONE, SP_STR_NONE);
    return r->event != SP_NONE && r->tree.layout != SP_NONE;
}

/* The last "[digits]" of s. */
static const char *spindump_last_pid(struct sp_span s, size_t *n)
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
static void spindump_process_name(struct spindump_reader *r, struct sp_span s)
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
        const char *at = spindump_last_pid(s, &n);
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

static bool spindump_open_process(struct spindump_reader *r, struct sp_span rest, bool powerstats)
{
    r->in_process = true;
    r->powerstats = powerstats;
    r->suspended = false;
    r->stamp++;
    r->processes++;
    r->name = r->bundle = r->unique_pid = (struct sp_span){NULL, 0};
    r->comm = SP_STR_NONE;
    sp_buf_clear(&r->keys);
    sp_buf_clear(&r->extra);
    sp_buf_clear(&r->not_understood);
    sp_buf_clear(&r->annotations);
    r->facts = (struct sp_process_fact){0};
    sp_facts_clear(sp_process_facts, &r->facts);
    r->process_images.n = r->blocks.n = r->rows.n = r->notes.n = 0;
    sp_buf_ch(&r->extra, '{'); /* the record's beginning, so that commas come out right */
    spindump_process_name(r, rest);
    if (r->name.n)
        r->comm = sp_hang_str(r->p, r->name);
    r->zone = SPINDUMP_PROCESS;
    return r->comm != SP_STR_FAIL && !r->extra.failed;
}

/* SP_ABSENT: there is none. */
static int64_t spindump_pid_in(struct sp_span value)
{
    size_t n;
    int64_t pid;
    const char *at = spindump_last_pid(value, &n);
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
    KEY_PATH,
    KEY_UNKNOWN
};

static enum spindump_key spindump_known_key(struct sp_span key)
{
    static const char *const names[] = {"Responsible", "Parent",      "CPU Time", "I/O",
                                        "Footprint",   "Num samples", "Path"};
    unsigned i = key.n && memchr("RPCIFN", *key.p, 6) ? 0 : KEY_UNKNOWN;
    while (i < KEY_UNKNOWN && !sp_span_is(key, names[i]))
        i++;
    return (enum spindump_key)i;
}

/* A key that repeats counts the first time. */
static void spindump_known_value(struct spindump_reader *r, enum spindump_key key, struct sp_span value)
{
    int64_t v;
    struct sp_hang_cpu cpu;
    if (key == KEY_UNKNOWN || r->seen_keys >> key & 1)
        return;
    r->seen_keys |= 1u << key;
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
    case KEY_PATH:
        r->facts.path = value.n ? sp_profile_text(r->p, value.p, value.n) : SP_STR_NONE;
        break;
    case KEY_UNKNOWN:
        break;
    }
}

static void spindump_process_line(struct spindump_reader *r, struct sp_span line)
{
    struct sp_span key, value;
    if (!spindump_key_value(line, &key, &value)) {
        spindump_not_understood(r, line, &r->not_understood, "no field of a process");
        return;
    }
    sp_hang_pair(&r->keys, key, value);
    spindump_known_value(r, spindump_known_key(sp_hang_trim(key)), value);
}

static bool spindump_begin_thread(struct spindump_reader *r, const struct sp_spindump_thread *t)
{
    struct spindump_block b = {.thread = {.tid = SP_ABSENT, .nsamples = -1},
                               .has_thread = t,
                               .first = r->rows.n,
                               .line = r->line,
                               .notes = r->notes.n};
    if (t)
        b.thread = *t;
    r->zone = SPINDUMP_THREAD;
    return sp_vec_push(&r->blocks, b);
}

/* {…} of what a thread's header and annotations say; `alone`: no record of a thread has the rest. */
static void spindump_thread_object(struct spindump_reader *r, struct sp_buf *to,
                                   const struct spindump_block *b, bool alone)
{
    sp_buf_ch(to, '{');
    if (alone && b->thread.tid != SP_ABSENT)
        sp_hang_number(to, "tid", b->thread.tid);
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
    uint32_t number = sp_thread_intern(r->p, r->pid, b->thread.tid, r->comm);
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

/* Rows hold texts: their frames in this process. */
static bool spindump_bind_rows(struct spindump_reader *r, struct sp_hang_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t text = rows[i].frame;
        if (!sp_spindump_bind(&r->frames, text, r->stamp))
            return false;
        rows[i].frame = r->frames.texts.v.v[text].frame;
        rows[i].tag = text;
        if (r->frames.meanings.v[text].truncated)
            r->p->header.truncated += (uint64_t)rows[i].count;
    }
    return true;
}

/* The rows of one thread as stacks. */
static spaa_status spindump_block_stacks(struct spindump_reader *r, const struct spindump_block *b)
{
    struct sp_hang_row *rows = r->rows.v + b->first;
    const struct sp_spindump_thread *t = &b->thread;
    int64_t roots;
    if (!b->n)
        return SPAA_OK;
    r->tid = t->tid;
    r->labels =
        sp_labels_with_queue(r->p, 0, r->opts->asked, (struct sp_str){t->queue.p, (uint32_t)t->queue.n});
    if (r->labels == SP_NONE || !spindump_bind_rows(r, rows, b->n))
        return sp_nomem(r->d);
    spaa_status st = sp_hang_tree_build(&r->tree, rows, b->n, &roots);
    if (!st && t->nsamples >= 0 && roots != t->nsamples)
        sp_emit(r->d, SP_W516, SP_AT_LINE(b->line, SP_NOWHERE),
                "thread %.*s has %lld samples, its roots %lld", (int)(t->id.n ? t->id.n : 10),
                t->id.n ? t->id.p : "<multiple>", (long long)t->nsamples, (long long)roots);
    return st;
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
        st = spindump_block_stacks(r, b);
    }
    return st;
}

/* What the row has no field for: "x_spindump":{…}. */
static uint32_t spindump_process_extra(struct spindump_reader *r, const struct sp_buf *list)
{
    struct sp_buf *b = &r->buf;
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_spindump\":{");
    if (r->bundle.n)
        sp_hang_member(b, "bundle", r->bundle);
    if (r->unique_pid.n)
        sp_hang_member(b, "unique_pid", r->unique_pid);
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
    x->pid = r->pid;
    x->name = r->name.n ? sp_profile_text(r->p, r->name.p, r->name.n) : SP_STR_NONE;
    x->flags = (r->suspended ? SP_FACT_SUSPENDED : 0) | (spindump_is_frontmost(r) ? SP_FACT_FRONTMOST : 0);
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

static spaa_status spindump_end_process(struct spindump_reader *r)
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
    spaa_status st = spindump_threads(r, list);
    if (!st && (!spindump_image_dsos(r) || !spindump_process_record(r, list)))
        st = sp_nomem(r->d);
    return st;
}

/*
 * ---- behind the processes ----
 *
 * What follows the processes: I/O histograms and statistics are taken apart; everything else is kept as
 * lines, whatever it looks like.
 *
 *     Tier 0 Latency Histogram:                           Tier 0 Aggregate Stats:
 *           Begin        End      Freq      CDF           	Num IOs 55 Latency Mean 68us Max Latency …
 *             0us      100us        46       46           	Reads 0 (0 KB) Writes 55 (674 KB)
 *              >   1000000us         0       55
 */

enum { TAIL_LINES = 4096 };

static bool spindump_is_io_title(struct sp_span s)
{
    return sp_hang_ends(s, " Histogram:") || sp_hang_ends(s, " Aggregate Stats:");
}

static bool spindump_tail_begins(struct sp_span line)
{
    static const char *const marks[] = {"Kextstat:", "----FPS Report Legend", "====Frame Rate Report",
                                        "Custom Output:", "Spindump binary format"};
    if (!line.n || !memchr("K-=CSIT", *line.p, 7))
        return false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (sp_hang_starts(line, marks[i]))
            return true;
    return (sp_hang_starts(line, "IO ") || sp_hang_starts(line, "I/O ") || sp_hang_starts(line, "Tier ")) &&
           spindump_is_io_title(line);
}

static struct sp_span spindump_word(struct sp_span *s)
{
    *s = sp_hang_trim(*s);
    size_t n = 0;
    while (n < s->n && !sp_hang_blank(s->p[n]))
        n++;
    struct sp_span w = {s->p, n};
    *s = sp_hang_after(*s, n);
    return w;
}

/* "100us": the number and its unit. */
static bool spindump_bound(struct sp_span w, int64_t *v, struct sp_span *unit)
{
    size_t n = sp_parse_i64(w.p, w.p + w.n, v);
    *unit = sp_hang_after(w, n);
    return n && sp_hang_digit(*w.p);
}

static bool spindump_whole(struct sp_span w, int64_t *v)
{
    return w.n && sp_hang_digit(*w.p) && sp_parse_i64(w.p, w.p + w.n, v) == w.n;
}

struct spindump_bucket {
    int64_t begin, end, count, cdf;
    bool open; /* no end */
};

static bool spindump_bucket(struct sp_span s, struct spindump_bucket *k, struct sp_span *unit)
{
    struct sp_span first = spindump_word(&s), second = spindump_word(&s), third = spindump_word(&s),
                   fourth = spindump_word(&s), other;
    k->open = sp_span_is(first, ">");
    if (sp_hang_trim(s).n || !spindump_whole(third, &k->count) || !spindump_whole(fourth, &k->cdf) ||
        !spindump_bound(second, k->open ? &k->begin : &k->end, unit))
        return false;
    return k->open || spindump_bound(first, &k->begin, &other);
}

static bool spindump_flush_tail(struct spindump_reader *r)
{
    if (!r->tail_lines)
        return true;
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "{\"type\":\"x_spindump_tail\",\"lines\":[");
    sp_buf_add(&r->buf, r->tail.data, r->tail.len);
    sp_buf_ch(&r->buf, ']');
    r->buf.failed |= r->tail.failed;
    sp_buf_clear(&r->tail);
    r->tail_lines = 0;
    return sp_hang_extension(r->p, &r->buf);
}

static bool spindump_keep_tail_line(struct spindump_reader *r, struct sp_span line)
{
    sp_hang_item(&r->tail, line);
    return ++r->tail_lines < TAIL_LINES || spindump_flush_tail(r);
}

/* The line of the text that p is in, from where the title of the table at hand stands. */
static uint64_t spindump_line_number(const struct spindump_reader *r, const char *p)
{
    uint64_t line = r->table_line;
    for (const char *q = r->histogram.v[0].p; (q = memchr(q, '\n', (size_t)(p - q))); q++)
        line++;
    return line;
}

/* The histogram at hand as a record; r->histogram holds its title and rows. */
static bool spindump_histogram_record(struct spindump_reader *r)
{
    struct sp_span title = r->histogram.v[0], unit = {NULL, 0}, other;
    struct spindump_bucket k;
    int64_t sum = 0;
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "{\"type\":\"x_spindump_histogram\"");
    title.n--;
    sp_hang_member(&r->buf, "title", title);
    if (r->histogram.n > 1 && spindump_bucket(r->histogram.v[1], &k, &unit) && unit.n)
        sp_hang_member(&r->buf, "unit", unit);
    sp_buf_puts(&r->buf, ",\"rows\":[");
    for (size_t i = 1; i < r->histogram.n; i++) {
        spindump_bucket(r->histogram.v[i], &k, &other);
        if (__builtin_add_overflow(sum, k.count, &sum) || sum != k.cdf) {
            const char *at = r->histogram.v[i].p;
            sp_emit(r->d, SP_W518, SP_AT_LINE(spindump_line_number(r, at), (uint64_t)(at - r->start)),
                    "%.*s: the counts add up to %lld where %lld is stated",
                    (int)(title.n < 60 ? title.n : 60), title.p, (long long)sum, (long long)k.cdf);
            sum = k.cdf;
        }
        sp_hang_comma(&r->buf);
        sp_buf_printf(&r->buf, "[%lld,", (long long)k.begin);
        if (k.open)
            sp_buf_puts(&r->buf, "null");
        else
            sp_buf_i64(&r->buf, k.end);
        sp_buf_printf(&r->buf, ",%lld,%lld]", (long long)k.count, (long long)k.cdf);
    }
    sp_buf_ch(&r->buf, ']');
    return sp_hang_extension(r->p, &r->buf);
}

/* "Num IOs 55", "Latency Mean 68us", "Reads 0 (0 KB)": the number behind a name. */
static void spindump_statistic(struct spindump_reader *r, struct sp_span line, const char *name,
                               const char *key, const char *bytes_key)
{
    const char *at = memmem(line.p, line.n, name, strlen(name));
    int64_t v;
    if (!at)
        return;
    struct sp_span s = sp_hang_after(line, (size_t)(at - line.p) + strlen(name));
    size_t n = sp_parse_i64(s.p, s.p + s.n, &v);
    if (!n)
        return;
    sp_hang_number(&r->buf, key, v);
    s = sp_hang_trim(sp_hang_after(s, n));
    if (bytes_key && s.n > 1 && *s.p == '(' && sp_hang_bytes(sp_hang_after(s, 1), &v))
        sp_hang_number(&r->buf, bytes_key, v);
}

static bool spindump_statistics_record(struct spindump_reader *r)
{
    struct sp_span title = r->histogram.v[0];
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "{\"type\":\"x_spindump_aggregate\"");
    title.n--;
    sp_hang_member(&r->buf, "title", title);
    sp_buf_puts(&r->buf, ",\"lines\":[");
    for (size_t i = 1; i < r->histogram.n; i++)
        sp_hang_item(&r->buf, r->histogram.v[i]);
    sp_buf_ch(&r->buf, ']');
    for (size_t i = 1; i < r->histogram.n; i++) {
        struct sp_span s = r->histogram.v[i];
        spindump_statistic(r, s, "Num IOs ", "ios", NULL);
        spindump_statistic(r, s, "Latency Mean ", "latency_mean_us", NULL);
        spindump_statistic(r, s, "Max Latency ", "latency_max_us", NULL);
        spindump_statistic(r, s, "Latency SD ", "latency_sd_us", NULL);
        spindump_statistic(r, s, "Reads ", "reads", "read_bytes");
        spindump_statistic(r, s, "Writes ", "writes", "write_bytes");
    }
    return sp_hang_extension(r->p, &r->buf);
}

/* Ends the histogram or the statistics at hand. */
static bool spindump_end_table(struct spindump_reader *r)
{
    if (!r->histogram.n)
        return true;
    bool ok = sp_hang_ends(r->histogram.v[0], " Histogram:") ? spindump_histogram_record(r)
                                                             : spindump_statistics_record(r);
    r->histogram.n = 0;
    return ok;
}

static bool spindump_is_heading(struct sp_span s)
{
    return sp_hang_starts(s, "Begin") && sp_hang_ends(s, "CDF");
}

static bool spindump_tail_line(struct spindump_reader *r, struct sp_span line)
{
    struct sp_span text = sp_hang_trim(line), unit;
    struct spindump_bucket k;
    if (r->histogram.n && text.n) {
        bool table = sp_hang_ends(r->histogram.v[0], " Histogram:");
        if (table && spindump_is_heading(text))
            return true;
        if (table && spindump_bucket(text, &k, &unit))
            return sp_vec_push(&r->histogram, text);
        if (!table && (sp_hang_starts(text, "Num IOs ") || sp_hang_starts(text, "Reads ")))
            return sp_vec_push(&r->histogram, text);
    }
    if (r->histogram.n) {
        if (!spindump_end_table(r))
            return false;
        if (!text.n)
            return true;
    }
    r->table_line = r->line;
    if (spindump_is_io_title(text) && spindump_tail_begins(text))
        return spindump_flush_tail(r) && sp_vec_push(&r->histogram, text);
    if (!text.n && !r->tail_lines)
        return true;
    return spindump_keep_tail_line(r, line);
}

static bool spindump_finish_tail(struct spindump_reader *r)
{
    return spindump_end_table(r) && spindump_flush_tail(r);
}

/* ---- lines ---- */

/* "341  text", "*341  text": a row of a tree. */
static bool spindump_split_row(struct sp_span line, struct sp_hang_row *row, bool *kernel,
                               struct sp_span *frame)
{
    const char *end = line.p + line.n, *p = line.p;
    while (p < end && *p == ' ')
        p++;
    *kernel = p < end && *p == '*';
    p += *kernel;
    row->column = (uint32_t)(p - line.p);
    int64_t count = 0;
    const char *digits = p;
    for (; p < end && sp_hang_digit(*p) && p - digits < 18; p++)
        count = count * 10 + (*p - '0');
    if (p == digits || p == end || !sp_hang_blank(*p) || digits - line.p > 1 << 20)
        return false;
    while (p < end && sp_hang_blank(*p))
        p++;
    row->count = count;
    row->from = row->to = 0;
    *frame = (struct sp_span){p, (size_t)(end - p)};
    return p < end;
}

static uint32_t spindump_row_number(const struct spindump_reader *r)
{
    return r->line > UINT32_MAX ? UINT32_MAX : (uint32_t)r->line;
}

static bool spindump_add_row(struct spindump_reader *r, struct sp_hang_row *row, bool kernel,
                             struct sp_span frame)
{
    sp_spindump_cut_range(&frame, &row->from, &row->to);
    row->frame = sp_hang_text(&r->frames.texts, frame, kernel);
    row->line = spindump_row_number(r);
    return row->frame != SP_NONE && sp_vec_push(&r->rows, *row);
}

static bool spindump_is_annotation(struct sp_span s)
{
    return s.n > 2 && *s.p == '<' && s.p[s.n - 1] == '>' && !sp_spindump_truncated(s);
}

static spaa_status spindump_begin_process(struct spindump_reader *r, struct sp_span rest, bool powerstats)
{
    spaa_status st = spindump_end_process(r);
    if (!st && !spindump_open_process(r, rest, powerstats))
        st = sp_nomem(r->d);
    return st;
}

/* Lines that begin something, in any zone before the tail. *taken: it was one. */
static spaa_status spindump_section(struct spindump_reader *r, struct sp_span line, struct sp_span text,
                                    bool *taken)
{
    *taken = true;
    if (text.p == line.p) {
        if (sp_hang_starts(line, "Process:"))
            return spindump_begin_process(r, sp_hang_after(line, 8), false);
        if (sp_hang_starts(line, "Powerstats for:"))
            return spindump_begin_process(r, sp_hang_after(line, 15), true);
        if (spindump_tail_begins(line)) {
            spaa_status st = spindump_end_process(r);
            r->zone = SPINDUMP_TAIL;
            return !st && !spindump_tail_line(r, line) ? sp_nomem(r->d) : st;
        }
    }
    if (sp_hang_starts(text, "Heaviest stack for")) {
        r->before_heaviest = r->zone;
        r->zone = SPINDUMP_HEAVIEST;
        sp_buf_clear(&r->heaviest);
        sp_hang_item(&r->heaviest, text);
        return SPAA_OK;
    }
    if (r->in_process && sp_hang_starts(text, "Binary Images")) {
        r->zone = SPINDUMP_IMAGES;
        return SPAA_OK;
    }
    struct sp_spindump_thread t;
    if (r->in_process && sp_hang_starts(text, "Thread ") && sp_spindump_parse_thread(text, &t))
        return spindump_begin_thread(r, &t) ? SPAA_OK : sp_nomem(r->d);
    *taken = false;
    return SPAA_OK;
}

/* The flat lists of heaviest stacks are kept, not counted. */
static bool spindump_heaviest_line(struct spindump_reader *r, struct sp_span line)
{
    if (line.n) {
        sp_hang_item(&r->heaviest, line);
        return !r->heaviest.failed;
    }
    r->zone = r->before_heaviest;
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "{\"type\":\"x_spindump_heaviest\",\"lines\":[");
    sp_buf_add(&r->buf, r->heaviest.data, r->heaviest.len);
    sp_buf_ch(&r->buf, ']');
    r->buf.failed |= r->heaviest.failed;
    sp_buf_clear(&r->heaviest);
    return sp_hang_extension(r->p, &r->buf);
}

static bool spindump_image_line(struct spindump_reader *r, struct sp_span line, struct sp_span text)
{
    bool ok;
    uint32_t i = sp_hang_image(&r->images, text, r->stamp, &ok);
    if (!ok)
        return false;
    if (i == SP_NONE) {
        spindump_not_understood(r, line, &r->not_understood, "no binary image");
        return true;
    }
    return sp_vec_push(&r->process_images, i);
}

/* A line below a thread's header that is no row. */
static bool spindump_odd_thread_line(struct spindump_reader *r, struct sp_span line, struct sp_span text)
{
    int n = line.n > 80 ? 80 : (int)line.n;
    if (spindump_is_annotation(text))
        return sp_vec_push(&r->notes, text);
    sp_emit(r->d, SP_L510, spindump_here(r, line.p), "\"%.*s\"", n, line.p);
    sp_hang_item(&r->not_understood, line);
    /* Where a thread's header would stand, what follows is not the thread's before. */
    return !r->after_blank || spindump_begin_thread(r, NULL);
}

/* Rows in a process; *taken false: it is none. */
static spaa_status spindump_row_line(struct spindump_reader *r, struct sp_span line, bool *taken)
{
    struct sp_hang_row row;
    struct sp_span frame;
    bool kernel;
    *taken = spindump_split_row(line, &row, &kernel, &frame);
    if (!*taken)
        return SPAA_OK;
    if (spindump_is_annotation(frame)) {
        sp_hang_item(&r->annotations, sp_hang_trim(line));
        return r->annotations.failed ? sp_nomem(r->d) : SPAA_OK;
    }
    if (r->zone == SPINDUMP_PROCESS) {
        if (!r->powerstats)
            sp_emit(r->d, SP_L511, spindump_here(r, line.p), "they are counted for the process alone");
        if (!spindump_begin_thread(r, NULL))
            return sp_nomem(r->d);
    }
    return spindump_add_row(r, &row, kernel, frame) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status spindump_zone_line(struct spindump_reader *r, struct sp_span line, struct sp_span text)
{
    struct sp_span key, value;
    bool ok = true;
    switch (r->zone) {
    case SPINDUMP_HEADER:
        ok = spindump_header_line(r, line);
        break;
    case SPINDUMP_HEAVIEST:
        ok = spindump_heaviest_line(r, line);
        break;
    case SPINDUMP_PROCESS:
        if (spindump_is_annotation(text))
            sp_hang_item(&r->annotations, text);
        else
            spindump_process_line(r, line);
        break;
    case SPINDUMP_THREAD:
    case SPINDUMP_IMAGES:
        if (text.p == line.p && spindump_key_value(line, &key, &value)) {
            /* A process whose first line is damaged. */
            spaa_status st = spindump_begin_process(r, (struct sp_span){line.p, 0}, false);
            if (!st)
                spindump_not_understood(r, line, &r->not_understood, "a field without a process");
            return st;
        }
        ok = r->zone == SPINDUMP_THREAD ? spindump_odd_thread_line(r, line, text)
                                        : spindump_image_line(r, line, text);
        break;
    case SPINDUMP_TAIL:
        ok = spindump_tail_line(r, line);
        break;
    }
    return ok ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status spindump_read_line(struct spindump_reader *r, struct sp_span line)
{
    bool taken = false;
    spaa_status st = SPAA_OK;
    if (r->zone == SPINDUMP_THREAD || r->zone == SPINDUMP_PROCESS) {
        st = spindump_row_line(r, line, &taken);
        if (taken || st) {
            r->after_blank = false;
            return st;
        }
    }
    struct sp_span text = sp_hang_trim(line);
    if (r->zone == SPINDUMP_IMAGES && text.p > line.p && text.n && (*text.p == '0' || *text.p == '*'))
        return spindump_image_line(r, line, text) ? SPAA_OK : sp_nomem(r->d);
    if (r->zone == SPINDUMP_TAIL)
        return spindump_zone_line(r, line, text);
    if (text.n)
        st = spindump_section(r, line, text, &taken);
    if (!st && !taken && (text.n || r->zone == SPINDUMP_HEAVIEST))
        st = spindump_zone_line(r, text.n ? line : text, text);
    r->after_blank = !text.n;
    return st;
}

static spaa_status spindump_read_lines(struct spindump_reader *r, struct sp_input *in)
{
    const char *p = r->start;
    uint64_t noted = 0;
    for (r->line = 1; p < r->end; r->line++) {
        const char *nl = memchr(p, '\n', (size_t)(r->end - p)), *eol = nl ? nl : r->end;
        const char *next = nl ? nl + 1 : r->end;
        while (eol > p && (eol[-1] == '\r' || sp_hang_blank(eol[-1])))
            eol--;
        spaa_status st = spindump_read_line(r, (struct sp_span){p, (size_t)(eol - p)});
        if (st)
            return st;
        if (r->opts->strict && sp_diags_count(r->d, SP_LOSS))
            return SPAA_ERR_INPUT;
        p = next;
        if ((uint64_t)(p - r->start) - noted > 64 << 10)
            st = sp_input_note(in, noted = (uint64_t)(p - r->start));
        if (st)
            return st;
    }
    return SPAA_OK;
}

static spaa_status spindump_finish(struct spindump_reader *r, struct sp_input *in)
{
    spaa_status st = SPAA_OK;
    if (r->zone == SPINDUMP_HEAVIEST && !spindump_heaviest_line(r, (struct sp_span){r->end, 0}))
        return sp_nomem(r->d);
    st = spindump_end_process(r);
    if (!st)
        st = spindump_finish_header(r);
    if (st)
        return st;
    if (!spindump_finish_tail(r) || !sp_hang_image_facts(r->p, &r->images, "x_spindump") ||
        !sp_hang_keep_segments(&r->tree, "x_spindump"))
        return sp_nomem(r->d);
    if (r->processes)
        return SPAA_OK;
    st = sp_input_failed(in);
    if (st)
        return st;
    if (memmem(r->start, (size_t)(r->end - r->start), "Spindump binary format", 22))
        sp_emit_hint(r->d, SP_E500, SP_AT_NOTHING, ADVICE,
                     "the report holds its processes in binary form only");
    else
        sp_emit(r->d, SP_E011, SP_AT_NOTHING, "the report has no process");
    return SPAA_ERR_INPUT;
}

bool sp_spindump_is_tailspin(const unsigned char *p, size_t n)
{
    /* Trace files of kdebug: their versions' magic numbers, little-endian. */
    static const unsigned char magic[][4] = {{0x00, 0x03, 0xAA, 0x55},
                                             {0x00, 0x02, 0xAA, 0x55},
                                             {0x01, 0x01, 0xAA, 0x55},
                                             {0x00, 0x10, 0x00, 0x00}};
    for (size_t i = 0; i < 4; i++)
        if (n >= 64 && memcmp(p, magic[i], 4) == 0 && (i < 3 || memchr(p + 4, '\0', 12)))
            return true;
    return false;
}

/* What must be decoded by spindump itself. */
static bool spindump_refused(struct spindump_reader *r)
{
    size_t n = (size_t)(r->end - r->start);
    const char *what = NULL;
    n = n < SP_PROBE_BYTES ? n : SP_PROBE_BYTES;
    if (sp_spindump_is_tailspin((const unsigned char *)r->start, n))
        what = "this is a binary tailspin";
    else if (memmem(r->start, n, "Use spindump -i to generate textual report", 42) &&
             !memmem(r->start, n, "\nProcess:", 9))
        what = "the report was saved in binary form";
    if (what)
        sp_emit_hint(r->d, SP_E500, SP_AT(0), ADVICE, "%s", what);
    return what;
}

static void spindump_release(struct spindump_reader *r)
{
    struct sp_buf *bufs[] = {&r->fields,      &r->banner,         &r->heaviest, &r->keys,    &r->extra,
                             &r->annotations, &r->not_understood, &r->tail,     &r->threads, &r->buf};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        sp_buf_free(bufs[i]);
    sp_spindump_frames_free(&r->frames);
    sp_hang_images_free(&r->images);
    sp_hang_tree_free(&r->tree);
    sp_vec_free(&r->process_images);
    sp_vec_free(&r->blocks);
    sp_vec_free(&r->rows);
    sp_vec_free(&r->notes);
    sp_vec_free(&r->histogram);
}

spaa_status sp_spindump_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                             struct sp_profile *p)
{
    struct spindump_reader r = {.opts = opts, .d = d, .p = p};
    const unsigned char *bytes;
    size_t n;
    struct sp_buf *bufs[] = {&r.fields,         &r.banner, &r.heaviest, &r.keys, &r.extra,     &r.annotations,
                             &r.not_understood, &r.tail,   &r.threads,  &r.buf,  &r.frames.buf};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        sp_buf_init(bufs[i], 0);
    r.frames.p = p;
    r.frames.frames = opts->frames == SP_FRAMES_FOREIGN ? SP_FRAMES_ADDRESS : opts->frames;
    r.frames.images = &r.images;
    spaa_status st = sp_input_whole(in, &bytes, &n);
    r.start = (const char *)bytes;
    r.end = r.start + n;
    if (!st && spindump_refused(&r))
        st = SPAA_ERR_INPUT;
    if (!st && !spindump_prepare(&r))
        st = sp_nomem(d);
    if (!st)
        st = spindump_read_lines(&r, in);
    if (!st)
        st = spindump_finish(&r, in);
    spindump_release(&r);
    return st;
}
