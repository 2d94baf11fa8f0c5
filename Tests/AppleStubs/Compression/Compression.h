// The two calls of Apple's Compression library that this project uses.
#ifndef COMPRESSION_H
#define COMPRESSION_H

#include <stddef.h>
#include <stdint.h>

typedef enum : uint32_t { COMPRESSION_LZ4 = 0x100, COMPRESSION_LZ4_RAW = 0x101 } compression_algorithm;

size_t compression_encode_buffer(
    uint8_t *_Nonnull target, size_t capacity, const uint8_t *_Nonnull source, size_t count,
    void *_Nullable scratch, compression_algorithm algorithm);
size_t compression_decode_buffer(
    uint8_t *_Nonnull target, size_t capacity, const uint8_t *_Nonnull source, size_t count,
    void *_Nullable scratch, compression_algorithm algorithm);

#endif
