#include "ask/cpu_claims.h"

#include "analysis/cpu_claims.h"
#include "analysis/process.h"
#include "answer/words.h"

enum { CLAIMS_TOLD = 3 };

static void claim_text(struct sp_buf *b, const struct sp_selection *s, const struct sp_processes *names,
                       const struct sp_cpu_claim *x)
{
    const struct sp_profile *p = s->profile;
    sp_process_text(p, names, &p->contexts.v[x->context], b);
    sp_buf_puts(b, ": CPU time ");
    sp_text_weight(b, (struct sp_str){"ns", 2}, 0, x->cpu_ns);
    sp_buf_puts(b, ", ");
    sp_text_count(b, (uint64_t)x->running, "running sample");
    if (x->running) {
        sp_buf_puts(b, " (");
        sp_text_weight(b, (struct sp_str){"ns", 2}, 0, x->seen_ns);
        sp_buf_ch(b, ')');
    }
}

spaa_status sp_say_cpu_claims(const struct sp_selection *s, struct sp_diags *d)
{
    struct sp_cpu_claims claims;
    struct sp_processes names;
    struct sp_buf b;
    spaa_status st = sp_cpu_claims_of(s->profile, s->event, d, &claims);
    if (st || !claims.list.n)
        return st;
    st = sp_processes_of(s->profile, d, &names);
    if (st) {
        sp_cpu_claims_free(&claims);
        return st;
    }
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < claims.list.n && i < CLAIMS_TOLD; i++) {
        sp_buf_puts(&b, i ? "; " : "");
        claim_text(&b, s, &names, &claims.list.v[i]);
    }
    if (claims.list.n > CLAIMS_TOLD)
        sp_buf_printf(&b, "; and %zu more", claims.list.n - CLAIMS_TOLD);
    if (b.failed)
        st = sp_nomem(d);
    else
        sp_emit(d, SP_W519, SP_AT_NOTHING, "%s", sp_buf_cstr(&b));
    sp_buf_free(&b);
    sp_processes_free(&names);
    sp_cpu_claims_free(&claims);
    return st;
}
