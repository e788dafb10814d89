/* The requests of `spaa upload`, and what it answers. */
#include "upload.h"

#define LAST_HOUR 3600 /* seconds that --verify looks back */

/* All requests of one command have the time of --timeout together, from the first one on. */
static spaa_status send_request(struct upload *u, const struct sp_codeguru_request *r, struct sp_buf *answer)
{
    clock_gettime(CLOCK_MONOTONIC, &u->began);
    if (!u->service.deadline)
        u->service.deadline = sp_codeguru_clock() + 1000 * u->service.timeout;
    spaa_status st = sp_codeguru_send(&u->service, r, u->run->diags, answer);
    upload_clear_line(u);
    return st;
}

/* The request in words, and a body by its size: nothing of it is secret. */
static void show_request(struct upload *u, const struct sp_codeguru_request *r, struct sp_jw *w)
{
    static const char hidden[] = "(left out)";
    char masked[32];
    sp_aws_masked(&u->keys, masked);
    struct sp_run *run = u->run;
    const char *type = r->body ? "application/json" : NULL;
    const char *token = u->keys.token.len ? hidden : NULL;
    if (w) {
        sp_jw_cstr(w, "method", r->method);
        sp_jw_str(w, "url", r->url.data, r->url.len);
        sp_jw_open(w, "headers", '{');
        if (type)
            sp_jw_cstr(w, "content-type", type);
        sp_jw_str(w, "host", r->host.data, r->host.len);
        if (token)
            sp_jw_cstr(w, "x-amz-security-token", token);
        sp_jw_cstr(w, "authorization", hidden);
        sp_jw_close(w, '}');
        sp_jw_u64(w, "bytes", r->body_n);
        sp_jw_cstr(w, "sha256", r->payload_hash);
        sp_jw_cstr(w, "credentials", u->keys.source);
        sp_jw_cstr(w, "access_key", u->keys.source ? masked : NULL);
        return;
    }
    sp_printf(run->out, "%s %.*s\n", r->method, (int)r->url.len, r->url.data);
    if (type)
        sp_printf(run->out, "content-type: %s\n", type);
    sp_printf(run->out, "host: %.*s\nx-amz-date: (when it is sent)\n", (int)r->host.len, r->host.data);
    if (token)
        sp_printf(run->out, "x-amz-security-token: %s\n", token);
    sp_printf(run->out, "authorization: AWS4-HMAC-SHA256 %s\n\n", hidden);
    if (r->body)
        sp_printf(run->out, "%zu bytes of JSON, SHA-256 %s\n", r->body_n, r->payload_hash);
    sp_printf(run->out, "not sent (--dry-run); credentials: %s",
              u->keys.source ? u->keys.source : "none were found");
    if (u->keys.detail.len && u->keys.source)
        sp_printf(run->out, " (%s)", sp_buf_cstr(&u->keys.detail));
    sp_printf(run->out, "%s%s\n", u->keys.source ? ", access key " : "", u->keys.source ? masked : "");
}

int upload_post(struct upload *u, struct sp_jw *w)
{
    struct sp_run *run = u->run;
    struct sp_codeguru_request r;
    struct sp_buf answer;
    spaa_status st = sp_codeguru_post(&u->service, u->token, u->body, u->body_n, run->diags, &r);
    if (st)
        return sp_run_exit(run, st);
    sp_buf_init(&answer, 0);
    if (!run->v.dry_run)
        st = send_request(u, &r, &answer);
    int rc = st ? sp_run_exit(run, st) : sp_run_stdout(run);
    if (!rc && w) {
        sp_jw_init(w, run->out);
        sp_jw_open(w, NULL, '{');
        sp_jw_cstr(w, "schema", "spaa.upload/1");
        sp_jw_bool(w, "sent", !run->v.dry_run);
        sp_jw_cstr(w, "group", run->v.group);
        sp_jw_cstr(w, "region", u->service.region);
        sp_jw_cstr(w, "profile_token", u->token);
        if (run->v.dry_run)
            show_request(u, &r, w);
        else
            sp_jw_u64(w, "bytes", r.body_n);
    } else if (!rc && run->v.dry_run) {
        show_request(u, &r, NULL);
    } else if (!rc) {
        sp_printf(run->out, "%zu bytes are in profiling group %s (%s), profile token %s\n", r.body_n,
                  run->v.group, u->service.region, u->token);
    }
    sp_buf_free(&answer);
    sp_codeguru_request_free(&r);
    return rc;
}

