/*
 * spaa demo: the recordings that come with the program (guide/demo.h), to try it on: what there is and what
 * to ask, or written to a file or, with what it takes to name their addresses, to a folder.
 */
#include "run/fold.h"
#include "run/place.h"

#include "guide/demo.h"
#include "io/input.h"

#include <stdio.h>
#include <string.h>

static const char packed[] = ".perf.data.zst"; /* what a recording's name ends in */

static bool is_recording(const struct sp_demo_file *f)
{
    size_t n = strlen(f->name), m = sizeof packed - 1;
    return n > m && strcmp(f->name + n - m, packed) == 0;
}

/* A recording by its name, "orders-1", or that of its file. */
static const struct sp_demo_file *demo_find(const char *asked)
{
    size_t n = strlen(asked);
    for (const struct sp_demo_file *f = sp_demo_files; f->name; f++)
        if (is_recording(f) && (strcmp(f->name, asked) == 0 ||
                                (strncmp(f->name, asked, n) == 0 && strcmp(f->name + n, packed) == 0)))
            return f;
    return NULL;
}

static int demo_unknown(struct sp_run *run, const char *asked)
{
    char names[256] = "there are";
    for (const struct sp_demo_file *f = sp_demo_files; f->name; f++) {
        size_t at = strlen(names);
        if (is_recording(f))
            snprintf(names + at, sizeof names - at, " %.*s", (int)(strlen(f->name) + 1 - sizeof packed),
                     f->name);
    }
    return sp_run_usage(run, names, "there is no recording \"%s\"", asked);
}

static int demo_list(struct sp_run *run)
{
    struct sp_output *kept = NULL;
    int rc = sp_run_stdout(run);
    if (!rc)
        rc = sp_run_fold_begin(run, &kept);
    if (rc)
        return rc;
    sp_puts(run->out,
            "recordings that come with spaa: perf.data of a program that works on orders\n\n"
            "  orders-1   six seconds of it\n"
            "  orders-2   the same, once more\n\n"
            "spaa demo -o DIR writes them, with the symbols that name their addresses; then, in DIR,\n\n"
            "  # what is hot, and why\n"
            "  spaa orders-1.perf.data.zst --symfs symfs --kallsyms kallsyms\n"
            "  spaa convert orders-1.perf.data.zst --symfs symfs --kallsyms kallsyms -o orders.spaa\n"
            "  # who calls it\n"
            "  spaa function orders.spaa parse_field\n"
            "  # for a browser\n"
            "  spaa flamegraph orders.spaa -o orders.svg\n"
            "  # did anything change?\n"
            "  spaa diff orders-1.perf.data.zst orders-2.perf.data.zst --symfs symfs --kallsyms kallsyms\n\n"
            "spaa demo orders-1 -o FILE writes one of them; -o - is standard output.\n");
    return sp_run_fold_end(run, kept, rc);
}

/* The bytes of a file: a recording's are unpacked, so that they are packed only where they are named so. */
static spaa_status demo_bytes(struct sp_run *run, const struct sp_demo_file *f, struct sp_input **in,
                              const unsigned char **p, size_t *n)
{
    *p = (const unsigned char *)f->data;
    *n = f->n;
    if (!is_recording(f))
        return SPAA_OK;
    spaa_status st = sp_input_memory(f->data, f->n, f->name, run->diags, in);
    return st ? st : sp_input_whole(*in, p, n);
}

/* To the path, or to run->out for "-". */
static spaa_status demo_write(struct sp_run *run, const struct sp_demo_file *f, char *path)
{
    struct sp_input *in = NULL;
    const unsigned char *p;
    size_t n;
    spaa_status st = demo_bytes(run, f, &in, &p, &n);
    if (!st && strcmp(path, "-") == 0)
        sp_write(run->out, p, n);
    else if (!st)
        st = sp_run_place(run, path, p, n);
    sp_input_close(in);
    return st;
}

static spaa_status demo_write_into(struct sp_run *run, const char *folder)
{
    struct sp_buf path;
    spaa_status st = SPAA_OK;
    sp_buf_init(&path, 0);
    for (const struct sp_demo_file *f = sp_demo_files; !st && f->name; f++) {
        sp_buf_clear(&path);
        sp_buf_printf(&path, "%s/%s", folder, f->name);
        st = path.failed ? sp_nomem(run->diags) : demo_write(run, f, path.data);
    }
    sp_buf_free(&path);
    return st;
}

static spaa_status demo_write_one(struct sp_run *run, const struct sp_demo_file *f, const char *to)
{
    struct sp_buf path;
    sp_buf_init(&path, 0);
    sp_buf_printf(&path, "%s", to); /* with the NUL that paths end in */
    spaa_status st = path.failed ? sp_nomem(run->diags) : demo_write(run, f, path.data);
    sp_buf_free(&path);
    return st;
}

int sp_cmd_demo(struct sp_run *run)
{
    static const char hint[] = "spaa demo -o DIR writes all, spaa demo orders-1 -o FILE one";
    const char *asked = run->files.n ? run->files.v[0] : NULL, *to = run->v.output;
    const struct sp_demo_file *f = asked ? demo_find(asked) : NULL;
    if (run->files.n > 1)
        return sp_run_usage(run, hint, "demo writes one recording, or all");
    if (asked && !f)
        return demo_unknown(run, asked);
    if (!asked && !to)
        return demo_list(run);
    if (!to || !*to)
        return sp_run_usage(run, hint, "demo needs -o to write to");
    if (!asked && strcmp(to, "-") == 0)
        return sp_run_usage(run, hint, "standard output takes one recording");
    int rc = sp_run_stdout(run);
    return rc ? rc : sp_run_exit(run, f ? demo_write_one(run, f, to) : demo_write_into(run, to));
}
