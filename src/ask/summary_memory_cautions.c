/* What cannot be known of memory, and what would tell. */
#include "ask/summary_cautions.h"

#include "model/labels.h"
#include "model/memory_doubts.h"

#include <math.h>

static int64_t memory_of(const struct sp_summary *x, enum sp_leak_metric m)
{
    return x->memory.m.leaks.now.v[m];
}

static void caution_memory(struct sp_summary *x, const char *id, struct sp_buf *b, const char *settle)
{
    struct sp_buf how;
    sp_buf_init(&how, 0);
    sp_buf_puts(&how, settle ? settle : "");
    sp_caution_add(x, id, NULL, b, settle ? &how : NULL);
    sp_buf_free(&how);
}

static bool caution_is_tool(const struct sp_summary *x, const char *tool)
{
    const struct sp_profile *p = x->x.s.profile;
    return sp_str_is(sp_pstr(p, p->header.source_tool), tool);
}

/* One sample in so many bytes: what has few may have none, and sums are estimates. */
static void caution_sampled(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_own_memory *m = &x->memory.m;
    int64_t live = memory_of(x, SP_LEAK_LIVE_BYTES);
    if (m->period <= 1 || m->variance <= 0)
        return;
    bool wide = live > 0 && (double)sp_memory_doubt(m->variance) >= 0.3 * (double)live;
    if (wide) {
        sp_buf_puts(b, "one in ");
        sp_text_bytes(b, m->period, 0);
        sp_buf_puts(b, ": what is live is known within ");
        sp_text_about(b, sp_memory_doubt(m->variance), live);
        sp_buf_puts(b, " (95 % confidence).");
        sp_caution_add(x, "few_samples", "FEW SAMPLES", b, NULL);
    }
    sp_buf_puts(b, "places that hold less than ");
    sp_text_bytes(b, m->period < INT64_MAX / 3 ? m->period * 3 : INT64_MAX, 0);
    sp_buf_puts(b, ": they may have no sample");
    caution_memory(x, "sampled", b,
                   x->memory.go                     ? "GODEBUG=memprofilerate=4096"
                   : caution_is_tool(x, "jemalloc") ? "MALLOC_CONF=prof:true,lg_prof_sample:12"
                   : caution_is_tool(x, "tcmalloc") ? "TCMALLOC_SAMPLE_PARAMETER=4096"
                   : caution_is_tool(x, "node")     ? "node --heap-prof --heap-prof-interval=4096"
                                                    : NULL);
}

/* Of Go's runtime: what its profile is of. */
static void caution_collected(struct sp_summary *x, struct sp_buf *b)
{
    if (!x->memory.go)
        return;
    sp_buf_puts(b, "what was allocated since the last garbage collection");
    caution_memory(x, "collected", b, "/debug/pprof/heap?gc=1 or runtime.GC()");
}

bool sp_summary_memory_unseen(const struct sp_summary *x)
{
    enum { LEAST = 8 << 20, TIMES = 10 }; /* the recorder itself, libraries and stacks have a few MiB */
    int64_t rss = x->memory.known ? x->memory.rss : SP_ABSENT;
    int64_t peak = rss == SP_ABSENT ? 0 : memory_of(x, SP_LEAK_PEAK_BYTES);
    bool part = x->x.s.filters.len || x->x.s.profile->header.stopped || x->memory.m.leaks.peaks_apart;
    return rss != SP_ABSENT && rss >= LEAST && peak != SP_ABSENT && rss / TIMES > peak && !part;
}

