#include "formats/open.h"

#include "base/nearest.h"
#include "base/watch.h"
#include "formats/original.h"
#include "model/extent.h"
#include "model/merge.h"
#include "model/off_cpu.h"
#include "model/samples.h"
#include "symbols/symbolize.h"
#include "json/find.h"

#include <stdio.h>
#include <string.h>

enum { NAMES = 128 };

static void usage(struct sp_diags *d, const char *asked, const struct sp_str *names, size_t n,
                  const char *see, const char *what)
{
    struct sp_buf hint;
    sp_buf_init(&hint, 4096);
    sp_nearest_words(&hint, asked, names, n);
    sp_buf_printf(&hint, "%s%s", hint.len && *see ? "; " : "", see);
    sp_emit_hint(d, SP_E037, SP_AT_NOTHING, sp_buf_cstr(&hint), "%s", what);
    sp_buf_free(&hint);
}

const struct spaa_format *sp_named_format(const char *name, unsigned caps, struct sp_diags *d)
{
    const struct spaa_format *f = sp_format_by_name(name);
    struct sp_str names[NAMES];
    char what[200];
    size_t n = 0;
    if (f && (f->caps & caps) == caps)
        return f;
    for (size_t i = 0; spaa_formats[i] && n < NAMES; i++)
        if ((spaa_formats[i]->caps & caps) == caps)
            names[n++] = (struct sp_str){spaa_formats[i]->name, (uint32_t)strlen(spaa_formats[i]->name)};
    if (f && caps & SP_CAN_WRITE)
        sp_emit_hint(d, SP_E021, SP_AT_NOTHING, "`spaa formats` shows which can be", "%s", f->name);
    else if (f)
        sp_emit_hint(d, SP_E009, SP_AT_NOTHING, "`spaa formats` shows what each can do", "%s has no %s",
                     f->name,
                     caps & SP_CAN_VALIDATE ? "validator"
                     : caps & SP_CAN_DUMP   ? "dump"
                                            : "reader");
    else {
        snprintf(what, sizeof what, "there is no format \"%.100s\"", name);
        usage(d, name, names, n, "`spaa formats` lists them", what);
    }
    return NULL;
}

static void unknown(struct sp_diags *d, const unsigned char *p, size_t n, const struct sp_guess *guess)
{
    char hint[300], bytes[16];
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(bytes + at, sizeof bytes - at, "%s%02x", i ? " " : "", p[i]);
    if (guess->format)
        snprintf(hint, sizeof hint, "the nearest is %s: %s; `--from %s` reads it as that",
                 guess->format->name, guess->reason, guess->format->name);
    else
        snprintf(hint, sizeof hint, "see `spaa formats` for what can be read; `--from FORMAT` forces one");
    sp_emit_hint(d, SP_E005, SP_AT(0), hint, "no reader knows its first bytes (%s)", bytes);
}

spaa_status sp_input_format(struct sp_input *in, const char *name, struct sp_diags *d,
                            const struct spaa_format **out)
{
    const unsigned char *p;
    unsigned char first[4] = {0}; /* probing looks further ahead, and what was lent before is gone then */
    struct sp_guess guess;
    size_t n;
    if (name) {
        *out = sp_named_format(name, SP_CAN_READ, d);
        return *out ? SPAA_OK : SPAA_ERR_USAGE;
    }
    spaa_status st = sp_input_peek(in, 4, &p, &n);
    if (!st && !n)
        st = sp_input_failed(in);
    if (st)
        return st;
    if (!n) {
        sp_emit(d, SP_E004, SP_AT(0), " ");
        return SPAA_ERR_INPUT;
    }
    n = n < sizeof first ? n : sizeof first;
    memcpy(first, p, n);
    *out = sp_format_probe(in, &guess);
    if (*out)
        return SPAA_OK;
    st = sp_input_failed(in);
    if (st == SPAA_ERR_NOMEM || st == SPAA_ERR_IO)
        return st;
    unknown(d, first, n, &guess);
    return SPAA_ERR_INPUT;
}

