/* Counts the bits in which an array differs from a few keys. Compilers count bits in very different ways for different processors.
 *
 * The sum goes to standard output, the median time of a launch to standard error.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 65536, KEYS = 10, LAUNCHES = 21 };

static uint64_t words[WORDS];

static int compare(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

int main(void) {
  for (uint64_t i = 0; i < WORDS; i++)
    words[i] = i * 0x9e3779b97f4a7c15u;

  uint64_t sum = 0;
  double took[LAUNCHES];
#pragma omp target data map(to : words)
  for (int launch = 0; launch < LAUNCHES; launch++) {
    uint64_t bits = 0;
    double start = omp_get_wtime();
#pragma omp target map(tofrom : bits)
    {
      uint64_t total = 0;
      for (uint64_t key = 0; key < KEYS; key++)
        for (int i = 0; i < WORDS; i++)
          total += (uint64_t)__builtin_popcountll(words[i] ^ key);
      bits = total;
    }
    took[launch] = omp_get_wtime() - start;
    sum = sum * 31 + bits;
  }
  qsort(took, LAUNCHES, sizeof took[0], compare);
  fprintf(stderr, "kernel_us=%.1f\n", took[LAUNCHES / 2] * 1e6);
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
