#include "mcp/calls.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 64 << 20 /* of arguments that wait */, PROGRESS_MS = 100 };

/* ---- a call ---- */

struct sp_mcp_call *sp_mcp_call_new(void)
{
    struct sp_mcp_call *call = calloc(1, sizeof *call);
    if (call) {
        sp_buf_init(&call->id, 0);
        sp_buf_init(&call->arguments, 0);
        sp_buf_init(&call->token, 0);
        atomic_init(&call->cancelled, false);
    }
    return call;
}

void sp_mcp_call_free(struct sp_mcp_call *call)
{
    if (!call)
        return;
    sp_buf_free(&call->id);
    sp_buf_free(&call->arguments);
    sp_buf_free(&call->token);
    free(call);
}

/* ---- progress ---- */

/* Each piece of work counts one, however much it is, so that the number only grows. */
static bool progress_next(struct sp_mcp_call *call, const struct spaa_progress *now)
{
    char piece[sizeof call->piece];
    snprintf(piece, sizeof piece, "%s%s%s", now->what, *now->name ? " " : "", now->name);
    if (strcmp(piece, call->piece) != 0) {
        memcpy(call->piece, piece, sizeof piece);
        call->pieces++;
    }
    double part = now->whole ? (double)now->done / (double)now->whole : 0;
    double value = call->pieces - 1 + (part < 0.999 ? part : 0.999);
    if (value < call->shown + 0.001)
        return false;
    call->shown = value;
    return true;
}

static void progress_send(struct sp_mcp_call *call, const struct spaa_progress *now)
{
    struct sp_buf b, words;
    sp_buf_init(&b, 0);
    sp_buf_init(&words, 0);
    sp_buf_puts(&words, call->piece);
    if (now->whole)
        sp_buf_printf(&words, ": %.0f %%", 100 * (double)now->done / (double)now->whole);
    sp_buf_puts(&b,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":");
    sp_buf_add(&b, call->token.data, call->token.len);
    sp_buf_printf(&b, ",\"progress\":%.3f,\"message\":", call->shown);
    sp_mcp_string(&b, sp_buf_cstr(&words));
    sp_buf_puts(&b, "}}");
    if (!b.failed)
        sp_mcp_wire_send(call->of->wire, &b);
    sp_buf_free(&b);
    sp_buf_free(&words);
}

static int calls_watch(void *arg, const struct spaa_progress *now)
{
    struct sp_mcp_call *call = arg;
    if (call->token.len && progress_next(call, now)) {
        pthread_mutex_lock(&call->of->lock); /* nothing is sent behind a cancellation that was heard */
        if (!atomic_load(&call->cancelled))
            progress_send(call, now);
        pthread_mutex_unlock(&call->of->lock);
    }
    return atomic_load(&call->cancelled);
}

/* ---- workers ---- */

static void calls_unlink(struct sp_mcp_calls *c, struct sp_mcp_call *call)
{
    struct sp_mcp_call **at = &c->running;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    c->in_flight--;
    pthread_cond_broadcast(&c->done);
}

static void calls_run(struct sp_mcp_calls *c, struct sp_mcp_call *call)
{
    struct sp_buf out;
    sp_buf_init(&out, 0);
    if (!atomic_load(&call->cancelled))
        c->answer(c->arg, call, &out);
    if (out.failed) {
        sp_buf_free(&out);
        sp_mcp_error(&out, &call->id, SP_MCP_INTERNAL, "out of memory");
        sp_buf_puts(&out, "}}");
    }
    pthread_mutex_lock(&c->lock);
    if (!atomic_load(&call->cancelled))
        sp_mcp_wire_send(c->wire, &out);
    calls_unlink(c, call);
    pthread_mutex_unlock(&c->lock);
    sp_buf_free(&out);
    sp_mcp_call_free(call);
}

static struct sp_mcp_call *calls_next(struct sp_mcp_calls *c)
{
    while (!c->first && !c->stop)
        pthread_cond_wait(&c->come, &c->lock);
    struct sp_mcp_call *call = c->first;
    if (!call)
        return NULL;
    c->first = call->next;
    c->last = c->first ? c->last : NULL;
    c->waiting--;
    c->bytes -= call->arguments.len;
    call->next = c->running;
    c->running = call;
    return call;
}

