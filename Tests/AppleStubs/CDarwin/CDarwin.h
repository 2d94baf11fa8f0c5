// Declarations of Apple's C library, as far as this project uses them, with the types and the numbers they have there. They
// stand in for the SDK, which is missing on Linux: code is checked against them, and never linked.
#ifndef CDARWIN_H
#define CDARWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t pid_t;
typedef int64_t off_t;
typedef uint16_t mode_t;
typedef int32_t dev_t;
typedef uint16_t nlink_t;
typedef uint64_t ino_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef int32_t blksize_t;
typedef int64_t blkcnt_t;
typedef long time_t;
typedef long ssize_t;

// time.h
struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
typedef enum : unsigned int { _CLOCK_REALTIME = 0, _CLOCK_MONOTONIC = 6 } clockid_t;
int clock_gettime(clockid_t clock, struct timespec *time);

// errno.h
int *__error(void);
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EBADF 9
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EPIPE 32
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define ENOTSUP 45
#define EADDRNOTAVAIL 49
#define ENETDOWN 50
#define ENETUNREACH 51
#define ENETRESET 52
#define ECONNABORTED 53
#define ECONNRESET 54
#define ENOTCONN 57
#define ETIMEDOUT 60
#define ECONNREFUSED 61
#define ELOOP 62
#define EHOSTDOWN 64
#define EHOSTUNREACH 65
#define ENOTEMPTY 66
#define EDQUOT 69

// fcntl.h
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_CREAT 0x00000200
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define O_EVTONLY 0x00008000
#define AT_FDCWD -2
#define AT_REMOVEDIR 0x0080
#define F_FULLFSYNC 51
#define F_BARRIERFSYNC 85
#define LOCK_SH 0x01
#define LOCK_EX 0x02
#define LOCK_NB 0x04
#define LOCK_UN 0x08
struct flock {
    off_t l_start;
    off_t l_len;
    pid_t l_pid;
    short l_type;
    short l_whence;
};
int flock(int descriptor, int operation);

// sys/stat.h
struct stat {
    dev_t st_dev;
    mode_t st_mode;
    nlink_t st_nlink;
    ino_t st_ino;
    uid_t st_uid;
    gid_t st_gid;
    dev_t st_rdev;
    struct timespec st_atimespec;
    struct timespec st_mtimespec;
    struct timespec st_ctimespec;
    struct timespec st_birthtimespec;
    off_t st_size;
    blkcnt_t st_blocks;
    blksize_t st_blksize;
    uint32_t st_flags;
    uint32_t st_gen;
    int32_t st_lspare;
    int64_t st_qspare[2];
};
int stat(const char *_Nonnull path, struct stat *_Nonnull status);
int fstat(int descriptor, struct stat *_Nonnull status);
int fstatat(int base, const char *_Nonnull path, struct stat *_Nonnull status, int flags);
int fchmod(int descriptor, mode_t mode);
int mkdirat(int base, const char *_Nonnull path, mode_t mode);

// unistd.h, stdio.h, stdlib.h, string.h
char *mkdtemp(char *name);
char *strerror(int number);
int close(int descriptor);
ssize_t read(int descriptor, void *_Nullable bytes, size_t count);
ssize_t pread(int descriptor, void *_Nullable bytes, size_t count, off_t offset);
ssize_t pwrite(int descriptor, const void *_Nullable bytes, size_t count, off_t offset);
int ftruncate(int descriptor, off_t size);
int fsync(int descriptor);
pid_t getpid(void);
int usleep(unsigned int microseconds);
int rmdir(const char *_Nonnull path);
int unlink(const char *_Nonnull path);
int unlinkat(int base, const char *_Nonnull path, int flags);
int renameat(int from, const char *_Nonnull old, int to, const char *_Nonnull fresh);
char *_Null_unspecified getcwd(char *_Nullable buffer, size_t size);
char *_Null_unspecified getenv(const char *_Nonnull name);
char *_Null_unspecified realpath(const char *_Nonnull path, char *_Nullable resolved);
void free(void *_Nullable pointer);
void *_Null_unspecified memchr(const void *_Null_unspecified bytes, int byte, size_t count);
int memcmp(const void *_Null_unspecified left, const void *_Null_unspecified right, size_t count);
int strerror_r(int number, char *_Null_unspecified buffer, size_t size);

// dirent.h
typedef struct __dirstream DIR;
struct dirent {
    uint64_t d_ino;
    uint64_t d_seekoff;
    uint16_t d_reclen;
    uint16_t d_namlen;
    uint8_t d_type;
    char d_name[1024];
};
DIR *_Null_unspecified fdopendir(int descriptor);
struct dirent *_Null_unspecified readdir(DIR *_Null_unspecified stream);
int closedir(DIR *_Null_unspecified stream);

// os/lock.h
typedef struct os_unfair_lock_s {
    uint32_t _os_unfair_lock_opaque;
} os_unfair_lock;
void os_unfair_lock_lock(os_unfair_lock *_Nonnull lock);
bool os_unfair_lock_trylock(os_unfair_lock *_Nonnull lock);
void os_unfair_lock_unlock(os_unfair_lock *_Nonnull lock);

#endif
