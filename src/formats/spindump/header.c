/* What stands before the first process: fields by name, the banner between rows of dashes, the `.ips` line.
 */
#include "base/num.h"
#include "formats/spindump/spindump.h"

#include <string.h>

/* Keys as long as their column may have their value right behind the colon. */
enum { KEY_COLUMN = 17 };

bool sp_sd_key_value(struct sp_span line, struct sp_span *key, struct sp_span *value)
{
    const char *p = line.p, *end = line.p + line.n;
    while ((p = memchr(p, ':', (size_t)(end - p)))) {
        if (p + 1 == end || sp_hang_blank(p[1]) || (p - line.p >= KEY_COLUMN && p[1] != ':'))
            break;
        p++;
    }
    if (!p || p == line.p || p - line.p > 64)
        return false;
    *key = (struct sp_span){line.p, (size_t)(p - line.p)};
    *value = sp_hang_trim((struct sp_span){p + 1, (size_t)(end - p - 1)});
    return sp_hang_trim(*key).n > 0;
}

void sp_sd_not_understood(struct sp_sd_reader *r, struct sp_span line, struct sp_buf *keep, const char *what)
{
    int n = line.n > 80 ? 80 : (int)line.n;
    sp_emit(r->d, SP_W515, sp_sd_here(r, line.p), "%s: \"%.*s\"", what, n, line.p);
    sp_hang_item(keep, line);
}

static bool dashes(struct sp_span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '-')
            return false;
    return s.n >= 10;
}

static bool two(const char **p, const char *end, size_t digits, int64_t *v)
{
    *v = 0;
    if ((size_t)(end - *p) < digits)
        return false;
    for (size_t i = 0; i < digits; i++, (*p)++) {
        if (!sp_hang_digit(**p))
            return false;
        *v = *v * 10 + (**p - '0');
    }
    return true;
}

static int64_t days(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = y / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* "2026-02-02 23:22:34.999 -0800" in nanoseconds since 1970. */
static bool date(struct sp_span s, int64_t *ns)
{
    static const char between[] = "-- ::";
    static const size_t widths[] = {4, 2, 2, 2, 2, 2};
    int64_t v[6], zone = 0, hours, minutes, fraction = 0;
    const char *p = s.p, *end = s.p + s.n;
    for (int i = 0; i < 6; i++) {
        if (!two(&p, end, widths[i], &v[i]))
            return false;
        if (i < 5 && (p == end || *p++ != between[i]))
            return false;
    }
    if (v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > 31 || v[0] < 1970)
        return false;
    if (p < end && *p == '.') {
        int64_t unit = 100000000;
        for (p++; p < end && sp_hang_digit(*p); p++, unit /= 10)
            fraction += unit * (*p - '0');
    }
    struct sp_span rest = sp_hang_trim((struct sp_span){p, (size_t)(end - p)});
    p = rest.p;
    if (rest.n == 5 && (*p == '-' || *p == '+')) {
        p++;
        if (!two(&p, rest.p + rest.n, 2, &hours) || !two(&p, rest.p + rest.n, 2, &minutes))
            return false;
        zone = (hours * 60 + minutes) * (*rest.p == '-' ? -60 : 60);
    }
    *ns = ((days(v[0], v[1], v[2]) * 24 + v[3]) * 60 + v[4]) * 60 + v[5] - zone;
    *ns = *ns * 1000000000 + fraction;
    return true;
}

/* "341 (10ms sampling interval)" */
static void steps(struct sp_sd_reader *r, struct sp_span s)
{
    const char *open = memchr(s.p, '(', s.n);
    int64_t ns;
    if (open && memmem(s.p, s.n, "sampling interval", 17) &&
        sp_hang_seconds(sp_hang_after(s, (size_t)(open + 1 - s.p)), &ns) && ns > 0)
        r->interval_ns = ns;
}

static void field(struct sp_sd_reader *r, struct sp_span key, struct sp_span value)
{
    struct {
        const char *key;
        struct sp_span *value;
    } known[] = {{"OS Version", &r->os},     {"Architecture", &r->arch},   {"Report Version", &r->version},
                 {"Active cpus", &r->cpus},  {"Date/Time", &r->begin},     {"End time", &r->finish},
                 {"Duration", &r->duration}, {"Hardware model", &r->model}};
    key = sp_hang_trim(key);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sp_span_is(key, known[i].key) && !known[i].value->p)
            *known[i].value = value;
    if (sp_span_is(key, "Steps") || sp_span_is(key, "Sampling interval"))
        steps(r, value);
}

static void banner_line(struct sp_sd_reader *r, struct sp_span line)
{
    sp_hang_item(&r->banner, line);
    if (sp_hang_starts(line, "Timeline format"))
        r->timeline = true;
}

