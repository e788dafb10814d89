/* Half-written output files that processes left behind when they were killed. */
#ifndef SP_STALE_H
#define SP_STALE_H

#define SP_HALF_BEGIN ".spaa-" /* of their names: then the process, "-", a number, and */
#define SP_HALF_END   ".tmp"

/* Marks one that is being written; it goes when the file is closed, however that comes. */
void sp_half_hold(int fd);
/* Removes those beside a path that nobody writes to any more. */
void sp_half_clean(const char *path);

#endif
