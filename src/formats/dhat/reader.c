/* Reads dhat.out (dhat.h): the object, and what it says as a whole. */
#include "base/num.h"
#include "formats/dhat/dhat.h"

#include <string.h>

#define DHAT_VERSION_MAX 2u
#define DHAT_FRAMES_MAX  ((size_t)1 << 27)

static const struct sp_vg_metric heap_metrics[SP_DHAT_ALL_METRICS] = {
    {"alloc_bytes", "bytes"},     {"alloc_count", "count"},        {"free_bytes", "bytes"},
    {"free_count", "count"},      {"live_bytes", "bytes"},         {"live_count", "count"},
    {"peak_bytes", "bytes"},      {"x_peak_count", "count"},       {"x_max_bytes", "bytes"},
    {"x_max_count", "count"},     {"x_lifetime", "instructions"},  {"x_read_bytes", "bytes"},
    {"x_written_bytes", "bytes"}, {"x_never_read_bytes", "bytes"}, {"x_never_written_bytes", "bytes"}};
static const struct sp_vg_metric copy_metrics[] = {{"x_copied_bytes", "bytes"}, {"count", "count"}};
static const struct sp_vg_metric ad_hoc_metrics[] = {{"x_units", "units"}, {"count", "count"}};

/* ---- the object ---- */

static bool dhat_text(struct sp_dhat *x, struct sp_json *j, uint32_t *out)
{
    struct sp_span s;
    if (!sp_json_string_value(j, &s))
        return false;
    *out = sp_profile_text(x->p, s.p, s.n);
    return *out != SP_STR_FAIL || sp_json_fail(j, "out of memory");
}

/* Items that are no frames keep their numbers. */
static bool dhat_table(struct sp_dhat *x, struct sp_json *j)
{
    if (!sp_json_array(j))
        return false;
    while (sp_json_item(j)) {
        struct sp_span s;
        struct sp_vg_frame f;
        struct sp_vg_place place;
        if (!sp_json_string_value(j, &s))
            return false;
        bool ok = s.n <= UINT32_MAX && sp_vg_frame(s.p, s.n, &f) ? sp_vg_place(&x->vg, &f, &place)
                                                                 : sp_vg_mark(&x->vg, "", &place);
        if (ok && place.mark) {
            place.name = sp_profile_text(x->p, s.p, s.n < 65536 ? s.n : 65536);
            ok = place.name != SP_STR_FAIL;
        }
        if (!ok || x->table.n >= DHAT_FRAMES_MAX || !sp_vec_push(&x->table, place))
            return sp_json_fail(j, "out of memory");
    }
    return !j->error;
}

static bool dhat_mode(struct sp_dhat *x, struct sp_json *j)
{
    static const char *const names[] = {"heap", "copy", "ad-hoc", "rust-heap", "rust-ad-hoc", NULL};
    static const enum sp_dhat_mode modes[] = {SP_DHAT_IS_HEAP, SP_DHAT_IS_COPY, SP_DHAT_IS_AD_HOC,
                                              SP_DHAT_IS_HEAP, SP_DHAT_IS_AD_HOC};
    if (!dhat_text(x, j, &x->mode_name))
        return false;
    struct sp_str s = sp_pstr(x->p, x->mode_name);
    int mode = sp_name_index(names, s.p, s.n);
    x->has_mode = mode >= 0;
    x->mode = mode >= 0 ? modes[mode] : SP_DHAT_IS_HEAP;
    return true;
}

