/* The header of a report: system, times, how it was sampled. */
#include "base/num.h"
#include "formats/spindump/report.h"

#include <string.h>

static bool spindump_is_dashes(struct sp_span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '-')
            return false;
    return s.n >= 10;
}

static bool spindump_digits(const char **p, const char *end, size_t digits, int64_t *v)
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

static int64_t spindump_days(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = y / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

bool sp_spindump_date(struct sp_span s, int64_t *ns)
{
    static const char between[] = "-- ::";
    static const size_t widths[] = {4, 2, 2, 2, 2, 2};
    int64_t v[6], zone = 0, hours, minutes, fraction = 0;
    const char *p = s.p, *end = s.p + s.n;
    for (int i = 0; i < 6; i++) {
        if (!spindump_digits(&p, end, widths[i], &v[i]))
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
        if (!spindump_digits(&p, rest.p + rest.n, 2, &hours) ||
            !spindump_digits(&p, rest.p + rest.n, 2, &minutes))
            return false;
        zone = (hours * 60 + minutes) * (*rest.p == '-' ? -60 : 60);
    }
    *ns = ((spindump_days(v[0], v[1], v[2]) * 24 + v[3]) * 60 + v[4]) * 60 + v[5] - zone;
    *ns = *ns * 1000000000 + fraction;
    return true;
}

/* "341 (10ms sampling interval)" */
static void spindump_interval(struct spindump_reader *r, struct sp_span s)
{
    const char *open = memchr(s.p, '(', s.n);
    int64_t ns;
    if (open && memmem(s.p, s.n, "sampling interval", 17) &&
        sp_hang_seconds(sp_hang_after(s, (size_t)(open + 1 - s.p)), &ns) && ns > 0)
        r->interval_ns = ns;
}

static void spindump_header_field(struct spindump_reader *r, struct sp_span key, struct sp_span value)
{
    struct {
        const char *key;
        struct sp_span *value;
    } known[] = {{"OS Version", &r->os},    {"Architecture", &r->arch}, {"Report Version", &r->version},
                 {"Active cpus", &r->cpus}, {"Date/Time", &r->begin},   {"End time", &r->finish},
                 {"Duration", &r->duration}};
    key = sp_hang_trim(key);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sp_span_is(key, known[i].key) && !known[i].value->p)
            *known[i].value = value;
    if (sp_span_is(key, "Steps") || sp_span_is(key, "Sampling interval"))
        spindump_interval(r, value);
    if (sp_span_is(key, "Steps"))
        sp_spindump_step(r, value);
}

static void spindump_banner_line(struct spindump_reader *r, struct sp_span line)
{
    sp_hang_item(&r->banner, line);
    if (sp_hang_starts(line, "Timeline format"))
        r->timeline = true;
}

bool sp_spindump_header_line(struct spindump_reader *r, struct sp_span line)
{
    struct sp_span key, value, text = sp_hang_trim(line);
    if (spindump_is_dashes(text)) {
        r->in_banner = !r->in_banner;
    } else if (r->in_banner || sp_hang_starts(text, "Heavy format") ||
               sp_hang_starts(text, "Timeline format")) {
        spindump_banner_line(r, text);
    } else if (!r->ips.p && !r->fields.len && *text.p == '{') {
        r->ips = line;
    } else {
        sp_hang_comma(&r->fields);
        sp_buf_ch(&r->fields, '[');
        if (sp_spindump_key_value(line, &key, &value)) {
            sp_hang_item(&r->fields, key);
            sp_hang_item(&r->fields, value);
            spindump_header_field(r, key, value);
        } else {
            int n = line.n > 80 ? 80 : (int)line.n;
            sp_emit(r->d, SP_W515, sp_spindump_here(r, line.p), "no field of the header: \"%.*s\"", n,
                    line.p);
            sp_buf_puts(&r->fields, "\"\"");
            sp_hang_item(&r->fields, line);
        }
        sp_buf_ch(&r->fields, ']');
    }
    return !r->fields.failed && !r->banner.failed;
}

