// Calls that the C library declares only if its extensions are requested.

#pragma once

#include <spawn.h>

int syncline_pipe(int ends[2]);
int syncline_spawn_enter(posix_spawn_file_actions_t *actions, const char *directory);
int syncline_spawn_close_others(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, short *flags);
