/* How a command ends: standard output, what is said on standard error, the exit code. */
#include "cli.h"

#include "render/diag_text.h"
#include "render/text.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int cli_exit_of(spaa_status st)
{
    switch (st) {
    case SPAA_OK:
    case SPAA_ERR_CLOSED:
        return EXIT_FINE;
    case SPAA_ERR_NOT_FOUND:
        return EXIT_NO;
    case SPAA_ERR_USAGE:
        return EXIT_USAGE;
    case SPAA_ERR_BUG:
        return EXIT_BUG;
    default:
        return EXIT_IO;
    }
}

int cli_stdout(struct cli *c)
{
    if (c->out)
        return EXIT_FINE;
    return cli_exit_of(sp_output_open("-", &c->diags, &c->out));
}

/* One diagnostic as a person reads it; names in it are made harmless. */
static void finish_say(const struct cli *c, const struct sp_diag *g)
{
    struct sp_buf b;
    bool colour = isatty(2) && !getenv("NO_COLOR") && !(c->v.color && strcmp(c->v.color, "never") == 0);
    sp_buf_init(&b, 1 << 20);
    sp_buf_printf(&b, "%s: %s%s%s: ", c->program,
                  colour ? (g->severity >= SP_ERROR ? "\033[31m" : "\033[33m") : "", sp_diag_word(g),
                  colour ? "\033[0m" : "");
    sp_diag_text(&b, g);
    sp_buf_ch(&b, '\n');
    if (*g->hint && g->severity != SP_INFO) {
        sp_buf_puts(&b, "  ");
        sp_text_safe(&b, g->hint, strlen(g->hint));
        sp_buf_ch(&b, '\n');
    }
    fwrite(b.data, 1, b.len, stderr);
    sp_buf_free(&b);
}

/* What the answer has told of, nobody needs to be told again. */
static bool finish_says(const struct cli *c, enum sp_severity severity, bool told)
{
    return severity >= SP_ERROR || (!c->v.quiet && !(told && severity < SP_LOSS));
}

void cli_say_so_far(struct cli *c)
{
    for (; c->said < c->diags.list.n; c->said++) {
        const struct sp_diag *g = &c->diags.list.v[c->said];
        if (finish_says(c, g->severity, c->said < c->told))
            finish_say(c, g);
    }
}

static void say_all(struct cli *c)
{
    uint64_t kept[SP_CODES] = {0};
    cli_say_so_far(c);
    for (size_t i = 0; i < c->diags.list.n; i++)
        kept[c->diags.list.v[i].code]++;
    for (int code = 0; code < SP_CODES; code++) {
        const struct sp_code_info *info = sp_code_info((enum sp_code)code);
        if (c->diags.count[code] > kept[code] && finish_says(c, info->severity, c->told > 0))
            fprintf(stderr, "%s: %s: %s: %llu more [%s]\n", c->program,
                    info->severity == SP_INFO ? "note" : sp_severity_name(info->severity), info->title,
                    (unsigned long long)(c->diags.count[code] - kept[code]), info->name);
    }
}

static void error_object(struct cli *c)
{
    const struct sp_diag *g = NULL;
    for (size_t i = 0; i < c->diags.list.n; i++)
        if (c->diags.list.v[i].severity >= SP_ERROR)
            g = &c->diags.list.v[i];
    if (!g || cli_stdout(c))
        return;
    struct sp_jw w;
    sp_jw_init(&w, c->out);
    sp_jw_open(&w, NULL, '{');
    sp_jw_cstr(&w, "schema", "spaa.error/1");
    sp_jw_open(&w, "error", '{');
    sp_jw_cstr(&w, "code", sp_code_info(g->code)->name);
    sp_jw_cstr(&w, "message", g->message);
    sp_jw_cstr(&w, "file", g->file);
    if (g->offset == SP_NOWHERE)
        sp_jw_null(&w, "offset");
    else
        sp_jw_u64(&w, "offset", g->offset);
    if (g->line)
        sp_jw_u64(&w, "line", g->line);
    else
        sp_jw_null(&w, "line");
    sp_jw_cstr(&w, "hint", g->hint);
    sp_jw_close(&w, '}');
    sp_jw_close(&w, '}');
    sp_puts(c->out, "\n");
    sp_jw_free(&w);
}

int cli_finish(struct cli *c, int code)
{
    if (code >= EXIT_NO && c->format == FORMAT_JSON && !c->out)
        error_object(c);
    if (c->out) {
        spaa_status st = sp_output_commit(c->out);
        if (st && st != SPAA_ERR_CLOSED && code == EXIT_FINE)
            code = EXIT_IO;
    }
    if (code == EXIT_FINE && c->v.strict && sp_diags_count(&c->diags, SP_LOSS))
        code = EXIT_IO;
    say_all(c);
    sp_output_close(c->out);
    sp_profile_free(c->profile);
    sp_vec_free(&c->files);
    sp_vec_free(&c->own);
    sp_options_free(&c->v);
    cli_label_keys_free(&c->grouping);
    cli_label_keys_free(&c->needed);
    sp_diags_free(&c->diags);
    return code;
}
