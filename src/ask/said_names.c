#include "ask/said_names.h"

#include "analysis/short_name.h"

#include <string.h>

bool sp_said_add(struct sp_said_names *n, uint32_t function)
{
    if (function == SP_NONE)
        return true;
    for (size_t i = 0; i < n->list.n; i++)
        if (n->list.v[i].function == function)
            return true;
    return sp_vec_push(&n->list, ((struct sp_said_name){function, SP_STR_NONE}));
}

static struct sp_str said_whole(const struct sp_asked *x, uint32_t function)
{
    const struct sp_profile *p = x->s.profile;
    return sp_pstr(p, p->functions.v[function].name);
}

static bool said_set(struct sp_said_names *n, const struct sp_asked *x, size_t i, enum sp_shortness how)
{
    struct sp_str whole = said_whole(x, n->list.v[i].function);
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_short_name(&b, whole.p, whole.n, how);
    uint32_t text = b.failed ? SP_STR_FAIL : sp_intern(&n->texts, b.len ? b.data : "", b.len);
    sp_buf_free(&b);
    n->list.v[i].text = text;
    return text != SP_STR_FAIL;
}

/* Another function has this text, whose whole name is another. */
static bool said_is_shared(const struct sp_said_names *n, const struct sp_asked *x, size_t i)
{
    uint32_t name = x->s.profile->functions.v[n->list.v[i].function].name;
    for (size_t k = 0; k < n->list.n; k++)
        if (n->list.v[k].text == n->list.v[i].text &&
            x->s.profile->functions.v[n->list.v[k].function].name != name)
            return true;
    return false;
}

/* All that share a text get a longer one, not only those behind the first. */
static bool said_tell_apart(struct sp_said_names *n, const struct sp_asked *x, enum sp_shortness longer)
{
    SP_VEC(size_t) shared = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < n->list.n; i++)
        ok = !said_is_shared(n, x, i) || sp_vec_push(&shared, i);
    for (size_t i = 0; ok && i < shared.n; i++)
        ok = said_set(n, x, shared.v[i], longer);
    sp_vec_free(&shared);
    return ok;
}

spaa_status sp_said_shorten(struct sp_said_names *n, const struct sp_asked *x)
{
    const char *names = x->q->options->names;
    bool full = names && strcmp(names, "full") == 0, ok = sp_strtab_init(&n->texts);
    for (size_t i = 0; ok && i < n->list.n; i++)
        ok = said_set(n, x, i, full ? SP_WHOLE_NAME : SP_SHORTEST);
    for (int longer = SP_NO_ARGUMENTS; ok && !full && longer <= SP_WHOLE_NAME; longer++)
        ok = said_tell_apart(n, x, (enum sp_shortness)longer);
    return ok ? SPAA_OK : sp_nomem(x->q->diags);
}

void sp_said_text(struct sp_buf *b, const struct sp_said_names *n, const struct sp_asked *x,
                  uint32_t function)
{
    if (function == SP_NONE) {
        sp_buf_puts(b, "[no own function]");
        return;
    }
    struct sp_str s = said_whole(x, function);
    for (size_t i = 0; i < n->list.n; i++)
        if (n->list.v[i].function == function)
            s = sp_str_at(&n->texts, n->list.v[i].text);
    sp_buf_add(b, s.p, s.n);
}

void sp_said_free(struct sp_said_names *n)
{
    sp_vec_free(&n->list);
    sp_strtab_free(&n->texts);
}
