/*
 * Writes a spindump report: fields, processes, threads and images as the records say, the stacks as trees.
 * What is rendered reads back to the same profile, and is rendered the same way again.
 *
 * Of profiles of other origin one event is written; stacks without a state are taken for running, as what
 * other profilers see is; of reports of spindump and sample(1), which see all threads, that none is stated is
 * said.
 */
#include "base/num.h"
#include "formats/common/hang/write.h"
#include "formats/spindump/spindump.h"
#include "model/identity.h"

#include <stdio.h>

/*
 * ---- rows ----
 *
 * The stacks of a profile as trees of a report: grouped by process and thread, frames as texts. A frame's
 * text is made once; an address that was printed comes back from x_spindump, others are "[0]" where a state
 * or a range must follow, since these are told by what stands before them.
 */

static void spindump_image_text(struct sp_buf *b, const struct sp_profile *p, const struct sp_frame *f,
                                struct sp_span printed)
{
    struct sp_str dso = sp_pstr(p, p->dsos.v[p->functions.v[f->function].dso].name);
    if (!printed.n && (sp_str_is(dso, "[unknown]") || (sp_str_is(dso, "[kernel]") && !f->srcline)))
        return;
    sp_buf_puts(b, " (");
    if (f->srcline) {
        sp_hang_add_plain(b, sp_hang_span(sp_pstr(p, f->srcline)));
        sp_buf_puts(b, " in ");
    }
    sp_hang_add_plain(b, printed.n ? printed : sp_hang_span(sp_base_name(dso)));
    if (f->flags & SP_FRAME_IP) {
        sp_buf_puts(b, " + ");
        sp_buf_u64(b, f->ip);
    }
    sp_buf_ch(b, ')');
}

static bool spindump_is_in_no_image(const struct sp_profile *p, const struct sp_frame *f)
{
    struct sp_str dso = sp_pstr(p, p->dsos.v[p->functions.v[f->function].dso].name);
    return sp_str_is(dso, "[unknown]") || sp_str_is(dso, "[kernel]");
}

static uint32_t spindump_frame_text(struct sp_hang_writer *w, uint32_t frame)
{
    const struct sp_profile *p = w->p;
    const struct sp_frame *f = &p->frames.v[frame];
    struct sp_span raw, more = sp_hang_span(sp_pstr(p, f->extra_json));
    struct sp_buf b, printed;
    if (w->frame_text[frame])
        return w->frame_text[frame];
    sp_buf_init(&b, 0);
    sp_buf_init(&printed, 0);
    if (sp_json_find2(more, "x_spindump", "image", &raw))
        sp_json_text_to(&printed, raw);
    sp_buf_ch(&b, f->kind == SP_KERNEL ? '*' : ' ');
    if (f->flags & SP_FRAME_UNRESOLVED) {
        sp_buf_puts(&b, "???");
    } else {
        struct sp_span name = sp_hang_trim(sp_hang_span(sp_pstr(p, p->functions.v[f->function].name)));
        sp_hang_add_plain(&b, name.n ? name : (struct sp_span){"???", 3});
        if (f->flags & SP_FRAME_SYMOFF) {
            sp_buf_puts(&b, " + ");
            sp_buf_u64(&b, f->symoff);
        }
    }
    spindump_image_text(&b, p, f, (struct sp_span){printed.data, printed.len});
    bool nowhere = spindump_is_in_no_image(p, f) && f->flags & SP_FRAME_UNRESOLVED;
    sp_buf_clear(&printed);
    struct sp_span address = sp_hang_frame_address(w, f);
    if (memchr(address.p, ',', address.n)) /* of sample(1): several places of a function */
        address.n = (size_t)((const char *)memchr(address.p, ',', address.n) - address.p);
    if (address.n) {
        sp_buf_puts(&b, " [");
        sp_hang_add_plain(&b, address);
        sp_buf_ch(&b, ']');
    } else if (nowhere && f->flags & SP_FRAME_IP) {
        char t[16];
        sp_buf_puts(&b, " [0x");
        sp_buf_add(&b, t, sp_hex_text(f->ip, t));
        sp_buf_ch(&b, ']');
    }
    uint32_t text = b.failed || printed.failed ? SP_STR_FAIL : sp_intern(&w->texts, b.data, b.len);
    sp_buf_free(&b);
    sp_buf_free(&printed);
    if (text != SP_STR_FAIL)
        w->frame_text[frame] = text;
    return text;
}

