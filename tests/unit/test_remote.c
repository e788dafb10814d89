/* Signing and credentials. The signatures are the published ones of AWS's test suite (aws-sig-v4-test-suite).
 */
#include "remote/codeguru.h"
#include "remote/credentials.h"
#include "remote/ini.h"
#include "remote/sigv4.h"
#include "remote/url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SHA256_OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void digests(void **state)
{
    (void)state;
    char text[2 * SP_SHA256 + 1];
    sp_sha256_hex("", 0, text);
    assert_string_equal(text, SHA256_OF_NOTHING);
    sp_sha256_hex("abc", 3, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    sp_sha256_hex(two, sizeof two - 1, text);
    assert_string_equal(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *many = malloc(1000000);
    assert_non_null(many);
    memset(many, 'a', 1000000);
    sp_sha256_hex(many, 1000000, text);
    assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(many);
}

static void check_hmac(const void *key, size_t key_n, const char *data, const char *want)
{
    unsigned char out[SP_SHA256];
    sp_hmac_sha256(key, key_n, data, strlen(data), out);
    for (size_t i = 0; i < sizeof out; i++) {
        char byte[3];
        snprintf(byte, sizeof byte, "%02x", out[i]);
        assert_memory_equal(byte, want + 2 * i, 2);
    }
}

/* RFC 4231, cases 1, 2 and 6 */
static void keyed_digests(void **state)
{
    (void)state;
    unsigned char key[131];
    memset(key, 0x0b, 20);
    check_hmac(key, 20, "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    check_hmac("Jefe", 4, "what do ya want for nothing?",
               "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    check_hmac(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First",
               "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

struct vector {
    const char *name, *method, *path, *query;
    struct sp_http_header headers[4];
    const char *body, *signature;
};

static const struct vector vectors[] = {
    {"get-vanilla",
     "GET",
     "/",
     "",
     {{0}},
     "",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-query-order-key-case",
     "GET",
     "/",
     "Param1=value1&Param2=value2",
     {{0}},
     "",
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"post-vanilla",
     "POST",
     "/",
     "",
     {{0}},
     "",
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-x-www-form-urlencoded",
     "POST",
     "/",
     "",
     {{"content-type", "application/x-www-form-urlencoded"}},
     "Param1=value1",
     "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
};

static void the_published_signatures(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct vector *v = &vectors[i];
        struct sp_http_header headers[6];
        size_t n = 0;
        char hash[2 * SP_SHA256 + 1];
        struct sp_buf out;
        if (v->headers[0].name)
            headers[n++] = v->headers[0];
        headers[n++] = (struct sp_http_header){"host", "example.amazonaws.com"};
        headers[n++] = (struct sp_http_header){"x-amz-date", "20150830T123600Z"};
        sp_sha256_hex(v->body, strlen(v->body), hash);
        struct sp_sigv4 r = {v->method,
                             v->path,
                             v->query,
                             headers,
                             n,
                             hash,
                             "20150830T123600Z",
                             "us-east-1",
                             "service",
                             "AKIDEXAMPLE",
                             "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
        sp_buf_init(&out, 0);
        assert_true(sp_sigv4_authorization(&r, &out));
        const char *text = sp_buf_cstr(&out), *signature = strstr(text, "Signature=");
        assert_non_null(signature);
        if (strcmp(signature + 10, v->signature) != 0)
            fail_msg("%s: %s", v->name, text);
        static const char begin[] =
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ";
        assert_memory_equal(text, begin, sizeof begin - 1);
        sp_buf_free(&out);
    }
}

static void values_are_trimmed_and_paths_encoded_twice(void **state)
{
    (void)state;
    struct sp_http_header headers[] = {{"host", "h"}, {"my-header", "  a   b\t c  "}};
    struct sp_sigv4 r = {"GET", "/a%20b/c", "x=1", headers, 2, SHA256_OF_NOTHING, "20150830T123600Z",
                         "r",   "s",        "k",   "x"};
    struct sp_buf out;
    sp_buf_init(&out, 0);
    assert_true(sp_sigv4_canonical(&r, &out));
    assert_string_equal(
        sp_buf_cstr(&out),
        "GET\n/a%2520b/c\nx=1\nhost:h\nmy-header:a b c\n\nhost;my-header\n" SHA256_OF_NOTHING);
    static const char *const paths[][2] = {/* as botocore's normalize_url_path */
                                           {"", "/"},           {"/", "/"},
                                           {"//", "/"},         {"/.", "/"},
                                           {"/..", "/"},        {"//a", "/a"},
                                           {"/a//b/", "/a/b/"}, {"/a/../b", "/b"},
                                           {"/a/..", "/"},      {"/../a/./b", "/a/b"},
                                           {"/a/../", "/"},     {"/a/b/../../c", "/c"},
                                           {"/...", "/..."},    {"/.a/..b", "/.a/..b"},
                                           {"/a/b/..", "/a"},   {"/a/.", "/a"}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char want[64];
        snprintf(want, sizeof want, "GET\n%s\nx=1\n", paths[i][1]);
        r.path = paths[i][0];
        sp_buf_clear(&out);
        assert_true(sp_sigv4_canonical(&r, &out));
        assert_memory_equal(out.data, want, strlen(want));
    }
    sp_buf_clear(&out);
    sp_uri_encode(&out, "a b/c~é+", true);
    assert_string_equal(sp_buf_cstr(&out), "a%20b/c~%C3%A9%2B");
    sp_buf_clear(&out);
    sp_uri_encode(&out, "a/b:c", false);
    assert_string_equal(sp_buf_cstr(&out), "a%2Fb%3Ac");
    sp_buf_free(&out);
}

static void check(struct sp_buf *b, const char *want)
{
    assert_string_equal(b->len ? sp_buf_cstr(b) : "", want);
}

static const char credentials[] = "# comment\n"
                                  "[default]\n"
                                  "aws_access_key_id = AKID1\r\n"
                                  "aws_secret_access_key=secret=with=equals\n"
                                  "\n"
                                  "[work]\n"
                                  "  nested = 1\n"
                                  "aws_access_key_id=AKID2\n"
                                  "aws_secret_access_key = s2 \n"
                                  "aws_session_token = t2\n"
                                  "[half]\n"
                                  "aws_access_key_id=AKID3\n"
                                  "[last]\n"
                                  "aws_access_key_id=AKID4\n"
                                  "s3 =\n"
                                  "  aws_access_key_id = no\n"
                                  "aws_secret_access_key=s4";
static const char config[] =
    "[default]\nregion = eu-west-1\n[profile work]\nregion=us-east-2\n; x\n[work]\nregion=wrong\n"
    "[profile half]\naws_access_key_id=AKID5\naws_secret_access_key=s5\n"
    "[profile sso]\nsso_session = x\n[profile  wide ]\nregion=r\n";

static void check_setting(const char *text, const char *kind, const char *name, const char *key,
                          const char *want)
{
    struct sp_span v = {NULL, 0};
    bool found = sp_ini_find(text, strlen(text), kind, name, key, &v);
    assert_int_equal(found, want != NULL);
    if (want) {
        assert_int_equal(v.n, strlen(want));
        assert_memory_equal(v.p, want, v.n);
    }
}

static void settings_of_files(void **state)
{
    (void)state;
    struct {
        const char *text, *kind, *name, *key, *want;
    } cases[] = {
        {credentials, NULL, "default", "aws_access_key_id", "AKID1"},
        {credentials, NULL, "default", "aws_secret_access_key", "secret=with=equals"},
        {credentials, NULL, "work", "AWS_Secret_Access_Key", "s2"},
        {credentials, NULL, "work", "nested", "1"},
        {credentials, NULL, "half", "aws_secret_access_key", NULL},
        {credentials, NULL, "last", "aws_access_key_id", "AKID4"},
        {credentials, NULL, "last", "aws_secret_access_key", "s4"},
        {credentials, NULL, "none", "aws_access_key_id", NULL},
        {config, "profile", "default", "region", "eu-west-1"},
        {config, "profile", "work", "region", "us-east-2"},
        {config, "profile", "wide", "region", "r"},
        {config, "profile", "none", "region", NULL},
        {"[profile 'a b']\nregion : x\n", "profile", "a b", "region", "x"},
        {"[services s]\nsts =\n  # no\n  endpoint_url = u\n\n", "services", "s", "sts",
         "\n  # no\n  endpoint_url = u"},
        {"[default]\nregion=a\n[profile 'default']\nregion=b", "profile", "default", "region", "b"},
        {"[default]\nregion=a\n[profile default]\n", "profile", "default", "region", NULL},
        {"[DEFAULT]\nregion=a\n[profile x]\n", "profile", "x", "region", "a"},
        {"[DEFAULT]\nregion=a\n[profile x]\nregion=b", "profile", "x", "region", "b"},
        {"[DEFAULT]\nregion=a\n", NULL, "DEFAULT", "region", NULL},
        {"[profile a\\'b]\rregion=a\r", "profile", "a'b", "region", "a"},
        {"[profile a\"b\\\"\\c\"]\nregion=a", "profile", "ab\"\\c", "region", "a"},
        {"[profile 'a]\nregion=a", "profile", "'a", "region", NULL},
        {"[profile a b]\nregion=a", "profile", "a", "region", NULL},
        {"[ default ]\nregion=a", NULL, "default", "region", NULL},
        {"[default]\nregion=a\n  b\n", NULL, "default", "region", "a\n  b"},
        {"[default]\nregion=", "profile", "default", "region", ""},
        {"[default\nregion=a", "profile", "default", "region", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_setting(cases[i].text, cases[i].kind, cases[i].name, cases[i].key, cases[i].want);
}

/* What configparser and botocore refuse, and what they take. */
static void files_that_are_refused(void **state)
{
    (void)state;
    struct {
        const char *text;
        uint64_t line; /* 0: fine */
    } cases[] = {
        {"", 0},
        {"# x\n\n[a]\nk=v\n[b]\nk=v\n", 0},
        {"[a]\nk=v\n  more\n\n  and more = x\nl:\n  n = 1\n  # c\n  m=\n", 0},
        {"[DEFAULT]\nk=v\n[DEFAULT]\nl=v\n", 0},
        {"\xef\xbb\xbf[a]\nk=v\n", 1},
        {"\xff\xfe[", 1},
        {"[a]\nk=v\n# \xe9\n", 3},
        {"k=v\n[a]\n", 1},
        {"# x\r\n[a]\r\nk=v\r\nK = w\r\n", 4},
        {"[a]\nk=v\n\n[b]\n[a]\n", 5},
        {"[DEFAULT]\nk=v\n[DEFAULT]\nk=v\n", 4},
        {"[a]\nk=v\nword\n", 3},
        {"[a]\n=v\n", 2},
        {"[a\nk=v\n", 1},
        {"[]\n", 1},
        {"[a]\nk=\n  x = y\n\n  z\n", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t line = 77;
        const char *why = NULL;
        spaa_status st = sp_ini_check(cases[i].text, strlen(cases[i].text), &line, &why);
        assert_int_equal(st, cases[i].line ? SPAA_ERR_INPUT : SPAA_OK);
        assert_int_equal(line, cases[i].line);
        assert_int_equal(why != NULL, cases[i].line != 0);
    }
}

static const char *variables(const char *name, void *arg)
{
    for (const char *const *v = arg; *v; v += 2)
        if (strcmp(*v, name) == 0)
            return v[1];
    return NULL;
}

static void the_environment_comes_first(void **state)
{
    (void)state;
    const char *env[] = {"AWS_ACCESS_KEY_ID",
                         "ID",
                         "AWS_SECRET_ACCESS_KEY",
                         "S",
                         "AWS_SESSION_TOKEN",
                         "",
                         "AWS_DEFAULT_REGION",
                         "r1",
                         "HOME",
                         "/nowhere",
                         NULL};
    struct sp_aws a;
    struct sp_aws_keys k;
    struct sp_diags d;
    char masked[32];
    sp_diags_init(&d);
    sp_aws_init(&a, variables, env);
    sp_aws_keys_init(&k);
    assert_int_equal(sp_aws_read(&a, &d), SPAA_OK);
    const char *other = NULL;
    assert_string_equal(sp_aws_region(&a, NULL, &other), "r1");
    assert_null(other);
    assert_int_equal(sp_aws_keys_find(&a, "r1", &k, &d), SPAA_OK);
    check(&k.access_key, "ID");
    check(&k.token, "");
    assert_string_equal(k.source, "environment");
    sp_aws_masked(&k, masked); /* of a short one, nothing */
    assert_string_equal(masked, "****************");
    sp_aws_keys_free(&k);
    sp_aws_free(&a);
    const char *nothing[] = {"HOME", "/nowhere", "AWS_EC2_METADATA_DISABLED", "True", "AWS_PROFILE",
                             "x",    NULL};
    sp_aws_init(&a, variables, nothing);
    assert_int_equal(sp_aws_read(&a, &d), SPAA_ERR_USAGE);
    sp_aws_free(&a);
    nothing[4] = NULL; /* AWS_PROFILE is the last */
    sp_aws_init(&a, variables, nothing);
    sp_aws_keys_init(&k);
    assert_int_equal(sp_aws_read(&a, &d), SPAA_OK);
    assert_int_equal(sp_aws_keys_find(&a, "r", &k, &d), SPAA_OK);
    assert_null(k.source);
    sp_aws_keys_free(&k);
    sp_aws_free(&a);
    sp_diags_free(&d);
}

static void passwords_in_urls(void **state)
{
    (void)state;
    static const struct {
        const char *url, *shown;
    } all[] = {{"https://user:PW@host/x", "https://***@host/x"},
               {"http://user:PW/1@host", "http://***@host"},
               {"http://u:P@W#1@host:99999", "http://***@host:99999"},
               {"user:PW@host", "***@host"},
               {"https:/user:PW@host", "***@host"},
               {"u:PW://x@host", "***@host"},
               {"https://host/path", "https://host/path"},
               {"http://@host", "http://@host"},
               {"", ""}};
    char shown[64];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (i != 5) /* either way the password is not shown */
            assert_string_equal(sp_url_masked(all[i].url, shown, sizeof shown), all[i].shown);
    assert_string_equal(sp_url_masked("http://u:p@a-long-host", shown, 12), "http://***@");
    assert_true(sp_url_user_is_told("http://me:123/4@host", "Failed to connect to me port 123"));
    assert_false(sp_url_user_is_told("http://me:123@host", "Failed to connect to me port 123"));
    assert_false(sp_url_user_is_told("http://me:123/4@host", "no such host"));
}

static void requests(void **state)
{
    (void)state;
    struct sp_aws_keys k;
    struct sp_diags d;
    struct sp_codeguru_request r;
    sp_diags_init(&d);
    sp_aws_keys_init(&k);
    struct sp_codeguru s = {.endpoint = "https://codeguru-profiler.eu-west-1.amazonaws.com",
                            .region = "eu-west-1",
                            .group = "g-1_x",
                            .keys = &k};
    assert_int_equal(sp_codeguru_post(&s, "tok", "{}", 2, &d, &r), SPAA_OK);
    check(&r.url, "https://codeguru-profiler.eu-west-1.amazonaws.com/profilingGroups/g-1_x/"
                  "agentProfile?profileToken=tok");
    check(&r.host, "codeguru-profiler.eu-west-1.amazonaws.com");
    sp_codeguru_request_free(&r);
    s.endpoint = "http://[::1]:8080/base//";
    assert_int_equal(sp_codeguru_list(&s, 0, 3600, "a/b=", &d, &r), SPAA_OK);
    check(&r.url,
          "http://[::1]:8080/base/profilingGroups/g-1_x/profileTimes?endTime=1970-01-01T01%3A00%3A00Z&"
          "nextToken=a%2Fb%3D&period=PT5M&startTime=1970-01-01T00%3A00%3A00Z");
    sp_codeguru_request_free(&r);
    const char *bad[] = {"",
                         "host",
                         "ftp://x",
                         "https://",
                         "https://u:p@h",
                         "https://h/?x",
                         "http://h h",
                         "http://h/\303\274",
                         "http://h/a|b",
                         "http://h/a^b",
                         "http://h/[a]",
                         "http://h/a{b}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        s.endpoint = bad[i];
        assert_int_equal(sp_codeguru_post(&s, "tok", "{}", 2, &d, &r), SPAA_ERR_USAGE);
    }
    sp_aws_keys_free(&k);
    sp_diags_free(&d);
}

/* Addresses by region, as botocore 1.44 has them; NULL: an error. */
static const struct {
    const char *region, *plain, *fips, *dual, *both;
} addresses[] = {
#define IN(region, plain, dual)                                                                              \
    {                                                                                                        \
        region, "https://codeguru-profiler." plain, "https://codeguru-profiler-fips." plain,                 \
            "https://codeguru-profiler." dual, "https://codeguru-profiler-fips." dual                        \
    }
    IN("eu-west-1", "eu-west-1.amazonaws.com", "eu-west-1.api.aws"),
    IN("US-EAST-1", "US-EAST-1.amazonaws.com", "US-EAST-1.api.aws"),
    IN("aws-global", "aws-global.amazonaws.com", "aws-global.api.aws"),
    IN("local", "local.amazonaws.com", "local.api.aws"),
    IN("cn-north-1", "cn-north-1.amazonaws.com.cn", "cn-north-1.api.amazonwebservices.com.cn"),
    IN("aws-cn-global", "aws-cn-global.amazonaws.com.cn", "aws-cn-global.api.amazonwebservices.com.cn"),
    IN("cn-north", "cn-north.amazonaws.com", "cn-north.api.aws"),
    IN("cn-north-1-2", "cn-north-1-2.amazonaws.com", "cn-north-1-2.api.aws"),
    IN("cn--1", "cn--1.amazonaws.com", "cn--1.api.aws"),
    IN("us-gov-west-1", "us-gov-west-1.amazonaws.com", "us-gov-west-1.api.aws"),
    IN("us-iso-east-1", "us-iso-east-1.c2s.ic.gov", "us-iso-east-1.api.aws.ic.gov"),
    IN("us-isob-east-1", "us-isob-east-1.sc2s.sgov.gov", "us-isob-east-1.api.aws.scloud"),
    IN("eusc-de-east-1", "eusc-de-east-1.amazonaws.eu", "eusc-de-east-1.api.amazonwebservices.eu"),
    IN("eusc-fr-east-1", "eusc-fr-east-1.amazonaws.com", "eusc-fr-east-1.api.aws"),
    {"eu-isoe-west-1", "https://codeguru-profiler.eu-isoe-west-1.cloud.adc-e.uk",
     "https://codeguru-profiler-fips.eu-isoe-west-1.cloud.adc-e.uk", NULL, NULL},
    {"us-isof-south-1", "https://codeguru-profiler.us-isof-south-1.csp.hci.ic.gov",
     "https://codeguru-profiler-fips.us-isof-south-1.csp.hci.ic.gov", NULL, NULL},
#undef IN
};

static void endpoint_is(const char *const *env, const struct sp_aws_service *service, const char *region,
                        const char *want)
{
    struct sp_aws a;
    struct sp_diags d;
    struct sp_aws_address at;
    const char *other;
    sp_diags_init(&d);
    sp_buf_init(&at.url, 4096);
    sp_aws_init(&a, variables, (void *)(uintptr_t)env);
    region = sp_aws_region(&a, region, &other);
    assert_int_equal(sp_aws_endpoint(&a, service, NULL, region, &at, &d), want ? SPAA_OK : SPAA_ERR_USAGE);
    if (want)
        check(&at.url, want);
    sp_aws_free(&a);
    sp_buf_free(&at.url);
    sp_diags_free(&d);
}

static void endpoints_of_regions(void **state)
{
    (void)state;
    const char *plain[] = {"AWS_USE_FIPS_ENDPOINT", "", NULL},
               *fips[] = {"AWS_USE_FIPS_ENDPOINT", "TRUE", "AWS_USE_DUALSTACK_ENDPOINT", "1", NULL},
               *dual[] = {"AWS_USE_DUALSTACK_ENDPOINT", "true", NULL},
               *both[] = {"AWS_USE_DUALSTACK_ENDPOINT", "true", "AWS_USE_FIPS_ENDPOINT", "true", NULL};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        endpoint_is(plain, &sp_aws_codeguru, addresses[i].region, addresses[i].plain);
        endpoint_is(fips, &sp_aws_codeguru, addresses[i].region, addresses[i].fips);
        endpoint_is(dual, &sp_aws_codeguru, addresses[i].region, addresses[i].dual);
        endpoint_is(both, &sp_aws_codeguru, addresses[i].region, addresses[i].both);
    }
    endpoint_is(plain, &sp_aws_codeguru, "fips-us-east-1",
                "https://codeguru-profiler-fips.us-east-1.amazonaws.com");
    endpoint_is(dual, &sp_aws_codeguru, "us-east-1-fips", "https://codeguru-profiler-fips.us-east-1.api.aws");
    endpoint_is(plain, &sp_aws_sts, "aws-global", "https://sts.amazonaws.com");
    endpoint_is(fips, &sp_aws_sts, "us-west-2", "https://sts-fips.us-west-2.amazonaws.com");
    endpoint_is(fips, &sp_aws_sts, "us-gov-west-1", "https://sts.us-gov-west-1.amazonaws.com");
    endpoint_is(both, &sp_aws_sts, "us-gov-west-1", "https://sts-fips.us-gov-west-1.api.aws");
    endpoint_is(plain, &sp_aws_sts, "cn-north-1", "https://sts.cn-north-1.amazonaws.com.cn");
}

static void tokens_are_random_uuids(void **state)
{
    (void)state;
    char a[37], b[37];
    assert_true(sp_codeguru_token(a));
    assert_true(sp_codeguru_token(b));
    assert_string_not_equal(a, b);
    assert_int_equal(strlen(a), 36);
    assert_true(a[8] == '-' && a[13] == '-' && a[14] == '4' && a[18] == '-' && a[23] == '-' &&
                strchr("89ab", a[19]));
    assert_true(sp_codeguru_name(a, 64));
    assert_false(sp_codeguru_name("", 64));
    assert_false(sp_codeguru_name("a b", 64));
    assert_false(sp_codeguru_name("abc", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests),
        cmocka_unit_test(keyed_digests),
        cmocka_unit_test(the_published_signatures),
        cmocka_unit_test(values_are_trimmed_and_paths_encoded_twice),
        cmocka_unit_test(settings_of_files),
        cmocka_unit_test(files_that_are_refused),
        cmocka_unit_test(the_environment_comes_first),
        cmocka_unit_test(passwords_in_urls),
        cmocka_unit_test(requests),
        cmocka_unit_test(endpoints_of_regions),
        cmocka_unit_test(tokens_are_random_uuids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
