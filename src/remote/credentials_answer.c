/* Requests for credentials, and what their answers hold. */
#include "remote/credentials_private.h"

#include "json/find.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MAX ((size_t)64 << 10)

enum sp_http_result sp_aws_fetch(const struct sp_aws_request *q, struct sp_http_response *answer,
                                 char why[static 256])
{
    struct sp_http_request r = {.method = q->method,
                                .url = q->url,
                                .headers = q->headers,
                                .nheaders = q->nheaders,
                                .body = q->body ? q->body->data : NULL,
                                .body_n = q->body ? q->body->len : 0,
                                .ca_file = q->ca_file,
                                .timeout_ms = q->timeout_ms,
                                .most = ANSWER_MAX,
                                .direct = q->direct};
    struct timespec pause = {q->pause_ms / 1000, (long)(q->pause_ms % 1000) * 1000000};
    for (unsigned i = 1;; i++) {
        enum sp_http_result result = sp_http_send(&r, answer, why);
        bool again = result == SP_HTTP_DONE ? q->again && q->again(answer->status) : result == SP_HTTP_AGAIN;
        if (!again || i >= q->tries)
            return result;
        sp_aws_wipe(&answer->body);
        nanosleep(&pause, NULL);
    }
}

bool sp_aws_not_fine(long status)
{
    return status != 200;
}

spaa_status sp_aws_ask(const struct sp_aws_request *q, const struct sp_aws_asked *x, struct sp_aws_keys *k,
                       struct sp_diags *d)
{
    struct sp_http_response answer;
    char why[256] = "";
    enum sp_http_result result = sp_aws_fetch(q, &answer, why);
    spaa_status st = result == SP_HTTP_NOMEM ? sp_nomem(d)
                     : result != SP_HTTP_DONE
                         ? sp_aws_fail(d, x->source, x->hint, "%.200s: %s", x->where, why)
                         : x->take(x, &answer, k, d);
    sp_aws_wipe(&answer.body);
    return st;
}

bool sp_aws_is_url(const char *url, const char *never)
{
    for (const char *c = url; *c; c++)
        if (*c <= ' ' || *c > '~' || *c == '\\' || *c == '"' || strchr(never, *c))
            return false;
    return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

/* "+00:00", "+0000" and "+00", "Z", or nothing: UTC. Seconds east of it. */
static bool zone(const char *p, int64_t *east)
{
    char digits[5] = "";
    size_t n = 0, at = 1;
    *east = 0;
    if (!*p || strcasecmp(p, "Z") == 0)
        return true;
    for (; *p && n < 4 && (isdigit((unsigned char)p[at]) || (p[at] == ':' && n == 2)); at++)
        if (p[at] != ':')
            digits[n++] = p[at];
    if ((*p != '+' && *p != '-') || p[at] || (n != 2 && n != 4))
        return false;
    int64_t number = strtol(digits, NULL, 10),
            minutes = n == 4 ? number / 100 * 60 + number % 100 : number * 60;
    *east = *p == '+' ? 60 * minutes : -60 * minutes;
    return true;
}

/* ISO 8601, with `-` and `:` or without, with seconds and a fraction of them or without. Or as in HTTP: "Sat,
 * 31 Jan 2026 12:00:00 GMT". */
bool sp_aws_time(const char *p, size_t n, int64_t *seconds)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y%m%dT%H%M%S",
                                        "%Y-%m-%dT%H:%M",    "%Y-%m-%d %H:%M",    NULL};
    char text[64];
    struct tm tm = {0};
    int64_t east;
    if (n >= sizeof text)
        return false;
    memcpy(text, p, n);
    text[n] = '\0';
    const char *rest = strptime(text, "%a, %d %b %Y %H:%M:%S", &tm);
    if (rest) {
        *seconds = (int64_t)timegm(&tm);
        return strcmp(rest, " GMT") == 0 || strcmp(rest, " UTC") == 0;
    }
    for (size_t i = 0; !rest && forms[i]; i++) {
        tm = (struct tm){0};
        rest = strptime(text, forms[i], &tm);
    }
    if (!rest)
        return false;
    if (*rest == '.' || *rest == ',')
        rest += 1 + strspn(rest + 1, "0123456789");
    *seconds = (int64_t)timegm(&tm);
    if (!zone(rest, &east))
        return false;
    *seconds -= east;
    return true;
}