/* What is printed behind the frame where samples ended; SP_STR_NONE: nothing. */
static uint32_t spindump_context_text(struct sp_hang_writer *w, uint32_t context)
{
    const struct sp_profile *p = w->p;
    const struct sp_context *c = &p->contexts.v[context];
    struct sp_span raw;
    uint32_t *out = &w->context_state[context];
    if (*out != SP_NONE)
        return *out;
    struct sp_str word = sp_pstr(p, c->state);
    const struct sp_wait_fact *wait = sp_context_wait(p, c);
    if (wait && wait->text) {
        struct sp_str s = sp_pstr(p, wait->text);
        *out = sp_intern(&w->texts, s.p, s.n);
    } else if (sp_json_find2(sp_hang_span(sp_pstr(p, c->extra_json)), "x_spindump", "state", &raw)) {
        struct sp_span s = sp_hang_decoded(w, raw);
        bool idle = sp_str_is(word, "IDLE") && c->tid == SP_ABSENT; /* no header says so */
        if (idle && sp_buf_puts(&w->buf, SP_SPINDUMP_IDLE))
            s = (struct sp_span){w->buf.data, w->buf.len};
        *out = w->buf.failed ? SP_STR_FAIL : sp_intern(&w->texts, s.n ? s.p : "", s.n);
    } else if (!word.n) { /* other profilers see what runs */
        bool all = w->ours || sp_str_is(sp_pstr(p, p->header.source_tool), "sample");
        *out = sp_intern_cstr(&w->texts, all ? SP_SPINDUMP_UNSTATED : "running");
    } else if (sp_str_is(word, "WAITING")) {
        *out = SP_STR_NONE;
    } else {
        const char *plain = sp_spindump_state_text(word);
        sp_buf_clear(&w->buf);
        sp_buf_puts(&w->buf, plain ? plain : "state ");
        if (!plain)
            sp_buf_add(&w->buf, word.p, word.n);
        *out = w->buf.failed ? SP_STR_FAIL : sp_intern(&w->texts, w->buf.data, w->buf.len);
    }
    return *out;
}

static bool spindump_has_address(struct sp_span s)
{
    struct sp_span address;
    return sp_spindump_cut_address(&s, &address);
}

/* `running`: what has no state is taken for running anyway. */
static bool spindump_put_rows(struct sp_hang_writer *w, struct sp_hang_group *g, bool running)
{
    int64_t most = 0;
    char digits[20];
    g->written = true;
    if (!sp_hang_render(&w->render, w->stacks.v + g->first, g->n))
        return false;
    for (size_t i = 0; i < w->render.lines.n; i++)
        if (w->render.lines.v[i].count > most)
            most = w->render.lines.v[i].count;
    size_t width = sp_u64_text((uint64_t)most, digits);
    for (size_t i = 0; i < w->render.lines.n && !w->out->status; i++) {
        const struct sp_hang_line *l = &w->render.lines.v[i];
        struct sp_span text = sp_hang_span(sp_str_at(&w->texts, l->text)),
                       state = sp_hang_span(sp_str_at(&w->texts, l->state));
        bool kernel = *text.p == '*';
        text = sp_hang_after(text, 1);
        for (uint32_t k = 0; k < 3 + 2 * l->depth; k++)
            sp_write(w->out, " ", 1);
        sp_write(w->out, kernel ? "*" : " ", 1);
        size_t n = sp_u64_text((uint64_t)l->count, digits);
        sp_write(w->out, digits, n);
        for (; n < width + 2; n++)
            sp_write(w->out, " ", 1);
        sp_write(w->out, text.p, text.n);
        bool said = l->state &&
                    !(running && (sp_span_is(state, "running") || sp_span_is(state, SP_SPINDUMP_UNSTATED)));
        if ((said || l->from) && !spindump_has_address(text))
            sp_puts(w->out, " [0]");
        if (said) {
            sp_puts(w->out, " (");
            sp_hang_put(w, state);
            sp_puts(w->out, ")");
        }
        if (l->from && l->from == l->to)
            sp_printf(w->out, " %lld", (long long)l->from);
        else if (l->from)
            sp_printf(w->out, " %lld-%lld", (long long)l->from, (long long)l->to);
        sp_puts(w->out, "\n");
    }
    return true;
}

