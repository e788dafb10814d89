/* Distinct texts of frames by their bytes. */
#include "formats/common/hang/frame_texts.h"

#include "base/hash.h"
void sp_hang_texts_free(struct sp_hang_texts *t)
{
    sp_vec_free(&t->v);
    sp_map_free(&t->map);
}

uint32_t sp_hang_text(struct sp_hang_texts *t, struct sp_span text, bool kernel)
{
    uint64_t hash = sp_hash_key(text.p, text.n) + kernel;
    struct sp_probe at = sp_map_probe(&t->map, hash);
    for (uint32_t i; (i = sp_map_next(&t->map, &at)) != SP_MAP_NONE;) {
        const struct sp_hang_text *x = &t->v.v[i];
        if (x->text.n == text.n && x->kernel == kernel && memcmp(x->text.p, text.p, text.n) == 0)
            return i;
    }
    struct sp_hang_text fresh = {.text = text, .kernel = kernel, .frame = SP_NONE};
    uint32_t number = (uint32_t)t->v.n;
    return t->v.n < SP_NONE - 1 && sp_vec_push(&t->v, fresh) && sp_map_add(&t->map, hash, number) ? number
                                                                                                  : SP_NONE;
}
