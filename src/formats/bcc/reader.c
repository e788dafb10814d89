/*
 * Reads what bcc's tools print without -f (bcc.h): which line belongs to what.
 */
#include "base/num.h"
#include "formats/bcc/bcc.h"
#include "formats/common/text/off_cpu_option.h"

/* How a record is laid out, which its first line tells. */
enum bcc_shape {
    BCC_NONE,
    BCC_BY_THREAD, /* offcputime, profile: frames at 4, the thread, the number at 8 */
    BCC_BY_COUNT,  /* stackcount: frames at 2, the number at 4 */
    BCC_BY_TARGET, /* wakeuptime */
    BCC_BY_WAKER,  /* offwaketime */
    BCC_BY_BLOCKS, /* memleak */
};

struct bcc_reader {
    struct bcc_stacks s;
    struct sp_lines lines;
    struct bcc_title title;
    struct sp_buf probe; /* what title.probe points to */
    int64_t pid;         /* of memleak; -1: not said */

    /* The record in work. */
    enum bcc_shape shape;
    bool delimiter[2]; /* of the stack before the split, and behind it */
    bool split, numbered, whole;
    size_t first, second; /* names of the stack before the split, and behind it */
    struct bcc_who who, other;

    struct bcc_heap heap;
    bool threads; /* lines of threads were seen: see bcc_has_bare_name */
    uint64_t stacks, other_lines;
};

static void bcc_reset(struct bcc_reader *r)
{
    if (r->shape != BCC_BY_BLOCKS && !r->heap.list.n)
        r->s.names.n = 0;
    r->shape = BCC_NONE;
    r->split = r->numbered = r->whole = r->delimiter[0] = r->delimiter[1] = false;
    r->who = r->other = (struct bcc_who){SP_STR_NONE, -1};
}

/* What began ends without its number. */
static void bcc_drop(struct bcc_reader *r)
{
    if (r->shape && r->shape != BCC_BY_BLOCKS) {
        r->s.names.n = r->first;
        sp_emit(r->s.d, SP_L302, SP_AT_LINE(r->lines.line, r->lines.offset), "a stack without its number");
    }
    bcc_reset(r);
}

static void bcc_begin(struct bcc_reader *r, enum bcc_shape shape)
{
    if (r->shape == shape)
        return;
    bcc_drop(r);
    r->shape = shape;
    r->first = r->second = r->s.names.n;
}

/* The title that is in force, if it is of these records; else what their form alone tells. */
static struct bcc_title bcc_title_for(const struct bcc_reader *r)
{
    static const enum bcc_tool tools[] = {BCC_UNTOLD, BCC_UNTOLD,   BCC_COUNTS,
                                          BCC_WAKEUP, BCC_OFF_WAKE, BCC_HEAP};
    enum bcc_tool tool = tools[r->shape];
    bool fits = r->title.tool == tool ||
                (tool == BCC_UNTOLD && (r->title.tool == BCC_OFF_CPU || r->title.tool == BCC_SAMPLES));
    struct bcc_title t = fits ? r->title : (struct bcc_title){.tool = tool, .probe = {"", 0}};
    if (tool == BCC_WAKEUP)
        t.sides = BCC_KERNEL_ONLY; /* it takes no others */
    return t;
}

/* ---- the end of records ---- */

static void bcc_reverse(struct bcc_reader *r, struct bcc_slice *x)
{
    struct bcc_name *a = r->s.names.v + x->first;
    for (size_t i = 0; i < x->n / 2; i++) {
        struct bcc_name t = a[i];
        a[i] = a[x->n - 1 - i];
        a[x->n - 1 - i] = t;
    }
    for (size_t i = 0; i < x->n; i++) /* from the root on the program's come first */
        a[i].after = x->delimiter && !a[i].after;
}