/*
 * ---- processes ----
 *
 * Processes of a report: those of the table that are from such a report, in their order, each with its
 * threads in theirs, then what none of them names.
 */

static void spindump_put_member(struct sp_hang_writer *w, struct sp_span object, const char *before,
                                const char *key, const char *after)
{
    struct sp_span s = sp_hang_decoded_member(w, object, key);
    if (!s.n)
        return;
    sp_puts(w->out, before);
    sp_hang_put(w, s);
    sp_puts(w->out, after);
}

static void spindump_put_text(struct sp_hang_writer *w, const char *before, struct sp_span s)
{
    if (!s.n)
        return;
    sp_puts(w->out, before);
    sp_hang_put(w, s);
}

/* As reports of spindump have it, of sample's too. */
static void spindump_put_queue(struct sp_hang_writer *w, struct sp_span queue)
{
    struct sp_span label, number;
    if (!sp_hang_starts(queue, "DispatchQueue_") || !sp_hang_queue_of(queue, &label, &number)) {
        spindump_put_text(w, "    DispatchQueue ", queue);
        return;
    }
    sp_puts(w->out, "    DispatchQueue \"");
    sp_hang_put(w, label);
    sp_printf(w->out, "\"(%.*s)", (int)number.n, number.p);
}

/* The header of a thread; `sum`: its samples where that does not say. */
static void spindump_put_thread_line(struct sp_hang_writer *w, int64_t tid, const struct sp_hang_thread *t,
                                     int64_t sum)
{
    int64_t samples;
    struct sp_span raw, members = t->members;
    if (tid < 0)
        sp_puts(w->out, "  Thread <multiple>");
    else
        sp_printf(w->out, "  Thread 0x%llx", (unsigned long long)tid);
    spindump_put_member(w, members, ",", "more_ids", "");
    spindump_put_member(w, members, "    ", "rest", "");
    spindump_put_queue(w, sp_hang_thread_text(w, t, "queue"));
    raw = sp_hang_thread_text(w, t, "name");
    if (raw.p) {
        sp_puts(w->out, "    Thread name \"");
        sp_hang_put(w, raw);
        sp_puts(w->out, sp_json_find_true(members, "name_changed") ? "\" (changed)" : "\"");
    }
    bool stated = sp_json_find_i64(members, "samples", &samples);
    if (stated || (!members.n && sum)) {
        samples = stated ? samples : sum;
        sp_printf(w->out, "    %lld sample%s", (long long)samples, samples == 1 ? "" : "s");
        spindump_put_member(w, members, " (", "range", ")");
    }
    spindump_put_text(w, "    priority ", sp_hang_thread_text(w, t, "priority"));
    spindump_put_member(w, members, " (base ", "base_priority", ")");
    spindump_put_member(w, members, "    cpu time ", "cpu_time", "");
    spindump_put_member(w, members, "    idle time ", "idle_time", "");
    spindump_put_member(w, members, "    last ran ", "last_ran", "");
    spindump_put_member(w, members, "    ", "io", "");
    sp_puts(w->out, "\n");
    if (sp_json_find(members, "annotations", &raw))
        for (struct sp_span item; sp_json_next(&raw, &item);) {
            sp_puts(w->out, "  ");
            sp_hang_put(w, sp_hang_decoded(w, item));
            sp_puts(w->out, "\n");
        }
}

static bool spindump_put_thread(struct sp_hang_writer *w, int64_t tid, struct sp_hang_thread t,
                                struct sp_hang_group *g, bool powerstats)
{
    spindump_put_thread_line(w, tid, &t, sp_hang_sum_of(w, g));
    bool ok = !g || spindump_put_rows(w, g, powerstats);
    sp_puts(w->out, "\n");
    return ok;
}