static void *calls_worker(void *arg)
{
    struct sp_mcp_calls *c = arg;
    for (;;) {
        pthread_mutex_lock(&c->lock);
        struct sp_mcp_call *call = calls_next(c);
        pthread_mutex_unlock(&c->lock);
        if (!call)
            return NULL;
        calls_run(c, call);
    }
}

bool sp_mcp_calls_start(struct sp_mcp_calls *c)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cores < 2 ? 2 : cores > SP_MCP_WORKERS ? SP_MCP_WORKERS : (size_t)cores;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->come, NULL);
    pthread_cond_init(&c->done, NULL);
    while (c->nworkers < n && pthread_create(&c->workers[c->nworkers], NULL, calls_worker, c) == 0)
        c->nworkers++;
    return c->nworkers > 0;
}

bool sp_mcp_calls_add(struct sp_mcp_calls *c, struct sp_mcp_call *call)
{
    call->of = c;
    call->watch = (struct spaa_watch){
        .size = sizeof call->watch, .progress = calls_watch, .arg = call, .every_ms = PROGRESS_MS};
    pthread_mutex_lock(&c->lock);
    bool room = c->waiting < SP_MCP_WAITING && c->bytes + call->arguments.len <= BYTES;
    if (room) {
        call->next = NULL;
        *(c->last ? &c->last->next : &c->first) = call;
        c->last = call;
        c->waiting++;
        c->in_flight++;
        c->bytes += call->arguments.len;
        pthread_cond_signal(&c->come);
    }
    pthread_mutex_unlock(&c->lock);
    return room;
}

/* ---- leaving ---- */

static bool is_meant(const struct sp_mcp_call *call, const struct sp_buf *id)
{
    return !id || (call->id.len == id->len && memcmp(call->id.data, id->data, id->len) == 0);
}

/* What waits makes room at once. */
static void cancel_waiting(struct sp_mcp_calls *c, const struct sp_buf *id)
{
    struct sp_mcp_call **at = &c->first;
    c->last = NULL;
    while (*at) {
        struct sp_mcp_call *call = *at;
        if (!is_meant(call, id)) {
            c->last = call;
            at = &call->next;
            continue;
        }
        *at = call->next;
        c->waiting--;
        c->in_flight--;
        c->bytes -= call->arguments.len;
        sp_mcp_call_free(call);
    }
    pthread_cond_broadcast(&c->done);
}

/* id NULL: all. */
static void cancel_calls(struct sp_mcp_calls *c, const struct sp_buf *id)
{
    pthread_mutex_lock(&c->lock);
    cancel_waiting(c, id);
    for (struct sp_mcp_call *call = c->running; call; call = call->next)
        if (is_meant(call, id))
            atomic_store(&call->cancelled, true);
    pthread_mutex_unlock(&c->lock);
    c->wake(c->arg);
}

void sp_mcp_calls_cancel(struct sp_mcp_calls *c, const struct sp_buf *id)
{
    cancel_calls(c, id);
}

/* Until nothing is in flight any more; rounds: of 50 ms, 0: any number, while somebody listens. */
static bool calls_wait(struct sp_mcp_calls *c, int rounds)
{
    for (int i = 0;; i++) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_mutex_lock(&c->lock);
        if (c->in_flight)
            pthread_cond_timedwait(&c->done, &c->lock, &until);
        bool idle = !c->in_flight;
        pthread_mutex_unlock(&c->lock);
        if (idle || (rounds ? i >= rounds : sp_mcp_wire_gone(c->wire)))
            return idle;
    }
}

bool sp_mcp_calls_finish(struct sp_mcp_calls *c)
{
    enum { SECOND = 20 };
    if (!calls_wait(c, 0)) {
        cancel_calls(c, NULL);
        if (!calls_wait(c, SECOND))
            return false;
    }
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_broadcast(&c->come);
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < c->nworkers; i++)
        pthread_join(c->workers[i], NULL);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->come);
    pthread_cond_destroy(&c->done);
    return true;
}
