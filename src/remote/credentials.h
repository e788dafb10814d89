/*
 * AWS credentials from where botocore looks for them, in its order, the first source that is configured:
 *
 *     environment        AWS_ACCESS_KEY_ID, …
 *     role_arn           of the profile: asked of the `aws` command
 *     web identity       AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN: STS
 *     sso_*              of the profile: asked of the `aws` command
 *     credentials file
 *     login_session, credential_process   of the profile: asked of the `aws` command
 *     config file
 *     container          AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, _FULL_URI: ECS, EKS
 *     instance metadata  EC2
 *
 * A source that is configured and fails ends the search, as in botocore: keys of somebody else are never
 * taken instead. Secrets are in no message, and in no argument of a process.
 */
#ifndef SP_CREDENTIALS_H
#define SP_CREDENTIALS_H

#include "remote/aws_profile.h"

struct sp_aws_keys {
    struct sp_buf access_key, secret_key, token; /* empty: not found */
    const char *source;                          /* where the keys came from; a literal, NULL: nowhere */
    struct sp_buf detail;                        /* more of it: a host, a role; may be empty */
    int64_t expires;                             /* seconds since 1970; INT64_MAX: not said */
    bool may_be_late; /* the source gives out keys past their time when it cannot do better */
};

void sp_aws_keys_init(struct sp_aws_keys *k);
void sp_aws_keys_free(struct sp_aws_keys *k); /* wipes them */

/*
 * region: for the address of STS. Nothing found is no error here: source stays NULL. Otherwise, reported:
 * SPAA_ERR_USAGE, a setting makes no sense; SPAA_ERR_IO, a source that is configured gave no keys.
 */
spaa_status sp_aws_keys_find(struct sp_aws *a, const char *region, struct sp_aws_keys *k, struct sp_diags *d);

/* "****************ABCD", as AWS tools show an access key id. */
void sp_aws_masked(const struct sp_aws_keys *k, char out[static 32]);
/* What a stranger says may repeat what it was sent: a secret is cut out of it. */
void sp_redact(struct sp_buf *text, const char *secret, size_t n);

#endif
