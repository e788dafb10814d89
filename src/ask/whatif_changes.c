#include "ask/whatif_changes.h"

#include "ask/usage.h"
#include "base/num.h"

#include <string.h>

static const char how[] = "NAME=2x is twice as fast, NAME=0 is gone, NAME=50% takes half of what it took";

/* What stands behind the last '=' of a change. */
struct factor {
    int64_t num, den;
    bool known;
};

static const int64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};

static struct factor factor_of(const char *p, size_t n)
{
    enum { DIGITS = 9, DECIMALS = 6 };
    size_t digits = 0;
    unsigned scale;
    int64_t v;
    while (digits < n && strchr("0123456789.", p[digits]))
        digits++;
    if (!digits || digits > DIGITS || !sp_parse_scaled(p, digits, &v, &scale) || scale > DECIMALS)
        return (struct factor){0};
    if (n == digits && !v)
        return (struct factor){0, 1, true};
    if (n == digits + 1 && p[digits] == 'x' && v)
        return (struct factor){powers[scale], v, true};
    if (n == digits + 1 && p[digits] == '%')
        return (struct factor){v, 100 * powers[scale], true};
    return (struct factor){0};
}

bool sp_change_is(const char *word)
{
    const char *eq = strrchr(word, '=');
    size_t digits = eq ? strspn(eq + 1, "0123456789.") : 0;
    return eq > word && digits && strspn(eq + 1 + digits, "x%") == strlen(eq + 1 + digits);
}

/* The next change of a text: its '=', and where it ends; NULL: there is none. */
static const char *change_end(const char *text, const char **eq, struct factor *f)
{
    for (*eq = text; (*eq = strchr(*eq, '=')); ++*eq) {
        size_t n = strcspn(*eq + 1, " \t\n");
        *f = factor_of(*eq + 1, n);
        if (f->known)
            return *eq + 1 + n;
    }
    return NULL;
}

static spaa_status change_add(const struct sp_profile *p, const char *text, size_t n, struct factor f,
                              struct sp_diags *d, struct sp_changes *out)
{
    static const char self[] = "self:";
    struct sp_change c = {.num = f.num, .den = f.den};
    c.self = n > sizeof self - 1 && memcmp(text, self, sizeof self - 1) == 0;
    text += c.self ? sizeof self - 1 : 0;
    n -= c.self ? sizeof self - 1 : 0;
    char *name = malloc(n + 1);
    if (!name || !sp_vec_push(&out->names, name)) {
        free(name);
        return sp_nomem(d);
    }
    memcpy(name, text, n);
    name[n] = '\0';
    spaa_status st = sp_lookup_functions(p, name, d, &c.functions);
    if (!st && !sp_vec_push(&out->list, c)) {
        sp_function_lookup_free(&c.functions);
        st = sp_nomem(d);
    }
    return st;
}

spaa_status sp_changes_parse(const struct sp_profile *p, const char *text, struct sp_diags *d,
                             struct sp_changes *out)
{
    spaa_status st = SPAA_OK;
    *out = (struct sp_changes){0};
    for (text += strspn(text, " \t\n"); !st && *text; text += strspn(text, " \t\n")) {
        struct factor f;
        const char *eq, *end = change_end(text, &eq, &f);
        if (!end || eq == text)
            return sp_usage(d, how, "%s says no function and factor", text);
        if (out->list.n == SP_WHATIF_CHANGES)
            return sp_usage(d, "name several functions as one, /RE/", "there are more than %d changes",
                            SP_WHATIF_CHANGES);
        st = change_add(p, text, (size_t)(eq - text), f, d, out);
        text = end;
    }
    return st || out->list.n ? st : sp_usage(d, how, "whatif needs a change");
}

void sp_changes_free(struct sp_changes *x)
{
    for (size_t i = 0; i < x->list.n; i++)
        sp_function_lookup_free(&x->list.v[i].functions);
    for (size_t i = 0; i < x->names.n; i++)
        free(x->names.v[i]);
    sp_vec_free(&x->list);
    sp_vec_free(&x->names);
}

void sp_change_words(struct sp_buf *b, const struct sp_change *c)
{
    char t[64];
    bool faster = c->num < c->den;
    if (!c->num) {
        sp_buf_puts(b, "gone");
    } else if (c->num == c->den) {
        sp_buf_puts(b, "as it is");
    } else {
        int64_t more = faster ? c->den : c->num, less = faster ? c->num : c->den;
        sp_scaled_text(sp_ratio(more, less, 100), 2, t);
        sp_buf_printf(b, "%s× as %s", t, faster ? "fast" : "slow");
    }
}
