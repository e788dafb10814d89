/* Reads what came before pprof's protobuf: which kind it is, and its lines. See gperftools.h. */
#include "formats/gperftools/gperftools.h"
#include "json/json.h"

/* The line that says what it is; what stands before it. */
static spaa_status gperftools_read_title(struct sp_gp *gp, struct sp_str *out)
{
    while (sp_gp_next(gp)) {
        *out = sp_mapped_trim(gp->line.p, gp->line.n);
        if (!out->n || *out->p == '#')
            continue;
        if (*out->p != '%')
            return SPAA_OK;
        sp_emit(gp->d, SP_W773, sp_gp_here(gp), "%.*s", (int)(out->n < 200 ? out->n : 200), out->p);
    }
    *out = (struct sp_str){"", 0};
    return SPAA_OK;
}

static spaa_status gperftools_unknown_line(struct sp_gp *gp, struct sp_str first)
{
    if (sp_gp_starts(first, "heap_v2/"))
        sp_emit_hint(gp->d, SP_E765, sp_gp_here(gp), "read it with --from jemalloc",
                     "this is a heap profile of jemalloc");
    else
        sp_emit(gp->d, SP_E765, gp->line.p ? sp_gp_here(gp) : SP_AT(0),
                "neither the words of a CPU profile nor the title of another one");
    return SPAA_ERR_INPUT;
}

static spaa_status gperftools_read_symbols(struct sp_gp *gp)
{
    struct sp_str binary = {NULL, 0};
    size_t used;
    spaa_status st = sp_mapped_symbols(&gp->m, gp->at, gp->end, &used, &binary);
    for (const char *p = gp->at; p < gp->at + used; p++)
        gp->number += *p == '\n';
    gp->at += used;
    if (!st && binary.p) {
        sp_buf_puts(&gp->notes, ",\"binary\":");
        sp_json_string(&gp->notes, binary.p, binary.n);
    }
    return st;
}

static spaa_status gperftools_read_one(struct sp_gp *gp)
{
    struct sp_str first;
    bool big, java;
    spaa_status st = gperftools_read_symbols(gp);
    if (st)
        return st;
    if (sp_gp_word_size((const unsigned char *)gp->at, (size_t)(gp->end - gp->at), &big, &java))
        return sp_gp_words(gp, (const unsigned char *)gp->at);
    st = gperftools_read_title(gp, &first);
    if (st)
        return st;
    switch (sp_gp_title(first)) {
    case SP_GP_HEAP:
        return sp_gp_heap(gp, first);
    case SP_GP_CONTENTION:
        return sp_gp_contention(gp, first);
    case SP_GP_JAVA_HEAP:
        return sp_gp_java_heap(gp);
    case SP_GP_COUNTS:
        return sp_gp_counts(gp, first);
    case SP_GP_THREADS:
        if (sp_gp_starts(first, "--- Thread "))
            sp_gp_back(gp);
        return sp_gp_threads(gp);
    default:
        return gperftools_unknown_line(gp, first);
    }
}

static spaa_status gperftools_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                                   struct sp_profile *p)
{
    const unsigned char *bytes;
    size_t n;
    spaa_status st = sp_input_whole(in, &bytes, &n);
    struct sp_gp *gp = st ? NULL : calloc(1, sizeof *gp);
    if (!gp)
        return st ? st : sp_nomem(d);
    gp->p = p;
    gp->d = d;
    gp->opts = opts;
    gp->in = gp->at = (const char *)bytes;
    gp->end = gp->in + n;
    sp_mapped_init(&gp->m, p, opts, d, n);
    sp_buf_init(&gp->types, 0);
    sp_buf_init(&gp->notes, 0);
    sp_buf_init(&gp->comments, 0);
    st = gperftools_read_one(gp);
    if (!st)
        st = sp_mapped_finish(&gp->m);
    if (!st)
        st = sp_gp_header(gp);
    sp_mapped_free(&gp->m);
    sp_map_free(&gp->block_map);
    sp_vec_free(&gp->blocks);
    sp_vec_free(&gp->block_contexts);
    sp_buf_free(&gp->types);
    sp_buf_free(&gp->notes);
    sp_buf_free(&gp->comments);
    free(gp);
    return st;
}

static const struct sp_format_option options[] = {
    {"all-frames", NULL, "of CPU samples, also the frames of the profiler's signal handler", SP_CAN_READ},
    {NULL, NULL, NULL, 0},
};

const struct spaa_format spaa_format_gperftools = {
    .name = "gperftools",
    .title = "gperftools, tcmalloc, and Go's and Java's profiles from before protobuf",
    .extensions = "heap cpuprofile contention",
    .media_type = "application/octet-stream",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ | SP_NAMES_FROM_SYMBOLS,
    .options = options,
    .probe = sp_gp_probe,
    .read = gperftools_read,
};
