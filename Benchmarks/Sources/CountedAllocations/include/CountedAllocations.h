#pragma once
#include <stdint.h>

// How often the process asked for memory.
uint64_t syncline_counted_allocations(void);
