/*
 * The symbol table: sorting, the rules for equals and unknown sizes, the search.
 *
 * The rules are those of Linux perf (tools/perf/util/symbol.c as of 6.1), so that names agree with
 * `perf report`: first a symbol of unknown size is extended to the start of the one after it in
 * (address, input) order, then one is chosen among those at one address: a non-zero size beats zero,
 * then strong beats weak, global beats local, fewer leading underscores, the longer name, the first.
 * The order of the two steps matters: of several symbols of unknown size at one address all but the
 * last end up empty, so the last one wins whatever its binding is. In kallsyms, which has no sizes,
 * that is always so.
 *
 * perf keeps nested symbols in a tree whose shape decides which one is found. Here the innermost (the
 * last to start) wins; and an address behind the inner one belongs to the outer one again. To make a
 * lookup one binary search whatever the nesting, finishing cuts the symbols into disjoint stretches.
 */
#include "dwarf/symtab.h"

#include "base/hash.h"

#include <string.h>

#define PAGE        4096u
#define NAMES_TIMES 8u /* that a byte of a string table may be in a name; linkers' tables: 1 */
#define NAMES_FREE  ((size_t)64 << 10)

void sp_symtab_init(struct sp_symtab *t)
{
    *t = (struct sp_symtab){0};
    sp_arena_init(&t->arena, 0);
}

void sp_symtab_free(struct sp_symtab *t)
{
    sp_vec_free(&t->syms);
    sp_vec_free(&t->seg);
    sp_vec_free(&t->seg_sym);
    for (size_t i = 0; i < t->kept.n; i++)
        free(t->kept.v[i]);
    sp_vec_free(&t->kept);
    sp_vec_free(&t->files);
    sp_vec_free(&t->stops);
    sp_map_free(&t->by_name);
    sp_arena_free(&t->arena);
    t->finished = t->named = false;
}

bool sp_symtab_keep(struct sp_symtab *t, void *block)
{
    if (sp_vec_push(&t->kept, block))
        return true;
    free(block);
    return false;
}

void sp_symtab_strings(struct sp_symtab *t, size_t bytes)
{
    t->names_room += NAMES_FREE + NAMES_TIMES * bytes;
}

bool sp_symtab_may_name(struct sp_symtab *t, const char *name)
{
    size_t n = strnlen(name, t->names_room + 1);
    bool may = n <= t->names_room;
    t->names_room -= may ? n : 0;
    t->excess |= !may;
    return may;
}

