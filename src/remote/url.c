#include "remote/url.h"

#include <stdio.h>
#include <string.h>

/* Where the user and password begin; *n: their length, 0: there are none. */
static const char *user_of(const char *url, size_t *n)
{
    const char *at = strrchr(url, '@'), *scheme = strstr(url, "://");
    const char *p = scheme && (!at || scheme < at) ? scheme + 3 : url;
    *n = at ? (size_t)(at - p) : 0;
    return p;
}

const char *sp_url_masked(const char *url, char *out, size_t size)
{
    size_t n;
    const char *user = user_of(url, &n);
    snprintf(out, size, "%.*s%s%s", (int)(user - url), url, n ? "***" : "", user + n);
    return out;
}

bool sp_url_user_is_told(const char *url, const char *message)
{
    static const char enders[] = "/?#\\ \t", delimiters[] = "/?#\\ \t:@";
    size_t n;
    const char *p = user_of(url, &n), *end = p + n;
    if (strcspn(p, enders) >= n)
        return false;
    while (p < end) {
        size_t part = strcspn(p, delimiters);
        if (part > (size_t)(end - p))
            part = (size_t)(end - p);
        if (part && memmem(message, strlen(message), p, part))
            return true;
        p += part + 1;
    }
    return false;
}
