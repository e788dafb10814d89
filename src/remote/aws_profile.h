/*
 * What the environment and the two files of AWS tools (remote/ini.h: ~/.aws/credentials, ~/.aws/config) say
 * of one profile, by botocore's rules: settings of both are one profile's, those of the credentials file
 * first.
 */
#ifndef SP_AWS_PROFILE_H
#define SP_AWS_PROFILE_H

#include "base/buf.h"
#include "base/diag.h"
#include "json/json.h"

/* A variable of the environment, or NULL. */
typedef const char *(*sp_getenv)(const char *name, void *arg);

struct sp_aws {
    sp_getenv get;
    void *arg;
    const char *profile;                /* its name */
    struct sp_buf credentials, config;  /* the texts of the files; empty: there is none */
    struct sp_buf region, session_name; /* texts lent to others */
    bool fips;                          /* the region was one of the names that ask for FIPS */
    const char *ca_file;                /* for requests of credentials; NULL: the system's */
};

void sp_aws_init(struct sp_aws *a, sp_getenv get, void *arg);
void sp_aws_free(struct sp_aws *a); /* wipes the texts */
/*
 * Reads the files: AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE, else those of the home directory. One
 * that cannot be opened is as one that is not there, reported where the environment names it. SPAA_ERR_IO,
 * reported: one cannot be understood; SPAA_ERR_USAGE, reported: AWS_DEFAULT_PROFILE or AWS_PROFILE names a
 * profile that is in neither.
 */
spaa_status sp_aws_read(struct sp_aws *a, struct sp_diags *d);

/* A variable that is set and not empty, or NULL. */
const char *sp_aws_variable(const struct sp_aws *a, const char *name);

enum sp_aws_file { SP_AWS_CREDENTIALS = 1, SP_AWS_CONFIG = 2, SP_AWS_BOTH = 3 };
/* The value of a profile's setting; false: it has none. A span of the texts. */
bool sp_aws_setting(const struct sp_aws *a, enum sp_aws_file in, const char *key, struct sp_span *value);
/* The variable, else the setting, appended where one has a value; false: neither. */
bool sp_aws_configured(const struct sp_aws *a, const char *variable, const char *key, struct sp_buf *out);
/*
 * The region, or NULL: the one that is given (NULL: none), AWS_DEFAULT_REGION, the profile's, as botocore;
 * last AWS_REGION, which that does not know. "": the first of the last three that is set has nothing, and
 * botocore looks no further. "fips-us-east-1" and "us-east-1-fips" are us-east-1, and a->fips is set. *other:
 * AWS_REGION, where it says something else than what counts, and none is given; else NULL.
 */
const char *sp_aws_region(struct sp_aws *a, const char *given, const char **other);
/* What can be a part of a host's name: letters, digits and `-`. */
bool sp_aws_is_region(const char *s);

#endif
