/*
 * Where a service of AWS is: the URL that the environment or the profile gives for it, else that of the
 * service's endpoint rules in a region, by botocore's.
 */
#ifndef SP_AWS_ENDPOINT_H
#define SP_AWS_ENDPOINT_H

#include "remote/aws_profile.h"

struct sp_aws_service {
    const char *name;      /* in AWS_ENDPOINT_URL_NAME, and in other case a key of [services …] */
    const char *host;      /* "NAME.REGION.SUFFIX"; with FIPS NAME-fips */
    const char *global;    /* the address of the region aws-global; NULL: as that of others */
    bool gov_without_fips; /* us-gov's own address is the one with FIPS */
};
extern const struct sp_aws_service sp_aws_codeguru, sp_aws_sts;

/* The URL, and for messages the setting that gave it. */
struct sp_aws_address {
    struct sp_buf url;
    char from[64];
};

/*
 * given: --endpoint, which goes before all that is configured, or NULL; none of these is checked to be a URL.
 * SPAA_ERR_USAGE, reported: a section of services that is named is not there, or the region has no address of
 * the kind that is configured.
 */
spaa_status sp_aws_endpoint(const struct sp_aws *a, const struct sp_aws_service *s, const char *given,
                            const char *region, struct sp_aws_address *out, struct sp_diags *d);

#endif
