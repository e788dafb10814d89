/*
 * Shared libraries that are opened when they are first wanted, so that nothing else depends on them. A
 * program that is linked statically opens none: of the C library it would need a second one.
 */
#ifndef SP_LIBRARY_H
#define SP_LIBRARY_H

/* By its soname. NULL: it cannot be used; errno is ENOMEM where memory was what is missing. */
void *sp_library_open(const char *soname);
/* A function of it; NULL: it has none of this name, or the library is NULL. */
void *sp_library_find(void *library, const char *name);
void sp_library_close(void *library); /* NULL is fine */
/* What helps where it cannot be opened: `install`, or in a static program to take another one. */
const char *sp_library_hint(const char *install);

#endif