/* Threads as a record names them, then those of its stacks that it does not name. */
static bool spindump_put_threads(struct sp_hang_writer *w, struct sp_span list, struct sp_hang_group *first,
                                 uint32_t owner, bool powerstats)
{
    const struct sp_hang_group *end = w->groups.v + w->groups.n;
    for (struct sp_span item; sp_json_next(&list, &item);) {
        struct sp_hang_listed who = sp_hang_listed_of(w, item, "tid");
        struct sp_hang_thread t =
            *item.p == '{' ? (struct sp_hang_thread){NULL, item} : sp_hang_thread_of(w, who.tid);
        if (!spindump_put_thread(w, who.tid, t, sp_hang_group_of(w, first, who, owner), powerstats))
            return false;
    }
    for (struct sp_hang_group *g = first; g && g < end && sp_hang_same_process(g, first); g++) {
        if (!sp_hang_unwritten(g, owner))
            continue;
        if (powerstats && g->tid == SP_ABSENT) {
            if (!spindump_put_rows(w, g, true))
                return false;
            sp_puts(w->out, "\n");
        } else if (!spindump_put_thread(
                       w, g->tid, g->tid < 0 ? (struct sp_hang_thread){0} : sp_hang_thread_of(w, g->tid), g,
                       powerstats)) {
            return false;
        }
    }
    return true;
}

static void spindump_put_process_line(struct sp_hang_writer *w, const struct sp_process_fact *x,
                                      struct sp_span members, const struct sp_hang_group *first)
{
    struct sp_str name = sp_pstr(w->p, x->name);
    sp_puts(w->out, sp_json_find_true(members, "powerstats") ? "Powerstats for:   " : "Process:          ");
    sp_hang_put(w, sp_hang_span(first ? sp_pstr(w->p, first->comm) : name));
    spindump_put_member(w, members, name.n ? " (" : "(", "bundle", ")");
    if (x->pid != SP_ABSENT)
        sp_printf(w->out, "%s[%lld]", name.n ? " " : "", (long long)x->pid);
    spindump_put_member(w, members, " ", "rest", "");
    spindump_put_member(w, members, " [unique pid ", "unique_pid", "]");
    sp_puts(w->out, x->flags & SP_FACT_SUSPENDED ? " (suspended)\n" : "\n");
}

static bool spindump_put_process(struct sp_hang_writer *w, const struct sp_process_fact *x,
                                 struct sp_span members, uint32_t owner)
{
    struct sp_span raw, threads = {NULL, 0};
    struct sp_str name = sp_pstr(w->p, x->name);
    struct sp_hang_group *first = sp_hang_first_group(w, x);
    spindump_put_process_line(w, x, members, first);
    if (sp_json_find(members, "fields", &raw))
        sp_hang_put_fields(w, raw, 18);
    if (sp_json_find(members, "annotations", &raw))
        for (struct sp_span item; sp_json_next(&raw, &item);) {
            sp_puts(w->out, "  ");
            sp_hang_put(w, sp_hang_decoded(w, item));
            sp_puts(w->out, "\n");
        }
    sp_puts(w->out, "\n");
    sp_json_find(members, "threads", &threads);
    bool ok = spindump_put_threads(w, threads, first, owner, sp_json_find_true(members, "powerstats")) &&
              sp_hang_put_images(w, x, "  Binary Images:\n");
    sp_puts(w->out, "\n\n");
    if (sp_json_find(members, "not_understood", &raw))
        sp_emit(w->d, SP_I321, SP_AT_NOTHING, "lines of %.*s that were not understood", (int)name.n,
                name.n ? name.p : "");
    return ok;
}

/* DSOs that are images for profiles of other origin: with a path and a build id. */
struct spindump_dsos {
    SP_VEC(uint32_t) v;
};

static bool spindump_find_dsos(const struct sp_profile *p, struct spindump_dsos *out)
{
    for (uint32_t i = 0; i < p->dsos.n; i++) {
        struct sp_str id = sp_pstr(p, p->dsos.v[i].build_id), name = sp_pstr(p, p->dsos.v[i].name);
        bool is_image = id.n >= 16 && id.n <= 64 && name.n >= 2 && *name.p == '/';
        if (is_image && !sp_vec_push(&out->v, i))
            return false;
    }
    return true;
}

