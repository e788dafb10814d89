/*
 * A process: its line, its keys in any order, its threads' rows, its images. Rows wait until the images below
 * them are known, since these tell which file a frame's image is.
 *
 * Where a line that begins something is damaged, what follows is not counted for what came before: it
 * gets a thread or a process without a number.
 */
#include "base/hash.h"
#include "base/num.h"
#include "formats/hang_digits.h"
#include "formats/spindump/spindump.h"

#include <string.h>

/* What a state's text is in contexts, remembered for those that come again and again. NULL: no memory. */
static const struct sp_sd_state_word *word_of(struct sp_sd_reader *r, uint32_t state)
{
    struct sp_sd_state_word *out = &r->words[state % (sizeof r->words / sizeof *r->words)];
    if (out->word && out->state == state)
        return out;
    struct sp_str text = sp_pstr(r->p, state);
    struct sp_span s = {state == SP_STR_NONE ? NULL : text.p, text.n};
    const char *word = sp_sd_state(s);
    const char *usual = sp_sd_state_text((struct sp_str){word, (uint32_t)strlen(word)});
    uint32_t more = SP_STR_NONE, number = sp_profile_cstr(r->p, word);
    if (s.p && !(usual && sp_span_is(s, usual))) {
        sp_buf_clear(&r->buf);
        sp_buf_puts(&r->buf, "\"x_spindump\":{");
        sp_hang_member(&r->buf, "state", s);
        sp_buf_ch(&r->buf, '}');
        more = r->buf.failed ? SP_STR_FAIL : sp_profile_str(r->p, r->buf.data, r->buf.len);
    }
    if (number == SP_STR_FAIL || more == SP_STR_FAIL)
        return NULL;
    *out = (struct sp_sd_state_word){state, number, more};
    return out;
}

/* The context of the process' thread; the state is missing. */
static struct sp_context context_in(const struct sp_sd_reader *r, int64_t tid)
{
    unsigned by = r->opts->group_by;
    return (struct sp_context){.pid = by & SP_BY_PID ? r->pid : SP_ABSENT,
                               .tid = by & SP_BY_TID ? tid : SP_ABSENT,
                               .cpu = SP_ABSENT,
                               .event = r->event,
                               .comm = by & SP_BY_COMM ? r->comm : SP_STR_NONE};
}

static void put_state(struct sp_context *c, const struct sp_sd_state_word *word)
{
    c->state = word->word;
    c->more = word->more;
}

static uint32_t context_of(void *who, uint32_t state)
{
    struct sp_sd_reader *r = who;
    for (unsigned i = 0; i < r->ncontexts; i++)
        if (r->contexts[i].state == state)
            return r->contexts[i].context;
    struct sp_context c = context_in(r, r->tid);
    if (r->opts->group_by & SP_BY_STATE) {
        r->last_word = word_of(r, state);
        if (!r->last_word)
            return SP_NONE;
        put_state(&c, r->last_word);
    }
    uint32_t context = sp_context_intern(r->p, &c);
    if (context != SP_NONE && r->ncontexts < sizeof r->contexts / sizeof *r->contexts) {
        r->contexts[r->ncontexts].state = state;
        r->contexts[r->ncontexts++].context = context;
    }
    return context;
}

/* Where a thread is looked up when its process ends, and the context of its samples, most likely. */
static void expect_thread(const struct sp_sd_reader *r, int64_t tid)
{
    struct sp_context c = context_in(r, tid);
    if (r->last_word)
        put_state(&c, r->last_word);
    sp_thread_expect(r->p, tid);
    sp_context_expect(r->p, &c);
}

/*
 * Tables for about what a report of this size has, so that they need not grow again and again. Those that are
 * filled from their beginning get their pages one by one: what the system has just cleared is still in the
 * processor's cache when it is written, and was not if all pages were made here.
 */
