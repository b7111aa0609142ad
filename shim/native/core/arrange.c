/* In which order the images of one libomptarget descriptor should stand: section 6 of the specification.
 *
 * libomptarget gives each device the first image of a descriptor that its check takes, and numbers devices in the order in which
 * they get one. So images change places only within one machine, and hardly ever leave. */
#include "olpick_tables.h"
#include "rules.h"

/* OLP-REG-004: the least doubtful first. Equal classes keep container order, which the index at the end does. */
static uint64_t place_of(const olp_verdict *verdict, uint32_t index) {
  enum { ELIGIBLE, LACKS_FEATURES, PROMISE, CERTAIN };
  uint64_t class, within = 0;
  if (verdict->verdict != OLP_VERDICT_REJECTED) {
    class = ELIGIBLE;
    within = verdict->rank;
  } else if (verdict->reason == OLP_REASON_CPU_FEATURES) {
    class = LACKS_FEATURES;
    within = olp_features_count(verdict->missing);
  } else {
    class = olp_reason_class[verdict->reason] == 'P' ? PROMISE : CERTAIN;
  }
  return class << 60 | within << 32 | index;
}

static void sort(uint64_t *items, uint64_t count) {
  for (uint64_t i = 1; i < count; i++) {
    uint64_t item = items[i], at = i;
    for (; at && items[at - 1] > item; at--)
      items[at] = items[at - 1];
    items[at] = item;
  }
}

/* OLP-REG-005. An image that lacks a symbol of upstream's pick would turn a working region into an error. */
static int may_replace(const olp_image *image, const olp_image *pick, const char *const *symbols, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    if (olp_image_defines(pick, symbols[i]) != 0 && olp_image_defines(image, symbols[i]) != 1)
      return 0;
  return 1;
}

/* Moves those that may not stand before upstream's pick behind it, in their order. */
static void hold_back(const olp_image *images, const olp_verdict *verdicts, uint32_t pick, const char *const *symbols,
                      uint64_t symbol_count, uint64_t *items, uint64_t count) {
  if (verdicts[pick].reason == OLP_REASON_MALFORMED_IMAGE)
    return;
  uint64_t at = 0;
  while (at < count && (uint32_t)items[at] != pick)
    at++;
  for (uint64_t i = at; i-- > 0;) {
    if (may_replace(&images[(uint32_t)items[i]], &images[pick], symbols, symbol_count))
      continue;
    uint64_t held = items[i];
    for (uint64_t j = i; j < at; j++)
      items[j] = items[j + 1];
    items[at--] = held;
  }
}

uint64_t olp_arrange(const olp_image *images, uint64_t count, const olp_device *device, const char *const *symbols,
                     uint64_t symbol_count, int may_leave_out, olp_verdict *verdicts, uint32_t *order, uint64_t *scratch) {
  olp_select(images, count, device, OLP_POLICY_BEST, verdicts, order);

  uint64_t group = 0;
  int all_impossible = 1;
  for (uint64_t i = 0; i < count; i++) {
    order[i] = (uint32_t)i;
    if (!olp_upstream_accepts(&images[i]))
      continue;
    scratch[group++] = place_of(&verdicts[i], (uint32_t)i);
    all_impossible &= verdicts[i].reason == OLP_REASON_WRONG_PROCESSOR;
  }
  if (!group)
    return count;

  uint64_t kept = 0;
  if (all_impossible && may_leave_out) {
    for (uint64_t i = 0; i < count; i++)
      if (!olp_upstream_accepts(&images[i]))
        order[kept++] = (uint32_t)i;
    return kept;
  }

  uint32_t pick = (uint32_t)olp_first_compatible(images, count);
  sort(scratch, group);
  hold_back(images, verdicts, pick, symbols, symbol_count, scratch, group);
  for (uint64_t i = 0; i < count; i++)
    if (olp_upstream_accepts(&images[i]))
      order[i] = (uint32_t)scratch[kept++];
  return count;
}
