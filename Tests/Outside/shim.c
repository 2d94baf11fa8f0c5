// Stands between a program and the C library (LD_PRELOAD), and watches every call on files below one directory. It can
// write each call down with its data, let the n-th one fail or write less than it was asked to, and kill the program at it.
// Built and driven by sweep.py; the environment says what to do:
//
//   SWEEP_ROOT    the directory, as an absolute path without links
//   SWEEP_COUNT   a file of 8 + 256 bytes: how many calls there were, and which one the fault hit
//   SWEEP_RECORD  where calls are written down; none are without it
//   SWEEP_FAULT   "MODE N ERROR KINDS": the N-th call, from 1 on, of the kinds in a mask (bits by `enum kind`).
//                 fail, fail-on (and every later one), short, kill-before, kill-half, kill-after
//
// Calls that change something are made one at a time, so that their order in the record is the order they were made in.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The order is known to disk.py.
enum kind {
    OPEN, CREATE, WRITE, READ, TRUNCATE, ALLOCATE, RENAME, UNLINK, MKDIR, RMDIR, LINK, SYNC, CHMOD, LOCK, LIST, CLOSE, DUP
};
static const char *const names[] = {
    "open", "create", "write", "read", "truncate", "allocate", "rename", "unlink", "mkdir", "rmdir", "link", "sync",
    "chmod", "lock", "list", "close", "dup"
};

/// What is in front of the names and the data of a call in the record.
struct entry {
    uint32_t size;      // of the whole entry
    uint16_t kind, name_length, other_length, is_directory;
    int32_t process, descriptor, result, error, mode, flags;
    uint64_t inode, offset, length;
};

struct shared { uint64_t calls; char hit[256]; };

enum { DESCRIPTORS = 4096 };
static char root[PATH_MAX];
static size_t root_length;
static struct shared *shared;
static int record = -1;
static char mode[16];
static unsigned long fault_call, fault_kinds;
static int fault_error;
static char watched[DESCRIPTORS];  // 1: a file below the root, 2: a directory
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

#define REAL(type, name, ...) \
    static type (*real_##name)(__VA_ARGS__); \
    if (!real_##name) real_##name = dlsym(RTLD_NEXT, #name);

static int plain_open(const char *path, int flags, int bits) {
    REAL(int, open, const char *, int, ...)
    return real_open(path, flags, bits);
}

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("SWEEP_ROOT");
    if (!text) return;
    root_length = (size_t)snprintf(root, sizeof root, "%s", text);
    if ((text = getenv("SWEEP_COUNT"))) {
        int descriptor = plain_open(text, O_RDWR | O_CLOEXEC, 0);
        void *memory = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (descriptor < 0 || memory == MAP_FAILED) abort();
        shared = memory;
    }
    if ((text = getenv("SWEEP_RECORD"))) {
        record = plain_open(text, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (record < 0) abort();
    }
    if ((text = getenv("SWEEP_FAULT"))
        && sscanf(text, "%15s %lu %d %lx", mode, &fault_call, &fault_error, &fault_kinds) != 4) abort();
}

// MARK: Names

/// A path without `.`, `..` and doubled slashes; 0 if it is not below the root.
static int below_root(int directory, const char *path, char *full) {
    char raw[2 * PATH_MAX];
    if (!root_length || !path) return 0;
    if (path[0] == '/') {
        snprintf(raw, sizeof raw, "%s", path);
    } else {
        char link[64];
        snprintf(link, sizeof link, directory == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", directory);
        ssize_t length = readlink(link, raw, PATH_MAX - 1);
        if (length < 0) return 0;
        snprintf(raw + length, sizeof raw - (size_t)length, "/%s", path);
    }
    size_t end = 0;
    char *rest = 0;
    for (char *part = strtok_r(raw, "/", &rest); part; part = strtok_r(0, "/", &rest)) {
        if (!strcmp(part, ".")) continue;
        if (!strcmp(part, "..")) {
            while (end > 0 && full[--end] != '/') {}
            continue;
        }
        size_t length = strlen(part);
        if (end + length + 2 > PATH_MAX) return 0;
        full[end++] = '/';
        memcpy(full + end, part, length);
        end += length;
    }
    full[end] = 0;
    return !strncmp(full, root, root_length) && (full[root_length] == '/' || full[root_length] == 0);
}

static int is_watched(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTORS && watched[descriptor];
}

static void watch(int descriptor) {
    struct stat status;
    if (descriptor < 0 || descriptor >= DESCRIPTORS) return;
    watched[descriptor] = fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode) ? 2 : 1;
}

// MARK: Faults

/// What happens to a call: nothing, it fails, it does less, or the program is killed after it.
enum fate { PASSES, FAILS, SHORTENS, DIES_HALFWAY, DIES };

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static enum fate fate(enum kind kind, const char *name) {
    if (!shared || !(fault_kinds >> kind & 1)) return PASSES;
    uint64_t number = __atomic_add_fetch(&shared->calls, 1, __ATOMIC_SEQ_CST);
    int lasts = !strcmp(mode, "fail-on");
    if (!mode[0] || number < fault_call || (number > fault_call && !lasts)) return PASSES;
    if (number == fault_call) snprintf(shared->hit, sizeof shared->hit, "%s %s", names[kind], name);
    if (!strcmp(mode, "kill-before")) die();
    if (!strcmp(mode, "kill-after")) return DIES;
    if (!strcmp(mode, "kill-half")) return DIES_HALFWAY;
    if (!strcmp(mode, "short")) return SHORTENS;
    errno = fault_error;
    return FAILS;
}

/// The name of an open file, below the root.
static void name_of(int descriptor, char *name) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, name, PATH_MAX - 1);
    name[length < 0 ? 0 : length] = 0;
    if ((size_t)length > root_length && !strncmp(name, root, root_length)) {
        memmove(name, name + root_length, (size_t)length - root_length + 1);
    }
}