static bool expect_tables(struct sp_sd_reader *r)
{
    struct sp_profile *p = r->p;
    size_t some = (size_t)(r->end - r->start) / 1200, strings = some / 2 * 5;
    struct sp_map *maps[] = {&p->frame_map,  &p->function_map, &p->stack_map,
                             &p->thread_map, &p->context_map,  &r->bodies.map};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (!sp_map_grow(maps[i], some))
            return false;
    return sp_map_grow(&p->strs.map, strings) && sp_vec_reserve(&p->strs.strs, strings) &&
           sp_vec_reserve(&p->frames, some) && sp_vec_reserve(&p->functions, some) &&
           sp_vec_reserve(&p->threads, some) && sp_vec_reserve(&p->contexts, some) &&
           sp_vec_reserve(&p->stacks, some) && sp_vec_reserve(&p->stack_frames, 8 * some) &&
           sp_vec_reserve(&r->bodies.v, some) && sp_vec_reserve(&r->bodies.image, some) &&
           sp_hang_images_expect(&r->images, some / 4);
}

bool sp_sd_prepare(struct sp_sd_reader *r)
{
    struct sp_profile *p = r->p;
    r->metric = sp_metric_intern(p, "samples", 7);
    struct sp_event e = {.name = sp_profile_cstr(p, "stackshot"),
                         .kind = SP_TIMER,
                         .mode = SP_FREQUENCY,
                         .primary = r->metric};
    if (r->metric == SP_NONE || e.name == SP_STR_FAIL || !expect_tables(r))
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
    r->next_key = 0;
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

/*
 * Keys come in the same order in most processes. Those that begin as lines of the tail may, or with what is
 * no letter, and those with escapes are looked at in full each time, since what they are is decided by what
 * stands behind the key.
 */
static void expect_key(struct sp_sd_reader *r, struct sp_span line, struct sp_span key, enum known known)
{
    static const unsigned room = sizeof r->usual_keys / sizeof *r->usual_keys;
    bool letter = (unsigned char)((*line.p | 0x20) - 'a') < 26;
    bool plain = letter && sp_json_plain(key.p, key.n) && key.n + 2 <= line.n && line.p[key.n + 1] == ' ' &&
                 !sp_hang_starts(line, "IO ") && !sp_hang_starts(line, "I/O ") &&
                 !sp_hang_starts(line, "Tier ");
    unsigned i = 0;
    while (plain && i < r->nusual_keys &&
           !(r->usual_keys[i].text.n == key.n + 2 && memcmp(r->usual_keys[i].text.p, line.p, key.n + 2) == 0))
        i++;
    if (!plain || i == room)
        return;
    if (i == r->nusual_keys)
        r->usual_keys[r->nusual_keys++] = (struct sp_sd_key){{line.p, key.n + 2}, known};
    r->next_key = i + 1;
}

const char *sp_sd_usual_field(struct sp_sd_reader *r, const char *p)
{
    if (r->next_key >= r->nusual_keys)
        return NULL;
    const struct sp_sd_key *x = &r->usual_keys[r->next_key];
    size_t n = x->text.n, left = (size_t)(r->end - p);
    if (left <= n || memcmp(p, x->text.p, n) != 0)
        return NULL;
    const char *nl = memchr(p + n, '\n', left - n), *end = nl;
    while (end && end > p + n && (end[-1] == '\r' || sp_hang_blank(end[-1])))
        end--;
    if (!end || end == p + n)
        return NULL;
    struct sp_span value = sp_hang_trim((struct sp_span){p + n, (size_t)(end - p) - n});
    sp_hang_pair(&r->keys, (struct sp_span){x->text.p, n - 2}, true, value);
    known_value(r, (enum known)x->known, value);
    r->next_key++;
    return nl + 1;
}

void sp_sd_process_line(struct sp_sd_reader *r, struct sp_span line)
{
    struct sp_span key, value;
    if (!sp_sd_key_value(line, &key, &value)) {
        sp_sd_not_understood(r, line, &r->not_understood, "no field of a process");
        return;
    }
    enum known known = known_key(sp_hang_trim(key));
    sp_hang_pair(&r->keys, key, sp_json_plain(key.p, key.n), value);
    known_value(r, known, value);
    expect_key(r, line, key, known);
}

const char *sp_sd_usual_thread(const struct sp_sd_reader *r, const char *p, struct sp_sd_head *h)
{
    static const char begins[] = "  Thread 0x";
    enum { BEFORE_ID = sizeof begins - 3, BEFORE_DIGITS = sizeof begins - 1 };
    struct sp_span tail = r->usual_tail[r->blocks.n > 0];
    uint64_t id;
    if (!tail.n || (size_t)(r->end - p) < BEFORE_DIGITS + 16 + tail.n + 1 ||
        memcmp(p, begins, BEFORE_DIGITS) != 0)
        return NULL;
    size_t digits = sp_hang_parse_hex(p + BEFORE_DIGITS, r->end, &id);
    const char *end = p + BEFORE_DIGITS + digits;
    if (!digits || digits > 15 || end[tail.n] != '\n' || memcmp(end, tail.p, tail.n) != 0)
        return NULL;
    *h = (struct sp_sd_head){(int64_t)id, {p + BEFORE_ID, digits + 2}, tail};
    return end + tail.n + 1;
}

bool sp_sd_begin_thread(struct sp_sd_reader *r, const struct sp_sd_head *h)
{
    struct sp_sd_block b = {.head = {.tid = SP_ABSENT},
                            .has_thread = h,
                            .nsamples = -1,
                            .first = r->rows.n,
                            .line = r->line,
                            .notes = r->notes.n};
    if (h) {
        b.head = *h;
        r->usual_tail[r->blocks.n > 0] = h->tail;
        expect_thread(r, h->tid);
    }
    r->zone = SP_SD_THREAD;
    return sp_vec_push(&r->blocks, b);
}

/* {…} of what a thread's header and annotations say, into r->buf; `tid` where no record of a thread has it.
 */
static void thread_object(struct sp_sd_reader *r, const struct sp_sd_block *b, const struct sp_sd_thread *t,
                          bool with_tid)
{
    sp_buf_ch(&r->buf, '{');
    if (with_tid && b->head.tid != SP_ABSENT)
        sp_hang_number(&r->buf, "tid", b->head.tid);
    sp_sd_thread_members(&r->buf, t);
    if (b->notes_n) {
        sp_hang_comma(&r->buf);
        sp_buf_puts(&r->buf, "\"annotations\":[");
        for (size_t i = 0; i < b->notes_n; i++)
            sp_hang_item(&r->buf, r->notes.v[b->notes + i]);
        sp_buf_ch(&r->buf, ']');
    }
    sp_buf_ch(&r->buf, '}');
}

static uint32_t thread_more(struct sp_sd_reader *r, const struct sp_sd_block *b, const struct sp_sd_thread *t)
{
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "\"x_spindump\":");
    thread_object(r, b, t, false);
    return r->buf.failed ? SP_STR_FAIL : sp_profile_str(r->p, r->buf.data, r->buf.len);
}

