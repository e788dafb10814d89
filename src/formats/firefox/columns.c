/* The tables of a processed profile: columns of numbers and the strings that they name, wherever they stand.
 */
#include "base/num.h"
#include "formats/firefox/read.h"

#include <stdlib.h>

bool sp_ff_fail(struct sp_ff_reader *r)
{
    r->status = sp_nomem(r->d);
    return false;
}

static bool ff_note(struct sp_ff_reader *r, const struct sp_json *j)
{
    r->status = sp_json_file_note(&r->file, j);
    return !r->status;
}

bool sp_ff_ended(struct sp_ff_reader *r, const struct sp_json *j)
{
    if (!r->status)
        r->status = sp_json_file_ended(&r->file, j);
    return !r->status;
}

bool sp_ff_members(struct sp_ff_reader *r, struct sp_span object, struct sp_json_member *want, size_t n)
{
    struct sp_json j;
    sp_json_init(&j, object.p, object.n);
    if (object.n && *object.p == '{')
        sp_json_members(&j, want, n);
    bool ok = !j.scratch.failed || sp_ff_fail(r);
    sp_json_free(&j);
    return ok;
}

/* decimals: takes what is no whole number; NULL: it is rounded. */
static int64_t ff_number(struct sp_ff_reader *r, struct sp_span raw, unsigned digits,
                         struct sp_ff_decimals *decimals)
{
    __int128 v;
    int64_t whole;
    bool exact = true;
    if (!digits && sp_parse_i64(raw.p, raw.p + raw.n, &whole) == raw.n && whole > SP_DECIMAL)
        return whole;
    if (decimals && sp_parse_fixed(raw.p, raw.n, 9, &v, &exact) && v % 1000000000) {
        r->rounded += !exact;
        return sp_vec_push(decimals, v) || sp_ff_fail(r) ? SP_DECIMAL : SP_ABSENT;
    }
    exact = true;
    if (!sp_parse_fixed(raw.p, raw.n, digits, &v, &exact) || v <= SP_DECIMAL || v > INT64_MAX) {
        r->bad++;
        return SP_ABSENT;
    }
    r->rounded += !exact;
    return (int64_t)v;
}

static bool ff_column(struct sp_ff_reader *r, struct sp_span raw, unsigned digits, struct sp_ff_column *out,
                      struct sp_ff_decimals *decimals)
{
    struct sp_json j;
    struct sp_span item;
    out->n = 0;
    sp_json_init(&j, raw.p, raw.n);
    if (raw.n && *raw.p == '[' && sp_json_array(&j))
        while (sp_json_item(&j)) {
            enum sp_json_type type = sp_json_type(&j);
            if (!sp_json_skip(&j, &item) || !ff_note(r, &j))
                break;
            int64_t v = type == SP_JSON_NUMBER ? ff_number(r, item, digits, decimals)
                        : type == SP_JSON_TRUE ? 1
                                               : SP_ABSENT;
            r->bad += type != SP_JSON_NUMBER && type != SP_JSON_NULL && type != SP_JSON_TRUE &&
                      type != SP_JSON_FALSE;
            if (!sp_vec_push(out, v)) {
                sp_ff_fail(r);
                break;
            }
        }
    bool ok = sp_ff_ended(r, &j);
    sp_json_free(&j);
    return ok;
}

bool sp_ff_column(struct sp_ff_reader *r, struct sp_span raw, unsigned digits, struct sp_ff_column *out)
{
    return ff_column(r, raw, digits, out, NULL);
}

bool sp_ff_numbers(struct sp_ff_reader *r, struct sp_span raw, struct sp_ff_column *out,
                   struct sp_ff_decimals *decimals)
{
    decimals->n = 0;
    return ff_column(r, raw, 0, out, decimals);
}

/* ---- strings ---- */

static bool ff_strings(struct sp_ff_reader *r, struct sp_span raw, struct sp_ff_tables *t)
{
    struct sp_json j;
    struct sp_span item;
    sp_json_init(&j, raw.p, raw.n);
    if (raw.n && *raw.p == '[' && sp_json_array(&j))
        while (sp_json_item(&j) && sp_json_skip(&j, &item) && ff_note(r, &j))
            if (!sp_vec_push(&t->strings, item)) {
                sp_ff_fail(r);
                break;
            }
    bool ok = sp_ff_ended(r, &j);
    sp_json_free(&j);
    return ok;
}

struct sp_str sp_ff_text(struct sp_ff_reader *r, const struct sp_ff_tables *t, int64_t string)
{
    const struct sp_ff_tables *of = t->strings.n ? t : &r->shared;
    sp_buf_clear(&r->b);
    if (string < 0 || (uint64_t)string >= of->strings.n)
        return (struct sp_str){"", 0};
    sp_json_text_to(&r->b, of->strings.v[string]);
    if (r->b.failed)
        sp_ff_fail(r);
    return (struct sp_str){r->b.len ? r->b.data : "", (uint32_t)r->b.len};
}

/* ---- libraries ---- */

static bool ff_raw_text(struct sp_ff_reader *r, struct sp_span raw)
{
    sp_buf_clear(&r->b);
    if (raw.n && *raw.p == '"')
        sp_json_text_to(&r->b, raw);
    return !r->b.failed || sp_ff_fail(r);
}

/* Build-ids as others have them: hex digits in lower case. What stands for less than half of one is none. */
static bool ff_is_build_id(const struct sp_buf *b)
{
    for (size_t i = 0; i < b->len; i++)
        if (!(b->data[i] >= '0' && b->data[i] <= '9') && !(b->data[i] >= 'a' && b->data[i] <= 'f'))
            return false;
    return b->len >= 16 && b->len % 2 == 0;
}