static enum fate descriptor_fate(enum kind kind, int descriptor) {
    char name[PATH_MAX];
    name_of(descriptor, name);
    return fate(kind, name);
}

// MARK: The record

static void write_down(struct entry entry, const char *name, const char *other, const struct iovec *data, int pieces) {
    if (record < 0) return;
    int number = errno;
    struct iovec parts[3 + 1024];
    if (pieces > 1024) abort();
    entry.process = getpid();
    entry.error = entry.result < 0 ? number : 0;
    struct stat status;
    if (entry.descriptor >= 0 && fstat(entry.descriptor, &status) == 0) {
        entry.inode = status.st_ino;
        entry.is_directory = S_ISDIR(status.st_mode);
        if (entry.kind <= CREATE) entry.mode = (int)(status.st_mode & 07777);
    }
    const char *names[2] = {name ? name + root_length : "", other ? other + root_length : ""};
    entry.name_length = (uint16_t)strlen(names[0]);
    entry.other_length = (uint16_t)strlen(names[1]);
    uint64_t left = data ? entry.length : 0;
    entry.size = (uint32_t)(sizeof entry + entry.name_length + entry.other_length + left);
    parts[0] = (struct iovec){&entry, sizeof entry};
    parts[1] = (struct iovec){(void *)names[0], entry.name_length};
    parts[2] = (struct iovec){(void *)names[1], entry.other_length};
    int count = 3;
    for (int index = 0; index < pieces && left > 0; index++) {
        size_t length = data[index].iov_len < left ? data[index].iov_len : left;
        parts[count++] = (struct iovec){data[index].iov_base, length};
        left -= length;
    }
    REAL(ssize_t, writev, int, const struct iovec *, int)
    if (real_writev(record, parts, count) != (ssize_t)entry.size) abort();
    errno = number;
}

static void note(enum kind kind, int descriptor, const char *name, const char *other, int result, int flags, int bits) {
    struct entry entry = {.kind = kind, .descriptor = descriptor, .result = result, .flags = flags, .mode = bits};
    write_down(entry, name, other, 0, 0);
}

static void end_if(enum fate fate) {
    if (fate == DIES || fate == DIES_HALFWAY) die();
}

// MARK: Opening and closing

static int opened(int directory, const char *path, int flags, int bits) {
    REAL(int, openat, int, const char *, int, ...)
    char full[PATH_MAX];
    if (!below_root(directory, path, full)) return real_openat(directory, path, flags, bits);
    pthread_mutex_lock(&turn);
    int result = -1;
    enum kind kind = flags & O_CREAT && access(full, F_OK) != 0 ? CREATE : OPEN;
    enum fate fate_ = fate(kind, full + root_length);
    if (fate_ != FAILS) {
        result = real_openat(directory, path, flags, bits);
        if (result >= 0) watch(result);
        note(kind, result, full, 0, result, flags, bits);
        end_if(fate_);
    }
    pthread_mutex_unlock(&turn);
    return result;
}

