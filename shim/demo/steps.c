/* Counts the steps of Collatz sequences: integer code, for which a compiler for a processor with APX uses APX instructions at once.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdint.h>
#include <stdio.h>

enum { STARTS = 20000 };

int main(void) {
  uint64_t sum = 0;
#pragma omp target map(tofrom : sum)
  {
    uint64_t total = 0;
    for (uint64_t start = 1; start <= STARTS; start++) {
      uint64_t x = start, steps = 0;
      while (x != 1) {
        x = (x & 1) ? 3 * x + 1 : x >> 1;
        steps++;
      }
      total = total * 31 + steps;
    }
    sum = total;
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
