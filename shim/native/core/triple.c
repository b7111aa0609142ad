/* Target triples, compared as triples (OLP-COMP-004). */
#include <string.h>

#include "rules.h"

enum { ARCH, VENDOR, SYSTEM, ENVIRONMENT, PARTS };

int olp_text_is(olp_text text, const char *word) {
  return text.data && text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

static int is_one_of(olp_text text, const char *const *words) {
  for (; *words; words++)
    if (olp_text_is(text, *words))
      return 1;
  return 0;
}

/* Missing parts are empty; the last part is all the rest. */
static void split(olp_text triple, olp_text parts[PARTS]) {
  int count = 0;
  const char *at = triple.data, *end = triple.data + triple.size;
  while (count < PARTS) {
    const char *dash = count == ENVIRONMENT ? NULL : memchr(at, '-', (size_t)(end - at));
    parts[count].data = at;
    parts[count++].size = (uint64_t)((dash ? dash : end) - at);
    if (!dash)
      break;
    at = dash + 1;
  }
  int three = count == 3;
  for (; count < PARTS; count++) {
    parts[count].data = "";
    parts[count].size = 0;
  }
  /* Debian's spelling x86_64-linux-gnu leaves the vendor out. */
  if (three && olp_text_is(parts[VENDOR], "linux")) {
    parts[ENVIRONMENT] = parts[SYSTEM];
    parts[SYSTEM] = parts[VENDOR];
  }
}

static int arch_is_x86_64(olp_text arch) {
  static const char *const names[] = {"x86_64", "amd64", NULL};
  return is_one_of(arch, names);
}

int olp_triple_arch_is_x86_64(olp_text triple) {
  olp_text parts[PARTS];
  if (!triple.data || !triple.size)
    return 0;
  split(triple, parts);
  return arch_is_x86_64(parts[ARCH]);
}

int olp_triple_is_host(olp_text triple) {
  static const char *const systems[] = {"", "unknown", "linux", NULL};
  static const char *const environments[] = {"", "unknown", "llvm", "gnu", NULL};
  olp_text parts[PARTS];
  if (!triple.data || !triple.size)
    return 0;
  split(triple, parts);

  olp_text system = parts[SYSTEM];
  while (system.size && strchr("0123456789.", system.data[system.size - 1]) && system.data[system.size - 1])
    system.size--;
  return arch_is_x86_64(parts[ARCH]) && is_one_of(system, systems) && is_one_of(parts[ENVIRONMENT], environments);
}
