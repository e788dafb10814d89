/*
 * ustar: a header of 512 bytes for each file, numbers as octal digits, the sum of its bytes in it; the file's
 * bytes, padded with zeros to 512; two blocks of zeros at the end. A name of more than 100 bytes is split at
 * a slash.
 */
#include "io/tar.h"

#include <stdio.h>
#include <string.h>

struct tar_header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100], magic[6],
        version[2], uname[32], gname[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct tar_header) == SP_TAR_BLOCK, "a header is a block");

/* As it is computed: its own field counts as blanks. */
static unsigned tar_sum(const struct tar_header *h)
{
    const unsigned char *p = (const unsigned char *)h, *sum = (const unsigned char *)h->sum;
    unsigned n = 0;
    for (size_t i = 0; i < sizeof *h; i++)
        n += p + i >= sum && p + i < sum + sizeof h->sum ? ' ' : p[i];
    return n;
}

/* The name in its two fields; false: it has no slash at which it fits. */
static bool tar_split(struct tar_header *h, const char *name)
{
    size_t n = strlen(name);
    const char *cut = n > sizeof h->name ? strchr(name + n - sizeof h->name - 1, '/') : NULL;
    const char *rest = cut ? cut + 1 : name;
    if (!n || (n > sizeof h->name && (!cut || (size_t)(cut - name) > sizeof h->prefix)))
        return false;
    memcpy(h->name, rest, strlen(rest));
    if (cut)
        memcpy(h->prefix, name, (size_t)(cut - name));
    return true;
}

bool sp_tar_begin(struct sp_output *out, const char *name, uint64_t size, int64_t seconds)
{
    struct tar_header h = {.type = '0', .magic = "ustar", .version = {'0', '0'}};
    if (size > SP_TAR_SIZE_MAX || !tar_split(&h, name))
        return false;
    memcpy(h.mode, "0000644", 8);
    memcpy(h.uid, "0000000", 8);
    memcpy(h.gid, "0000000", 8);
    bool fits = seconds >= 0 && (uint64_t)seconds <= SP_TAR_SIZE_MAX;
    snprintf(h.mtime, sizeof h.mtime, "%011llo", fits ? (unsigned long long)seconds : 0ULL);
    snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)size);
    snprintf(h.sum, sizeof h.sum, "%06o", tar_sum(&h));
    h.sum[7] = ' ';
    sp_write(out, &h, sizeof h);
    return true;
}

void sp_tar_end_file(struct sp_output *out, uint64_t size)
{
    static const char zeros[SP_TAR_BLOCK];
    sp_write(out, zeros, (size_t)(-size % SP_TAR_BLOCK));
}

void sp_tar_end(struct sp_output *out)
{
    static const char zeros[2 * SP_TAR_BLOCK];
    sp_write(out, zeros, sizeof zeros);
}

/* Octal digits, with blanks or zeros around them. */
static bool tar_number(const char *p, size_t n, uint64_t *out)
{
    size_t i = 0;
    *out = 0;
    while (i < n && p[i] == ' ')
        i++;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
        *out = *out << 3 | (uint64_t)(p[i] - '0');
    for (; i < n; i++)
        if (p[i] && p[i] != ' ')
            return false;
    return true;
}

static bool tar_is_header(const struct tar_header *h)
{
    uint64_t sum;
    return !memcmp(h->magic, "ustar", 5) && tar_number(h->sum, sizeof h->sum, &sum) && sum == tar_sum(h);
}

spaa_status sp_tar_is(struct sp_input *in, bool *is)
{
    const unsigned char *p;
    size_t n;
    spaa_status st = sp_input_peek(in, SP_TAR_BLOCK, &p, &n);
    *is = !st && n >= SP_TAR_BLOCK && tar_is_header((const struct tar_header *)p);
    return st;
}

spaa_status sp_tar_next(struct sp_input *in, struct sp_tar_entry *out, bool *there)
{
    static const char zeros[SP_TAR_BLOCK];
    struct tar_header h;
    const unsigned char *p;
    size_t n;
    spaa_status st = sp_input_peek(in, SP_TAR_BLOCK, &p, &n);
    *there = false;
    if (st)
        return st;
    if (n < SP_TAR_BLOCK)
        return SPAA_ERR_INPUT;
    memcpy(&h, p, sizeof h);
    if (!memcmp(&h, zeros, sizeof h))
        return SPAA_OK;
    if (!tar_is_header(&h) || !tar_number(h.size, sizeof h.size, &out->size))
        return SPAA_ERR_INPUT;
    uint64_t seconds;
    bool dated = tar_number(h.mtime, sizeof h.mtime, &seconds) && seconds <= SP_TAR_SIZE_MAX;
    out->seconds = dated ? (int64_t)seconds : 0;
    sp_input_consume(in, SP_TAR_BLOCK);
    snprintf(out->name, sizeof out->name, "%.155s%s%.100s", h.prefix, h.prefix[0] ? "/" : "", h.name);
    out->regular = h.type == '0' || !h.type;
    *there = true;
    return SPAA_OK;
}
