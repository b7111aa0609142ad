/* Whether an image may run on a device, and why not: section 3 of the specification. The first rule that fails gives the reason. */
#include <string.h>

#include "bytes.h"
#include "elf64.h"
#include "olpick_tables.h"
#include "rules.h"

static int is_container(uint32_t form) {
  return form == OLP_FORM_UNKNOWN || form == OLP_FORM_FATBIN || form == OLP_FORM_CLANG_BUNDLE || form == OLP_FORM_COMPRESSED_BUNDLE ||
         form == OLP_FORM_OFFLOAD_BINARY;
}

static int same(olp_features a, olp_features b) { return memcmp(&a, &b, sizeof a) == 0; }

static uint32_t fitting(const olp_facts *facts, const olp_device *device) {
  if (facts->form == OLP_FORM_BITCODE)
    return OLP_REASON_JIT;
  if (facts->label == OLP_CPU_UNKNOWN)
    return OLP_REASON_UNKNOWN_CPU;
  if (facts->label >= 0 && facts->label == device->cpu)
    return OLP_REASON_EXACT;
  return same(facts->features, olp_level_features[0]) ? OLP_REASON_GENERIC : OLP_REASON_CPU_LEVEL;
}

static uint32_t reason_for(const olp_image *image, const olp_device *device, const olp_facts *facts, olp_features *missing) {
  if (image->metadata_only)
    return OLP_REASON_METADATA_ONLY;
  if (facts->form == OLP_FORM_EMPTY)
    return OLP_REASON_EMPTY_IMAGE;
  if (is_container(facts->form))
    return OLP_REASON_UNKNOWN_FORM;
  if (facts->malformed)
    return OLP_REASON_MALFORMED_IMAGE;

  olp_text triple = image->key[OLP_KEY_TRIPLE];
  if (triple.size && !olp_triple_is_host(triple))
    return OLP_REASON_WRONG_TRIPLE;
  if (facts->form != OLP_FORM_HOST_ELF && !(facts->form == OLP_FORM_BITCODE && triple.size))
    return OLP_REASON_WRONG_MACHINE;

  if (facts->level) {
    *missing = olp_features_without(olp_level_features[facts->level - 1], device->features);
    if (!olp_features_none(*missing))
      return OLP_REASON_WRONG_PROCESSOR;
  }
  if (facts->label >= 0) {
    *missing = olp_features_without(olp_cpus[facts->label].features, device->features);
    if (!olp_features_none(*missing))
      return OLP_REASON_CPU_FEATURES;
  }

  olp_features tokens;
  int unknown;
  if (!olp_parse_tokens(image->key[OLP_KEY_REQUIRES_FEATURES], &tokens, &unknown))
    return OLP_REASON_MALFORMED_CONSTRAINT;
  *missing = olp_features_without(tokens, device->features);
  if (unknown || !olp_features_none(*missing))
    return OLP_REASON_MISSING_FEATURE;
  return fitting(facts, device);
}

void olp_judge(const olp_image *image, const olp_device *device, olp_verdict *verdict) {
  memset(verdict, 0, sizeof *verdict);
  olp_image_facts(image, &verdict->facts);
  verdict->findings = image->findings | verdict->facts.findings;
  verdict->reason = reason_for(image, device, &verdict->facts, &verdict->missing);
  verdict->verdict = olp_reason_class[verdict->reason] == 'E' ? OLP_VERDICT_ELIGIBLE : OLP_VERDICT_REJECTED;
  verdict->lost_at = OLP_STEP_COUNT;
}

int olp_upstream_accepts(const olp_image *image) {
  const unsigned char *data = image->data;
  if (!data || !image->size || image->metadata_only)
    return 0;
  olp_facts facts;
  olp_image_facts(image, &facts);
  if (facts.form == OLP_FORM_BITCODE)
    return olp_triple_arch_is_x86_64(image->key[OLP_KEY_TRIPLE]);
  if (image->size < OLP_ELF_HEADER || memcmp(data, "\x7f" "ELF\x02", 5) != 0)
    return 0;

  uint32_t type, machine;
  if (data[5] == 1) {
    type = olp_u16(data + 16);
    machine = olp_u16(data + 18);
  } else if (data[5] == 2) {
    type = (uint32_t)(data[16] << 8 | data[17]);
    machine = (uint32_t)(data[18] << 8 | data[19]);
  } else {
    return 0;
  }
  enum { ET_EXEC = 2, ET_DYN = 3 };
  return machine == OLP_EM_X86_64 && (type == ET_EXEC || type == ET_DYN);
}
