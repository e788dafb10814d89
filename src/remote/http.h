/* One HTTP request and its response, through libcurl. */
#ifndef SP_HTTP_H
#define SP_HTTP_H

#include "base/buf.h"
#include "remote/sigv4.h"

struct sp_http_request {
    const char *method, *url;
    const struct sp_http_header *headers;
    size_t nheaders;
    const void *body; /* NULL: none */
    size_t body_n;
    const char *ca_file; /* trusted besides nothing else; NULL: those of the system */
    long timeout_ms;     /* for all of it, from the look-up of the name to the last byte */
    size_t most;         /* bytes of a body; more of them are no answer; 0: 1 MiB, the rest is dropped */
    bool direct;         /* whatever proxies the environment names */
    void (*progress)(uint64_t sent, uint64_t size, void *arg); /* NULL: none */
    void *arg;
};

struct sp_http_response {
    long status;
    struct sp_buf body;
    bool connected;       /* the other side was there, whatever came of it */
    bool too_much;        /* more than `most` */
    char error_type[128]; /* x-amzn-errortype */
    long retry_after;     /* seconds, -1: not said */
};

enum sp_http_result {
    SP_HTTP_DONE,  /* there is a response */
    SP_HTTP_AGAIN, /* the connection failed: another try may succeed */
    SP_HTTP_NEVER, /* it would not: a bad URL or certificate */
    SP_HTTP_NOMEM,
};

bool sp_http_available(void);
/* *why (256 bytes) says why there is none. Free response->body in any case. */
enum sp_http_result sp_http_send(const struct sp_http_request *r, struct sp_http_response *response,
                                 char why[static 256]);

#endif
