/* spaa upload: a profile to a service that keeps profiles. */
#include "upload.h"

#include <stdio.h>
#include <stdlib.h>

static const char *environment(const char *name, void *arg)
{
    (void)arg;
    return getenv(name);
}

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

static int find_region(struct upload *u, const char **region)
{
    struct sp_run *run = u->run;
    u->aws.ca_file = run->v.ca_file ? run->v.ca_file : sp_aws_variable(&u->aws, "AWS_CA_BUNDLE");
    spaa_status st = sp_aws_read(&u->aws, run->diags);
    if (st)
        return sp_run_exit(run, st);
    const char *other = NULL;
    *region = sp_aws_region(&u->aws, run->v.region, &other);
    if (other)
        sp_emit(run->diags, SP_W487, SP_AT_NOTHING, "%.63s; used is %.63s", other, *region);
    if (!*region || !**region) {
        if (*region && !run->v.region)
            sp_emit_hint(run->diags, SP_E462, SP_AT_NOTHING,
                         "unset it for another to count, or name one with --region", "%s is set, and empty",
                         getenv("AWS_DEFAULT_REGION") ? "AWS_DEFAULT_REGION" : "the profile's region");
        else
            sp_emit(run->diags, SP_E462, SP_AT_NOTHING, " ");
        return SP_EXIT_USAGE;
    }
    if (!sp_aws_is_region(*region))
        return sp_run_usage(run, "like eu-west-1", "there is no region \"%s\"", *region);
    return SP_EXIT_FINE;
}

static int find_keys(struct upload *u, const char *region)
{
    struct sp_run *run = u->run;
    spaa_status st = sp_aws_keys_find(&u->aws, region, &u->keys, run->diags);
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
    int rc = find_region(u, &region);
    if (rc)
        return rc;
    spaa_status st =
        sp_aws_endpoint(&u->aws, &sp_aws_codeguru, run->v.endpoint, region, &u->endpoint, run->diags);
    rc = st ? sp_run_exit(run, st) : find_keys(u, region);
    if (rc)
        return rc;
    u->service = (struct sp_codeguru){.endpoint = sp_buf_cstr(&u->endpoint.url),
                                      .endpoint_from = u->endpoint.from,
                                      .region = region,
                                      .group = run->v.group,
                                      .keys = &u->keys,
                                      .ca_file = u->aws.ca_file,
                                      .timeout = timeout,
                                      .retries = (unsigned)retries,
                                      .delay = (unsigned)delay,
                                      .progress = upload_show_sent,
                                      .waiting = upload_say_waiting,
                                      .arg = u};
    return SP_EXIT_FINE;
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
        rc = upload_read_body(u);
    if (!rc && run->v.strict && sp_diags_count(run->diags, SP_LOSS))
        rc = SP_EXIT_IO;
    if (!rc && has_profile)
        rc = upload_post(u, json);
    if (!rc && run->v.verify)
        rc = upload_verify(u, json, !has_profile);
    if (run->out && json && !rc)
        sp_run_json_close(run, json);
    return rc;
}

int cmd_upload(void *cli, struct sp_run *run)
{
    struct upload u = {.cli = cli, .run = run};
    sp_aws_init(&u.aws, environment, NULL);
    sp_aws_keys_init(&u.keys);
    sp_buf_init(&u.endpoint.url, 4096);
    int rc = run_upload(&u);
    sp_output_close(u.made);
    sp_input_close(u.in);
    sp_aws_keys_free(&u.keys);
    sp_aws_free(&u.aws);
    sp_buf_free(&u.endpoint.url);
    return rc;
}
