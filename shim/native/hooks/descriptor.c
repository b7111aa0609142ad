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

/* Whether a header stands at an 8-aligned place, with an entry that is exactly the range.
 *
 * Until that is known the bytes looked at are the program's own, of any kind. A program built with AddressSanitizer has red zones among them, and reports
 * every memcmp that touches one; so these are plain loads, and hidden from our own sanitized builds too. */
__attribute__((no_sanitize("address"))) static int is_header(uintptr_t at, const around *range) {
  typedef uint32_t __attribute__((may_alias)) word;
  typedef uint64_t __attribute__((may_alias)) field;
  enum { HEADER_AND_ENTRY = 72, ENTRY = 40 };
  uintptr_t left = range->segment_end - at;
  if (left < HEADER_AND_ENTRY || *(const word *)at != 0xAD10FF10u)
    return 0;
  uint64_t entry_at = ((const field *)at)[2], count = ((const word *)at)[1] == 1 ? 1 : ((const field *)at)[3];
  if (entry_at % 8 || entry_at > left - ENTRY)
    return 0;
  for (; count && entry_at <= left - ENTRY; count--, entry_at += ENTRY) {
    const field *fields = (const field *)(at + entry_at);
    if (fields[3] == range->start - at && fields[4] == range->end - range->start)
      return 1;
  }
  return 0;
}

/* The one place that looks for the magic; that the entry found is exactly the image proves that it is the header. */
static int read_container(const around *range, olp_image *image) {
  uintptr_t lowest = range->start - range->segment_start > LOOK_BACK ? range->start - LOOK_BACK : range->segment_start;
  for (uintptr_t at = range->start & ~(uintptr_t)7; at >= lowest && at <= range->start; at -= 8) {
    if (!is_header(at, range))
      continue;
    olp_walk walk;
    olp_problem problem;
    olp_walk_start(&walk, (const void *)at, range->segment_end - at);
    while (olp_walk_next(&walk, image, &problem) == OLP_WALK_IMAGE && image->binary == 0)
      if ((uintptr_t)image->data == range->start && image->size == range->end - range->start)
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
