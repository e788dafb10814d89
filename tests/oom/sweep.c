#include "sweep.h"

#include "formats/original.h"
#include "model/merge.h"
#include "symbols/symbolize.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_ROOM = 4096, LEVELS = 4 };

/* The profile added to itself, the second time with coarser frames, as SPAA. */
static spaa_status merge(struct sp_profile *p, const struct spaa_format *spaa,
                         const struct sp_write_opts *write, struct sp_diags *d, struct sp_output *out)
{
    struct sp_merge_opts opts = {.group_by = ~0u, .canonical = true, .samples = true};
    struct sp_merger *m = NULL;
    struct sp_profile *whole = NULL;
    spaa_status st = sp_merger_new(&opts, d, &m);
    if (!st)
        st = sp_merger_add(m, p, "one");
    p->header.frames = SP_FRAMES_FUNCTION;
    if (!st)
        st = sp_merger_add(m, p, "other");
    if (!st)
        st = sp_merger_finish(m, &whole);
    sp_merger_free(m);
    if (!st)
        st = spaa->write(whole, write, d, out);
    sp_profile_free(whole);
    return st == SPAA_ERR_USAGE ? SPAA_ERR_UNSUPPORTED : st; /* refused */
}

/* What was read comes back from the profile. */
static spaa_status give(const struct sp_profile *p, const struct spaa_format *format,
                        const struct sp_write_opts *write, struct sp_diags *d)
{
    struct sp_output *out;
    bool given = false;
    spaa_status st = sp_output_memory(d, &out);
    if (st)
        return st;
    st = sp_original_give(p, format, write, d, out, &given);
    sp_output_close(out);
    return st || given ? st : SPAA_ERR_BUG;
}

static spaa_status convert(const struct spaa_format *format, struct sp_input *in, const char *symfs,
                           struct sp_diags *d, bool merged, struct sp_keeper **keeper, struct sp_output *out)
{
    struct sp_symbolized count;
    static const char *const keys[] = {"queue", "agent", "fleet_instance", "region"};
    const struct sp_label_keys asked = {keys, 4};
    struct sp_read_opts opts = {.frames = SP_FRAMES_ADDRESS,
                                .group_by = SP_BY_DEFAULT,
                                .asked = &asked,
                                .samples = true,
                                .windows = 2,
                                .symbols = {.no_symbols = !symfs, .symfs = symfs}};
    struct sp_write_opts write = {.event = SP_NONE, .metric = SP_NONE};
    const struct spaa_format *spaa = sp_format_by_name("spaa");
    const unsigned char *first;
    size_t n;
    struct sp_profile *p = NULL;
    spaa_status st = sp_original_keep(in, d, keeper);
    opts.keeper = *keeper;
    if (!st)
        st = sp_input_peek(in, 1, &first, &n);
    if (st || (st = sp_input_failed(in)) == SPAA_ERR_NOMEM)
        return st;
    if (!format && !(format = sp_format_probe(in, NULL)))
        return sp_input_failed(in) == SPAA_ERR_NOMEM ? SPAA_ERR_NOMEM : SPAA_ERR_UNSUPPORTED;
    sp_keeper_begin(opts.keeper, format);
    st = sp_profile_new(d, &p);
    if (!st)
        st = format->read(in, &opts, d, p);
    if (!st)
        st = sp_keeper_end(opts.keeper, in, format, &opts, p);
    if (!st && format != spaa)
        st = give(p, format, &write, d);
    if (!st && symfs && format == spaa)
        st = sp_symbolize(p, &opts.symbols, sp_input_jobs(in), d, &count);
    if (!st)
        st = merged ? merge(p, spaa, &write, d, out) : spaa->write(p, &write, d, out);
    if (!st)
        st = sp_output_commit(out);
    sp_profile_free(p);
    return st;
}

