/* Validating a file as a stream. */
#include "api/api.h"

#include "formats/open.h"

/* *out NULL: it is of none, as was reported. */
static spaa_status find_format(struct sp_input *in, const char *path, const char *name, struct sp_diags *d,
                               const struct spaa_format **out)
{
    *out = name ? sp_format_by_name(name) : sp_validated_format(in, path, d);
    if (name && !*out)
        return sp_api_usage(d, "there is no format \"%s\"", name);
    if (!*out || (*out)->validate)
        return SPAA_OK;
    sp_emit(d, SP_E009, SP_AT_NOTHING, "%s files cannot be validated", (*out)->name);
    return SPAA_ERR_UNSUPPORTED;
}

static spaa_status api_validate_check(const char *path, const struct spaa_validate_options *o,
                                      struct sp_diags *d)
{
    struct sp_input *in = NULL;
    const struct spaa_format *f = NULL;
    sp_diags_source(d, path, NULL);
    spaa_status st = sp_input_open(path, d, &in);
    if (!st)
        st = find_format(in, path, o->format, d, &f);
    if (!st && f) {
        sp_diags_source(d, path, f->name);
        st = f->validate(in, d);
    }
    if (!st)
        st = sp_input_failed(in);
    sp_input_close(in);
    return st;
}

spaa_status spaa_validate(const char *path, const struct spaa_validate_options *options,
                          struct spaa_verdict *verdict, struct spaa_diagnostics **diagnostics)
{
    struct spaa_validate_options o;
    struct sp_watch watch;
    struct sp_diags d;
    sp_diags_init(&d);
    spaa_status st = sp_api_options(&o, sizeof o, options, &d);
    spaa_status watched = sp_api_watch(&watch, o.watch, &d);
    st = st ? st : watched;
    if (!st && (!path || !verdict))
        st = sp_api_usage(&d, "no path to validate, or no place for the verdict");
    if (!st)
        st = api_validate_check(path, &o, &d);
    st = sp_api_unwatch(&watch, &d, st);
    if (!st) {
        struct spaa_verdict v = {.errors = sp_diags_count(&d, SP_ERROR)};
        v.warnings = sp_diags_count(&d, SP_WARNING) - v.errors;
        v.valid = !v.errors && !(o.strict && v.warnings);
        st = sp_api_result(verdict, &v, sizeof v);
    }
    return sp_api_deliver(&d, diagnostics, st);
}
