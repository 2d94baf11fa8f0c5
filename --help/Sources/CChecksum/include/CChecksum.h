// CRC32C (Castagnoli), the checksum of every frame and header of the log.
#ifndef CCHECKSUM_H
#define CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// Continues a CRC32C over `length` bytes. Start with 0; feed the result back in to continue.
uint32_t cchecksum_crc32c(uint32_t crc, const void *bytes, size_t length);

/// The table form, for machines without the instruction and for tests that compare the two.
uint32_t cchecksum_crc32c_portable(uint32_t crc, const void *bytes, size_t length);

#endif
