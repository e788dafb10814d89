#include "symbols/demangle_cost.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES  1024u             /* libiberty shows none that is longer */
#define DEPTH_MAX   (4 * NAME_BYTES)  /* its components nest by as many bytes at most */
#define PATTERN_MAX 4096u             /* components looked through for a pack */
#define NODES_MAX   ((size_t)1 << 17) /* and of the whole name, as often as they are met */

/* The components of one, as libiberty's d_find_pack takes them; of lambdas and default arguments what is
 * shown. */
static void parts_of(const struct demangle_component *c, const struct demangle_component *out[2])
{
    out[0] = out[1] = NULL;
    switch (c->type) {
    case DEMANGLE_COMPONENT_NAME:
    case DEMANGLE_COMPONENT_OPERATOR:
    case DEMANGLE_COMPONENT_BUILTIN_TYPE:
    case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
    case DEMANGLE_COMPONENT_SUB_STD:
    case DEMANGLE_COMPONENT_CHARACTER:
    case DEMANGLE_COMPONENT_NUMBER:
    case DEMANGLE_COMPONENT_FUNCTION_PARAM:
    case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
    case DEMANGLE_COMPONENT_UNNAMED_TYPE:
        return;
    case DEMANGLE_COMPONENT_LAMBDA:
    case DEMANGLE_COMPONENT_DEFAULT_ARG:
        out[0] = c->u.s_unary_num.sub;
        return;
    case DEMANGLE_COMPONENT_FIXED_TYPE:
        out[0] = c->u.s_fixed.length;
        return;
    case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
        out[0] = c->u.s_extended_operator.name;
        return;
    case DEMANGLE_COMPONENT_CTOR:
        out[0] = c->u.s_ctor.name;
        return;
    case DEMANGLE_COMPONENT_DTOR:
        out[0] = c->u.s_dtor.name;
        return;
    default:
        out[0] = c->u.s_binary.left;
        out[1] = c->u.s_binary.right;
    }
}

/*
 * Whether one has no more components than `most`, as often as they are met, and there are so many `left` for
 * the whole name; `whole`: what is in patterns is shown, after it was looked through.
 */
static bool is_small(const struct demangle_component *of, size_t most, size_t *left, bool whole)
{
    const struct demangle_component *in[2], **todo = malloc(DEPTH_MAX * sizeof *todo);
    size_t n = 0;
    bool ok = todo;
    if (!ok)
        return false;
    todo[n++] = of;
    while (ok && n) {
        const struct demangle_component *c = todo[--n];
        parts_of(c, in);
        if (c->type == DEMANGLE_COMPONENT_PACK_EXPANSION)
            ok = !whole || !in[0] || is_small(in[0], PATTERN_MAX, left, false);
        ok = ok && most && *left && n + 2 < DEPTH_MAX;
        most--;
        --*left;
        bool into = ok && (whole || c->type != DEMANGLE_COMPONENT_PACK_EXPANSION);
        for (int i = 1; into && i >= 0; i--)
            if (in[i])
                todo[n++] = in[i];
    }
    free(todo);
    return ok;
}

bool sp_demangle_is_endless(const char *name)
{
    void *memory = NULL;
    if ((!strstr(name, "Dp") && !strstr(name, "sp")) || strlen(name) > NAME_BYTES)
        return false;
    const struct demangle_component *c = cplus_demangle_v3_components(name, DMGL_PARAMS | DMGL_ANSI, &memory);
    size_t left = NODES_MAX;
    bool endless = c ? !is_small(c, left, &left, true) : errno == ENOMEM;
    free(memory);
    return endless;
}
