/*
 * Reads memcheck's logs (memcheck.h) as a profile of one event, `leak`: live_bytes and live_count of what was
 * not freed, with a label leak_kind, and x_indirect_bytes: what hangs on it and is lost too. Errors that are
 * no leaks are counted and not read.
 */
#include "formats/memcheck/memcheck.h"

#include <string.h>

/* XML is read as a whole. *xml: it was. */
static spaa_status mc_read_if_xml(struct sp_mc *m, struct sp_input *in)
{
    const unsigned char *p;
    size_t n;
    spaa_status st = sp_input_peek(in, 1, &p, &n);
    m->xml = !st && n && *p == '<';
    if (st || !m->xml)
        return st;
    st = sp_input_whole(in, &p, &n);
    return st ? st : sp_mc_read_xml(m, (const char *)p, n);
}

static spaa_status mc_nothing(struct sp_mc *m, struct sp_input *in)
{
    spaa_status st = sp_input_failed(in);
    if (!st)
        sp_emit_hint(m->d, SP_E011, SP_AT_NOTHING, "valgrind --leak-check=full --fullpath-after= PROGRAM",
                     "the log has no leak check");
    return st ? st : SPAA_ERR_INPUT;
}

static spaa_status mc_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                           struct sp_profile *p)
{
    struct sp_mc m = {.p = p, .d = d, .opts = opts};
    m.lines = (struct sp_lines){.reader = &m, .take = sp_mc_take_line};
    spaa_status st = sp_vg_init(&m.vg, p, opts) ? mc_read_if_xml(&m, in) : sp_nomem(d);
    if (!st && !m.xml)
        st = sp_lines_read(&m.lines, in);
    if (!st && !m.processes.n)
        st = mc_nothing(&m, in);
    if (!st)
        st = sp_mc_finish(&m);
    if (!st && !p->stacks.n)
        st = mc_nothing(&m, in);
    for (size_t i = 0; i < m.processes.n; i++)
        sp_vec_free(&m.processes.v[i].path);
    sp_vg_free(&m.vg);
    sp_vec_free(&m.processes);
    sp_map_free(&m.pids);
    sp_vec_free(&m.records);
    sp_vec_free(&m.places);
    return st;
}

const struct spaa_format spaa_format_memcheck = {
    .name = "memcheck",
    .title = "leaks in a log of valgrind's memcheck, text or XML",
    .extensions = "memcheck memcheck.log memcheck.xml",
    .media_type = "text/plain",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ,
    .probe = sp_mc_probe,
    .read = mc_read,
};
