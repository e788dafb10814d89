#include "remote/aws_profile.h"

#include "remote/ini.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <sys/stat.h>
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

/* ---- the files ---- */

/* $NAME and ${NAME}, as os.path.expandvars does it: of a variable that is not set the name stays. */
static void expand_variables(const struct sp_aws *a, const char *path, struct sp_buf *out)
{
    while (*path) {
        size_t before = strcspn(path, "$"), n = 0;
        sp_buf_add(out, path, before);
        path += before;
        if (!*path)
            return;
        const char *name = path + 1, *end;
        if (*name == '{' && (end = strchr(name, '}'))) {
            n = (size_t)(end - ++name);
            end++;
        } else {
            while (isalnum((unsigned char)name[n]) || name[n] == '_')
                n++;
            end = name + n;
        }
        char *wanted = strndup(name, n);
        const char *v = wanted && n ? a->get(wanted, a->arg) : NULL;
        out->failed = out->failed || !wanted;
        if (v)
            sp_buf_puts(out, v);
        else
            sp_buf_add(out, path, (size_t)(end - path));
        free(wanted);
        path = end;
    }
}

/* The folder of ~ or ~NAME; NULL: nobody has that name. Lent. */
static const char *home_of(const struct sp_aws *a, const char *name)
{
    const char *home = *name ? NULL : a->get("HOME", a->arg);
    const struct passwd *one = home ? NULL : *name ? getpwnam(name) : getpwuid(getuid());
    return home ? home : one ? one->pw_dir : NULL;
}

/* ~ at the start, as os.path.expanduser does it. */
static void expand_home(const struct sp_aws *a, const char *path, struct sp_buf *out)
{
    size_t n = strcspn(path, "/");
    char *name = *path == '~' ? strndup(path + 1, n - 1) : NULL;
    const char *home = name ? home_of(a, name) : NULL;
    out->failed = out->failed || (*path == '~' && !name);
    if (home) {
        sp_buf_puts(out, home);
        while (out->len && out->data[out->len - 1] == '/')
            out->len--;
        path += n;
    }
    sp_buf_puts(out, home && !*path && !out->len ? "/" : path);
    free(name);
}

/* Opens it as botocore does, which passes over what is no file or cannot be opened; -1: *why, or not there.
 */
static int open_text(const char *path, const char **why, bool *missing)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    *missing = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
    *why = fd < 0 ? strerror(errno) : "it is no regular file";
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static spaa_status read_text(int fd, struct sp_buf *out, const char **why)
{
    for (;;) {
        *why = "it has more than 4 MiB";
        if (out->len > FILE_MAX)
            return SPAA_ERR_LIMIT;
        if (!sp_buf_reserve(out, 64 << 10))
            return SPAA_ERR_NOMEM;
        ssize_t n = read(fd, out->data + out->len, 64 << 10);
        if (n < 0 && errno == EINTR)
            continue;
        *why = strerror(errno);
        if (n <= 0)
            return n < 0 ? SPAA_ERR_IO : SPAA_OK;
        out->len += (size_t)n;
    }
}

struct file {
    const char *variable, *usual, *what;
};
static const struct file credentials_file = {"AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials",
                                             "credentials file"},
                         config_file = {"AWS_CONFIG_FILE", "~/.aws/config", "config file"};

static spaa_status read_path(const struct file *f, const char *path, bool named, struct sp_buf *text,
                             struct sp_diags *d)
{
    const char *why;
    uint64_t line = 0;
    bool missing;
    int fd = open_text(path, &why, &missing);
    if (fd < 0) {
        if (named)
            sp_emit(d, SP_W486, SP_AT_NOTHING, "%s: %s: %s", f->variable, path, why);
        else if (!missing)
            sp_emit(d, SP_W486, SP_AT_NOTHING, "%s: %s: %s", f->what, path, why);
        return SPAA_OK;
    }
    spaa_status st = read_text(fd, text, &why);
    close(fd);
    if (!st && text->len)
        st = sp_ini_check(text->data, text->len, &line, &why);
    if (st == SPAA_ERR_NOMEM)
        return sp_nomem(d);
    if (st && line)
        sp_emit_hint(d, SP_E461, SP_AT_NOTHING,
                     st == SPAA_ERR_INPUT ? "no other keys are taken instead; botocore refuses the file, too"
                                          : "no other keys are taken instead",
                     "%s: %s:%" PRIu64 ": %s", f->what, path, line, why);
    else if (st)
        sp_emit_hint(d, SP_E461, SP_AT_NOTHING, "no other keys are taken instead", "%s: %s: %s", f->what,
                     path, why);
    return st ? SPAA_ERR_IO : SPAA_OK;
}

