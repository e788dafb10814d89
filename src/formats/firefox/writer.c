/* Writes processed profiles of one event (firefox.h): see write_tables.c, write_samples.c, write_json.c. */
#include "formats/firefox/firefox.h"

#include "formats/common/text/one_number.h"

#include <stdlib.h>

/* Weights that are neither time nor bytes are shown as samples. */
static void ff_say(struct sp_ff_writer *w)
{
    if (w->rows.metric == SP_NONE)
        return;
    if (!w->unit_ns && !sp_str_is(w->rows.unit, "bytes"))
        sp_one_counts(w->p, w->opts, w->rows.metric, w->d);
    if (w->elsewhere)
        sp_emit(w->d, SP_I321, SP_AT_NOTHING,
                "the lines of %llu frames, in another file than the rest of their function",
                (unsigned long long)w->elsewhere);
}

spaa_status sp_ff_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out)
{
    struct sp_ff_writer w = {.p = p, .opts = opts, .d = d, .out = out};
    spaa_status st = sp_rows_init(&w.rows, p, opts, d, "a profile of Firefox");
    bool ok = !st && sp_strtab_init(&w.strings) && sp_strtab_init(&w.func_keys);
    if (ok && w.rows.metric != SP_NONE)
        w.unit_ns = sp_rows_unit_ns(w.rows.unit);
    ok = ok && sp_ff_tables(&w);
    if (ok) {
        st = sp_rows_collect(&w.rows, w.entries.entry_of);
        ok = !st && sp_ff_samples(&w) && sp_ff_put(&w);
    }
    if (ok)
        ff_say(&w);
    sp_rows_free(&w.rows);
    sp_entries_free(&w.entries);
    sp_strtab_free(&w.strings);
    sp_strtab_free(&w.func_keys);
    sp_vec_free(&w.libs);
    sp_vec_free(&w.funcs);
    sp_vec_free(&w.frames);
    sp_vec_free(&w.nodes);
    sp_vec_free(&w.samples);
    sp_map_free(&w.node_map);
    free(w.source_of);
    free(w.lib_of);
    return ok ? out->status : st ? st : sp_nomem(d);
}