/* codeId is the build-id where there is one (Linux); breakpadId has it mixed up, or cut. */
uint32_t sp_ff_lib_dso(struct sp_ff_reader *r, struct sp_ff_lib_row *lib, bool kernel)
{
    struct sp_json_member m[] = {{"path", {0}}, {"name", {0}}, {"codeId", {0}}};
    struct sp_dso dso = {0};
    if (lib->dso[kernel])
        return lib->dso[kernel] - 1;
    if (!sp_ff_members(r, lib->raw, m, sizeof m / sizeof *m) || !ff_raw_text(r, m[0].raw) ||
        (!r->b.len && !ff_raw_text(r, m[1].raw)))
        return SP_NONE;
    if (!r->b.len)
        sp_buf_puts(&r->b, "[unknown]");
    dso.name = r->b.failed ? SP_STR_FAIL : sp_profile_text(r->p, r->b.data, r->b.len);
    dso.is_kernel = kernel || (r->b.len > 7 && memcmp(r->b.data, "[kernel", 7) == 0);
    if (!ff_raw_text(r, m[2].raw))
        return SP_NONE;
    if (ff_is_build_id(&r->b))
        dso.build_id = sp_profile_str(r->p, r->b.data, r->b.len);
    bool ok = dso.name != SP_STR_FAIL && dso.build_id != SP_STR_FAIL;
    lib->dso[kernel] = (ok ? sp_dso_intern(r->p, &dso) : SP_NONE) + 1;
    return lib->dso[kernel] - 1;
}

bool sp_ff_read_libs(struct sp_ff_reader *r, struct sp_span libs, struct sp_ff_tables *t)
{
    struct sp_json j;
    struct sp_ff_lib_row lib = {0};
    sp_json_init(&j, libs.p, libs.n);
    if (libs.n && *libs.p == '[' && sp_json_array(&j))
        while (sp_json_item(&j) && sp_json_skip(&j, &lib.raw))
            if (!sp_vec_push(&t->libs, lib)) {
                sp_ff_fail(r);
                break;
            }
    bool ok = sp_ff_ended(r, &j);
    sp_json_free(&j);
    return ok;
}

/* ---- tables ---- */

struct ff_want {
    const char *name;
    struct sp_ff_column *to;
};

static bool ff_table(struct sp_ff_reader *r, struct sp_span raw, const struct ff_want *want, size_t n)
{
    struct sp_json_member m[8];
    for (size_t i = 0; i < n; i++)
        m[i] = (struct sp_json_member){want[i].name, {0}};
    if (!sp_ff_members(r, raw, m, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!sp_ff_column(r, m[i].raw, 0, want[i].to))
            return false;
    return true;
}

bool sp_ff_read_tables(struct sp_ff_reader *r, struct sp_span object, struct sp_ff_tables *t)
{
    struct sp_json_member m[] = {{"stringArray", {0}}, {"stringTable", {0}}, {"stackTable", {0}},
                                 {"frameTable", {0}},  {"funcTable", {0}},   {"resourceTable", {0}},
                                 {"sources", {0}},     {"libs", {0}}};
    const struct ff_want stacks[] = {
        {"frame", &t->frame}, {"prefix", &t->prefix}, {"prefixOffset", &t->offset}};
    const struct ff_want frames[] = {{"func", &t->func},
                                     {"address", &t->address},
                                     {"inlineDepth", &t->depth},
                                     {"category", &t->category},
                                     {"line", &t->line},
                                     {"column", &t->column},
                                     {"lib", &t->lib}};
    const struct ff_want funcs[] = {
        {"name", &t->name},     {"resource", &t->resource},     {"source", &t->source},
        {"fileName", &t->file}, {"lineNumber", &t->first_line}, {"columnNumber", &t->first_column},
        {"isJS", &t->js}};
    const struct ff_want resources[] = {{"lib", &t->resource_lib}, {"name", &t->resource_name}};
    const struct ff_want sources[] = {{"filename", &t->source_file}};
    bool ok = sp_ff_members(r, object, m, sizeof m / sizeof *m) &&
              ff_strings(r, m[0].raw.n ? m[0].raw : m[1].raw, t) && ff_table(r, m[2].raw, stacks, 3) &&
              ff_table(r, m[3].raw, frames, 7) && ff_table(r, m[4].raw, funcs, 7) &&
              ff_table(r, m[5].raw, resources, 2) && ff_table(r, m[6].raw, sources, 1) &&
              sp_ff_read_libs(r, m[7].raw, t);
    t->frame_of = ok ? calloc(2 * t->func.n + 1, sizeof *t->frame_of) : NULL;
    return ok && (t->frame_of || sp_ff_fail(r));
}

void sp_ff_free_tables(struct sp_ff_tables *t)
{
    struct sp_ff_column *const all[] = {&t->frame,       &t->prefix,     &t->offset,       &t->func,
                                        &t->address,     &t->depth,      &t->category,     &t->line,
                                        &t->column,      &t->lib,        &t->name,         &t->resource,
                                        &t->source,      &t->file,       &t->resource_lib, &t->resource_name,
                                        &t->source_file, &t->first_line, &t->first_column, &t->js};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sp_vec_free(all[i]);
    sp_vec_free(&t->strings);
    sp_vec_free(&t->libs);
    free(t->frame_of);
    *t = (struct sp_ff_tables){0};
}
