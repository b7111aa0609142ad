/* Collatz step counts: integer code, for which a compiler for APX uses new instructions at once. */
#include <stdio.h>

int main(void) {
  unsigned long sum = 0;
#pragma omp target map(tofrom : sum)
  {
    unsigned long total = 0;
    for (unsigned i = 1; i < 20000; i++) {
      unsigned long x = i;
      unsigned steps = 0;
      while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x >> 1;
        steps++;
      }
      total = total * 31 + steps;
    }
    sum = total;
  }
  printf("%lu\n", sum);
  return 0;
}
