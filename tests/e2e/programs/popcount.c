/* The bits of an array, which a compiler counts in very different ways. */
#include <stdint.h>
#include <stdio.h>

enum { N = 65536 };
static uint64_t values[N];

int main(void) {
  for (uint64_t i = 0; i < N; i++)
    values[i] = i * 0x9E3779B97F4A7C15u;
  uint64_t sum = 0;
#pragma omp target map(to : values) map(tofrom : sum)
  {
    uint64_t bits = 0;
    for (int i = 0; i < N; i++)
      bits += (uint64_t)__builtin_popcountll(values[i]);
    sum = bits;
  }
  printf("%lu\n", (unsigned long)sum);
  return 0;
}
