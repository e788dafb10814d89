/* .tables and .schema of `spaa query`. */
#ifndef SP_QUERY_SCHEMA_H
#define SP_QUERY_SCHEMA_H

#include "run/heading.h"

/* Answers ".tables" or ".schema [TABLE]"; what else begins with a dot is bad usage. */
int sp_query_dot(struct sp_run *run, const char *sql);

#endif
