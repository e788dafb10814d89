/* Giving an original back: see original.h. */
#include "formats/original.h"
#include "formats/original_private.h"

#include "base/base64.h"
#include "base/num.h"
#include "formats/read_digest.h"
#include "model/originals.h"
#include "json/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    WINDOW_LOG_MAX = 27, /* of a stream that others made */
    DESCRIPTION_MAX = 1 << 20,
};

/* One file's original, as its records describe it. Texts are in `texts`. */
struct original {
    uint64_t id, parts, size;
    const char *format, *file, *encoding, *digest, *read, *names; /* NULL: not stated */
    uint64_t unnamed, unlined;
};

/* Those of one format, or of all where format is NULL. */
struct originals {
    const struct sp_originals *records;
    struct sp_diags *diags;
    const char *format;
    struct sp_arena texts;
    SP_VEC(struct original) list;
    bool lost; /* there are records, and none that describes what they are of, whatever the format */
    bool nomem;
};

static const char *original_text(struct originals *o, struct sp_json *j)
{
    struct sp_span s;
    if (sp_json_type(j) != SP_JSON_STRING) {
        sp_json_skip(j, &s);
        return NULL;
    }
    if (!sp_json_string_value(j, &s))
        return NULL;
    char *t = memchr(s.p, 0, s.n) ? NULL : sp_arena_alloc(&o->texts, s.n + 1);
    if (!t) {
        o->nomem = o->nomem || !memchr(s.p, 0, s.n);
        return NULL;
    }
    memcpy(t, s.p, s.n);
    t[s.n] = '\0';
    return t;
}

static bool original_number(struct sp_json *j, uint64_t *to)
{
    struct sp_span raw;
    return sp_json_type(j) == SP_JSON_NUMBER ? sp_json_u64(j, to) : sp_json_skip(j, &raw);
}

static bool original_member(struct originals *o, struct sp_json *j, struct sp_span key, struct original *x)
{
    const struct {
        const char *name, **to;
    } texts[] = {{"format", &x->format}, {"file", &x->file}, {"encoding", &x->encoding},
                 {"digest", &x->digest}, {"read", &x->read}, {"names", &x->names}};
    const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {{"id", &x->id},
                   {"parts", &x->parts},
                   {"size", &x->size},
                   {"unnamed", &x->unnamed},
                   {"unlined", &x->unlined}};
    struct sp_span raw;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (sp_span_is(key, texts[i].name)) {
            *texts[i].to = original_text(o, j);
            return !j->error;
        }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sp_span_is(key, numbers[i].name))
            return original_number(j, numbers[i].to);
    return sp_json_skip(j, &raw);
}

/* Descriptions of the format are noted; what is none, or damaged, is passed over. */
static spaa_status original_described(void *arg, const char *json, size_t n)
{
    struct originals *o = arg;
    struct original x = {0};
    struct sp_span key;
    struct sp_json j;
    if (n > DESCRIPTION_MAX)
        return SPAA_OK;
    sp_json_init(&j, json, n);
    bool is = false, ok = sp_json_object(&j);
    while (ok && sp_json_key(&j, &key)) {
        if (sp_span_is(key, "data"))
            break;
        ok = original_member(o, &j, key, &x);
        is = is || x.format;
    }
    is = is && ok && !j.error;
    o->lost = o->lost && !is;
    is = is && (!o->format || strcmp(x.format, o->format) == 0);
    sp_json_free(&j);
    return !o->nomem && (!is || sp_vec_push(&o->list, x)) ? SPAA_OK : SPAA_ERR_NOMEM;
}

static void originals_done(struct originals *o)
{
    sp_arena_free(&o->texts);
    sp_vec_free(&o->list);
}

static spaa_status originals_find(const struct sp_originals *records, const char *format, struct sp_diags *d,
                                  struct originals *o)
{
    *o = (struct originals){
        .records = records, .diags = d, .format = format, .lost = sp_originals_count(records) > 0};
    sp_arena_init(&o->texts, 0);
    spaa_status st = sp_originals_each(records, original_described, o);
    if (st)
        originals_done(o);
    return st == SPAA_ERR_NOMEM ? sp_nomem(d) : st;
}