static spaa_status bcc_finish(struct bcc_reader *r, int64_t value)
{
    struct bcc_title title = bcc_title_for(r);
    const struct bcc_event *e;
    size_t end = r->s.names.n, middle = r->split ? r->second : end;
    struct bcc_slice first = {r->first, middle - r->first, r->delimiter[0], title.sides},
                     second = {middle, end - middle, r->delimiter[1], title.sides};
    spaa_status st = bcc_event_of(&r->s, &title, &e);
    if (st)
        return st;
    if (r->shape == BCC_BY_WAKER)
        bcc_reverse(r, &first);
    if (r->shape == BCC_BY_WAKER)
        st = bcc_add_pair(&r->s, e, &first, &r->other, &second, &r->who, value);
    else if (r->shape == BCC_BY_TARGET)
        st = bcc_add_wakeup(&r->s, e, &first, &r->other, &r->who, value);
    else
        st = bcc_add_stack(&r->s, e, &first, &r->who, value);
    r->stacks++;
    r->s.names.n = r->first;
    bcc_reset(r);
    return st;
}

/* ---- lines ---- */

static spaa_status bcc_take_title(struct bcc_reader *r, const struct bcc_line *l)
{
    bcc_drop(r);
    sp_buf_clear(&r->probe);
    sp_buf_add(&r->probe, l->title.probe.p ? l->title.probe.p : "", l->title.probe.n);
    if (r->probe.failed)
        return sp_nomem(r->s.d);
    r->title = l->title;
    r->title.said = true;
    r->title.probe = (struct sp_str){r->probe.data ? r->probe.data : "", (uint32_t)r->probe.len};
    if (l->title.tool == BCC_HEAP)
        r->pid = l->id;
    return SPAA_OK;
}

static spaa_status bcc_take_who(struct bcc_reader *r, const struct bcc_line *l, struct bcc_who *who)
{
    struct sp_str comm = l->comm;
    who->id = l->id;
    if (r->shape == BCC_BY_WAKER && r->numbered)
        bcc_thread_number(&comm, &who->id);
    who->comm = sp_profile_text(r->s.p, comm.p, comm.n);
    return who->comm == SP_STR_FAIL ? sp_nomem(r->s.d) : SPAA_OK;
}

/* The first line of wakeuptime's records, and the last name of offwaketime's. */
static spaa_status bcc_take_target(struct bcc_reader *r, const struct bcc_line *l)
{
    if (r->shape == BCC_BY_WAKER && r->split) {
        r->whole = true;
        return bcc_take_who(r, l, &r->who);
    }
    bcc_drop(r);
    bcc_begin(r, BCC_BY_TARGET);
    return bcc_take_who(r, l, &r->who);
}

static spaa_status bcc_take_waker(struct bcc_reader *r, const struct bcc_line *l)
{
    if (r->shape == BCC_BY_TARGET && !r->whole) {
        r->whole = true;
        return bcc_take_who(r, l, &r->other);
    }
    bcc_drop(r);
    bcc_begin(r, BCC_BY_WAKER);
    return bcc_take_who(r, l, &r->other); /* its number is taken off where the split tells that it has one */
}

static spaa_status bcc_take_split(struct bcc_reader *r, const struct bcc_line *l)
{
    if (r->shape != BCC_BY_WAKER || r->split) {
        r->other_lines++;
        return SPAA_OK;
    }
    r->split = true;
    r->second = r->s.names.n;
    r->numbered = l->kind == BCC_SPLIT;
    struct sp_str comm = sp_pstr(r->s.p, r->other.comm);
    if (!r->numbered || !bcc_thread_number(&comm, &r->other.id))
        return SPAA_OK;
    struct sp_buf b; /* the text is in the table that the name goes to */
    sp_buf_init(&b, 0);
    sp_buf_add(&b, comm.p, comm.n);
    r->other.comm = b.failed ? SP_STR_FAIL : sp_profile_text(r->s.p, b.data, b.len);
    sp_buf_free(&b);
    return r->other.comm == SP_STR_FAIL ? sp_nomem(r->s.d) : SPAA_OK;
}

