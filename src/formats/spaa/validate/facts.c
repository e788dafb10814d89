/* Records and members of facts (model/facts.h): whether values are what the reader takes. */
#include "formats/spaa/fact_values.h"
#include "formats/spaa/validate/internal.h"

/* What stands in the object, whose fields these may be. */
static void facts_judge(struct sp_validator *v, struct sp_span object, const struct sp_fact *facts)
{
    struct sp_json j;
    struct sp_span key, raw;
    sp_facts_begin(&j, object);
    while (sp_json_key(&j, &key)) {
        const struct sp_fact *f = sp_fact_of_key(facts, key);
        if (!sp_json_skip(&j, &raw))
            break;
        const char *wanted = f ? sp_fact_wanted(f, raw) : NULL;
        if (wanted) {
            sp_path_push(v, f->key, strlen(f->key));
            sp_report(v, SP_W203, raw.p, "expected %s", wanted);
            v->nsteps--;
        }
    }
    sp_json_free(&j);
}

/* What a piece of source text must have to be used (model/source_pieces.h). */
static void facts_judge_source(struct sp_validator *v, struct sp_span object)
{
    static const char *const needed[] = {"file", "lines", "first", "text"};
    struct sp_span raw;
    bool nomem = false;
    facts_judge(v, object, sp_source_facts);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        int64_t number;
        const char *fault = NULL;
        if (!sp_fact_find(object, needed[i], &raw, &nomem)) {
            raw = object;
            fault = "there is none: the source text cannot be used";
        } else if ((i == 1 || i == 2) && sp_fact_number_of(raw, &number) && number < 1) {
            fault = "lines are numbered from 1 on";
        } else if (i == 3 && (raw.n < 4 || memcmp(raw.p + raw.n - 3, "\\n\"", 3) != 0)) {
            fault = "its last line does not end in a newline: it cannot be used";
        }
        if (!fault || nomem)
            continue;
        sp_path_push(v, needed[i], strlen(needed[i]));
        sp_report(v, SP_W203, raw.p, "%s", fault);
        v->nsteps--;
    }
}

void sp_judge_fact_record(struct sp_validator *v, struct sp_span type)
{
    enum sp_fact_record kind = sp_fact_record(type);
    if (kind == SP_PROCESS_FACT)
        facts_judge(v, (struct sp_span){v->text, v->n}, sp_process_facts);
    else if (kind == SP_IMAGE_FACT)
        facts_judge(v, (struct sp_span){v->text, v->n}, sp_image_facts);
    else if (kind == SP_SOURCE_FACT)
        facts_judge_source(v, (struct sp_span){v->text, v->n});
}
