/*
 * The recordings of demo/, embedded, so that a program that stands alone has something to be tried on. `spaa
 * demo` writes them. A list ends with a NULL name.
 */
#ifndef SP_DEMO_H
#define SP_DEMO_H

#include <stddef.h>

struct sp_demo_file {
    const char *name; /* beneath the folder: "orders-1.perf.data.zst", "symfs/opt/orders/orders" */
    const char *data; /* as it is, compressed where its name says so */
    size_t n;
};
extern const struct sp_demo_file sp_demo_files[];

#endif
