// libmicrohttpd starts a daemon and tells of a connection through `...`, which Swift can't call: a function for each.

#include <microhttpd.h>
#include <sys/socket.h>

// Signatures with `void` pointers, as Swift's callbacks have them.
typedef enum MHD_Result (*syncline_mhd_request)(void *context, struct MHD_Connection *connection, const char *url,
                                                const char *method, const char *version, const char *body,
                                                size_t *body_size, void **request_context);

static inline struct MHD_Daemon *syncline_mhd_start(unsigned int flags, syncline_mhd_request answer, void *context,
                                                    struct MHD_OptionItem *options) {
    return MHD_start_daemon(flags, 0, NULL, NULL, answer, context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static inline unsigned int syncline_mhd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

static inline unsigned int syncline_mhd_connections(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info == NULL ? 0 : info->num_connections;
}

static inline const struct sockaddr *syncline_mhd_client(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

static inline int syncline_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

static inline int syncline_mhd_set_timeout(struct MHD_Connection *connection, unsigned int seconds) {
    return MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds) == MHD_YES;
}