static bool dhat_member(struct sp_dhat *x, struct sp_json *j, struct sp_span key)
{
    struct sp_span raw;
    if (sp_span_is(key, "dhatFileVersion"))
        return sp_json_u64(j, &x->version);
    if (sp_span_is(key, "mode"))
        return dhat_mode(x, j);
    if (sp_span_is(key, "bklt"))
        return sp_json_bool(j, &x->lifetimes);
    if (sp_span_is(key, "bkacc"))
        return sp_json_bool(j, &x->accesses);
    if (sp_span_is(key, "verb"))
        return dhat_text(x, j, &x->verb);
    if (sp_span_is(key, "tu"))
        return dhat_text(x, j, &x->unit);
    if (sp_span_is(key, "cmd"))
        return dhat_text(x, j, &x->command);
    if (sp_span_is(key, "pid"))
        return x->has_pid = sp_json_u64(j, &x->pid);
    if (sp_span_is(key, "te"))
        return x->has_te = sp_json_u64(j, &x->te);
    if (sp_span_is(key, "tg"))
        return x->has_tg = sp_json_u64(j, &x->tg);
    if (sp_span_is(key, "ftbl"))
        return dhat_table(x, j);
    if (!sp_span_is(key, "pps"))
        return sp_json_skip(j, &raw);
    if (!sp_json_skip(j, &x->pps))
        return false;
    x->pps_at = (size_t)(x->pps.p - j->start);
    return true;
}

/* ---- the profile ---- */

static bool dhat_declare(struct sp_dhat *x)
{
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT};
    struct sp_str unit = sp_pstr(x->p, x->unit);
    bool heap = x->mode == SP_DHAT_IS_HEAP;
    x->event.name = heap ? "malloc" : x->mode == SP_DHAT_IS_COPY ? "copy" : "ad-hoc";
    x->event.kind = heap ? SP_ALLOCATION : SP_PROBE;
    x->event.allocation_tracking =
        heap ? "{\"tracks_frees\":true,\"has_timestamps\":false,\"x_peak\":\"of_total\"}" : NULL;
    x->event.metrics = heap ? x->metrics : x->mode == SP_DHAT_IS_COPY ? copy_metrics : ad_hoc_metrics;
    if (x->version == 1) /* had this mode alone, and watched both */
        x->lifetimes = x->accesses = true;
    x->event.nmetrics = !heap || !x->lifetimes ? 2 : x->accesses ? SP_DHAT_ALL_METRICS : SP_DHAT_HEAP_METRICS;
    memcpy(x->metrics, heap_metrics, sizeof x->metrics);
    if (sp_str_is(unit, "\xc2\xb5s"))
        x->metrics[SP_DHAT_LIFETIME].unit = "us";
    if (!sp_vg_declare(&x->vg, &x->event))
        return false;
    for (int i = SP_DHAT_MAX_BYTES; x->event.nmetrics > 2 && i <= SP_DHAT_MAX_COUNT; i++)
        sp_metric_combine(x->p, x->event.metric[i], SP_OP_NONE);
    x->context = sp_context_intern(x->p, &c);
    return x->context != SP_NONE;
}

static void dhat_member_text(const struct sp_dhat *x, struct sp_buf *b, const char *key, uint32_t text)
{
    struct sp_str s = sp_pstr(x->p, text);
    if (!s.n)
        return;
    sp_buf_printf(b, ",\"%s\":", key);
    sp_json_string(b, s.p, s.n);
}

/* te and tg are in the unit of time: instructions of valgrind, microseconds of dhat-rs. */
static bool dhat_header(struct sp_dhat *x)
{
    struct sp_buf b;
    char t[64];
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "\"x_dhat\":{\"version\":%llu", (unsigned long long)x->version);
    dhat_member_text(x, &b, "mode", x->mode_name);
    dhat_member_text(x, &b, "verb", x->verb);
    dhat_member_text(x, &b, "time_unit", x->unit);
    if (x->has_te)
        sp_buf_printf(&b, ",\"end\":%llu", (unsigned long long)x->te);
    if (x->has_tg)
        sp_buf_printf(&b, ",\"peak\":%llu", (unsigned long long)x->tg);
    if (x->has_pid)
        sp_buf_printf(&b, ",\"pid\":%llu", (unsigned long long)x->pid);
    sp_buf_ch(&b, '}');
    bool ok = sp_vg_header(&x->vg, sp_pstr(x->p, x->command), &b);
    sp_buf_free(&b);
    if (ok && x->has_te && sp_str_is(sp_pstr(x->p, x->unit), "\xc2\xb5s")) {
        x->p->header.duration = sp_profile_str(x->p, t, sp_scaled_text(x->te, 6, t));
        ok = x->p->header.duration != SP_STR_FAIL;
    }
    return ok;
}

