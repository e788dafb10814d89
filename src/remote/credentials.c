#include "remote/credentials_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define VALUE_MAX ((size_t)64 << 10)

void sp_aws_keys_init(struct sp_aws_keys *k)
{
    *k = (struct sp_aws_keys){.expires = INT64_MAX};
    struct sp_buf *all[] = {&k->access_key, &k->secret_key, &k->token, &k->detail};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sp_buf_init(all[i], VALUE_MAX);
}

void sp_aws_wipe(struct sp_buf *b)
{
    if (b->data)
        explicit_bzero(b->data, b->cap);
    sp_buf_free(b);
}

void sp_aws_keys_free(struct sp_aws_keys *k)
{
    sp_aws_wipe(&k->access_key);
    sp_aws_wipe(&k->secret_key);
    sp_aws_wipe(&k->token);
    sp_buf_free(&k->detail);
}

void sp_aws_masked(const struct sp_aws_keys *k, char out[static 32])
{
    size_t n = k->access_key.len, shown = n > 8 ? 4 : 0;
    snprintf(out, 32, "****************%.*s", (int)shown, shown ? k->access_key.data + n - shown : "");
}

void sp_redact(struct sp_buf *text, const char *secret, size_t n)
{
    char *at;
    if (n < 4 || text->failed)
        return;
    while (text->len && (at = memmem(text->data, text->len, secret, n))) {
        char *behind = at + n;
        memmove(at + 3, behind, (size_t)(text->data + text->len - behind));
        memcpy(at, "***", 3);
        text->len -= n - 3;
    }
}

spaa_status sp_aws_fail(struct sp_diags *d, const char *source, const char *hint, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    sp_emit_hint(d, SP_E461, SP_AT_NOTHING, hint, "%s: %s", source, text);
    return SPAA_ERR_IO;
}

/* ---- sources that ask nobody ---- */

/* Half a pair is a mistake, never completed from elsewhere. */
static spaa_status half_a_pair(struct sp_diags *d, const char *source, const char *there, const char *missing)
{
    return sp_aws_fail(d, source, "the two belong together", "%s is there, %s is not", there, missing);
}

