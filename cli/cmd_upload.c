/* spaa upload: a profile to a service that keeps profiles. */
#include "inside.h"

#include "api/api.h"
#include "run/heading.h"

#include "formats/open.h"
#include "remote/codeguru.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LAST_HOUR 3600 /* seconds that --verify looks back */

struct upload {
    struct cli *cli;
    struct sp_run *run;
    struct sp_aws aws;
    struct sp_aws_keys keys;
    struct sp_buf endpoint;
    struct sp_codeguru service;
    char token[65];
    struct sp_input *in;    /* owns the bytes of a profile that is sent as it is */
    struct sp_output *made; /* or this does */
    const void *body;
    size_t body_n;
    struct timespec began;
    bool shown;
};

static const char *environment(const char *name, void *arg)
{
    (void)arg;
    return getenv(name);
}

/* ---- progress: on a terminal, once it takes half a second ---- */

static bool slow(struct upload *u)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ms = (now.tv_sec - u->began.tv_sec) * 1000 + (now.tv_nsec - u->began.tv_nsec) / 1000000;
    return isatty(2) && !u->run->v.quiet && ms > 500;
}

static void show_sent(uint64_t sent, uint64_t size, void *arg)
{
    struct upload *u = arg;
    if (!slow(u))
        return;
    fprintf(stderr, "\r\033[Kspaa: sending %.1f of %.1f MB", (double)sent / 1e6, (double)size / 1e6);
    u->shown = true;
}

static void clear_line(struct upload *u)
{
    if (u->shown)
        fputs("\r\033[K", stderr);
    u->shown = false;
}

/* Why there is a wait is said while there is one. */
static void say_waiting(unsigned ms, void *arg)
{
    struct upload *u = arg;
    (void)ms;
    clear_line(u);
    struct spaa_diagnostics so_far = {.d = *u->run->diags}; /* lent */
    cli_say(u->cli, &so_far);
}

/* ---- what was asked for ---- */

static int check_names(struct upload *u)
{
    struct sp_run *run = u->run;
    static const char *const services[] = {"codeguru", NULL};
    char near[256];
    if (!run->files.n || strcmp(run->files.v[0], "codeguru") != 0) {
        sp_near_hint(run->files.n ? run->files.v[0] : "", services, near, sizeof near);
        return sp_run_usage(run, *near ? near : "spaa upload codeguru FILE --group NAME",
                            "upload needs the name of a service: codeguru");
    }
    if (run->files.n > 2)
        return sp_run_usage(run, NULL, "upload takes one profile, not %zu", run->files.n - 1);
    if (run->files.n < 2 && !run->v.verify)
        return sp_run_usage(run, "--verify alone lists what the service has", "upload needs a profile");
    if (!run->v.group)
        return sp_run_usage(run, "the name of the profiling group", "upload needs --group NAME");
    if (!sp_codeguru_name(run->v.group, 255))
        return sp_run_usage(run, "1 to 255 letters, digits, - and _", "--group has no value \"%s\"",
                            run->v.group);
    if (run->v.profile_token && !sp_codeguru_name(run->v.profile_token, 64))
        return sp_run_usage(run, "1 to 64 letters, digits, - and _", "--profile-token has no value \"%s\"",
                            run->v.profile_token);
    return SP_EXIT_FINE;
}

static int find_keys(struct upload *u, const char **region)
{
    struct sp_run *run = u->run;
    u->aws.ca_file = run->v.ca_file ? run->v.ca_file : sp_aws_variable(&u->aws, "AWS_CA_BUNDLE");
    spaa_status st = sp_aws_read(&u->aws, run->diags);
    if (st)
        return sp_run_exit(run, st);
    const char *other = NULL;
    *region = run->v.region ? run->v.region : sp_aws_region(&u->aws, &other);
    if (other)
        sp_emit(run->diags, SP_W487, SP_AT_NOTHING, "%.63s; used is %.63s", other, *region);
    if (!*region) {
        sp_emit(run->diags, SP_E462, SP_AT_NOTHING, " ");
        return SP_EXIT_USAGE;
    }
    if (!sp_codeguru_name(*region, 63))
        return sp_run_usage(run, "like eu-west-1", "--region has no value \"%s\"", *region);
    st = sp_aws_keys_find(&u->aws, *region, &u->keys, run->diags);
    if (st)
        return sp_run_exit(run, st);
    if (!u->keys.source && !run->v.dry_run) {
        sp_emit(run->diags, SP_E461, SP_AT_NOTHING, " ");
        return SP_EXIT_IO;
    }
    return SP_EXIT_FINE;
}

