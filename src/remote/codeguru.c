#include "remote/codeguru.h"

#include "remote/url.h"
#include "json/json.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#define SERVICE   "codeguru-profiler"
#define DELAY_MAX 20000u /* milliseconds */

bool sp_codeguru_name(const char *s, size_t max)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return n && n <= max && !s[n];
}

bool sp_codeguru_token(char out[static 37])
{
    unsigned char r[16];
    if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r)
        return false;
    r[6] = (unsigned char)((r[6] & 0x0F) | 0x40);
    r[8] = (unsigned char)((r[8] & 0x3F) | 0x80);
    char *p = out;
    for (size_t i = 0; i < sizeof r; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        p += snprintf(p, 3, "%02x", r[i]);
    }
    return true;
}

void sp_codeguru_request_free(struct sp_codeguru_request *r)
{
    sp_buf_free(&r->url);
    sp_buf_free(&r->host);
    sp_buf_free(&r->path);
    sp_buf_free(&r->query);
}

static const char path_characters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~%!$&'()*+,;=:";

/* Scheme, host and path of the endpoint; the path has no slash at its end. An @ is of a password, if only a
 * malformed one, and nothing that messages may show. */
static spaa_status endpoint(const struct sp_codeguru *s, struct sp_codeguru_request *r, struct sp_diags *d)
{
    const char *url = s->endpoint, *host = NULL;
    if (strncmp(url, "https://", 8) == 0)
        host = url + 8;
    else if (strncmp(url, "http://", 7) == 0)
        host = url + 7;
    size_t n = host ? strcspn(host, "/?#") : 0, path_n = host ? strlen(host + n) : 0;
    bool fine = n && !strpbrk(url, "@?# \\\"\t\r\n") && !host[n + strspn(host + n, path_characters)];
    while (fine && path_n && host[n + path_n - 1] == '/')
        path_n--;
    if (fine) {
        sp_buf_add(&r->url, url, (size_t)(host - url) + n);
        sp_buf_add(&r->host, host, n);
        sp_buf_add(&r->path, host + n, path_n);
    } else {
        char shown[512];
        sp_emit_hint(d, SP_E037, SP_AT_NOTHING,
                     "for example https://codeguru-profiler.eu-west-1.amazonaws.com",
                     "%s needs https://HOST or http://HOST, not \"%s\"", s->endpoint_from,
                     sp_url_masked(url, shown, sizeof shown));
    }
    return fine ? SPAA_OK : SPAA_ERR_USAGE;
}

static spaa_status upload_begin(const struct sp_codeguru *s, const char *what, struct sp_diags *d,
                                struct sp_codeguru_request *r)
{
    sp_buf_init(&r->url, 0);
    sp_buf_init(&r->host, 0);
    sp_buf_init(&r->path, 0);
    sp_buf_init(&r->query, 0);
    spaa_status st = endpoint(s, r, d);
    if (!st) {
        sp_buf_puts(&r->path, "/profilingGroups/");
        sp_uri_encode(&r->path, s->group, false);
        sp_buf_puts(&r->path, what);
    }
    return st;
}

static spaa_status upload_end(struct sp_codeguru_request *r, spaa_status st, struct sp_diags *d)
{
    sp_buf_add(&r->url, r->path.data, r->path.len);
    sp_buf_ch(&r->url, '?');
    sp_buf_add(&r->url, r->query.data, r->query.len);
    sp_sha256_hex(r->body ? r->body : "", r->body_n, r->payload_hash);
    sp_buf_cstr(&r->url);
    sp_buf_cstr(&r->host);
    sp_buf_cstr(&r->path);
    sp_buf_cstr(&r->query);
    if (!st && (r->url.failed || r->host.failed || r->path.failed || r->query.failed))
        st = sp_nomem(d);
    if (st)
        sp_codeguru_request_free(r);
    return st;
}

spaa_status sp_codeguru_post(const struct sp_codeguru *s, const char *token, const void *body, size_t n,
                             struct sp_diags *d, struct sp_codeguru_request *out)
{
    *out = (struct sp_codeguru_request){.method = "POST", .body = body, .body_n = n};
    spaa_status st = upload_begin(s, "/agentProfile", d, out);
    sp_buf_puts(&out->query, "profileToken=");
    sp_uri_encode(&out->query, token, false);
    return upload_end(out, st, d);
}

