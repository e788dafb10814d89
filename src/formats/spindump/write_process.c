/*
 * Processes of a report: those of x_spindump_process records in their order, each with its threads in theirs,
 * then what no record names.
 */
#include "base/num.h"
#include "formats/spindump/write.h"

#include <stdlib.h>

static struct sp_span of(struct sp_str s)
{
    return (struct sp_span){s.p, s.n};
}

static void spaced(struct sp_hang_writer *w, struct sp_span object, const char *before, const char *key,
                   const char *after)
{
    struct sp_span s = sp_hang_decoded_member(w, object, key);
    if (!s.n)
        return;
    sp_puts(w->out, before);
    sp_hang_put(w, s);
    sp_puts(w->out, after);
}

/* The header of a thread; `members` is its x_spindump, `sum` its samples where that does not say. */
static void thread_line(struct sp_hang_writer *w, int64_t tid, struct sp_span members, int64_t sum)
{
    int64_t samples;
    struct sp_span raw;
    if (tid < 0)
        sp_puts(w->out, "  Thread <multiple>");
    else
        sp_printf(w->out, "  Thread 0x%llx", (unsigned long long)tid);
    spaced(w, members, ",", "more_ids", "");
    spaced(w, members, "    ", "rest", "");
    spaced(w, members, "    DispatchQueue ", "queue", "");
    if (sp_json_find(members, "name", &raw)) {
        sp_puts(w->out, "    Thread name \"");
        sp_hang_put(w, sp_hang_decoded(w, raw));
        sp_puts(w->out, sp_json_find_true(members, "name_changed") ? "\" (changed)" : "\"");
    }
    bool stated = sp_json_find_i64(members, "samples", &samples);
    if (stated || (!members.n && sum)) {
        samples = stated ? samples : sum;
        sp_printf(w->out, "    %lld sample%s", (long long)samples, samples == 1 ? "" : "s");
        spaced(w, members, " (", "range", ")");
    }
    spaced(w, members, "    priority ", "priority", "");
    spaced(w, members, " (base ", "base_priority", ")");
    spaced(w, members, "    cpu time ", "cpu_time", "");
    spaced(w, members, "    idle time ", "idle_time", "");
    spaced(w, members, "    last ran ", "last_ran", "");
    spaced(w, members, "    ", "io", "");
    sp_puts(w->out, "\n");
    if (sp_json_find(members, "annotations", &raw))
        for (struct sp_span item; sp_json_next(&raw, &item);) {
            sp_puts(w->out, "  ");
            sp_hang_put(w, sp_hang_decoded(w, item));
            sp_puts(w->out, "\n");
        }
}

static bool put_thread(struct sp_hang_writer *w, int64_t tid, struct sp_span members, struct sp_hang_group *g)
{
    thread_line(w, tid, members, sp_hang_sum_of(w, g));
    bool ok = !g || sp_sd_put_rows(w, g);
    sp_puts(w->out, "\n");
    return ok;
}

/* Threads as a record names them, then those of its stacks that it does not name. */
static bool put_threads(struct sp_hang_writer *w, struct sp_span list, struct sp_hang_group *first,
                        uint32_t owner, bool powerstats)
{
    const struct sp_hang_group *end = w->groups.v + w->groups.n;
    for (struct sp_span item; sp_json_next(&list, &item);) {
        int64_t tid = sp_hang_listed_tid(w, item, "tid");
        struct sp_span members = *item.p == '{' ? item : sp_hang_members_of(w, tid);
        if (!put_thread(w, tid, members, sp_hang_group_of(w, first, tid, owner)))
            return false;
    }
    for (struct sp_hang_group *g = first; g && g < end && g->pid == first->pid && g->comm == first->comm;
         g++) {
        if (!sp_hang_unwritten(g, owner))
            continue;
        if (powerstats && g->tid == SP_ABSENT) {
            if (!sp_sd_put_rows(w, g))
                return false;
            sp_puts(w->out, "\n");
        } else if (!put_thread(w, g->tid, g->tid < 0 ? (struct sp_span){0} : sp_hang_members_of(w, g->tid),
                               g)) {
            return false;
        }
    }
    return true;
}

