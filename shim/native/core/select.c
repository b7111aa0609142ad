/* The order of eligible images and the choice: sections 4 and 5 of the specification. */
#include <string.h>

#include "olpick_tables.h"
#include "rules.h"

static uint32_t priority_of(const olp_image *image) {
  uint32_t priority;
  olp_parse_priority(image->key[OLP_KEY_VARIANT_PRIORITY], &priority);
  return priority;
}

static uint32_t tokens_of(const olp_image *image) {
  olp_features tokens;
  int unknown;
  olp_parse_tokens(image->key[OLP_KEY_REQUIRES_FEATURES], &tokens, &unknown);
  return olp_features_count(tokens);
}

/* OLP-ORD-005: is it this CPU's own, how well is the label known, its level, its number of features. */
static uint64_t closeness_of(const olp_facts *facts, const olp_device *device) {
  uint64_t known = facts->label == OLP_CPU_UNKNOWN ? 0 : facts->label >= 0 && facts->label == device->cpu ? 2 : 1;
  return known << 32 | (uint64_t)olp_level_of(facts->features) << 16 | olp_features_count(facts->features);
}

uint32_t olp_compare(const olp_image *images, const olp_verdict *verdicts, const olp_device *device, uint32_t a, uint32_t b,
                     int *a_wins) {
  const olp_image *image_a = &images[a], *image_b = &images[b];
  const olp_facts *facts_a = &verdicts[a].facts, *facts_b = &verdicts[b].facts;
#define STEP(step, value_a, value_b)                                                                                                       \
  do {                                                                                                                                     \
    uint64_t for_a = (value_a), for_b = (value_b);                                                                                         \
    if (for_a != for_b) {                                                                                                                  \
      *a_wins = for_a > for_b;                                                                                                             \
      return step;                                                                                                                         \
    }                                                                                                                                      \
  } while (0)
  STEP(OLP_STEP_NATIVE, facts_a->form != OLP_FORM_BITCODE, facts_b->form != OLP_FORM_BITCODE);
  STEP(OLP_STEP_PRIORITY, priority_of(image_a), priority_of(image_b));
  STEP(OLP_STEP_CLOSENESS, closeness_of(facts_a, device), closeness_of(facts_b, device));
  STEP(OLP_STEP_TOKENS, tokens_of(image_a), tokens_of(image_b));
  STEP(OLP_STEP_TAG, olp_tag_value(image_a->key[OLP_KEY_VARIANT_TAG]), olp_tag_value(image_b->key[OLP_KEY_VARIANT_TAG]));
#undef STEP
  *a_wins = a < b;
  return OLP_STEP_ORDER;
}

/* The ranking of one call. */
typedef struct ranking {
  const olp_image *images;
  const olp_verdict *verdicts;
  const olp_device *device;
} ranking;

static int before(const ranking *r, uint32_t a, uint32_t b) {
  int a_wins;
  olp_compare(r->images, r->verdicts, r->device, a, b, &a_wins);
  return a_wins;
}

static void sift_down(const ranking *r, uint32_t *heap, uint64_t root, uint64_t count) {
  for (;;) {
    uint64_t child = 2 * root + 1;
    if (child >= count)
      return;
    if (child + 1 < count && before(r, heap[child], heap[child + 1]))
      child++;
    if (before(r, heap[child], heap[root]))
      return;
    uint32_t swap = heap[root];
    heap[root] = heap[child];
    heap[child] = swap;
    root = child;
  }
}

/* A heap sort: in place, and never worse than n log n, whatever the container. The order is total, so it need not be stable. */
static void sort(const ranking *r, uint32_t *items, uint64_t count) {
  for (uint64_t root = count / 2; root-- > 0;)
    sift_down(r, items, root, count);
  for (uint64_t last = count; last-- > 1;) {
    uint32_t swap = items[0];
    items[0] = items[last];
    items[last] = swap;
    sift_down(r, items, 0, last);
  }
}

/* OLP-ORD-004's findings, which depend on what the other eligible images state. */
static void note_priorities(const olp_image *images, olp_verdict *verdicts, const uint32_t *eligible, uint64_t count) {
  int stated = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint32_t ignored;
    olp_text value = images[eligible[i]].key[OLP_KEY_VARIANT_PRIORITY];
    stated |= value.data != NULL;
    if (value.data && !olp_parse_priority(value, &ignored))
      verdicts[eligible[i]].findings |= 1u << OLP_FINDING_MALFORMED_KEY;
  }
  for (uint64_t i = 0; stated && i < count; i++)
    if (!images[eligible[i]].key[OLP_KEY_VARIANT_PRIORITY].data)
      verdicts[eligible[i]].findings |= 1u << OLP_FINDING_PRIORITY_UNSTATED;
}

/* Policy first: what the runtime takes and refuses, in its own order (OLP-POL-002). */
static void judge_as_upstream(const olp_image *image, olp_verdict *verdict) {
  int accepted = olp_upstream_accepts(image);
  verdict->verdict = accepted ? OLP_VERDICT_ELIGIBLE : OLP_VERDICT_REJECTED;
  verdict->reason = accepted ? OLP_REASON_ACCEPTED : OLP_REASON_RUNTIME_REFUSES;
  memset(&verdict->missing, 0, sizeof verdict->missing);
}

int64_t olp_select(const olp_image *images, uint64_t count, const olp_device *device, uint32_t policy, olp_verdict *verdicts,
                   uint32_t *order) {
  ranking r = {images, verdicts, device};
  uint64_t eligible = 0, rejected = 0;
  for (uint64_t i = 0; i < count; i++) {
    olp_judge(&images[i], device, &verdicts[i]);
    if (policy == OLP_POLICY_FIRST)
      judge_as_upstream(&images[i], &verdicts[i]);
    if (verdicts[i].verdict == OLP_VERDICT_ELIGIBLE)
      order[eligible++] = (uint32_t)i;
  }
  if (policy != OLP_POLICY_FIRST) {
    note_priorities(images, verdicts, order, eligible);
    sort(&r, order, eligible);
  }

  for (uint64_t i = 0; i < count; i++)
    if (verdicts[i].verdict == OLP_VERDICT_REJECTED)
      order[eligible + rejected++] = (uint32_t)i;
  for (uint64_t i = 0; i < eligible; i++) {
    olp_verdict *verdict = &verdicts[order[i]];
    int ignored;
    verdict->rank = (uint32_t)i + 1;
    if (i && policy == OLP_POLICY_FIRST)
      verdict->lost_at = OLP_STEP_ORDER;
    else if (i)
      verdict->lost_at = olp_compare(images, verdicts, device, order[0], order[i], &ignored);
  }
  if (!eligible)
    return -1;
  verdicts[order[0]].verdict = OLP_VERDICT_SELECTED;
  return order[0];
}

int64_t olp_first_compatible(const olp_image *images, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    if (olp_upstream_accepts(&images[i]))
      return (int64_t)i;
  return -1;
}
