/*
 * Threads: what they have of a stack does not depend on `ulimit -s`, nor on who calls the library.
 */
#ifndef SP_THREAD_H
#define SP_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define SP_THREAD_STACK ((size_t)2 << 20)   /* of threads of our own */
#define SP_CALLER_STACK ((size_t)256 << 10) /* that a thread must have left to call what reads or asks */

/* As pthread_create; 0: it runs. */
int sp_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);
/* Whether the calling thread has so much of its stack left. */
bool sp_thread_has_room(size_t bytes);

#endif
