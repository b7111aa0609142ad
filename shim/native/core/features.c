/* Feature sets, levels and names, over the generated tables. */
#include <string.h>

#include "olpick_tables.h"
#include "rules.h"

olp_features olp_features_join(olp_features a, olp_features b) {
  for (int i = 0; i < OLP_FEATURE_WORDS; i++)
    a.word[i] |= b.word[i];
  return a;
}

olp_features olp_features_without(olp_features a, olp_features b) {
  for (int i = 0; i < OLP_FEATURE_WORDS; i++)
    a.word[i] &= ~b.word[i];
  return a;
}

int olp_features_none(olp_features a) {
  for (int i = 0; i < OLP_FEATURE_WORDS; i++)
    if (a.word[i])
      return 0;
  return 1;
}

uint32_t olp_features_count(olp_features a) {
  uint32_t count = 0;
  for (int i = 0; i < OLP_FEATURE_WORDS; i++)
    for (uint64_t rest = a.word[i]; rest; rest &= rest - 1)
      count++;
  return count;
}

int32_t olp_level_of(olp_features features) {
  int32_t level = OLP_LEVELS;
  while (level && !olp_features_none(olp_features_without(olp_level_features[level - 1], features)))
    level--;
  return level;
}

int32_t olp_cpu_find(const char *name, uint64_t length) {
  uint32_t from = 0, to = OLP_CPU_NAME_COUNT;
  while (from < to) {
    uint32_t middle = (from + to) / 2;
    const char *known = olp_cpu_names[middle].name;
    uint64_t known_length = strlen(known), common = length < known_length ? length : known_length;
    int sign = memcmp(name, known, common);
    if (!sign)
      sign = length < known_length ? -1 : length > known_length;
    if (!sign)
      return olp_cpu_names[middle].cpu;
    if (sign < 0)
      to = middle;
    else
      from = middle + 1;
  }
  return OLP_CPU_UNKNOWN;
}