/* Whether an object that the text begins with has a member `type`, as SPAA's records do. */
static bool is_record(struct sp_span text)
{
    struct sp_json j;
    struct sp_span key, raw;
    bool found = false;
    sp_json_init(&j, text.p, text.n);
    if (sp_json_type(&j) == SP_JSON_OBJECT && sp_json_object(&j))
        while (!found && sp_json_key(&j, &key)) {
            found = sp_span_is(key, "type");
            if (!found && !sp_json_skip(&j, &raw))
                break;
        }
    sp_json_free(&j);
    return found;
}

/* Whether one of the lines is all JSON, as the lines of SPAA are, or begins as a record, be it cut off in
 * that. */
static bool any_line_fits(struct sp_span text)
{
    static const char begins[] = "{\"type\"";
    struct sp_json j;
    struct sp_span raw;
    for (const char *p = text.p, *end = text.p + text.n; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        struct sp_span line = {p, (size_t)((nl ? nl : end) - p)};
        p = nl ? nl + 1 : end;
        if (!line.n || *line.p != '{')
            continue;
        sp_json_init(&j, line.p, line.n);
        bool fits = (sp_json_skip(&j, &raw) && sp_json_end(&j)) || is_record(line) ||
                    (!nl && line.n < sizeof begins && memcmp(line.p, begins, line.n) == 0);
        sp_json_free(&j);
        if (fits)
            return true;
    }
    return false;
}

/*
 * A text that is one JSON value, begins as a long one or as one that is damaged, and no record of SPAA, into
 * `what`; false: it is none.
 */
static bool other_json(struct sp_input *in, char what[static 200])
{
    static const char *const kinds[] = {
        [SP_JSON_OBJECT] = "an object", [SP_JSON_ARRAY] = "an array", [SP_JSON_STRING] = "a string",
        [SP_JSON_NUMBER] = "a number",  [SP_JSON_TRUE] = "`true`",    [SP_JSON_FALSE] = "`false`",
        [SP_JSON_NULL] = "`null`"};
    const unsigned char *p;
    size_t n;
    bool whole;
    struct sp_json j;
    struct sp_span raw;
    if (sp_probe_view(in, &p, &n, &whole) != SPAA_OK || !n)
        return false;
    struct sp_span text = {(const char *)p, n};
    sp_json_init(&j, text.p, n);
    enum sp_json_type type = sp_json_type(&j);
    bool value = sp_json_skip(&j, &raw) ? sp_json_end(&j) : !whole && j.error_at == n,
         nests = type == SP_JSON_OBJECT || type == SP_JSON_ARRAY, is = false;
    if (is_record(text)) {
        is = false;
    } else if (value) {
        is = true;
        snprintf(what, 200, "it is JSON, %s,", kinds[type]);
    } else if (nests && j.error && !any_line_fits(text)) {
        is = true;
        snprintf(what, 200, "it begins as JSON, %s, is damaged from offset %zu on (%.80s),", kinds[type],
                 j.error_at, j.error);
    }
    sp_json_free(&j);
    return is;
}

const struct spaa_format *sp_validated_format(struct sp_input *in, const char *path, struct sp_diags *d)
{
    struct sp_guess guess;
    const struct spaa_format *f = sp_format_probe(in, &guess), *named = sp_format_by_path(path);
    if (f)
        return f;
    if (named && named->validate)
        return named;
    if (guess.format && guess.format->validate)
        return guess.format;
    char what[200];
    if (!other_json(in, what))
        return sp_format_by_name("spaa");
    sp_emit_hint(d, SP_E005, SP_AT(0),
                 "SPAA has a record with a `type` on each line, a CodeGuru profile is one object with "
                 "`callgraph`; `--from FORMAT` judges it as one of them",
                 "%s and neither SPAA nor a CodeGuru profile", what);
    return NULL;
}

