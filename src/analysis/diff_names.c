/*
 * What a frame's function is matched by, and how it was compiled.
 *
 * Sources tell more or less of a name. Where the linkage name is known, what that demangles to counts, so
 * that f(int) and f(long) are two functions though both are shown as f; of functions that other files may
 * have, too, the file counts, as in `f [a.c]`. An inlined function of which debug information has nothing but
 * the last part of its name is the function of its binary that alone has a name that ends so.
 */
#include "analysis/diff_private.h"

#include "analysis/normalise.h"
#include "analysis/signature.h"
#include "model/functions.h"
#include "symbols/demangle.h"

const char *const sp_diff_form_names[] = {"whole",     ".isra", ".part",   ".constprop", ".cold",
                                          ".lto_priv", ".llvm", "inlined", NULL};

bool sp_diff_full_name(struct sp_buf *out, struct sp_str shown, struct sp_str linkage)
{
    struct sp_buf raw;
    struct sp_str stem = sp_without_suffixes(shown);
    bool hashed = sp_linkage_is_hashed(linkage); /* what is shown may have the arguments that it hashes */
    struct sp_str mangled = hashed                         ? (struct sp_str){0}
                            : linkage.n                    ? linkage
                            : shown.n && shown.p[0] == '_' ? stem
                                                           : (struct sp_str){0};
    sp_buf_init(&raw, 64 << 10);
    if (!mangled.n || !sp_buf_add(&raw, mangled.p, mangled.n) || !sp_demangle(sp_buf_cstr(&raw), out)) {
        out->len = 0;
        sp_buf_add(out, shown.p, shown.n);
    }
    bool ok = !out->nomem && !raw.nomem;
    sp_buf_free(&raw);
    return ok;
}

bool sp_diff_add_file(struct sp_buf *out, struct sp_str file)
{
    return sp_buf_puts(out, " [") && sp_buf_add(out, file.p, file.n) && sp_buf_ch(out, ']');
}

struct sp_str sp_diff_without_file(struct sp_str name)
{
    const char *at = name.n > 3 && name.p[name.n - 1] == ']' ? memrchr(name.p, '[', name.n) : NULL;
    return at && at - name.p > 1 && at[-1] == ' ' ? (struct sp_str){name.p, (uint32_t)(at - name.p) - 1}
                                                  : name;
}

/* ---- how it was compiled ---- */

static bool diff_names_holds(struct sp_str s, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= s.n; i++)
        if (memcmp(s.p + i, word, n) == 0 && (i + n == s.n || strchr(".] ", s.p[i + n])))
            return true;
    return false;
}

unsigned sp_diff_form_of(struct sp_str name, bool inlined)
{
    if (inlined)
        return SP_FORM_INLINED;
    for (unsigned i = SP_FORM_ISRA; i < SP_FORM_INLINED && memchr(name.p, '.', name.n); i++)
        if (diff_names_holds(name, sp_diff_form_names[i]))
            return i;
    return SP_FORM_WHOLE;
}

#define SEEN 5.0 /* so many samples would be expected of a form that one side lacks */

/* A form that `has` shows often enough that its absence on the other side is none of chance. */
static bool lacks(const double *has, const double *other, unsigned form, bool samples)
{
    double sum[2] = {0, 0};
    for (unsigned i = 0; i < SP_FORMS; i++) {
        sum[0] += has[i];
        sum[1] += other[i];
    }
    if (other[form] > 0 || !(has[form] > 0) || !(sum[1] > 0))
        return false;
    double share = has[form] / sum[0];
    return samples ? share * sum[1] >= SEEN : share >= 0.2;
}

void sp_diff_forms(struct sp_diff *d, struct sp_diff_row *row)
{
    double sum[SP_SIDES][SP_FORMS] = {{0}};
    for (unsigned side = 0; side < SP_SIDES; side++) /* folded stacks say nothing of it */
        for (size_t i = 0; i < d->runs[side].n; i++)
            if (d->runs[side].v[i]->no_binaries)
                return;
    bool samples = d->side[SP_BASE].samples != SP_ABSENT && d->side[SP_NEW].samples != SP_ABSENT;
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++) {
            const struct sp_diff_forms *x = sp_diff_forms_of(d->runs[side].v[i], row->key);
            for (unsigned f = 0; x && f < SP_FORMS; f++) {
                double v = samples ? x->samples[f] : x->weight[f];
                row->forms[side] |= v > 0 ? 1u << f : 0;
                sum[side][f] += v;
            }
        }
    for (unsigned f = 0; f < SP_FORMS; f++)
        row->recompiled = row->recompiled || lacks(sum[SP_BASE], sum[SP_NEW], f, samples) ||
                          lacks(sum[SP_NEW], sum[SP_BASE], f, samples);
}