static int bits_of(int flags, va_list list) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0; }

#define OPENING(name, directory, ...) \
    int name(__VA_ARGS__, int flags, ...) { \
        va_list list; \
        va_start(list, flags); \
        int bits = bits_of(flags, list); \
        va_end(list); \
        return opened(directory, path, flags, bits); \
    }
OPENING(open, AT_FDCWD, const char *path)
OPENING(open64, AT_FDCWD, const char *path)
OPENING(openat, directory, int directory, const char *path)
OPENING(openat64, directory, int directory, const char *path)
int creat(const char *path, mode_t bits) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, (int)bits); }
int creat64(const char *path, mode_t bits) { return creat(path, bits); }

int close(int descriptor) {
    REAL(int, close, int)
    if (!is_watched(descriptor)) return real_close(descriptor);
    pthread_mutex_lock(&turn);
    note(CLOSE, descriptor, 0, 0, 0, 0, 0);
    watched[descriptor] = 0;
    int result = real_close(descriptor);
    pthread_mutex_unlock(&turn);
    return result;
}

static int doubled(int old, int new) {
    if (new < 0) return new;
    if (new < DESCRIPTORS) watched[new] = is_watched(old) ? watched[old] : 0;
    if (is_watched(old)) note(DUP, old, 0, 0, new, 0, 0);
    return new;
}
int dup(int old) { REAL(int, dup, int) return doubled(old, real_dup(old)); }
int dup2(int old, int new) { REAL(int, dup2, int, int) return doubled(old, real_dup2(old, new)); }
int dup3(int old, int new, int flags) { REAL(int, dup3, int, int, int) return doubled(old, real_dup3(old, new, flags)); }

// MARK: Content

/// A write of pieces, at an offset or (below 0) where the descriptor stands.
static ssize_t written(int descriptor, const struct iovec *data, int pieces, off64_t offset) {
    REAL(ssize_t, writev, int, const struct iovec *, int)
    REAL(ssize_t, pwritev64, int, const struct iovec *, int, off64_t)
#define MAKE(data, pieces) (offset < 0 ? real_writev(descriptor, data, pieces) : real_pwritev64(descriptor, data, pieces, offset))
    if (!is_watched(descriptor)) return MAKE(data, pieces);
    pthread_mutex_lock(&turn);
    ssize_t result = -1;
    enum fate fate_ = descriptor_fate(WRITE, descriptor);
    if (fate_ != FAILS) {
        struct iovec first = data[0];
        if ((fate_ == SHORTENS || fate_ == DIES_HALFWAY) && first.iov_len > 1) {
            // The system cuts a write between pages, of the file or of the memory: never between the bytes of a word.
            first.iov_len = first.iov_len > 16 ? first.iov_len / 2 & ~7ul : first.iov_len / 2;
            data = &first;
            pieces = 1;
        }
        result = MAKE(data, pieces);
        struct entry entry = {.kind = WRITE, .descriptor = descriptor, .result = result < 0 ? -1 : 0};
        if (result >= 0) {
            entry.length = (uint64_t)result;
            entry.offset = (uint64_t)(offset < 0 ? lseek64(descriptor, 0, SEEK_CUR) - result : offset);
        }
        write_down(entry, 0, 0, result < 0 ? 0 : data, pieces);
        end_if(fate_);
    }
    pthread_mutex_unlock(&turn);
    return result;
}
ssize_t write(int descriptor, const void *bytes, size_t count) {
    return written(descriptor, &(struct iovec){(void *)bytes, count}, 1, -1);
}
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return written(descriptor, &(struct iovec){(void *)bytes, count}, 1, offset);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return written(descriptor, &(struct iovec){(void *)bytes, count}, 1, offset);
}
ssize_t writev(int descriptor, const struct iovec *data, int pieces) { return written(descriptor, data, pieces, -1); }
ssize_t pwritev(int descriptor, const struct iovec *data, int pieces, off_t offset) {
    return written(descriptor, data, pieces, offset);
}
ssize_t pwritev64(int descriptor, const struct iovec *data, int pieces, off64_t offset) {
    return written(descriptor, data, pieces, offset);
}

