#include "remote/aws_endpoint.h"

#include "remote/ini.h"

#include <stdio.h>
#include <strings.h>

const struct sp_aws_service sp_aws_codeguru = {"CODEGURUPROFILER", "codeguru-profiler", NULL, false},
                            sp_aws_sts = {"STS", "sts", "https://sts.amazonaws.com", true};

/* ---- configured ---- */

/* A switch: the variable, even an empty one, else the profile's setting. */
static bool is_on(const struct sp_aws *a, const char *variable, const char *key)
{
    const char *v = a->get(variable, a->arg);
    struct sp_span s = {v, v ? strlen(v) : 0};
    return (v || sp_aws_setting(a, SP_AWS_BOTH, key, &s)) && s.n == 4 && strncasecmp(s.p, "true", 4) == 0;
}

/* `endpoint_url` of the nested settings that a section [services NAME] has for a service; n 0: none. */
static spaa_status from_services(const struct sp_aws *a, const char *service, struct sp_span *url,
                                 struct sp_diags *d)
{
    struct sp_span s, nested;
    char name[256] = "";
    *url = (struct sp_span){NULL, 0};
    if (!sp_aws_setting(a, SP_AWS_BOTH, "services", &s))
        return SPAA_OK;
    bool fits = s.n < sizeof name;
    memcpy(name, s.p, fits ? s.n : 0);
    if (!fits || !a->config.len ||
        !sp_ini_find(a->config.data, a->config.len, "services", name, "", &nested)) {
        sp_emit_hint(d, SP_E037, SP_AT_NOTHING, "it names an address of the service; botocore stops, too",
                     "the profile \"%.100s\" has services = %.100s, and the config file nothing in [services "
                     "%.100s]",
                     a->profile, name, name);
        return SPAA_ERR_USAGE;
    }
    if (!sp_ini_find(a->config.data, a->config.len, "services", name, service, &nested))
        return SPAA_OK;
    if (!nested.n || (*nested.p != '\n' && *nested.p != '\r')) {
        sp_emit_hint(d, SP_E037, SP_AT_NOTHING,
                     "its own settings stand on lines below it, with blanks before",
                     "[services %.100s] has no settings of the service in it, but a value", name);
        return SPAA_ERR_USAGE;
    }
    if (!sp_ini_nested(nested, "endpoint_url", url))
        *url = (struct sp_span){NULL, 0};
    return SPAA_OK;
}

static spaa_status configured(const struct sp_aws *a, const char *service, struct sp_aws_address *out,
                              struct sp_diags *d)
{
    char *from = out->from;
    struct sp_span url = {NULL, 0};
    spaa_status st = SPAA_OK;
    if (is_on(a, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "ignore_configured_endpoint_urls"))
        return SPAA_OK;
    snprintf(from, sizeof out->from, "AWS_ENDPOINT_URL_%s", service);
    const char *v = sp_aws_variable(a, from);
    if (!v) {
        snprintf(from, sizeof out->from, "AWS_ENDPOINT_URL");
        v = sp_aws_variable(a, from);
    }
    if (!v)
        snprintf(from, sizeof out->from, "endpoint_url of the config file");
    if (v)
        url = (struct sp_span){v, strlen(v)};
    else
        st = from_services(a, service, &url, d);
    if (!st && (url.n || sp_aws_setting(a, SP_AWS_BOTH, "endpoint_url", &url)))
        sp_buf_add(&out->url, url.p, url.n);
    return st;
}

/* ---- by region ---- */

/* What botocore knows (1.44: partitions.json, and endpoints.json for the ones that have no dual stack). */
static const struct partition {
    const char *id, *prefix;  /* regions: PREFIX-WORD-NUMBER, and ID-global */
    const char *suffix, *api; /* of hosts; with dual stack, NULL: there is none */
} partitions[] = {
    {"aws-cn", "cn", "amazonaws.com.cn", "api.amazonwebservices.com.cn"},
    {"aws-us-gov", "us-gov", "amazonaws.com", "api.aws"},
    {"aws-eusc", "eusc-de", "amazonaws.eu", "api.amazonwebservices.eu"},
    {"aws-iso", "us-iso", "c2s.ic.gov", "api.aws.ic.gov"},
    {"aws-iso-b", "us-isob", "sc2s.sgov.gov", "api.aws.scloud"},
    {"aws-iso-e", "eu-isoe", "cloud.adc-e.uk", NULL},
    {"aws-iso-f", "us-isof", "csp.hci.ic.gov", NULL},
    {"aws", "", "amazonaws.com", "api.aws"}, /* any other */
};

static bool is_in(const struct partition *p, const char *region)
{
    size_t id = strlen(p->id), n = strlen(p->prefix);
    if (strncmp(region, p->id, id) == 0 && strcmp(region + id, "-global") == 0)
        return true;
    if (strncmp(region, p->prefix, n) != 0 || region[n] != '-')
        return false;
    const char *word = region + n + 1, *number = strchr(word, '-');
    size_t digits = number ? strspn(number + 1, "0123456789") : 0;
    return digits && number > word && !number[1 + digits];
}

static const struct partition *partition_of(const char *region)
{
    const struct partition *p = partitions;
    while (*p->prefix && !is_in(p, region))
        p++;
    return p;
}

static spaa_status by_rules(const struct sp_aws *a, const struct sp_aws_service *s, const char *region,
                            struct sp_buf *url, struct sp_diags *d)
{
    bool dual = is_on(a, "AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint"),
         fips = a->fips || is_on(a, "AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint");
    const struct partition *p = partition_of(region);
    const char *suffix = dual ? p->api : p->suffix;
    if (!suffix) {
        sp_emit_hint(d, SP_E037, SP_AT_NOTHING, "unset it, or name the address with --endpoint",
                     "a dual-stack address is configured, and of %s none is known (use_dualstack_endpoint)",
                     p->id);
        return SPAA_ERR_USAGE;
    }
    if (s->global && !dual && !fips && strcmp(region, "aws-global") == 0) {
        sp_buf_puts(url, s->global);
        return SPAA_OK;
    }
    if (fips && !dual && s->gov_without_fips && strcmp(p->id, "aws-us-gov") == 0)
        fips = false;
    sp_buf_printf(url, "https://%s%s.%s.%s", s->host, fips ? "-fips" : "", region, suffix);
    return SPAA_OK;
}

spaa_status sp_aws_endpoint(const struct sp_aws *a, const struct sp_aws_service *s, const char *given,
                            const char *region, struct sp_aws_address *out, struct sp_diags *d)
{
    sp_buf_clear(&out->url);
    snprintf(out->from, sizeof out->from, "--endpoint");
    if (given)
        sp_buf_puts(&out->url, given);
    spaa_status st = given ? SPAA_OK : configured(a, s->name, out, d);
    if (!st && !given && !out->url.len) {
        snprintf(out->from, sizeof out->from, "the region's address");
        st = by_rules(a, s, region, &out->url, d);
    }
    sp_buf_cstr(&out->url);
    return st ? st : out->url.failed ? sp_nomem(d) : SPAA_OK;
}
