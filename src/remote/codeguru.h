/*
 * The CodeGuru Profiler service: PostAgentProfile and ListProfileTimes, signed, sent again while the service
 * is busy or the connection breaks.
 */
#ifndef SP_REMOTE_CODEGURU_H
#define SP_REMOTE_CODEGURU_H

#include "base/diag.h"
#include "base/vec.h"
#include "remote/aws_endpoint.h"
#include "remote/credentials.h"
#include "remote/http.h"

#include <time.h>

struct sp_codeguru {
    const char *endpoint;      /* "https://host[:port][/path]" */
    const char *endpoint_from; /* the setting that gave it, for messages */
    const char *region, *group;
    const struct sp_aws_keys *keys;
    const char *ca_file;
    int64_t deadline; /* when to give up, as sp_codeguru_clock tells time */
    long timeout;     /* seconds from the beginning until then, for messages */
    unsigned retries; /* after the first try */
    unsigned delay;   /* milliseconds before the first of them; then twice as long each */
    void (*progress)(uint64_t sent, uint64_t size, void *arg);
    void (*waiting)(unsigned milliseconds, void *arg); /* before each retry, which was reported; NULL: none */
    void *arg;
};

/* "[A-Za-z0-9_-]{1,max}" */
bool sp_codeguru_name(const char *s, size_t max);
/* A random UUID and a NUL; false: there is no randomness. */
bool sp_codeguru_token(char out[static 37]);

/* A request as it will be sent, with everything but the secrets. */
struct sp_codeguru_request {
    const char *method;
    struct sp_buf url, host, path, query;
    const void *body; /* NULL: none */
    size_t body_n;
    char payload_hash[2 * SP_SHA256 + 1];
};

void sp_codeguru_request_free(struct sp_codeguru_request *r);
/* SPAA_ERR_USAGE, reported, for a bad endpoint. The body is borrowed. */
spaa_status sp_codeguru_post(const struct sp_codeguru *s, const char *token, const void *body, size_t n,
                             struct sp_diags *d, struct sp_codeguru_request *out);
/* Profiles that begin in [from, to], by periods of five minutes; next: the page after, or NULL. */
spaa_status sp_codeguru_list(const struct sp_codeguru *s, time_t from, time_t to, const char *next,
                             struct sp_diags *d, struct sp_codeguru_request *out);

/* Milliseconds of a clock that only goes forward. */
int64_t sp_codeguru_clock(void);
/*
 * Sends it until there is an answer that stays, or the deadline has come. SPAA_OK for a status of 2xx, with
 * the body in `answer`; SPAA_ERR_IO, reported, otherwise.
 */
spaa_status sp_codeguru_send(const struct sp_codeguru *s, const struct sp_codeguru_request *r,
                             struct sp_diags *d, struct sp_buf *answer);

#endif
