/* libomptarget's registration structures, and reading them. Internal.
 *
 * The layouts are LLVM's ABI between compiler and runtime, the same in 64-bit releases 12 to 22 but for the entry, which has an old and a
 * new form (LLVM 20): told apart by the first word, which the new form keeps at 0. */
#ifndef OLP_DESCRIPTOR_H
#define OLP_DESCRIPTOR_H

#include <stdint.h>

#include "olpick.h"

typedef struct olp_tgt_image {
  void *start, *end;                  /* of the image inside its container */
  void *entries_begin, *entries_end;
} olp_tgt_image;

typedef struct olp_tgt_descriptor {
  int32_t count;
  olp_tgt_image *images;
  void *entries_begin, *entries_end;  /* the host's */
} olp_tgt_descriptor;

/* Fills an image from a descriptor's: its bytes, and the strings of the OffloadBinary around them where they lie in a loaded segment
 * (OLP-REG-007). */
void olp_tgt_read_image(const olp_tgt_image *from, olp_image *image);

/* The number of host entries, 0 when the range makes no sense, and the symbol name of one, NULL when it has none. */
uint64_t olp_tgt_entry_count(const olp_tgt_descriptor *descriptor);
const char *olp_tgt_entry_name(const olp_tgt_descriptor *descriptor, uint64_t i);

#endif
