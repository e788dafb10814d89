/*
 * The `# name : value` lines that `perf script --header` prints. What the model has a place for goes
 * there; all lines are kept.
 */
#include "base/num.h"
#include "formats/perf_script/perf_script.h"
#include "json/json.h"

#include <string.h>

#define KEPT_BYTES ((size_t)256 << 10)

void sp_ps_comments_free(struct sp_ps_comments *c)
{
    sp_vec_free(&c->events);
    sp_buf_free(&c->lines);
}

/* What stands between `key` and the next comma; p NULL if key is not there. */
static struct sp_ps_text perf_script_comment_field(struct sp_ps_text t, const char *key)
{
    const char *p = memmem(t.p, t.n, key, strlen(key));
    if (!p)
        return (struct sp_ps_text){NULL, 0};
    p += strlen(key);
    const char *end = t.p + t.n, *comma = memchr(p, ',', (size_t)(end - p));
    if (comma)
        end = comma;
    while (end > p && sp_ps_blank(end[-1]))
        end--;
    return (struct sp_ps_text){p, (size_t)(end - p)};
}

static bool perf_script_comment_event(struct sp_ps_comments *c, struct sp_profile *p, struct sp_ps_text value)
{
    struct sp_ps_text name = perf_script_comment_field(value, "name = ");
    if (!name.n)
        return true;
    struct sp_ps_event_note note = {.name = sp_profile_str(p, name.p, name.n)};
    struct sp_ps_text freq = perf_script_comment_field(value, " freq = ");
    note.freq = freq.n == 1 && *freq.p == '1';
    struct sp_ps_text n = perf_script_comment_field(value, "{ sample_period, sample_freq } = ");
    if (!n.p)
        n = perf_script_comment_field(value, note.freq ? " sample_freq = " : " sample_period = ");
    if (!n.p)
        n = perf_script_comment_field(value, "sample_period (sample_freq) = ");
    if (n.p && sp_parse_u64(n.p, n.p + n.n, &note.value) != n.n)
        note.value = 0;
    return note.name != SP_STR_FAIL && sp_vec_push(&c->events, note);
}

static bool perf_script_put_comment_json(struct sp_profile *p, uint32_t *where, const char *prefix,
                                         struct sp_ps_text value)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, prefix);
    sp_buf_add(&b, value.p, value.n);
    *where = b.failed ? SP_STR_FAIL : sp_profile_str(p, b.data, b.len);
    sp_buf_free(&b);
    if (*where != SP_STR_FAIL)
        return true;
    *where = SP_STR_NONE;
    return false;
}

static bool perf_script_comment_known(struct sp_ps_comments *c, struct sp_profile *p, struct sp_ps_text key,
                                      struct sp_ps_text v)
{
    struct sp_header *h = &p->header;
    uint64_t cpus;
#define IS(s) (key.n == strlen(s) && memcmp(key.p, s, key.n) == 0)
    if (IS("event"))
        return perf_script_comment_event(c, p, v);
    if (IS("hostname"))
        return perf_script_put_comment_json(p, &h->host.name, "", v);
    if (IS("os release"))
        return perf_script_put_comment_json(p, &h->host.os, "Linux ", v);
    if (IS("arch"))
        return perf_script_put_comment_json(p, &h->host.arch, "", v);
    if (IS("nrcpus online") && sp_parse_u64(v.p, v.p + v.n, &cpus) == v.n)
        return perf_script_put_comment_json(p, &h->host.cpus, "", v);
    if (IS("perf version"))
        return perf_script_put_comment_json(p, &h->tool_version, "", v);
    if (IS("cmdline"))
        return perf_script_put_comment_json(p, &h->command, "", v);
#undef IS
    return true;
}

/* The line without its end; false: out of memory. */
bool sp_ps_comment(struct sp_ps_comments *c, struct sp_profile *p, const char *line, size_t n)
{
    const char *s = line, *end = line + n;
    while (s < end && (*s == '#' || *s == '=' || sp_ps_blank(*s)))
        s++;
    while (end > s && sp_ps_blank(end[-1]))
        end--;
    if (s == end)
        return true;
    if (c->lines.len + (size_t)(end - s) < KEPT_BYTES) {
        if (c->lines.len)
            sp_buf_ch(&c->lines, ',');
        sp_json_string(&c->lines, s, (size_t)(end - s));
    }
    const char *colon = memchr(s, ':', (size_t)(end - s));
    if (!colon)
        return !c->lines.failed;
    struct sp_ps_text key = {s, (size_t)(colon - s)}, value = {colon + 1, (size_t)(end - colon - 1)};
    while (key.n && sp_ps_blank(key.p[key.n - 1]))
        key.n--;
    while (value.n && sp_ps_blank(*value.p)) {
        value.p++;
        value.n--;
    }
    return !c->lines.failed && (!value.n || perf_script_comment_known(c, p, key, value));
}