static uint64_t symtab_add_capped(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

bool sp_symtab_add(struct sp_symtab *t, uint64_t start, uint64_t size, enum sp_bind bind, const char *name)
{
    if (t->syms.n >= SP_SYMS_MAX)
        return true;
    struct sp_sym s = {
        .start = start, .end = symtab_add_capped(start, size), .name = name, .bind = (uint8_t)bind};
    return sp_vec_push(&t->syms, s);
}

/* Stable, by start: a byte-wise radix sort that skips the bytes all starts agree in. */
static bool sort_by_start(struct sp_symtab *t)
{
    struct sp_sym *from = t->syms.v;
    size_t n = t->syms.n, sorted = 1;
    while (sorted < n && from[sorted - 1].start <= from[sorted].start)
        sorted++;
    if (sorted >= n)
        return true;
    struct sp_sym *to = malloc(n * sizeof *to), *spare = to;
    size_t(*count)[256] = calloc(8, sizeof *count);
    if (!to || !count) {
        free(to);
        free(count);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < 8; b++)
            count[b][from[i].start >> (8 * b) & 0xff]++;
    for (unsigned b = 0; b < 8; b++) {
        if (count[b][from[0].start >> (8 * b) & 0xff] == n)
            continue;
        size_t at = 0;
        for (unsigned k = 0; k < 256; k++) {
            size_t here = count[b][k];
            count[b][k] = at;
            at += here;
        }
        for (size_t i = 0; i < n; i++)
            to[count[b][from[i].start >> (8 * b) & 0xff]++] = from[i];
        struct sp_sym *swap = from;
        from = to;
        to = swap;
    }
    if (from == spare)
        memcpy(t->syms.v, spare, n * sizeof *spare);
    free(spare);
    free(count);
    return true;
}

static uint64_t page_after(uint64_t a)
{
    return symtab_add_capped(a, PAGE + (PAGE - a % PAGE) % PAGE);
}

static bool same_module(const struct sp_sym *a, const struct sp_sym *b)
{
    if (!a->module || !b->module)
        return !a->module == !b->module;
    return !strcmp(a->name + a->module, b->name + b->module);
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void fix_ends(struct sp_symtab *t, enum sp_symtab_rules rules)
{
    size_t stop = 0;
    if (t->stops.n)
        qsort(t->stops.v, t->stops.n, sizeof *t->stops.v, by_address);
    for (size_t i = 0; i < t->syms.n; i++) {
        struct sp_sym *s = &t->syms.v[i];
        if (s->end != s->start)
            continue;
        if (rules == SP_RULES_JIT || t->lacks_some)
            s->end = symtab_add_capped(s->start, 1);
        else if (i + 1 == t->syms.n || (rules == SP_RULES_KALLSYMS && !same_module(s, s + 1)))
            s->end = page_after(s->start);
        else
            s->end = s[1].start;
        while (stop < t->stops.n && t->stops.v[stop] <= s->start)
            stop++;
        if (stop < t->stops.n && t->stops.v[stop] < s->end)
            s->end = t->stops.v[stop];
    }
}

/* From the last symbol to the first; those at one address end alike. */
static void fix_ends_by_stops(struct sp_symtab *t)
{
    size_t stop = t->stops.n;
    uint64_t next = UINT64_MAX, start = UINT64_MAX; /* of the symbols that follow, and after these */
    if (stop)
        qsort(t->stops.v, stop, sizeof *t->stops.v, by_address);
    for (size_t i = t->syms.n; i-- > 0;) {
        struct sp_sym *s = &t->syms.v[i];
        if (s->start < start) {
            next = start;
            start = s->start;
        }
        while (stop && t->stops.v[stop - 1] > start)
            stop--;
        s->end = next == UINT64_MAX ? page_after(start) : next;
        if (stop < t->stops.n && t->stops.v[stop] < s->end)
            s->end = t->stops.v[stop];
    }
}

static size_t underscores(const char *s)
{
    return strspn(s, "_");
}

/* True if b is to be kept instead of a. */
static bool is_better(const struct sp_sym *a, const struct sp_sym *b)
{
    bool a_empty = a->end == a->start, b_empty = b->end == b->start;
    if (a_empty != b_empty)
        return a_empty;
    if ((a->bind == SP_BIND_WEAK) != (b->bind == SP_BIND_WEAK))
        return a->bind == SP_BIND_WEAK;
    if ((a->bind == SP_BIND_GLOBAL) != (b->bind == SP_BIND_GLOBAL))
        return b->bind == SP_BIND_GLOBAL;
    size_t ua = underscores(a->name), ub = underscores(b->name);
    if (ua != ub)
        return ub < ua;
    size_t na = strlen(a->name), nb = strlen(b->name);
    if (na != nb)
        return nb > na;
    /* Aliases of system calls in kernels before 4.17; the other spelling, sys_, is as long. */
    return !strncmp(a->name, "SyS", 3) || !strncmp(a->name, "compat_SyS", 10);
}

static void drop_duplicates(struct sp_symtab *t)
{
    size_t out = 0;
    for (size_t i = 0; i < t->syms.n; i++) {
        struct sp_sym *s = &t->syms.v[i];
        if (!out || t->syms.v[out - 1].start != s->start)
            t->syms.v[out++] = *s;
        else if (is_better(&t->syms.v[out - 1], s))
            t->syms.v[out - 1] = *s;
    }
    t->syms.n = out;
}

static bool symtab_add_seg(struct sp_symtab *t, uint64_t start, uint32_t sym)
{
    if (t->seg.n && t->seg.v[t->seg.n - 1] == start) {
        t->seg_sym.v[t->seg_sym.n - 1] = sym;
        return true;
    }
    if (!sp_vec_reserve(&t->seg, t->seg.n + 1) || !sp_vec_reserve(&t->seg_sym, t->seg.n + 1))
        return false;
    t->seg.v[t->seg.n++] = start;
    t->seg_sym.v[t->seg_sym.n++] = sym;
    return true;
}

/*
 * One sweep over the starts with a stack of the symbols still open, innermost on top. When the top
 * one ends, so do those below that end no later, and the next one goes on.
 */
static bool cut_segments(struct sp_symtab *t)
{
    SP_VEC(uint32_t) open = {0};
    const struct sp_sym *syms = t->syms.v;
    bool ok = sp_vec_reserve(&t->seg, t->syms.n + 1) && sp_vec_reserve(&t->seg_sym, t->syms.n + 1);
    for (size_t i = 0; ok && i <= t->syms.n; i++) {
        uint64_t next = i < t->syms.n ? syms[i].start : UINT64_MAX;
        while (ok && open.n && syms[open.v[open.n - 1]].end <= next) {
            uint64_t end = syms[open.v[open.n - 1]].end;
            while (open.n && syms[open.v[open.n - 1]].end <= end)
                open.n--;
            ok = symtab_add_seg(t, end, open.n ? open.v[open.n - 1] : SP_SYM_NONE);
        }
        if (ok && i < t->syms.n && syms[i].end > syms[i].start)
            ok = symtab_add_seg(t, syms[i].start, (uint32_t)i) && sp_vec_push(&open, (uint32_t)i);
    }
    sp_vec_free(&open);
    return ok;
}

/* A heap of symbols, the last added on top. */
static bool heap_push(struct sp_symtab *t, uint32_t *heap, size_t *n, uint32_t sym)
{
    const struct sp_sym *s = t->syms.v;
    size_t at = (*n)++;
    for (; at && s[heap[(at - 1) / 2]].order < s[sym].order; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = sym;
    return at == 0;
}

static void heap_pop(struct sp_symtab *t, uint32_t *heap, size_t *n)
{
    const struct sp_sym *s = t->syms.v;
    uint32_t last = heap[--*n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < *n; at = child) {
        if (child + 1 < *n && s[heap[child + 1]].order > s[heap[child]].order)
            child++;
        if (s[heap[child]].order < s[last].order)
            break;
        heap[at] = heap[child];
    }
    if (*n)
        heap[at] = last;
}

/*
 * Code that was written over other code hides it, and what is left of the other stays. A sweep over starts
 * and ends; ended ones leave the heap when they come to its top.
 */
static bool cut_latest(struct sp_symtab *t)
{
    const struct sp_sym *syms = t->syms.v;
    uint32_t *heap = malloc((t->syms.n + 1) * sizeof *heap);
    size_t n = 0;
    bool ok = heap && sp_vec_reserve(&t->seg, t->syms.n + 1) && sp_vec_reserve(&t->seg_sym, t->syms.n + 1);
    for (size_t i = 0; ok && (i < t->syms.n || n);) {
        uint64_t end = n ? syms[heap[0]].end : UINT64_MAX;
        if (i < t->syms.n && (!n || syms[i].start < end)) {
            if (heap_push(t, heap, &n, (uint32_t)i))
                ok = symtab_add_seg(t, syms[i].start, (uint32_t)i);
            i++;
            continue;
        }
        while (n && syms[heap[0]].end <= end)
            heap_pop(t, heap, &n);
        ok = symtab_add_seg(t, end, n ? heap[0] : SP_SYM_NONE);
    }
    free(heap);
    return ok;
}

bool sp_symtab_finish(struct sp_symtab *t, enum sp_symtab_rules rules)
{
    t->rules = rules;
    for (size_t i = 0; rules == SP_RULES_JIT && i < t->syms.n; i++)
        t->syms.v[i].order = (uint32_t)i;
    if (!sort_by_start(t))
        return false;
    if (rules == SP_RULES_MACHO)
        fix_ends_by_stops(t);
    else
        fix_ends(t, rules);
    if (rules != SP_RULES_JIT) /* a shorter one covers but a part of what it was written over */
        drop_duplicates(t);
    t->finished = rules == SP_RULES_JIT ? cut_latest(t) : cut_segments(t);
    return t->finished;
}

const struct sp_sym *sp_symtab_find(const struct sp_symtab *t, uint64_t addr)
{
    size_t lo = 0, hi = t->finished ? t->seg.n : 0;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->seg.v[mid] <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    uint32_t sym = lo ? t->seg_sym.v[lo - 1] : SP_SYM_NONE;
    return sym == SP_SYM_NONE ? NULL : &t->syms.v[sym];
}

/*
 * Bytes of the name of the function that a form with code of its own is of: 3 of foo.isra.0.cold. 0: no form.
 * A part (.cold, .part.0) is none: what it is of is there.
 */
static size_t form_of(const char *name)
{
    static const char *const words[] = {".isra.", ".constprop."};
    const char *first = NULL, *dot = *name ? strchr(name + 1, '.') : NULL; /* few names have any */
    for (size_t i = 0; dot && i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(dot, words[i]);
        first = !first || (at && at < first) ? at : first;
    }
    return first ? (size_t)(first - name) : 0;
}

/* By their names, forms also by the name of their function. */
static bool symtab_index_names(struct sp_symtab *t)
{
    if (!t->named && !sp_map_grow(&t->by_name, t->syms.n))
        return false;
    for (uint32_t i = 0; !t->named && i < t->syms.n; i++) {
        const char *name = t->syms.v[i].name;
        size_t n = form_of(name);
        if (!sp_map_add(&t->by_name, sp_hash_key(name, strlen(name)), i) ||
            (n && !sp_map_add(&t->by_name, sp_hash_key(name, n), i)))
            return false;
    }
    return t->named = true;
}

/* Whether a symbol stands where another one does: in its file, or in the kernel or its module. */
static bool is_beside(const struct sp_symtab *t, const struct sp_sym *a, const struct sp_sym *b)
{
    return t->rules == SP_RULES_KALLSYMS ? same_module(a, b) : a->file == b->file;
}

/* Linkers make hidden functions local, which then stand in no file. */
static bool is_hidden(const struct sp_symtab *t, const struct sp_sym *s, const struct sp_sym *from)
{
    return t->rules == SP_RULES_ELF && !s->file && from->file;
}

/* The one symbol of a name that may be meant by one that stands beside it; NULL: none, or several. */
static const struct sp_sym *symtab_named(const struct sp_symtab *t, const char *name, size_t n,
                                         const struct sp_sym *from)
{
    const struct sp_sym *seen = NULL, *local = NULL;
    unsigned locals = 0;
    struct sp_probe at = sp_map_probe(&t->by_name, sp_hash_key(name, n));
    for (uint32_t i; (i = sp_map_next(&t->by_name, &at)) != SP_MAP_NONE;) {
        const struct sp_sym *s = &t->syms.v[i];
        if (strncmp(s->name, name, n) != 0 || s->name[n])
            continue;
        if (s->bind != SP_BIND_LOCAL || is_hidden(t, s, from))
            seen = s;
        else if (from->bind == SP_BIND_LOCAL && is_beside(t, s, from) && ++locals)
            local = s;
    }
    return locals == 1 ? local : locals ? NULL : seen;
}

/* At link time static functions of one name are renamed: foo.lto_priv.0 is none of foo's. */
static bool is_renamed(const char *dot)
{
    return strncmp(dot, ".lto_priv.", 10) == 0 || strncmp(dot, ".llvm.", 6) == 0;
}

const struct sp_sym *sp_symtab_whole(struct sp_symtab *t, const struct sp_sym *part, size_t least)
{
    const char *name = part->name, *dot = *name ? strchr(name + (least ? least : 1), '.') : NULL;
    if (dot && !symtab_index_names(t))
        return NULL;
    for (; dot; dot = strchr(dot + 1, '.')) {
        if (is_renamed(dot))
            continue;
        const struct sp_sym *whole = symtab_named(t, name, (size_t)(dot - name), part);
        if (whole)
            return whole;
    }
    return part;
}

struct sp_probe sp_symtab_forms(const struct sp_symtab *t, const struct sp_sym *of)
{
    return sp_map_probe(&t->by_name, sp_hash_key(of->name, form_of(of->name)));
}

const struct sp_sym *sp_symtab_form_next(const struct sp_symtab *t, const struct sp_sym *of,
                                         struct sp_probe *at)
{
    size_t n = form_of(of->name);
    for (uint32_t i; n && (i = sp_map_next(&t->by_name, at)) != SP_MAP_NONE;) {
        const struct sp_sym *s = &t->syms.v[i];
        if (form_of(s->name) == n && strncmp(s->name, of->name, n) == 0 && s->bind == of->bind &&
            is_beside(t, s, of))
            return s;
    }
    return NULL;
}
