/*
 * Credentials of an EC2 instance's role, from its metadata service: a token (version 2), the role's name, its
 * keys. Version 1, without a token, where the service knows no tokens or they do not get here, as when a
 * container is one hop too far; not where AWS_EC2_METADATA_V1_DISABLED says so.
 */
#include "remote/credentials_private.h"
#include "remote/url.h"

#include "base/num.h"

#include <stdio.h>
#include <strings.h>

#define ENDPOINT    "http://169.254.169.254"
#define ENDPOINT_V6 "http://[fd00:ec2::254]"
#define ROLES       "latest/meta-data/iam/security-credentials/"
#define NUMBER_MAX  100

static const char source[] = "instance metadata";

struct service {
    struct sp_buf base; /* ends in a slash */
    struct sp_buf token;
    uint64_t timeout, tries; /* seconds */
    bool v1;                 /* may be asked without a token */
    bool reached;
    const char *ca_file;
};

static bool is_true(const char *text)
{
    return strcasecmp(text, "true") == 0;
}

/* One that is set to nothing is no number, as in botocore. */
static spaa_status number(const struct sp_aws *a, const char *variable, const char *key, uint64_t *out,
                          struct sp_diags *d)
{
    const char *v = a->get(variable, a->arg);
    struct sp_span s = {v, v ? strlen(v) : 0};
    *out = 1;
    if (!v && !sp_aws_setting(a, SP_AWS_BOTH, key, &s))
        return SPAA_OK;
    if (s.n && sp_parse_u64(s.p, s.p + s.n, out) == s.n && *out && *out <= NUMBER_MAX)
        return SPAA_OK;
    sp_emit(d, SP_E037, SP_AT_NOTHING, "%s needs a number from 1 to %d, not \"%.*s\"", variable, NUMBER_MAX,
            (int)(s.n < 100 ? s.n : 100), s.n ? s.p : "");
    return SPAA_ERR_USAGE;
}

static spaa_status base_address(const struct sp_aws *a, struct service *s, struct sp_diags *d)
{
    struct sp_buf mode;
    sp_buf_init(&mode, 4096);
    bool six = false;
    spaa_status st = SPAA_OK;
    if (sp_aws_configured(a, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "ec2_metadata_service_endpoint_mode",
                          &mode)) {
        six = strcasecmp(sp_buf_cstr(&mode), "ipv6") == 0;
        if (!six && strcasecmp(mode.data, "ipv4") != 0) {
            sp_emit(d, SP_E037, SP_AT_NOTHING,
                    "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE needs ipv4 or ipv6, not \"%s\"", mode.data);
            st = SPAA_ERR_USAGE;
        }
    } else if (sp_aws_configured(a, "AWS_IMDS_USE_IPV6", "imds_use_ipv6", &mode)) {
        six = is_true(sp_buf_cstr(&mode));
    }
    sp_buf_free(&mode);
    if (!sp_aws_configured(a, "AWS_EC2_METADATA_SERVICE_ENDPOINT", "ec2_metadata_service_endpoint", &s->base))
        sp_buf_puts(&s->base, six ? ENDPOINT_V6 : ENDPOINT);
    const char *url = sp_buf_cstr(&s->base);
    if (!st && !sp_aws_is_url(url, "@?#")) {
        char shown[256];
        sp_emit(d, SP_E037, SP_AT_NOTHING,
                "AWS_EC2_METADATA_SERVICE_ENDPOINT needs http://HOST or https://HOST, not \"%s\"",
                sp_url_masked(url, shown, sizeof shown));
        st = SPAA_ERR_USAGE;
    }
    if (s->base.len && s->base.data[s->base.len - 1] != '/')
        sp_buf_ch(&s->base, '/');
    return st;
}

static bool token_again(long status)
{
    return status != 200 && status != 400 && status != 403 && status != 404 && status != 405;
}

static enum sp_http_result get(const struct service *s, const char *method, const char *path,
                               const char *more, const struct sp_http_header *header,
                               struct sp_http_response *answer)
{
    struct sp_buf url;
    char why[256];
    sp_buf_init(&url, 64 << 10);
    sp_buf_printf(&url, "%.*s%s%s", (int)s->base.len, s->base.data, path, more);
    struct sp_aws_request q = {.method = method,
                               .url = sp_buf_cstr(&url),
                               .headers = header,
                               .nheaders = header ? 1 : 0,
                               .ca_file = s->ca_file,
                               .direct = true,
                               .timeout_ms = 1000 * (long)s->timeout,
                               .tries = (unsigned)s->tries,
                               .again = *method == 'P' ? token_again : sp_aws_not_fine};
    enum sp_http_result result = sp_aws_fetch(&q, answer, why);
    sp_buf_free(&url);
    return result;
}

