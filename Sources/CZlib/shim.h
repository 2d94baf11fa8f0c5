// zlib begins a stream through a macro, which Swift can't see.

#include <zlib.h>

/// Begins a stream in the form of gzip.
static inline int syncline_gzip_begin(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
