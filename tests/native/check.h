/* The smallest test frame: CHECK counts, says what failed and where, and main returns check_result(). */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int check_failures, check_count;

#define CHECK(condition)                                                                                                                   \
  do {                                                                                                                                     \
    check_count++;                                                                                                                         \
    if (!(condition)) {                                                                                                                    \
      check_failures++;                                                                                                                    \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                                              \
    }                                                                                                                                      \
  } while (0)

static inline int check_result(void) {
  printf("%d passed, %d failed\n", check_count - check_failures, check_failures);
  return check_failures || !check_count;
}

#endif
