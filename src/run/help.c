/* Help, from the tables of commands and options. */
#include "run/declarations.h"
#include "run/fold.h"
#include "run/heading.h"

#include "answer/text.h"
#include "render/wrap.h"

#include <stdio.h>
#include <string.h>

static void overview(struct sp_output *out)
{
    sp_puts(
        out,
        "spaa — one tool for every sampled profile\n\n"
        "usage: spaa COMMAND [FILE…] [options]\n"
        "       spaa FILE            the same as spaa summary FILE\n\n"
        "Every command opens every readable format by its content, through zstd and gzip, from - too.\n\n");
    struct sp_command c;
    for (size_t i = 0; sp_command_at(i, &c); i++)
        sp_printf(out, "  %-11s %s\n", c.name, c.title);
    sp_puts(out,
            "\nspaa help COMMAND explains one, spaa help options what most of them take; spaa --version.\n"
            "exit: 0 fine, 1 the answer is no, 2 bad usage, 3 input or output failed, 4 a bug,\n"
            "      5 the data cannot tell (diff --fail-on)\n");
}

static void option_line(struct sp_output *out, char short_name, const char *name, const char *value,
                        const char *help)
{
    char left[96];
    char letter[8] = "    ";
    if (short_name)
        snprintf(letter, sizeof letter, "-%c, ", short_name);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, name, value ? " " : "", value ? value : "");
    int pad = 28 - (int)sp_text_width(left, strlen(left));
    if (pad < 0)
        sp_printf(out, "  %s\n  %-28s %s\n", left, "", help);
    else
        sp_printf(out, "  %s%*s %s\n", left, pad, "", help);
}

static void option_help(const struct sp_command_option *o, struct sp_output *out)
{
    option_line(out, o->letter, o->name, o->value, o->help);
}

/* Several formats may have an option: it stands once, "folded, bcc: …". */
static void option_of_formats(const struct sp_command *command, size_t k, const struct sp_command_option *o,
                              struct sp_output *out)
{
    struct sp_command_option x;
    char help[512];
    size_t n = 0;
    for (size_t i = 0; sp_command_option(command, i, &x); i++) {
        if (!x.format || strcmp(x.name, o->name) != 0 || strcmp(x.help, o->help) != 0)
            continue;
        if (i < k)
            return;
        int more = snprintf(help + n, sizeof help - n, "%s%s", n ? ", " : "", x.format->name);
        n = more > 0 && n + (size_t)more < sizeof help ? n + (size_t)more : n;
    }
    snprintf(help + n, sizeof help - n, ": %s", o->help);
    option_line(out, o->letter, o->name, o->value, help);
}

/* The options that a command takes, by their headings. */
static void help_options(const struct sp_command *command, struct sp_output *out)
{
    struct sp_command_option o;
    const char *above = NULL;
    for (size_t k = 0; sp_command_option(command, k, &o); k++) {
        if (!above || strcmp(above, o.group) != 0)
            sp_printf(out, "\n%s\n", o.group);
        above = o.group;
        if (o.format)
            option_of_formats(command, k, &o, out);
        else
            option_help(&o, out);
    }
}

/* ---- the short form: a command's own options, and the names of those that most commands take ---- */

static spaa_status help_line(struct sp_run *run, struct sp_buf *b)
{
    struct sp_buf folded;
    sp_buf_init(&folded, 0);
    size_t columns = run->width ? run->width : SP_PIPED_COLUMNS;
    bool ok =
        !b->failed && sp_text_wrap(&folded, SP_WRAP_WORDS, b->data, b->len, 0, columns) && !folded.failed;
    if (ok)
        sp_printf(run->out, "%s\n", sp_buf_cstr(&folded));
    sp_buf_free(&folded);
    sp_buf_clear(b);
    return ok ? SPAA_OK : sp_nomem(run->diags);
}

static void option_name(const struct sp_command_option *o, struct sp_buf *b)
{
    if (o->letter)
        sp_buf_printf(b, " -%c", o->letter);
    else
        sp_buf_printf(b, " --%s", o->name);
}

static spaa_status help_own(struct sp_run *run, const struct sp_command *command, struct sp_buf *b)
{
    struct sp_command_option o;
    spaa_status st = SPAA_OK;
    for (size_t k = 0; !st && sp_command_option(command, k, &o); k++) {
        if (o.shared)
            continue;
        sp_buf_puts(b, " ");
        option_name(&o, b);
        sp_buf_printf(b, "%s%s  %s", o.value ? " " : "", o.value ? o.value : "", o.help);
        st = help_line(run, b);
    }
    return st;
}

