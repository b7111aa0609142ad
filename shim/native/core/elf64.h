/* The frame of a host image: a 64-bit little-endian ELF shared object read by its program headers, as a loader does. Internal. */
#ifndef OLP_ELF64_H
#define OLP_ELF64_H

#include <stdint.h>

enum { OLP_ELF_HEADER = 64, OLP_ELF_PHDR = 56, OLP_ELF_PHDRS_MOST = 128 };
enum { OLP_EM_X86_64 = 62, OLP_EM_CUDA = 190, OLP_EM_INTELGT = 205, OLP_EM_AMDGPU = 224 };
enum { OLP_PT_LOAD = 1, OLP_PT_DYNAMIC = 2, OLP_PT_NOTE = 4, OLP_PT_GNU_PROPERTY = 0x6474e553 };

typedef struct olp_elf {
  const unsigned char *data;
  uint64_t size;
  uint64_t phdrs; /* offset of the program headers */
  uint32_t count; /* number of them */
} olp_elf;

typedef struct olp_segment {
  uint32_t type;
  uint64_t offset, address, size, memory, align;
} olp_segment;

/* A dynamic section's entries, by their tags. */
typedef struct olp_dynamic {
  const unsigned char *at;
  uint64_t left;
} olp_dynamic;

/* OLP-FACT-002. 1 when well-formed, and *elf is filled; else 0. */
int olp_elf_open(const unsigned char *data, uint64_t size, olp_elf *elf);

/* Program header i < elf->count. */
void olp_elf_segment(const olp_elf *elf, uint32_t i, olp_segment *segment);

/* The next entry before DT_NULL. 1, or 0 at the end. */
int olp_dynamic_next(olp_dynamic *dynamic, uint64_t *tag, uint64_t *value);

#endif
