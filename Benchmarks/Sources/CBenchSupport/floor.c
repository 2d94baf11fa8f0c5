// The floor of a durable commit: bytes into space already written with zeros, one pwrite, one fdatasync. Threads that
// arrive while a sync runs leave their bytes in a buffer; one of them then writes and syncs for all.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "CBenchSupport.h"

struct buffer {
    char *bytes;
    size_t length, capacity;
};

struct cbench_floor {
    int fd;
    size_t offset, capacity;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct buffer waiting, writing;
    uint64_t turn;       // whose bytes `waiting` collects
    uint64_t done;       // turns before this one are on disk
    int busy, failure;
};

cbench_floor *cbench_floor_open(const char *path, size_t capacity) {
    cbench_floor *floor = calloc(1, sizeof *floor);
    if (!floor) return NULL;
    pthread_mutex_init(&floor->mutex, NULL);
    pthread_cond_init(&floor->changed, NULL);
    floor->capacity = capacity;
    floor->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (floor->fd < 0) goto failed;
    static const char zeros[1 << 16];
    for (size_t at = 0; at < capacity;) {
        size_t rest = capacity - at < sizeof zeros ? capacity - at : sizeof zeros;
        ssize_t written = pwrite(floor->fd, zeros, rest, (off_t)at);
        if (written <= 0) goto failed;
        at += (size_t)written;
    }
    if (fsync(floor->fd) != 0) goto failed;
    return floor;
failed:;
    int reason = errno;
    if (floor->fd >= 0) close(floor->fd);
    free(floor);
    errno = reason;
    return NULL;
}

static int write_out(cbench_floor *floor, const struct buffer *buffer, int durable) {
    if (buffer->length > floor->capacity) return ENOSPC;
    if (floor->offset + buffer->length > floor->capacity) floor->offset = 0;
    for (size_t at = 0; at < buffer->length;) {
        ssize_t written =
            pwrite(floor->fd, buffer->bytes + at, buffer->length - at, (off_t)(floor->offset + at));
        if (written <= 0) return errno ? errno : EIO;
        at += (size_t)written;
    }
    floor->offset += buffer->length;
    return durable && fdatasync(floor->fd) != 0 ? errno : 0;
}

static int add(struct buffer *buffer, const void *bytes, size_t length) {
    if (buffer->length + length > buffer->capacity) {
        size_t capacity = 2 * (buffer->length + length);
        char *grown = realloc(buffer->bytes, capacity);
        if (!grown) return ENOMEM;
        buffer->bytes = grown;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    return 0;
}

int cbench_floor_commit(cbench_floor *floor, const void *bytes, size_t length, int durable) {
    pthread_mutex_lock(&floor->mutex);
    int failure = add(&floor->waiting, bytes, length);
    uint64_t mine = floor->turn;
    while (!failure && floor->done <= mine && floor->busy) pthread_cond_wait(&floor->changed, &floor->mutex);
    if (!failure && floor->done <= mine) {
        struct buffer swap = floor->waiting;
        floor->waiting = floor->writing;
        floor->writing = swap;
        floor->turn++;
        floor->busy = 1;
        pthread_mutex_unlock(&floor->mutex);
        failure = write_out(floor, &floor->writing, durable);
        pthread_mutex_lock(&floor->mutex);
        floor->writing.length = 0;
        floor->busy = 0;
        floor->done = mine + 1;
        if (failure) floor->failure = failure;
        pthread_cond_broadcast(&floor->changed);
    }
    if (!failure) failure = floor->failure;
    pthread_mutex_unlock(&floor->mutex);
    errno = failure;
    return failure ? -1 : 0;
}

void cbench_floor_close(cbench_floor *floor) {
    close(floor->fd);
    free(floor->waiting.bytes);
    free(floor->writing.bytes);
    pthread_mutex_destroy(&floor->mutex);
    pthread_cond_destroy(&floor->changed);
    free(floor);
}
