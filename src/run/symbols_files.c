/* Lists of files that are to be kept. */
#include "run/symbols.h"

void sp_run_symbols_files_free(struct symbols_files *x)
{
    sp_vec_free(&x->v);
    sp_arena_free(&x->arena);
}

static bool symbols_own(struct sp_arena *a, const char **text)
{
    *text = *text ? sp_arena_dup(a, *text, strlen(*text)) : NULL;
    return *text;
}

spaa_status sp_run_symbols_files_add(struct sp_run *run, struct symbols_files *x,
                                     const struct symbols_file *file)
{
    struct symbols_file f = *file;
    const char **texts[] = {&f.name, &f.path, &f.id, &f.why, &f.hint};
    bool ok = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ok = (!*texts[i] || symbols_own(&x->arena, texts[i])) && ok;
    return ok && sp_vec_push(&x->v, f) ? SPAA_OK : sp_nomem(run->diags);
}
