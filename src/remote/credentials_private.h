/* What the sources of credentials share. */
#ifndef SP_CREDENTIALS_PRIVATE_H
#define SP_CREDENTIALS_PRIVATE_H

#include "remote/credentials.h"
#include "remote/http.h"

/* Sources: SPAA_OK with k->source set: found; without: not configured; others: reported. */
spaa_status sp_aws_from_web_identity(struct sp_aws *a, const char *region, struct sp_aws_keys *k,
                                     struct sp_diags *d);
spaa_status sp_aws_from_container(struct sp_aws *a, struct sp_aws_keys *k, struct sp_diags *d);
spaa_status sp_aws_from_instance(struct sp_aws *a, struct sp_aws_keys *k, struct sp_diags *d);
/* What the `aws` command makes of the profile; `setting`: the one that asks for it. */
spaa_status sp_aws_from_command(struct sp_aws *a, const char *setting, struct sp_aws_keys *k,
                                struct sp_diags *d);

/* E461 with the source's name before the message; returns SPAA_ERR_IO. */
spaa_status sp_aws_fail(struct sp_diags *d, const char *source, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* A request that may be tried again. An answer of more than 64 KiB is none. */
struct sp_aws_request {
    const char *method, *url;
    const struct sp_http_header *headers;
    size_t nheaders;
    const struct sp_buf *body; /* NULL: none */
    const char *ca_file;
    bool direct; /* through no proxy: the address is this machine's own */
    long timeout_ms;
    unsigned tries;
    unsigned pause_ms;           /* between them */
    bool (*again)(long status);  /* whether an answer is no reason to stop; NULL: none is */
    const struct sp_buf *secret; /* cut out of what is said; NULL: there is none */
};
/* The last try's answer; *why (256 bytes) says why there is none. Free the body in any case. */
enum sp_http_result sp_aws_fetch(const struct sp_aws_request *q, struct sp_http_response *answer,
                                 char why[static 256]);
bool sp_aws_not_fine(long status);  /* for `again`: anything but 200 */
void sp_aws_wipe(struct sp_buf *b); /* and frees it */

/* Whose keys an answer has. */
struct sp_aws_asked {
    const char *source, *where, *hint; /* who is asked, and what helps when nobody answers */
    const struct sp_buf *token;        /* what was sent as proof */
    /* Takes the keys out of an answer of any status; reports why there are none. */
    spaa_status (*take)(const struct sp_aws_asked *x, const struct sp_http_response *answer,
                        struct sp_aws_keys *k, struct sp_diags *d);
};
/* Asks, and has what comes taken. */
spaa_status sp_aws_ask(const struct sp_aws_request *q, const struct sp_aws_asked *x, struct sp_aws_keys *k,
                       struct sp_diags *d);
/* http:// or https://, and nothing that no URL has, nor any of `never`. */
bool sp_aws_is_url(const char *url, const char *never);

/*
 * Keys out of a JSON object {"AccessKeyId","SecretAccessKey","Token","Expiration"}; `token` is that member's
 * name. `expires`: an end must be stated. SPAA_ERR_IO, reported in the name of the source: it has none.
 */
spaa_status sp_aws_take_json(struct sp_aws_keys *k, const struct sp_buf *json, const char *token,
                             bool expires, const char *source, struct sp_diags *d);
/* A text's time as AWS writes it, "2026-01-01T00:00:00Z". */
bool sp_aws_time(const char *p, size_t n, int64_t *seconds);
/* A file's content, up to 64 KiB; SPAA_ERR_IO, reported in the name of the source. */
spaa_status sp_aws_read_secret(const char *path, struct sp_buf *out, const char *source, struct sp_diags *d);

#endif
