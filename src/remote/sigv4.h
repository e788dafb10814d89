/*
 * AWS Signature Version 4: what a request to an AWS service must carry, from the published algorithm
 * (docs.aws.amazon.com, "Signature Version 4 signing process"). Nothing here knows of HTTP libraries.
 */
#ifndef SP_SIGV4_H
#define SP_SIGV4_H

#include "base/buf.h"
#include "base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Percent-encodes all but letters, digits, - . _ ~ (and slashes, if they are to stay). */
bool sp_uri_encode(struct sp_buf *out, const char *s, bool keep_slashes);

struct sp_http_header {
    const char *name; /* lower case */
    const char *value;
};

struct sp_sigv4 {
    const char *method, *path;            /* the path as it stands in the request */
    const char *query;                    /* likewise: encoded, its parameters sorted by name; "" for none */
    const struct sp_http_header *headers; /* those to sign, sorted by name; host and x-amz-date among them */
    size_t nheaders;
    const char *payload_hash; /* hex */
    const char *date;         /* "20260101T120000Z" */
    const char *region, *service;
    const char *access_key, *secret_key;
};

/* "AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…" appended; false: out of memory. */
bool sp_sigv4_authorization(const struct sp_sigv4 *r, struct sp_buf *out);
/* The two texts on the way, for tests: the canonical request, and what is signed. */
bool sp_sigv4_canonical(const struct sp_sigv4 *r, struct sp_buf *out);
bool sp_sigv4_string_to_sign(const struct sp_sigv4 *r, struct sp_buf *out);

#endif