static bool is_tail(const struct sp_sd_tail *t, struct sp_span text)
{
    return t->more != SP_STR_NONE && t->text.n == text.n &&
           (!text.n || t->text.p == text.p || memcmp(t->text.p, text.p, text.n) == 0);
}

/* The place of a thread's tail among those that were parsed before. */
static struct sp_sd_tail *tail_at(struct sp_sd_reader *r, struct sp_span text, bool first)
{
    struct sp_sd_tail **last = &r->last_tail[!first];
    if (!*last || !is_tail(*last, text))
        *last = &r->tails[sp_hash64(text.p, text.n) % (sizeof r->tails / sizeof *r->tails)];
    return *last;
}

/* The thread's record; *known: there was one of this thread already. */
static bool thread_record(struct sp_sd_reader *r, struct sp_sd_block *b, bool *known)
{
    struct sp_span text = b->head.tail;
    struct sp_sd_tail *same = tail_at(r, text, b == r->blocks.v);
    struct sp_sd_thread t;
    uint32_t more = same->more;
    bool hit = !b->notes_n && is_tail(same, text);
    if (hit)
        b->nsamples = same->nsamples;
    else {
        sp_sd_thread_tail(&b->head, &t);
        b->nsamples = t.nsamples;
    }
    size_t before = r->p->threads.n;
    uint32_t number = sp_thread_intern(r->p, r->pid, b->head.tid, r->comm);
    *known = r->p->threads.n == before;
    if (number == SP_NONE || *known)
        return number != SP_NONE;
    if (!hit)
        more = thread_more(r, b, &t);
    if (!hit && !b->notes_n && more != SP_STR_FAIL)
        *same = (struct sp_sd_tail){text, t.nsamples, more};
    r->p->threads.v[number].more = more == SP_STR_FAIL ? SP_STR_NONE : more;
    return more != SP_STR_FAIL;
}