static spaa_status dhat_judge(struct sp_dhat *x, const struct sp_json *j, size_t n)
{
    bool cut = j->error && j->error_at >= n;
    if (j->error && strcmp(j->error, "out of memory") == 0)
        return sp_nomem(x->d);
    if (x->version > DHAT_VERSION_MAX || (x->pps.p && !x->version)) {
        sp_emit(x->d, SP_E009, SP_AT_NOTHING, "version %llu of DHAT's format; known are 1 and %u",
                (unsigned long long)x->version, DHAT_VERSION_MAX);
        return SPAA_ERR_INPUT;
    }
    if (!x->pps.p || !x->table.n) {
        sp_emit(x->d, sp_json_at_limit(j) ? SP_E007 : SP_E010, SP_AT(j->error ? j->error_at : 0), "%s",
                x->pps.p || cut ? "it ends before its table of frames, which names everything"
                : j->error      ? j->error
                                : "it has no program points");
        return SPAA_ERR_INPUT;
    }
    if (j->error) {
        sp_emit(x->d, cut ? SP_L301 : SP_L300, SP_AT(j->error_at), "%s", j->error);
        return x->opts->strict ? SPAA_ERR_INPUT : SPAA_OK;
    }
    if (!x->has_mode && x->version > 1)
        sp_emit(x->d, SP_W311, SP_AT_NOTHING, "a mode that is not known: read as `heap`");
    return SPAA_OK;
}

static spaa_status dhat_parse(struct sp_dhat *x, struct sp_input *in)
{
    const unsigned char *bytes;
    struct sp_json j;
    struct sp_span key;
    size_t n;
    spaa_status st = sp_input_whole(in, &bytes, &n);
    if (st)
        return st;
    sp_json_init(&j, (const char *)bytes, n);
    bool ok = sp_json_object(&j);
    while (ok && sp_json_key(&j, &key))
        ok = dhat_member(x, &j, key);
    if (ok)
        sp_json_end(&j);
    st = dhat_judge(x, &j, n);
    sp_json_free(&j);
    return st;
}

static spaa_status dhat_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                             struct sp_profile *p)
{
    struct sp_dhat x = {.p = p, .d = d, .opts = opts};
    spaa_status st = sp_vg_init(&x.vg, p, opts) ? dhat_parse(&x, in) : sp_nomem(d);
    if (!st && !dhat_declare(&x))
        st = sp_nomem(d);
    if (!st)
        st = sp_dhat_points(&x);
    if (!st && !dhat_header(&x))
        st = sp_nomem(d);
    if (!st && x.untold)
        sp_emit(d, SP_L300, SP_AT_NOTHING, "%llu frames are not in the table of frames",
                (unsigned long long)x.untold);
    if (!st)
        sp_vg_say(&x.vg, d);
    if (!st && !x.points) {
        sp_emit(d, SP_E011, SP_AT_NOTHING, "the file has no program point");
        st = SPAA_ERR_INPUT;
    }
    sp_vec_free(&x.table);
    sp_vec_free(&x.path);
    sp_vg_free(&x.vg);
    return st;
}

/* {"dhatFileVersion":2 */
static int dhat_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    static const char key[] = "\"dhatFileVersion\"";
    size_t i = 0;
    (void)whole;
    while (i < n && strchr(" \t\r\n", p[i]) && p[i])
        i++;
    if (i == n || p[i] != '{')
        return 0;
    for (i++; i < n && strchr(" \t\r\n", p[i]) && p[i]; i++)
        ;
    if (n - i < sizeof key || memcmp(p + i, key, sizeof key - 1) != 0)
        return 0;
    *reason = "JSON that begins with a dhatFileVersion";
    return 98;
}

const struct spaa_format spaa_format_dhat = {
    .name = "dhat",
    .title = "dhat.out of valgrind's DHAT, and of the crate dhat",
    .extensions = "dhat dhat.json dhat.out dhat-heap.json",
    .media_type = "application/json",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ,
    .probe = dhat_probe,
    .read = dhat_read,
};