static spaa_status bcc_take_frame(struct bcc_reader *r, const struct bcc_line *l)
{
    struct bcc_frame f;
    bool by_who = r->shape == BCC_BY_WAKER || r->shape == BCC_BY_TARGET, blocks = r->shape == BCC_BY_BLOCKS;
    if (!blocks && !by_who && (l->indent == 2 || l->indent == 4)) {
        if (r->whole) /* of the next record: the one before has no number */
            bcc_drop(r);
        bcc_begin(r, l->indent == 2 ? BCC_BY_COUNT : BCC_BY_THREAD);
    } else if (!blocks && !(by_who && l->indent >= 4 && !r->whole)) {
        bool open = r->shape != BCC_NONE;
        bcc_drop(r);
        r->other_lines += !open;
        return SPAA_OK;
    }
    bcc_parse_frame(l->text, &f);
    size_t n = r->s.names.n;
    if (!bcc_add_name(&r->s, &f, r->delimiter[r->split]))
        return sp_nomem(r->s.d);
    if (blocks)
        r->heap.list.v[r->heap.list.n - 1].n += r->s.names.n - n;
    return SPAA_OK;
}

/* Its thread or process: the number follows. */
static spaa_status bcc_take_owner(struct bcc_reader *r, const struct bcc_line *l)
{
    enum bcc_shape shape = l->kind == BCC_THREAD ? BCC_BY_THREAD : BCC_BY_COUNT;
    if (l->indent != 4 || (r->shape && r->shape != shape) ||
        (shape == BCC_BY_COUNT && !r->shape && r->title.tool != BCC_COUNTS))
        return bcc_take_frame(r, l);
    if (r->whole)
        bcc_drop(r);
    bcc_begin(r, shape);
    r->whole = true;
    r->threads = r->threads || shape == BCC_BY_THREAD;
    return bcc_take_who(r, l, &r->who);
}

/* The first versions of offcputime print the name of who waited like one more frame. */
static bool bcc_has_bare_name(const struct bcc_reader *r)
{
    return r->shape == BCC_BY_THREAD && !r->whole && !r->threads && r->title.tool == BCC_OFF_CPU &&
           r->s.names.n > r->first;
}

static void bcc_take_bare_name(struct bcc_reader *r)
{
    r->who.comm = r->s.names.v[--r->s.names.n].name;
    r->whole = true;
}

static spaa_status bcc_take_number(struct bcc_reader *r, const struct bcc_line *l)
{
    if (l->number >= 0 && l->indent == 8 && bcc_has_bare_name(r))
        bcc_take_bare_name(r);
    bool value = l->number >= 0 && ((r->shape == BCC_BY_COUNT && l->indent == 4) ||
                                    (r->shape > BCC_NONE && r->whole && l->indent == 8));
    if (value)
        return bcc_finish(r, l->number);
    if (!r->shape && r->title.tool == BCC_COUNTS && l->indent == 4 && l->number >= 0) {
        bcc_begin(r, BCC_BY_COUNT);
        return bcc_finish(r, l->number);
    }
    return bcc_take_frame(r, l);
}

static spaa_status bcc_take_delimiter(struct bcc_reader *r, const struct bcc_line *l)
{
    if (l->indent != 4 || (!r->shape && r->title.tool == BCC_UNTOLD)) {
        r->other_lines++;
        return SPAA_OK;
    }
    if (!r->shape)
        bcc_begin(r, r->title.tool == BCC_COUNTS ? BCC_BY_COUNT : BCC_BY_THREAD);
    r->delimiter[r->split] = true;
    return SPAA_OK;
}

static void bcc_take_warning(struct bcc_reader *r, const struct bcc_line *l)
{
    sp_emit(r->s.d, memmem(l->text.p, l->text.n, "hash table full", 15) ? SP_L303 : SP_W311,
            SP_AT_LINE(r->lines.line, r->lines.offset), "%.*s", (int)(l->text.n < 200 ? l->text.n : 200),
            l->text.p);
}

