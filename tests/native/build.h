/* Making containers for the C tests. */
#ifndef BUILD_H
#define BUILD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *data = malloc(*size);
  if (fread(data, 1, *size, file) != *size)
    abort();
  fclose(file);
  return data;
}

static inline void put64(unsigned char *at, uint64_t value) {
  for (int i = 0; i < 8; i++)
    at[i] = (unsigned char)(value >> 8 * i);
}

/* Writes a version 1 binary with triple and arch; returns its size, and through *where the image's offset. */
static inline size_t build(unsigned char *out, const char *arch, const unsigned char *image, size_t size, size_t *where) {
  static const char strings[] = "\0triple\0arch\0x86_64-pc-linux-gnu";
  size_t records = 72, table = records + 32, text = sizeof strings + strlen(arch) + 1;
  size_t at = (table + text + 7) & ~(size_t)7, all = (at + size + 7) & ~(size_t)7;
  memset(out, 0, all);
  memcpy(out, "\x10\xff\x10\xad\x01", 5);
  put64(out + 8, all);
  put64(out + 16, 32);
  put64(out + 24, 40);
  out[32] = 1;
  out[34] = 1;
  put64(out + 40, records);
  put64(out + 48, 2);
  put64(out + 56, at);
  put64(out + 64, size);
  put64(out + 72, table + 1);
  put64(out + 80, table + 13);
  put64(out + 88, table + 8);
  put64(out + 96, table + sizeof strings);
  memcpy(out + table, strings, sizeof strings);
  memcpy(out + table + sizeof strings, arch, strlen(arch));
  if (size)
    memcpy(out + at, image, size);
  if (where)
    *where = at;
  return all;
}

#endif