spaa_status sp_original_files(const struct sp_profile *p, const char *format, size_t *n)
{
    struct originals o;
    *n = 0;
    spaa_status st = p->originals ? originals_find(p->originals, format, p->diags, &o) : SPAA_OK;
    if (!st && p->originals) {
        *n = o.list.n + o.lost;
        originals_done(&o);
    }
    return st;
}

/* The bytes of one original, from its records. */
struct unpacking {
    const struct original *x;
    struct sp_output *out; /* NULL: they are only checked */
    const char *damage;    /* what is wrong; NULL: nothing so far */
    uint64_t part, size;
    bool ended; /* the stream has */
    ZSTD_DCtx *zstd;
    XXH3_state_t *hash;
    struct sp_json j;
    struct sp_buf data; /* of the stream, of one record */
    unsigned char *room;
    size_t nroom;
};

/* The stream is one frame: nothing follows its end. */
static spaa_status unpack_data(struct unpacking *u)
{
    ZSTD_inBuffer in = {u->data.data, u->data.len, 0};
    ZSTD_outBuffer to;
    do {
        to = (ZSTD_outBuffer){u->room, u->nroom, 0};
        size_t left = u->ended ? 0 : ZSTD_decompressStream(u->zstd, &to, &in);
        if (ZSTD_isError(left)) {
            u->damage = ZSTD_getErrorName(left);
            return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? SPAA_ERR_NOMEM : SPAA_OK;
        }
        if (to.pos > u->x->size - u->size) {
            u->damage = "it is larger than it says";
            return SPAA_OK;
        }
        u->size += to.pos;
        XXH3_128bits_update(u->hash, u->room, to.pos);
        if (u->out)
            sp_write(u->out, u->room, to.pos);
        u->ended = !left;
    } while (!u->ended && (in.pos < in.size || to.pos == u->nroom));
    if (in.pos < in.size)
        u->damage = "more follows its end";
    return SPAA_OK;
}

/* A record: its data, where they are of this original. */
static spaa_status unpack_record(void *arg, const char *json, size_t n)
{
    struct unpacking *u = arg;
    struct sp_span key, data = {NULL, 0}, raw;
    uint64_t id = 0, part = 0;
    sp_json_reset(&u->j, json, n);
    bool ok = sp_json_object(&u->j);
    while (ok && sp_json_key(&u->j, &key)) {
        if (sp_span_is(key, "id"))
            ok = original_number(&u->j, &id);
        else if (sp_span_is(key, "part"))
            ok = original_number(&u->j, &part);
        else if (sp_span_is(key, "data") && sp_json_type(&u->j) == SP_JSON_STRING)
            ok = sp_json_string_value(&u->j, &data);
        else
            ok = sp_json_skip(&u->j, &raw);
    }
    if (id != u->x->id || !data.p || u->damage)
        return SPAA_OK;
    sp_buf_clear(&u->data);
    if (part != ++u->part)
        u->damage = "a part is missing or stands twice";
    else if (!sp_base64_decode(&u->data, data.p, data.n))
        u->damage = "it is no base64";
    if (u->data.nomem)
        return SPAA_ERR_NOMEM;
    return u->damage ? SPAA_OK : unpack_data(u);
}

static bool unpack_matches(struct unpacking *u)
{
    char digest[33];
    const size_t n = sizeof SP_ORIGINAL_DIGEST - 1;
    sp_original_digest(u->hash, digest);
    return strncmp(u->x->digest, SP_ORIGINAL_DIGEST, n) == 0 && strcmp(u->x->digest + n, digest) == 0;
}

