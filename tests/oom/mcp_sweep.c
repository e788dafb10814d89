/*
 * The server of `spaa mcp`, with every allocation failing in turn: it answers, or says that memory ran out,
 * ends with its input, and leaves nothing behind.
 */
#include "heap.h"
#include "mcp/mcp.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define META                                                                                                 \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                 \
    "\"io.modelcontextprotocol/clientCapabilities\":{},\"progressToken\":1}"
#define CALL(id, tool, arguments)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"tools/call\",\"params\":{" META ",\"name\":\"" tool    \
    "\",\"arguments\":{" arguments "}}}\n"
#define ASK(id, method, more)                                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"" method "\",\"params\":{" META more "}}\n"

/* Each is the input of a server; the number is that of its answers. */
static const struct {
    const char *text;
    unsigned answers;
} sessions[] = {
    {"nonsense\n[]\n{\"jsonrpc\":\"2.0\",\"id\":\"\\u0041\",\"method\":\"ping\"}\n" ASK(
         1, "server/discover", "") ASK(2, "tools/list", "") ASK(3, "nothing", ""),
     6},
    {ASK(1, "resources/list", "") ASK(2, "resources/read", ",\"uri\":\"spaa://schema/top\"")
         ASK(3, "prompts/list", "")
             ASK(4, "prompts/get", ",\"name\":\"diagnose\",\"arguments\":{\"profile\":\"a\"}"),
     4},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
     "\"capabilities\":{\"roots\":{}}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
     "{\"jsonrpc\":\"2.0\",\"id\":\"roots-1\",\"result\":{\"roots\":[{\"uri\":\"file:///tmp\"}]}}\n",
     2},
    {CALL(1, "open", "\"path\":\"sweep.folded\""), 1},
    {CALL(1, "top", "\"profile\":\"sweep.folded\",\"by\":\"function\",\"focus\":\"f\",\"format\":\"json\""),
     1},
    {CALL(1, "summary", "\"profile\":\"sweep.folded\""), 1},
    {CALL(1, "diff", "\"base\":[\"sweep.folded\"],\"new\":[\"sweep.folded\"]"), 1},
    {CALL(1, "query",
          "\"profile\":\"sweep.folded\",\"sql\":\"SELECT :a, name FROM functions\",\"params\":{\"a\":\"b'\"},"
          "\"budget\":10"),
     1},
    {CALL(1, "top", "\"profile\":\"p9\"") CALL(2, "top", "\"profil\":1")
         CALL(3, "top", "\"profile\":\"nowhere\""),
     3},
};

static int file_of(const char *text)
{
    int fd = memfd_create("sweep", MFD_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || lseek(fd, 0, SEEK_SET))
        abort();
    return fd;
}

static unsigned messages_in(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static unsigned lines_of(int fd)
{
    static char buffer[1 << 16];
    unsigned lines = 0;
    ssize_t n;
    lseek(fd, 0, SEEK_SET);
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        for (ssize_t i = 0; i < n; i++)
            lines += buffer[i] == '\n';
    return lines;
}

/* True: no allocation failed any more. */
static bool serve(size_t session, unsigned long fail_at, bool on_and_on)
{
    static const char *const roots[] = {"."};
    char why[256];
    int in = file_of(sessions[session].text), out = file_of("");
    const struct sp_mcp_options options = {
        .roots = roots, .nroots = 1, .memory = 1 << 30, .version = "0", .in = in, .to = out};
    long before = heap.live;
    heap_arm(fail_at, on_and_on);
    enum sp_mcp_end end = sp_mcp_serve(&options, why, sizeof why);
    bool failed = heap.failed;
    heap_arm(0, false);
    unsigned lines = lines_of(out);
    if (end == SP_MCP_LEFT || heap.live != before || (!failed && lines != sessions[session].answers) ||
        lines > messages_in(sessions[session].text)) {
        printf("session %zu, allocation %lu%s: end %d, %ld pieces left, %u lines of %u\n", session, fail_at,
               on_and_on ? " and on" : "", (int)end, heap.live - before, lines, sessions[session].answers);
        exit(1);
    }
    close(in);
    close(out);
    return !failed;
}

int main(void)
{
    char folder[] = "/tmp/spaa-sweep-XXXXXX";
    static const char folded[] = "main;f;g 3\nmain;h 4\n";
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    int fd = open("sweep.folded", O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || write(fd, folded, sizeof folded - 1) < 0)
        return 1;
    close(fd);
    unsigned long all = 0;
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++)
        for (int on = 0; on < 2; on++)
            for (unsigned long at = 1; !serve(i, at, on); at++)
                all++;
    unlink("sweep.folded");
    rmdir(folder);
    printf("%lu failures\n", all);
    return 0;
}
