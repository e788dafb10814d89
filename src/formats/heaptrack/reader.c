/* Reads heaptrack's data files; heaptrack.h shows them. */
#include "base/hash.h"
#include "base/num.h"
#include "formats/heaptrack/heaptrack.h"
#include "model/samples.h"

#include <string.h>

/* ---- raw files: the module that an address is in when its trace is met ---- */

#define FRAGMENTS_MAX ((size_t)1 << 20)

static uint32_t heaptrack_module_of(struct sp_ht *ht, uint32_t name, uint64_t base)
{
    uint64_t hash = sp_hash_mix(base, name);
    struct sp_probe at = sp_map_probe(&ht->module_map, hash);
    for (uint32_t i; (i = sp_map_next(&ht->module_map, &at)) != SP_MAP_NONE;)
        if (ht->modules.v[i].name == name && ht->modules.v[i].base == base)
            return i;
    struct sp_ht_module m = {.name = name, .base = base};
    uint32_t number = (uint32_t)ht->modules.n;
    if (ht->modules.n >= SP_HT_THINGS_MAX || !sp_vec_push(&ht->modules, m) ||
        !sp_map_add(&ht->module_map, hash, number))
        return SP_NONE;
    return number;
}

static spaa_status heaptrack_read_module(struct sp_ht *ht, struct sp_ht_text name, const char *at,
                                         const char *end)
{
    uint64_t base, vaddr, size;
    if (name.n == 1 && *name.p == '-') {
        ht->fragments.n = 0;
        return SPAA_OK;
    }
    bool exe = name.n == 1 && *name.p == 'x' && ht->exe;
    uint32_t s = exe ? ht->exe : sp_profile_str(ht->p, name.p, name.n);
    if (s == SP_STR_FAIL)
        return sp_nomem(ht->d);
    if (!sp_ht_hex(&at, end, &base))
        return sp_ht_bad(ht, SP_L751, "a module without an address");
    uint32_t module = heaptrack_module_of(ht, s, base);
    if (module == SP_NONE)
        return sp_nomem(ht->d);
    ht->unsorted = true;
    while (at < end) {
        struct sp_ht_fragment f = {.module = module};
        if (!sp_ht_hex(&at, end, &vaddr) || !sp_ht_hex(&at, end, &size))
            return sp_ht_bad(ht, SP_L751, "a segment of a module that is no numbers");
        f.start = base + vaddr; /* addresses wrap as the processor's do */
        f.end = f.start + size < f.start ? UINT64_MAX : f.start + size;
        if (ht->fragments.n >= FRAGMENTS_MAX) {
            sp_emit(ht->d, SP_E007, sp_ht_here(ht), "more than %zu segments of modules", FRAGMENTS_MAX);
            return SPAA_ERR_INPUT;
        }
        if (!sp_vec_push(&ht->fragments, f))
            return sp_nomem(ht->d);
    }
    return SPAA_OK;
}

static int heaptrack_module_cmp_fragment(const void *va, const void *vb)
{
    const struct sp_ht_fragment *a = va, *b = vb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->module > b->module) - (a->module < b->module);
}

