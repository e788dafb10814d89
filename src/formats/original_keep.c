/* Keeping the original of a profile: see original.h. */
#include "formats/original.h"
#include "formats/original_private.h"

#include "base/base64.h"
#include "formats/read_digest.h"
#include "model/originals.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    PIECE = 256 << 10, /* goes into zstd at once, so that its stream depends on the bytes alone */
    DATA = 720 << 10,  /* of the stream, a multiple of 3: a line of less than 1 MiB */
    ZSTD_LEVEL = 9,    /* see docs/formats.md */
};

void sp_original_digest(XXH3_state_t *state, char out[static 33])
{
    XXH128_hash_t h = XXH3_128bits_digest(state);
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}

struct kept_file {
    struct sp_keeper *k;
    struct kept_file *next;
    char *name; /* without folders */
    unsigned id;
    uint64_t size, parts;
    XXH3_state_t *hash;
    ZSTD_CCtx *zstd;
    struct sp_buf piece, data; /* of the file, to be compressed; of the stream, to be written */
    bool compressing;
};

struct sp_keeper {
    struct sp_input_copy copy; /* first: the input knows the keeper as this */
    struct sp_diags *diags;
    struct sp_originals *records;
    bool off; /* nothing is to be kept */
    struct kept_file *files, **last;
    unsigned nfiles;
};

static void kept_file_free(struct kept_file *f)
{
    XXH3_freeState(f->hash);
    ZSTD_freeCCtx(f->zstd);
    sp_buf_free(&f->piece);
    sp_buf_free(&f->data);
    free(f->name);
    free(f);
}

static spaa_status keeper_begin_file(struct sp_input_copy *copy, const char *path, void **file)
{
    struct sp_keeper *k = (struct sp_keeper *)copy;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct kept_file *f = calloc(1, sizeof *f);
    if (!f)
        return sp_nomem(k->diags);
    f->k = k;
    sp_buf_init(&f->piece, PIECE);
    sp_buf_init(&f->data, DATA);
    f->name = malloc(strlen(name) + 1);
    f->hash = XXH3_createState();
    f->zstd = ZSTD_createCCtx();
    if (!f->name || !f->hash || !f->zstd || !sp_buf_reserve(&f->data, DATA) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL))) {
        kept_file_free(f);
        return sp_nomem(k->diags);
    }
    memcpy(f->name, name, strlen(name) + 1);
    XXH3_128bits_reset(f->hash);
    f->id = ++k->nfiles;
    *k->last = f;
    k->last = &f->next;
    *file = f;
    return SPAA_OK;
}

/* The data so far, as a record. */
static spaa_status keeper_write_part(struct kept_file *f)
{
    struct sp_keeper *k = f->k;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "{\"type\":\"" SP_ORIGINAL_TYPE "\",\"id\":%u,\"part\":%llu,\"data\":\"", f->id,
                  (unsigned long long)++f->parts);
    sp_base64_encode(&b, (const unsigned char *)f->data.data, f->data.len);
    sp_buf_puts(&b, "\"}");
    spaa_status st = b.failed ? sp_nomem(k->diags) : sp_originals_add(&k->records, k->diags, b.data, b.len);
    sp_buf_free(&b);
    sp_buf_clear(&f->data);
    return st;
}

