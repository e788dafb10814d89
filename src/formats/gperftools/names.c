/*
 * Go's comments. Behind a stack, a line for each of its functions, the address being that of the call,
 * several lines of one address where functions are inlined; before that, perhaps, the labels of the
 * goroutines:
 *
 *     1 @ 0x43b0d6 0x4a1e25
 *     # labels: {"route":"/x"}
 *     #	0x4a1e24	main.work+0x44	/src/main.go:12
 */
#include "base/num.h"
#include "formats/gperftools/gperftools.h"
#include "model/labels.h"
#include "json/json.h"

/* "0x4a1e24 main.work+0x44 /src/main.go:12", in columns that tabs separate. */
static spaa_status gperftools_named_frame(struct sp_gp *gp, const char *p, const char *end, bool *known)
{
    uint64_t addr;
    size_t n = sp_parse_hex(p + 2, end, &addr);
    *known = n && (p + 2 + n == end || p[2 + n] == '\t' || p[2 + n] == ' ');
    p = sp_mapped_blank(p + 2 + n, end);
    if (!*known || p == end) /* no name is known */
        return SPAA_OK;
    const char *tab = memchr(p, '\t', (size_t)(end - p));
    struct sp_str func = sp_mapped_trim(p, (size_t)((tab ? tab : end) - p)), file = {"", 0};
    if (tab)
        file = sp_mapped_trim(tab, (size_t)(end - tab));
    for (uint32_t i = func.n; i-- > 1;)
        if (func.p[i] == '+' && func.n - i > 2 && func.p[i + 1] == '0' && func.p[i + 2] == 'x') {
            func.n = i;
            break;
        }
    return sp_mapped_name(&gp->m, addr, func, file, (struct sp_str){"", 0});
}

/* {"key":"value"} as a JSON object makes the last row's context. */
static spaa_status gperftools_name_labels(struct sp_gp *gp, struct sp_str s, bool *known)
{
    struct sp_json j;
    struct sp_span raw;
    struct sp_label_list list = {0};
    if (!gp->m.rows.n || !s.n || *s.p != '{')
        return SPAA_OK;
    sp_json_init(&j, s.p, s.n);
    *known = sp_json_skip(&j, &raw) && sp_json_end(&j);
    bool nomem = j.error && strcmp(j.error, "out of memory") == 0;
    sp_json_free(&j);
    if (nomem)
        return sp_nomem(gp->d);
    if (!*known)
        return SPAA_OK;
    bool ok = sp_labels_parse(gp->p, raw, 0, &list);
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = gp->event};
    c.labels = ok ? sp_labels_intern(gp->p, list.list.v, list.list.n) : SP_NONE;
    sp_vec_free(&list.list);
    uint32_t context = c.labels == SP_NONE ? SP_NONE : sp_context_intern(gp->p, &c);
    if (context == SP_NONE)
        return sp_nomem(gp->d);
    gp->m.rows.v[gp->m.rows.n - 1].context = context;
    return SPAA_OK;
}

static spaa_status gperftools_keep_name(struct sp_gp *gp, struct sp_str s)
{
    struct sp_buf *b = &gp->comments;
    if (!s.n || gp->comments_cut)
        return SPAA_OK;
    if (b->len + s.n > SP_GP_COMMENTS) {
        gp->comments_cut = true;
        sp_emit(gp->d, SP_L768, sp_gp_here(gp), "more than %zu bytes of comments; the others were left out",
                SP_GP_COMMENTS);
        return SPAA_OK;
    }
    if (b->len)
        sp_buf_ch(b, ',');
    return sp_json_string(b, s.p, s.n) ? SPAA_OK : sp_nomem(gp->d);
}

spaa_status sp_gp_comment(struct sp_gp *gp, struct sp_str s)
{
    struct sp_str text = sp_mapped_trim(s.p + 1, s.n - 1);
    bool known = false;
    spaa_status st = SPAA_OK;
    if (text.n > 2 && text.p[0] == '0' && text.p[1] == 'x')
        st = gperftools_named_frame(gp, text.p, text.p + text.n, &known);
    else
        sp_mapped_close_name(&gp->m);
    if (!known && !st && sp_gp_starts(text, "labels:"))
        st = gperftools_name_labels(gp, sp_mapped_trim(text.p + 7, text.n - 7), &known);
    return known || st ? st : gperftools_keep_name(gp, text);
}