static spaa_status run(const struct spaa_format *format, const void *p, size_t n, size_t chunk, unsigned jobs,
                       const char *symfs, bool merged, struct sp_diags *d, struct sp_output **out)
{
    struct sp_input *in = NULL;
    struct sp_keeper *keeper = NULL;
    *out = NULL;
    spaa_status st = sp_input_memory(p, n, "sweep", d, &in);
    if (!st) {
        sp_input_set_chunk(in, chunk);
        sp_input_set_jobs(in, jobs);
        st = sp_output_memory(d, out);
    }
    if (!st)
        st = convert(format, in, symfs, d, merged, &keeper, *out);
    sp_input_close(in);
    sp_keeper_free(keeper);
    return st;
}

spaa_status sweep_convert(const struct spaa_format *format, const void *p, size_t n, size_t chunk,
                          bool merged, struct sp_diags *d, struct sp_output **out)
{
    return run(format, p, n, chunk, 1, NULL, merged, d, out);
}

spaa_status sweep_names(const void *p, size_t n, const char *symfs, unsigned jobs, struct sp_diags *d,
                        struct sp_output **out)
{
    return run(NULL, p, n, 0, jobs, symfs, false, d, out);
}

const struct spaa_format *sweep_probe(const struct sweep_file *f)
{
    struct sp_diags d;
    struct sp_input *in;
    const struct spaa_format *format = NULL;
    sp_diags_init(&d);
    if (sp_input_memory(f->bytes, f->n, f->path, &d, &in) == SPAA_OK) {
        format = sp_format_probe(in, NULL);
        sp_input_close(in);
    }
    sp_diags_free(&d);
    return format;
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

size_t sweep_damage(unsigned char *p, size_t n, uint64_t *seed)
{
    static const unsigned char odd[] = {0, 1, 0x7f, 0x80, 0xff, '\n', '"', '{', ';', ' ', '-', '9'};
    for (uint64_t times = next(seed) % 4 + 1; times && n; times--) {
        size_t at = (size_t)(next(seed) % n), len = (size_t)(next(seed) % 16 + 1);
        len = len < n - at ? len : n - at;
        switch (next(seed) % 5) {
        case 0:
            p[at] ^= (unsigned char)(1u << next(seed) % 8);
            break;
        case 1:
            p[at] = odd[next(seed) % sizeof odd];
            break;
        case 2: /* a field that is too large */
            memset(p + at, 0xff, len < 8 ? len : 8);
            break;
        case 3: /* something goes missing */
            memmove(p + at, p + at + len, n - at - len);
            n -= len;
            break;
        default: /* something comes twice */
            memmove(p + at, p + next(seed) % (n - len + 1), len);
        }
    }
    return n;
}

static int sweep_file(const char *path, size_t size, int (*each)(const struct sweep_file *f))
{
    FILE *file = fopen(path, "rb");
    /* Exactly as large as the file, so that a sanitizer sees the first byte read behind it. */
    struct sweep_file f = {path, malloc(size ? size : 1), size};
    int failed = 1;
    if (file && f.bytes && fread(f.bytes, 1, size, file) == size)
        failed = each(&f);
    else
        printf("%s: cannot be read\n", path);
    free(f.bytes);
    if (file)
        fclose(file);
    return failed;
}

static int sweep_path(const char *path, int levels, size_t max, int (*each)(const struct sweep_file *f))
{
    struct stat sb;
    if (stat(path, &sb)) {
        printf("%s: is not there\n", path);
        return 1;
    }
    if (S_ISREG(sb.st_mode))
        return (uintmax_t)sb.st_size <= max ? sweep_file(path, (size_t)sb.st_size, each) : 0;
    if (!S_ISDIR(sb.st_mode) || !levels)
        return 0;
    struct dirent **names;
    int failed = 0, n = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char below[PATH_ROOM];
        int len = snprintf(below, sizeof below, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && len < PATH_ROOM)
            failed += sweep_path(below, levels - 1, max, each);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return failed;
}

unsigned long sweep_part(void)
{
    const char *asked = getenv("SWEEP_PART");
    unsigned long part = asked ? strtoul(asked, NULL, 10) : 1;
    return part ? part : 1;
}

int sweep_files(int argc, char **argv, size_t max, int (*each)(const struct sweep_file *f))
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed += sweep_path(argv[i], LEVELS, max, each);
    return failed;
}
