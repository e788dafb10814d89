/*
 * Names of rows that tell them apart in sentences and tables: as short as others are, and where that is
 * another's name too, with parameters, then whole, then with the handle behind it.
 */
#include "ask/diff.h"

#include "analysis/short_name.h"

#include <stdlib.h>

enum { AS_OTHERS, WITH_PARAMETERS, WHOLE, WITH_HANDLE };

/* What is matched tells more of a function than what is shown, as its linkage name does. */
static void names_put(const struct sp_diff *d, const struct sp_diff_row *r, unsigned said, struct sp_buf *b)
{
    struct sp_str s = sp_str_at(&d->strs, said ? d->keys.v[r->key].function : r->function);
    if (said < WHOLE)
        sp_short_name(b, s.p, s.n, said ? SP_NO_ARGUMENTS : SP_SHORTEST);
    else
        sp_buf_add(b, s.p, s.n);
}

void sp_diff_say_row(const struct sp_diff *d, const struct sp_diff_row *r, bool again, struct sp_buf *out)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    names_put(d, r, r->said, &b);
    sp_diff_say_within(out, (struct sp_str){sp_buf_text(&b), (uint32_t)b.len}, again && !r->said);
    if (r->said == WITH_HANDLE && *r->id)
        sp_buf_printf(out, " %s", r->id);
    out->failed |= b.failed;
    sp_buf_free(&b);
}

struct named_row {
    uint32_t text;
    struct sp_diff_row *row;
};

static int names_cmp(const void *va, const void *vb)
{
    const struct named_row *a = va, *b = vb;
    return (a->text > b->text) - (a->text < b->text);
}

bool sp_diff_tell_apart(struct sp_diff *d)
{
    size_t n = d->rows.n + d->appeared.n + d->vanished.n;
    struct named_row *v = calloc(n + 1, sizeof *v);
    struct sp_buf b;
    bool ok = v != NULL;
    sp_buf_init(&b, 0);
    for (unsigned said = AS_OTHERS; ok && said < WITH_HANDLE; said++) {
        for (size_t i = 0; ok && i < n; i++) {
            v[i].row = sp_diff_row_at(d, i);
            sp_buf_clear(&b);
            names_put(d, v[i].row, v[i].row->said, &b);
            v[i].text = b.failed ? SP_STR_FAIL : sp_intern(&d->strs, sp_buf_text(&b), b.len);
            ok = v[i].text != SP_STR_FAIL;
        }
        if (ok && n)
            qsort(v, n, sizeof *v, names_cmp);
        for (size_t from = 0, to; ok && from < n; from = to) {
            for (to = from + 1; to < n && v[to].text == v[from].text;)
                to++;
            for (size_t i = from; to - from > 1 && i < to; i++)
                v[i].row->said = (unsigned char)(said + 1);
        }
    }
    sp_buf_free(&b);
    free(v);
    return ok;
}

bool sp_diff_names_clash(const struct sp_diff *d)
{
    for (size_t i = 0; i < d->rows.n + d->appeared.n + d->vanished.n; i++)
        if (sp_diff_row_at((struct sp_diff *)d, i)->said)
            return true;
    return false;
}
