/*
 * An analysis that was read: its threads with their stacks, and the record of its process.
 */
#include "formats/sample/report.h"

#include <string.h>

/* `alone`: with what a record of a thread has fields for, where there is none. */
static void sample_thread_object(struct sample_reader *r, const struct sample_block *b, bool alone)
{
    const struct sp_sample_report_thread *t = &b->thread;
    sp_buf_ch(&r->buf, '{');
    if (alone) {
        sp_hang_member(&r->buf, "id", t->id);
        if (t->named)
            sp_hang_member(&r->buf, "name", t->name);
        if (t->queue.n)
            sp_hang_member(&r->buf, "queue", t->queue);
    }
    sp_hang_number(&r->buf, "samples", t->samples);
    sp_buf_ch(&r->buf, '}');
}

static bool sample_thread_facts(struct sample_reader *r, const struct sp_sample_report_thread *t,
                                uint32_t thread)
{
    struct sp_profile *p = r->p;
    uint32_t name = t->named ? sp_profile_text(p, t->name.n ? t->name.p : "", t->name.n) : SP_STR_NONE,
             queue = t->queue.n ? sp_profile_text(p, t->queue.p, t->queue.n) : SP_STR_NONE;
    p->threads.v[thread].name = name == SP_STR_FAIL ? SP_STR_NONE : name;
    p->threads.v[thread].queue = queue == SP_STR_FAIL ? SP_STR_NONE : queue;
    return name != SP_STR_FAIL && queue != SP_STR_FAIL;
}

/* Its own record, or an object in the process's list where there is a record of this thread already. */
static bool sample_keep_thread(struct sample_reader *r, const struct sample_block *b)
{
    size_t before = r->p->threads.n;
    uint32_t t = SP_NONE;
    if (!b->known)
        return true;
    if (b->thread.tid != SP_ABSENT) {
        t = sp_thread_intern(r->p, r->pid, b->thread.tid, r->comm);
        if (t == SP_NONE)
            return false;
    }
    sp_hang_comma(&r->list);
    sp_buf_clear(&r->buf);
    if (t == SP_NONE || r->p->threads.n == before) {
        sample_thread_object(r, b, true);
        sp_buf_add(&r->list, r->buf.data, r->buf.len);
        return !r->list.failed && !r->buf.failed;
    }
    sp_buf_i64(&r->list, b->thread.tid);
    if (!sample_thread_facts(r, &b->thread, t))
        return false;
    sp_buf_puts(&r->buf, "\"x_sample\":");
    sample_thread_object(r, b, false);
    uint32_t more_text = r->buf.failed ? SP_STR_FAIL : sp_profile_str(r->p, r->buf.data, r->buf.len);
    r->p->threads.v[t].extra_json = more_text == SP_STR_FAIL ? SP_STR_NONE : more_text;
    return more_text != SP_STR_FAIL && !r->list.failed;
}

static void sample_array(struct sp_buf *to, const char *key, const struct sp_buf *items)
{
    sp_hang_comma(to);
    sp_buf_printf(to, "\"%s\":[", key);
    if (items->len)
        sp_buf_add(to, items->data, items->len);
    sp_buf_ch(to, ']');
    to->failed |= items->failed;
}

static bool sample_process_record(struct sample_reader *r)
{
    struct sp_buf *b = &r->buf;
    struct sp_process_fact x = {0};
    sp_facts_clear(sp_process_facts, &x);
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_sample\":{");
    sp_hang_member(b, "title", r->title);
    sample_array(b, "fields", &r->fields);
    sample_array(b, "threads", &r->list);
    sample_array(b, "tail", &r->tail);
    sp_buf_ch(b, '}');
    x.pid = r->pid;
    x.path = r->path.n ? sp_profile_text(r->p, r->path.p, r->path.n) : SP_STR_NONE;
    x.name = r->name.n ? sp_profile_text(r->p, r->name.p, r->name.n) : SP_STR_NONE;
    x.extra_json = b->failed ? SP_STR_FAIL : sp_profile_str(r->p, b->data, b->len);
    return x.name != SP_STR_FAIL && x.path != SP_STR_FAIL && x.extra_json != SP_STR_FAIL &&
           sp_process_add(r->p, &x, r->process_images.v, r->process_images.n);
}

static bool sample_image_dsos(struct sample_reader *r)
{
    for (size_t i = 0; i < r->process_images.n; i++) {
        struct sp_hang_image *m = &r->images.v.v[r->process_images.v[i]];
        if (!m->named && m->file.n && !sp_span_is(m->file, "???") &&
            sp_hang_dso(r->p, m->file, m->uuid, m->kernel) == SP_NONE)
            return false;
        m->named = true;
    }
    return true;
}

static bool sample_part_blocks(struct sample_reader *r)
{
    for (size_t i = 0; i < r->blocks.n; i++)
        r->blocks.v[i].rows.n =
            (i + 1 < r->blocks.n ? r->blocks.v[i + 1].rows.first : r->rows.n) - r->blocks.v[i].rows.first;
    for (size_t i = 0, all = r->blocks.n; i < all; i++) {
        struct sample_block *b = &r->blocks.v[i], rest = {.thread.tid = SP_ABSENT};
        if (b->known && !sp_hang_part_slice(&r->tree, r->rows.v, &b->rows, b->thread.samples, "Thread_",
                                            b->thread.id, &rest.rows))
            return false;
        if (rest.rows.n && !sp_vec_push(&r->blocks, rest))
            return false;
    }
    return true;
}

/* The line of an image that waits is over. */
bool sp_sample_settle_image(struct sample_reader *r)
{
    struct sp_span text = r->image.text;
    bool ok = true;
    uint32_t i = text.n ? sp_hang_image(&r->images, text, r->stamp, &ok) : SP_NONE;
    r->image.text.n = 0;
    if (text.n && i == SP_NONE)
        sp_hang_item(&r->tail, text);
    return ok && (i == SP_NONE || sp_vec_push(&r->process_images, i));
}

/* sample writes a graph, with a blank line behind it: at the end of a row, a text that is cut shows nothing
 * else. */
static void sample_say_end(const struct sample_reader *r)
{
    if (r->zone == FIELDS)
        sp_emit(r->d, SP_L520, SP_AT_LINE(r->line, SP_NOWHERE), "the text ends here, before a call graph");
    else if (r->zone == GRAPH && !r->after_blank)
        sp_emit(r->d, SP_L520, SP_AT_LINE(r->line, SP_NOWHERE),
                "the text ends here, without the blank line behind a call graph: threads may be missing");
}

spaa_status sp_sample_end_analysis(struct sample_reader *r)
{
    spaa_status st = SPAA_OK;
    if (!r->open)
        return st;
    r->open = false;
    sample_say_end(r);
    if (!sp_sample_settle_row(r) || !sp_sample_settle_image(r) || !sample_part_blocks(r))
        return sp_nomem(r->d);
    sp_buf_clear(&r->list);
    for (size_t i = 0; i < r->blocks.n && !st; i++) {
        const struct sample_block *b = &r->blocks.v[i];
        if (!sample_keep_thread(r, b))
            st = sp_nomem(r->d);
        if (!st)
            st = sp_sample_block_stacks(r, b);
    }
    if (!st && (!sample_image_dsos(r) || !sample_process_record(r)))
        st = sp_nomem(r->d);
    return st;
}
