/*
 * What takes a conversation with other services (roles by way of other profiles, SSO) or a command of the
 * profile's own is left to the AWS command: `aws configure export-credentials`. No shell is asked, its output
 * is bounded, and so is its time.
 */
#include "remote/credentials_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)64 << 10)
#define TIMEOUT    60000 /* milliseconds */

extern char **environ;

static const char source[] = "aws command";

struct child {
    pid_t pid;
    int out, err; /* -1: closed */
    struct sp_buf output, errors;
    bool too_much, too_late;
    int status;
};

static int64_t clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* In a session of its own: it has no terminal to ask for codes on, and can be ended with its children. 0, or
 * an error number. */
static int start(char *const *argv, struct child *c)
{
    int out[2], err[2];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    if (pipe2(out, O_CLOEXEC))
        return errno;
    if (pipe2(err, O_CLOEXEC)) {
        close(out[0]);
        close(out[1]);
        return EMFILE;
    }
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_adddup2(&files, err[1], 2);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    int rc = posix_spawnp(&c->pid, argv[0], &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    close(out[1]);
    close(err[1]);
    c->out = out[0];
    c->err = err[0];
    return rc;
}

/* What there is to read of one pipe; beyond the bound it is too much of keys, and dropped of errors. */
static void drain(int *fd, struct sp_buf *into, bool *too_much)
{
    char piece[4096];
    ssize_t n = read(*fd, piece, sizeof piece);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        close(*fd);
        *fd = -1;
    } else if (into->len + (size_t)n <= OUTPUT_MAX) {
        sp_buf_add(into, piece, (size_t)n);
    } else if (too_much) {
        *too_much = true;
    }
    explicit_bzero(piece, sizeof piece);
}

static void listen_to(struct child *c, int64_t deadline)
{
    while ((c->out >= 0 || c->err >= 0) && !c->too_much && !c->too_late) {
        struct pollfd p[2] = {{c->out, POLLIN, 0}, {c->err, POLLIN, 0}};
        int64_t left = deadline - clock_ms();
        c->too_late = left <= 0;
        if (c->too_late || (poll(p, 2, (int)left) < 0 && errno != EINTR))
            break;
        if (p[0].revents)
            drain(&c->out, &c->output, &c->too_much);
        if (p[1].revents)
            drain(&c->err, &c->errors, NULL);
    }
}

static void finish(struct child *c, int64_t deadline)
{
    const struct timespec moment = {0, 10000000};
    pid_t ended = 0;
    while (!c->too_much && !c->too_late && (ended = waitpid(c->pid, &c->status, WNOHANG)) == 0) {
        c->too_late = clock_ms() >= deadline;
        nanosleep(&moment, NULL);
    }
    if (ended != c->pid) {
        kill(-c->pid, SIGKILL);
        while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
            ;
    }
    if (c->out >= 0)
        close(c->out);
    if (c->err >= 0)
        close(c->err);
}

/*
 * How it ended. What it wrote is never shown: a `credential_process`, of another profile that this one leads
 * to as well, may write its secrets to either pipe, and tracebacks repeat what could not be read.
 */
static void ending(int status, char out[static 40])
{
    if (WIFSIGNALED(status))
        snprintf(out, 40, "signal %d", WTERMSIG(status));
    else
        snprintf(out, 40, "exit status %d", WEXITSTATUS(status));
}

static void hint_for(const char *setting, const char *profile, char out[static 300])
{
    const char *login = strncmp(setting, "sso_", 4) == 0        ? "sso login"
                        : strcmp(setting, "login_session") == 0 ? "login"
                                                                : NULL;
    int n = login ? snprintf(out, 300, "`aws %s --profile %.100s` begins a session; ", login, profile) : 0;
    snprintf(out + n, 300 - (size_t)n, "`aws configure export-credentials --profile %.100s` shows why",
             profile);
}

static spaa_status judge(const struct child *c, const char *setting, const char *profile,
                         struct sp_aws_keys *k, struct sp_diags *d)
{
    char end[40], hint[300];
    hint_for(setting, profile, hint);
    if (c->output.failed)
        return sp_nomem(d);
    if (c->too_late)
        return sp_aws_fail(d, source, hint, "it did not end within %d s (for the profile's %s)",
                           TIMEOUT / 1000, setting);
    if (c->too_much)
        return sp_aws_fail(d, source, hint, "it wrote more than 64 KiB");
    if (c->errors.len && memmem(c->errors.data, c->errors.len, "Invalid choice", 14))
        return sp_aws_fail(d, source, "install version 2 of the AWS command line",
                           "this `aws` has no `configure export-credentials`, which the profile's %s takes",
                           setting);
    if (!WIFEXITED(c->status) || WEXITSTATUS(c->status)) {
        ending(c->status, end);
        return sp_aws_fail(d, source, hint, "it failed with %s (for the profile's %s)", end, setting);
    }
    return sp_aws_take_json(k, &c->output, "SessionToken", false, source, d);
}

spaa_status sp_aws_from_command(struct sp_aws *a, const char *setting, struct sp_aws_keys *k,
                                struct sp_diags *d)
{
    struct sp_buf profile;
    struct child c = {.out = -1, .err = -1};
    sp_buf_init(&profile, 4096);
    sp_buf_init(&c.output, 2 * OUTPUT_MAX);
    sp_buf_init(&c.errors, 2 * OUTPUT_MAX);
    sp_buf_printf(&profile, "--profile=%s", a->profile);
    char *argv[] = {(char *)"aws",
                    (char *)"configure",
                    (char *)"export-credentials",
                    (char *)sp_buf_cstr(&profile),
                    (char *)"--format",
                    (char *)"process",
                    NULL};
    int64_t deadline = clock_ms() + TIMEOUT;
    int rc = profile.failed ? ENOMEM : start(argv, &c);
    spaa_status st;
    if (rc == 0) {
        listen_to(&c, deadline);
        finish(&c, deadline);
        st = judge(&c, setting, a->profile, k, d);
    } else {
        st = sp_aws_fail(
            d, source, "install it, or put keys into the environment",
            "the profile \"%.100s\" gets its keys through %s, which the AWS command line follows: %s",
            a->profile, setting, rc == ENOENT ? "`aws` is not installed" : strerror(rc));
        if (c.out >= 0)
            close(c.out);
        if (c.err >= 0)
            close(c.err);
    }
    sp_buf_puts(&k->detail, setting);
    sp_aws_wipe(&c.output);
    sp_aws_wipe(&c.errors);
    sp_buf_free(&profile);
    return st;
}
