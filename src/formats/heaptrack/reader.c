/* Reads heaptrack's data files; heaptrack.h shows them. */
#include "base/num.h"
#include "formats/heaptrack/heaptrack.h"
#include "model/samples.h"

#define WINDOWS_MAX 10000u

static void heaptrack_free_all(struct sp_ht *ht)
{
    sp_vec_free(&ht->strings);
    sp_vec_free(&ht->frames);
    sp_vec_free(&ht->ips);
    sp_vec_free(&ht->traces);
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
    sp_symbols_free(ht->symbols);
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
    struct sp_ht ht = {.d = d, .opts = opts, .p = p, .epoch = 1, .peak_rss = -1, .unknown_dso = SP_NONE};
    ht.lines = (struct sp_lines){.reader = &ht, .take = sp_ht_line};
    ht.windows.now = 1;
    ht.windows.open.rss = -1;
    spaa_status st = heaptrack_window_count(opts, d, &ht.windows.most);
    if (!st && opts->samples)
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
