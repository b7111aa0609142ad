/* What a CPU is, from what its CPUID instruction says. Internal.
 *
 * The instruction is asked in olp_leaves_read; what follows from its answers is olp_device_from, which has no other input and can be
 * given the answers of a CPU that is not here. */
#ifndef OLP_DEVICE_H
#define OLP_DEVICE_H

#include "olpick.h"

/* The answer for one leaf and subleaf: EAX, EBX, ECX, EDX. */
typedef struct olp_leaf {
  uint32_t leaf;
  uint32_t subleaf;
  uint32_t reg[4];
} olp_leaf;

enum { OLP_LEAVES_MOST = 16 };

typedef struct olp_leaves {
  uint32_t count;
  olp_leaf leaf[OLP_LEAVES_MOST];
  uint64_t xcr0; /* of no meaning unless leaf 1 says that the system uses XSAVE */
} olp_leaves;

/* The answer that stands in the table, or NULL where there is none, or where the CPU does not have that leaf or subleaf: for those the
 * instruction answers too, with whatever it likes. */
const olp_leaf *olp_leaf_find(const olp_leaves *leaves, uint32_t leaf, uint32_t subleaf);

/* The features, each present and enabled by the operating system, and the name. */
void olp_device_from(const olp_leaves *leaves, olp_device *device);

/* Asks the instruction for all that olp_device_from looks at. 0, or -1 where there is no such instruction. */
int olp_leaves_read(olp_leaves *leaves);

#endif