static int find_service(struct upload *u)
{
    struct sp_run *run = u->run;
    long timeout, retries, delay;
    if (!sp_option_number(run->diags, "timeout", run->v.upload_timeout, 1, 3600, 300, &timeout) ||
        !sp_option_number(run->diags, "retries", run->v.retries, 0, 20, 4, &retries) ||
        !sp_option_number(run->diags, "retry-delay", run->v.retry_delay, 0, 60000, 500, &delay))
        return SP_EXIT_USAGE;
    const char *region = NULL;
    int rc = find_keys(u, &region);
    if (rc)
        return rc;
    const char *endpoint = run->v.endpoint ? run->v.endpoint
                           : sp_aws_endpoint(&u->aws, "CODEGURUPROFILER", &u->endpoint)
                               ? sp_buf_cstr(&u->endpoint)
                               : NULL;
    u->service = (struct sp_codeguru){.endpoint = endpoint,
                                      .region = region,
                                      .group = run->v.group,
                                      .keys = &u->keys,
                                      .ca_file = u->aws.ca_file,
                                      .timeout = timeout,
                                      .retries = (unsigned)retries,
                                      .delay = (unsigned)delay,
                                      .progress = show_sent,
                                      .waiting = say_waiting,
                                      .arg = u};
    return SP_EXIT_FINE;
}

/* ---- the body ---- */

static bool is_codeguru(const struct spaa_format *f)
{
    return strcmp(f->name, "codeguru") == 0;
}

/* A CodeGuru profile without damage, of which nothing is to be changed, is sent byte by byte; children that
 * stand twice are sent merged. */
static bool as_it_is(const struct sp_run *run, const struct spaa_format *f)
{
    return is_codeguru(f) && !run->own.n && !run->v.event && !run->v.metric &&
           !sp_diags_count(run->diags, SP_LOSS) && !run->diags->count[SP_W475];
}

static spaa_status convert(struct upload *u)
{
    struct sp_run *run = u->run;
    struct sp_write_opts w;
    spaa_status st = sp_run_write_opts(run, &w);
    if (st)
        return st;
    w.original = SP_ORIGINAL_UNUSED; /* the report is of what was chosen, not of the file */
    st = sp_output_memory(run->diags, &u->made);
    if (!st)
        st = sp_write_profile(run->profile, sp_format_by_name("codeguru"), &w, run->diags, u->made);
    if (!st)
        st = sp_output_commit(u->made);
    if (!st)
        u->body = sp_output_data(u->made, &u->body_n);
    return st;
}

/* What reading lost of a CodeGuru profile is not in what is made of it: the file is judged as well. */
static bool is_damaged(const struct upload *u)
{
    const struct sp_run *run = u->run;
    return u->made && is_codeguru(run->input) && sp_diags_count(run->diags, SP_LOSS);
}

/* Nothing is sent that would be refused, or taken and shown nowhere; what is a mere warning was said on
 * reading. */
static spaa_status validate(struct upload *u)
{
    struct sp_run *run = u->run;
    struct sp_input *in = NULL;
    struct sp_diags found;
    sp_diags_init(&found);
    spaa_status st = u->made ? sp_input_memory(u->body, u->body_n, "<body>", &found, &in) : SPAA_OK;
    if (!st && is_damaged(u))
        st = sp_format_by_name("codeguru")->validate(u->in, &found);
    if (!st && !sp_diags_count(&found, SP_ERROR))
        st = sp_format_by_name("codeguru")->validate(in ? in : u->in, &found);
    bool bad = sp_diags_count(&found, SP_ERROR) != 0;
    if (st || (bad && !run->v.force))
        sp_diags_merge(run->diags, &found);
    sp_input_close(in);
    sp_diags_free(&found);
    return st ? st : bad && !run->v.force ? SPAA_ERR_INPUT : SPAA_OK;
}