static void time_parameter(struct sp_buf *query, const char *name, time_t t)
{
    struct tm tm;
    char text[32];
    gmtime_r(&t, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    sp_buf_printf(query, "%s=", name);
    sp_uri_encode(query, text, false);
}

spaa_status sp_codeguru_list(const struct sp_codeguru *s, time_t from, time_t to, const char *next,
                             struct sp_diags *d, struct sp_codeguru_request *out)
{
    *out = (struct sp_codeguru_request){.method = "GET"};
    spaa_status st = upload_begin(s, "/profileTimes", d, out);
    time_parameter(&out->query, "endTime", to); /* by name, as the signature wants them */
    if (next) {
        sp_buf_puts(&out->query, "&nextToken=");
        sp_uri_encode(&out->query, next, false);
    }
    sp_buf_puts(&out->query, "&period=PT5M&");
    time_parameter(&out->query, "startTime", from);
    return upload_end(out, st, d);
}

/* ---- sending ---- */

/* Fills `headers` (6) with those of this moment; `auth` and `date` hold their texts. */
static bool sign(const struct sp_codeguru *s, const struct sp_codeguru_request *r, struct sp_buf *auth,
                 char date[static 20], struct sp_http_header *headers, size_t *n)
{
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(date, 20, "%Y%m%dT%H%M%SZ", &tm);
    *n = 0;
    if (r->body)
        headers[(*n)++] = (struct sp_http_header){"content-type", "application/json"};
    headers[(*n)++] = (struct sp_http_header){"host", r->host.data};
    headers[(*n)++] = (struct sp_http_header){"x-amz-date", date};
    if (s->keys->token.len)
        headers[(*n)++] = (struct sp_http_header){"x-amz-security-token", s->keys->token.data};
    struct sp_sigv4 v = {.method = r->method,
                         .path = r->path.data,
                         .query = r->query.data,
                         .headers = headers,
                         .nheaders = *n,
                         .payload_hash = r->payload_hash,
                         .date = date,
                         .region = s->region,
                         .service = SERVICE,
                         .access_key = s->keys->access_key.data,
                         .secret_key = s->keys->secret_key.data};
    sp_buf_clear(auth);
    if (!sp_sigv4_authorization(&v, auth))
        return false;
    headers[(*n)++] = (struct sp_http_header){"authorization", sp_buf_cstr(auth)};
    return !auth->failed;
}

/* A string member of an error's body: "message", "Message", "__type". */
static bool error_member(const struct sp_buf *body, const char *name, struct sp_buf *out)
{
    struct sp_json j;
    struct sp_span key, raw;
    sp_json_init(&j, body->len ? body->data : "", body->len);
    if (sp_json_type(&j) == SP_JSON_OBJECT && sp_json_object(&j)) {
        while (sp_json_key(&j, &key)) {
            bool same = key.n == strlen(name) && strncasecmp(key.p, name, key.n) == 0;
            if (same && sp_json_type(&j) == SP_JSON_STRING) {
                if (sp_json_string_value(&j, &raw))
                    sp_buf_add(out, raw.p, raw.n);
                break;
            }
            if (!sp_json_skip(&j, &raw))
                break;
        }
    }
    sp_json_free(&j);
    return out->len != 0;
}

/* "AccessDeniedException: User … is not authorized (HTTP 403)" */
static void say_error(const struct sp_codeguru *s, const struct sp_http_response *a, struct sp_buf *out)
{
    struct sp_buf type, message;
    sp_buf_init(&type, 4096);
    sp_buf_init(&message, 64 << 10);
    if (*a->error_type)
        sp_buf_puts(&type, a->error_type);
    else if (error_member(&a->body, "__type", &type)) {
        char *hash = memrchr(type.data, '#', type.len); /* "com.amazon…#Name" */
        if (hash) {
            type.len -= (size_t)(hash + 1 - type.data);
            memmove(type.data, hash + 1, type.len);
        }
    }
    error_member(&a->body, "message", &message);
    if (type.len)
        sp_buf_printf(out, "%.*s: ", (int)type.len, type.data);
    if (message.len > 500)
        message.len = 500;
    if (message.len)
        sp_buf_printf(out, "%.*s ", (int)message.len, message.data);
    sp_buf_printf(out, "(HTTP %ld)", a->status);
    sp_redact(out, s->keys->secret_key.data, s->keys->secret_key.len);
    sp_redact(out, s->keys->token.data, s->keys->token.len);
    sp_buf_free(&type);
    sp_buf_free(&message);
}

static const char *hint_of(const struct sp_http_response *a, const char *why)
{
    if (strstr(why, "SignatureDoesNotMatch") || strstr(why, "InvalidSignature"))
        return "the secret key does not belong to the access key, or a proxy changed the request";
    if (strstr(why, "Expired") || strstr(why, "expired"))
        return "the credentials expired: get new ones";
    if (strstr(why, "Skewed") || strstr(why, "too far"))
        return "set this machine's clock";
    if (strstr(why, "ResourceNotFound") || a->status == 404)
        return "create the profiling group, or check --group and --region";
    if (a->status == 401 || a->status == 403)
        return "the credentials need codeguru-profiler:PostAgentProfile (ListProfileTimes for --verify) for "
               "this group";
    if (a->status == 413)
        return "the profile is too large for the service: profile for a shorter time";
    return "see the message";
}

static bool busy(const struct sp_http_response *a, const char *why)
{
    return a->status == 429 || a->status >= 500 || (a->status == 400 && strstr(why, "Throttling"));
}

int64_t sp_codeguru_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t time_left(const struct sp_codeguru *s)
{
    return s->deadline - sp_codeguru_clock();
}

static void upload_wait_for(unsigned ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}

static unsigned delay_before(const struct sp_codeguru *s, unsigned retry, long retry_after)
{
    uint64_t ms = (uint64_t)s->delay << (retry < 16 ? retry : 16);
    if (retry_after >= 0 && (uint64_t)retry_after * 1000 > ms)
        ms = (uint64_t)retry_after * 1000;
    return ms < DELAY_MAX ? (unsigned)ms : DELAY_MAX;
}

struct attempt {
    struct sp_http_response answer;
    enum sp_http_result result;
    struct sp_buf why;
};

static bool try_once(const struct sp_codeguru *s, const struct sp_codeguru_request *r, struct attempt *a)
{
    int64_t left = time_left(s);
    struct sp_http_header headers[6];
    struct sp_buf auth;
    char date[20], why[256] = "";
    struct sp_http_request q = {.method = r->method,
                                .url = r->url.data,
                                .headers = headers,
                                .body = r->body,
                                .body_n = r->body_n,
                                .ca_file = s->ca_file,
                                .timeout_ms = left > 0 ? (long)left : 1,
                                .progress = s->progress,
                                .arg = s->arg};
    sp_buf_init(&auth, 0);
    sp_buf_init(&a->why, 0);
    sp_buf_init(&a->answer.body, 0);
    bool ok = sign(s, r, &auth, date, headers, &q.nheaders);
    if (ok) {
        a->result = sp_http_send(&q, &a->answer, why);
        ok = a->result != SP_HTTP_NOMEM;
    }
    if (ok && a->result == SP_HTTP_DONE)
        say_error(s, &a->answer, &a->why);
    else
        sp_buf_puts(&a->why, why);
    sp_buf_cstr(&a->why);
    sp_buf_free(&auth);
    return ok && !a->why.failed;
}

/* Why there is no further try: the answer, and what it was about. */
static void give_up(const struct sp_codeguru *s, const struct sp_codeguru_request *r, const struct attempt *a,
                    bool too_late, struct sp_diags *d)
{
    bool answered = a->result == SP_HTTP_DONE;
    const char *host = answered ? "" : r->host.data, *colon = answered ? "" : ": ";
    enum sp_code code = answered ? SP_E463 : SP_E464;
    if (too_late)
        sp_emit_hint(d, code, SP_AT_NOTHING, "--timeout SECONDS allows more",
                     time_left(s) > 0
                         ? "%s%s%s; gave up, the next try would come after the %ld s of --timeout"
                         : "%s%s%s; gave up, the %ld s are over",
                     host, colon, a->why.data, s->timeout);
    else if (answered)
        sp_emit_hint(d, code, SP_AT_NOTHING, hint_of(&a->answer, a->why.data), "%s", a->why.data);
    else
        sp_emit(d, code, SP_AT_NOTHING, "%s%s%s", host, colon, a->why.data);
}

/* True: try again, the time to do so has come. */
static bool wait_to_retry(const struct sp_codeguru *s, const struct sp_codeguru_request *r,
                          const struct attempt *a, unsigned retry, struct sp_diags *d)
{
    bool again = a->result == SP_HTTP_DONE ? busy(&a->answer, a->why.data) : a->result == SP_HTTP_AGAIN;
    unsigned ms = delay_before(s, retry, a->answer.retry_after);
    bool too_late = again && time_left(s) <= (again && retry < s->retries ? ms : 0);
    if (!again || retry >= s->retries || too_late) {
        give_up(s, r, a, too_late, d);
        return false;
    }
    sp_emit(d, SP_W481, SP_AT_NOTHING, "try %u of %u: %s; again in %u.%03u s", retry + 1, s->retries + 1,
            a->why.data, ms / 1000, ms % 1000);
    if (s->waiting)
        s->waiting(ms, s->arg);
    upload_wait_for(ms);
    return true;
}

spaa_status sp_codeguru_send(const struct sp_codeguru *s, const struct sp_codeguru_request *r,
                             struct sp_diags *d, struct sp_buf *answer)
{
    for (unsigned retry = 0;; retry++) {
        struct attempt a = {.result = SP_HTTP_NOMEM};
        bool again = false;
        spaa_status st = try_once(s, r, &a) ? SPAA_ERR_IO : sp_nomem(d);
        if (st == SPAA_ERR_IO && a.result == SP_HTTP_DONE && a.answer.status >= 200 &&
            a.answer.status < 300) {
            sp_buf_add(answer, a.answer.body.data, a.answer.body.len);
            st = answer->failed ? sp_nomem(d) : SPAA_OK;
        } else if (st == SPAA_ERR_IO) {
            again = wait_to_retry(s, r, &a, retry, d);
        }
        sp_buf_free(&a.answer.body);
        sp_buf_free(&a.why);
        if (!again)
            return st;
    }
}
