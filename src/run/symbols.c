/* spaa symbols: copies of binaries by build-id, so that a recording has names when they were replaced. */
#include "run/symbols.h"

#include "ask/usage.h"

#include <limits.h>

#define SYMBOLS_HINT "spaa symbols add perf.data; spaa symbols list; spaa symbols gc --older-than 90"

static const char *const symbols_actions[] = {"add", "list", "gc", "pack", NULL};
enum { ACTION_ADD, ACTION_LIST, ACTION_GC, ACTION_PACK };

/* Options of another action, which would do nothing. */
static int symbols_check(struct sp_run *run, int action)
{
    const struct {
        const char *name, *value;
        int action;
    } own[] = {{"older-than", run->v.older_than, ACTION_GC},
               {"max-size", run->v.max_size, ACTION_GC},
               {"dry-run", run->v.gc_dry_run, ACTION_GC},
               {"output", run->v.output, ACTION_PACK}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i].value && own[i].action != action)
            return sp_run_usage(run, SYMBOLS_HINT, "--%s is of spaa symbols %s", own[i].name,
                                symbols_actions[own[i].action]);
    bool files = action == ACTION_ADD || action == ACTION_PACK;
    if (files && run->files.n < 2)
        return sp_run_usage(run, SYMBOLS_HINT, "symbols %s needs a file", symbols_actions[action]);
    if (!files && run->files.n > 1)
        return sp_run_usage(run, SYMBOLS_HINT, "symbols %s takes no files", symbols_actions[action]);
    return SP_EXIT_FINE;
}

static int symbols_act(struct sp_run *run, int action, const char *store)
{
    if (action == ACTION_PACK)
        return sp_run_symbols_pack(run);
    if (!store && run->v.symbol_store)
        return sp_run_usage(run, "--symbol-store DIR; `spaa config` shows a setting that says none",
                            "there is no symbol store: symbol-store is \"%s\"", run->v.symbol_store);
    if (!store)
        return sp_run_usage(run, "--symbol-store DIR, or HOME or XDG_CACHE_HOME in the environment",
                            "there is no symbol store");
    return action == ACTION_ADD  ? sp_run_symbols_add(run, store)
           : action == ACTION_GC ? sp_run_symbols_gc(run, store)
                                 : sp_run_symbols_list(run, store);
}

int sp_cmd_symbols(struct sp_run *run)
{
    int action = ACTION_LIST;
    char near[200] = "";
    if (run->files.n) {
        for (action = 0; symbols_actions[action]; action++)
            if (strcmp(run->files.v[0], symbols_actions[action]) == 0)
                break;
        if (!symbols_actions[action]) {
            sp_near_hint(run->files.v[0], symbols_actions, near, sizeof near);
            return sp_run_usage(run, *near ? near : SYMBOLS_HINT,
                                "symbols cannot \"%s\": add, list, gc or pack", run->files.v[0]);
        }
    }
    int rc = symbols_check(run, action);
    if (rc)
        return rc;
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    const char *store = sp_store_folder(run->v.symbol_store, &b);
    rc = b.nomem ? sp_run_exit(run, sp_nomem(run->diags))
                 : symbols_act(run, action, store && *store ? store : NULL);
    sp_buf_free(&b);
    return rc;
}
