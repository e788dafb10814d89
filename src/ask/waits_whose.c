/*
 * Whose stacks those of a profile of contention are: a mutex profile of Go has those of who held others up,
 * and its weights read wrong without that.
 */
#include "ask/waits_parts.h"

#include "model/waiting.h"

void sp_waits_put_whose(const struct sp_profile *p, uint32_t event, struct sp_answer *out)
{
    static const char *const names[] = {[SP_WAITING_UNTOLD] = NULL,
                                        [SP_WAITING_WAITER] = "waiter",
                                        [SP_WAITING_HOLDER] = "holder",
                                        [SP_WAITING_BOTH] = "both"};
    enum sp_waiting_whose whose = sp_waiting_whose(p, event);
    const char *words = sp_waiting_words(whose);
    sp_fact_cstr(out, "stacks_of", names[whose]);
    if (*words)
        sp_answer_line(out, "%s", words);
}
