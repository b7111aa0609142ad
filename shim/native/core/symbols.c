/* Whether a host image defines a symbol, asked as the dynamic loader asks: by the hash table, never by section headers, which
 * may be stripped. Every table is a range of one loaded segment's bytes in the file. */
#include <string.h>

#include "bytes.h"
#include "elf64.h"
#include "olpick.h"

enum { SYMBOL_SIZE = 24 };
enum { DT_HASH = 4, DT_STRTAB = 5, DT_SYMTAB = 6 };
#define DT_GNU_HASH 0x6ffffef5u

/* Bytes from an address to the end of the part of its segment that is in the file. */
typedef struct range {
  const unsigned char *at;
  uint64_t size;
} range;

typedef struct tables {
  range symbols, strings, gnu_hash, sysv_hash;
} tables;

static range range_at(const olp_elf *elf, uint64_t address) {
  range none = {NULL, 0};
  for (uint32_t i = 0; i < elf->count; i++) {
    olp_segment segment;
    olp_elf_segment(elf, i, &segment);
    if (segment.type != OLP_PT_LOAD || address < segment.address || address - segment.address >= segment.size)
      continue;
    uint64_t skip = address - segment.address;
    range found = {elf->data + segment.offset + skip, segment.size - skip};
    return found;
  }
  return none;
}

static void find_tables(const olp_elf *elf, tables *found) {
  memset(found, 0, sizeof *found);
  for (uint32_t i = 0; i < elf->count; i++) {
    olp_segment segment;
    olp_elf_segment(elf, i, &segment);
    if (segment.type != OLP_PT_DYNAMIC)
      continue;
    olp_dynamic dynamic = {elf->data + segment.offset, segment.size};
    uint64_t tag, value;
    while (olp_dynamic_next(&dynamic, &tag, &value)) {
      if (tag == DT_SYMTAB)
        found->symbols = range_at(elf, value);
      else if (tag == DT_STRTAB)
        found->strings = range_at(elf, value);
      else if (tag == DT_GNU_HASH)
        found->gnu_hash = range_at(elf, value);
      else if (tag == DT_HASH)
        found->sysv_hash = range_at(elf, value);
    }
  }
}

/* Whether symbol i is a definition of this name. */
static int symbol_is(const tables *t, uint64_t i, const char *name, uint64_t length) {
  if (!olp_inside(i * SYMBOL_SIZE, SYMBOL_SIZE, t->symbols.size))
    return 0;
  const unsigned char *symbol = t->symbols.at + i * SYMBOL_SIZE;
  uint64_t at = olp_u32(symbol);
  if (!olp_u16(symbol + 6) || !olp_inside(at, length + 1, t->strings.size))
    return 0;
  return memcmp(t->strings.at + at, name, length + 1) == 0;
}

/* 32-bit word i of a table. 1, or 0 outside it. */
static int word(range table, uint64_t i, uint32_t *value) {
  if (i > table.size / 4 || !olp_inside(i * 4, 4, table.size))
    return 0;
  *value = olp_u32(table.at + i * 4);
  return 1;
}

static int in_gnu_hash(const tables *t, const char *name, uint64_t length) {
  uint32_t buckets, first, bloom;
  if (!word(t->gnu_hash, 0, &buckets) || !word(t->gnu_hash, 1, &first) || !word(t->gnu_hash, 2, &bloom) || !buckets)
    return 0;
  uint32_t hash = 5381;
  for (uint64_t i = 0; i < length; i++)
    hash = hash * 33 + (unsigned char)name[i];

  uint64_t bucket_at = 4 + 2 * (uint64_t)bloom; /* the filter's words are 64 bits wide */
  uint64_t chain_at = bucket_at + buckets;
  uint32_t i, link;
  if (!word(t->gnu_hash, bucket_at + hash % buckets, &i) || i < first)
    return 0;
  for (uint64_t symbol = i; word(t->gnu_hash, chain_at + (symbol - first), &link); symbol++) {
    if ((link | 1) == (hash | 1) && symbol_is(t, symbol, name, length))
      return 1;
    if (link & 1) /* the chain ends */
      return 0;
  }
  return 0;
}

static int in_sysv_hash(const tables *t, const char *name, uint64_t length) {
  uint32_t buckets, symbols;
  if (!word(t->sysv_hash, 0, &buckets) || !word(t->sysv_hash, 1, &symbols) || !buckets)
    return 0;
  uint32_t hash = 0;
  for (uint64_t i = 0; i < length; i++) {
    hash = (hash << 4) + (unsigned char)name[i];
    hash ^= (hash >> 24) & 0xf0;
    hash &= 0x0fffffff;
  }
  uint32_t i;
  if (!word(t->sysv_hash, 2 + hash % buckets, &i))
    return 0;
  if (symbols > t->symbols.size / SYMBOL_SIZE) /* a made-up number, which the loader would believe */
    return -1;
  /* A chain visits each symbol once at most; a longer one goes in circles. */
  for (uint32_t steps = 0; i && steps < symbols; steps++) {
    if (symbol_is(t, i, name, length))
      return 1;
    if (!word(t->sysv_hash, 2 + (uint64_t)buckets + i, &i))
      return 0;
  }
  return 0;
}

int olp_image_defines(const olp_image *image, const char *name) {
  olp_elf elf;
  tables found;
  if (!image->data || !olp_elf_open(image->data, image->size, &elf))
    return -1;
  find_tables(&elf, &found);
  if (!found.symbols.size || !found.strings.size)
    return -1;
  if (found.gnu_hash.size)
    return in_gnu_hash(&found, name, strlen(name));
  if (found.sysv_hash.size)
    return in_sysv_hash(&found, name, strlen(name));
  return -1;
}
