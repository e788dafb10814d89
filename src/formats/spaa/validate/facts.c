/* Records and members of facts (model/facts.h): whether values are what the reader takes. */
#include "formats/spaa/fact_values.h"
#include "formats/spaa/validate/internal.h"

void sp_judge_facts(struct sp_validator *v, struct sp_span object, const struct sp_fact *facts)
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

void sp_judge_fact_record(struct sp_validator *v, struct sp_span type)
{
    struct sp_span object = {v->text, v->n};
    enum sp_fact_record kind = sp_fact_record(type);
    if (kind == SP_PROCESS_FACT)
        sp_judge_facts(v, object, sp_process_facts);
    else if (kind == SP_IMAGE_FACT)
        sp_judge_facts(v, object, sp_image_facts);
}