spaa_status sp_output_format(const char *path, const char *name, struct sp_diags *d,
                             const struct spaa_format **out)
{
    const struct spaa_format *f;
    if (sp_output_format_named(path, name, d, &f))
        return SPAA_ERR_USAGE;
    *out = sp_named_format(f->name, SP_CAN_WRITE, d);
    return *out ? SPAA_OK : SPAA_ERR_UNSUPPORTED;
}

spaa_status sp_output_format_named(const char *path, const char *name, struct sp_diags *d,
                                   const struct spaa_format **out)
{
    const struct spaa_format *f = NULL;
    if (name)
        f = sp_named_format(name, 0, d);
    else if (strcmp(path, "-") == 0)
        sp_emit_hint(d, SP_E037, SP_AT_NOTHING, "name it, for example --to folded",
                     "standard output has no extension to tell the format");
    else if (!(f = sp_format_by_path(path)))
        sp_emit_hint(d, SP_E037, SP_AT_NOTHING, "name it, for example --to spaa",
                     "no format has the extension of %s", path);
    *out = f;
    return f ? SPAA_OK : SPAA_ERR_USAGE;
}

spaa_status sp_parse_groups(const char *list, struct sp_diags *d, unsigned *out)
{
    *out = SP_BY_DEFAULT | SP_BY_STATE;
    if (!list)
        return SPAA_OK;
    *out = 0;
    if (strcmp(list, "none") == 0)
        return SPAA_OK;
    while (*list) {
        size_t n = strcspn(list, ",");
        int i = sp_name_index(sp_group_names, list, n);
        bool label = n > 6 && memcmp(list, "label:", 6) == 0; /* the keys of labels are known apart */
        if (i < 0 && !label) {
            struct sp_str names[8];
            char word[64], what[128];
            size_t count = 0;
            for (; sp_group_names[count] && count < 8; count++)
                names[count] =
                    (struct sp_str){sp_group_names[count], (uint32_t)strlen(sp_group_names[count])};
            snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), list);
            snprintf(what, sizeof what, "--group-by has no key \"%s\"", word);
            usage(d, word, names, count, "keys are pid, tid, comm, cpu, state, label:KEY; or none", what);
            return SPAA_ERR_USAGE;
        }
        *out |= label ? 0u : 1u << i;
        list += n;
        list += *list == ',';
    }
    return SPAA_OK;
}

/* Readers keep the samples of switches for it, though nobody else may want them. */
static spaa_status add_off_cpu(struct sp_profile *p, struct sp_diags *d)
{
    spaa_status st = sp_off_cpu_add(p, d);
    if (p->samples_unasked) {
        p->switches = p->samples;
        p->samples = NULL;
        p->samples_unasked = false;
    }
    return st;
}

/*
 * Names that the reader does not look up itself, where somebody said what to look in: of what may lack them
 * with either option, of all else with that which names Mach-O images.
 */
static spaa_status add_names(struct sp_profile *p, const struct spaa_format *f,
                             const struct sp_read_opts *opts, struct sp_diags *d)
{
    const struct sp_symbol_opts *o = &opts->symbols;
    struct sp_symbolized done;
    bool asked = o->dsym || (o->symfs && f->caps & SP_NAMES_LACKING);
    if (!asked || opts->names_later || o->no_symbols || f->caps & SP_NAMES_FROM_SYMBOLS)
        return SPAA_OK;
    spaa_status st = sp_symbolize(p, o, opts->jobs, d, &done);
    if (!st && !done.asked && opts->frames != SP_FRAMES_ADDRESS)
        sp_emit(d, SP_I800, SP_AT_NOTHING, "frames were read without their addresses (--frames)");
    return st;
}

/* A name of a megabyte that thousands of rows share is gigabytes wherever each row has its name. */
static spaa_status check_names(const struct sp_profile *p, struct sp_diags *d)
{
    uint64_t bytes;
    if (!sp_profile_repeats(p, &bytes))
        return SPAA_OK;
    sp_emit_hint(d, SP_E007, SP_AT_NOTHING,
                 "no profiler writes such names; where they come from a binary, --no-symbols leaves them out",
                 "names that rows share would be %llu MB, out of all proportion to what the profile holds",
                 (unsigned long long)(bytes / 1000000));
    return SPAA_ERR_LIMIT;
}