static bool one_stack(struct sp_sd_reader *r, const struct sp_hang_row *rows, size_t n)
{
    uint32_t *end = sp_hang_tree_room(&r->tree, n), state;
    return end && sp_sd_bind_stack(&r->bodies, rows, n, r->stamp, end, &state, &r->p->header.truncated) &&
           sp_hang_tree_add(&r->tree, n, state, rows->count);
}

/* The rows of one thread as stacks. */
static spaa_status block_stacks(struct sp_sd_reader *r, const struct sp_sd_block *b)
{
    struct sp_hang_row *rows = r->rows.v + b->first;
    int64_t roots;
    if (!b->n)
        return SPAA_OK;
    r->tid = b->head.tid;
    r->ncontexts = 0;
    spaa_status st = SPAA_OK;
    if (sp_hang_one_stack(rows, b->n)) {
        roots = rows->count;
        if (!one_stack(r, rows, b->n))
            return sp_nomem(r->d);
    } else {
        if (!sp_sd_bind_rows(&r->bodies, rows, b->n, r->stamp, &r->p->header.truncated))
            return sp_nomem(r->d);
        st = sp_hang_tree_build(&r->tree, rows, b->n, &roots);
    }
    if (!st && b->nsamples >= 0 && roots != b->nsamples)
        sp_emit(r->d, SP_W516, SP_AT_LINE(b->line, SP_NOWHERE),
                "thread %.*s has %lld samples, its roots %lld", (int)(b->head.id.n ? b->head.id.n : 10),
                b->head.id.n ? b->head.id.p : "<multiple>", (long long)b->nsamples, (long long)roots);
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
        struct sp_sd_block *b = &r->blocks.v[i];
        bool known = true;
        if (b->head.tid != SP_ABSENT && !thread_record(r, b, &known))
            return sp_nomem(r->d);
        if (!known) {
            char text[20];
            sp_hang_comma(list);
            sp_buf_add(list, text, sp_u64_text((uint64_t)b->head.tid, text)); /* not negative */
        } else if (b->has_thread) {
            struct sp_sd_thread t;
            sp_sd_thread_tail(&b->head, &t);
            b->nsamples = t.nsamples;
            sp_hang_comma(list);
            sp_buf_clear(&r->buf);
            thread_object(r, b, &t, true);
            sp_buf_add(list, r->buf.data, r->buf.len);
            list->failed |= r->buf.failed;
        }
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
    sp_hang_image_list(b, &r->images, r->process_images.v, r->process_images.n);
    array(b, "not_understood", &r->not_understood);
    b->failed |= r->keys.failed || r->extra.failed || list->failed || r->not_understood.failed ||
                 r->annotations.failed;
    return sp_hang_extension(r->p, b);
}

/* Images that no frame names are DSOs too. */
static bool image_dsos(struct sp_sd_reader *r)
{
    for (size_t i = 0; i < r->process_images.n; i++) {
        struct sp_hang_seen *seen = &r->images.lines_seen.v[r->process_images.v[i]];
        if (seen->named)
            continue;
        seen->named = true;
        const struct sp_hang_image *m = &r->images.v.v[r->process_images.v[i]];
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
    sp_sd_bodies_settled(&r->bodies);
    if (!st && (!image_dsos(r) || !process_record(r, list)))
        st = sp_nomem(r->d);
    return st;
}
