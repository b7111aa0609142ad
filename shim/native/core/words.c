/* Numbers to words, over the generated tables. */
#include "olpick_tables.h"

const char *olp_word(uint32_t list, uint32_t code) {
  return list < OLP_LIST_COUNT && code < olp_word_lists[list].count ? olp_word_lists[list].words[code] : NULL;
}

const char *olp_feature_name(uint32_t feature) { return feature < OLP_FEATURE_COUNT ? olp_feature_table[feature].name : NULL; }

const char *olp_cpu_name(int32_t cpu) { return cpu >= 0 && cpu < OLP_CPU_COUNT ? olp_cpus[cpu].name : NULL; }

const char *olp_version(void) { return OLP_VERSION_TEXT; }

uint32_t olp_abi(void) { return OLP_ABI; }
