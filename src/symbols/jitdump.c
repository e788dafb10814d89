/*
 * jitdump: what just-in-time compilers write for `perf inject --jit`.
 *
 * Source: the kernel's tools/perf/Documentation/jitdump-specification.txt. A header of 40 bytes, then
 * records, each with its kind, size and time. The magic tells the byte order. Used: CODE_LOAD,
 * CODE_MOVE (the function goes on elsewhere under its name), CODE_DEBUG_INFO (stands before the load it is
 * of; a file name "\377" repeats the one before). Others are stepped over, if their sizes are right; a record
 * cut off ends the file. The program may have ended while it wrote the last one, or write still. A file that
 * ends between records says nothing by that, for many a program that runs to its end writes no CODE_CLOSE
 * either; only debug or unwinding information that no code follows shows that something is missing.
 *
 * Code is the end of its record, behind the NUL of its name; perf's agent for Java may leave it out. What
 * cannot be used is counted; code without a size or a name is no damage. Records are in order of time but for
 * what threads wrote at once, so loads are sorted by it.
 *
 * Most code stays where it was loaded. What other code was written over, and that code, is kept in an
 * interval tree as well, to find what stood at an address at a time.
 */
#include "symbols/jitdump.h"

#include "base/hash.h"
#include "base/map.h"
#include "symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };
#define MAGIC           0x4A695444u
#define VERSION         1u
#define HEADER_BYTES    40u
#define RECORD_BYTES    16u
#define FLAG_ARCH_TIMES 1u

struct load {
    uint64_t time, addr, size, index;
    const char *name;
    size_t first, n;   /* lines */
    uint64_t lines_at; /* address that the lines are of */
    size_t order;
};

/* A place of code, and what was loaded or moved there last. */
struct place {
    uint64_t index, addr;
    size_t load;
};

struct dump {
    const unsigned char *p;
    size_t n;
    bool swap;
    struct sp_jitdump *jit;
    struct sp_arena *names; /* that were cut */
    SP_VEC(struct load) loads;
    SP_VEC(struct place) places;
    struct sp_map place_map;
    struct load pending; /* lines of a load to come */
    size_t at;           /* where the record stands that is being read */
};

/* The record, or a part of it, is left out. */
static void jitdump_damaged(struct dump *d, const char *why)
{
    struct sp_jit_damage *damage = &d->jit->damage;
    if (!damage->n++) {
        damage->first = d->at;
        damage->why = why;
    }
}

static uint32_t jitdump_u32(const struct dump *d, const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return d->swap ? __builtin_bswap32(v) : v;
}

static uint64_t u64(const struct dump *d, const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return d->swap ? __builtin_bswap64(v) : v;
}

/* Where code of an index stands; made when that is asked for. NULL: it does not, or there is no memory. */
static struct place *place_of(struct dump *d, uint64_t index, uint64_t addr, bool make)
{
    uint64_t hash = sp_hash_mix(index, addr);
    struct sp_probe at = sp_map_probe(&d->place_map, hash);
    for (uint32_t i; (i = sp_map_next(&d->place_map, &at)) != SP_MAP_NONE;)
        if (d->places.v[i].index == index && d->places.v[i].addr == addr)
            return &d->places.v[i];
    struct place p = {index, addr, 0};
    if (!make || d->places.n >= SP_MAP_NONE || !sp_vec_push(&d->places, p) ||
        !sp_map_add(&d->place_map, hash, (uint32_t)d->places.n - 1))
        return NULL;
    return &d->places.v[d->places.n - 1];
}

/* False: out of memory. */
static bool add_load(struct dump *d, const struct load *l)
{
    struct place *p = place_of(d, l->index, l->addr, true);
    if (!p || !sp_vec_push(&d->loads, *l))
        return false;
    p->load = d->loads.n - 1;
    return true;
}

size_t sp_jit_name_length(const char *name, size_t n)
{
    if (n <= SP_NAME_TEXT_MAX)
        return n;
    size_t kept = SP_NAME_TEXT_MAX;
    while (kept > SP_NAME_TEXT_MAX - 3 && ((unsigned char)name[kept] & 0xC0) == 0x80)
        kept--;
    return kept;
}

