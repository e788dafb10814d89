/* timeline A B C …: dumps of the memory of one process, one after the other. */
#include "ask/series_parts.h"

static void say(struct sp_series *s)
{
    struct sp_buf *b = &s->x.b;
    sp_asked_heading(&s->x);
    sp_series_say_first(s);
    sp_buf_clear(b);
    sp_buf_puts(b, "|");
    sp_series_sparkline(b, &s->h, SIZE_MAX, s->rank);
    sp_buf_puts(b, "| ");
    sp_series_span(b, s);
    sp_answer_line_buf(s->out, b);
    sp_series_say_total(s, NULL);
}

spaa_status sp_timeline_series_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_series s = {0};
    if (q->options->explain)
        return sp_usage(q->diags, "spaa leaks A B C… tells what grows", "--explain is not of several dumps");
    spaa_status st =
        sp_series_begin(&s, q, out, q->options->keep_allocators ? SP_HEAP_BY_OWNER : SP_HEAP_BY_FUNCTION);
    if (!st) {
        sp_asked_facts(&s.x);
        sp_series_facts(&s);
        say(&s);
        sp_series_put_dumps(&s, false);
        sp_series_say_doubts(&s);
        sp_answer_next(out, "leaks", NULL, NULL);
        st = sp_asked_end(&s.x);
    }
    sp_series_free(&s);
    return st;
}