/* Into s->token, where there is one. false: no more is to be asked. */
static bool find_token(struct service *s)
{
    static const struct sp_http_header ttl = {"x-aws-ec2-metadata-token-ttl-seconds", "21600"};
    struct sp_http_response answer;
    enum sp_http_result result = get(s, "PUT", "latest/api/token", "", &ttl, &answer);
    bool go_on = result == SP_HTTP_DONE ? answer.status != 400 : answer.connected;
    s->reached = result == SP_HTTP_DONE || answer.connected;
    if (result == SP_HTTP_DONE && answer.status == 200)
        sp_buf_add(&s->token, answer.body.data, answer.body.len);
    sp_aws_wipe(&answer.body);
    for (size_t i = 0; i < s->token.len; i++)
        go_on = go_on && s->token.data[i] > ' ' && s->token.data[i] <= '~';
    sp_buf_cstr(&s->token);
    return go_on;
}

/* 200 with a body, appended; false: there is no such thing. */
static bool get_text(const struct service *s, const char *path, const char *more, struct sp_buf *out)
{
    struct sp_http_header header = {"x-aws-ec2-metadata-token", s->token.len ? s->token.data : ""};
    struct sp_http_response answer;
    bool ok = get(s, "GET", path, more, s->token.len ? &header : NULL, &answer) == SP_HTTP_DONE &&
              answer.status == 200 && answer.body.len;
    if (ok)
        sp_buf_add(out, answer.body.data, answer.body.len);
    sp_aws_wipe(&answer.body);
    return ok;
}

/* What roles can be called; a name goes into an URL. */
static bool is_role(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+=,.@-");
    return n && n <= 128 && !s[n];
}

static spaa_status ask(struct service *s, struct sp_aws_keys *k, struct sp_diags *d)
{
    struct sp_buf role, keys;
    if (!find_token(s))
        return SPAA_OK;
    if (!s->token.len && !s->v1)
        return sp_aws_fail(d, source, "AWS_EC2_METADATA_V1_DISABLED forbids to ask without",
                           "the service gives no token");
    sp_buf_init(&role, 128 << 10);
    sp_buf_init(&keys, 128 << 10);
    spaa_status st = SPAA_OK;
    if (get_text(s, ROLES, "", &role)) {
        while (role.len && (role.data[role.len - 1] == '\n' || role.data[role.len - 1] == '\r'))
            role.len--; /* some stand-ins end the line */
        if (!is_role(sp_buf_cstr(&role)))
            st = sp_aws_fail(d, source, "", "the answer is no name of a role");
        else if (!get_text(s, ROLES, role.data, &keys))
            st = sp_aws_fail(d, source, "", "it names the role %s, and has no credentials for it", role.data);
        else
            st = sp_aws_take_json(k, &keys, "Token", true, source, d);
        sp_buf_puts(&k->detail, "role ");
        sp_buf_puts(&k->detail, role.data);
    }
    sp_buf_free(&role);
    sp_aws_wipe(&keys);
    return st;
}

spaa_status sp_aws_from_instance(struct sp_aws *a, struct sp_aws_keys *k, struct sp_diags *d)
{
    const char *off = sp_aws_variable(a, "AWS_EC2_METADATA_DISABLED");
    struct service s = {.ca_file = a->ca_file};
    struct sp_buf word;
    if (off && is_true(off))
        return SPAA_OK;
    sp_buf_init(&s.base, 4096);
    sp_buf_init(&s.token, 128 << 10);
    sp_buf_init(&word, 4096);
    s.v1 = !(sp_aws_configured(a, "AWS_EC2_METADATA_V1_DISABLED", "ec2_metadata_v1_disabled", &word) &&
             is_true(sp_buf_cstr(&word)));
    spaa_status st = base_address(a, &s, d);
    if (!st)
        st = number(a, "AWS_METADATA_SERVICE_TIMEOUT", "metadata_service_timeout", &s.timeout, d);
    if (!st)
        st = number(a, "AWS_METADATA_SERVICE_NUM_ATTEMPTS", "metadata_service_num_attempts", &s.tries, d);
    if (!st)
        st = s.base.failed || word.failed ? sp_nomem(d) : ask(&s, k, d);
    k->may_be_late = k->source != NULL; /* it extends their time when it cannot renew them, and so does AWS */
    sp_buf_free(&word);
    sp_buf_free(&s.base);
    sp_aws_wipe(&s.token);
    return st;
}
