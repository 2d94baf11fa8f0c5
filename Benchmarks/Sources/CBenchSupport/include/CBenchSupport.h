// What the benchmark needs from C: an exact count of sync calls, the bare group commit that serves as the floor, and
// a bare CRC32C.
#ifndef CBENCHSUPPORT_H
#define CBENCHSUPPORT_H

#include <stddef.h>
#include <stdint.h>

/// How often this process called fsync or fdatasync, from whatever library.
uint64_t cbench_sync_calls(void);

/// Writes everything the file system of `fd` holds in memory to the device.
int cbench_sync_filesystem(int fd);

/// Has the system kill this process when its parent ends.
void cbench_die_with_parent(void);

/// One stream of CRC32C over a buffer, by the processor's instruction; 0 if it has none.
uint32_t cbench_crc32c(const void *bytes, size_t length);

/// A file of zeros that threads commit into together: the least that any log must do.
typedef struct cbench_floor cbench_floor;

/// Opens it and writes `capacity` zeros, durably. NULL on failure, with errno set.
cbench_floor *cbench_floor_open(const char *path, size_t capacity);

/// Adds bytes and returns once they are written and, if `durable`, synced; -1 on failure, with errno set.
int cbench_floor_commit(cbench_floor *floor, const void *bytes, size_t length, int durable);

void cbench_floor_close(cbench_floor *floor);

#endif