/* Where they were is not known. */
static bool spindump_put_dsos(struct sp_hang_writer *w, const struct spindump_dsos *dsos)
{
    bool any = false;
    for (size_t i = 0; i < dsos->v.n; i++) {
        const struct sp_dso *d = &w->p->dsos.v[dsos->v.v[i]];
        struct sp_str id = sp_pstr(w->p, d->build_id), name = sp_pstr(w->p, d->name);
        sp_buf_clear(&w->buf);
        sp_hang_uuid_text(id, &w->buf);
        struct sp_hang_image x = {.start_text = {"0x0", 3},
                                  .end_text = {"???", 3},
                                  .name = {"???", 3},
                                  .uuid = {w->buf.data, w->buf.len},
                                  .path = sp_hang_span(name),
                                  .kernel = d->is_kernel};
        if (w->buf.failed)
            return false;
        if (!any)
            sp_puts(w->out, "  Binary Images:\n");
        any = true;
        sp_hang_image_line(w->out, &x);
    }
    return true;
}

/* What a report of sample(1) says of its process; what it says of the system stands in the header. */
static void spindump_put_sample_fields(struct sp_hang_writer *w, struct sp_span fields)
{
    static const char *const elsewhere[] = {"Process", "OS Version", "Code Type", "Date/Time"};
    static const char *const names[][2] = {{"Parent Process", "Parent"}, {"Physical footprint", "Footprint"}};
    for (struct sp_span pair, item; sp_json_next(&fields, &pair);) {
        const char *as = NULL;
        char key[64];
        struct sp_span s =
            sp_json_next(&pair, &item) ? sp_hang_trim(sp_hang_decoded(w, item)) : (struct sp_span){"", 0};
        bool here = s.n > 0 && s.n < sizeof key;
        for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
            here = here && !sp_span_is(s, elsewhere[i]);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            as = sp_span_is(s, names[i][0]) ? names[i][1] : as;
        if (!here || !sp_json_next(&pair, &item))
            continue;
        snprintf(key, sizeof key, "%.*s", (int)s.n, s.p);
        sp_hang_key_line(w, as ? as : key, sp_hang_decoded(w, item));
    }
}

/* A process of another origin; x NULL: the table has none of it. */
static bool spindump_put_foreign(struct sp_hang_writer *w, const struct spindump_dsos *dsos,
                                 const struct sp_process_fact *x, struct sp_hang_group *g)
{
    struct sp_span fields;
    sp_puts(w->out, "Process:          ");
    sp_hang_put(w, sp_hang_trim(sp_hang_span(sp_pstr(w->p, g->comm))));
    if (g->pid != SP_ABSENT)
        sp_printf(w->out, "%s[%lld]", g->comm ? " " : "", (long long)g->pid);
    sp_puts(w->out, "\n");
    if (x && sp_json_find2(sp_hang_span(sp_pstr(w->p, x->extra_json)), "x_sample", "fields", &fields))
        spindump_put_sample_fields(w, fields);
    else if (x)
        sp_hang_key_line(w, "Path", sp_hang_span(sp_pstr(w->p, x->path)));
    sp_puts(w->out, "\n");
    if (!spindump_put_threads(w, (struct sp_span){0}, g, 0, false) ||
        !(x && x->images ? sp_hang_put_images(w, x, "  Binary Images:\n") : spindump_put_dsos(w, dsos)))
        return false;
    sp_puts(w->out, "\n\n");
    return true;
}

static bool spindump_put_processes(struct sp_hang_writer *w, const struct spindump_dsos *dsos)
{
    const struct sp_hang_group *end = w->groups.v + w->groups.n;
    if (!sp_hang_settle_owners(w, "tid"))
        return false;
    for (uint32_t i = 0; i < w->p->processes.n; i++) {
        const struct sp_process_fact *x = &w->p->processes.v[i];
        struct sp_span members;
        bool ours = sp_hang_process_members(w, i, &members);
        struct sp_hang_group *g = ours ? NULL : sp_hang_first_group(w, x);
        if (ours ? !spindump_put_process(w, x, members, i + 1)
                 : g && sp_hang_unwritten(g, 0) && !spindump_put_foreign(w, dsos, x, g))
            return false;
    }
    for (struct sp_hang_group *g = w->groups.v; g < end; g++)
        if (!g->written && !spindump_put_foreign(w, dsos, NULL, g))
            return false;
    return true;
}

