/* An answer as a document: rendered into memory, or streamed to a descriptor. */
#include "api/answer.h"

#include "render/answer_render.h"

#include <stdlib.h>
#include <string.h>

static spaa_status api_render_options(const struct spaa_render_options *options, struct sp_diags *d,
                                      struct sp_render_opts *how)
{
    static const char *const forms[] = {"text", "json", "csv", "markdown", NULL}; /* enum sp_answer_form */
    struct spaa_render_options o;
    int form;
    spaa_status st = sp_api_options(&o, sizeof o, options, d);
    if (st || !sp_api_choice(d, "form", o.form, forms, SP_FORM_JSON, &form))
        return SPAA_ERR_USAGE;
    *how = (struct sp_render_opts){.form = (enum sp_answer_form)form,
                                   .width = o.width,
                                   .colour = o.colour != 0,
                                   .full_names = o.full_names != 0,
                                   .notes = !o.no_notes,
                                   .budget = o.budget,
                                   .more = o.budget ? "a larger --budget shows more" : "-n 0 shows all"};
    return SPAA_OK;
}

/* A budget may have cut rows that are made: afterwards there are as many as before. */
static spaa_status api_render_into(struct spaa_answer *x, const struct sp_render_opts *how,
                                   struct sp_diags *d, struct sp_output *out)
{
    spaa_status st = sp_render(&x->a, how, d, out);
    sp_api_answer_uncut(x);
    return st ? st : out->status;
}

static spaa_status api_render_memory(struct spaa_answer *x, const struct sp_render_opts *how, char **text,
                                     size_t *size, struct sp_diags *d)
{
    struct sp_output *out = NULL;
    size_t n = 0;
    spaa_status st = sp_output_memory(d, &out);
    if (!st)
        st = api_render_into(x, how, d, out);
    const char *made = st ? NULL : sp_output_data(out, &n);
    char *copy = made ? malloc(n + 1) : NULL;
    if (!st && !copy)
        st = sp_nomem(d);
    if (!st) {
        memcpy(copy, made, n);
        copy[n] = '\0';
        *text = copy;
        if (size)
            *size = n;
    }
    sp_output_close(out);
    return st;
}

spaa_status spaa_answer_render(struct spaa_answer *answer, const struct spaa_render_options *options,
                               char **text, size_t *size, struct spaa_diagnostics **diagnostics)
{
    struct sp_render_opts how;
    struct sp_diags d;
    if (!answer || !text)
        return sp_api_missing("no answer, or no place for the text", diagnostics);
    sp_diags_init(&d);
    spaa_status st = api_render_options(options, &d, &how);
    if (!st)
        st = api_render_memory(answer, &how, text, size, &d);
    return sp_api_deliver(&d, diagnostics, st);
}

spaa_status spaa_answer_write_fd(struct spaa_answer *answer, int fd,
                                 const struct spaa_render_options *options,
                                 struct spaa_diagnostics **diagnostics)
{
    struct sp_render_opts how;
    struct sp_output *out = NULL;
    struct sp_diags d;
    if (!answer || fd < 0)
        return sp_api_missing("no answer to write, or no descriptor to write to", diagnostics);
    sp_diags_init(&d);
    spaa_status st = api_render_options(options, &d, &how);
    if (!st)
        st = sp_output_fd(fd, "descriptor", &d, &out);
    if (!st)
        st = api_render_into(answer, &how, &d, out);
    if (!st)
        st = sp_output_commit(out);
    sp_output_close(out);
    return sp_api_deliver(&d, diagnostics, st);
}
