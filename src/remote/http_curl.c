/*
 * HTTP through libcurl, which is loaded when there is something to send: it brings thirty libraries along,
 * and loading those takes longer than most questions to a profile.
 */
#include "remote/http.h"

#include "base/library.h"
#include "base/num.h"
#include "remote/url.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef __APPLE__
#define LIBRARY "libcurl.4.dylib"
#else
#define LIBRARY "libcurl.so.4"
#endif
#define BODY_MAX ((size_t)1 << 20)

/* What is used of libcurl, whose major version says that these are there and what they take. */
struct curl {
    __typeof__(&curl_easy_init) init;
    __typeof__(&curl_easy_setopt) set;
    __typeof__(&curl_easy_perform) perform;
    __typeof__(&curl_easy_strerror) strerror;
    __typeof__(&curl_easy_getinfo) get;
    __typeof__(&curl_easy_cleanup) cleanup;
    __typeof__(&curl_slist_append) append;
    __typeof__(&curl_slist_free_all) free_all;
};

struct sending {
    const struct curl *curl;
    const struct sp_http_request *r;
    struct sp_http_response *response;
};

static bool http_curl_find(void *library, const char *name, void *function, size_t size)
{
    void *found = sp_library_find(library, name);
    if (found && size == sizeof found)
        memcpy(function, &found, size);
    return found != NULL;
}

/* It stays loaded: libraries that it uses keep state until the process ends. */
static bool http_curl_load(struct curl *c)
{
    void *library = sp_library_open(LIBRARY);
    return library && http_curl_find(library, "curl_easy_init", &c->init, sizeof c->init) &&
           http_curl_find(library, "curl_easy_setopt", &c->set, sizeof c->set) &&
           http_curl_find(library, "curl_easy_perform", &c->perform, sizeof c->perform) &&
           http_curl_find(library, "curl_easy_strerror", &c->strerror, sizeof c->strerror) &&
           http_curl_find(library, "curl_easy_getinfo", &c->get, sizeof c->get) &&
           http_curl_find(library, "curl_easy_cleanup", &c->cleanup, sizeof c->cleanup) &&
           http_curl_find(library, "curl_slist_append", &c->append, sizeof c->append) &&
           http_curl_find(library, "curl_slist_free_all", &c->free_all, sizeof c->free_all);
}

bool sp_http_available(void)
{
    return true;
}