static int read_body(struct upload *u)
{
    struct sp_run *run = u->run;
    struct sp_read_opts opts;
    const char *path = run->files.v[1], *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    spaa_status st = sp_run_read_opts(run, &opts);
    if (st)
        return sp_run_exit(run, st);
    sp_diags_source(run->diags, name, NULL);
    st = sp_input_open(path, run->diags, &u->in);
    if (!st)
        st = sp_input_format(u->in, run->v.from, run->diags, &run->input);
    if (!st) {
        int rc = sp_run_check_own(run, sp_format_by_name("codeguru"));
        if (rc)
            return rc;
        sp_diags_source(run->diags, name, run->input->name);
        st = sp_read_profile(u->in, run->input, &opts, run->diags, &run->profile);
    }
    sp_diags_source(run->diags, NULL, NULL);
    if (!st && as_it_is(run, run->input)) {
        const unsigned char *p;
        st = sp_input_whole(u->in, &p, &u->body_n);
        u->body = p;
    } else if (!st) {
        st = convert(u);
    }
    if (!st)
        st = validate(u);
    return sp_run_exit(run, st);
}

/* ---- answers ---- */

/* All requests of one command have the time of --timeout together, from the first one on. */
static spaa_status send_request(struct upload *u, const struct sp_codeguru_request *r, struct sp_buf *answer)
{
    clock_gettime(CLOCK_MONOTONIC, &u->began);
    if (!u->service.deadline)
        u->service.deadline = sp_codeguru_clock() + 1000 * u->service.timeout;
    spaa_status st = sp_codeguru_send(&u->service, r, u->run->diags, answer);
    clear_line(u);
    return st;
}

struct listed {
    SP_VEC(struct sp_buf) starts;
    struct sp_buf next;
};

static void listed_free(struct listed *l)
{
    for (size_t i = 0; i < l->starts.n; i++)
        sp_buf_free(&l->starts.v[i]);
    sp_vec_free(&l->starts);
    sp_buf_free(&l->next);
}

/* {"start":"2026-01-01T00:00:00Z"}, or a number */
static bool read_start(struct sp_json *j, struct listed *l)
{
    struct sp_span key, v = {NULL, 0};
    if (!sp_json_object(j))
        return false;
    while (sp_json_key(j, &key)) {
        bool start = sp_span_is(key, "start");
        struct sp_buf b;
        if (!(sp_json_type(j) == SP_JSON_STRING ? sp_json_string_value(j, &v) : sp_json_skip(j, &v)))
            return false;
        if (!start)
            continue;
        sp_buf_init(&b, 4096);
        if (!sp_buf_add(&b, v.p, v.n) || !sp_vec_push(&l->starts, b)) {
            sp_buf_free(&b);
            return sp_json_fail(j, "out of memory");
        }
    }
    return !j->error;
}

