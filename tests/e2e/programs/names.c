/* Defines, and exports, functions with names of the library's own. */
#include <stdio.h>
#include <stdlib.h>

long olp_select(void) { abort(); }
long olp_device_host(void) { abort(); }
long olp_walk_next(void) { abort(); }
long olp_arrange(void) { abort(); }

int main(void) {
  int value = 0;
#pragma omp target map(tofrom : value)
  value = 7;
  printf("%d\n", value);
  return 0;
}