/// A call on an open file that gives 0 or fails: made in turn, and written down.
#define IN_TURN(kind, descriptor, call, entry_) \
    if (!is_watched(descriptor)) return call; \
    pthread_mutex_lock(&turn); \
    int result = -1; \
    enum fate fate_ = descriptor_fate(kind, descriptor); \
    if (fate_ != FAILS) { \
        result = call; \
        struct entry entry = entry_; \
        entry.result = result; \
        write_down(entry, 0, 0, 0, 0); \
        end_if(fate_); \
    } \
    pthread_mutex_unlock(&turn); \
    return result;
#define ENTRY(kind_, ...) (struct entry){.kind = kind_, .descriptor = descriptor, __VA_ARGS__}

int ftruncate64(int descriptor, off64_t size) {
    REAL(int, ftruncate64, int, off64_t)
    IN_TURN(TRUNCATE, descriptor, real_ftruncate64(descriptor, size), ENTRY(TRUNCATE, .length = (uint64_t)size))
}
int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }
int fallocate64(int descriptor, int how, off64_t offset, off64_t length) {
    REAL(int, fallocate64, int, int, off64_t, off64_t)
    IN_TURN(ALLOCATE, descriptor, real_fallocate64(descriptor, how, offset, length),
        ENTRY(ALLOCATE, .flags = how, .offset = (uint64_t)offset, .length = (uint64_t)length))
}
int fallocate(int descriptor, int how, off_t offset, off_t length) { return fallocate64(descriptor, how, offset, length); }
int fsync(int descriptor) {
    REAL(int, fsync, int)
    IN_TURN(SYNC, descriptor, real_fsync(descriptor), ENTRY(SYNC, .flags = 0))
}
int fdatasync(int descriptor) {
    REAL(int, fdatasync, int)
    IN_TURN(SYNC, descriptor, real_fdatasync(descriptor), ENTRY(SYNC, .flags = 0))
}
int fchmod(int descriptor, mode_t bits) {
    REAL(int, fchmod, int, mode_t)
    IN_TURN(CHMOD, descriptor, real_fchmod(descriptor, bits), ENTRY(CHMOD, .mode = (int)bits))
}

// MARK: Reading and locks

static int refuses(enum kind kind, int descriptor) {
    return is_watched(descriptor) && descriptor_fate(kind, descriptor) == FAILS;
}
ssize_t read(int descriptor, void *bytes, size_t count) {
    REAL(ssize_t, read, int, void *, size_t)
    return refuses(READ, descriptor) ? -1 : real_read(descriptor, bytes, count);
}
ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
    REAL(ssize_t, pread64, int, void *, size_t, off64_t)
    return refuses(READ, descriptor) ? -1 : real_pread64(descriptor, bytes, count, offset);
}
ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    return pread64(descriptor, bytes, count, offset);
}
int flock(int descriptor, int how) {
    REAL(int, flock, int, int)
    return refuses(LOCK, descriptor) ? -1 : real_flock(descriptor, how);
}
struct dirent *readdir(DIR *stream) {
    REAL(struct dirent *, readdir, DIR *)
    return refuses(LIST, dirfd(stream)) ? 0 : real_readdir(stream);
}
struct dirent64 *readdir64(DIR *stream) {
    REAL(struct dirent64 *, readdir64, DIR *)
    return refuses(LIST, dirfd(stream)) ? 0 : real_readdir64(stream);
}
// The library opens and reads these without the calls above.
DIR *opendir(const char *path) {
    REAL(DIR *, opendir, const char *)
    char full[PATH_MAX];
    int is_ours = below_root(AT_FDCWD, path, full);
    if (is_ours && fate(LIST, full + root_length) == FAILS) return 0;
    DIR *stream = real_opendir(path);
    if (is_ours && stream) watch(dirfd(stream));
    return stream;
}
int closedir(DIR *stream) {
    REAL(int, closedir, DIR *)
    int descriptor = dirfd(stream);
    if (is_watched(descriptor)) watched[descriptor] = 0;
    return real_closedir(stream);
}
FILE *fopen64(const char *path, const char *how) {
    REAL(FILE *, fopen64, const char *, const char *)
    char full[PATH_MAX];
    int is_ours = below_root(AT_FDCWD, path, full);
    if (is_ours && how[0] != 'r') abort();  // a stream that writes would not be in the record
    if (is_ours && fate(OPEN, full + root_length) == FAILS) return 0;
    FILE *stream = real_fopen64(path, how);
    if (is_ours && stream) watch(fileno(stream));
    return stream;
}
FILE *fopen(const char *path, const char *how) { return fopen64(path, how); }
size_t fread(void *bytes, size_t size, size_t count, FILE *stream) {
    REAL(size_t, fread, void *, size_t, size_t, FILE *)
    if (!refuses(READ, fileno(stream))) return real_fread(bytes, size, count, stream);
    stream->_flags |= 0x20;  // what ferror() looks at
    return 0;
}
int fclose(FILE *stream) {
    REAL(int, fclose, FILE *)
    int descriptor = fileno(stream);
    if (is_watched(descriptor)) watched[descriptor] = 0;
    return real_fclose(stream);
}

