/*
 * Reads a V8 heap profile (heapprofile.h) as one event, `v8-heap`: live_bytes of each node's call path, and
 * how many sampled objects that is estimated from (samples).
 */
#include "base/hash.h"
#include "base/map.h"
#include "base/num.h"
#include "formats/common/text/json_file.h"
#include "formats/heapprofile/heapprofile.h"

struct v8_reader {
    struct sp_v8_tree t;
    const struct sp_read_opts *opts;
    uint32_t event, bytes, samples, context;
    uint32_t layout, counted; /* of stacks that samples are known of: both metrics */
    size_t frames_max;
    uint64_t stray;      /* samples of nodes that are not in the tree, */
    int64_t stray_bytes; /* and their sizes */
    SP_VEC(uint32_t) path;
};

/* ---- samples ---- */

/* The first node of that id, and where the map would have it; SP_MAP_NONE: there is none. */
static uint32_t v8_node_of(const struct v8_reader *r, const struct sp_map *ids, uint64_t id,
                           struct sp_probe *at)
{
    uint32_t n;
    *at = sp_map_probe(ids, sp_hash_mix(id, 7));
    while ((n = sp_map_next(ids, at)) != SP_MAP_NONE)
        if (r->t.nodes.v[n].id == id)
            break;
    return n;
}

/* How many samples each node has. */
static bool v8_count(struct v8_reader *r)
{
    struct sp_map ids = {0};
    struct sp_probe at;
    bool ok = sp_map_grow(&ids, r->t.samples.n ? r->t.nodes.n : 0);
    for (uint32_t i = 0; ok && r->t.samples.n && i < r->t.nodes.n; i++)
        if (v8_node_of(r, &ids, r->t.nodes.v[i].id, &at) == SP_MAP_NONE)
            ok = sp_map_add_at(&ids, &at, i);
    for (size_t i = 0; ok && i < r->t.samples.n; i++) {
        const struct sp_v8_sample *s = &r->t.samples.v[i];
        uint32_t n = v8_node_of(r, &ids, s->node, &at);
        if (n == SP_MAP_NONE) {
            r->stray++;
            if (__builtin_add_overflow(r->stray_bytes, s->size, &r->stray_bytes))
                r->stray_bytes = INT64_MAX;
            continue;
        }
        int64_t *count = &r->t.nodes.v[n].samples;
        *count = *count == SP_ABSENT ? 1 : *count + 1;
    }
    sp_map_free(&ids);
    return ok;
}

/* ---- stacks ---- */

static bool v8_declare(struct v8_reader *r)
{
    struct sp_profile *p = r->t.p;
    struct sp_event e = {.kind = SP_ALLOCATION, .mode = SP_PERIOD};
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT};
    uint32_t unit = sp_profile_cstr(p, "bytes");
    e.name = sp_profile_cstr(p, "v8-heap");
    e.unit = unit;
    e.allocation_tracking = sp_profile_cstr(p, "{\"tracks_frees\":true,\"has_timestamps\":false}");
    e.primary = r->bytes = sp_metric_intern(p, "live_bytes", 10);
    r->samples = r->t.has_samples ? sp_metric_intern(p, "samples", 7) : SP_NONE;
    if (e.name == SP_STR_FAIL || unit == SP_STR_FAIL || e.allocation_tracking == SP_STR_FAIL ||
        r->bytes == SP_NONE || (r->t.has_samples && r->samples == SP_NONE))
        return false;
    c.event = r->event = sp_event_add(p, &e);
    r->context = r->event == SP_NONE ? SP_NONE : sp_context_intern(p, &c);
    r->layout = r->counted = sp_layout_simple(p, r->bytes, unit, SP_NONE, SP_STR_NONE);
    if (r->t.has_samples)
        r->counted = sp_layout_simple(p, r->samples, SP_STR_NONE, r->bytes, unit);
    return r->context != SP_NONE && r->layout != SP_NONE && r->counted != SP_NONE;
}

static spaa_status v8_stack(struct v8_reader *r, const struct sp_v8_node *node)
{
    struct sp_profile *p = r->t.p;
    bool is_new;
    r->path.n = 0;
    for (const struct sp_v8_node *n = node;; n = &r->t.nodes.v[n->parent]) {
        if (n->frame != SP_NONE && !sp_vec_push(&r->path, n->frame))
            return sp_nomem(r->t.d);
        if (n->parent == SP_NONE)
            break;
    }
    uint32_t s = sp_stack_intern(p, r->path.v, r->path.n, r->context, SP_UNIFIED, &is_new);
    if (s == SP_NONE)
        return sp_nomem(r->t.d);
    if (is_new || node->samples != SP_ABSENT)
        sp_stack_set_layout(p, s, node->samples != SP_ABSENT ? r->counted : r->layout);
    bool ok = sp_weight_add(p, s, r->bytes, node->self) &&
              (node->samples == SP_ABSENT || sp_weight_add(p, s, r->samples, node->samples));
    return ok ? SPAA_OK : sp_nomem(r->t.d);
}

