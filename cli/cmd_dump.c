/* spaa dump: the native records of a file, one by one, as JSON lines. */
#include "cli.h"
#include "output.h"

#include "formats/open.h"
#include "io/input.h"
#include "progress.h"

#include <stdio.h>

/* "header,progid" to the bits of the format's sections; false: said. */
static bool cmd_dump_choose(struct cli *c, const struct spaa_format *f, const char *list, unsigned *out)
{
    const char *names[33];
    size_t n = 0;
    *out = ~0u;
    if (!list)
        return true;
    for (; f->sections[n].name && n < 32; n++)
        names[n] = f->sections[n].name;
    names[n] = NULL;
    for (*out = 0; *list; list += *list == ',') {
        char word[64];
        int i;
        size_t len = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)(len < 60 ? len : 60), list);
        if (!cli_choice(c, "section", word, names, 0, &i))
            return false;
        *out |= 1u << i;
        list += len;
    }
    return true;
}

static spaa_status dump_to(struct cli *c, struct sp_input *in, const struct spaa_format *f, unsigned sections)
{
    struct sp_output *out = NULL;
    spaa_status st = cli_output_open(c, c->v.output ? c->v.output : "-", &out);
    if (st)
        return st;
    struct progress *bar = progress_start(c, in);
    st = f->dump(in, sections, &c->diags, out);
    progress_stop(bar);
    if (!st)
        st = sp_input_failed(in);
    /* What could be read is shown on standard output also when the rest could not. */
    if (!st || !c->v.output) {
        spaa_status done = sp_output_commit(out);
        st = st ? st : done;
    }
    cli_output_close(out);
    return st;
}

int sp_cmd_dump(struct cli *c)
{
    struct sp_input *in = NULL;
    const struct spaa_format *f = NULL;
    unsigned sections;
    if (c->files.n != 1)
        return cli_usage(c, NULL, c->files.n ? "dump takes one file, not %zu" : "dump needs a file%.0zu",
                         c->files.n);
    const char *path = c->files.v[0], *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    sp_diags_source(&c->diags, name, NULL);
    spaa_status st = sp_input_open(path, &c->diags, &in);
    if (!st)
        st = sp_input_format(in, c->v.from, &c->diags, &f);
    if (!st && !sp_named_format(f->name, SP_CAN_DUMP, &c->diags))
        st = SPAA_ERR_UNSUPPORTED;
    if (!st) {
        c->input = f;
        sp_diags_source(&c->diags, name, f->name);
        st = cmd_dump_choose(c, f, c->v.section, &sections) ? dump_to(c, in, f, sections) : SPAA_ERR_USAGE;
    }
    sp_input_close(in);
    sp_diags_source(&c->diags, NULL, NULL);
    return cli_exit_of(st);
}