// MARK: Names of files

/// A call on a name, or on two: made in turn, and written down.
static int named(
    enum kind kind, int directory, const char *path, int other_directory, const char *other, int flags, int bits
) {
    REAL(int, renameat2, int, const char *, int, const char *, unsigned)
    REAL(int, unlinkat, int, const char *, int)
    REAL(int, mkdirat, int, const char *, mode_t)
    REAL(int, linkat, int, const char *, int, const char *, int)
    REAL(int, fchmodat, int, const char *, mode_t, int)
    char full[PATH_MAX], full_other[PATH_MAX];
    int is_ours = below_root(directory, path, full), is_other_ours = other && below_root(other_directory, other, full_other);
    if (other && is_ours != is_other_ours) abort();  // in or out of the directory is not in the record
    enum fate fate_ = PASSES;
    if (is_ours) {
        pthread_mutex_lock(&turn);
        fate_ = fate(kind, full + root_length);
    }
    int result = -1;
    if (fate_ != FAILS) {
        switch (kind) {
        case RENAME: result = real_renameat2(directory, path, other_directory, other, (unsigned)flags); break;
        case LINK: result = real_linkat(directory, path, other_directory, other, flags); break;
        case MKDIR: result = real_mkdirat(directory, path, (mode_t)bits); break;
        case CHMOD: result = real_fchmodat(directory, path, (mode_t)bits, flags); break;
        default: result = real_unlinkat(directory, path, flags);
        }
        if (is_ours) note(kind, -1, full, other ? full_other : 0, result, flags, bits);
        end_if(fate_);
    }
    if (is_ours) pthread_mutex_unlock(&turn);
    return result;
}
int renameat2(int from, const char *path, int to, const char *other, unsigned flags) {
    return named(RENAME, from, path, to, other, (int)flags, 0);
}
int renameat(int from, const char *path, int to, const char *other) { return named(RENAME, from, path, to, other, 0, 0); }
int rename(const char *path, const char *other) { return named(RENAME, AT_FDCWD, path, AT_FDCWD, other, 0, 0); }
int linkat(int from, const char *path, int to, const char *other, int flags) {
    return named(LINK, from, path, to, other, flags, 0);
}
int link(const char *path, const char *other) { return named(LINK, AT_FDCWD, path, AT_FDCWD, other, 0, 0); }
int unlinkat(int directory, const char *path, int flags) {
    return named(flags & AT_REMOVEDIR ? RMDIR : UNLINK, directory, path, 0, 0, flags, 0);
}
int unlink(const char *path) { return named(UNLINK, AT_FDCWD, path, 0, 0, 0, 0); }
int rmdir(const char *path) { return named(RMDIR, AT_FDCWD, path, 0, 0, AT_REMOVEDIR, 0); }
int mkdirat(int directory, const char *path, mode_t bits) { return named(MKDIR, directory, path, 0, 0, 0, (int)bits); }
int mkdir(const char *path, mode_t bits) { return named(MKDIR, AT_FDCWD, path, 0, 0, 0, (int)bits); }
int fchmodat(int directory, const char *path, mode_t bits, int flags) {
    return named(CHMOD, directory, path, 0, 0, flags, (int)bits);
}
int chmod(const char *path, mode_t bits) { return named(CHMOD, AT_FDCWD, path, 0, 0, 0, (int)bits); }