/* The module at an address; of segments that overlap, the one that begins last. */
static uint32_t heaptrack_module_at(struct sp_ht *ht, uint64_t addr)
{
    if (ht->unsorted && ht->fragments.n)
        qsort(ht->fragments.v, ht->fragments.n, sizeof *ht->fragments.v, heaptrack_module_cmp_fragment);
    ht->unsorted = false;
    size_t lo = 0, hi = ht->fragments.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (ht->fragments.v[mid].start <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && addr < ht->fragments.v[lo - 1].end ? ht->fragments.v[lo - 1].module : SP_NONE;
}

static uint32_t heaptrack_raw_ip(struct sp_ht *ht, uint64_t addr)
{
    uint32_t module = heaptrack_module_at(ht, addr);
    uint64_t hash = sp_hash_mix(addr, module);
    struct sp_probe at = sp_map_probe(&ht->ip_map, hash);
    for (uint32_t i; (i = sp_map_next(&ht->ip_map, &at)) != SP_MAP_NONE;)
        if (ht->ips.v[i].addr == addr && ht->ips.v[i].module == module)
            return i;
    struct sp_ht_ip ip = {.addr = addr, .module = module};
    uint32_t number = (uint32_t)ht->ips.n;
    if (ht->ips.n >= SP_HT_TEXTS_MAX || !sp_vec_push(&ht->ips, ip) || !sp_map_add(&ht->ip_map, hash, number))
        return SP_NONE;
    return number;
}

static spaa_status heaptrack_full(struct sp_ht *ht, size_t most, const char *what)
{
    sp_emit(ht->d, SP_E007, sp_ht_here(ht), "more than %zu %s", most, what);
    return SPAA_ERR_INPUT;
}

/* A text in the middle of a line: to the next blank or, since version 3, as long as the number before says.
 */
static bool heaptrack_word(const struct sp_ht *ht, const char **at, const char *end, struct sp_ht_text *out)
{
    uint64_t n;
    if (ht->version >= 3) {
        if (!sp_ht_hex(at, end, &n) || n > (uint64_t)(end - *at))
            return false;
    } else {
        const char *blank = memchr(*at, ' ', (size_t)(end - *at));
        n = (uint64_t)((blank ? blank : end) - *at);
    }
    *out = (struct sp_ht_text){*at, (size_t)n};
    *at += n;
    if (*at < end && **at != ' ')
        return false;
    *at += *at < end;
    return out->n > 0;
}

/* ---- strings, ips, traces, infos: numbered by place, so that what cannot be read has one too ---- */

static spaa_status heaptrack_read_string(struct sp_ht *ht, const char *at, const char *end)
{
    struct sp_ht_text t = {at, (size_t)(end - at)};
    spaa_status st = SPAA_OK;
    uint64_t n;
    if (ht->strings.n >= SP_HT_TEXTS_MAX)
        return heaptrack_full(ht, SP_HT_TEXTS_MAX, "strings");
    if (ht->version >= 3) {
        if (sp_ht_hex(&at, end, &n) && n == (uint64_t)(end - at)) {
            t = (struct sp_ht_text){at, (size_t)n};
        } else {
            st = sp_ht_bad(ht, SP_L751, "a string that is not as long as it says");
            t = (struct sp_ht_text){at, (size_t)(end - at)};
        }
    }
    uint32_t s = sp_profile_str(ht->p, t.p, t.n);
    return s == SP_STR_FAIL || !sp_vec_push(&ht->strings, s) ? sp_nomem(ht->d) : st;
}

/* The string of a number in the file; SP_STR_NONE for 0 and, reported, for what is not there. */
static uint32_t heaptrack_string_at(struct sp_ht *ht, uint64_t number, spaa_status *st)
{
    if (number > ht->strings.n) {
        spaa_status bad = sp_ht_bad(ht, SP_L752, "a string that is not there");
        *st = *st ? *st : bad;
        return SP_STR_NONE;
    }
    return number ? ht->strings.v[number - 1] : SP_STR_NONE;
}

static spaa_status heaptrack_read_ip(struct sp_ht *ht, const char *at, const char *end)
{
    struct sp_ht_ip ip = {.module = SP_STR_NONE, .first = (uint32_t)ht->frames.n};
    uint64_t addr, module = 0, function, file;
    spaa_status st = SPAA_OK;
    if (ht->ips.n >= SP_HT_TEXTS_MAX || ht->frames.n >= SP_HT_THINGS_MAX)
        return heaptrack_full(ht, SP_HT_TEXTS_MAX, "addresses");
    if (!sp_ht_hex(&at, end, &addr) || (at < end && !sp_ht_hex(&at, end, &module))) {
        st = sp_ht_bad(ht, SP_L751, "an address that is no numbers");
        return sp_vec_push(&ht->ips, ip) ? st : sp_nomem(ht->d);
    }
    ip.addr = addr;
    ip.module = heaptrack_string_at(ht, module, &st);
    while (at < end && ip.n < SP_HT_DEPTH) {
        struct sp_ht_frame f = {0};
        file = 0;
        if (!sp_ht_hex(&at, end, &function) || (at < end && !sp_ht_hex(&at, end, &file)) ||
            (at < end && !sp_ht_hex(&at, end, &f.line))) {
            spaa_status bad = sp_ht_bad(ht, SP_L751, "a frame that is no numbers");
            st = st ? st : bad;
            break;
        }
        f.function = heaptrack_string_at(ht, function, &st);
        f.file = heaptrack_string_at(ht, file, &st);
        if (!sp_vec_push(&ht->frames, f))
            return sp_nomem(ht->d);
        ip.n++;
    }
    return sp_vec_push(&ht->ips, ip) ? st : sp_nomem(ht->d);
}

static spaa_status heaptrack_read_trace(struct sp_ht *ht, const char *at, const char *end)
{
    struct sp_ht_trace t = {0};
    uint64_t ip, parent;
    spaa_status st = SPAA_OK;
    if (ht->traces.n >= SP_HT_THINGS_MAX)
        return heaptrack_full(ht, SP_HT_THINGS_MAX, "traces");
    if (!sp_ht_hex(&at, end, &ip) || !sp_ht_hex(&at, end, &parent)) {
        st = sp_ht_bad(ht, SP_L751, "a trace that is no numbers");
        ip = parent = 0;
    }
    if (!st && parent > ht->traces.n) {
        st = sp_ht_bad(ht, SP_L752,
                       parent == ht->traces.n + 1 ? "a trace that is called from itself"
                                                  : "a trace that is called from one that is not there yet");
        parent = 0;
    }
    if (!st && ht->raw && ip) {
        uint32_t number = heaptrack_raw_ip(ht, ip);
        if (number == SP_NONE)
            return ht->ips.n >= SP_HT_TEXTS_MAX ? heaptrack_full(ht, SP_HT_TEXTS_MAX, "addresses")
                                                : sp_nomem(ht->d);
        ip = number + 1;
    } else if (!st && ip > ht->ips.n) {
        st = sp_ht_bad(ht, SP_L752, "a trace of an address that is not there");
        ip = 0;
    }
    t.ip = (uint32_t)ip;
    t.parent = (uint32_t)parent;
    return sp_vec_push(&ht->traces, t) ? st : sp_nomem(ht->d);
}

static spaa_status heaptrack_read_info(struct sp_ht *ht, const char *at, const char *end)
{
    uint64_t size, trace;
    spaa_status st = SPAA_OK;
    if (ht->pointers)
        return sp_ht_bad(ht, SP_L751, "an info, which only interpreted files have");
    if (ht->infos.n >= SP_HT_THINGS_MAX)
        return heaptrack_full(ht, SP_HT_THINGS_MAX, "infos");
    if (!sp_ht_hex(&at, end, &size) || !sp_ht_hex(&at, end, &trace) || size > INT64_MAX) {
        st = sp_ht_bad(ht, SP_L751, "an info that is no numbers");
        size = trace = 0;
    } else if (trace > ht->traces.n) {
        st = sp_ht_bad(ht, SP_L752, "an info of a trace that is not there");
        trace = 0;
    }
    uint32_t cost = sp_ht_cost_of(ht, (uint32_t)trace);
    return cost == SP_NONE || !sp_ht_add_info(ht, size, cost) ? sp_nomem(ht->d) : st;
}

/* ---- what the recording says of itself ---- */

static spaa_status heaptrack_read_version(struct sp_ht *ht, const char *at, const char *end)
{
    uint64_t file = 0;
    if (ht->any)
        return sp_ht_bad(ht, SP_L751, "another version line");
    if (ht->traces.n || ht->strings.n || ht->infos.n || ht->costs.n)
        return sp_ht_bad(ht, SP_L751, "a version behind what it is of");
    if (!sp_ht_hex(&at, end, &ht->heaptrack_version) || (at < end && !sp_ht_hex(&at, end, &file))) {
        ht->heaptrack_version = file = 0;
        sp_ht_bad(ht, SP_L751, "a version that is no numbers");
    } else if (!file && ht->heaptrack_version == 0x010200) {
        file = 1; /* wrote no file version, and had it */
    }
    if (file > SP_HT_VERSION) {
        sp_emit(ht->d, SP_E750, sp_ht_here(ht), "version %llu; known are 0 to %u", (unsigned long long)file,
                SP_HT_VERSION);
        return SPAA_ERR_INPUT;
    }
    ht->any = true;
    ht->version = (unsigned)file;
    ht->pointers = !file;
    return SPAA_OK;
}

static spaa_status heaptrack_read_time(struct sp_ht *ht, const char *at, const char *end)
{
    uint64_t ms;
    if (!sp_ht_hex(&at, end, &ms) || ms > INT64_MAX / 2000000)
        return sp_ht_bad(ht, SP_L751, "a time that is no number");
    if ((int64_t)ms < ht->now) {
        sp_emit(ht->d, SP_W754, sp_ht_here(ht), "%llu ms behind %lld ms", (unsigned long long)ms,
                (long long)ht->now);
        return SPAA_OK;
    }
    if (ht->opts->stops && (int64_t)ms * 1000000 >= ht->opts->stop) {
        ht->stopped = true;
        return SPAA_OK;
    }
    spaa_status st = sp_ht_windows_time(ht, (int64_t)ms);
    ht->now = (int64_t)ms;
    return st;
}

static spaa_status heaptrack_read_rss(struct sp_ht *ht, const char *at, const char *end)
{
    uint64_t pages;
    if (!sp_ht_hex(&at, end, &pages) || pages > INT64_MAX)
        return sp_ht_bad(ht, SP_L751, "a size of memory that is no number");
    if ((int64_t)pages > ht->peak_rss)
        ht->peak_rss = (int64_t)pages;
    if ((int64_t)pages > ht->windows.open.rss)
        ht->windows.open.rss = (int64_t)pages;
    return SPAA_OK;
}

static spaa_status heaptrack_read_debuggee(struct sp_ht *ht, const char *at, const char *end)
{
    if (ht->debuggee_seen)
        return sp_ht_bad(ht, SP_L751, "another command line");
    ht->debuggee_seen = true;
    ht->command = sp_profile_str(ht->p, at, (size_t)(end - at));
    return ht->command == SP_STR_FAIL ? sp_nomem(ht->d) : SPAA_OK;
}

/* The first of them tells that this is what was recorded, not yet what heaptrack_interpret makes of it. */
static spaa_status heaptrack_read_raw(struct sp_ht *ht, char kind, const char *at, const char *end)
{
    struct sp_ht_text name;
    if (!ht->raw && (ht->traces.n || ht->strings.n || ht->infos.n))
        return sp_ht_bad(ht, SP_L751, "a line of raw files in an interpreted one");
    ht->raw = ht->pointers = true;
    if (!heaptrack_word(ht, &at, end, &name))
        return sp_ht_bad(ht, SP_L751, "a module without a name");
    if (kind == 'm')
        return heaptrack_read_module(ht, name, at, end);
    if (ht->exe)
        return sp_ht_bad(ht, SP_L751, "another program");
    ht->exe = sp_profile_str(ht->p, name.p, name.n);
    return ht->exe == SP_STR_FAIL ? sp_nomem(ht->d) : SPAA_OK;
}

static spaa_status heaptrack_read_system(struct sp_ht *ht, const char *at, const char *end)
{
    uint64_t size, pages;
    if (!sp_ht_hex(&at, end, &size) || !sp_ht_hex(&at, end, &pages))
        return sp_ht_bad(ht, SP_L751, "a size of pages that is no numbers");
    ht->page_size = size;
    ht->pages = pages;
    return SPAA_OK;
}

static spaa_status heaptrack_line(void *reader, const char *p, size_t n)
{
    struct sp_ht *ht = reader;
    const char *end = p + n, *at = n > 2 ? p + 2 : end;
    if (!n || *p == '#' || (ht->stopped && *p != 'S'))
        return SPAA_OK;
    if (ht->lines.cut) {
        sp_emit(ht->d, SP_L753, sp_ht_here(ht), " ");
        return ht->opts->strict ? SPAA_ERR_INPUT : SPAA_OK;
    }
    if (n > 1 && p[1] != ' ')
        return sp_ht_bad(ht, SP_L751, "an unknown line");
    switch (*p) {
    case '+':
    case '-':
        return sp_ht_event(ht, p, n);
    case 's':
        return heaptrack_read_string(ht, at, end);
    case 'i':
        return heaptrack_read_ip(ht, at, end);
    case 't':
        return heaptrack_read_trace(ht, at, end);
    case 'a':
        return heaptrack_read_info(ht, at, end);
    case 'c':
        return heaptrack_read_time(ht, at, end);
    case 'R':
        return heaptrack_read_rss(ht, at, end);
    case 'v':
        return heaptrack_read_version(ht, at, end);
    case 'X':
        return heaptrack_read_debuggee(ht, at, end);
    case 'I':
        return heaptrack_read_system(ht, at, end);
    case 'S':
        return sp_ht_suppress_line(ht, at, (size_t)(end - at));
    case 'A':
        ht->attached = true;
        return SPAA_OK;
    case 'x':
    case 'm':
        return heaptrack_read_raw(ht, *p, at, end);
    default:
        return sp_ht_bad(ht, SP_L751, "an unknown line");
    }
}

/* ---- the reader ---- */

#define WINDOWS_MAX 10000u

static void heaptrack_free_all(struct sp_ht *ht)
{
    sp_vec_free(&ht->strings);
    sp_vec_free(&ht->frames);
    sp_vec_free(&ht->ips);
    sp_vec_free(&ht->traces);
    sp_vec_free(&ht->trace_by);
    sp_vec_free(&ht->infos);
    sp_vec_free(&ht->costs);
    sp_vec_free(&ht->cost_trace);
    free(ht->live.slots);
    sp_map_free(&ht->info_map);
    sp_vec_free(&ht->last_info);
    sp_map_free(&ht->ip_map);
    sp_map_free(&ht->module_map);
    sp_vec_free(&ht->modules);
    sp_vec_free(&ht->fragments);
    sp_binder_free(ht->binder);
    sp_ht_windows_free(&ht->windows);
    sp_vec_free(&ht->suppressions);
    sp_vec_free(&ht->numbers);
    sp_vec_free(&ht->stack_of);
}

/* --windows N, or what the command asks for. */
static spaa_status heaptrack_window_count(const struct sp_read_opts *opts, struct sp_diags *d, unsigned *out)
{
    const char *text = sp_own_opt(opts->own, opts->nown, "windows");
    uint64_t n;
    *out = opts->windows;
    if (!text)
        return SPAA_OK;
    size_t used = sp_parse_u64(text, text + strlen(text), &n);
    if (!used || text[used] || !n || n > WINDOWS_MAX) {
        sp_emit_hint(d, SP_E037, SP_AT_NOTHING, "like --windows 50", "--windows takes 1 to %u, not \"%s\"",
                     WINDOWS_MAX, text);
        return SPAA_ERR_USAGE;
    }
    *out = (unsigned)n;
    return SPAA_OK;
}

static spaa_status heaptrack_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                                  struct sp_profile *p)
{
    struct sp_ht ht = {.d = d, .opts = opts, .p = p, .epoch = 1, .peak_rss = -1};
    ht.lines = (struct sp_lines){.reader = &ht, .take = heaptrack_line};
    ht.windows.now = 1;
    ht.windows.open.rss = -1;
    spaa_status st = heaptrack_window_count(opts, d, &ht.windows.most);
    if (!st && opts->samples && !(ht.windows.most && opts->windows_do))
        st = sp_samples_new(d, &p->samples);
    if (!st)
        st = sp_ht_suppress_start(&ht);
    if (!st)
        st = sp_lines_read(&ht.lines, in);
    if (!st && !ht.any) {
        st = sp_input_failed(in);
        if (!st)
            sp_emit(d, SP_E011, SP_AT_NOTHING, "the file has no version line");
        st = st ? st : SPAA_ERR_INPUT;
    }
    if (!st)
        st = sp_ht_finish(&ht);
    heaptrack_free_all(&ht);
    return st;
}

