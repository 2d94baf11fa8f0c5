// Swift does not see glibc's settings of malloc. Other C libraries have none, and Apple's needs none.

#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

// A page of rows is written by one thread and freed by another. With glibc's defaults its memory goes back to the system
// each time, and is fetched again, page fault by page fault, for the next.
static inline void syncline_malloc_keep_buffers(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
}
