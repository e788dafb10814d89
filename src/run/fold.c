#include "run/fold.h"

#include "answer/text.h"
#include "render/wrap.h"

#include <string.h>

/* What stands left of a table's text, in bytes: "  --name VALUE     "; 0: the line has no such part. */
static size_t fold_label(const char *p, size_t n)
{
    enum { LABEL_MOST = 40 };
    size_t at = 0;
    for (size_t i = 2; i + 2 < n && i < LABEL_MOST; i++)
        if (p[i - 2] == ' ' && p[i - 1] == ' ' && p[i] != ' ')
            at = i;
    return p[0] == ' ' ? at : 0;
}

/* "  spaa top FILE": as a shell takes it, if no remark stands behind it. */
static bool fold_is_command(const char *p, size_t n)
{
    static const char begin[] = "  spaa ";
    return n > sizeof begin && memcmp(p, begin, sizeof begin - 1) == 0 && !memchr(p, '#', n);
}

static bool fold_line(struct sp_buf *b, const char *p, size_t n, size_t columns)
{
    if (fold_is_command(p, n))
        return sp_text_wrap(b, SP_WRAP_COMMAND, p, n, 0, columns) && sp_buf_ch(b, '\n');
    size_t label = sp_text_width(p, n) > columns ? fold_label(p, n) : 0;
    if (label >= columns / 2)
        label = 0;
    return sp_buf_add(b, p, label) &&
           sp_text_wrap(b, SP_WRAP_WORDS, p + label, n - label, sp_text_width(p, label), columns) &&
           sp_buf_ch(b, '\n');
}

/* What was written to memory goes to the terminal. */
static spaa_status fold_write(struct sp_run *run, struct sp_output *text)
{
    struct sp_buf b;
    size_t n;
    const char *p = sp_output_data(text, &n), *end = p + n;
    bool ok = p && !text->status;
    sp_buf_init(&b, 0);
    while (ok && p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
        ok = fold_line(&b, p, (size_t)(eol - p), run->width);
        p = nl ? nl + 1 : end;
    }
    if (ok)
        sp_write(run->out, b.data ? b.data : "", b.len);
    sp_buf_free(&b);
    return ok ? SPAA_OK : sp_nomem(run->diags);
}

int sp_run_fold_begin(struct sp_run *run, struct sp_output **kept)
{
    struct sp_output *text = NULL;
    *kept = NULL;
    if (!run->width || run->form != SP_FORM_TEXT)
        return SP_EXIT_FINE;
    int rc = sp_run_exit(run, sp_output_memory(run->diags, &text));
    if (text) {
        *kept = run->out;
        run->out = text;
    }
    return rc;
}

int sp_run_fold_end(struct sp_run *run, struct sp_output *kept, int rc)
{
    struct sp_output *text = run->out;
    if (!kept)
        return rc;
    run->out = kept;
    if (!rc)
        rc = sp_run_exit(run, fold_write(run, text));
    sp_output_close(text);
    return rc;
}
