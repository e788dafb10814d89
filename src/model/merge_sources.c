/*
 * Source text of binaries that have no build-id, of several inputs: two builds of one name are one binary
 * there, and one of them may be without text. It is kept where every input that has the binary has the same
 * one.
 */
#include "base/hash.h"
#include "model/merge_private.h"

#include <stdlib.h>

static uint64_t sources_hash(const struct sp_profile *p, uint32_t s, uint64_t with)
{
    struct sp_str text = sp_pstr(p, s);
    return sp_hash_mix(sp_hash64(text.p, text.n), with);
}

/* What a file is known by; never 0. */
static uint64_t sources_file(const struct sp_profile *p, const struct sp_source_piece *x)
{
    return sources_hash(p, x->file, sources_hash(p, x->path, 1)) | 1;
}

bool sp_merge_note_sources(struct sp_merger *m, const struct sp_profile *from)
{
    const struct sp_source_piece *v = from->source_pieces.v;
    for (size_t i = 0; i < from->dsos.n; i++) {
        struct sp_source_seen seen = {sources_hash(from, from->dsos.v[i].name, 0), 0};
        if (!sp_pstr(from, from->dsos.v[i].build_id).n && !sp_vec_push(&m->sources, seen))
            return false;
    }
    for (size_t i = 0; i < from->source_pieces.n; i++) {
        struct sp_source_seen seen = {sources_hash(from, v[i].binary, 0), sources_file(from, &v[i])};
        bool next =
            !i || v[i - 1].binary != v[i].binary || v[i - 1].file != v[i].file || v[i - 1].path != v[i].path;
        if (next && !sp_pstr(from, v[i].build_id).n && !sp_vec_push(&m->sources, seen))
            return false;
    }
    return true;
}

static int seen_cmp(const void *va, const void *vb)
{
    const struct sp_source_seen *a = va, *b = vb;
    if (a->binary != b->binary)
        return a->binary < b->binary ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

/* How many inputs have it. */
static size_t seen_count(const struct sp_merger *m, struct sp_source_seen want)
{
    size_t lo = 0, hi = m->sources.n, n = 0;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (seen_cmp(&m->sources.v[mid], &want) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo + n < m->sources.n && !seen_cmp(&m->sources.v[lo + n], &want))
        n++;
    return n;
}

void sp_merge_drop_sources(struct sp_merger *m)
{
    struct sp_source_piece *v = m->p->source_pieces.v;
    size_t n = 0;
    if (!m->p->source_pieces.n)
        return;
    if (m->sources.n)
        qsort(m->sources.v, m->sources.n, sizeof *m->sources.v, seen_cmp);
    for (size_t i = 0; i < m->p->source_pieces.n; i++) {
        struct sp_source_seen seen = {sources_hash(m->p, v[i].binary, 0), sources_file(m->p, &v[i])},
                              any = {seen.binary, 0};
        if (sp_pstr(m->p, v[i].build_id).n || seen_count(m, seen) >= seen_count(m, any))
            v[n++] = v[i];
    }
    if (n < m->p->source_pieces.n)
        sp_emit(m->d, SP_I321, SP_AT_NOTHING,
                "source text of binaries that have no build-id: not every input has the same, so it may be "
                "of another "
                "build");
    m->p->source_pieces.n = n;
}
