/* Reading bytes that may lie at any address and hold anything. Internal. */
#ifndef OLP_BYTES_H
#define OLP_BYTES_H

#include <stdint.h>
#include <string.h>

/* Whether [offset, offset + length) lies in [0, total), without wrapping. */
static inline int olp_inside(uint64_t offset, uint64_t length, uint64_t total) { return offset <= total && length <= total - offset; }

/* Whether two ranges of at least one byte share one. Neither end may wrap: both were checked to lie in the same buffer. */
static inline int olp_overlap(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length) {
  return a < b + b_length && b < a + a_length;
}

static inline uint16_t olp_u16(const unsigned char *at) { return (uint16_t)(at[0] | at[1] << 8); }

static inline uint32_t olp_u32(const unsigned char *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t olp_u64(const unsigned char *at) { return (uint64_t)olp_u32(at) | (uint64_t)olp_u32(at + 4) << 32; }

/* The next multiple of a power of two. The caller keeps value far enough from the end of the range. */
static inline uint64_t olp_align(uint64_t value, uint64_t to) { return (value + to - 1) & ~(to - 1); }

#endif