/* Checks the bytes of an original, or writes them as well; *damage is a literal, or NULL. */
static spaa_status original_unpack(const struct originals *o, const struct original *x, struct sp_output *out,
                                   const char **damage)
{
    struct unpacking u = {.x = x, .out = out, .nroom = ZSTD_DStreamOutSize()};
    *damage = NULL;
    if (!x->encoding || strcmp(x->encoding, SP_ORIGINAL_ENCODING) != 0 || !x->digest) {
        *damage = "it is described in a way that is not known";
        return SPAA_OK;
    }
    sp_json_init(&u.j, "", 0);
    sp_buf_init(&u.data, 0);
    u.room = malloc(u.nroom);
    u.zstd = ZSTD_createDCtx();
    u.hash = XXH3_createState();
    spaa_status st = u.room && u.zstd && u.hash ? SPAA_OK : SPAA_ERR_NOMEM;
    if (!st) {
        XXH3_128bits_reset(u.hash);
        ZSTD_DCtx_setParameter(u.zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
        st = sp_originals_each(o->records, unpack_record, &u);
    }
    if (!st && !u.damage)
        u.damage = u.part != x->parts || !u.ended || u.size != x->size ? "it is cut off"
                   : unpack_matches(&u)                                ? NULL
                                                                       : "its digest is another";
    *damage = u.damage;
    sp_json_free(&u.j);
    sp_buf_free(&u.data);
    free(u.room);
    ZSTD_freeDCtx(u.zstd);
    XXH3_freeState(u.hash);
    return st == SPAA_ERR_NOMEM ? sp_nomem(o->diags) : st;
}

/* "xxh3-64/1:%016x" of ours. */
static bool digest_is(const char *text, uint64_t value)
{
    const size_t n = sizeof SP_READ_DIGEST - 1;
    char want[17];
    snprintf(want, sizeof want, "%016llx", (unsigned long long)value);
    return strncmp(text, SP_READ_DIGEST ":", n + 1) == 0 && strcmp(text + n + 1, want) == 0;
}

/* Whether the profile is what was read of the original. */
static spaa_status original_holds(const struct sp_profile *p, const struct original *x, bool *holds)
{
    struct sp_read_digest now;
    *holds = false;
    if (!x->read)
        return SPAA_OK;
    spaa_status st = sp_read_digest(p, &now);
    if (st)
        return st;
    bool symbols_added = !x->names || now.unnamed < x->unnamed || now.unlined < x->unlined;
    *holds =
        (x->names && digest_is(x->names, now.names)) || (symbols_added && digest_is(x->read, now.addresses));
    return SPAA_OK;
}

/* A name that may be that of a file in a folder of ours. */
static bool is_file_name(const char *name)
{
    return *name && *name != '.' && strlen(name) < 256 && !strchr(name, '/');
}

/* Whether these are the files of one recording: one without a name, or several with different ones. */
static bool is_recording(const struct originals *o)
{
    if (o->list.n == 1)
        return !o->list.v[0].file;
    for (size_t i = 0; i < o->list.n; i++) {
        const struct original *x = &o->list.v[i];
        if (!x->file || !is_file_name(x->file))
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(x->file, o->list.v[k].file) == 0 || x->id == o->list.v[k].id)
                return false;
    }
    return true;
}

/* What is wrong with them before their data are looked at; NULL: nothing. */
static const char *original_damage(const struct originals *o)
{
    return o->lost           ? "the record that describes it is missing"
           : is_recording(o) ? NULL
                             : "its files have no names, or the same";
}

/* Whether the originals can be given: they are whole, and still those of the profile. Else it is said why. */
static spaa_status originals_check(const struct sp_profile *p, const struct spaa_format *f,
                                   const struct sp_write_opts *opts, const struct originals *o,
                                   struct sp_diags *d, bool *good)
{
    const char *damage = original_damage(o);
    bool holds = true;
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && !damage && i < o->list.n; i++)
        st = original_unpack(o, &o->list.v[i], NULL, &damage);
    if (!st && !damage)
        st = original_holds(p, &o->list.v[0], &holds);
    *good = !st && !damage && holds;
    if (st || *good)
        return st;
    if (damage && opts->original == SP_ORIGINAL_ASKED) {
        sp_emit_hint(d, SP_E010, SP_AT_NOTHING,
                     "without --lossless it is rendered, where the format has a writer",
                     "the original that the profile keeps is damaged: %s", damage);
        return SPAA_ERR_INPUT;
    }
    sp_emit(d, SP_I321, SP_AT_NOTHING, "the original is not used: %s%s%s",
            damage ? "it is damaged, " : "the stacks have changed since", damage ? damage : "",
            f->caps & SP_CAN_WRITE ? "; it is rendered from the stacks" : "");
    return SPAA_OK;
}

