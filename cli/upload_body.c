/* What `spaa upload` sends: a CodeGuru profile as it is, or what is made of another, if it is fit to be sent.
 */
#include "upload.h"

#include "formats/open.h"

static bool is_codeguru(const struct spaa_format *f)
{
    return strcmp(f->name, "codeguru") == 0;
}

/* A CodeGuru profile without damage, of which nothing is to be changed, is sent byte by byte; children that
 * stand twice are sent merged. */
static bool as_it_is(const struct sp_run *run, const struct spaa_format *f)
{
    return is_codeguru(f) && !run->own.n && !run->v.event && !run->v.metric &&
           !sp_diags_count(run->diags, SP_LOSS) && !run->diags->count[SP_W475];
}

static spaa_status convert(struct upload *u)
{
    struct sp_run *run = u->run;
    struct sp_write_opts w;
    spaa_status st = sp_run_write_opts(run, &w);
    if (st)
        return st;
    w.original = SP_ORIGINAL_UNUSED; /* the report is of what was chosen, not of the file */
    st = sp_output_memory(run->diags, &u->made);
    if (!st)
        st = sp_write_profile(run->profile, sp_format_by_name("codeguru"), &w, run->diags, u->made);
    if (!st)
        st = sp_output_commit(u->made);
    if (!st)
        u->body = sp_output_data(u->made, &u->body_n);
    return st;
}

/* Errors of the file that what is made of it need not have: --start gives other times. */
static bool is_mended(const struct upload *u, const struct sp_diag *g)
{
    bool time = (g->code == SP_E466 || g->code == SP_E467) && g->field &&
                (strcmp(g->field, "start") == 0 || strcmp(g->field, "end") == 0);
    for (size_t i = 0; time && i < u->run->own.n; i++)
        if (strcmp(u->run->own.v[i].name, "start") == 0)
            return true;
    return false;
}

/* What is made of a CodeGuru file no longer shows which of two members was taken, or what was lost: the file
 * is judged as well. */
static spaa_status validate_file(struct upload *u, struct sp_diags *found)
{
    struct sp_diags all;
    sp_diags_init(&all);
    spaa_status st =
        is_codeguru(u->run->input) ? sp_format_by_name("codeguru")->validate(u->in, &all) : SPAA_OK;
    bool bad = false;
    for (size_t i = 0; i < all.list.n; i++)
        bad = bad || (all.list.v[i].severity >= SP_ERROR && !is_mended(u, &all.list.v[i]));
    if (st || bad)
        sp_diags_merge(found, &all);
    sp_diags_free(&all);
    return st;
}

/* Nothing is sent that would be refused, or taken and shown nowhere; what is a mere warning was said on
 * reading. */
static spaa_status validate(struct upload *u)
{
    struct sp_run *run = u->run;
    struct sp_input *in = NULL;
    struct sp_diags found;
    sp_diags_init(&found);
    spaa_status st = u->made ? sp_input_memory(u->body, u->body_n, "<body>", &found, &in) : SPAA_OK;
    if (!st && u->made)
        st = validate_file(u, &found);
    if (!st && !sp_diags_count(&found, SP_ERROR))
        st = sp_format_by_name("codeguru")->validate(in ? in : u->in, &found);
    bool bad = sp_diags_count(&found, SP_ERROR) != 0;
    if (st || (bad && !run->v.force))
        sp_diags_merge(run->diags, &found);
    sp_input_close(in);
    sp_diags_free(&found);
    return st ? st : bad && !run->v.force ? SPAA_ERR_INPUT : SPAA_OK;
}

int upload_read_body(struct upload *u)
{
    struct sp_run *run = u->run;
    struct sp_read_opts opts;
    const char *path = run->files.v[1], *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    spaa_status st = sp_run_read_opts(run, &opts);
    if (st)
        return sp_run_exit(run, st);
    sp_diags_source(run->diags, name, NULL);
    st = sp_input_open(path, run->diags, &u->in);
    if (!st)
        st = sp_input_format(u->in, run->v.from, run->diags, &run->input);
    if (!st) {
        int rc = sp_run_check_own(run, sp_format_by_name("codeguru"));
        if (rc)
            return rc;
        sp_diags_source(run->diags, name, run->input->name);
        st = sp_read_profile(u->in, run->input, &opts, run->diags, &run->profile);
    }
    sp_diags_source(run->diags, NULL, NULL);
    if (!st && as_it_is(run, run->input)) {
        const unsigned char *p;
        st = sp_input_whole(u->in, &p, &u->body_n);
        u->body = p;
    } else if (!st) {
        st = convert(u);
    }
    if (!st)
        st = validate(u);
    return sp_run_exit(run, st);
}
