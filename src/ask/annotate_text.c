/* The texts of the sources that annotate shows. */
#include "ask/annotate.h"

spaa_status sp_annotate_sources(struct sp_annotate *x, const struct sp_source_opts *how, struct sp_diags *d)
{
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < x->a.files.n; i++) {
        struct sp_source_text t = {0};
        if (x->a.files.v[i].file.n)
            st = sp_source_read(&x->a.files.v[i], how, d, &t);
        if (!st && !sp_vec_push(&x->texts, t)) {
            sp_source_free(&t);
            st = sp_nomem(d);
        }
    }
    return st;
}

void sp_annotate_put_source(struct sp_annotate *x, struct sp_answer_table *t, size_t column,
                            struct sp_str text)
{
    struct sp_buf *b = &x->asked.b;
    size_t at = 0;
    sp_buf_clear(b);
    for (uint32_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\t' && x->asked.q->brief) {
            do
                sp_buf_ch(b, ' ');
            while (++at % 4);
            continue;
        }
        sp_buf_ch(b, text.p[i]);
        at++;
    }
    sp_put_text(x->asked.out, t, column, b->data ? b->data : "", b->len);
    x->asked.out->failed |= b->failed;
    sp_buf_clear(b);
}
