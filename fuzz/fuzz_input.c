/*
 * The input layer: whatever the bytes, unpacked or not, with or without what others put around text, small
 * pieces give what large ones give, lines give the same bytes again, and the whole is the sum of the parts.
 */
#include "io/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);

/* Enough for any damage to show; a few bytes may unpack to gigabytes. */
#define MOST ((size_t)4 << 20)

struct taken {
    unsigned char *p;
    size_t n;
    spaa_status failed;
    uint64_t damage, begin; /* begin: the offset of the first byte that is lent */
    unsigned wrapping;
    bool all;
};

static void die(const char *what)
{
    fprintf(stderr, "input: %s\n", what);
    abort();
}

static struct sp_input *open_input(const unsigned char *p, size_t n, size_t chunk, struct sp_diags *d)
{
    struct sp_input *in;
    sp_diags_init(d);
    if (sp_input_memory(p, n, "fuzz", d, &in))
        die("out of memory");
    sp_input_set_chunk(in, chunk);
    return in;
}

/* What ends an input early is an error; that the text was quoted or ends in half a character is none. */
static void failures_are_said(const struct taken *t, const struct sp_diags *d)
{
    uint64_t errors = sp_diags_count(d, SP_ERROR);
    /* Each layer of compression may have a failure of its own. */
    if ((t->failed != SPAA_OK) != (errors > 0) || errors > 3)
        die("a failure is not said once");
    if (d->count[SP_L301] > !!(t->wrapping & SP_WRAP_UTF16) ||
        d->count[SP_W311] != !!(t->wrapping & SP_WRAP_QUOTE))
        die("what stood around the text is not said once");
}

static struct taken take(const unsigned char *p, size_t n, size_t chunk, size_t want, unsigned char *room)
{
    struct sp_diags d;
    struct sp_input *in = open_input(p, n, chunk, &d);
    struct taken t = {.p = room};
    const unsigned char *at;
    size_t lent;
    if (sp_input_wrapping(in, &t.wrapping))
        die("out of memory");
    t.begin = sp_input_offset(in);
    if (t.begin % 3 || (t.begin && !(t.wrapping & SP_WRAP_MARK)))
        die("it does not begin behind a mark");
    for (;;) {
        if (sp_input_peek(in, want, &at, &lent))
            die("out of memory");
        t.all = !lent;
        if (!lent || t.n == MOST)
            break;
        lent = lent < MOST - t.n ? lent : MOST - t.n;
        memcpy(t.p + t.n, at, lent);
        t.n += lent;
        sp_input_consume(in, lent);
        if (sp_input_offset(in) != t.begin + t.n)
            die("the offset is wrong");
    }
    t.failed = sp_input_failed(in);
    t.damage = d.count[SP_E006];
    if (t.all)
        failures_are_said(&t, &d);
    sp_input_close(in);
    sp_diags_free(&d);
    return t;
}

static void lines_make_the_text(const struct taken *t, const unsigned char *p, size_t n, size_t chunk)
{
    struct sp_diags d;
    struct sp_input *in = open_input(p, n, chunk, &d);
    const char *line;
    size_t len, at = 0;
    while (!sp_input_line(in, &line, &len) && line) {
        if (len > t->n - at || (len && memcmp(t->p + at, line, len)))
            die("another line");
        at += len;
        at += at < t->n && t->p[at] == '\r' && at + 1 < t->n && t->p[at + 1] == '\n';
        at += at < t->n && t->p[at] == '\n';
        if (sp_input_offset(in) != t->begin + at)
            die("the offset of a line is wrong");
    }
    if (at != t->n)
        die("lines are missing");
    sp_input_close(in);
    sp_diags_free(&d);
}

static void whole_is_the_same(const struct taken *t, const unsigned char *p, size_t n)
{
    struct sp_diags d;
    struct sp_input *in = open_input(p, n, 0, &d);
    const unsigned char *whole;
    size_t len;
    if (sp_input_whole(in, &whole, &len) || len != t->n || (len && memcmp(whole, t->p, len)))
        die("the whole is something else");
    if (sp_input_failed(in) != t->failed)
        die("the whole forgets its damage");
    sp_input_close(in);
    sp_diags_free(&d);
}

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{
    static unsigned char room[2][MOST];
    size_t chunk = n ? 1 + p[n - 1] % 61u : 1;
    struct taken all = take(p, n, 0, 1, room[0]), pieces = take(p, n, chunk * 37, chunk, room[1]);
    if (all.begin != pieces.begin || all.wrapping != pieces.wrapping)
        die("what stands around the text depends on the pieces");
    if (all.n != pieces.n || (all.n && memcmp(all.p, pieces.p, all.n)))
        die("the bytes depend on the pieces");
    if (all.all) {
        if (all.failed != pieces.failed || all.damage != pieces.damage)
            die("the damage depends on the pieces");
        lines_make_the_text(&all, p, n, chunk * 37);
        whole_is_the_same(&all, p, n);
    }
    return 0;
}
