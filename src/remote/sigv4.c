#include "remote/sigv4.h"

bool sp_uri_encode(struct sp_buf *out, const char *s, bool keep_slashes)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *s; s++) {
        if (strchr(plain, *s) || (keep_slashes && *s == '/'))
            sp_buf_ch(out, *s);
        else
            sp_buf_printf(out, "%%%02X", (unsigned char)*s);
    }
    return !out->failed;
}

static void signed_headers(const struct sp_sigv4 *r, struct sp_buf *out)
{
    for (size_t i = 0; i < r->nheaders; i++)
        sp_buf_printf(out, "%s%s", i ? ";" : "", r->headers[i].name);
}

/* Without blanks around it, and runs of them as one. */
static void header_value(const char *v, struct sp_buf *out)
{
    bool blank = false, any = false;
    for (; *v; v++) {
        if (*v == ' ' || *v == '\t') {
            blank = any;
            continue;
        }
        if (blank)
            sp_buf_ch(out, ' ');
        sp_buf_ch(out, *v);
        blank = false;
        any = true;
    }
}

/* As services read it: without empty segments, `.` and `..`; what is encoded is encoded again. */
static void canonical_path(const char *path, struct sp_buf *out)
{
    struct sp_buf plain;
    size_t n = strlen(path);
    sp_buf_init(&plain, 0);
    for (const char *p = path; *p;) {
        size_t segment = strcspn(p, "/");
        if (segment == 2 && memcmp(p, "..", 2) == 0) {
            while (plain.len && plain.data[--plain.len] != '/')
                ;
        } else if (segment && (segment != 1 || *p != '.')) {
            sp_buf_ch(&plain, '/');
            sp_buf_add(&plain, p, segment);
        }
        p += segment + (p[segment] == '/');
    }
    if (!plain.len || path[n - 1] == '/')
        sp_buf_ch(&plain, '/');
    sp_uri_encode(out, sp_buf_cstr(&plain), true);
    out->failed = out->failed || plain.failed;
    sp_buf_free(&plain);
}

bool sp_sigv4_canonical(const struct sp_sigv4 *r, struct sp_buf *out)
{
    sp_buf_printf(out, "%s\n", r->method);
    canonical_path(r->path, out);
    sp_buf_printf(out, "\n%s\n", r->query);
    for (size_t i = 0; i < r->nheaders; i++) {
        sp_buf_printf(out, "%s:", r->headers[i].name);
        header_value(r->headers[i].value, out);
        sp_buf_ch(out, '\n');
    }
    sp_buf_ch(out, '\n');
    signed_headers(r, out);
    sp_buf_printf(out, "\n%s", r->payload_hash);
    return !out->failed;
}

bool sp_sigv4_string_to_sign(const struct sp_sigv4 *r, struct sp_buf *out)
{
    struct sp_buf canonical;
    char digest[2 * SP_SHA256 + 1];
    sp_buf_init(&canonical, 0);
    bool ok = sp_sigv4_canonical(r, &canonical);
    if (ok) {
        sp_sha256_hex(canonical.data, canonical.len, digest);
        sp_buf_printf(out, "AWS4-HMAC-SHA256\n%s\n%.8s/%s/%s/aws4_request\n%s", r->date, r->date, r->region,
                      r->service, digest);
    }
    sp_buf_free(&canonical);
    return ok && !out->failed;
}

/* The key of the day, region and service. */
static bool signing_key(const struct sp_sigv4 *r, unsigned char out[static SP_SHA256])
{
    unsigned char a[SP_SHA256], b[SP_SHA256];
    struct sp_buf key;
    sp_buf_init(&key, 0);
    sp_buf_printf(&key, "AWS4%s", r->secret_key);
    if (key.failed)
        return false;
    sp_hmac_sha256(key.data, key.len, r->date, 8, a);
    sp_hmac_sha256(a, sizeof a, r->region, strlen(r->region), b);
    sp_hmac_sha256(b, sizeof b, r->service, strlen(r->service), a);
    sp_hmac_sha256(a, sizeof a, "aws4_request", 12, out);
    explicit_bzero(key.data, key.len);
    explicit_bzero(a, sizeof a);
    explicit_bzero(b, sizeof b);
    sp_buf_free(&key);
    return true;
}

bool sp_sigv4_authorization(const struct sp_sigv4 *r, struct sp_buf *out)
{
    unsigned char key[SP_SHA256], signature[SP_SHA256];
    char text[2 * SP_SHA256 + 1];
    struct sp_buf b;
    sp_buf_init(&b, 0);
    bool ok = sp_sigv4_string_to_sign(r, &b) && signing_key(r, key);
    if (ok) {
        sp_hmac_sha256(key, sizeof key, b.data, b.len, signature);
        explicit_bzero(key, sizeof key);
        sp_digest_hex(signature, text);
        sp_buf_printf(out,
                      "AWS4-HMAC-SHA256 Credential=%s/%.8s/%s/%s/aws4_request, SignedHeaders=", r->access_key,
                      r->date, r->region, r->service);
        signed_headers(r, out);
        sp_buf_printf(out, ", Signature=%s", text);
    }
    sp_buf_free(&b);
    return ok && !out->failed;
}
