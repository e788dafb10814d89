#include "remote/aws_profile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#define FILE_MAX ((size_t)4 << 20)

void sp_aws_init(struct sp_aws *a, sp_getenv get, void *arg)
{
    *a = (struct sp_aws){.get = get, .arg = arg, .profile = "default"};
    sp_buf_init(&a->credentials, FILE_MAX + (128 << 10));
    sp_buf_init(&a->config, FILE_MAX + (128 << 10));
    sp_buf_init(&a->region, FILE_MAX);
    sp_buf_init(&a->session_name, FILE_MAX);
}

void sp_aws_free(struct sp_aws *a)
{
    struct sp_buf *all[] = {&a->credentials, &a->config, &a->region, &a->session_name};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i]->data)
            explicit_bzero(all[i]->data, all[i]->cap);
        sp_buf_free(all[i]);
    }
}

/* ---- INI as Python's configparser reads it ---- */

static struct sp_span trimmed(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r' || end[-1] == '\n'))
        end--;
    return (struct sp_span){p, (size_t)(end - p)};
}

struct ini {
    const char *p, *end;
    struct sp_span section, key, value; /* key n 0: a section begins */
};

static const char *line_end(const char *p, const char *end)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    return nl ? nl : end;
}

static bool is_nothing(struct sp_span line)
{
    return !line.n || *line.p == '#' || *line.p == ';';
}

/* Where the value that begins on the line before `p` ends: lines that are indented more belong to it. */
static const char *ini_value_end(const char *p, const char *end, size_t indent, const char **next)
{
    const char *last = p;
    for (const char *nl; p < end; p = nl + (nl < end)) {
        nl = line_end(p, end);
        struct sp_span line = trimmed(p, nl);
        bool nothing = is_nothing(line);
        if (!nothing && (size_t)(line.p - p) <= indent)
            break;
        if (!nothing)
            last = nl;
        *next = nl + (nl < end);
    }
    return last;
}

/* The next section or setting; false: that was all. Lines that are neither are passed over. */
static bool ini_next(struct ini *i)
{
    while (i->p < i->end) {
        const char *p = i->p, *nl = line_end(p, i->end), *close;
        struct sp_span line = trimmed(p, nl);
        i->p = nl + (nl < i->end);
        if (is_nothing(line))
            continue;
        if (*line.p == '[' && (close = memrchr(line.p, ']', line.n))) {
            i->section = trimmed(line.p + 1, close);
            i->key.n = 0;
            return true;
        }
        size_t n = 0;
        while (n < line.n && line.p[n] != '=' && line.p[n] != ':')
            n++;
        i->key = trimmed(line.p, line.p + n);
        if (n == line.n || !i->key.n)
            continue;
        const char *stop = ini_value_end(i->p, i->end, (size_t)(line.p - p), &i->p);
        i->value = trimmed(line.p + n + 1, stop > nl ? stop : nl);
        return true;
    }
    return false;
}

/* `NAME`, or `KIND NAME`, `KIND "NAME"`; the default profile needs no kind. */
static bool is_section(struct sp_span s, const char *kind, const char *name)
{
    size_t k = kind ? strlen(kind) : 0;
    if (!kind || (strcmp(name, "default") == 0 && strcmp(kind, "profile") == 0 && sp_span_is(s, name)))
        return sp_span_is(s, name);
    if (s.n <= k || memcmp(s.p, kind, k) != 0 || (s.p[k] != ' ' && s.p[k] != '\t'))
        return false;
    s = trimmed(s.p + k, s.p + s.n);
    if (s.n >= 2 && (*s.p == '"' || *s.p == '\'') && s.p[s.n - 1] == *s.p)
        s = (struct sp_span){s.p + 1, s.n - 2};
    return sp_span_is(s, name);
}

bool sp_ini_find(const char *text, size_t n, const char *kind, const char *name, const char *key,
                 struct sp_span *value)
{
    struct ini i = {.p = text, .end = text + n};
    bool in = false, found = false;
    while (ini_next(&i)) {
        if (!i.key.n) {
            in = is_section(i.section, kind, name);
            found = found || (in && !key);
        } else if (in && key && i.key.n == strlen(key) && strncasecmp(i.key.p, key, i.key.n) == 0) {
            *value = i.value;
            found = true;
        }
    }
    return found;
}

/* ---- the files ---- */

static spaa_status read_text(const char *path, struct sp_buf *out, struct sp_diags *d)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return SPAA_ERR_NOT_FOUND;
    for (;;) {
        if (out->len > FILE_MAX || !sp_buf_reserve(out, 64 << 10)) {
            close(fd);
            return out->len > FILE_MAX ? SPAA_ERR_LIMIT : sp_nomem(d);
        }
        ssize_t n = read(fd, out->data + out->len, 64 << 10);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            close(fd);
            return n < 0 ? SPAA_ERR_IO : SPAA_OK;
        }
        out->len += (size_t)n;
    }
}

