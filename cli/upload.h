/* Parts of `spaa upload`: cmd_upload.c takes what is asked for, upload_body.c makes what is sent,
 * upload_answer.c sends it and says what came of it, upload_listed.c reads the service's list,
 * upload_progress.c says what goes on meanwhile. */
#ifndef SP_CLI_UPLOAD_H
#define SP_CLI_UPLOAD_H

#include "inside.h"

#include "remote/codeguru.h"
#include "run/heading.h"

struct upload {
    struct cli *cli;
    struct sp_run *run;
    struct sp_aws aws;
    struct sp_aws_keys keys;
    struct sp_aws_address endpoint;
    struct sp_codeguru service;
    char token[65];
    struct sp_input *in;    /* owns the bytes of a profile that is sent as it is */
    struct sp_output *made; /* or this does */
    const void *body;
    size_t body_n;
    struct timespec began;
    bool shown;
};

/* Of struct sp_codeguru, arg the struct upload: progress; why there is a wait. */
void upload_show_sent(uint64_t sent, uint64_t size, void *arg);
void upload_say_waiting(unsigned ms, void *arg);
/* Takes a line of progress off the terminal. */
void upload_clear_line(struct upload *u);

/* The bytes to send, of the second file of the command: an exit code, reported. */
int upload_read_body(struct upload *u);

/* Sends the body, or shows the request; w NULL: in words. An exit code, reported. */
int upload_post(struct upload *u, struct sp_jw *w);
/* Lists what the service has; `first`: nothing was answered before. */
int upload_verify(struct upload *u, struct sp_jw *w, bool first);

/* When profiles begin that a service has. */
struct listed {
    SP_VEC(struct sp_buf) starts;
    struct sp_buf next; /* what to ask with for the rest; empty: that is all */
};
void upload_listed_free(struct listed *l);
/* Adds a page of the list; false: it is none. */
bool upload_listed_read(const struct sp_buf *page, struct listed *l);

#endif
