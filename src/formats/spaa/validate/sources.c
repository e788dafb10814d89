/* Records of source text: whether they can be used, by what the reader asks of them (../sources.c). */
#include "formats/spaa/fact_values.h"
#include "formats/spaa/validate/internal.h"
#include "model/source_pieces.h"

enum { SOURCE_FILE, SOURCE_TEXT, SOURCE_PATH, SOURCE_COMP_DIR, SOURCE_BINARY, SOURCE_STRINGS };
static const char *const source_strings[] = {"file", "text", "path", "comp_dir", "binary"};

struct source_record {
    struct sp_buf strings[SOURCE_STRINGS];
    int64_t lines, first;
    struct sp_span raw_hex; /* p NULL: none */
    bool nomem;
};

static struct sp_str source_str(const struct sp_buf *b)
{
    return (struct sp_str){b->data ? b->data : "", (uint32_t)b->len}; /* of a line, which is shorter */
}

static int source_string_of(struct sp_span key)
{
    int i = 0;
    while (i < SOURCE_STRINGS && !sp_span_is(key, source_strings[i]))
        i++;
    return i;
}

static void source_decode(struct sp_span object, struct source_record *x)
{
    struct sp_json j;
    struct sp_span key, raw;
    sp_facts_begin(&j, object);
    while (sp_json_key(&j, &key)) {
        int string = source_string_of(key);
        int64_t *number = sp_span_is(key, "lines") ? &x->lines : sp_span_is(key, "first") ? &x->first : NULL;
        bool hex = sp_span_is(key, "x_raw_hex");
        if (!sp_json_skip(&j, &raw))
            break;
        if (number)
            sp_fact_number_of(raw, number);
        else if (hex)
            x->raw_hex = raw;
        else if (string < SOURCE_STRINGS && *raw.p == '"') {
            sp_buf_clear(&x->strings[string]);
            sp_fact_decode(&x->strings[string], raw, &x->nomem);
        }
    }
    x->nomem |= sp_facts_nomem(&j);
    sp_json_free(&j);
}

/* Whether x_raw_hex is of this record's strings. */
static bool source_hex_fits(struct source_record *x)
{
    struct sp_json j;
    struct sp_span key, hex;
    struct sp_buf bytes;
    bool ok = *x->raw_hex.p == '{';
    sp_buf_init(&bytes, 0);
    sp_json_init(&j, x->raw_hex.p, x->raw_hex.n);
    ok = ok && sp_json_object(&j);
    while (ok && sp_json_key(&j, &key)) {
        int string = source_string_of(key);
        sp_buf_clear(&bytes);
        ok = string < SOURCE_STRINGS && sp_json_type(&j) == SP_JSON_STRING &&
             sp_json_string_value(&j, &hex) &&
             sp_raw_hex_bytes(hex, source_str(&x->strings[string]), &bytes, &x->nomem);
    }
    x->nomem |= sp_facts_nomem(&j);
    sp_json_free(&j);
    sp_buf_free(&bytes);
    return ok;
}

static void source_report(struct sp_validator *v, struct sp_span object, const char *field, const char *fault)
{
    struct sp_span raw = object;
    bool nomem = false;
    sp_fact_find(object, field, &raw, &nomem);
    sp_path_push(v, field, strlen(field));
    sp_report(v, SP_W225, raw.p, "%s", fault);
    v->nsteps--;
}

void sp_judge_source_record(struct sp_validator *v, struct sp_span type)
{
    struct sp_span object = {v->text, v->n};
    struct source_record x = {.lines = SP_ABSENT, .first = SP_ABSENT};
    const char *field, *fault;
    if (sp_fact_record(type) != SP_SOURCE_FACT)
        return;
    sp_judge_facts(v, object, sp_source_facts);
    for (size_t i = 0; i < SOURCE_STRINGS; i++)
        sp_buf_init(&x.strings[i], 0);
    source_decode(object, &x);
    field = "x_raw_hex";
    fault = x.raw_hex.p && !source_hex_fits(&x) ? SP_RAW_HEX_FAULT : NULL;
    if (!fault)
        fault = sp_source_fault(source_str(&x.strings[SOURCE_FILE]), source_str(&x.strings[SOURCE_TEXT]),
                                x.lines, x.first, &field);
    if (fault && !x.nomem)
        source_report(v, object, field, fault);
    if (x.nomem)
        sp_out_of_memory(v);
    for (size_t i = 0; i < SOURCE_STRINGS; i++)
        sp_buf_free(&x.strings[i]);
}
