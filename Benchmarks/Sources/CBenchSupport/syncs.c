// The executable's own fsync and fdatasync: the shared libraries of the peers find these first, so every sync call is
// counted, no matter which library makes it, and no other process disturbs the count. Writes through a descriptor
// opened with O_DSYNC (LMDB's meta page) flush without a call; the device's own counter of flushes, reported beside,
// has those too.
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CBenchSupport.h"

static atomic_uint_fast64_t calls;

uint64_t cbench_sync_calls(void) { return atomic_load(&calls); }

int fsync(int fd) {
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return (int)syscall(SYS_fdatasync, fd);
}

int cbench_sync_filesystem(int fd) { return syncfs(fd); }

void cbench_die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }
