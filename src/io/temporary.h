/* Temporary files that have no name, so that nothing stays behind whatever happens to us. */
#ifndef SP_TEMPORARY_H
#define SP_TEMPORARY_H

/* The folder for them: TMPDIR, else /tmp. */
const char *sp_temporary_folder(void);
/* A file open for reading and writing in that folder; -1 with errno set (ENOMEM too). */
int sp_temporary_file(void);

#endif
