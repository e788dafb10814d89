/* A library between the program and its memory: libfeed.so. */
#ifndef FEED_H
#define FEED_H
#ifdef __cplusplus
extern "C" {
#endif
struct Feed { char *title; char rest[56]; };
struct Feed *feed_parse(int number);
void feed_free(struct Feed *f); /* forgets the title */
#ifdef __cplusplus
}
#endif
#endif
