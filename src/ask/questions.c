#include "ask/question.h"

#include "ask/next.h"

#include <string.h>

#define SPAA_QUESTION(name) extern const struct sp_question sp_question_##name;
#include "base/watch.h"
#include "questions.def"
#undef SPAA_QUESTION

const struct sp_question *const sp_questions[] = {
#define SPAA_QUESTION(name) &sp_question_##name,
#include "questions.def"
#undef SPAA_QUESTION
    NULL,
};

const struct sp_question *sp_question_find(const char *name)
{
    for (size_t i = 0; sp_questions[i]; i++)
        if (strcmp(sp_questions[i]->name, name) == 0)
            return sp_questions[i];
    return NULL;
}

spaa_status sp_ask(struct sp_ask *q, struct sp_answer *out)
{
    spaa_status st = sp_progress(q->diags, "asking", q->question->name, "", 0, 0);
    if (!st)
        st = q->question->ask(q, out);
    if (!st)
        sp_next_commands(q, out);
    return st ? st : sp_answer_status(out);
}
