/* Help, from the tables of commands and options. */
#include "cli.h"

#include "base/nearest.h"

#include <stdio.h>

void cli_nearest(const char *asked, const char *const *names, char *out, size_t n)
{
    struct sp_str strs[128];
    size_t count = 0;
    struct sp_buf words;
    for (; names[count] && count < 128; count++)
        strs[count] = (struct sp_str){names[count], (uint32_t)strlen(names[count])};
    sp_buf_init(&words, 4096);
    sp_nearest_words(&words, asked, strs, count);
    const char *text = sp_buf_cstr(&words);
    snprintf(out, n, "%s", strncmp(text, "did you mean", 12) == 0 ? text : "");
    sp_buf_free(&words);
}

static void overview(struct sp_output *out)
{
    sp_puts(
        out,
        "spaa — one tool for every sampled profile\n\n"
        "usage: spaa COMMAND [FILE…] [options]\n"
        "       spaa FILE            the same as spaa summary FILE\n\n"
        "Every command opens every readable format by its content, through zstd and gzip, from - too.\n\n");
    for (const struct cli_command *c = cli_commands; c->name; c++)
        sp_printf(out, "  %-11s %s\n", c->name, c->title);
    sp_puts(out, "\nspaa help COMMAND explains one; spaa --version prints the version.\n"
                 "exit: 0 fine, 1 the answer is no, 2 bad usage, 3 input or output failed, 4 a bug,\n"
                 "      5 the data cannot tell (diff --fail-on)\n");
}

static void option_line(struct sp_output *out, const struct cli_option *o)
{
    char left[64];
    char letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");
    if (strlen(left) > 28)
        sp_printf(out, "  %s\n  %-28s %s\n", left, "", o->help);
    else
        sp_printf(out, "  %-28s %s\n", left, o->help);
}

static const struct {
    unsigned group;
    const char *title;
} groups[] = {
    {G_TOP, "rows"},        {G_TREE, "tree"},          {G_FLAME, "drawing"},
    {G_DIFF, "comparison"}, {G_CONVERT, "conversion"}, {G_SYMBOLIZE, "output"}, {G_UPLOAD, "upload"},
    {G_EVENT, "event"},     {G_SELECT, "filters"},     {G_ROWS | G_ANSWER | G_OUT | G_INFO, "answer"},
    {G_READ, "reading"},    {G_ALL, "general"},
};

void cli_help(const struct cli_command *command, struct sp_output *out)
{
    if (!command) {
        overview(out);
        return;
    }
    sp_printf(out, "spaa %s — %s\n\nusage: spaa %s %s [options]\n", command->name, command->title,
              command->name, command->args);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        bool titled = false;
        for (const struct cli_option *o = cli_options; o->name; o++) {
            unsigned mine = o->groups & (command->groups | G_ALL);
            if (!(mine & groups[g].group))
                continue;
            bool earlier = false; /* an option of two groups stands under the first */
            for (size_t k = 0; k < g; k++)
                earlier = earlier || mine & groups[k].group;
            if (earlier)
                continue;
            if (!titled)
                sp_printf(out, "\n%s\n", groups[g].title);
            titled = true;
            option_line(out, o);
        }
    }
    sp_puts(out, "\nexamples\n");
    for (const char *p = command->examples; *p;) {
        size_t n = strcspn(p, "\n");
        sp_printf(out, "  %.*s\n", (int)n, p);
        p += n;
        p += *p == '\n';
    }
}