/* What all stacks come to, before the first is made. */
static spaa_status v8_measure(struct v8_reader *r)
{
    size_t n = r->t.nodes.n, sum = 0;
    uint32_t *depth = calloc(n + 1, sizeof *depth);
    if (!depth)
        return sp_nomem(r->t.d);
    for (size_t i = 0; i < n; i++) { /* a parent stands before its children */
        const struct sp_v8_node *x = &r->t.nodes.v[i];
        depth[i] = (x->parent == SP_NONE ? 0 : depth[x->parent]) + (x->frame != SP_NONE);
        sum += x->self > 0 ? depth[i] : 0;
    }
    free(depth);
    if (sum <= r->frames_max)
        return SPAA_OK;
    return sp_json_too_many_frames(r->t.d, SP_AT_NOTHING, r->frames_max,
                                   "a tree this deep with memory at every level is no profile");
}

static spaa_status v8_stacks(struct v8_reader *r)
{
    spaa_status st = v8_measure(r);
    if (!st && (!v8_declare(r) || !v8_count(r)))
        st = sp_nomem(r->t.d);
    for (size_t i = 0; !st && i < r->t.nodes.n; i++)
        if (r->t.nodes.v[i].self > 0)
            st = v8_stack(r, &r->t.nodes.v[i]);
    return st;
}

/* ---- the header ---- */

static spaa_status v8_header(struct v8_reader *r)
{
    struct sp_profile *p = r->t.p;
    struct sp_header *h = &p->header;
    struct sp_buf b;
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(p, r->t.calls.node_seen ? "node" : "v8");
    h->has_x_spaa = true;
    h->frames = r->opts->frames ? r->opts->frames : SP_FRAMES_ADDRESS;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "\"x_v8\":{\"nodes\":%zu", r->t.nodes.n);
    if (r->t.has_samples)
        sp_buf_printf(&b, ",\"samples\":%zu", r->t.samples.n);
    if (r->stray)
        sp_buf_printf(&b, ",\"samples_of_no_node\":%llu,\"bytes_of_no_node\":%lld",
                      (unsigned long long)r->stray, (long long)r->stray_bytes);
    sp_buf_ch(&b, '}');
    h->extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(p, b.data, b.len);
    sp_buf_free(&b);
    return h->version == SP_STR_FAIL || h->source_tool == SP_STR_FAIL || h->extra_json == SP_STR_FAIL
               ? sp_nomem(r->t.d)
               : SPAA_OK;
}

/* What the numbers are, which the file does not say; of objects made while it was written, only if they are
 * many. */
static void v8_say(const struct v8_reader *r)
{
    int64_t whole = 0;
    sp_emit_hint(r->t.d, SP_I322, SP_AT_NOTHING, "node --no-opt or --no-turbo-inlining keeps these apart",
                 "bytes are estimates from samples, without Buffers; what V8 inlined counts as its caller's");
    for (size_t i = 0; i < r->t.nodes.n; i++)
        if (__builtin_add_overflow(whole, r->t.nodes.v[i].self, &whole))
            return;
    if (r->stray && r->stray_bytes > whole / 20)
        sp_emit(r->t.d, SP_I321, SP_AT_NOTHING,
                "%llu samples (%lld bytes) of objects made while the profile was written",
                (unsigned long long)r->stray, (long long)r->stray_bytes);
}

static spaa_status v8_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                           struct sp_profile *p)
{
    const unsigned char *text;
    size_t n;
    spaa_status st = sp_input_whole(in, &text, &n);
    if (st)
        return st;
    struct v8_reader r = {.t = {.p = p, .d = d, .in = in}, .opts = opts};
    r.frames_max = sp_json_frames_max(n);
    sp_buf_init(&r.t.call.name, 0);
    sp_buf_init(&r.t.call.url, 0);
    sp_v8_calls_init(&r.t.calls, p, opts->frames);
    st = sp_v8_read_tree(&r.t, (struct sp_span){(const char *)text, n});
    if (st == SPAA_ERR_INPUT && !opts->strict && r.t.nodes.n)
        st = SPAA_OK;
    if (!st && !r.t.has_head) {
        sp_emit(d, SP_E011, SP_AT_NOTHING, "the profile has no tree (`head`)");
        st = SPAA_ERR_INPUT;
    }
    if (!st)
        st = v8_stacks(&r);
    if (!st)
        st = v8_header(&r);
    if (!st)
        v8_say(&r);
    sp_vec_free(&r.path);
    sp_v8_free_tree(&r.t);
    return st;
}

/* Every such file begins with the call frame of its root; what was edited may have it elsewhere. */
static int v8_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    (void)whole;
    *reason = "a tree of V8's call frames with their sizes";
    if (!sp_begins_json_object(p, n) || !memmem(p, n, "\"head\"", 6))
        return 0;
    return memmem(p, n, "\"callFrame\"", 11) && memmem(p, n, "\"selfSize\"", 10) ? 95 : 0;
}

const struct spaa_format spaa_format_heapprofile = {
    .name = "heapprofile",
    .title = "V8 sampling heap profile (node --heap-prof, Chrome)",
    .extensions = "heapprofile",
    .media_type = "application/json",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ,
    .probe = v8_probe,
    .read = v8_read,
};
