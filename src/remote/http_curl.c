#include "remote/http.h"

#include "base/num.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define BODY_MAX ((size_t)1 << 20)

struct sending {
    const struct sp_http_request *r;
    struct sp_http_response *response;
};

bool sp_http_available(void)
{
    return true;
}

static size_t take_body(char *p, size_t size, size_t n, void *arg)
{
    struct sp_http_response *response = arg;
    size_t room = BODY_MAX - response->body.len, want = size * n;
    return sp_buf_add(&response->body, p, want < room ? want : room) ? want : 0;
}

/* "name: value\r\n" where it has this name. */
static bool header_is(const char *p, size_t n, const char *name, const char **value, size_t *value_n)
{
    size_t k = strlen(name);
    if (n <= k || p[k] != ':' || strncasecmp(p, name, k) != 0)
        return false;
    p += k + 1;
    n -= k + 1;
    while (n && (*p == ' ' || *p == '\t')) {
        p++;
        n--;
    }
    while (n && (p[n - 1] == '\r' || p[n - 1] == '\n' || p[n - 1] == ' '))
        n--;
    *value = p;
    *value_n = n;
    return true;
}

static size_t take_header(char *p, size_t size, size_t n, void *arg)
{
    struct sp_http_response *response = arg;
    const char *v;
    size_t vn;
    uint64_t seconds;
    if (header_is(p, size * n, "x-amzn-errortype", &v, &vn)) {
        const char *colon = memchr(v, ':', vn); /* "Name:http://…" */
        vn = colon ? (size_t)(colon - v) : vn;
        snprintf(response->error_type, sizeof response->error_type, "%.*s", (int)(vn < 120 ? vn : 120), v);
    } else if (header_is(p, size * n, "retry-after", &v, &vn) && vn &&
               sp_parse_u64(v, v + vn, &seconds) == vn) {
        response->retry_after = seconds < 3600 ? (long)seconds : 3600;
    }
    return size * n;
}

static int show_progress(void *arg, curl_off_t dl_size, curl_off_t dl, curl_off_t size, curl_off_t sent)
{
    const struct sending *s = arg;
    (void)dl_size;
    (void)dl;
    if (s->r->progress && size > 0)
        s->r->progress((uint64_t)sent, (uint64_t)size, s->r->arg);
    return 0;
}

static struct curl_slist *header_list(const struct sp_http_request *r)
{
    struct curl_slist *list = curl_slist_append(NULL, "Expect:"); /* no waiting for a go-ahead */
    for (size_t i = 0; list && i < r->nheaders; i++) {
        struct sp_buf line;
        sp_buf_init(&line, 0);
        sp_buf_printf(&line, "%s: %s", r->headers[i].name, r->headers[i].value);
        struct curl_slist *more = line.failed ? NULL : curl_slist_append(list, sp_buf_cstr(&line));
        if (line.data)
            explicit_bzero(line.data, line.len);
        sp_buf_free(&line);
        if (!more)
            curl_slist_free_all(list);
        list = more;
    }
    return list;
}

static void set_options(CURL *c, const struct sending *s, struct curl_slist *headers, char *error)
{
    const struct sp_http_request *r = s->r;
    curl_easy_setopt(c, CURLOPT_URL, r->url);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "spaa");
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, r->timeout < 10 ? r->timeout : 10L);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, r->timeout);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, s->response);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, s->response);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, show_progress);
    curl_easy_setopt(c, CURLOPT_XFERINFODATA, s);
    if (r->ca_file)
        curl_easy_setopt(c, CURLOPT_CAINFO, r->ca_file);
    if (r->body) {
        curl_easy_setopt(c, CURLOPT_POST, 1L);
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_n);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, r->body);
    } else {
        curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, r->method);
    }
}

static enum sp_http_result result_of(CURLcode rc)
{
    switch (rc) {
    case CURLE_OK:
        return SP_HTTP_DONE;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_WRITE_ERROR: /* take_body */
        return SP_HTTP_NOMEM;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
        return SP_HTTP_AGAIN;
    default:
        return SP_HTTP_NEVER;
    }
}

enum sp_http_result sp_http_send(const struct sp_http_request *r, struct sp_http_response *response,
                                 char why[static 256])
{
    char error[CURL_ERROR_SIZE] = "";
    struct sending s = {r, response};
    *response = (struct sp_http_response){.retry_after = -1};
    sp_buf_init(&response->body, BODY_MAX + 1);
    CURL *c = curl_easy_init();
    struct curl_slist *headers = c ? header_list(r) : NULL;
    enum sp_http_result result = SP_HTTP_NOMEM;
    if (headers) {
        set_options(c, &s, headers, error);
        CURLcode rc = curl_easy_perform(c);
        result = result_of(rc);
        snprintf(why, 256, "%.250s", *error ? error : curl_easy_strerror(rc));
        curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &response->status);
        if (result == SP_HTTP_DONE && !response->status)
            result = SP_HTTP_AGAIN;
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(c);
    return result;
}