/* Compresses the piece; `last`: there is no other. */
static spaa_status keeper_compress(struct kept_file *f, bool last)
{
    ZSTD_inBuffer in = {f->piece.data ? f->piece.data : "", f->piece.len, 0};
    spaa_status st = SPAA_OK;
    if (last && !f->compressing) /* a small file: so are the tables for it */
        ZSTD_CCtx_setPledgedSrcSize(f->zstd, f->piece.len);
    f->compressing = true;
    for (size_t left = 1; !st && (last ? left : in.pos < in.size);) {
        ZSTD_outBuffer out = {f->data.data, DATA, f->data.len};
        left = ZSTD_compressStream2(f->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return sp_nomem(f->k->diags);
        f->data.len = out.pos;
        if (f->data.len == DATA)
            st = keeper_write_part(f);
    }
    sp_buf_clear(&f->piece);
    return st;
}

static spaa_status keeper_end_file(struct kept_file *f)
{
    spaa_status st = keeper_compress(f, true);
    if (!st && f->data.len)
        st = keeper_write_part(f);
    sp_buf_free(&f->data);
    sp_buf_free(&f->piece);
    ZSTD_freeCCtx(f->zstd);
    f->zstd = NULL;
    return st;
}

static spaa_status keeper_add(void *file, const void *bytes, size_t n)
{
    struct kept_file *f = file;
    const char *p = bytes;
    spaa_status st = SPAA_OK;
    if (f->k->off)
        return SPAA_OK;
    if (!n)
        return keeper_end_file(f);
    XXH3_128bits_update(f->hash, p, n);
    f->size += n;
    while (!st && n) {
        size_t room = PIECE - f->piece.len, take = n < room ? n : room;
        if (take == 0) { /* pieces are compressed when more follows: the last is told from the others */
            st = keeper_compress(f, false);
            continue;
        }
        if (!sp_buf_add(&f->piece, p, take))
            return sp_nomem(f->k->diags);
        p += take;
        n -= take;
    }
    return st;
}

spaa_status sp_original_keep(struct sp_input *in, struct sp_diags *d, struct sp_keeper **out)
{
    struct sp_keeper *k = calloc(1, sizeof *k);
    if (!k)
        return sp_nomem(d);
    k->copy = (struct sp_input_copy){keeper_begin_file, keeper_add};
    k->diags = d;
    k->last = &k->files;
    spaa_status st = sp_input_set_copy(in, &k->copy);
    if (st)
        sp_keeper_free(k);
    else
        *out = k;
    return st;
}

void sp_keeper_free(struct sp_keeper *k)
{
    if (!k)
        return;
    for (struct kept_file *f = k->files, *next; f; f = next) {
        next = f->next;
        kept_file_free(f);
    }
    sp_originals_free(k->records);
    free(k);
}

void sp_keeper_begin(struct sp_keeper *k, const struct spaa_format *f)
{
    k->off = strcmp(f->name, "spaa") == 0;
}

static void describe_text(struct sp_buf *b, const char *key, const char *text)
{
    sp_buf_printf(b, ",\"%s\":", key);
    sp_json_string(b, text, strlen(text));
}

/* How it was read: what makes another profile of the same bytes, but for the files that names come from. */
static void describe_options(struct sp_buf *b, const struct sp_read_opts *opts)
{
    const char *comma = "";
    sp_buf_printf(b, ",\"options\":{\"frames\":\"%s\",\"group_by\":[",
                  sp_granularity_names[opts->frames ? opts->frames : SP_FRAMES_ADDRESS]);
    for (unsigned i = 0; sp_group_names[i]; i++)
        if (opts->group_by >> i & 1) {
            sp_buf_printf(b, "%s\"%s\"", comma, sp_group_names[i]);
            comma = ",";
        }
    sp_buf_ch(b, ']');
    if (opts->event)
        describe_text(b, "event", opts->event);
    comma = ",\"own\":{";
    for (size_t i = 0; i < opts->nown; i++, comma = ",") {
        sp_buf_puts(b, comma);
        sp_json_string(b, opts->own[i].name, strlen(opts->own[i].name));
        sp_buf_ch(b, ':');
        if (opts->own[i].value)
            sp_json_string(b, opts->own[i].value, strlen(opts->own[i].value));
        else
            sp_buf_puts(b, "true");
    }
    sp_buf_puts(b, opts->nown ? "}}" : "}");
}

static spaa_status keeper_describe(struct kept_file *f, const struct spaa_format *format,
                                   const struct sp_read_opts *opts, const struct sp_read_digest *read)
{
    struct sp_keeper *k = f->k;
    struct sp_buf b;
    char digest[33];
    sp_original_digest(f->hash, digest);
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "{\"type\":\"" SP_ORIGINAL_TYPE "\",\"id\":%u,\"parts\":%llu", f->id,
                  (unsigned long long)f->parts);
    describe_text(&b, "format", format->name);
    if (k->nfiles > 1)
        describe_text(&b, "file", f->name);
    describe_options(&b, opts);
    sp_buf_printf(&b,
                  ",\"size\":%llu,\"encoding\":\"" SP_ORIGINAL_ENCODING "\",\"digest\":\"" SP_ORIGINAL_DIGEST
                  "%s\"",
                  (unsigned long long)f->size, digest);
    sp_buf_printf(&b, ",\"read\":\"" SP_READ_DIGEST ":%016llx\"", (unsigned long long)read->addresses);
    if (!(format->caps & SP_NAMES_FROM_SYMBOLS))
        sp_buf_printf(&b, ",\"names\":\"" SP_READ_DIGEST ":%016llx\",\"unnamed\":%llu,\"unlined\":%llu",
                      (unsigned long long)read->names, (unsigned long long)read->unnamed,
                      (unsigned long long)read->unlined);
    sp_buf_ch(&b, '}');
    spaa_status st = b.failed ? sp_nomem(k->diags) : sp_originals_add(&k->records, k->diags, b.data, b.len);
    sp_buf_free(&b);
    return st;
}

spaa_status sp_keeper_end(struct sp_keeper *k, struct sp_input *in, const struct spaa_format *f,
                          const struct sp_read_opts *opts, struct sp_profile *p)
{
    struct sp_read_digest read;
    if (k->off)
        return SPAA_OK;
    spaa_status st = sp_input_drain(in);
    if (!st && sp_input_failed(in) == SPAA_ERR_IO)
        st = SPAA_ERR_IO;
    if (!st)
        st = sp_read_digest(p, &read);
    for (struct kept_file *file = k->files; !st && file; file = file->next)
        st = keeper_describe(file, f, opts, &read);
    if (st)
        return st;
    p->originals = k->records;
    k->records = NULL;
    if (p->holds_memory)
        sp_emit_hint(
            k->diags, SP_I322, SP_AT_NOTHING, "without --lossless none of it is kept",
            "the original holds copies of stack memory (--call-graph dwarf): whatever the process had "
            "there, keys and passwords too, is in what is written");
    return SPAA_OK;
}