/* ---- what stands around the processes ---- */

/* When the first process was looked at. */
static void spindump_put_sample_date(struct sp_hang_writer *w)
{
    struct sp_span fields = {"", 0}, pair, item;
    if (w->p->processes.n)
        sp_json_find2(sp_hang_span(sp_pstr(w->p, w->p->processes.v[0].extra_json)), "x_sample", "fields",
                      &fields);
    while (sp_json_next(&fields, &pair))
        if (sp_json_next(&pair, &item) && sp_span_is(sp_hang_decoded(w, item), "Date/Time") &&
            sp_json_next(&pair, &item))
            sp_hang_key_line(w, "Date/Time", sp_hang_decoded(w, item));
}

/* A profile of another origin: what its header says that a report has a field for. */
static void spindump_put_foreign_fields(struct sp_hang_writer *w)
{
    const struct sp_header *h = &w->p->header;
    const struct sp_event *e = &w->p->events.v[w->event];
    struct sp_str hz = sp_pstr(w->p, e->frequency_hz);
    double rate = hz.n ? sp_text_double(hz.p, hz.n) : 0;
    bool sample = sp_str_is(sp_pstr(w->p, h->source_tool), "sample");
    if (sample)
        spindump_put_sample_date(w);
    sp_hang_key_line(w, "OS Version", sp_hang_span(sp_pstr(w->p, h->host.os)));
    sp_hang_key_line(w, "Architecture", sp_hang_span(sp_pstr(w->p, h->host.arch)));
    sp_puts(w->out, "Data Source:      ");
    struct sp_str tool = sp_pstr(w->p, h->source_tool);
    sp_hang_put(w, tool.n ? sp_hang_span(tool) : (struct sp_span){"spaa", 4});
    sp_puts(w->out, ", event ");
    sp_hang_put(w, sp_hang_span(sp_pstr(w->p, e->name)));
    sp_puts(w->out, "\n");
    if (h->duration) {
        sp_puts(w->out, "Duration:         ");
        sp_hang_put(w, sp_hang_span(sp_pstr(w->p, h->duration)));
        sp_puts(w->out, "s\n");
    }
    if (sample)
        sp_puts(w->out, "Note:             states are told by innermost functions; sample(1) states none\n");
    sp_printf(w->out, "Steps:            %lld", (long long)sp_hang_steps(w));
    if (w->counts && rate >= 1 && rate <= 1000000)
        sp_printf(w->out, " (%lldus sampling interval)", (long long)(1000000 / rate + 0.5));
    sp_puts(w->out, "\n");
    sp_hang_key_line(w, "Active cpus", sp_hang_span(sp_pstr(w->p, h->host.cpus)));
}

static void spindump_put_lines(struct sp_hang_writer *w, struct sp_span list, const char *indent)
{
    for (struct sp_span item; sp_json_next(&list, &item);) {
        sp_puts(w->out, indent);
        sp_hang_put(w, sp_hang_decoded(w, item));
        sp_puts(w->out, "\n");
    }
}

static const char spindump_dashes[] = "------------------------------------------------------------\n";

