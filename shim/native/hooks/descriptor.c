#define _GNU_SOURCE
#include "descriptor.h"

#include <link.h>
#include <string.h>

/* How far before an image its container's header may lie. Strings of a megabyte are beyond anything that was seen. */
enum { LOOK_BACK = 1 << 20 };

typedef struct entry {
  uint64_t reserved;
  uint16_t version, kind;
  uint32_t flags;
  void *address;
  const char *name;
  uint64_t size, data;
  void *aux;
} entry;

typedef struct old_entry {
  void *address;
  const char *name;
  uint64_t size;
  int32_t flags, data;
} old_entry;

/* The loaded, readable segment around a range. */
typedef struct around {
  uintptr_t start, end;
  uintptr_t segment_start, segment_end;
} around;

static int is_around(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  around *range = data;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t from = info->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R) || range->start < from || range->end > to || to < from)
      continue;
    range->segment_start = from;
    range->segment_end = to;
    return 1;
  }
  return 0;
}

/* The one place that looks for the magic; that the entry found is exactly the image proves that it is the header. */
static int read_container(const around *range, olp_image *image) {
  uintptr_t lowest = range->start - range->segment_start > LOOK_BACK ? range->start - LOOK_BACK : range->segment_start;
  static const unsigned char magic[4] = {0x10, 0xFF, 0x10, 0xAD};
  for (uintptr_t at = range->start & ~(uintptr_t)7; at >= lowest && at <= range->start; at -= 8) {
    const unsigned char *header = (const unsigned char *)at;
    if (range->segment_end - at < sizeof magic || memcmp(header, magic, sizeof magic) != 0)
      continue;
    olp_walk walk;
    olp_problem problem;
    olp_walk_start(&walk, header, range->segment_end - at);
    if (olp_walk_next(&walk, image, &problem) == OLP_WALK_IMAGE && (uintptr_t)image->data == range->start &&
        image->size == range->end - range->start)
      return 1;
  }
  return 0;
}

void olp_tgt_read_image(const olp_tgt_image *from, olp_image *image) {
  around range = {(uintptr_t)from->start, (uintptr_t)from->end, 0, 0};
  memset(image, 0, sizeof *image);
  if (!from->start || range.end <= range.start)
    return; /* empty, or reversed: there are no bytes to look at */
  if (dl_iterate_phdr(is_around, &range) && read_container(&range, image))
    return;
  memset(image, 0, sizeof *image);
  image->data = from->start;
  image->size = range.end - range.start;
}

static int is_old(const olp_tgt_descriptor *descriptor) { return ((const entry *)descriptor->entries_begin)->reserved != 0; }

uint64_t olp_tgt_entry_count(const olp_tgt_descriptor *descriptor) {
  uintptr_t begin = (uintptr_t)descriptor->entries_begin, end = (uintptr_t)descriptor->entries_end;
  if (!begin || end <= begin || end - begin < sizeof(old_entry))
    return 0;
  return (end - begin) / (is_old(descriptor) ? sizeof(old_entry) : sizeof(entry));
}

const char *olp_tgt_entry_name(const olp_tgt_descriptor *descriptor, uint64_t i) {
  return is_old(descriptor) ? ((const old_entry *)descriptor->entries_begin)[i].name : ((const entry *)descriptor->entries_begin)[i].name;
}
