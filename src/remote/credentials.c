#include "remote/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FILE_MAX ((size_t)4 << 20)

void sp_aws_keys_init(struct sp_aws_keys *k)
{
    *k = (struct sp_aws_keys){0};
    struct sp_buf *all[] = {&k->access_key, &k->secret_key, &k->token, &k->region, &k->other};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sp_buf_init(all[i], FILE_MAX);
}

void sp_aws_keys_free(struct sp_aws_keys *k)
{
    struct sp_buf *all[] = {&k->access_key, &k->secret_key, &k->token, &k->region, &k->other};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i]->data)
            explicit_bzero(all[i]->data, all[i]->cap);
        sp_buf_free(all[i]);
    }
}

struct piece {
    const char *p;
    size_t n;
};

static struct piece trimmed(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    return (struct piece){p, (size_t)(end - p)};
}

static bool is(struct piece s, const char *word)
{
    return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

static bool is_section(struct piece name, const char *profile, bool prefixed)
{
    if (prefixed && name.n > 8 && memcmp(name.p, "profile", 7) == 0 &&
        (name.p[7] == ' ' || name.p[7] == '\t'))
        return is(trimmed(name.p + 8, name.p + name.n), profile);
    return is(name, profile) && (!prefixed || strcmp(profile, "default") == 0);
}

/* Keys come in pairs from one place: half a pair of one file is not completed from another. */
struct found {
    struct piece access_key, secret_key, token, region, other;
};

static void credentials_take(struct found *f, struct piece key, struct piece value)
{
    static const char *const others[] = {
        "role_arn",         "sso_session", "sso_start_url", "credential_process", "web_identity_token_file",
        "credential_source"};
    if (is(key, "aws_access_key_id"))
        f->access_key = value;
    else if (is(key, "aws_secret_access_key"))
        f->secret_key = value;
    else if (is(key, "aws_session_token"))
        f->token = value;
    else if (is(key, "region"))
        f->region = value;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is(key, others[i]))
            f->other = key;
}

static void credentials_set(struct sp_buf *b, struct piece s)
{
    if (!b->len && s.n)
        sp_buf_add(b, s.p, s.n);
}

bool sp_aws_profile(struct sp_aws_keys *k, const char *text, size_t n, const char *profile, bool prefixed)
{
    const char *end = text + n;
    bool in = false, any = false;
    struct found f = {0};
    for (const char *p = text, *nl; p < end; p = nl + 1) {
        nl = memchr(p, '\n', (size_t)(end - p));
        nl = nl ? nl : end;
        struct piece line = trimmed(p, nl);
        const char *eq = line.n ? memchr(line.p, '=', line.n) : NULL;
        if (!line.n || *line.p == '#' || *line.p == ';')
            continue;
        if (*line.p == '[') {
            const char *close = memchr(line.p, ']', line.n);
            in = close && is_section(trimmed(line.p + 1, close), profile, prefixed);
            any = any || in;
        } else if (in && eq && *p != ' ' && *p != '\t') { /* what is indented belongs to the setting above */
            credentials_take(&f, trimmed(line.p, eq), trimmed(eq + 1, line.p + line.n));
        }
    }
    if (!k->source && f.access_key.n && f.secret_key.n) {
        credentials_set(&k->access_key, f.access_key);
        credentials_set(&k->secret_key, f.secret_key);
        credentials_set(&k->token, f.token);
        k->source = prefixed ? "config file" : "credentials file";
    }
    credentials_set(&k->region, f.region);
    credentials_set(&k->other, f.other);
    return any;
}

static spaa_status credentials_read_file(const char *path, struct sp_buf *out, struct sp_diags *d)
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
static spaa_status from_file(struct sp_aws_keys *k, const char *path, const char *home, const char *name,
                             const char *profile, bool config, bool *any, struct sp_diags *d)
{
    struct sp_buf at, text;
    sp_buf_init(&at, 0);
    sp_buf_init(&text, FILE_MAX + (128 << 10));
    if (path && path[0] == '~' && path[1] == '/' && home)
        sp_buf_printf(&at, "%s%s", home, path + 1);
    else if (path)
        sp_buf_puts(&at, path);
    else if (home)
        sp_buf_printf(&at, "%s/.aws/%s", home, name);
    spaa_status st = at.failed ? sp_nomem(d)
                     : at.len  ? credentials_read_file(sp_buf_cstr(&at), &text, d)
                               : SPAA_OK;
    if (!st && text.len)
        *any = sp_aws_profile(k, text.data, text.len, profile, config) || *any;
    if (st && st != SPAA_ERR_NOMEM && path)
        sp_emit(d, SP_E001, SP_AT_NOTHING, "%s: %s", path, strerror(errno));
    if (st != SPAA_ERR_NOMEM)
        st = SPAA_OK;
    if (text.data)
        explicit_bzero(text.data, text.cap);
    sp_buf_free(&text);
    sp_buf_free(&at);
    return st;
}

static const char *variable(sp_getenv get, void *arg, const char *name)
{
    const char *v = get(name, arg);
    return v && *v ? v : NULL;
}

spaa_status sp_aws_keys_find(struct sp_aws_keys *k, sp_getenv get, void *arg, struct sp_diags *d)
{
    const char *id = variable(get, arg, "AWS_ACCESS_KEY_ID"),
               *secret = variable(get, arg, "AWS_SECRET_ACCESS_KEY"),
               *token = variable(get, arg, "AWS_SESSION_TOKEN"), *profile = variable(get, arg, "AWS_PROFILE"),
               *region = variable(get, arg, "AWS_REGION"), *home = variable(get, arg, "HOME");
    if (!region)
        region = variable(get, arg, "AWS_DEFAULT_REGION");
    if (id && secret) {
        sp_buf_puts(&k->access_key, id);
        sp_buf_puts(&k->secret_key, secret);
        sp_buf_puts(&k->token, token ? token : "");
        k->source = "environment";
    }
    sp_buf_puts(&k->region, region ? region : "");
    if (k->source && k->region.len)
        return k->access_key.failed || k->secret_key.failed || k->token.failed || k->region.failed
                   ? sp_nomem(d)
                   : SPAA_OK;
    bool any = false;
    const char *name = profile ? profile : "default";
    spaa_status st = from_file(k, variable(get, arg, "AWS_SHARED_CREDENTIALS_FILE"), home, "credentials",
                               name, false, &any, d);
    if (!st)
        st = from_file(k, variable(get, arg, "AWS_CONFIG_FILE"), home, "config", name, true, &any, d);
    if (!st && profile && !any && !k->source) {
        sp_emit_hint(d, SP_E461, SP_AT_NOTHING, "AWS_PROFILE names it", "there is no profile \"%s\"",
                     profile);
        st = SPAA_ERR_USAGE;
    }
    bool failed = k->access_key.failed || k->secret_key.failed || k->token.failed || k->region.failed;
    return st ? st : failed ? sp_nomem(d) : SPAA_OK;
}
