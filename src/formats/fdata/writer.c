/*
 * Writes samples without branches as llvm-bolt takes them (-data FILE), what `perf2bolt -nl` makes of them:
 *
 *     no_lbr cycles:             the event, with the colon that `perf script` sets behind its name
 *     1 main 1a 12               a function by its symbol, an offset in it in hex, how often
 *     1 walk/list.c/1 4 3        a local one has the name of its file, and which of that name it is
 *
 * Stubs of the procedure linkage table are NAME@PLT. Functions are those of the binary's symbol table:
 * samples in what has no name are left out. With branches the format counts falls from one basic block to the
 * next, too, which perf2bolt finds by disassembling: these are written by `bolt`, for it to do so.
 */
#include "formats/common/branches/branches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct place {
    const char *linkage, *file; /* file NULL: not a local function */
    uint64_t offset, count;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What a line of this text has no way to hold; blanks it has. */
static bool has_control(const char *s)
{
    return strpbrk(s, "\t\r\n");
}

/* Blanks and backslashes as BOLT's reader takes them. */
static void write_escaped(const char *p, size_t n, struct sp_output *out)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] == ' ' || p[i] == '\\')
            sp_write(out, "\\", 1);
        sp_write(out, &p[i], 1);
    }
}

/* Which symbol a sample is in; false: it is not known, or cannot be written. */
static bool place_of(const struct sp_profile *p, const struct sp_br_row *row, struct place *out)
{
    const struct sp_frame *f = &p->frames.v[row->frame];
    const struct sp_function *function = &p->functions.v[f->function];
    uint32_t number = f->info ? f->info : function->info;
    const struct sp_func_info *info = number ? &p->func_infos.v[number - 1] : NULL;
    *out = (struct place){.linkage = sp_pstr(p, function->name).p, .count = row->count};
    if (f->flags & SP_FRAME_UNRESOLVED)
        return false;
    if (info && info->linkage)
        out->linkage = sp_pstr(p, info->linkage).p;
    if (info && info->flags & SP_FUNC_START && row->a >= info->start)
        out->offset = row->a - info->start;
    else if (f->flags & SP_FRAME_SYMOFF)
        out->offset = f->symoff;
    else
        return false;
    if (info && info->flags & SP_FUNC_LOCAL)
        out->file = info->file ? base_name(sp_pstr(p, info->file).p) : "";
    return *out->linkage && !has_control(out->linkage) && (!out->file || !has_control(out->file));
}

static int by_name(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int c = strcmp(x->linkage, y->linkage);
    if (!c)
        c = strcmp(x->file ? x->file : "", y->file ? y->file : "");
    if (!c)
        c = (x->file != NULL) - (y->file != NULL);
    return c ? c : (x->offset > y->offset) - (x->offset < y->offset);
}

static bool is_same(const struct place *x, const struct place *y)
{
    return by_name(x, y) == 0;
}

static void write_places(const struct place *v, size_t n, struct sp_output *out)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t count = v[i].count, sum;
        while (i + 1 < n && is_same(&v[i], &v[i + 1])) {
            i++;
            count = __builtin_add_overflow(count, v[i].count, &sum) || sum > INT64_MAX ? INT64_MAX : sum;
        }
        size_t name = strlen(v[i].linkage), plt = sizeof "@plt" - 1;
        bool of_plt = name > plt && strcmp(v[i].linkage + name - plt, "@plt") == 0;
        sp_puts(out, "1 ");
        write_escaped(v[i].linkage, of_plt ? name - plt : name, out);
        sp_puts(out, of_plt ? "@PLT" : "");
        if (v[i].file && *v[i].file) {
            sp_puts(out, "/");
            write_escaped(v[i].file, strlen(v[i].file), out);
        }
        sp_printf(out, "%s %" PRIx64 " %" PRIu64 "\n", v[i].file ? "/1" : "", v[i].offset, count);
    }
}

/* The event's name as one word, as perf2bolt takes it over from `perf script`. */
static void write_event(const struct sp_profile *p, uint32_t event, struct sp_output *out)
{
    struct sp_str name = event == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->events.v[event].name);
    sp_puts(out, "no_lbr ");
    for (uint32_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        char t = c <= ' ' || c == 127 ? '_' : (char)c;
        sp_write(out, &t, 1);
    }
    sp_puts(out, name.n ? ":\n" : "samples:\n");
}

static spaa_status fdata_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                               struct sp_output *out)
{
    const struct sp_br_wants wants = {
        .format = "BOLT's profile of samples", .addresses = SP_BR_LINKED, .samples = true};
    struct sp_branches b;
    spaa_status st = sp_branches_take(p, opts, &wants, d, &b);
    if (st)
        return st;
    struct place *places = calloc(b.samples.n + 1, sizeof *places);
    uint64_t lost = 0;
    size_t n = 0;
    for (size_t i = 0; places && i < b.samples.n; i++) {
        if (place_of(p, &b.samples.v[i], &places[n]))
            n++;
        else
            lost += b.samples.v[i].count;
    }
    if (!places) {
        st = sp_nomem(d);
    } else if (!n) {
        sp_emit_hint(d, SP_E860, SP_AT_NOTHING,
                     "name the functions: `--symfs DIR`, or `spaa symbolize` before",
                     "BOLT's profile of samples: no sample is in a function with a name");
        st = SPAA_ERR_UNSUPPORTED;
    } else {
        if (lost)
            sp_emit(d, SP_L862, SP_AT_NOTHING, "%" PRIu64 " samples in what has no symbol", lost);
        qsort(places, n, sizeof *places, by_name);
        write_event(p, b.event, out);
        write_places(places, n, out);
        st = out->status;
    }
    free(places);
    sp_branches_free(&b);
    return st;
}

static const struct sp_format_option options[] = {SP_BR_OPTIONS, {0}};

const struct spaa_format spaa_format_fdata = {
    .name = "fdata",
    .title = "BOLT's profile of samples (fdata)",
    .extensions = "fdata",
    .media_type = "text/plain",
    .comes_back = "nothing: they are not read",
    .caps = SP_CAN_WRITE | SP_OF_BRANCHES,
    .options = options,
    .write = fdata_write,
};