spaa_status sp_read_profile(struct sp_input *in, const struct spaa_format *f, const struct sp_read_opts *opts,
                            struct sp_diags *d, struct sp_profile **out)
{
    struct sp_profile *p = NULL;
    spaa_status st = sp_profile_new(d, &p);
    struct timespec written;
    if (!st && sp_input_written(in, &written))
        p->written = written;
    if (opts->keeper)
        sp_keeper_begin(opts->keeper, f);
    if (!st)
        st = f->read(in, opts, d, p);
    if (!st)
        st = add_names(p, f, opts, d);
    if (!st && !sp_functions_settle(p))
        st = sp_nomem(d);
    if (!st && !(f->caps & SP_CAN_STATE_OWN)) /* which has them as often itself */
        st = check_names(p, d);
    if (!st)
        st = add_off_cpu(p, d);
    if (!st && opts->keeper)
        st = sp_keeper_end(opts->keeper, in, f, opts, p);
    if (!st && sp_input_failed(in) == SPAA_ERR_IO) /* what was read is not what is there */
        st = SPAA_ERR_IO;
    if (!st && !p->stacks.n && !p->events.n && !p->extensions.n && !p->originals) {
        sp_emit(d, SP_E011, SP_AT_NOTHING, " ");
        st = SPAA_ERR_INPUT;
    }
    if (!st && !p->stacks.n && !p->samples && !p->switches)
        sp_emit(d, SP_I325, SP_AT_NOTHING, " ");
    if (!st && opts->strict && sp_diags_count(d, SP_LOSS))
        st = SPAA_ERR_INPUT;
    if (st)
        sp_profile_free(p);
    else
        *out = p;
    if (!st) /* there is an answer: what was lost is no failure */
        sp_diags_recode(d, SP_E006, SP_L305);
    return st;
}

static void say_finer(const struct sp_header *h, struct sp_diags *d)
{
    struct sp_buf hint;
    sp_buf_init(&hint, 4096);
    sp_buf_printf(&hint, "the file has frames by %s, grouped by", sp_granularity_names[h->frames]);
    for (unsigned i = 0; sp_group_names[i]; i++)
        if (h->group_by >> i & 1)
            sp_buf_printf(&hint, " %s", sp_group_names[i]);
    sp_buf_puts(&hint, "; finer ones come from the original recording: "
                       "`spaa convert RECORDING -o FILE.spaa` with the same options");
    sp_emit_hint(d, SP_E033, SP_AT_NOTHING, sp_buf_cstr(&hint), " ");
    sp_buf_free(&hint);
}

spaa_status sp_coarsen(struct sp_profile **p, const struct spaa_format *f, const struct sp_grain *grain,
                       struct sp_diags *d)
{
    const struct sp_header *h = &(*p)->header;
    struct sp_profile *coarse = NULL;
    struct sp_merge_opts how = {.frames = grain->frames,
                                .group_by = grain->group ? grain->group_by : ~0u,
                                .labels = grain->group ? grain->labels : NULL};
    struct sp_merger *m = NULL;
    if (strcmp(f->name, "spaa") != 0 || (!grain->frames && !grain->group))
        return SPAA_OK;
    if (h->has_x_spaa &&
        ((grain->frames && h->frames > grain->frames) || (grain->group && grain->group_by & ~h->group_by))) {
        say_finer(h, d);
        return SPAA_ERR_USAGE;
    }
    spaa_status st = sp_merger_new(&how, d, &m);
    if (!st)
        st = sp_merger_add(m, *p, "");
    if (!st)
        st = sp_merger_finish(m, &coarse);
    sp_merger_free(m);
    if (st)
        return st;
    sp_profile_free(*p);
    *p = coarse;
    return SPAA_OK;
}
