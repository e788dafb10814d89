#include "feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Feed *feed_parse(int number) {
    char title[32];
    struct Feed *f = malloc(sizeof *f);
    snprintf(title, sizeof title, "title of the feed no. %09d", number);
    f->title = strdup(title);
    return f;
}

void feed_free(struct Feed *f) { free(f); }