static bool is_json_object(const struct sp_buf *text)
{
    struct sp_json j;
    struct sp_span raw;
    sp_json_init(&j, text->len ? text->data : "", text->len);
    bool ok = sp_json_type(&j) == SP_JSON_OBJECT && sp_json_skip(&j, &raw) && sp_json_end(&j);
    sp_json_free(&j);
    return ok;
}

/* Of a member that is there more than once the last counts, as Python reads it. */
static bool last_member(const struct sp_buf *json, const char *name, struct sp_span *raw)
{
    struct sp_json j;
    struct sp_span key, value;
    bool found = false;
    sp_json_init(&j, json->data, json->len);
    for (sp_json_object(&j); sp_json_key(&j, &key);) {
        bool is = sp_span_is(key, name);
        if (!sp_json_skip(&j, &value))
            break;
        if (is)
            *raw = value;
        found = found || is;
    }
    sp_json_free(&j);
    return found;
}

static bool text_member(const struct sp_buf *json, const char *name, struct sp_buf *out)
{
    struct sp_span raw;
    return last_member(json, name, &raw) && raw.n && *raw.p == '"' && sp_json_text_to(out, raw) && out->len;
}

/* null and "": these keys need no token. */
static bool no_token(const struct sp_buf *json, const char *name)
{
    struct sp_span raw;
    return last_member(json, name, &raw) && (sp_span_is(raw, "null") || sp_span_is(raw, "\"\""));
}

/* What a service says instead of keys: {"Code":"Failed","Message":"…"}. */
static void reason(const struct sp_buf *json, struct sp_buf *out)
{
    struct sp_buf code, message;
    sp_buf_init(&code, ANSWER_MAX);
    sp_buf_init(&message, ANSWER_MAX);
    if (text_member(json, "Code", &code) && text_member(json, "Message", &message))
        sp_buf_printf(out, ": %.*s: %.*s", (int)(code.len < 60 ? code.len : 60), code.data,
                      (int)(message.len < 200 ? message.len : 200), message.data);
    sp_buf_free(&code);
    sp_buf_free(&message);
}

spaa_status sp_aws_take_json(struct sp_aws_keys *k, const struct sp_buf *json, const char *token,
                             bool expires, const char *source, struct sp_diags *d)
{
    const char *missing = NULL;
    struct sp_buf until, said;
    if (!is_json_object(json))
        return sp_aws_fail(d, source, "is that the address of a source of credentials?",
                           "the answer is no JSON object");
    sp_buf_init(&until, ANSWER_MAX);
    sp_buf_init(&said, ANSWER_MAX);
    if (!text_member(json, "AccessKeyId", &k->access_key))
        missing = "AccessKeyId";
    else if (!text_member(json, "SecretAccessKey", &k->secret_key))
        missing = "SecretAccessKey";
    else if (!text_member(json, token, &k->token) && expires && !no_token(json, token))
        missing = token;
    else if (!text_member(json, "Expiration", &until) && expires)
        missing = "Expiration";
    spaa_status st = SPAA_OK;
    if (missing) {
        if (expires &&
            strcmp(missing, "AccessKeyId") == 0) /* a service's; what has keys in it is not repeated */
            reason(json, &said);
        st = sp_aws_fail(d, source, "", "the answer has no %s%s", missing, sp_buf_cstr(&said));
    } else if (until.len && !sp_aws_time(until.data, until.len, &k->expires)) {
        st = sp_aws_fail(d, source, "", "its Expiration is no time");
    } else {
        k->source = source;
    }
    sp_buf_free(&until);
    sp_buf_free(&said);
    return st;
}

spaa_status sp_aws_read_secret(const char *path, struct sp_buf *out, const char *source, struct sp_diags *d)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t n = -1;
    if (fd < 0)
        return sp_aws_fail(d, source, "", "%.200s: %s", path, strerror(errno));
    while (out->len <= ANSWER_MAX && sp_buf_reserve(out, 4096)) {
        n = read(fd, out->data + out->len, 4096);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        out->len += (size_t)n;
    }
    int error = errno;
    close(fd);
    if (n < 0 && !out->failed)
        return sp_aws_fail(d, source, "", "%.200s: %s", path, strerror(error));
    if (n > 0)
        return sp_aws_fail(d, source, "", "%.200s has more than 64 KiB: no token", path);
    return out->failed ? sp_nomem(d) : SPAA_OK;
}
