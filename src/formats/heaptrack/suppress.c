/*
 * Leaks that are known and meant: patterns in the file (`S leak:PATTERN`, of the program's own
 * __lsan_default_suppressions) and those that heaptrack brings along. heaptrack_print takes what they fit out
 * of its total of leaks; here it stays in, and is marked.
 *
 * A pattern is looked for in the module, function and file of each frame: `*` is anything, `^` and `$` tie it
 * to the start and the end; of several, the frame nearest the root decides, then the first pattern.
 */
#include "formats/heaptrack/heaptrack.h"

static bool heaptrack_suppress_matches(struct sp_str pattern, struct sp_str s)
{
    const char *p = pattern.p, *end = p + pattern.n, *at = s.p, *stop = s.p + s.n;
    if (pattern.n == s.n && memcmp(pattern.p, s.p, s.n) == 0)
        return true;
    bool start = p < end && *p == '^', star = false;
    p += start;
    while (p < end) {
        if (*p == '*') {
            p++;
            start = false;
            star = true;
            continue;
        }
        if (*p == '$')
            return at == stop || star;
        const char *q = p;
        while (q < end && *q != '*' && *q != '$')
            q++;
        const char *found = memmem(at, (size_t)(stop - at), p, (size_t)(q - p));
        if (!found || (start && found != at))
            return false;
        at = found + (q - p);
        p = q;
        start = star = false;
    }
    return s.n > 0;
}

static spaa_status heaptrack_suppress_add(struct sp_ht *ht, const char *p, size_t n, bool built_in)
{
    struct sp_ht_suppression s = {.pattern = sp_profile_str(ht->p, p, n), .built_in = built_in};
    if (ht->suppressions.n >= 4096) {
        sp_emit(ht->d, SP_E007, sp_ht_here(ht), "more than 4096 suppressions");
        return SPAA_ERR_INPUT;
    }
    return s.pattern == SP_STR_FAIL || !sp_vec_push(&ht->suppressions, s) ? sp_nomem(ht->d) : SPAA_OK;
}

spaa_status sp_ht_suppress_start(struct sp_ht *ht)
{
    /* As heaptrack 1.4 has them. */
    static const char *const known[] = {"__nss_module_allocate", "__gconv_read_conf", "__new_exitfn",
                                        "tzset_internal",        "dl_open_worker",    "g_main_context_new",
                                        "g_thread_self"};
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < sizeof known / sizeof *known; i++)
        st = heaptrack_suppress_add(ht, known[i], strlen(known[i]), true);
    return st;
}

static bool heaptrack_suppress_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

spaa_status sp_ht_suppress_line(struct sp_ht *ht, const char *p, size_t n)
{
    while (n && heaptrack_suppress_is_blank(*p)) {
        p++;
        n--;
    }
    while (n && heaptrack_suppress_is_blank(p[n - 1]))
        n--;
    if (!n || *p == '#')
        return SPAA_OK;
    if (n <= 5 || memcmp(p, "leak:", 5) != 0)
        return sp_ht_bad(ht, SP_L751, "a suppression that is no leak:PATTERN");
    return heaptrack_suppress_add(ht, p + 5, n - 5, false);
}

/* 1 + the suppression that a string fits, or 0. */
static unsigned heaptrack_suppress_by_string(struct sp_ht *ht, uint32_t s)
{
    if (s == SP_STR_NONE)
        return 0;
    for (unsigned i = 0; i < ht->suppressions.n; i++)
        if (heaptrack_suppress_matches(sp_pstr(ht->p, ht->suppressions.v[i].pattern), sp_pstr(ht->p, s)))
            return i + 1;
    return 0;
}

static unsigned heaptrack_suppress_by_interpreted(struct sp_ht *ht, const struct sp_ht_ip *ip)
{
    unsigned by = heaptrack_suppress_by_string(ht, ip->module);
    for (uint32_t i = 0; !by && i < ip->n; i++) {
        by = heaptrack_suppress_by_string(ht, ht->frames.v[ip->first + i].function);
        by = by ? by : heaptrack_suppress_by_string(ht, ht->frames.v[ip->first + i].file);
    }
    return by;
}

static unsigned heaptrack_suppress_by_raw(struct sp_ht *ht, const struct sp_ht_ip *ip)
{
    unsigned by =
        ip->module == SP_NONE ? 0 : heaptrack_suppress_by_string(ht, ht->modules.v[ip->module].name);
    for (uint32_t i = 0; !by && i < ip->nmade; i++) {
        uint32_t frame = ht->numbers.v[ip->made - 1 + i];
        by = heaptrack_suppress_by_string(ht, sp_frame_function(ht->p, frame)->name);
        by = by ? by : heaptrack_suppress_by_string(ht, ht->p->frames.v[frame].srcline);
    }
    return by;
}

static uint32_t heaptrack_suppress_by_ip(struct sp_ht *ht, uint32_t number)
{
    struct sp_ht_ip *ip = number ? &ht->ips.v[number - 1] : NULL;
    if (!ip)
        return SP_NONE;
    if (ip->suppressed == SP_HT_UNKNOWN) {
        unsigned by = ht->raw ? heaptrack_suppress_by_raw(ht, ip) : heaptrack_suppress_by_interpreted(ht, ip);
        ip->suppressed = by ? SP_HT_YES : SP_HT_NO;
        ip->by = (uint16_t)(by ? by - 1 : 0);
    }
    return ip->suppressed == SP_HT_YES ? ip->by : SP_NONE;
}

bool sp_ht_suppress_traces(struct sp_ht *ht)
{
    if (!sp_vec_reserve(&ht->trace_by, ht->traces.n + 1))
        return false;
    for (size_t i = 0; i < ht->traces.n; i++) { /* the parent of each is before it */
        const struct sp_ht_trace *t = &ht->traces.v[i];
        uint32_t nearer = t->parent ? ht->trace_by.v[t->parent - 1] : SP_NONE;
        ht->trace_by.v[ht->trace_by.n++] = nearer != SP_NONE ? nearer : heaptrack_suppress_by_ip(ht, t->ip);
    }
    return true;
}
