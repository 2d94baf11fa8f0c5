// libcurl's settings and questions take their value as `...`, which Swift can't call: one function for each type.

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

typedef size_t (*syncline_curl_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode syncline_curl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode syncline_curl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode syncline_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode syncline_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode syncline_curl_set_headers(CURL *easy, struct curl_slist *value) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, value);
}

static inline CURLcode syncline_curl_set_callback(CURL *easy, CURLoption option, syncline_curl_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// Of all that libcurl speaks, HTTP only.
static inline CURLcode syncline_curl_allow_http_only(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static inline long syncline_curl_status(CURL *easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

// The transfer that a message of a multi handle says has ended, and how; NULL for another kind of message.
static inline CURL *syncline_curl_ended(const CURLMsg *message, CURLcode *result) {
    if (message->msg != CURLMSG_DONE) return NULL;
    *result = message->data.result;
    return message->easy_handle;
}

static inline void syncline_curl_global_init(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
}
