// libmicrohttpd starts a daemon and describes a connection through `...`, which Swift can't call: a function for each.

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

// Signatures with `void` pointers, as Swift's callbacks have them.
typedef enum MHD_Result (*syncline_mhd_request)(void *context, struct MHD_Connection *connection, const char *url,
                                                const char *method, const char *version, const char *body,
                                                size_t *body_size, void **request_context);

static inline struct MHD_Daemon *syncline_mhd_start(unsigned int flags, syncline_mhd_request answer, void *context,
                                                    struct MHD_OptionItem *options) {
    return MHD_start_daemon(flags, 0, NULL, NULL, answer, context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

// What was put into the connection's slot when it began.
static inline void *syncline_mhd_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

// The library makes an object of each parameter, in the room for the request's head, and gives no answer if there is not
// enough room. It has noted where the parameters begin, and now finds none; the target was copied before.
static inline void syncline_mhd_hide_parameters(const char *target) {
    char *mark = strchr((char *)target, '?');
    if (mark != NULL && mark[1] != 0) mark[1] = 0;
}

static inline int syncline_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

static inline int syncline_mhd_set_timeout(struct MHD_Connection *connection, unsigned int seconds) {
    return MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds) == MHD_YES;
}
