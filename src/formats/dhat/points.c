/* Program points of DHAT become stacks: see dhat.h. */
#include "base/watch.h"
#include "formats/dhat/dhat.h"

#include <string.h>

#define DHAT_UNTOLD "[a frame that the file does not have]"

enum { TB, TBK, TL, MB, MBK, GB, GBK, EB, EBK, RB, WB, DHAT_KEYS };
static const char *const dhat_keys[] = {"tb",  "tbk", "tl",  "mb", "mbk", "gb",
                                        "gbk", "eb",  "ebk", "rb", "wb",  NULL};

struct dhat_point {
    int64_t v[DHAT_KEYS];
    bool has[DHAT_KEYS];
    struct sp_span acc;
};

static bool dhat_frames(struct sp_dhat *x, struct sp_json *j)
{
    uint64_t number;
    if (!sp_json_array(j))
        return false;
    while (sp_json_item(j)) {
        struct sp_vg_place place;
        if (!sp_json_u64(j, &number))
            return false;
        if (number < x->table.n) {
            place = x->table.v[number];
        } else {
            x->untold++;
            if (!sp_vg_mark(&x->vg, DHAT_UNTOLD, &place))
                return sp_json_fail(j, "out of memory");
        }
        if (!sp_vec_push(&x->path, place))
            return sp_json_fail(j, "out of memory");
    }
    return !j->error;
}

static bool dhat_parse_point(struct sp_dhat *x, struct sp_json *j, struct dhat_point *out)
{
    struct sp_span key, raw;
    *out = (struct dhat_point){0};
    x->path.n = 0;
    if (!sp_json_object(j))
        return false;
    while (sp_json_key(j, &key)) {
        int number = sp_name_index(dhat_keys, key.p, key.n);
        uint64_t v = 0;
        bool ok = number >= 0              ? sp_json_u64(j, &v) && v <= INT64_MAX
                  : sp_span_is(key, "fs")  ? dhat_frames(x, j)
                  : sp_span_is(key, "acc") ? sp_json_skip(j, &out->acc)
                                           : sp_json_skip(j, &raw);
        if (!ok)
            return false;
        if (number >= 0) {
            out->v[number] = (int64_t)v;
            out->has[number] = true;
        }
    }
    return sp_json_end(j) && out->has[TB] && out->has[TBK];
}

/* The layout without what does not add; SP_NONE: out of memory. */
static uint32_t dhat_adding(struct sp_dhat *x)
{
    struct sp_weight_field fields[SP_VG_METRICS];
    const struct sp_layout l = x->p->layouts.v[x->event.layout];
    size_t n = 0;
    for (uint32_t i = 0; i < l.n; i++)
        if (x->event.nmetrics <= 2 || (i != SP_DHAT_MAX_BYTES && i != SP_DHAT_MAX_COUNT))
            fields[n++] = x->p->layout_fields.v[l.first + i];
    return sp_layout_intern(x->p, fields, n);
}

/* Where two program points are one stack, the most that was live of both at once is not known. */
static bool dhat_forget(struct sp_dhat *x, uint32_t stack)
{
    uint32_t layout = dhat_adding(x);
    if (layout == SP_NONE)
        return false;
    for (int i = SP_DHAT_MAX_BYTES; x->event.nmetrics > 2 && i <= SP_DHAT_MAX_COUNT; i++)
        x->p->columns[x->event.metric[i]].v[stack] = SP_ABSENT;
    sp_stack_set_layout(x->p, stack, layout);
    x->p->stacks.v[stack].extra_json = SP_STR_NONE;
    return true;
}

static bool dhat_accesses(struct sp_dhat *x, uint32_t stack, struct sp_span acc)
{
    struct sp_buf b;
    if (!acc.n || (x->opts->frames != SP_FRAMES_FOREIGN && x->opts->frames != SP_FRAMES_ADDRESS))
        return true;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, "\"x_dhat\":{\"acc\":");
    bool ok = sp_json_minify(&b, acc);
    sp_buf_ch(&b, '}');
    uint32_t s = !ok || b.failed ? SP_STR_FAIL : sp_profile_str(x->p, b.data, b.len);
    sp_buf_free(&b);
    if (s != SP_STR_FAIL)
        x->p->stacks.v[stack].extra_json = s;
    return s != SP_STR_FAIL;
}

static bool dhat_weigh(struct sp_dhat *x, uint32_t stack, const int64_t *k)
{
    const int64_t v[SP_DHAT_ALL_METRICS] = {k[TB],
                                            k[TBK],
                                            k[TB] - k[EB],
                                            k[TBK] - k[EBK],
                                            k[EB],
                                            k[EBK],
                                            k[GB],
                                            k[GBK],
                                            k[MB],
                                            k[MBK],
                                            k[TL],
                                            k[RB],
                                            k[WB],
                                            k[RB] ? 0 : k[TB],
                                            k[WB] ? 0 : k[TB]};
    for (size_t i = 0; i < x->event.nmetrics; i++)
        if (!sp_weight_add(x->p, stack, x->event.metric[i], v[i]))
            return false;
    return true;
}

static spaa_status dhat_add_point(struct sp_dhat *x, const struct dhat_point *pt)
{
    size_t before = x->p->stacks.n;
    uint32_t stack = sp_vg_stack(&x->vg, x->path.v, x->path.n, x->context, x->event.layout);
    if (stack == SP_NONE || !dhat_weigh(x, stack, pt->v))
        return sp_nomem(x->d);
    x->points++;
    if (stack < before)
        return dhat_forget(x, stack) ? SPAA_OK : sp_nomem(x->d);
    return dhat_accesses(x, stack, pt->acc) ? SPAA_OK : sp_nomem(x->d);
}

static spaa_status dhat_bad_point(struct sp_dhat *x, size_t at)
{
    x->bad++;
    sp_emit(x->d, SP_L302, SP_AT(at), "a program point that is not understood");
    return x->opts->strict ? SPAA_ERR_INPUT : SPAA_OK;
}

spaa_status sp_dhat_points(struct sp_dhat *x)
{
    struct sp_json list, one;
    struct sp_span raw;
    struct dhat_point pt;
    spaa_status st = SPAA_OK;
    sp_json_init(&list, x->pps.p, x->pps.n);
    sp_json_init(&one, "", 0);
    bool array = sp_json_array(&list);
    for (uint64_t i = 0; !st && array && sp_json_item(&list) && sp_json_skip(&list, &raw); i++) {
        if (sp_leaving(x->d, i)) {
            st = SPAA_ERR_CANCELLED;
            break;
        }
        sp_json_reset(&one, raw.p, raw.n);
        bool ok = dhat_parse_point(x, &one, &pt);
        if (!ok && one.error && strcmp(one.error, "out of memory") == 0)
            st = sp_nomem(x->d);
        else
            st = ok ? dhat_add_point(x, &pt) : dhat_bad_point(x, x->pps_at + (size_t)(raw.p - x->pps.p));
    }
    sp_json_free(&list);
    sp_json_free(&one);
    return st;
}