/* The name of n bytes, or as much of it as names may have. NULL: out of memory. */
static const char *name_of(struct dump *d, const char *name, size_t n)
{
    size_t kept = sp_jit_name_length(name, n);
    if (kept == n)
        return name;
    jitdump_damaged(d, "a name that is too long, and was cut");
    return sp_arena_dup(d->names, name, kept);
}

/* The body of a CODE_LOAD: pid, tid, vma, address, size, index, name, code. */
static bool take_load(struct dump *d, uint64_t time, const unsigned char *p, size_t n)
{
    const char *name = (const char *)p + 40, *nul = n < 41 ? NULL : memchr(name, 0, n - 40);
    size_t behind = nul ? (size_t)((const char *)p + n - nul - 1) : 0;
    if (!nul) {
        jitdump_damaged(d, "code with no name that ends");
        return true;
    }
    struct load l = {.time = time,
                     .addr = u64(d, p + 16),
                     .size = u64(d, p + 24),
                     .index = u64(d, p + 32),
                     .order = d->loads.n};
    if (d->pending.n && d->pending.addr == l.addr) {
        l.first = d->pending.first;
        l.n = d->pending.n;
        l.lines_at = l.addr;
    }
    d->pending.n = 0;
    if (l.size > behind && (behind || l.size >= UINT32_MAX)) {
        jitdump_damaged(d, l.size < n - 40 ? "code with no name that ends before it"
                                           : "more code than the record has");
        return true;
    }
    if (!sp_jit_is_code(l.addr, l.size)) {
        jitdump_damaged(d, "code beyond the last address");
        return true;
    }
    l.name = *name && l.size ? name_of(d, name, (size_t)(nul - name)) : "";
    return l.name && (!*l.name || add_load(d, &l));
}

/* pid, tid, vma, old address, new address, size, index. */
static bool take_move(struct dump *d, uint64_t time, const unsigned char *p, size_t n)
{
    if (n < 48) {
        jitdump_damaged(d, "too short for code that moves");
        return true;
    }
    struct place *from = place_of(d, u64(d, p + 40), u64(d, p + 16), false);
    if (!from) {
        jitdump_damaged(d, "code moves that was not loaded there");
        return true;
    }
    struct load l = d->loads.v[from->load];
    l.time = time;
    l.addr = u64(d, p + 24);
    l.order = d->loads.n;
    if (!sp_jit_is_code(l.addr, l.size)) {
        jitdump_damaged(d, "code moves beyond the last address");
        return true;
    }
    return add_load(d, &l);
}