bool sp_sd_header_line(struct sp_sd_reader *r, struct sp_span line)
{
    struct sp_span key, value, text = sp_hang_trim(line);
    if (dashes(text)) {
        r->in_banner = !r->in_banner;
    } else if (r->in_banner || sp_hang_starts(text, "Heavy format") ||
               sp_hang_starts(text, "Timeline format")) {
        banner_line(r, text);
    } else if (!r->ips.p && !r->fields.len && *text.p == '{') {
        r->ips = line;
    } else {
        sp_hang_comma(&r->fields);
        sp_buf_ch(&r->fields, '[');
        if (sp_sd_key_value(line, &key, &value)) {
            sp_hang_item(&r->fields, key);
            sp_hang_item(&r->fields, value);
            field(r, key, value);
        } else {
            int n = line.n > 80 ? 80 : (int)line.n;
            sp_emit(r->d, SP_W515, sp_sd_here(r, line.p), "no field of the header: \"%.*s\"", n, line.p);
            sp_buf_puts(&r->fields, "\"\"");
            sp_hang_item(&r->fields, line);
        }
        sp_buf_ch(&r->fields, ']');
    }
    return !r->fields.failed && !r->banner.failed;
}

static bool ns_text(struct sp_sd_reader *r, int64_t ns, uint32_t *out)
{
    char t[32];
    *out = sp_profile_str(r->p, t, sp_ns_seconds(ns, t));
    return *out != SP_STR_FAIL;
}

static bool set(struct sp_sd_reader *r, struct sp_span s, uint32_t *out)
{
    if (s.n)
        *out = sp_hang_str(r->p, s);
    return *out != SP_STR_FAIL;
}

static bool times(struct sp_sd_reader *r)
{
    struct sp_header *h = &r->p->header;
    int64_t from, to, ns;
    size_t n = sp_hang_seconds(r->duration, &ns);
    if (n && !ns_text(r, ns, &h->duration))
        return false;
    if (!date(r->begin, &from) || !date(r->finish, &to) || to < from)
        return true;
    r->begin_ns = from;
    h->time_unit = sp_profile_cstr(r->p, "seconds");
    h->clock = sp_profile_cstr(r->p, "realtime");
    return h->time_unit != SP_STR_FAIL && h->clock != SP_STR_FAIL && ns_text(r, from, &h->time_start) &&
           ns_text(r, to, &h->time_end);
}

/* The sampling frequency in hertz, from the interval. */
static bool frequency(struct sp_sd_reader *r)
{
    struct sp_event *e = &r->p->events.v[r->event];
    char t[64];
    if (!r->interval_ns)
        return true;
    size_t n = sp_scaled_text((__int128)1000000000 * 1000000 / r->interval_ns, 6, t);
    e->frequency_hz = sp_profile_str(r->p, t, n);
    return e->frequency_hz != SP_STR_FAIL;
}

static bool more(struct sp_sd_reader *r)
{
    struct sp_buf *b = &r->buf;
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_spindump\":{\"fields\":[");
    sp_buf_add(b, r->fields.data, r->fields.len);
    sp_buf_puts(b, r->timeline ? "],\"form\":\"timeline\"" : "],\"form\":\"heavy\"");
    if (r->interval_ns)
        sp_hang_number(b, "interval_ns", r->interval_ns);
    if (r->ips.n)
        sp_hang_member(b, "ips", r->ips);
    sp_buf_ch(b, '}');
    r->p->header.more = b->failed || r->fields.failed ? SP_STR_FAIL : sp_profile_str(r->p, b->data, b->len);
    sp_buf_clear(b);
    return r->p->header.more != SP_STR_FAIL;
}

static bool banner_record(struct sp_sd_reader *r)
{
    if (!r->banner.len)
        return true;
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "{\"type\":\"x_spindump_banner\",\"lines\":[");
    sp_buf_add(&r->buf, r->banner.data, r->banner.len);
    sp_buf_ch(&r->buf, ']');
    r->buf.failed |= r->banner.failed;
    return sp_hang_extension(r->p, &r->buf);
}

spaa_status sp_sd_finish_header(struct sp_sd_reader *r)
{
    struct sp_header *h = &r->p->header;
    uint64_t cpus;
    h->version = sp_profile_cstr(r->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(r->p, "spindump");
    h->has_x_spaa = true;
    h->frames = r->frames.frames;
    h->group_by = r->opts->group_by & (SP_BY_DEFAULT | SP_BY_STATE);
    if (r->cpus.n && sp_parse_u64(r->cpus.p, r->cpus.p + r->cpus.n, &cpus) == r->cpus.n &&
        (*r->cpus.p != '0' || r->cpus.n == 1) && !set(r, r->cpus, &h->host.cpus))
        return sp_nomem(r->d);
    bool ok = h->version != SP_STR_FAIL && h->tool != SP_STR_FAIL && set(r, r->version, &h->tool_version) &&
              set(r, r->os, &h->host.os) && set(r, r->arch, &h->host.arch) && times(r) && frequency(r) &&
              more(r) && banner_record(r);
    return ok ? SPAA_OK : sp_nomem(r->d);
}
