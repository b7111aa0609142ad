/* The frame of a host image (OLP-FACT-002). */
#include "elf64.h"

#include <string.h>

#include "bytes.h"

enum { ET_DYN = 3, DYNAMIC_ENTRY = 16, DT_NULL = 0 };
#define DT_FLAGS_1 0x6ffffffbu
#define DF_1_PIE 0x08000000u

void olp_elf_segment(const olp_elf *elf, uint32_t i, olp_segment *segment) {
  const unsigned char *at = elf->data + elf->phdrs + (uint64_t)i * OLP_ELF_PHDR;
  segment->type = olp_u32(at);
  segment->offset = olp_u64(at + 8);
  segment->address = olp_u64(at + 16);
  segment->size = olp_u64(at + 32);
  segment->memory = olp_u64(at + 40);
  segment->align = olp_u64(at + 48);
}

int olp_dynamic_next(olp_dynamic *dynamic, uint64_t *tag, uint64_t *value) {
  if (dynamic->left < DYNAMIC_ENTRY)
    return 0;
  *tag = olp_u64(dynamic->at);
  *value = olp_u64(dynamic->at + 8);
  dynamic->at += DYNAMIC_ENTRY;
  dynamic->left -= DYNAMIC_ENTRY;
  return *tag != DT_NULL;
}

/* A position-independent executable looks like a shared object but cannot be loaded as one. */
static int is_pie(const unsigned char *data, const olp_segment *segment) {
  olp_dynamic dynamic = {data + segment->offset, segment->size};
  uint64_t tag, value;
  while (olp_dynamic_next(&dynamic, &tag, &value))
    if (tag == DT_FLAGS_1 && value & DF_1_PIE)
      return 1;
  return 0;
}

static int segment_fits(const olp_elf *elf, const olp_segment *segment) {
  switch (segment->type) {
  case OLP_PT_LOAD:
    return olp_inside(segment->offset, segment->size, elf->size) && segment->size <= segment->memory;
  case OLP_PT_DYNAMIC:
    return olp_inside(segment->offset, segment->size, elf->size) && !is_pie(elf->data, segment);
  case OLP_PT_NOTE:
  case OLP_PT_GNU_PROPERTY:
    return olp_inside(segment->offset, segment->size, elf->size);
  default:
    return 1;
  }
}

int olp_elf_open(const unsigned char *data, uint64_t size, olp_elf *elf) {
  static const unsigned char ident[7] = {0x7f, 'E', 'L', 'F', 2 /* 64-bit */, 1 /* little-endian */, 1 /* version */};
  if (size < OLP_ELF_HEADER || memcmp(data, ident, sizeof ident) != 0 || olp_u16(data + 16) != ET_DYN)
    return 0;

  elf->data = data;
  elf->size = size;
  elf->phdrs = olp_u64(data + 32);
  elf->count = olp_u16(data + 56);
  if (olp_u16(data + 54) != OLP_ELF_PHDR || elf->count < 1 || elf->count > OLP_ELF_PHDRS_MOST ||
      !olp_inside(elf->phdrs, (uint64_t)elf->count * OLP_ELF_PHDR, size))
    return 0;

  int loads = 0;
  for (uint32_t i = 0; i < elf->count; i++) {
    olp_segment segment;
    olp_elf_segment(elf, i, &segment);
    if (!segment_fits(elf, &segment))
      return 0;
    loads += segment.type == OLP_PT_LOAD;
  }
  return loads > 0;
}