static int jitdump_by_addr(const void *a, const void *b)
{
    const struct sp_jit_line *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* address, count, then (address, line, discriminator, file) each. */
static bool take_lines(struct dump *d, const unsigned char *p, size_t n)
{
    const char *file = NULL, *why = NULL;
    if (n < 16) {
        jitdump_damaged(d, "too short for lines of code");
        return true;
    }
    uint64_t count = u64(d, p + 8);
    d->pending = (struct load){.addr = u64(d, p), .first = d->jit->lines.n};
    for (size_t at = 16; count && n - at > 16; count--) {
        const unsigned char *nul = memchr(p + at + 16, 0, n - at - 16);
        if (!nul)
            break;
        const char *name = (const char *)p + at + 16;
        if (strcmp(name, "\377") != 0)
            file = name;
        struct sp_jit_line line = {u64(d, p + at), file, jitdump_u32(d, p + at + 8)};
        if (file && !sp_vec_push(&d->jit->lines, line))
            return false;
        if (!file)
            why = "a line whose file is that of none before it";
        at = (size_t)(nul - p) + 1;
    }
    if (why || count)
        jitdump_damaged(d, why ? why : "fewer lines of code than it says");
    d->pending.n = d->jit->lines.n - d->pending.first;
    if (d->pending.n)
        qsort(d->jit->lines.v + d->pending.first, d->pending.n, sizeof *d->jit->lines.v, jitdump_by_addr);
    return true;
}

/* Records of which nothing is used: the sizes of the .eh_frame and of its table, and what has no body. */
static void check_other(struct dump *d, uint32_t kind, const unsigned char *p, size_t n)
{
    if (kind == CODE_CLOSE) {
        if (n)
            jitdump_damaged(d, "an end that has more than its head");
    } else if (kind != CODE_UNWINDING_INFO) {
        jitdump_damaged(d, "of an unknown kind");
    } else if (n < 24) {
        jitdump_damaged(d, "too short for how to unwind");
    } else if (u64(d, p) > n - 24 || u64(d, p + 8) > u64(d, p)) {
        jitdump_damaged(d, "more on how to unwind than the record has");
    }
}

static bool take_records(struct dump *d, size_t at)
{
    bool ok = true, is_of_next = false;
    while (ok && at < d->n) {
        const unsigned char *r = d->p + at;
        bool head = d->n - at >= RECORD_BYTES;
        uint32_t kind = head ? jitdump_u32(d, r) : 0, size = head ? jitdump_u32(d, r + 4) : RECORD_BYTES;
        d->at = at;
        if (size < RECORD_BYTES || size > d->n - at) {
            jitdump_damaged(d, size < RECORD_BYTES ? "its size is none, and nothing behind it can be read"
                                                   : "cut off");
            is_of_next = false;
            break;
        }
        size_t body = size - RECORD_BYTES, damaged = d->jit->damage.n;
        if (kind == CODE_LOAD)
            ok = take_load(d, u64(d, r + 8), r + RECORD_BYTES, body);
        else if (kind == CODE_MOVE)
            ok = take_move(d, u64(d, r + 8), r + RECORD_BYTES, body);
        else if (kind == CODE_DEBUG_INFO)
            ok = take_lines(d, r + RECORD_BYTES, body);
        else
            check_other(d, kind, r + RECORD_BYTES, body);
        is_of_next = (kind == CODE_DEBUG_INFO || kind == CODE_UNWINDING_INFO) && d->jit->damage.n == damaged;
        at += size;
    }
    if (ok && is_of_next)
        jitdump_damaged(d, "the file ends before the code that it is of");
    return ok;
}

static int by_time(const void *a, const void *b)
{
    const struct load *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Loads in order of time into the table; lines of a moved function stay, and are found by where it was. */
static bool add_loads(struct dump *d, struct sp_symtab *out)
{
    struct sp_jitdump *jit = d->jit;
    if (d->loads.n)
        qsort(d->loads.v, d->loads.n, sizeof *d->loads.v, by_time);
    for (size_t i = 0; i < d->loads.n && i < SP_SYMS_MAX; i++) {
        struct load *l = &d->loads.v[i];
        uint64_t end = l->addr + l->size < l->addr ? UINT64_MAX : l->addr + l->size;
        struct sp_jit_code code = {l->addr, end, l->time, l->name, l->first, l->n, l->addr - l->lines_at,
                                   false};
        if (!sp_vec_push(&jit->codes, code) || !sp_symtab_add(out, l->addr, l->size, SP_BIND_GLOBAL, l->name))
            return false;
    }
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct sp_jit_node *x = a, *y = b; /* most is the start for now */
    if (x->most != y->most)
        return x->most < y->most ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The largest end in a range of nodes, set along the way; as deep as its length's logarithm. */
static uint64_t set_most(struct sp_jitdump *jit, size_t lo, size_t hi)
{
    if (lo >= hi)
        return 0;
    size_t mid = lo + (hi - lo) / 2;
    uint64_t most = jit->codes.v[jit->nodes.v[mid].order].end;
    uint64_t left = set_most(jit, lo, mid), right = set_most(jit, mid + 1, hi);
    most = left > most ? left : most;
    return jit->nodes.v[mid].most = right > most ? right : most;
}

/* The tree of the code that shares addresses with other code. */
static bool find_shared(struct sp_jitdump *jit)
{
    size_t n = jit->codes.n, kept = 0;
    if (!sp_vec_reserve(&jit->nodes, n))
        return false;
    for (size_t i = 0; i < n; i++)
        jit->nodes.v[i] = (struct sp_jit_node){jit->codes.v[i].start, (uint32_t)i};
    if (n)
        qsort(jit->nodes.v, n, sizeof *jit->nodes.v, by_start);
    struct sp_jit_code *far = NULL; /* of those before, the one that reaches farthest */
    for (size_t i = 0; i < n; i++) {
        struct sp_jit_code *c = &jit->codes.v[jit->nodes.v[i].order];
        if (far && c->start < far->end)
            c->shared = far->shared = true;
        far = !far || c->end > far->end ? c : far;
    }
    for (size_t i = 0; i < n; i++)
        if (jit->codes.v[jit->nodes.v[i].order].shared)
            jit->nodes.v[kept++] = jit->nodes.v[i];
    jit->nodes.n = kept;
    set_most(jit, 0, kept);
    return true;
}

uint32_t sp_jitdump_code(const struct sp_jitdump *jit, uint64_t addr, uint64_t time)
{
    struct {
        size_t lo, hi;
    } todo[2 * 64] = {{0, jit->nodes.n}};
    uint32_t best = SP_JIT_ONE;
    for (size_t n = 1; n;) {
        size_t lo = todo[--n].lo, hi = todo[n].hi, mid = lo + (hi - lo) / 2;
        if (lo >= hi || jit->nodes.v[mid].most <= addr)
            continue;
        uint32_t order = jit->nodes.v[mid].order;
        const struct sp_jit_code *c = &jit->codes.v[order];
        todo[n].lo = lo;
        todo[n++].hi = mid;
        if (c->start > addr)
            continue;
        todo[n].lo = mid + 1;
        todo[n++].hi = hi;
        if (c->end <= addr)
            continue;
        bool before = c->time <= time, best_before = best != SP_JIT_ONE && jit->codes.v[best].time <= time;
        if (best == SP_JIT_ONE || (before && !best_before) ||
            (before == best_before && (before ? order > best : order < best)))
            best = order;
    }
    return best;
}

bool sp_jitdump_parse(const unsigned char *data, size_t n, struct sp_symtab *out, struct sp_jitdump *jit,
                      bool *is_one)
{
    struct dump d = {.p = data, .n = n, .jit = jit, .names = &out->arena};
    jit->damage = (struct sp_jit_damage){0};
    *is_one = n >= HEADER_BYTES &&
              (jitdump_u32(&d, data) == MAGIC || jitdump_u32(&d, data) == __builtin_bswap32(MAGIC));
    if (!*is_one) {
        if (n)
            jitdump_damaged(&d, "no header of a jitdump");
        return true;
    }
    d.swap = jitdump_u32(&d, data) != MAGIC;
    jit->arch_times = u64(&d, data + 32) & FLAG_ARCH_TIMES;
    size_t header = jitdump_u32(&d, data + 8);
    bool ok = true;
    if (jitdump_u32(&d, data + 4) > VERSION) { /* which perf refuses as well: its records may be others */
        d.at = 4;
        jitdump_damaged(&d, "the version of the header, above 1");
    } else if (header >= HEADER_BYTES && header <= n) {
        ok = take_records(&d, header);
    } else {
        d.at = 8;
        jitdump_damaged(&d, "the size of the header");
    }
    ok = ok && add_loads(&d, out) && find_shared(jit) && sp_symtab_finish(out, SP_RULES_JIT);
    sp_vec_free(&d.loads);
    sp_vec_free(&d.places);
    sp_map_free(&d.place_map);
    return ok;
}

void sp_jitdump_free(struct sp_jitdump *jit)
{
    sp_vec_free(&jit->lines);
    sp_vec_free(&jit->codes);
    sp_vec_free(&jit->nodes);
}

const struct sp_jit_line *sp_jitdump_line(const struct sp_jitdump *jit, const struct sp_sym *sym,
                                          uint64_t addr)
{
    if (sym->order >= jit->codes.n)
        return NULL;
    const struct sp_jit_code *c = &jit->codes.v[sym->order];
    const struct sp_jit_line *v = jit->lines.v + c->first;
    addr -= c->moved;
    size_t lo = 0, hi = c->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid].addr <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? &v[lo - 1] : NULL;
}
