/*
 * Credentials of a container's role: ECS and Lambda name a path in AWS_CONTAINER_CREDENTIALS_RELATIVE_URI,
 * EKS pod identity and others an address in AWS_CONTAINER_CREDENTIALS_FULL_URI with a token.
 */
#include "remote/credentials_private.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <strings.h>

#define HOST    "169.254.170.2"
#define TIMEOUT 2000 /* milliseconds; these three as in botocore */
#define TRIES   3
#define PAUSE   1000

static const char source[] = "container";

static bool is_loopback(const char *host)
{
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, host, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* A token is sent in the clear to this machine and to AWS's own addresses only. */
static bool may_ask(const char *host)
{
    static const char *const hosts[] = {HOST, "169.254.170.23", "fd00:ec2::23", "localhost"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (strcasecmp(host, hosts[i]) == 0)
            return true;
    return is_loopback(host);
}

/* The host of an URL without its port and brackets; false: it is no URL that could be asked. */
static bool host_of(const char *url, char host[static 256])
{
    const char *p = strstr(url, "://");
    size_t n = strcspn(p ? p + 3 : "", "/?#");
    if (!p || !n || memchr(p + 3, '@', n) || !sp_aws_is_url(url, ""))
        return false;
    p += 3;
    const char *close = *p == '[' ? memchr(p, ']', n) : NULL;
    const char *colon = close ? NULL : memchr(p, ':', n);
    n = close ? (size_t)(close - ++p) : colon ? (size_t)(colon - p) : n;
    if (!n || n > 255)
        return false;
    memcpy(host, p, n);
    host[n] = '\0';
    return true;
}

static spaa_status read_token(const struct sp_aws *a, struct sp_buf *token, struct sp_diags *d)
{
    const char *path = a->get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", a->arg),
               *text = a->get("AWS_CONTAINER_AUTHORIZATION_TOKEN", a->arg);
    spaa_status st = SPAA_OK;
    if (path) /* even an empty one, as in botocore */
        st = sp_aws_read_secret(path, token, source, d);
    else if (text)
        sp_buf_puts(token, text);
    for (size_t i = 0; !st && i < token->len; i++)
        if ((unsigned char)token->data[i] < ' ' || token->data[i] == 127)
            st = sp_aws_fail(d, source, "an end of the line in it? botocore refuses it, too",
                             "the authorization token has characters that no header may have");
    return st ? st : token->failed ? sp_nomem(d) : SPAA_OK;
}

static spaa_status take(const struct sp_aws_asked *x, const struct sp_http_response *answer,
                        struct sp_aws_keys *k, struct sp_diags *d)
{
    if (answer->status == 200)
        return sp_aws_take_json(k, &answer->body, "Token", true, source, d);
    return sp_aws_fail(d, source,
                       answer->status == 401 || answer->status == 403
                           ? "AWS_CONTAINER_AUTHORIZATION_TOKEN or its file is not what the address wants"
                           : "",
                       "%s answered with HTTP %ld", x->where, answer->status);
}

static spaa_status ask(const struct sp_aws *a, const char *url, const char *host, const struct sp_buf *token,
                       struct sp_aws_keys *k, struct sp_diags *d)
{
    struct sp_http_header headers[] = {{"accept", "application/json"}, {"authorization", token->data}};
    const struct sp_aws_request q = {.method = "GET",
                                     .url = url,
                                     .headers = headers,
                                     .nheaders = token->len ? 2 : 1,
                                     .ca_file = a->ca_file,
                                     .direct = true,
                                     .timeout_ms = TIMEOUT,
                                     .tries = TRIES,
                                     .pause_ms = PAUSE,
                                     .again = sp_aws_not_fine};
    const struct sp_aws_asked x = {.source = source, .where = host, .hint = "", .take = take};
    return sp_aws_ask(&q, &x, k, d);
}

spaa_status sp_aws_from_container(struct sp_aws *a, struct sp_aws_keys *k, struct sp_diags *d)
{
    const char *path = a->get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", a->arg),
               *full = a->get("AWS_CONTAINER_CREDENTIALS_FULL_URI", a->arg);
    struct sp_buf url, token;
    char host[256];
    if (!path && !full) /* an empty one is set: other keys are not what was meant */
        return SPAA_OK;
    sp_buf_init(&url, 64 << 10);
    sp_buf_init(&token, 128 << 10);
    sp_buf_printf(&url, "%s%s", path ? "http://" HOST : "", path ? path : full);
    spaa_status st = SPAA_OK;
    if (!host_of(sp_buf_cstr(&url), host) || (path && strcmp(host, HOST) != 0))
        st = sp_aws_fail(d, source, "", "AWS_CONTAINER_CREDENTIALS_%s is no address to ask",
                         path ? "RELATIVE_URI" : "FULL_URI");
    else if (strncasecmp(url.data, "https:", 6) != 0 && !may_ask(host))
        st = sp_aws_fail(d, source, "https://, a loopback address, " HOST ", 169.254.170.23 or fd00:ec2::23",
                         "%.200s may not be asked without TLS", host);
    if (!st)
        st = read_token(a, &token, d);
    if (!st) {
        sp_buf_cstr(&token);
        st = token.failed ? sp_nomem(d) : ask(a, url.data, host, &token, k, d);
    }
    sp_buf_puts(&k->detail, host);
    sp_aws_wipe(&url);
    sp_aws_wipe(&token);
    return st;
}