static int ask_list(struct upload *u, struct listed *l)
{
    enum { PAGES = 100 };
    struct sp_run *run = u->run;
    time_t now = time(NULL);
    for (int page = 0; page < PAGES; page++) {
        struct sp_codeguru_request r;
        struct sp_buf answer;
        spaa_status st = sp_codeguru_list(&u->service, now - LAST_HOUR, now,
                                          page ? sp_buf_cstr(&l->next) : NULL, run->diags, &r);
        if (st)
            return sp_run_exit(run, st);
        sp_buf_init(&answer, 0);
        st = send_request(u, &r, &answer);
        bool understood = !st && upload_listed_read(&answer, l);
        if (!st && !understood)
            sp_emit_hint(run->diags, SP_E463, SP_AT_NOTHING, "is --endpoint that of CodeGuru Profiler?",
                         "the answer is no list of profile times");
        sp_buf_free(&answer);
        sp_codeguru_request_free(&r);
        if (st || !understood)
            return SP_EXIT_IO;
        if (!l->next.len)
            break;
    }
    return SP_EXIT_FINE;
}

/* The request for the list, which is not sent. */
static int show_list_request(struct upload *u, struct sp_jw *w)
{
    struct sp_run *run = u->run;
    struct sp_codeguru_request r;
    time_t now = time(NULL);
    spaa_status st = sp_codeguru_list(&u->service, now - LAST_HOUR, now, NULL, run->diags, &r);
    int rc = st ? sp_run_exit(run, st) : sp_run_stdout(run);
    if (!rc && w) {
        sp_jw_init(w, run->out);
        sp_jw_open(w, NULL, '{');
        sp_jw_cstr(w, "schema", "spaa.upload/1");
        sp_jw_bool(w, "sent", false);
    }
    if (!rc)
        show_request(u, &r, w);
    if (!st)
        sp_codeguru_request_free(&r);
    return rc;
}

static void show_list(struct upload *u, const struct listed *l, struct sp_jw *w, bool first)
{
    struct sp_run *run = u->run;
    if (w && first) {
        sp_jw_init(w, run->out);
        sp_jw_open(w, NULL, '{');
        sp_jw_cstr(w, "schema", "spaa.upload/1");
        sp_jw_bool(w, "sent", false);
        sp_jw_cstr(w, "group", run->v.group);
        sp_jw_cstr(w, "region", u->service.region);
    }
    if (w)
        sp_jw_open(w, "profile_times", '[');
    else
        sp_printf(run->out, "%zu profiles of the last hour in %s%s\n", l->starts.n, run->v.group,
                  l->starts.n ? ", beginning at" : "; new ones appear after some minutes");
    for (size_t i = 0; i < l->starts.n; i++) {
        const struct sp_buf *start = &l->starts.v[i];
        if (w)
            sp_jw_str(w, NULL, start->data, start->len);
        else
            sp_printf(run->out, "  %.*s\n", (int)start->len, start->data ? start->data : "");
    }
    if (w)
        sp_jw_close(w, ']');
}

int upload_verify(struct upload *u, struct sp_jw *w, bool first)
{
    struct listed l = {0};
    if (u->run->v.dry_run)
        return first ? show_list_request(u, w) : SP_EXIT_FINE;
    sp_buf_init(&l.next, 64 << 10);
    int rc = ask_list(u, &l);
    if (!rc)
        rc = sp_run_stdout(u->run);
    if (!rc)
        show_list(u, &l, w, first);
    upload_listed_free(&l);
    return rc;
}
