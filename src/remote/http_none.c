/* A build without libcurl. */
#include "remote/http.h"

#include <stdio.h>

bool sp_http_available(void)
{
    return false;
}

enum sp_http_result sp_http_send(const struct sp_http_request *r, struct sp_http_response *response,
                                 char why[static 256])
{
    (void)r;
    *response = (struct sp_http_response){.retry_after = -1};
    sp_buf_init(&response->body, 0);
    snprintf(why, 256, "built without libcurl");
    return SP_HTTP_NEVER;
}
