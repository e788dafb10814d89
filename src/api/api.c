/* Version, statuses, and how structures with a size cross the border of the library. */
#include "api/api.h"

#include "base/nearest.h"
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_OF(x)            #x
#define VERSION_TEXT(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *spaa_version(void)
{
    return VERSION_TEXT(SPAA_VERSION_MAJOR, SPAA_VERSION_MINOR, SPAA_VERSION_PATCH);
}

int spaa_version_number(void)
{
    return SPAA_VERSION_NUMBER;
}

const char *spaa_status_name(spaa_status status)
{
    switch (status) {
    case SPAA_OK:
        return "SPAA_OK";
    case SPAA_ERR_NOMEM:
        return "SPAA_ERR_NOMEM";
    case SPAA_ERR_IO:
        return "SPAA_ERR_IO";
    case SPAA_ERR_INPUT:
        return "SPAA_ERR_INPUT";
    case SPAA_ERR_LIMIT:
        return "SPAA_ERR_LIMIT";
    case SPAA_ERR_USAGE:
        return "SPAA_ERR_USAGE";
    case SPAA_ERR_UNSUPPORTED:
        return "SPAA_ERR_UNSUPPORTED";
    case SPAA_ERR_NOT_FOUND:
        return "SPAA_ERR_NOT_FOUND";
    case SPAA_ERR_CLOSED:
        return "SPAA_ERR_CLOSED";
    case SPAA_ERR_BUG:
        return "SPAA_ERR_BUG";
    case SPAA_ERR_CANCELLED:
        return "SPAA_ERR_CANCELLED";
    }
    return "unknown status";
}

void spaa_free(void *memory)
{
    free(memory);
}

spaa_status sp_api_usage(struct sp_diags *d, const char *fmt, ...)
{
    struct sp_buf text;
    va_list ap;
    va_start(ap, fmt);
    sp_buf_init(&text, 4096);
    sp_buf_vprintf(&text, fmt, ap);
    sp_emit(d, SP_E037, SP_AT_NOTHING, "%s", sp_buf_cstr(&text));
    sp_buf_free(&text);
    va_end(ap);
    return SPAA_ERR_USAGE;
}

/* The size that stands first in every structure of the interface. */
static size_t api_size_of(const void *structure)
{
    size_t n;
    memcpy(&n, structure, sizeof n);
    return n;
}

spaa_status sp_api_options(void *to, size_t size, const void *from, struct sp_diags *d)
{
    memset(to, 0, size);
    if (!from)
        return SPAA_OK;
    size_t given = api_size_of(from);
    if (given < sizeof given || given > 1 << 16)
        return sp_api_usage(d, "options without a size");
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)from)[i])
            return sp_api_usage(d, "an option is newer than this library (%s)", spaa_version());
    memcpy(to, from, given < size ? given : size);
    return SPAA_OK;
}

spaa_status sp_api_watch(struct sp_watch *w, const struct spaa_watch *asked, struct sp_diags *d)
{
    struct spaa_watch own;
    spaa_status st = sp_api_options(&own, sizeof own, asked, d);
    if (!st && !sp_thread_has_room(SP_CALLER_STACK)) {
        sp_emit_hint(d, SP_E007, SP_AT_NOTHING, "give the thread a larger stack (pthread_attr_setstacksize)",
                     "the calling thread has less than %zu KiB of stack left", SP_CALLER_STACK >> 10);
        st = SPAA_ERR_LIMIT;
    }
    sp_watch_begin(w, st ? NULL : &own, d);
    return st;
}

void sp_api_watch_profile(struct sp_watch *w, struct spaa_profile *s)
{
    s->diags.watch = w->asked.progress ? w : NULL;
}

spaa_status sp_api_unwatch(struct sp_watch *w, struct sp_diags *d, spaa_status st)
{
    spaa_status left = sp_watch_end(w, d);
    return left ? left : st;
}

spaa_status sp_api_result(void *to, const void *from, size_t size)
{
    size_t room = to ? api_size_of(to) : 0, head = sizeof room;
    if (room < head || room > 1 << 16)
        return SPAA_ERR_USAGE;
    size_t used = room < size ? room : size;
    memcpy((char *)to + head, (const char *)from + head, used - head);
    memset((char *)to + used, 0, room - used);
    return SPAA_OK;
}

bool sp_api_choice(struct sp_diags *d, const char *option, const char *value, const char *const *names,
                   int otherwise, int *out)
{
    *out = value ? sp_name_index(names, value, strlen(value)) : otherwise;
    if (!value || *out >= 0)
        return true;
    struct sp_str all[16];
    struct sp_buf words;
    size_t n = 0;
    for (; names[n] && n < sizeof all / sizeof *all; n++)
        all[n] = (struct sp_str){names[n], (uint32_t)strlen(names[n])};
    sp_buf_init(&words, 4096);
    sp_nearest_words(&words, value, all, n);
    sp_api_usage(d, "%s cannot be \"%s\": %s", option, value, sp_buf_cstr(&words));
    sp_buf_free(&words);
    return false;
}

spaa_status sp_api_own(struct sp_diags *d, const struct spaa_format *f, unsigned when,
                       const struct spaa_format_option *own, size_t n, struct sp_own_opt **out)
{
    *out = NULL;
    if (!n)
        return SPAA_OK;
    if (!own || n > 1024)
        return sp_api_usage(d, "own_count without options");
    struct sp_own_opt *copy = calloc(n, sizeof *copy);
    if (!copy)
        return sp_nomem(d);
    for (size_t i = 0; i < n; i++) {
        const struct sp_format_option *o = f->options;
        while (o && o->name && !(own[i].name && strcmp(o->name, own[i].name) == 0 && o->when & when))
            o++;
        if (!o || !o->name) {
            free(copy);
            return sp_api_usage(d, "%s has no option \"%s\" here", f->name, own[i].name ? own[i].name : "");
        }
        if (o->value && !own[i].value) {
            free(copy);
            return sp_api_usage(d, "the option \"%s\" of %s needs a value: %s", o->name, f->name, o->value);
        }
        copy[i] = (struct sp_own_opt){own[i].name, own[i].value};
    }
    *out = copy;
    return SPAA_OK;
}

char *sp_api_copy(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, s, n) : NULL;
}

const char *sp_api_str(const struct sp_profile *p, uint32_t s)
{
    return s == SP_STR_NONE ? NULL : sp_str_cstr(&p->strs, s);
}