static bool read_times(const struct sp_buf *body, struct listed *l)
{
    struct sp_json j;
    struct sp_span key, v;
    bool found = false;
    sp_buf_clear(&l->next);
    sp_json_init(&j, body->len ? body->data : "", body->len);
    if (sp_json_object(&j)) {
        while (sp_json_key(&j, &key)) {
            if (sp_span_is(key, "profileTimes") && sp_json_array(&j)) {
                found = true;
                while (sp_json_item(&j) && read_start(&j, l))
                    ;
            } else if (sp_span_is(key, "nextToken") && sp_json_type(&j) == SP_JSON_STRING) {
                if (sp_json_string_value(&j, &v))
                    sp_buf_add(&l->next, v.p, v.n);
            } else if (!sp_json_skip(&j, &v)) {
                break;
            }
        }
    }
    bool ok = found && sp_json_end(&j) && !l->next.failed;
    sp_json_free(&j);
    return ok;
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

static int post(struct upload *u, struct sp_jw *w)
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

static int cmd_upload_list(struct upload *u, struct listed *l)
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
        bool understood = !st && read_times(&answer, l);
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

static int verify(struct upload *u, struct sp_jw *w, bool first)
{
    struct sp_run *run = u->run;
    struct listed l = {0};
    sp_buf_init(&l.next, 64 << 10);
    int rc = SP_EXIT_FINE;
    if (run->v.dry_run && first) {
        struct sp_codeguru_request r;
        time_t now = time(NULL);
        spaa_status st = sp_codeguru_list(&u->service, now - LAST_HOUR, now, NULL, run->diags, &r);
        rc = st ? sp_run_exit(run, st) : sp_run_stdout(run);
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
    } else if (!run->v.dry_run) {
        rc = cmd_upload_list(u, &l);
        if (!rc)
            rc = sp_run_stdout(run);
        if (!rc && w && first) {
            sp_jw_init(w, run->out);
            sp_jw_open(w, NULL, '{');
            sp_jw_cstr(w, "schema", "spaa.upload/1");
            sp_jw_bool(w, "sent", false);
            sp_jw_cstr(w, "group", run->v.group);
            sp_jw_cstr(w, "region", u->service.region);
        }
        if (!rc && w)
            sp_jw_open(w, "profile_times", '[');
        else if (!rc)
            sp_printf(run->out, "%zu profiles of the last hour in %s%s\n", l.starts.n, run->v.group,
                      l.starts.n ? ", beginning at" : "; new ones appear after some minutes");
        for (size_t i = 0; !rc && i < l.starts.n; i++) {
            if (w)
                sp_jw_str(w, NULL, l.starts.v[i].data, l.starts.v[i].len);
            else
                sp_printf(run->out, "  %.*s\n", (int)l.starts.v[i].len,
                          l.starts.v[i].data ? l.starts.v[i].data : "");
        }
        if (!rc && w)
            sp_jw_close(w, ']');
    }
    listed_free(&l);
    return rc;
}

static int run_upload(struct upload *u)
{
    struct sp_run *run = u->run;
    struct sp_jw w;
    struct sp_jw *json = run->form == SP_FORM_JSON ? &w : NULL;
    int rc = check_names(u);
    if (!rc && !sp_http_available() && !run->v.dry_run) {
        sp_emit(run->diags, SP_E465, SP_AT_NOTHING, " ");
        return SP_EXIT_IO;
    }
    if (!rc)
        rc = find_service(u);
    if (rc)
        return rc;
    if (run->v.profile_token) {
        snprintf(u->token, sizeof u->token, "%s", run->v.profile_token);
    } else if (!sp_codeguru_token(u->token)) {
        sp_emit(run->diags, SP_E036, SP_AT_NOTHING, "the system has no random numbers; give --profile-token");
        return SP_EXIT_IO;
    }
    bool has_profile = run->files.n > 1;
    if (has_profile)
        rc = read_body(u);
    if (!rc && run->v.strict && sp_diags_count(run->diags, SP_LOSS))
        rc = SP_EXIT_IO;
    if (!rc && has_profile)
        rc = post(u, json);
    if (!rc && run->v.verify)
        rc = verify(u, json, !has_profile);
    if (run->out && json && !rc)
        sp_run_json_close(run, json);
    return rc;
}

int cmd_upload(void *cli, struct sp_run *run)
{
    struct upload u = {.cli = cli, .run = run};
    sp_aws_init(&u.aws, environment, NULL);
    sp_aws_keys_init(&u.keys);
    sp_buf_init(&u.endpoint, 4096);
    int rc = run_upload(&u);
    sp_output_close(u.made);
    sp_input_close(u.in);
    sp_aws_keys_free(&u.keys);
    sp_aws_free(&u.aws);
    sp_buf_free(&u.endpoint);
    return rc;
}
