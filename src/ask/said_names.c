#include "ask/said_names.h"

#include "analysis/short_name.h"

#include <stdlib.h>
#include <string.h>

enum { LONG_NAME = 64 }; /* bytes: beyond, a line may not have room for it */

bool sp_said_add(struct sp_said_names *n, uint32_t function)
{
    if (function == SP_NONE)
        return true;
    size_t had = n->at.n;
    if (function >= had) {
        size_t most = function < had * 2 ? had * 2 : (size_t)function + 1;
        if (!sp_vec_reserve(&n->at, most))
            return false;
        memset(n->at.v + had, 0, (most - had) * sizeof *n->at.v);
        n->at.n = most;
    }
    if (n->at.v[function])
        return true;
    n->at.v[function] = (uint32_t)n->list.n + 1;
    return sp_vec_push(&n->list, ((struct sp_said_name){function, SP_STR_NONE, SP_STR_NONE, false}));
}

/* The name as it is; for people with what tells it from others of its binary. */
static bool said_whole(struct sp_said_names *n, const struct sp_asked *x, struct sp_said_name *one)
{
    const struct sp_profile *p = x->s.profile;
    struct sp_str name = sp_pstr(p, p->functions.v[one->function].name);
    struct sp_buf b;
    sp_buf_init(&b, 0);
    if (x->q->brief && x->has_names)
        sp_full_name_put(&b, &x->names, one->function);
    else
        sp_buf_add(&b, name.p, name.n);
    one->whole = b.failed ? SP_STR_FAIL : sp_intern(&n->texts, b.len ? b.data : "", b.len);
    sp_buf_free(&b);
    return one->whole != SP_STR_FAIL;
}

/* With its handle, as long as it takes. */
static bool said_set(struct sp_said_names *n, const struct sp_asked *x, struct sp_said_name *one,
                     enum sp_shortness how, bool with_handle)
{
    struct sp_str whole = sp_str_at(&n->texts, one->whole);
    char handle[32];
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_short_name(&b, whole.p, whole.n, how);
    one->has_handle = with_handle && sp_handle_text(&x->handles, one->function, handle);
    if (one->has_handle)
        sp_buf_printf(&b, " %s", handle);
    one->text = b.failed ? SP_STR_FAIL : sp_intern(&n->texts, b.len ? b.data : "", b.len);
    sp_buf_free(&b);
    return one->text != SP_STR_FAIL;
}

static int said_cmp(const void *va, const void *vb)
{
    const struct sp_said_name *a = *(const struct sp_said_name *const *)va,
                              *b = *(const struct sp_said_name *const *)vb;
    if (a->text != b->text)
        return a->text < b->text ? -1 : 1;
    return a->whole != b->whole ? (a->whole < b->whole ? -1 : 1) : (a->function > b->function) * 2 - 1;
}

/* All that share a text get a longer one, not only those behind the first: a handle, where names are the
 * same.
 */
static bool said_tell_apart(struct sp_said_names *n, const struct sp_asked *x, struct sp_said_name **order,
                            enum sp_shortness longer, bool with_handle)
{
    bool ok = true;
    for (size_t i = 0; i < n->list.n; i++)
        order[i] = &n->list.v[i];
    if (n->list.n)
        qsort(order, n->list.n, sizeof(*order), said_cmp);
    for (size_t from = 0, to; ok && from < n->list.n; from = to) {
        uint32_t text = order[from]->text;
        for (to = from + 1; to < n->list.n && order[to]->text == text;)
            to++;
        bool differ = with_handle ? to - from > 1 : order[from]->whole != order[to - 1]->whole;
        for (size_t i = from; differ && ok && i < to; i++)
            ok = said_set(n, x, order[i], longer, with_handle);
    }
    return ok;
}

/* Names that may have to be cut where they are shown have their handles at the end, which stays. */
static bool said_name_long(struct sp_said_names *n, const struct sp_asked *x)
{
    bool ok = true;
    for (size_t i = 0; ok && i < n->list.n; i++) {
        struct sp_said_name *one = &n->list.v[i];
        struct sp_str text = sp_str_at(&n->texts, one->text);
        char handle[32];
        struct sp_buf b;
        sp_buf_init(&b, 0);
        if (text.n > LONG_NAME && !one->has_handle && sp_handle_text(&x->handles, one->function, handle)) {
            sp_buf_add(&b, text.p, text.n);
            sp_buf_printf(&b, " %s", handle);
            one->text = b.failed ? SP_STR_FAIL : sp_intern(&n->texts, sp_buf_text(&b), b.len);
            ok = one->text != SP_STR_FAIL;
        }
        sp_buf_free(&b);
    }
    return ok;
}

spaa_status sp_said_shorten(struct sp_said_names *n, const struct sp_asked *x)
{
    bool full = sp_options_full_names(x->q->options), ok = sp_strtab_init(&n->texts);
    struct sp_said_name **order = calloc(n->list.n + 1, sizeof(*order));
    ok = ok && order;
    for (size_t i = 0; ok && i < n->list.n; i++)
        ok = said_whole(n, x, &n->list.v[i]) &&
             said_set(n, x, &n->list.v[i], full ? SP_WHOLE_NAME : SP_SHORTEST, false);
    for (int longer = SP_NO_ARGUMENTS; ok && !full && longer <= SP_WHOLE_NAME; longer++)
        ok = said_tell_apart(n, x, order, (enum sp_shortness)longer, false);
    if (ok && x->q->brief && x->has_handles)
        ok = said_tell_apart(n, x, order, SP_WHOLE_NAME, true) && (full || said_name_long(n, x));
    free((void *)order);
    return ok ? SPAA_OK : sp_nomem(x->q->diags);
}

void sp_said_text(struct sp_buf *b, const struct sp_said_names *n, const struct sp_asked *x,
                  uint32_t function)
{
    const struct sp_profile *p = x->s.profile;
    struct sp_str s = {"[no own function]", 17};
    if (function < n->at.n && n->at.v[function])
        s = sp_str_at(&n->texts, n->list.v[n->at.v[function] - 1].text);
    else if (function != SP_NONE)
        s = sp_pstr(p, p->functions.v[function].name);
    sp_buf_add(b, s.p, s.n);
}

void sp_said_free(struct sp_said_names *n)
{
    sp_vec_free(&n->list);
    sp_vec_free(&n->at);
    sp_strtab_free(&n->texts);
}
