/*
 * Parts of the reader of heaptrack's data files (KDE heaptrack, src/track, src/interpret, src/analyze).
 *
 * A file is lines: a letter, a blank, hexadecimal numbers without prefix. `heaptrack --raw` writes what was
 * recorded; heaptrack_interpret makes of it what people keep:
 *
 *     both    v HEAPTRACK-VERSION FILE-VERSION    X COMMAND LINE    I PAGE-SIZE PAGES    S leak:PATTERN
 *             c MILLISECONDS    R RSS-IN-PAGES    A (recorded from a running process)    # comment
 *     raw     x NAME (the program)    m NAME BASE (VADDR SIZE)…, "m -": all modules anew
 *             t ADDRESS PARENT    + SIZE TRACE POINTER    - POINTER
 *     then    s TEXT    i ADDRESS MODULE [FUNCTION FILE LINE [the same of what it is inlined into]…]
 *             t IP PARENT    a SIZE TRACE    + INFO    - INFO
 *
 * Strings, ips and traces are numbered from 1 in the order they come, 0 is none; infos from 0. Since version
 * 3 a NAME or TEXT has its length before it. Version 0, which was interpreted, has raw + and - lines.
 *
 * Quirks: heaptrack calls an allocation temporary when the event after it that is not an allocation frees the
 * same info, whichever pointer; the "last allocation" is 0 at first and after each free, so that a free of
 * info 0 behind another free counts as well. Frees of pointers that were never seen (of a process that was
 * attached to) are dropped. Recorded addresses are those of return minus one already.
 */
#ifndef SP_HEAPTRACK_H
#define SP_HEAPTRACK_H

#include "base/map.h"
#include "base/vec.h"
#include "formats/common/text/lines.h"
#include "formats/format.h"
#include "symbols/bind.h"

#include <stdbool.h>
#include <stdint.h>

#define SP_HT_VERSION    3u
#define SP_HT_TEXTS_MAX  ((size_t)1 << 24) /* strings and ips: what a program's code may have; each */
#define SP_HT_THINGS_MAX ((size_t)1 << 27) /* frames of ips, traces, infos: each */
#define SP_HT_DEPTH      1024u             /* frames of a stack: heaptrack records 64 addresses */
#define SP_HT_FRAMES_MAX ((size_t)1 << 28) /* of all stacks */

struct sp_ht_text {
    const char *p;
    size_t n;
};

/* A frame of an interpreted address; strings of the profile. */
struct sp_ht_frame {
    uint32_t function, file;
    uint64_t line;
};

struct sp_ht_ip {
    uint64_t addr;
    uint32_t module;   /* raw: in modules, SP_NONE: none; else a string of the profile */
    uint32_t first, n; /* slice of frames; raw: none */
    uint32_t made;     /* 1 + first of its slice of numbers; 0: not made */
    uint32_t nmade;
    uint8_t suppressed; /* enum sp_ht_match */
    uint16_t by;        /* the suppression */
};
enum sp_ht_match { SP_HT_UNKNOWN, SP_HT_NO, SP_HT_YES };

struct sp_ht_trace {
    uint32_t ip, parent; /* 1 + number, 0: none; parent is before it */
    uint32_t cost;       /* 1 + number, 0: none */
};

/*
 * A size at a trace, and all that an event changes: half a cache line, since events come in any order. peak:
 * how many were live when all infos together had most, as far as it is known (events.c).
 */
struct sp_ht_info {
    uint64_t size;
    uint32_t cost;
    uint32_t live; /* so many are not freed */
    uint32_t peak, epoch;
    uint32_t allocs, temporary; /* what does not fit goes to the cost */
};

/* What a trace allocated: the sums of its infos, complete at the end. */
struct sp_ht_cost {
    int64_t alloc_bytes, alloc_count, live_bytes, live_count, temporary, peak_bytes, peak_count;
};

/* What an info was when a window began. */
struct sp_ht_touched {
    uint32_t info, allocs, live, temporary;
};

/* What a cost did in a window. */
struct sp_ht_row {
    uint32_t cost;
    int64_t alloc_bytes, alloc_count, live_bytes, live_count, temporary;
};

struct sp_ht_window {
    int64_t start, end; /* ns */
    int64_t rss;        /* the most, in pages; -1: not known */
    int64_t most, left; /* live bytes: the most at any moment of it, and at its end */
    size_t first, n;    /* slice of rows */
    bool cut;           /* it begins where it was asked to: it is not put together with the one before */
};

struct sp_ht_windows {
    unsigned most; /* windows; 0: none are kept */
    int64_t width; /* ns; doubles when there are too many */
    size_t cut;    /* the next of the options' cuts */
    uint32_t now;  /* number of the open one, from 1 */
    struct sp_ht_window open;
    SP_VEC(uint32_t) seen; /* per info: the last window that touched it */
    SP_VEC(struct sp_ht_touched) touched;
    SP_VEC(uint32_t) at; /* per cost: 1 + its last row, while no windows were put together */
    SP_VEC(struct sp_ht_row) rows;
    SP_VEC(struct sp_ht_window) list;
};

