// Swift does not see glibc's settings of malloc. Other C libraries have none, and Apple's needs none.

#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

// A page of rows is written by one thread and freed by another. With glibc's defaults its memory goes back to the system
// each time, and is fetched again, page fault by page fault, for the next.
// Memory that one arena keeps is of no use to the threads of another. By default there are eight arenas for each
// processor, which keep several times the memory that is in use.
static inline void syncline_malloc_keep_buffers(int processors) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, processors < 2 ? 2 : processors);
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
}
