#include "model/unused.h"

#include <stdlib.h>

/* The frames that are kept, again, with functions from a table of those that there were. */
static bool intern_again(struct sp_profile *p, const struct sp_function *functions, const bool *keep,
                         uint32_t *numbers)
{
    const size_t n = p->frames.n;
    p->frames.n = 0;
    for (size_t i = 0; i < n; i++) {
        struct sp_frame f = p->frames.v[i]; /* none of those from here on was moved yet */
        if (!keep[i])
            continue;
        f.function = sp_function_intern(p, functions[f.function].name, functions[f.function].dso);
        numbers[i] = f.function == SP_NONE ? SP_NONE : sp_frame_intern(p, &f);
        if (numbers[i] == SP_NONE)
            return false;
    }
    return true;
}

bool sp_frames_keep(struct sp_profile *p, const bool *keep)
{
    uint32_t *numbers = malloc((p->frames.n + 1) * sizeof *numbers);
    struct sp_function *functions = p->functions.v;
    if (!numbers)
        return false;
    p->functions.v = NULL;
    p->functions.n = p->functions.cap = 0;
    sp_map_clear(&p->function_map);
    sp_map_clear(&p->frame_map);
    bool ok = intern_again(p, functions, keep, numbers);
    for (size_t i = 0; ok && i < p->stack_frames.n; i++)
        p->stack_frames.v[i] = numbers[p->stack_frames.v[i]];
    free(functions);
    free(numbers);
    return ok;
}
