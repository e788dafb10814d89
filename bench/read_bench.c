/*
 * Reads a file into a profile and, if asked, writes the profile to /dev/null: seconds for each, without
 * the start of a process.
 *
 *     read_bench [-s] [-j JOBS] [-n PASSES] [-w FORMAT] FILE…
 *
 * Several files are read one by one, each into a profile that is freed before the next; -w writes the last.
 *
 * -s looks up symbols. Prints "read CPU WALL" and "write CPU WALL" for each pass, then the size of the
 * profile. Built by run.py against the internal static library.
 */
#include "formats/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct options {
    struct sp_read_opts read;
    struct sp_write_opts write;
    const struct spaa_format *to;
    char **paths;
    int n;
};

struct clocks {
    double cpu, wall;
};

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static struct clocks now(void)
{
    struct rusage u;
    struct timespec t;
    getrusage(RUSAGE_SELF, &u);
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (struct clocks){seconds(u.ru_utime) + seconds(u.ru_stime),
                           (double)t.tv_sec + (double)t.tv_nsec * 1e-9};
}

static void print_since(const char *what, struct clocks start)
{
    struct clocks end = now();
    printf("%s %.6f %.6f\n", what, end.cpu - start.cpu, end.wall - start.wall);
}

static spaa_status read_file(const struct options *o, const char *path, struct sp_diags *d,
                             struct sp_profile **out)
{
    struct sp_input *in = NULL;
    struct sp_profile *p = NULL;
    spaa_status st = sp_input_open(path, d, &in);
    if (!st)
        sp_input_set_jobs(in, o->read.jobs);
    const struct spaa_format *f = st ? NULL : sp_format_probe(in, NULL);
    if (!st)
        st = f ? sp_profile_new(d, &p) : SPAA_ERR_INPUT;
    if (!st)
        st = f->read(in, &o->read, d, p);
    sp_input_close(in);
    if (st) {
        sp_profile_free(p);
        return st;
    }
    *out = p;
    return SPAA_OK;
}

static spaa_status write_nowhere(const struct options *o, struct sp_diags *d, struct sp_profile *p)
{
    struct sp_output *out = NULL;
    spaa_status st = sp_output_open("/dev/null", d, &out);
    if (!st)
        st = o->to->write(p, &o->write, d, out);
    if (!st)
        st = sp_output_commit(out);
    sp_output_close(out);
    return st;
}

static spaa_status pass(const struct options *o, bool last)
{
    struct sp_diags d;
    struct sp_profile *p = NULL;
    sp_diags_init(&d);
    struct clocks start = now();
    spaa_status st = SPAA_OK;
    for (int i = 0; !st && i < o->n; i++) {
        sp_profile_free(p);
        p = NULL;
        st = read_file(o, o->paths[i], &d, &p);
    }
    if (!st)
        print_since("read", start);
    start = now();
    if (!st && o->to) {
        st = write_nowhere(o, &d, p);
        print_since("write", start);
    }
    for (size_t i = 0; st && i < d.list.n; i++)
        fprintf(stderr, "%s: %s\n", sp_code_info(d.list.v[i].code)->name, d.list.v[i].message);
    if (!st && last)
        printf("stacks %zu\nframes %zu\n", p->stacks.n, p->frames.n);
    sp_profile_free(p);
    sp_diags_free(&d);
    return st;
}

int main(int argc, char **argv)
{
    struct options o = {.read = {.frames = SP_FRAMES_ADDRESS,
                                 .group_by = SP_BY_DEFAULT | SP_BY_STATE,
                                 .jobs = 1,
                                 .symbols = {.no_symbols = true}},
                        .write = {.event = SP_NONE, .metric = SP_NONE, .jobs = 1}};
    long passes = 1;
    for (int c; (c = getopt(argc, argv, "sj:n:w:")) != -1;) {
        if (c == 's')
            o.read.symbols.no_symbols = false;
        else if (c == 'j')
            o.read.jobs = o.write.jobs = (unsigned)strtoul(optarg, NULL, 10);
        else if (c == 'n')
            passes = strtol(optarg, NULL, 10);
        else if (c != 'w' || !(o.to = sp_format_by_name(optarg)))
            return 2;
    }
    if (optind >= argc)
        return 2;
    o.paths = argv + optind;
    o.n = argc - optind;
    for (long i = 1; i <= passes; i++)
        if (pass(&o, i == passes))
            return 3;
    return 0;
}
