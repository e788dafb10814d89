/* Entries: what writers for viewers have for frames (threads.h). */
#include "formats/common/threads/threads.h"

#include <stdlib.h>

struct entry {
    uint32_t text; /* in strs */
    uint32_t frame;
};

static void entries_mark(const struct sp_profile *p, uint32_t stack, unsigned char *used)
{
    for (uint32_t i = 0; i < p->stacks.v[stack].n; i++)
        used[sp_stack_frames(p, stack)[i]] = 1;
}

unsigned char *sp_rows_used(const struct sp_rows *r)
{
    unsigned char *used = calloc(r->p->frames.n + 1, 1);
    for (uint32_t s = 0; used && s < r->p->stacks.n; s++) {
        if (!sp_rows_has(r, s))
            continue;
        uint32_t other = sp_stack_linked(r->p, s);
        entries_mark(r->p, s, used);
        if (other != SP_NONE)
            entries_mark(r->p, other, used);
    }
    return used;
}

static int entries_by_text(const void *a, const void *b, void *p)
{
    const struct entry *x = a, *y = b;
    return sp_str_cmp(sp_pstr(p, x->text), sp_pstr(p, y->text));
}

bool sp_entries_make(struct sp_entries *e, const struct sp_rows *r, const unsigned char *used,
                     bool (*put)(void *arg, struct sp_buf *b, uint32_t frame), void *arg)
{
    struct sp_profile *p = r->p;
    SP_VEC(struct entry) list = {0};
    struct sp_buf b;
    sp_buf_init(&b, 0);
    e->entry_of = calloc(p->frames.n + 1, sizeof *e->entry_of);
    bool ok = used && e->entry_of;
    for (uint32_t f = 0; ok && f < p->frames.n; f++) {
        if (!used[f])
            continue;
        sp_buf_clear(&b);
        ok = put(arg, &b, f) && !b.failed;
        struct entry x = {ok ? sp_profile_str(p, b.data, b.len) : SP_STR_FAIL, f};
        ok = x.text != SP_STR_FAIL && sp_vec_push(&list, x);
    }
    if (ok && list.n > 1)
        qsort_r(list.v, list.n, sizeof *list.v, entries_by_text, p);
    for (size_t i = 0; ok && i < list.n; i++) {
        if (!i || list.v[i].text != list.v[i - 1].text)
            ok = sp_vec_push(&e->frames, list.v[i].frame);
        if (ok)
            e->entry_of[list.v[i].frame] = (uint32_t)e->frames.n - 1;
    }
    sp_vec_free(&list);
    sp_buf_free(&b);
    return ok;
}

void sp_entries_free(struct sp_entries *e)
{
    sp_vec_free(&e->frames);
    free(e->entry_of);
}