/* An allocator that is part of the program calls no malloc that a recorder could see. */
static void caution_unseen(struct sp_summary *x, struct sp_buf *b)
{
    if (!sp_summary_memory_unseen(x))
        return;
    sp_buf_puts(b, "RSS ");
    sp_text_bytes(b, x->memory.rss, 0);
    sp_buf_puts(b, ", at most ");
    sp_text_bytes(b, memory_of(x, SP_LEAK_PEAK_BYTES), 0);
    sp_buf_puts(b, " seen: an allocator linked into the program (static jemalloc), mmap, or mapped files?");
    sp_caution_add(x, "memory_unseen", "MOST MEMORY UNSEEN", b, NULL);
    size_t last = x->cautions.n ? x->cautions.n - 1 : 0;
    struct sp_caution first = last ? x->cautions.v[last] : (struct sp_caution){0};
    if (last && first.title) { /* all others are about the little that was seen */
        memmove(x->cautions.v + 1, x->cautions.v, last * sizeof *x->cautions.v);
        x->cautions.v[0] = first;
    }
    sp_buf_puts(b, "who has the memory that was not seen");
    caution_memory(x, "unseen", b,
                   "its own profiler: MALLOC_CONF=prof:true (Rust: _RJEM_MALLOC_CONF); perf record -e "
                   "syscalls:sys_enter_mmap -g");
}

static void caution_growth(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_own_memory *m = &x->memory.m;
    if (sp_summary_memory_unseen(x)) /* what is known is of so little that it does not matter */
        return;
    if (m->leaks.growth || m->leaks.told || memory_of(x, SP_LEAK_LIVE_BYTES) <= 0 || x->x.q->nnames > 1)
        return;
    bool past = x->memory.moment != SP_MOMENT_UNTOLD && x->memory.moment != SP_MOMENT_STOPPED;
    sp_buf_puts(b, sp_end_without_stacks(x->x.s.profile) ? "what grew: the last snapshot has no stacks"
                   : past ? "what grew: the file has no windows of time, or too few"
                          : "what grows: this is one moment");
    caution_memory(x, "growth", b,
                   !past                             ? "a later profile, then spaa leaks FILE LATER"
                   : caution_is_tool(x, "heaptrack") ? "spaa convert RECORDING --windows 50; or a longer one"
                   : caution_is_tool(x, "valgrind")
                       ? "valgrind --tool=massif --detailed-freq=1 --time-unit=ms --fullpath-after="
                       : NULL);
}

/* Held until the end is no leak where something still refers to it. */
static void caution_reachable(struct sp_summary *x, struct sp_buf *b)
{
    bool past = x->memory.moment == SP_MOMENT_END || x->memory.moment == SP_MOMENT_LAST_SNAPSHOT;
    if (!past || sp_summary_memory_unseen(x) || x->memory.m.leaks.told || !x->memory.nleaks)
        return;
    sp_buf_puts(b, "what of it could still be reached");
    caution_memory(x, "reachable", b, "valgrind --leak-check=full --fullpath-after=, LeakSanitizer");
}

static void caution_doubts(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_profile *p = x->x.s.profile;
    if (sp_end_without_stacks(p)) {
        sp_buf_puts(
            b, "who holds what is live at the end is not recorded; massif --detailed-freq=1 records it.");
        sp_caution_add(x, "end_without_stacks", "NO STACKS AT THE END", b, NULL);
    }
    if (sp_files_without_folders(p)) {
        sp_buf_puts(b, "recorded without valgrind's --fullpath-after= (nothing behind it).");
        sp_caution_add(x, "files_without_folders", "LIBRARIES MAY LOOK OWN", b, NULL);
    }
    if (sp_leak_stacks_cut(p)) {
        sp_buf_puts(b, "who called: ");
        sp_text_count(b, sp_leak_stacks_cut(p), "stack");
        sp_buf_puts(b, " ending before main");
        caution_memory(x, "callers_cut", b, "LSAN_OPTIONS=fast_unwind_on_malloc=0");
    }
}

void sp_summary_memory_cautions(struct sp_summary *x)
{
    struct sp_buf b;
    if (!x->memory.known)
        return;
    sp_buf_init(&b, 0);
    caution_doubts(x, &b);
    caution_growth(x, &b);
    caution_reachable(x, &b);
    caution_sampled(x, &b);
    caution_collected(x, &b);
    caution_unseen(x, &b);
    x->x.out->failed |= b.failed;
    sp_buf_free(&b);
}
