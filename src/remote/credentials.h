/*
 * AWS credentials and the region, from where AWS tools look for them: the environment, then the shared
 * credentials and config files (INI).
 */
#ifndef SP_CREDENTIALS_H
#define SP_CREDENTIALS_H

#include "base/buf.h"
#include "base/diag.h"

struct sp_aws_keys {
    struct sp_buf access_key, secret_key, token, region; /* empty: not found */
    struct sp_buf other; /* how the profile gets its keys instead: "role_arn", "sso_session", … */
    const char *source;  /* where the keys came from; a literal, NULL: nowhere */
};

void sp_aws_keys_init(struct sp_aws_keys *k);
void sp_aws_keys_free(struct sp_aws_keys *k); /* wipes them */

/* A variable of the environment, or NULL. */
typedef const char *(*sp_getenv)(const char *name, void *arg);

/*
 * AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; else the profile AWS_PROFILE
 * (`default`) in AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials), then in AWS_CONFIG_FILE (~/.aws/config).
 * The region: AWS_REGION, AWS_DEFAULT_REGION, the profile's. Nothing found is no error here; a file that
 * cannot be read is as one that is not there, unless the environment names it.
 */
spaa_status sp_aws_keys_find(struct sp_aws_keys *k, sp_getenv get, void *arg, struct sp_diags *d);
/*
 * Takes what an INI text says of a profile and what was not known yet. `prefixed`: sections are called
 * "profile NAME" but for default, as in the config file. Returns whether there is such a profile.
 */
bool sp_aws_profile(struct sp_aws_keys *k, const char *text, size_t n, const char *profile, bool prefixed);

#endif