static spaa_status bcc_take_line(void *reader, const char *p, size_t n)
{
    struct bcc_reader *r = reader;
    struct bcc_line l;
    bcc_classify(p, n, &l);
    switch (l.kind) {
    case BCC_TITLE:
        return bcc_take_title(r, &l);
    case BCC_PRINT:
        bcc_drop(r);
        return bcc_heap_print(&r->heap, &r->s, &l);
    case BCC_BLOCKS:
        bcc_drop(r);
        r->shape = BCC_BY_BLOCKS;
        return bcc_heap_blocks(&r->heap, &r->s, &l);
    case BCC_WARNING:
        bcc_take_warning(r, &l);
        return SPAA_OK;
    case BCC_KNOWN:
        return SPAA_OK;
    case BCC_BLANK:
        bcc_drop(r);
        return SPAA_OK;
    case BCC_DELIMITER:
        return bcc_take_delimiter(r, &l);
    case BCC_SPLIT:
    case BCC_OLD_SPLIT:
        return bcc_take_split(r, &l);
    case BCC_THREAD:
    case BCC_PROCESS:
        return bcc_take_owner(r, &l);
    case BCC_WAKER:
        return bcc_take_waker(r, &l);
    case BCC_TARGET:
        return bcc_take_target(r, &l);
    case BCC_NUMBER:
        return bcc_take_number(r, &l);
    default:
        return bcc_take_frame(r, &l);
    }
}

/* ---- the profile ---- */

static spaa_status bcc_end(struct bcc_reader *r, struct sp_input *in)
{
    bool cut = r->shape && r->shape != BCC_BY_BLOCKS;
    r->shape = BCC_BY_BLOCKS;
    struct bcc_title title = bcc_title_for(r);
    spaa_status st = bcc_heap_end(&r->heap, &r->s, &title, r->pid);
    if (st)
        return st;
    if (!r->stacks && !r->heap.list.n) {
        st = sp_input_failed(in);
        if (!st)
            sp_emit(r->s.d, SP_E011, SP_AT_NOTHING, "the text has no stack");
        return st ? st : SPAA_ERR_INPUT;
    }
    if (cut)
        sp_emit(r->s.d, SP_L301, SP_AT_LINE(r->lines.line, r->lines.offset), "a stack without its number");
    if (r->other_lines && !r->s.opts->keeper)
        sp_emit_hint(r->s.d, SP_I321, SP_AT_NOTHING, "--lossless keeps them", "%llu lines of other text",
                     (unsigned long long)r->other_lines);
    st = bcc_stacks_end(&r->s);
    return st ? st : bcc_heap_say(&r->heap, &r->s);
}

static spaa_status bcc_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                            struct sp_profile *p)
{
    struct bcc_reader r = {.pid = -1, .title = {.probe = {"", 0}}};
    r.lines = (struct sp_lines){.reader = &r, .take = bcc_take_line};
    sp_buf_init(&r.probe, 0);
    bcc_reset(&r);
    spaa_status st = bcc_stacks_init(&r.s, p, opts, d) ? sp_off_cpu_asked(opts, d, &r.s.unit) : sp_nomem(d);
    if (!st)
        st = sp_lines_read(&r.lines, in);
    if (!st)
        st = bcc_end(&r, in);
    bcc_stacks_free(&r.s);
    sp_vec_free(&r.heap.list);
    sp_buf_free(&r.probe);
    return st;
}

static const struct sp_format_option options[] = {
    SP_OFF_CPU_OPTION,
    {0},
};

const struct spaa_format spaa_format_bcc = {
    .name = "bcc",
    .title = "bcc's offcputime, profile, stackcount, offwaketime, wakeuptime and memleak, without -f",
    .extensions = "bcc offcputime",
    .media_type = "text/plain",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ,
    .options = options,
    .probe = bcc_probe,
    .read = bcc_read,
};
