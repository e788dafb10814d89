#include "mcp/wire.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { CHUNK = 1 << 16, PENDING = 64 << 20 /* bytes that may wait to be written */ };

static void *wire_writer(void *arg);

bool sp_mcp_wire_init(struct sp_mcp_wire *w, int in, int out)
{
    *w = (struct sp_mcp_wire){.in = in, .out = out};
    sp_buf_init(&w->lines, SP_MCP_LINE_MAX + 2 * CHUNK);
    sp_buf_init(&w->pending, 0);
    sp_buf_init(&w->writing, 0);
    pthread_mutex_init(&w->sending, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->threaded = pthread_create(&w->writer, NULL, wire_writer, w) == 0;
    return w->threaded;
}

void sp_mcp_wire_free(struct sp_mcp_wire *w)
{
    pthread_mutex_lock(&w->sending);
    w->closing = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->sending);
    if (w->threaded)
        pthread_join(w->writer, NULL);
    sp_buf_free(&w->lines);
    sp_buf_free(&w->pending);
    sp_buf_free(&w->writing);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->sending);
}

/* ---- reading ---- */

/* Waits for input, or for the reader of what is sent to go away. */
static bool wire_wait(struct sp_mcp_wire *w)
{
    struct pollfd fds[2] = {{.fd = w->in, .events = POLLIN}, {.fd = w->out}};
    for (;;) {
        int n = poll(fds, 2, -1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || fds[0].revents)
            return true; /* reading says what there is */
        if (fds[1].revents)
            return false;
    }
}

/* More bytes at the end of `lines`; false: there are none any more. */
static bool wire_more(struct sp_mcp_wire *w)
{
    if (w->ended || !wire_wait(w) || !sp_buf_reserve(&w->lines, CHUNK)) {
        w->ended = w->ended || !w->lines.failed;
        return false;
    }
    ssize_t n;
    do
        n = read(w->in, w->lines.data + w->lines.len, CHUNK);
    while (n < 0 && errno == EINTR);
    w->ended = n <= 0;
    w->lines.len += n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* What was taken makes room. */
static void wire_shift(struct sp_mcp_wire *w)
{
    if (!w->at)
        return;
    memmove(w->lines.data, w->lines.data + w->at, w->lines.len - w->at);
    w->lines.len -= w->at;
    w->at = 0;
}

/* Bytes up to and with the next newline are dropped. */
static enum sp_mcp_read wire_skip(struct sp_mcp_wire *w, enum sp_mcp_read why)
{
    for (;;) {
        char *end = w->lines.len ? memchr(w->lines.data, '\n', w->lines.len) : NULL;
        if (end) {
            w->at = (size_t)(end + 1 - w->lines.data);
            return why;
        }
        sp_buf_clear(&w->lines);
        if (!wire_more(w)) {
            w->ended = true; /* also where there is no memory for anything */
            return why;
        }
    }
}

enum sp_mcp_read sp_mcp_wire_read(struct sp_mcp_wire *w, struct sp_span *line)
{
    size_t seen = 0;
    wire_shift(w);
    for (;;) {
        char *from = w->lines.data + seen;
        char *end = w->lines.len > seen ? memchr(from, '\n', w->lines.len - seen) : NULL;
        size_t n = end ? (size_t)(end - w->lines.data) : w->lines.len;
        if (n > SP_MCP_LINE_MAX)
            return wire_skip(w, SP_MCP_TOO_LONG);
        if (!end && wire_more(w)) {
            seen = n;
            continue;
        }
        if (!end && !w->ended)
            return wire_skip(w, SP_MCP_NO_MEMORY);
        if (!n && !end)
            return SP_MCP_END;
        w->at = end ? n + 1 : n;
        *line = (struct sp_span){w->lines.data, n && w->lines.data[n - 1] == '\r' ? n - 1 : n};
        if (line->n)
            return SP_MCP_LINE;
        wire_shift(w);
        seen = 0;
    }
}

/* ---- sending ---- */

static bool wire_write(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno != EINTR)
            return false;
        p += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

static void *wire_writer(void *arg)
{
    struct sp_mcp_wire *w = arg;
    pthread_mutex_lock(&w->sending);
    for (;;) {
        while (!w->pending.len && !w->closing)
            pthread_cond_wait(&w->changed, &w->sending);
        if (!w->pending.len || w->gone)
            break;
        struct sp_buf now = w->pending;
        w->pending = w->writing;
        w->writing = now;
        pthread_mutex_unlock(&w->sending);
        bool written = wire_write(w->out, now.data, now.len);
        pthread_mutex_lock(&w->sending);
        w->gone = w->gone || !written;
        sp_buf_clear(&w->writing);
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->sending);
    return NULL;
}

void sp_mcp_wire_send(struct sp_mcp_wire *w, struct sp_buf *message)
{
    sp_buf_ch(message, '\n');
    pthread_mutex_lock(&w->sending);
    while (w->pending.len > PENDING && !w->gone)
        pthread_cond_wait(&w->changed, &w->sending);
    if (!w->gone && (message->failed || !sp_buf_add(&w->pending, message->data, message->len))) {
        w->pending.failed = false; /* what is there stays whole */
        sp_buf_puts(&w->pending, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,\"message\":"
                                 "\"out of memory\"}}\n");
        w->pending.failed = false;
    }
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->sending);
}

bool sp_mcp_wire_gone(struct sp_mcp_wire *w)
{
    struct pollfd out = {.fd = w->out};
    pthread_mutex_lock(&w->sending);
    w->gone = w->gone || (poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLHUP | POLLNVAL));
    bool gone = w->gone;
    pthread_mutex_unlock(&w->sending);
    return gone;
}
