// The simplest hardware CRC32C: one stream, eight bytes an instruction.
#include <string.h>

#include "CBenchSupport.h"

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t one_stream(const uint8_t *p, size_t length) {
    uint64_t crc = 0xffffffffu;
    for (; length >= 8; p += 8, length -= 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        crc = _mm_crc32_u64(crc, v);
    }
    for (; length > 0; p++, length--) crc = _mm_crc32_u8((uint32_t)crc, *p);
    return ~(uint32_t)crc;
}

uint32_t cbench_crc32c(const void *bytes, size_t length) {
    return __builtin_cpu_supports("sse4.2") ? one_stream(bytes, length) : 0;
}
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

uint32_t cbench_crc32c(const void *bytes, size_t length) {
    const uint8_t *p = bytes;
    uint32_t crc = 0xffffffffu;
    for (; length >= 8; p += 8, length -= 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        crc = __crc32cd(crc, v);
    }
    for (; length > 0; p++, length--) crc = __crc32cb(crc, *p);
    return ~crc;
}
#else
uint32_t cbench_crc32c(const void *bytes, size_t length) {
    (void)bytes, (void)length;
    return 0;
}
#endif
