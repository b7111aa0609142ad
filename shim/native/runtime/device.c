/* The CPU as a device: this machine's, or one by name. */
#include <string.h>

#include "device.h"
#include "olpick_tables.h"
#include "rules.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { EAX, EBX, ECX, EDX };

static const uint32_t extended = 0x80000000u; /* the first leaf of the second row of leaves */
static const uint32_t osxsave = 1u << 27;     /* of leaf 1, ECX: the system uses XSAVE, and XCR0 can be read */

/* ---- From answers to a device ---- */

static const olp_leaf *stored(const olp_leaves *leaves, uint32_t leaf, uint32_t subleaf) {
  for (uint32_t i = 0; i < leaves->count && i < OLP_LEAVES_MOST; i++)
    if (leaves->leaf[i].leaf == leaf && leaves->leaf[i].subleaf == subleaf)
      return &leaves->leaf[i];
  return NULL;
}

/* Whether the CPU has a leaf: the first leaf of its row names the last one in EAX; subleaf 0 of a leaf, the last subleaf. This holds of
 * every leaf that the tables name, not of every leaf there is. */
static int exists(const olp_leaves *leaves, uint32_t leaf, uint32_t subleaf) {
  const olp_leaf *first = stored(leaves, leaf & extended, 0);
  if (leaf != (leaf & extended) && (!first || first->reg[EAX] < leaf))
    return 0;
  if (!subleaf)
    return 1;
  const olp_leaf *zero = stored(leaves, leaf, 0);
  return zero && zero->reg[EAX] >= subleaf;
}

const olp_leaf *olp_leaf_find(const olp_leaves *leaves, uint32_t leaf, uint32_t subleaf) {
  return exists(leaves, leaf, subleaf) ? stored(leaves, leaf, subleaf) : NULL;
}

/* The value of a field, 0 where the leaf is not there. */
static uint32_t value_of(const olp_leaves *leaves, olp_cpuid_field field) {
  const olp_leaf *leaf = olp_leaf_find(leaves, field.leaf, field.subleaf);
  return leaf ? leaf->reg[field.reg] >> field.bit & (uint32_t)((1ull << field.width) - 1) : 0;
}

/* Which registers the system saves and restores, so that a program may use them. */
static uint64_t enabled_registers(const olp_leaves *leaves) {
  const olp_leaf *one = olp_leaf_find(leaves, 1, 0);
  return one && one->reg[ECX] & osxsave ? leaves->xcr0 : 0;
}

static olp_features features_of(const olp_leaves *leaves) {
  olp_features features = {{0}};
  uint64_t enabled = enabled_registers(leaves);
  for (uint32_t i = 0; i < OLP_FEATURE_COUNT; i++) {
    const olp_feature *row = &olp_feature_table[i];
    if (row->given.width && !value_of(leaves, row->given))
      continue;
    if (value_of(leaves, row->field) >= row->least && (row->xcr0 & ~enabled) == 0)
      features.word[i / 64] |= 1ull << i % 64;
  }
  return features;
}

/* The vendor's place in olp_vendors, or OLP_VENDOR_COUNT. */
static uint32_t vendor_of(const olp_leaves *leaves) {
  const olp_leaf *zero = olp_leaf_find(leaves, 0, 0);
  uint32_t vendor = zero ? 0 : OLP_VENDOR_COUNT;
  for (; vendor < OLP_VENDOR_COUNT; vendor++) {
    const char *text = olp_vendors[vendor];
    if (memcmp(text, &zero->reg[EBX], 4) == 0 && memcmp(text + 4, &zero->reg[EDX], 4) == 0 && memcmp(text + 8, &zero->reg[ECX], 4) == 0)
      break;
  }
  return vendor;
}

static int32_t name_of(const olp_leaves *leaves, olp_features features) {
  const olp_leaf *one = olp_leaf_find(leaves, 1, 0);
  if (!one)
    return OLP_CPU_UNKNOWN;
  uint32_t vendor = vendor_of(leaves);
  uint32_t signature = one->reg[EAX];
  uint32_t family = signature >> 8 & 0xf;
  uint32_t model = signature >> 4 & 0xf;
  if (family == 6 || family == 15)
    model |= signature >> 12 & 0xf0;
  if (family == 15)
    family += signature >> 20 & 0xff;
  for (uint32_t i = 0; i < OLP_MODEL_COUNT; i++) {
    const olp_model *row = &olp_models[i];
    if (row->vendor != vendor || row->family != family || model < row->first || model > row->last)
      continue;
    if (row->needs < 0 || features.word[row->needs / 64] >> row->needs % 64 & 1)
      return row->cpu;
  }
  return OLP_CPU_UNKNOWN;
}

void olp_device_from(const olp_leaves *leaves, olp_device *device) {
  device->features = features_of(leaves);
  device->cpu = name_of(leaves, device->features);
}

/* ---- Asking this machine ---- */

#if defined(__x86_64__)

static void ask(olp_leaves *leaves, uint32_t leaf, uint32_t subleaf) {
  if (leaves->count == OLP_LEAVES_MOST || stored(leaves, leaf, subleaf) || !exists(leaves, leaf, subleaf))
    return;
  olp_leaf *answer = &leaves->leaf[leaves->count++];
  answer->leaf = leaf;
  answer->subleaf = subleaf;
  __cpuid_count(leaf, subleaf, answer->reg[EAX], answer->reg[EBX], answer->reg[ECX], answer->reg[EDX]);
}

static void ask_for(olp_leaves *leaves, olp_cpuid_field field) {
  ask(leaves, field.leaf, 0); /* which says whether there is the subleaf */
  ask(leaves, field.leaf, field.subleaf);
}

static uint64_t read_xcr0(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

int olp_leaves_read(olp_leaves *leaves) {
  memset(leaves, 0, sizeof *leaves);
  ask(leaves, 0, 0);
  ask(leaves, 1, 0);
  ask(leaves, extended, 0);
  for (uint32_t i = 0; i < OLP_FEATURE_COUNT; i++) {
    if (olp_feature_table[i].given.width)
      ask_for(leaves, olp_feature_table[i].given);
    ask_for(leaves, olp_feature_table[i].field);
  }
  const olp_leaf *one = olp_leaf_find(leaves, 1, 0);
  if (one && one->reg[ECX] & osxsave)
    leaves->xcr0 = read_xcr0();
  return 0;
}

#else

int olp_leaves_read(olp_leaves *leaves) {
  memset(leaves, 0, sizeof *leaves);
  return -1;
}

#endif

int olp_device_host(olp_device *device) {
  olp_leaves leaves;
  if (olp_leaves_read(&leaves) != 0)
    return -1;
  olp_device_from(&leaves, device);
  return 0;
}

int olp_device_named(const char *name, olp_device *device) {
  int32_t cpu = olp_cpu_find(name, strlen(name));
  if (cpu < 0)
    return -1;
  device->features = olp_cpus[cpu].features;
  device->cpu = cpu;
  return 0;
}