static size_t take_body(char *p, size_t size, size_t n, void *arg)
{
    const struct sending *s = arg;
    struct sp_http_response *response = s->response;
    size_t most = s->r->most ? s->r->most : BODY_MAX;
    size_t room = most - response->body.len, want = size * n;
    response->too_much = s->r->most && want > room;
    if (response->too_much)
        return 0;
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

static struct curl_slist *header_list(const struct curl *curl, const struct sp_http_request *r)
{
    struct curl_slist *list = curl->append(NULL, "Expect:"); /* no waiting for a go-ahead */
    for (size_t i = 0; list && i < r->nheaders; i++) {
        struct sp_buf line;
        sp_buf_init(&line, 0);
        sp_buf_printf(&line, "%s: %s", r->headers[i].name, r->headers[i].value);
        struct curl_slist *more = line.failed ? NULL : curl->append(list, sp_buf_cstr(&line));
        if (line.data)
            explicit_bzero(line.data, line.len);
        sp_buf_free(&line);
        if (!more)
            curl->free_all(list);
        list = more;
    }
    return list;
}

static void set_options(CURL *c, const struct sending *s, struct curl_slist *headers, char *error)
{
    const struct sp_http_request *r = s->r;
    __typeof__(&curl_easy_setopt) set = s->curl->set;
    set(c, CURLOPT_URL, r->url);
    set(c, CURLOPT_PROTOCOLS_STR, "http,https");
    set(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    set(c, CURLOPT_PATH_AS_IS, 1L);
    set(c, CURLOPT_NOSIGNAL, 1L);
    set(c, CURLOPT_ERRORBUFFER, error);
    set(c, CURLOPT_HTTPHEADER, headers);
    set(c, CURLOPT_USERAGENT, "spaa");
    set(c, CURLOPT_TIMEOUT_MS, r->timeout_ms);
    set(c, CURLOPT_CONNECTTIMEOUT, 10L);
    set(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(c, CURLOPT_LOW_SPEED_TIME, 60L);
#if LIBCURL_VERSION_NUM >= 0x075700 /* no waiting for a look-up that nobody answers */
    set(c, CURLOPT_QUICK_EXIT, 1L);
#endif
    set(c, CURLOPT_WRITEFUNCTION, take_body);
    set(c, CURLOPT_WRITEDATA, s);
    set(c, CURLOPT_HEADERFUNCTION, take_header);
    set(c, CURLOPT_HEADERDATA, s->response);
    set(c, CURLOPT_NOPROGRESS, 0L);
    set(c, CURLOPT_XFERINFOFUNCTION, show_progress);
    set(c, CURLOPT_XFERINFODATA, s);
    if (r->direct)
        set(c, CURLOPT_PROXY, "");
    if (r->ca_file)
        set(c, CURLOPT_CAINFO, r->ca_file);
    if (r->body) {
        set(c, CURLOPT_POST, 1L);
        set(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_n);
        set(c, CURLOPT_POSTFIELDS, r->body);
    } else {
        set(c, CURLOPT_CUSTOMREQUEST, r->method);
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

static bool was_connected(const struct curl *curl, CURL *c)
{
    double seconds = 0;
    return curl->get(c, CURLINFO_CONNECT_TIME, &seconds) == CURLE_OK && seconds > 0;
}

/* The proxy of the environment that libcurl takes for this URL (unless no_proxy says otherwise), and its
 * variable; NULL: there is none. HTTP_PROXY is a header of a request to a CGI program. */
static const char *proxy_of(const char *url, const char **variable)
{
    static const char *const https[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"},
                             *const http[] = {"http_proxy", "all_proxy", "ALL_PROXY", NULL};
    const char *const *names = strncasecmp(url, "https:", 6) == 0 ? https : http;
    for (size_t i = 0; i < 4 && names[i]; i++) {
        const char *v = getenv(names[i]);
        *variable = names[i];
        if (v && *v)
            return v;
    }
    return NULL;
}

/* What libcurl says, but where it quotes a proxy: passwords stand in those, and where one has characters that
 * end it, its parts are hosts and ports to libcurl. */
static void say_why(const struct sp_http_request *r, const char *error, char why[static 256])
{
    const char *variable, *proxy = r->direct ? NULL : proxy_of(r->url, &variable);
    char shown[128];
    if (proxy && (strncmp(error, "Unsupported proxy", 17) == 0 || sp_url_user_is_told(proxy, error)))
        snprintf(why, 256,
                 "%s is no proxy that libcurl can use: \"%s\" (what is in a password besides letters "
                 "and digits has to be percent-encoded)",
                 variable, sp_url_masked(proxy, shown, sizeof shown));
    else
        snprintf(why, 256, "%.250s", error);
}

enum sp_http_result sp_http_send(const struct sp_http_request *r, struct sp_http_response *response,
                                 char why[static 256])
{
    char error[CURL_ERROR_SIZE] = "";
    struct curl curl;
    struct sending s = {&curl, r, response};
    *response = (struct sp_http_response){.retry_after = -1};
    sp_buf_init(&response->body, BODY_MAX + 1);
    if (!http_curl_load(&curl)) {
        snprintf(why, 256, "%s cannot be loaded", LIBRARY);
        return SP_HTTP_NEVER;
    }
    CURL *c = curl.init();
    struct curl_slist *headers = c ? header_list(&curl, r) : NULL;
    enum sp_http_result result = SP_HTTP_NOMEM;
    if (headers) {
        set_options(c, &s, headers, error);
        CURLcode rc = curl.perform(c);
        result = result_of(rc);
        say_why(r, *error ? error : curl.strerror(rc), why);
        curl.get(c, CURLINFO_RESPONSE_CODE, &response->status);
        response->connected = was_connected(&curl, c);
        if (response->too_much) {
            result = SP_HTTP_NEVER;
            snprintf(why, 256, "the answer has more than %zu KiB", r->most >> 10);
        }
        if (result == SP_HTTP_DONE && !response->status)
            result = SP_HTTP_AGAIN;
    }
    curl.free_all(headers);
    curl.cleanup(c);
    return result;
}