static size_t heaptrack_line_end(const unsigned char *p, size_t n)
{
    const unsigned char *nl = memchr(p, '\n', n);
    return nl ? (size_t)(nl - p) : n;
}

/* A version line, and behind it one that begins as heaptrack's do. */
static int heaptrack_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    uint64_t v;
    size_t first = heaptrack_line_end(p, n);
    const char *at = (const char *)p + 2, *end = (const char *)p + first;
    if (n < 4 || p[0] != 'v' || p[1] != ' ' || first == n || !sp_ht_hex(&at, end, &v) || v < 0x10000 ||
        v > 0xFFFFFF || (at < end && (!sp_ht_hex(&at, end, &v) || at < end)))
        return 0;
    (void)whole;
    *reason = "a line with the version of heaptrack and of its format";
    bool more = n - first > 2;
    return !more ? 60 : p[first + 2] == ' ' && strchr("XxIAscmtiaRS#+-", p[first + 1]) ? 95 : 40;
}

static const struct sp_format_option options[] = {
    {"windows", "N", "keep at most N windows of time, each with what was allocated and freed in it",
     SP_CAN_READ},
    {0},
};

const struct spaa_format spaa_format_heaptrack = {
    .name = "heaptrack",
    .title = "heaptrack data, raw or interpreted",
    .extensions = "heaptrack",
    .comes_back = "sums by stack; the order of events is kept by --windows and, of allocations, --samples",
    .caps = SP_CAN_READ,
    .options = options,
    .probe = heaptrack_probe,
    .read = heaptrack_read,
};
