/*
 * Credentials for a token of another identity provider, as pods of EKS have it in a file: STS's
 * AssumeRoleWithWebIdentity, which nothing signs; the token is the proof. The answer is XML.
 */
#include "remote/aws_endpoint.h"
#include "remote/credentials_private.h"
#include "remote/url.h"

#include <stdio.h>
#include <time.h>

#define TIMEOUT 10000 /* milliseconds */
#define TRIES   3
#define PAUSE   500

static const char source[] = "web identity";

/* The text of the first element of this name behind `after`; false: there is none, or it is not plain. */
static bool element(const struct sp_buf *xml, const char *after, const char *name, struct sp_buf *out)
{
    char tag[64];
    const char *end = xml->data + xml->len, *p = memmem(xml->data, xml->len, after, strlen(after));
    int n = snprintf(tag, sizeof tag, "<%s>", name);
    p = p ? memmem(p, (size_t)(end - p), tag, (size_t)n) : NULL;
    const char *stop = p ? memchr(p + n, '<', (size_t)(end - p - n)) : NULL;
    if (!stop)
        return false;
    static const struct {
        const char *entity;
        char c;
    } entities[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (p += n; p < stop;) {
        size_t e = 0;
        if (*p != '&') {
            sp_buf_ch(out, *p++);
            continue;
        }
        while (e < 5 && ((size_t)(stop - p) < strlen(entities[e].entity) ||
                         memcmp(p, entities[e].entity, strlen(entities[e].entity)) != 0))
            e++;
        if (e == 5)
            return false;
        sp_buf_ch(out, entities[e].c);
        p += strlen(entities[e].entity);
    }
    return out->len != 0;
}

static spaa_status take_xml(struct sp_aws_keys *k, const struct sp_buf *xml, struct sp_diags *d)
{
    struct sp_buf until;
    const char *missing = NULL;
    sp_buf_init(&until, 4096);
    if (!xml->len || !element(xml, "<Credentials>", "AccessKeyId", &k->access_key))
        missing = "AccessKeyId";
    else if (!element(xml, "<Credentials>", "SecretAccessKey", &k->secret_key))
        missing = "SecretAccessKey";
    else if (!element(xml, "<Credentials>", "SessionToken", &k->token))
        missing = "SessionToken";
    else if (!element(xml, "<Credentials>", "Expiration", &until) ||
             !sp_aws_time(until.data, until.len, &k->expires))
        missing = "Expiration";
    sp_buf_free(&until);
    if (missing)
        return sp_aws_fail(d, source, "is that the address of STS?", "the answer has no %s", missing);
    k->source = source;
    return SPAA_OK;
}

/* "InvalidIdentityToken: … (HTTP 400)"; what was sent is cut out. */
static spaa_status refused(const struct sp_http_response *answer, const struct sp_buf *token,
                           struct sp_diags *d)
{
    struct sp_buf code, text;
    sp_buf_init(&code, 64 << 10);
    sp_buf_init(&text, 128 << 10);
    if (answer->body.len && element(&answer->body, "<Error>", "Code", &code)) {
        sp_buf_printf(&text, "%.*s: ", (int)code.len, code.data);
        element(&answer->body, "<Error>", "Message", &text);
        sp_buf_ch(&text, ' ');
    }
    sp_redact(&text, token->data, token->len);
    if (text.len > 300)
        text.len = 300;
    spaa_status st = sp_aws_fail(d, source, "the role's trust policy, and the token's time, decide",
                                 "STS: %s(HTTP %ld)", sp_buf_cstr(&text), answer->status);
    sp_buf_free(&code);
    sp_buf_free(&text);
    return st;
}

static spaa_status take(const struct sp_aws_asked *x, const struct sp_http_response *answer,
                        struct sp_aws_keys *k, struct sp_diags *d)
{
    return answer->status == 200 ? take_xml(k, &answer->body, d) : refused(answer, x->token, d);
}

static bool busy(long status)
{
    return status == 429 || status >= 500;
}

static spaa_status ask(const struct sp_aws *a, const char *url, const struct sp_buf *body,
                       const struct sp_buf *token, struct sp_aws_keys *k, struct sp_diags *d)
{
    static const struct sp_http_header type = {"content-type",
                                               "application/x-www-form-urlencoded; charset=utf-8"};
    const struct sp_aws_request q = {.method = "POST",
                                     .url = url,
                                     .headers = &type,
                                     .nheaders = 1,
                                     .body = body,
                                     .ca_file = a->ca_file,
                                     .timeout_ms = TIMEOUT,
                                     .tries = TRIES,
                                     .pause_ms = PAUSE,
                                     .again = busy};
    const struct sp_aws_asked x = {.source = source,
                                   .where = url,
                                   .hint = "AWS_ENDPOINT_URL_STS names another address",
                                   .token = token,
                                   .take = take};
    return sp_aws_ask(&q, &x, k, d);
}

static spaa_status address(const struct sp_aws *a, const char *region, struct sp_aws_address *out,
                           struct sp_diags *d)
{
    spaa_status st = sp_aws_endpoint(a, &sp_aws_sts, NULL, region, out, d);
    if (st)
        return st;
    char shown[256];
    return sp_aws_is_url(out->url.data, "@?#")
               ? SPAA_OK
               : sp_aws_fail(d, source, "https://HOST", "the address of STS is no URL: %s has \"%s\"",
                             out->from, sp_url_masked(out->url.data, shown, sizeof shown));
}

/* The variable, even an empty one; else the profile's setting. */
static bool value(const struct sp_aws *a, const char *variable, const char *key, struct sp_buf *out)
{
    const char *v = a->get(variable, a->arg);
    if (v) {
        sp_buf_puts(out, v);
        return *v;
    }
    return sp_aws_configured(a, variable, key, out);
}

static spaa_status assume(struct sp_aws *a, const char *region, const char *path, const struct sp_buf *role,
                          struct sp_aws_keys *k, struct sp_diags *d)
{
    struct sp_buf token, body;
    struct sp_aws_address at;
    sp_buf_init(&token, 128 << 10);
    sp_buf_init(&body, 1 << 20);
    sp_buf_init(&at.url, 64 << 10);
    sp_buf_clear(&a->session_name);
    if (!value(a, "AWS_ROLE_SESSION_NAME", "role_session_name", &a->session_name))
        sp_buf_printf(&a->session_name, "spaa-%lld", (long long)time(NULL));
    spaa_status st = sp_aws_read_secret(path, &token, source, d);
    if (!st && !token.len)
        st = sp_aws_fail(d, source, "", "%.200s is empty", path);
    if (!st)
        st = address(a, region, &at, d);
    if (!st) {
        sp_buf_puts(&body, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=");
        sp_uri_encode(&body, role->data, false);
        sp_buf_puts(&body, "&RoleSessionName=");
        sp_uri_encode(&body, sp_buf_cstr(&a->session_name), false);
        sp_buf_puts(&body, "&WebIdentityToken=");
        sp_uri_encode(&body, sp_buf_cstr(&token), false);
        st = body.failed || token.failed ? sp_nomem(d) : ask(a, at.url.data, &body, &token, k, d);
    }
    sp_aws_wipe(&token);
    sp_aws_wipe(&body);
    sp_buf_free(&at.url);
    return st;
}

spaa_status sp_aws_from_web_identity(struct sp_aws *a, const char *region, struct sp_aws_keys *k,
                                     struct sp_diags *d)
{
    struct sp_buf path, role;
    sp_buf_init(&path, 64 << 10);
    sp_buf_init(&role, 64 << 10);
    spaa_status st = SPAA_OK;
    if (value(a, "AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file", &path)) {
        if (!value(a, "AWS_ROLE_ARN", "role_arn", &role))
            st =
                sp_aws_fail(d, source, "AWS_ROLE_ARN or the profile's role_arn names it", "there is no role");
        else if (sp_buf_cstr(&role), sp_buf_cstr(&path), role.failed || path.failed)
            st = sp_nomem(d);
        else
            st = assume(a, region, path.data, &role, k, d);
        sp_buf_puts(&k->detail, role.len ? role.data : "");
    }
    sp_buf_free(&path);
    sp_buf_free(&role);
    return st;
}