static bool put_record(struct sp_hang_writer *w, struct sp_span record, uint32_t owner)
{
    bool powerstats = sp_json_find_true(record, "powerstats"), ok;
    struct sp_span raw, name;
    int64_t pid;
    struct sp_buf keep;
    sp_buf_init(&keep, 0);
    name = sp_hang_decoded_member(w, record, "name");
    sp_buf_add(&keep, name.p, name.n);
    name = (struct sp_span){keep.data, keep.len};
    if (!sp_json_find_i64(record, "pid", &pid))
        pid = SP_ABSENT;
    struct sp_hang_group *first = sp_hang_first_group(w, pid, name);
    sp_puts(w->out, powerstats ? "Powerstats for:   " : "Process:          ");
    sp_hang_put(w, first ? of(sp_pstr(w->p, first->comm)) : name);
    spaced(w, record, name.n ? " (" : "(", "bundle", ")");
    if (pid != SP_ABSENT)
        sp_printf(w->out, "%s[%lld]", name.n ? " " : "", (long long)pid);
    spaced(w, record, " ", "rest", "");
    spaced(w, record, " [unique pid ", "unique_pid", "]");
    sp_puts(w->out, sp_json_find_true(record, "suspended") ? " (suspended)\n" : "\n");
    if (sp_json_find(record, "fields", &raw))
        sp_hang_put_fields(w, raw, 18);
    if (sp_json_find(record, "annotations", &raw))
        for (struct sp_span item; sp_json_next(&raw, &item);) {
            sp_puts(w->out, "  ");
            sp_hang_put(w, sp_hang_decoded(w, item));
            sp_puts(w->out, "\n");
        }
    sp_puts(w->out, "\n");
    struct sp_span threads = {NULL, 0}, images = {NULL, 0};
    sp_json_find(record, "threads", &threads);
    sp_json_find(record, "images", &images);
    ok = put_threads(w, threads, first, owner, powerstats) &&
         sp_hang_put_images(w, images, "  Binary Images:\n");
    sp_puts(w->out, "\n\n");
    if (sp_json_find(record, "not_understood", &raw))
        sp_emit(w->d, SP_I321, SP_AT_NOTHING, "lines of %.*s that were not understood", (int)name.n,
                name.n ? name.p : "");
    sp_buf_free(&keep);
    return ok;
}

static void uuid_text(struct sp_str id, struct sp_buf *b)
{
    for (uint32_t i = 0; i < id.n; i++) {
        if (id.n == 32 && (i == 8 || i == 12 || i == 16 || i == 20))
            sp_buf_ch(b, '-');
        sp_buf_ch(b, (char)(id.p[i] >= 'a' && id.p[i] <= 'f' ? id.p[i] - ('a' - 'A') : id.p[i]));
    }
}

/* The images of DSOs with a build id, for profiles of other origin: where they were is not known. */
static bool put_dsos(struct sp_hang_writer *w)
{
    bool any = false;
    for (size_t i = 0; i < w->p->dsos.n; i++) {
        const struct sp_dso *d = &w->p->dsos.v[i];
        struct sp_str id = sp_pstr(w->p, d->build_id), name = sp_pstr(w->p, d->name);
        if (id.n < 16 || id.n > 64 || name.n < 2 || *name.p != '/')
            continue;
        sp_buf_clear(&w->buf);
        uuid_text(id, &w->buf);
        struct sp_hang_image x = {.start_text = {"0x0", 3},
                                  .end_text = {"???", 3},
                                  .name = {"???", 3},
                                  .uuid = {w->buf.data, w->buf.len},
                                  .path = of(name),
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

bool sp_sd_put_processes(struct sp_hang_writer *w)
{
    const struct sp_hang_group *end = w->groups.v + w->groups.n;
    static const char type[] = "{\"type\":\"x_spindump_process\"";
    if (!sp_hang_settle_owners(w, type, "tid"))
        return false;
    for (uint32_t i = 0; i < w->p->extensions.n; i++) {
        struct sp_span record = of(sp_pstr(w->p, w->p->extensions.v[i].json));
        if (sp_hang_starts(record, type) && !put_record(w, record, i + 1))
            return false;
    }
    for (struct sp_hang_group *g = w->groups.v; g < end; g++) {
        if (g->written)
            continue;
        sp_puts(w->out, "Process:          ");
        sp_hang_put(w, sp_hang_trim(of(sp_pstr(w->p, g->comm))));
        if (g->pid != SP_ABSENT)
            sp_printf(w->out, "%s[%lld]", g->comm ? " " : "", (long long)g->pid);
        sp_puts(w->out, "\n\n");
        if (!put_threads(w, (struct sp_span){0}, g, 0, false) || !put_dsos(w))
            return false;
        sp_puts(w->out, "\n\n");
    }
    return true;
}