/* "filters: --thread --pid …": a line for each heading; formats explain theirs themselves. */
static spaa_status help_shared(struct sp_run *run, const struct sp_command *command, struct sp_buf *b)
{
    struct sp_command_option o;
    const char *above = NULL;
    spaa_status st = SPAA_OK;
    sp_puts(run->out, "\nshared, explained by spaa help options\n");
    for (size_t k = 0; !st && sp_command_option(command, k, &o) && !o.format; k++) {
        if (!o.shared)
            continue;
        bool another = !above || strcmp(above, o.group) != 0;
        if (another && b->len)
            st = help_line(run, b);
        if (another)
            sp_buf_printf(b, "  %s:", o.group);
        above = o.group;
        option_name(&o, b);
    }
    return st || !b->len ? st : help_line(run, b);
}

static void help_examples(const struct sp_command *command, struct sp_output *out)
{
    sp_puts(out, "\nexamples\n");
    for (const char *p = command->examples; *p;) {
        size_t n = strcspn(p, "\n");
        sp_printf(out, "  %.*s\n", (int)n, p);
        p += n;
        p += *p == '\n';
    }
}

static int help_command(struct sp_run *run, const struct sp_command *command)
{
    struct sp_buf b;
    spaa_status st = SPAA_OK;
    sp_buf_init(&b, 0);
    sp_printf(run->out, "spaa %s — %s\n\nusage: spaa %s %s [options]\n", command->name, command->title,
              command->name, command->args);
    if (run->v.help_all) {
        help_options(command, run->out);
    } else {
        st = help_own(run, command, &b);
        st = st ? st : help_shared(run, command, &b);
    }
    help_examples(command, run->out);
    sp_buf_free(&b);
    return sp_run_exit(run, st);
}

/* ---- the options that most commands take, each once ---- */

static bool option_was_before(size_t command, const struct sp_command_option *o)
{
    struct sp_command c;
    struct sp_command_option other;
    for (size_t i = 0; i < command && sp_command_at(i, &c); i++)
        for (size_t k = 0; sp_command_option(&c, k, &other); k++)
            if (other.option == o->option)
                return true;
    return false;
}

/* Of one heading, of all commands. */
static void help_group(const char *title, struct sp_output *out)
{
    struct sp_command c;
    struct sp_command_option o;
    sp_printf(out, "\n%s\n", title);
    for (size_t i = 0; sp_command_at(i, &c); i++)
        for (size_t k = 0; sp_command_option(&c, k, &o) && !o.format; k++)
            if (o.shared && strcmp(o.group, title) == 0 && !option_was_before(i, &o))
                option_help(&o, out);
}

static void help_all_shared(struct sp_output *out)
{
    struct sp_command top;
    struct sp_command_option o;
    const char *above = NULL;
    sp_puts(out, "options that most commands take; spaa help COMMAND --all has those of one\n");
    for (size_t k = 0; sp_command_find("top", &top) && sp_command_option(&top, k, &o) && !o.format; k++) {
        if (o.shared && (!above || strcmp(above, o.group) != 0))
            help_group(o.group, out);
        above = o.shared ? o.group : above;
    }
}

static int no_command(struct sp_run *run, const char *asked)
{
    const char *names[64] = {0};
    char near[256];
    struct sp_command x;
    for (size_t i = 0; i < 63 && sp_command_at(i, &x); i++)
        names[i] = x.name;
    sp_near_hint(asked, names, near, sizeof near);
    return sp_run_usage(run, *near ? near : "`spaa help` lists them", "there is no command %s", asked);
}

int sp_cmd_help(struct sp_run *run)
{
    struct sp_command found;
    const char *asked = run->files.n ? run->files.v[0] : NULL;
    bool options = asked && strcmp(asked, "options") == 0;
    if (asked && !options && !sp_command_find(asked, &found))
        return no_command(run, asked);
    int rc = sp_run_stdout(run);
    struct sp_output *out = NULL;
    if (!rc)
        rc = sp_run_fold_begin(run, &out);
    if (!rc && run->v.json)
        sp_declarations(run->out);
    else if (!rc && options)
        help_all_shared(run->out);
    else if (!rc && asked)
        rc = help_command(run, &found);
    else if (!rc)
        overview(run->out);
    return sp_run_fold_end(run, out, rc);
}