static spaa_status from_environment(struct sp_aws *a, struct sp_aws_keys *k, struct sp_diags *d)
{
    static const char source[] = "environment";
    const char *id = sp_aws_variable(a, "AWS_ACCESS_KEY_ID"),
               *secret = sp_aws_variable(a, "AWS_SECRET_ACCESS_KEY"),
               *token =
                   sp_aws_variable(a, "AWS_SECURITY_TOKEN"), /* the old name goes first, as in botocore */
                   *until = sp_aws_variable(a, "AWS_CREDENTIAL_EXPIRATION");
    if (!id)
        return SPAA_OK;
    if (!secret)
        return half_a_pair(d, source, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
    if (!token)
        token = sp_aws_variable(a, "AWS_SESSION_TOKEN");
    if (until && !sp_aws_time(until, strlen(until), &k->expires))
        return sp_aws_fail(d, source, "like 2026-01-31T12:00:00Z", "AWS_CREDENTIAL_EXPIRATION is no time");
    sp_buf_puts(&k->access_key, id);
    sp_buf_puts(&k->secret_key, secret);
    sp_buf_puts(&k->token, token ? token : "");
    k->source = source;
    return SPAA_OK;
}

static spaa_status from_file(struct sp_aws *a, enum sp_aws_file file, struct sp_aws_keys *k,
                             struct sp_diags *d)
{
    const char *source = file == SP_AWS_CONFIG ? "config file" : "credentials file";
    struct sp_span id, secret, token;
    if (!sp_aws_setting(a, file, "aws_access_key_id", &id))
        return SPAA_OK;
    if (!sp_aws_setting(a, file, "aws_secret_access_key", &secret))
        return half_a_pair(d, source, "aws_access_key_id", "aws_secret_access_key");
    sp_buf_add(&k->access_key, id.p, id.n);
    sp_buf_add(&k->secret_key, secret.p, secret.n);
    if (sp_aws_setting(a, file, "aws_security_token", &token) ||
        sp_aws_setting(a, file, "aws_session_token", &token))
        sp_buf_add(&k->token, token.p, token.n);
    k->source = source;
    return SPAA_OK;
}

/* ---- what only the `aws` command can follow ---- */

static bool has(const struct sp_aws *a, const char *key)
{
    struct sp_span v;
    return sp_aws_setting(a, SP_AWS_BOTH, key, &v);
}

/* A role goes before keys that the profile has, too. */
static spaa_status from_role(struct sp_aws *a, struct sp_aws_keys *k, struct sp_diags *d)
{
    if (!has(a, "role_arn") || has(a, "web_identity_token_file"))
        return SPAA_OK;
    if (!has(a, "source_profile") && !has(a, "credential_source"))
        return sp_aws_fail(d, "role_arn", "one of them says whose keys assume the role",
                           "the profile \"%.100s\" has no source_profile and no credential_source",
                           a->profile);
    return sp_aws_from_command(a, "role_arn", k, d);
}

static spaa_status from_setting(struct sp_aws *a, const char *one, const char *other, struct sp_aws_keys *k,
                                struct sp_diags *d)
{
    const char *key = has(a, one) ? one : other && has(a, other) ? other : NULL;
    return key ? sp_aws_from_command(a, key, k, d) : SPAA_OK;
}

/* ---- the search ---- */

enum { ENVIRONMENT, ROLE, WEB, SSO, CREDENTIALS_FILE, LOGIN, PROCESS, CONFIG_FILE, CONTAINER, INSTANCE, ALL };

static spaa_status look(int where, struct sp_aws *a, const char *region, struct sp_aws_keys *k,
                        struct sp_diags *d)
{
    switch (where) {
    case ENVIRONMENT:
        return from_environment(a, k, d);
    case ROLE:
        return from_role(a, k, d);
    case WEB:
        return sp_aws_from_web_identity(a, region, k, d);
    case SSO:
        return from_setting(a, "sso_role_name", "sso_account_id", k, d);
    case CREDENTIALS_FILE:
        return from_file(a, SP_AWS_CREDENTIALS, k, d);
    case LOGIN:
        return from_setting(a, "login_session", NULL, k, d);
    case PROCESS:
        return from_setting(a, "credential_process", NULL, k, d);
    case CONFIG_FILE:
        return from_file(a, SP_AWS_CONFIG, k, d);
    case CONTAINER:
        return sp_aws_from_container(a, k, d);
    default:
        return sp_aws_from_instance(a, k, d);
    }
}

/* Keys go into lines of HTTP: what could end one is no key. */
static bool is_key(const struct sp_buf *b)
{
    for (size_t i = 0; i < b->len; i++)
        if (b->data[i] <= ' ' || b->data[i] > '~')
            return false;
    return true;
}

static spaa_status judge(const struct sp_aws_keys *k, struct sp_diags *d)
{
    time_t until = (time_t)k->expires;
    struct tm tm;
    char text[40] = "long ago";
    if (k->access_key.failed || k->secret_key.failed || k->token.failed || k->detail.failed)
        return sp_nomem(d);
    if (!k->access_key.len || !k->secret_key.len)
        return sp_aws_fail(d, k->source, "", "the %s is empty",
                           k->access_key.len ? "secret key" : "access key");
    if (!is_key(&k->access_key) || !is_key(&k->secret_key) || !is_key(&k->token))
        return sp_aws_fail(d, k->source, "a blank or the end of a line among it?",
                           "it has characters that no key has");
    if (k->expires > (int64_t)time(NULL))
        return SPAA_OK;
    if (gmtime_r(&until, &tm))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    if (!k->may_be_late)
        return sp_aws_fail(d, k->source, "get new ones, or set this machine's clock",
                           "its credentials expired: %s", text);
    sp_emit(d, SP_W482, SP_AT_NOTHING, "%s: they expired %s", k->source, text);
    return SPAA_OK;
}

spaa_status sp_aws_keys_find(struct sp_aws *a, const char *region, struct sp_aws_keys *k, struct sp_diags *d)
{
    spaa_status st = SPAA_OK;
    for (int where = 0; !st && !k->source && where < ALL; where++)
        st = look(where, a, region, k, d);
    if (!st && k->source)
        st = judge(k, d);
    sp_buf_cstr(&k->access_key);
    sp_buf_cstr(&k->secret_key);
    sp_buf_cstr(&k->token);
    return !st && (k->access_key.failed || k->secret_key.failed || k->token.failed) ? sp_nomem(d) : st;
}
