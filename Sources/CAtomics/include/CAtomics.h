// What Swift has no words for: atomic access to a 64-bit word at an address, fetching memory ahead, and the C library's
// search for bytes. The order is one of the compiler's __ATOMIC constants. Callers pass a constant, so each access becomes
// one instruction.
#ifndef CATOMICS_H
#define CATOMICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What Swift passes, because it does not see the constants of the compiler.
_Static_assert(__ATOMIC_RELAXED == 0 && __ATOMIC_ACQUIRE == 2, "orders of loads");
_Static_assert(__ATOMIC_RELEASE == 3 && __ATOMIC_ACQ_REL == 4, "orders of stores");

/// Fetches the memory at an address, to be read soon.
static inline __attribute__((always_inline)) void catomics_prefetch(const void *address) {
    __builtin_prefetch(address);
}

/// Finds bytes in others. Glibc's headers show it only to programs that ask for GNU's functions.
extern void *memmem(const void *text, size_t count, const void *part, size_t length);

static inline __attribute__((always_inline)) const void *catomics_find(
    const void *text, size_t count, const void *part, size_t length
) {
    return memmem(text, count, part, length);
}

/// Reads the word, relaxed or with acquire.
static inline __attribute__((always_inline)) uint64_t catomics_load(const uint64_t *word, int order) {
    return order == __ATOMIC_RELAXED ? __atomic_load_n(word, __ATOMIC_RELAXED) : __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/// Writes the word, relaxed or with release.
static inline __attribute__((always_inline)) void catomics_store(uint64_t *word, uint64_t value, int order) {
    if (order == __ATOMIC_RELAXED) __atomic_store_n(word, value, __ATOMIC_RELAXED);
    else __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/// Writes the word and returns what it was.
static inline __attribute__((always_inline)) uint64_t catomics_exchange(uint64_t *word, uint64_t value, int order) {
    return __atomic_exchange_n(word, value, order);
}

/// Writes the word if it is what `expected` points to, and returns whether it was; if it was not, stores what it was
/// in `expected`.
static inline __attribute__((always_inline)) bool catomics_compare_exchange(
    uint64_t *word, uint64_t *expected, uint64_t value, int order
) {
    int failure = order == __ATOMIC_RELAXED || order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
    return __atomic_compare_exchange_n(word, expected, value, false, order, failure);
}

/// Adds to the word, without a check for overflow, and returns what it was.
static inline __attribute__((always_inline)) uint64_t catomics_add(uint64_t *word, uint64_t value, int order) {
    return __atomic_fetch_add(word, value, order);
}

/// Sets bits of the word and returns what it was.
static inline __attribute__((always_inline)) uint64_t catomics_or(uint64_t *word, uint64_t value, int order) {
    return __atomic_fetch_or(word, value, order);
}

#endif