/* One of the two files: the environment's, or the one in the home directory. */
static spaa_status read_one(struct sp_aws *a, const char *variable, const char *name, struct sp_buf *text,
                            struct sp_diags *d)
{
    const char *path = sp_aws_variable(a, variable), *home = sp_aws_variable(a, "HOME");
    struct sp_buf at;
    sp_buf_init(&at, 0);
    if (path && path[0] == '~' && path[1] == '/' && home)
        sp_buf_printf(&at, "%s%s", home, path + 1);
    else if (path)
        sp_buf_puts(&at, path);
    else if (home)
        sp_buf_printf(&at, "%s/.aws/%s", home, name);
    spaa_status st = at.failed ? sp_nomem(d) : at.len ? read_text(sp_buf_cstr(&at), text, d) : SPAA_OK;
    if (st && st != SPAA_ERR_NOMEM) {
        text->len = 0;
        if (path)
            sp_emit(d, SP_E001, SP_AT_NOTHING, "%s: %s", path, strerror(errno));
        st = SPAA_OK;
    }
    sp_buf_free(&at);
    return st;
}

spaa_status sp_aws_read(struct sp_aws *a, struct sp_diags *d)
{
    const char *first = sp_aws_variable(a, "AWS_DEFAULT_PROFILE"),
               *second = sp_aws_variable(a, "AWS_PROFILE");
    spaa_status st = read_one(a, "AWS_SHARED_CREDENTIALS_FILE", "credentials", &a->credentials, d);
    if (!st)
        st = read_one(a, "AWS_CONFIG_FILE", "config", &a->config, d);
    if (first || second)
        a->profile = first ? first : second;
    if (st || !(first || second) ||
        (a->credentials.len &&
         sp_ini_find(a->credentials.data, a->credentials.len, NULL, a->profile, NULL, NULL)) ||
        (a->config.len && sp_ini_find(a->config.data, a->config.len, "profile", a->profile, NULL, NULL)))
        return st;
    sp_emit_hint(d, SP_E461, SP_AT_NOTHING, first ? "AWS_DEFAULT_PROFILE names it" : "AWS_PROFILE names it",
                 "there is no profile \"%s\"", a->profile);
    return SPAA_ERR_USAGE;
}

/* ---- settings ---- */

const char *sp_aws_variable(const struct sp_aws *a, const char *name)
{
    const char *v = a->get(name, a->arg);
    return v && *v ? v : NULL;
}

bool sp_aws_setting(const struct sp_aws *a, enum sp_aws_file in, const char *key, struct sp_span *value)
{
    if ((in & SP_AWS_CREDENTIALS) && a->credentials.len &&
        sp_ini_find(a->credentials.data, a->credentials.len, NULL, a->profile, key, value))
        return true;
    return (in & SP_AWS_CONFIG) && a->config.len &&
           sp_ini_find(a->config.data, a->config.len, "profile", a->profile, key, value);
}

bool sp_aws_configured(const struct sp_aws *a, const char *variable, const char *key, struct sp_buf *out)
{
    const char *v = sp_aws_variable(a, variable);
    struct sp_span s = {v, v ? strlen(v) : 0};
    if (!v && !sp_aws_setting(a, SP_AWS_BOTH, key, &s))
        return false;
    sp_buf_add(out, s.p, s.n);
    return s.n != 0;
}

const char *sp_aws_region(struct sp_aws *a)
{
    sp_buf_clear(&a->region);
    const char *v = sp_aws_variable(a, "AWS_REGION");
    if (v)
        sp_buf_puts(&a->region, v);
    else
        sp_aws_configured(a, "AWS_DEFAULT_REGION", "region", &a->region);
    return a->region.len ? sp_buf_cstr(&a->region) : NULL;
}

/* `endpoint_url` of the nested settings that a section [services NAME] has for a service. */
static bool service_endpoint(const struct sp_aws *a, const char *service, struct sp_span *url)
{
    struct sp_span s, nested;
    char name[256];
    if (!a->config.len || !sp_aws_setting(a, SP_AWS_BOTH, "services", &s) || s.n >= sizeof name)
        return false;
    memcpy(name, s.p, s.n);
    name[s.n] = '\0';
    if (!sp_ini_find(a->config.data, a->config.len, "services", name, service, &nested))
        return false;
    struct ini i = {.p = nested.p, .end = nested.p + nested.n};
    while (ini_next(&i))
        if (i.key.n == 12 && strncasecmp(i.key.p, "endpoint_url", 12) == 0) {
            *url = i.value;
            return true;
        }
    return false;
}

bool sp_aws_endpoint(const struct sp_aws *a, const char *service, struct sp_buf *out)
{
    struct sp_buf word;
    struct sp_span url;
    sp_buf_init(&word, 256);
    bool ignored = sp_aws_configured(a, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
                                     "ignore_configured_endpoint_urls", &word) &&
                   strcasecmp(sp_buf_cstr(&word), "true") == 0;
    sp_buf_clear(&word);
    sp_buf_printf(&word, "AWS_ENDPOINT_URL_%s", service);
    const char *v = ignored ? NULL : sp_aws_variable(a, sp_buf_cstr(&word));
    if (!ignored && !v)
        v = sp_aws_variable(a, "AWS_ENDPOINT_URL");
    sp_buf_free(&word);
    if (v)
        sp_buf_puts(out, v);
    else if (!ignored &&
             (service_endpoint(a, service, &url) || sp_aws_setting(a, SP_AWS_BOTH, "endpoint_url", &url)))
        sp_buf_add(out, url.p, url.n);
    return out->len != 0;
}