spaa_status sp_original_give(const struct sp_profile *p, const struct spaa_format *f,
                             const struct sp_write_opts *opts, struct sp_diags *d, struct sp_output *out,
                             bool *done)
{
    struct originals o;
    const char *damage;
    bool good = false;
    *done = false;
    spaa_status st = p->originals ? originals_find(p->originals, f->name, d, &o) : SPAA_OK;
    if (st || !p->originals)
        return st;
    if (o.list.n > 1 && is_recording(&o)) {
        sp_emit_hint(d, SP_E037, SP_AT_NOTHING, "name a folder that is not there yet: -o FOLDER",
                     "the original is a recording of %zu files", o.list.n);
        st = SPAA_ERR_USAGE;
    } else if (o.list.n || o.lost) {
        st = originals_check(p, f, opts, &o, d, &good);
    }
    if (!st && good) {
        st = original_unpack(&o, &o.list.v[0], out, &damage);
        st = st ? st : out->status;
        *done = !st;
    }
    originals_done(&o);
    return st;
}

static spaa_status folder_error(struct sp_diags *d, const char *path)
{
    sp_emit(d, SP_E020, SP_AT_NOTHING, "%s: %s", path, strerror(errno));
    return SPAA_ERR_IO;
}

/* Each file appears when it is complete; none is left, nor the folder, when another fails. */
static spaa_status give_files(const struct originals *o, struct sp_diags *d, const char *path)
{
    struct sp_buf name;
    const char *damage;
    spaa_status st = SPAA_OK;
    size_t made = 0;
    sp_buf_init(&name, 0);
    for (size_t i = 0; !st && i < o->list.n; i++) {
        struct sp_output *out = NULL;
        sp_buf_clear(&name);
        sp_buf_printf(&name, "%s/%s", path, o->list.v[i].file);
        st = name.failed ? sp_nomem(d) : sp_output_open(sp_buf_cstr(&name), d, &out);
        if (!st)
            st = original_unpack(o, &o->list.v[i], out, &damage);
        if (!st)
            st = sp_output_commit(out);
        sp_output_close(out);
        made += !st;
    }
    for (size_t i = 0; st && i < made; i++) {
        sp_buf_clear(&name);
        if (sp_buf_printf(&name, "%s/%s", path, o->list.v[i].file))
            unlink(sp_buf_cstr(&name));
    }
    if (st)
        rmdir(path);
    sp_buf_free(&name);
    return st;
}

spaa_status sp_original_give_folder(const struct sp_profile *p, const struct spaa_format *f,
                                    const struct sp_write_opts *opts, struct sp_diags *d, const char *path,
                                    bool *done)
{
    struct originals o;
    bool good = false;
    *done = false;
    spaa_status st = originals_find(p->originals, f->name, d, &o);
    if (st)
        return st;
    st = originals_check(p, f, opts, &o, d, &good);
    if (!st && good) {
        st = mkdir(path, 0777) ? folder_error(d, path) : give_files(&o, d, path);
        *done = !st;
    }
    originals_done(&o);
    return st;
}

spaa_status sp_original_each(const struct sp_originals *records, bool check, struct sp_diags *d,
                             spaa_status (*take)(void *arg, const struct sp_original_about *about), void *arg)
{
    struct originals o;
    spaa_status st = records ? originals_find(records, NULL, d, &o) : SPAA_OK;
    if (st || !records)
        return st;
    if (o.lost)
        st = take(arg, &(struct sp_original_about){.damage = original_damage(&o)});
    for (size_t i = 0; !st && i < o.list.n; i++) {
        const struct original *x = &o.list.v[i];
        struct sp_original_about about = {.format = x->format, .file = x->file, .size = x->size};
        if (check)
            st = original_unpack(&o, x, NULL, &about.damage);
        if (!st)
            st = take(arg, &about);
    }
    originals_done(&o);
    return st;
}
