/* spaa dump: the native records of a file, one by one, as JSON lines. */
#include "run/run.h"

#include "formats/open.h"
#include "io/input.h"

#include <stdio.h>

/* "header,progid" to the bits of the format's sections; false: said. */
static bool cmd_dump_choose(struct sp_run *run, const struct spaa_format *f, const char *list, unsigned *out)
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
        if (!sp_option_choice(run->diags, "section", word, names, 0, &i))
            return false;
        *out |= 1u << i;
        list += len;
    }
    return true;
}

static spaa_status dump_to(struct sp_run *run, struct sp_input *in, const struct spaa_format *f,
                           unsigned sections)
{
    struct sp_output *out = NULL;
    spaa_status st = sp_run_output_open(run, run->v.output ? run->v.output : "-", &out);
    if (st)
        return st;
    st = f->dump(in, sections, run->diags, out);
    if (!st)
        st = sp_input_failed(in);
    /* What could be read is shown on standard output also when the rest could not. */
    if (!st || !run->v.output) {
        spaa_status done = sp_output_commit(out);
        st = st ? st : done;
    }
    sp_run_output_close(run, out);
    return st;
}

int sp_cmd_dump(struct sp_run *run)
{
    struct sp_input *in = NULL;
    const struct spaa_format *f = NULL;
    unsigned sections;
    if (run->files.n != 1)
        return sp_run_usage(run, NULL,
                            run->files.n ? "dump takes one file, not %zu" : "dump needs a file%.0zu",
                            run->files.n);
    const char *path = run->files.v[0], *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    sp_diags_source(run->diags, name, NULL);
    spaa_status st = sp_input_open(path, run->diags, &in);
    if (!st)
        st = sp_input_format(in, run->v.from, run->diags, &f);
    if (!st && !sp_named_format(f->name, SP_CAN_DUMP, run->diags))
        st = SPAA_ERR_UNSUPPORTED;
    if (!st) {
        run->input = f;
        sp_diags_source(run->diags, name, f->name);
        st = cmd_dump_choose(run, f, run->v.section, &sections) ? dump_to(run, in, f, sections)
                                                                : SPAA_ERR_USAGE;
    }
    sp_input_close(in);
    sp_diags_source(run->diags, NULL, NULL);
    return sp_run_exit(run, st);
}