/* Open addressing; pointer 0: an empty slot. */
struct sp_ht_pointers {
    struct sp_ht_pointer {
        uint64_t ptr;
        uint32_t info;
    } * slots;
    size_t mask, count;
    unsigned shift;
};

struct sp_ht_module {
    uint32_t name;
    uint64_t base;
};

struct sp_ht_fragment {
    uint64_t start, end;
    uint32_t module;
};

struct sp_ht_suppression {
    uint32_t pattern;
    bool built_in;
    uint64_t matches;
    int64_t leaked;
};

struct sp_ht {
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_profile *p;
    struct sp_lines lines;
    bool any;      /* there was a version line */
    bool raw;      /* addresses and pointers */
    bool pointers; /* + and - name pointers: raw, or version 0 */
    bool attached, debuggee_seen;
    bool stopped; /* the clock passed the moment that reading is to end at */
    unsigned version;
    uint64_t heaptrack_version;

    SP_VEC(uint32_t) strings;
    SP_VEC(struct sp_ht_frame) frames;
    SP_VEC(struct sp_ht_ip) ips;
    SP_VEC(struct sp_ht_trace) traces;
    SP_VEC(uint32_t) trace_by; /* suppress.c: the suppression that each falls under, or SP_NONE */
    SP_VEC(struct sp_ht_info) infos;
    SP_VEC(struct sp_ht_cost) costs;
    SP_VEC(uint32_t) cost_trace; /* per cost: 1 + number, 0: no stack */
    uint32_t no_trace;           /* 1 + the cost of trace 0; 0: none */

    struct sp_ht_pointers live;
    struct sp_map info_map;     /* raw: of (size, cost) */
    SP_VEC(uint32_t) last_info; /* per cost, the last info of it that a pointer had */
    struct sp_map ip_map;       /* raw: of (address, module) */
    struct sp_map module_map;   /* of (name, base) */
    SP_VEC(struct sp_ht_module) modules;
    SP_VEC(struct sp_ht_fragment) fragments;
    bool unsorted;
    uint32_t exe; /* the program's name */
    struct sp_binder *binder;

    int64_t live_bytes, live_count, peak_bytes, alloc_bytes, alloc_count, temporary;
    uint32_t epoch;         /* of the latest peak */
    int64_t now, peak_time; /* ms */
    uint64_t last;          /* info (version 0: pointer) of the last allocation; 0 after a free */
    int64_t peak_rss;       /* pages */
    uint64_t page_size, pages;
    uint64_t unknown_frees, bad_frees, bad_lines;
    uint32_t command;

    struct sp_ht_windows windows;
    SP_VEC(struct sp_ht_suppression) suppressions;
    SP_VEC(uint32_t) numbers;  /* frames of the profile, of ips */
    SP_VEC(uint32_t) stack_of; /* per cost */
    int64_t suppressed_bytes, suppressed_count;
    uint64_t suppressed_stacks;
};

/* events.c */
/* The next number of [*at, end) and the blank behind it; false: there is none, or something else. */
bool sp_ht_hex(const char **at, const char *end, uint64_t *out);
static inline struct sp_where sp_ht_here(const struct sp_ht *ht)
{
    return SP_AT_LINE(ht->lines.line, ht->lines.offset);
}
/* A line that was not understood: counted and reported; an error with --strict. */
spaa_status sp_ht_bad(struct sp_ht *ht, enum sp_code code, const char *what);
spaa_status sp_ht_event(struct sp_ht *ht, const char *p, size_t n); /* a + or - line */
/* The cost of a trace (0: none), made with its first info; SP_NONE: out of memory. */
uint32_t sp_ht_cost_of(struct sp_ht *ht, uint32_t trace);
bool sp_ht_add_info(struct sp_ht *ht, uint64_t size, uint32_t cost); /* false: out of memory */
void sp_ht_add_up(struct sp_ht *ht); /* infos into their costs, when all is read */

/* windows.c */
spaa_status sp_ht_windows_time(struct sp_ht *ht, int64_t now); /* the clock moves on, to ms */
bool sp_ht_windows_touch(struct sp_ht *ht, uint32_t info);     /* before an info changes */
spaa_status sp_ht_windows_finish(struct sp_ht *ht);            /* into the profile */
void sp_ht_windows_free(struct sp_ht_windows *w);

/* suppress.c */
spaa_status sp_ht_suppress_line(struct sp_ht *ht, const char *p, size_t n);
spaa_status sp_ht_suppress_start(struct sp_ht *ht); /* adds those built in */
/* Fills trace_by, when all is read; false: out of memory. */
bool sp_ht_suppress_traces(struct sp_ht *ht);

/* profile.c: the stacks and the header, of what was read. */
spaa_status sp_ht_finish(struct sp_ht *ht);

#endif
