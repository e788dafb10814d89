/* What leaks and timeline of several dumps share: reading them, what is said of all, the table of dumps. */
#ifndef SP_SERIES_PARTS_H
#define SP_SERIES_PARTS_H

#include "analysis/heap_series.h"
#include "ask/common.h"
#include "ask/series.h"

enum { SP_FEW_DUMPS = 5 }; /* fewer may all be of one rise of what comes and goes */

struct sp_series {
    struct sp_ask *q;
    struct sp_answer *out;
    struct sp_heap_series h;
    enum sp_leak_metric rank;
    struct sp_ask one;        /* about the last dump alone */
    struct sp_profile *last;  /* the last dump's */
    bool opened;              /* which is to be freed */
    struct sp_profile *piped; /* that of standard input, which cannot be read again; NULL: there is none */
    struct sp_asked x;        /* of it: has its selection */
    bool asked;
    size_t rooted, owned; /* dumps that have what --root-at and --own name */
    bool has_allocators;  /* some dump has what --allocators names, or was not asked */
    bool runs; /* they are recordings of a process each, whatever the order: nothing grows from one to the
                  next */
    double fastest;                /* rate that is shown, per second or dump */
    bool hourly;                   /* rates are shown per hour, as even the fastest is slow by the second */
    uint32_t bytes, count, ranked; /* measures */
    struct sp_heap_growth whole;
    SP_VEC(struct sp_value_text) doubts; /* as they were said; lent by the answer */
};

/* Reads all dumps, one after the other, and puts them in order; then selects of the last one. */
spaa_status sp_series_begin(struct sp_series *s, struct sp_ask *q, struct sp_answer *out, enum sp_heap_by by);
void sp_series_free(struct sp_series *s);

bool sp_series_is_bytes(enum sp_leak_metric m);
/* "12.00 MiB", "1,308"; of a difference with its sign. */
void sp_series_amount(struct sp_buf *b, enum sp_leak_metric m, double v, bool sign);
/* "+1.20 MiB/s ± 0.10 MiB", "+3.00 MiB/dump"; "+1.20 MiB/s (+0.20 MiB to +4.00 MiB)" where ± would have 0 in
 * it. */
void sp_series_rate(struct sp_buf *b, const struct sp_series *s, const struct sp_heap_growth *g);
/* A rate that will be shown: the fastest of them chooses the unit of time of all. */
void sp_series_rates_up_to(struct sp_series *s, double rate);
/* A block character for each dump, of an owner; SIZE_MAX: of all. */
void sp_series_sparkline(struct sp_buf *b, const struct sp_heap_series *h, size_t owner,
                         enum sp_leak_metric m);
/* ": 5 dumps over 30 s" */
void sp_series_span(struct sp_buf *b, const struct sp_series *s);
/* Duration for people: "30 s", "2.5 h". */
void sp_series_seconds(struct sp_buf *b, double seconds);

/* series_words.c: facts of all, order, doubts. */
void sp_series_facts(struct sp_series *s);
void sp_series_say_total(struct sp_series *s, const char *behind); /* behind: at its end; NULL: nothing */
/* Before anything else: that they are not one process, or in no order. */
void sp_series_say_first(struct sp_series *s);
void sp_series_say_doubts(struct sp_series *s); /* the others; the fact has all */
/* Nothing is said of growth from dump to dump: dumps are apart, or in no order. */
bool sp_series_withheld(const struct sp_series *s);
int64_t sp_series_allocated(const struct sp_series *s, size_t owner); /* since the first; SP_ABSENT */

/* series_dumps.c: a row for each dump, with the owners that changed most. */
void sp_series_put_dumps(struct sp_series *s, bool quiet);

#endif
