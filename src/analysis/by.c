#include "analysis/by.h"

#include "base/nearest.h"
#include "base/num.h"
#include "model/vocab.h"

#include <string.h>

const char *const sp_by_names[] = {"function", "symbol", "line",  "address", "dso",    "thread", "process",
                                   "comm",     "cpu",    "state", "event",   "source", NULL};

static spaa_status by_unknown(const char *word, size_t n, struct sp_diags *d)
{
    struct sp_str names[SP_TOP_LABEL];
    struct sp_buf hint, asked;
    sp_buf_init(&hint, 4096);
    sp_buf_init(&asked, 256);
    sp_buf_add(&asked, word, n);
    for (size_t i = 0; i < SP_TOP_LABEL; i++)
        names[i] = (struct sp_str){sp_by_names[i], (uint32_t)strlen(sp_by_names[i])};
    sp_nearest_words(&hint, sp_buf_cstr(&asked), names, SP_TOP_LABEL);
    if (strncmp(sp_buf_cstr(&hint), "did you mean", 12) != 0)
        sp_buf_clear(&hint);
    sp_buf_puts(&hint, hint.len ? " one of:" : "one of:");
    for (size_t i = 0; i < SP_TOP_LABEL; i++)
        sp_buf_printf(&hint, "%s %s", i ? "," : "", sp_by_names[i]);
    sp_buf_puts(&hint, ", queue, label:KEY; several by commas");
    sp_emit_hint(d, SP_E037, SP_AT_NOTHING, sp_buf_cstr(&hint), "--by has no value \"%s\"",
                 sp_buf_cstr(&asked));
    sp_buf_free(&hint);
    sp_buf_free(&asked);
    return SPAA_ERR_USAGE;
}

static spaa_status by_key(const char *word, size_t n, struct sp_diags *d, struct sp_by_key *out)
{
    static const char label[] = "label:";
    *out = (struct sp_by_key){.title = {word, (uint32_t)n}};
    if (n > strlen(label) && memcmp(word, label, strlen(label)) == 0) {
        out->kind = SP_TOP_LABEL;
        out->label = (struct sp_str){word + strlen(label), (uint32_t)(n - strlen(label))};
        return SPAA_OK;
    }
    if (n == 5 && memcmp(word, "queue", 5) == 0) { /* as threads of macOS have one */
        out->kind = SP_TOP_LABEL;
        out->label = (struct sp_str){word, 5};
        return SPAA_OK;
    }
    int i = sp_name_index(sp_by_names, word, n);
    out->kind = (enum sp_by)i;
    return i < 0 ? by_unknown(word, n, d) : SPAA_OK;
}

spaa_status sp_by_parse(const char *text, struct sp_diags *d, struct sp_by_list *out)
{
    *out = sp_by_one(SP_TOP_FUNCTION);
    if (!text)
        return SPAA_OK;
    out->n = 0;
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        struct sp_by_key key;
        spaa_status st = by_key(at, n, d, &key);
        if (st)
            return st;
        for (size_t i = 0; i < out->n; i++)
            if (sp_str_cmp(out->v[i].title, key.title) == 0) {
                sp_emit(d, SP_E037, SP_AT_NOTHING, "--by names %.*s twice", (int)n, at);
                return SPAA_ERR_USAGE;
            }
        if (out->n == SP_BY_KEYS) {
            sp_emit(d, SP_E037, SP_AT_NOTHING, "--by takes at most %d", SP_BY_KEYS);
            return SPAA_ERR_USAGE;
        }
        out->v[out->n++] = key;
        at += n;
        if (!*at)
            return SPAA_OK;
    }
}

struct sp_by_list sp_by_one(enum sp_by kind)
{
    const char *name = sp_by_names[kind];
    return (struct sp_by_list){.v = {{.kind = kind, .title = {name, (uint32_t)strlen(name)}}}, .n = 1};
}

bool sp_by_has(const struct sp_by_list *by, enum sp_by kind)
{
    for (size_t i = 0; i < by->n; i++)
        if (by->v[i].kind == kind)
            return true;
    return false;
}

unsigned sp_by_groups(const struct sp_by_list *by)
{
    static const unsigned groups[SP_TOP_LABEL + 1] = {[SP_TOP_THREAD] = SP_BY_TID,
                                                      [SP_TOP_PROCESS] = SP_BY_PID,
                                                      [SP_TOP_COMM] = SP_BY_COMM,
                                                      [SP_TOP_CPU] = SP_BY_CPU};
    unsigned all = 0;
    for (size_t i = 0; i < by->n; i++)
        all |= groups[by->v[i].kind];
    return all;
}