static bool spindump_ns_text(struct spindump_reader *r, int64_t ns, uint32_t *out)
{
    char t[32];
    *out = sp_profile_str(r->p, t, sp_ns_seconds(ns, t));
    return *out != SP_STR_FAIL;
}

static bool spindump_set_text(struct spindump_reader *r, struct sp_span s, uint32_t *out)
{
    if (s.n)
        *out = sp_hang_str(r->p, s);
    return *out != SP_STR_FAIL;
}

static bool spindump_times(struct spindump_reader *r)
{
    struct sp_header *h = &r->p->header;
    int64_t from, to, ns;
    size_t n = sp_hang_seconds(r->duration, &ns);
    if (n && !spindump_ns_text(r, ns, &h->duration))
        return false;
    if (!sp_spindump_date(r->begin, &from) || !sp_spindump_date(r->finish, &to) || to < from)
        return true;
    h->time_unit = sp_profile_cstr(r->p, "seconds");
    h->clock = sp_profile_cstr(r->p, "realtime");
    return h->time_unit != SP_STR_FAIL && h->clock != SP_STR_FAIL &&
           spindump_ns_text(r, from, &h->time_start) && spindump_ns_text(r, to, &h->time_end);
}

/* The sampling frequency in hertz, from the interval. */
static bool spindump_frequency(struct spindump_reader *r)
{
    struct sp_event *e = &r->p->events.v[r->event];
    char t[64];
    if (!r->interval_ns)
        return true;
    size_t n = sp_scaled_text((__int128)1000000000 * 1000000 / r->interval_ns, 6, t);
    e->frequency_hz = sp_profile_str(r->p, t, n);
    return e->frequency_hz != SP_STR_FAIL;
}

static bool spindump_header_extra(struct spindump_reader *r)
{
    struct sp_buf *b = &r->buf;
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_spindump\":{\"fields\":[");
    sp_buf_add(b, r->fields.data, r->fields.len);
    sp_buf_puts(b, r->timeline ? "],\"form\":\"timeline\"" : "],\"form\":\"heavy\"");
    if (r->interval_ns)
        sp_hang_number(b, "interval_ns", r->interval_ns);
    if (r->processes && r->microstackshots == r->processes)
        sp_buf_puts(b, ",\"microstackshots\":true");
    if (r->ips.n)
        sp_hang_member(b, "ips", r->ips);
    sp_buf_ch(b, '}');
    r->p->header.extra_json =
        b->failed || r->fields.failed ? SP_STR_FAIL : sp_profile_str(r->p, b->data, b->len);
    sp_buf_clear(b);
    return r->p->header.extra_json != SP_STR_FAIL;
}

static bool spindump_banner_record(struct spindump_reader *r)
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

spaa_status sp_spindump_finish_header(struct spindump_reader *r)
{
    struct sp_header *h = &r->p->header;
    uint64_t cpus;
    h->version = sp_profile_cstr(r->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(r->p, "spindump");
    h->has_x_spaa = true;
    h->frames = r->frames.frames;
    h->group_by = r->opts->group_by & (SP_BY_DEFAULT | SP_BY_STATE);
    if (r->cpus.n && sp_parse_u64(r->cpus.p, r->cpus.p + r->cpus.n, &cpus) == r->cpus.n &&
        (*r->cpus.p != '0' || r->cpus.n == 1) && !spindump_set_text(r, r->cpus, &h->host.cpus))
        return sp_nomem(r->d);
    bool ok = h->version != SP_STR_FAIL && h->tool != SP_STR_FAIL &&
              spindump_set_text(r, r->version, &h->tool_version) &&
              spindump_set_text(r, r->os, &h->host.os) && spindump_set_text(r, r->arch, &h->host.arch) &&
              spindump_times(r) && spindump_frequency(r) && spindump_header_extra(r) &&
              spindump_banner_record(r);
    return ok ? SPAA_OK : sp_nomem(r->d);
}