static void spindump_put_header(struct sp_hang_writer *w)
{
    struct sp_span raw, x = {NULL, 0};
    bool banner = false;
    if (w->ours)
        sp_json_find(sp_hang_span(sp_pstr(w->p, w->p->header.extra_json)), "x_spindump", &x);
    struct sp_span ips = sp_hang_decoded_member(w, x, "ips");
    if (ips.n) {
        sp_hang_put(w, ips);
        sp_puts(w->out, "\n");
    }
    if (sp_json_find(x, "fields", &raw))
        sp_hang_put_fields(w, raw, 18);
    else
        spindump_put_foreign_fields(w);
    sp_puts(w->out, "\n");
    for (size_t i = 0; i < w->p->extensions.n; i++) {
        struct sp_span record = sp_hang_span(sp_pstr(w->p, w->p->extensions.v[i].json));
        if (!sp_hang_starts(record, "{\"type\":\"x_spindump_") || !sp_json_find(record, "lines", &raw))
            continue;
        if (sp_hang_starts(record, "{\"type\":\"x_spindump_banner\"")) {
            sp_puts(w->out, spindump_dashes);
            spindump_put_lines(w, raw, "");
            sp_puts(w->out, spindump_dashes);
            sp_puts(w->out, "\n");
            banner = true;
        } else if (sp_hang_starts(record, "{\"type\":\"x_spindump_heaviest\"")) {
            spindump_put_lines(w, raw, "");
            sp_puts(w->out, "\n");
        }
    }
    if (!banner && !w->ours)
        sp_printf(w->out, "%sHeavy format: stacks are sorted by count\n%s\n", spindump_dashes,
                  spindump_dashes);
    sp_puts(w->out, "\n");
}

static void spindump_put_histogram(struct sp_hang_writer *w, struct sp_span record)
{
    struct sp_span rows, row, item;
    char unit[16];
    struct sp_span title = sp_hang_decoded_member(w, record, "title");
    bool sizes = sp_hang_starts(title, "IO Size");
    sp_hang_put(w, title);
    sp_printf(w->out, ":\n     Begin      End            %s                     CDF\n",
              sizes ? "Frequency" : "Freq");
    struct sp_span u = sp_hang_decoded_member(w, record, "unit");
    snprintf(unit, sizeof unit, "%.*s", (int)(u.n < 15 ? u.n : 15), u.n ? u.p : "");
    if (!sp_json_find(record, "rows", &rows))
        return;
    while (sp_json_next(&rows, &row)) {
        struct sp_span v[4] = {{0}};
        size_t n = 0;
        while (n < 4 && sp_json_next(&row, &item))
            v[n++] = item;
        if (n < 4)
            continue;
        if (sp_span_is(v[1], "null"))
            sp_printf(w->out, "         > %7.*s%s", (int)v[0].n, v[0].p, unit);
        else
            sp_printf(w->out, "%8.*s%s %8.*s%s", (int)v[0].n, v[0].p, unit, (int)v[1].n, v[1].p, unit);
        sp_printf(w->out, "\t\t%8.*s\t\t%8.*s\n", (int)v[2].n, v[2].p, (int)v[3].n, v[3].p);
    }
    sp_puts(w->out, "\n");
}

static void spindump_put_tail(struct sp_hang_writer *w)
{
    struct sp_span raw;
    for (size_t i = 0; i < w->p->extensions.n; i++) {
        struct sp_span record = sp_hang_span(sp_pstr(w->p, w->p->extensions.v[i].json));
        if (sp_hang_starts(record, "{\"type\":\"x_spindump_histogram\"")) {
            spindump_put_histogram(w, record);
        } else if (sp_hang_starts(record, "{\"type\":\"x_spindump_aggregate\"")) {
            sp_hang_put(w, sp_hang_decoded_member(w, record, "title"));
            sp_puts(w->out, ":\n");
            if (sp_json_find(record, "lines", &raw))
                spindump_put_lines(w, raw, "\t");
            sp_puts(w->out, "\n");
        } else if (sp_hang_starts(record, "{\"type\":\"x_spindump_tail\"")) {
            if (sp_json_find(record, "lines", &raw))
                spindump_put_lines(w, raw, "");
        }
    }
}

static bool spindump_put_report(struct sp_hang_writer *w)
{
    struct spindump_dsos dsos = {0};
    spindump_put_header(w);
    bool ok = spindump_find_dsos(w->p, &dsos) && spindump_put_processes(w, &dsos);
    sp_vec_free(&dsos.v);
    if (ok)
        spindump_put_tail(w);
    return ok;
}

spaa_status sp_spindump_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                              struct sp_output *out)
{
    struct sp_hang_writer w = {.p = p,
                               .d = d,
                               .out = out,
                               .x_key = "x_spindump",
                               .text_of = spindump_frame_text,
                               .state_of = spindump_context_text};
    return sp_hang_write(&w, "spindump", opts, spindump_put_report);
}
