#define _GNU_SOURCE
#include "CSpawn.h"

#include <fcntl.h>
#include <unistd.h>

/// A pipe that no other child inherits.
int syncline_pipe(int ends[2]) {
#ifdef __APPLE__
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#else
    return pipe2(ends, O_CLOEXEC);
#endif
}

int syncline_spawn_enter(posix_spawn_file_actions_t *actions, const char *directory) {
    return posix_spawn_file_actions_addchdir_np(actions, directory);
}

/// Closes all descriptors in the child but the first three.
int syncline_spawn_close_others(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, short *flags) {
#ifdef __APPLE__
    *flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
    return 0;
#else
    return posix_spawn_file_actions_addclosefrom_np(actions, 3);
#endif
}