/* One of the two files: the environment's, where that is empty none, or the one in the home directory. */
static spaa_status read_one(struct sp_aws *a, const struct file *f, struct sp_buf *text, struct sp_diags *d)
{
    const char *named = a->get(f->variable, a->arg);
    struct sp_buf path, at;
    sp_buf_init(&path, 64 << 10);
    sp_buf_init(&at, 64 << 10);
    expand_variables(a, named ? named : f->usual, &path);
    expand_home(a, sp_buf_cstr(&path), &at);
    sp_buf_cstr(&at);
    spaa_status st = path.failed || at.failed ? sp_nomem(d)
                     : at.len                 ? read_path(f, at.data, named, text, d)
                                              : SPAA_OK;
    sp_buf_free(&path);
    sp_buf_free(&at);
    return st;
}

static bool has_profile(const struct sp_aws *a)
{
    return (a->credentials.len &&
            sp_ini_find(a->credentials.data, a->credentials.len, NULL, a->profile, NULL, NULL)) ||
           (a->config.len && sp_ini_find(a->config.data, a->config.len, "profile", a->profile, NULL, NULL));
}

spaa_status sp_aws_read(struct sp_aws *a, struct sp_diags *d)
{
    const char *first = a->get("AWS_DEFAULT_PROFILE", a->arg), *second = a->get("AWS_PROFILE", a->arg),
               *name = first ? first : second, *variable = first ? "AWS_DEFAULT_PROFILE" : "AWS_PROFILE";
    spaa_status st = read_one(a, &credentials_file, &a->credentials, d);
    if (!st)
        st = read_one(a, &config_file, &a->config, d);
    if (name)
        a->profile = name;
    if (st || !name || has_profile(a))
        return st;
    if (*name)
        sp_emit_hint(d, SP_E461, SP_AT_NOTHING, "", "there is no profile \"%s\", which %s names", name,
                     variable);
    else
        sp_emit_hint(d, SP_E461, SP_AT_NOTHING, "unset it for the default profile",
                     "%s is set, and empty: there is no such profile", variable);
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

/* Takes every `part` out. */
static void without(struct sp_buf *text, const char *part)
{
    size_t n = strlen(part), kept = 0;
    for (size_t i = 0; i < text->len;)
        if (text->len - i >= n && memcmp(text->data + i, part, n) == 0)
            i += n;
        else
            text->data[kept++] = text->data[i++];
    text->len = kept;
}

const char *sp_aws_region(struct sp_aws *a, const char *given, const char **other)
{
    const char *first = a->get("AWS_DEFAULT_REGION", a->arg), *last = sp_aws_variable(a, "AWS_REGION");
    struct sp_span s;
    sp_buf_clear(&a->region);
    *other = NULL;
    if (given)
        sp_buf_puts(&a->region, given);
    else if (first)
        sp_buf_puts(&a->region, first);
    else if (sp_aws_setting(a, SP_AWS_BOTH, "region", &s))
        sp_buf_add(&a->region, s.p, s.n);
    else if (last)
        sp_buf_puts(&a->region, last);
    else
        return NULL;
    const char *region = sp_buf_cstr(&a->region);
    *other = !given && *region && last && strcmp(last, region) != 0 ? last : NULL;
    size_t n = a->region.len;
    without(&a->region, "fips-");
    without(&a->region, "-fips");
    a->fips = a->region.len != n;
    return sp_buf_cstr(&a->region);
}

bool sp_aws_is_region(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    return n && n <= 63 && !s[n] && *s != '-' && s[n - 1] != '-' && strspn(s, "0123456789") < n;
}
