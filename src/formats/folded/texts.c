/*
 * Hash tables from texts to numbers, made for the reader's hot path: hash, place and length of a text stand
 * in the slot itself, or the text where it is short. Open addressing, linear probing, at most half full.
 */
#include "formats/folded/folded.h"

#include <stdlib.h>

void sp_fold_texts_free(struct sp_fold_texts *t)
{
    sp_arena_free(&t->text);
    free(t->slots);
    t->slots = NULL;
    t->mask = t->count = 0;
}

static void place(struct sp_fold_text *slots, size_t mask, const struct sp_fold_text *x)
{
    size_t i = x->hash & mask;
    while (slots[i].text)
        i = (i + 1) & mask;
    slots[i] = *x;
}

static bool grow(struct sp_fold_texts *t)
{
    size_t n = t->slots ? 2 * (t->mask + 1) : 1024;
    struct sp_fold_text *slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i].text)
            place(slots, n - 1, &t->slots[i]);
    free(t->slots);
    t->slots = slots;
    t->mask = n - 1;
    return true;
}

/* The text must be new to the table. */
bool sp_fold_texts_add(struct sp_fold_texts *t, const char *p, size_t n, uint64_t hash, uint32_t number)
{
    if (n >= UINT32_MAX || ((!t->slots || 2 * (t->count + 1) > t->mask) && !grow(t)))
        return false;
    struct sp_fold_text x = {hash, sp_arena_dup(&t->text, p, n), (uint32_t)n, number};
    if (!x.text)
        return false;
    place(t->slots, t->mask, &x);
    t->count++;
    return true;
}

void sp_fold_shorts_free(struct sp_fold_shorts *t)
{
    free(t->slots);
    *t = (struct sp_fold_shorts){0};
}

static void place_short(struct sp_fold_short *slots, size_t mask, const struct sp_fold_short *x)
{
    size_t i = sp_fold_short_hash(x) & mask;
    while (slots[i].number)
        i = (i + 1) & mask;
    slots[i] = *x;
}

static bool grow_shorts(struct sp_fold_shorts *t)
{
    size_t n = t->slots ? 2 * (t->mask + 1) : 1024;
    struct sp_fold_short *slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i].number)
            place_short(slots, n - 1, &t->slots[i]);
    free(t->slots);
    t->slots = slots;
    t->mask = n - 1;
    return true;
}

bool sp_fold_shorts_add(struct sp_fold_shorts *t, struct sp_fold_short *key, uint32_t number)
{
    if ((!t->slots || 2 * (t->count + 1) > t->mask) && !grow_shorts(t))
        return false;
    key->number = number + 1;
    place_short(t->slots, t->mask, key);
    t->count++;
    return true;
}
