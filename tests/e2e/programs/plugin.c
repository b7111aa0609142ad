/* A plugin with a region of its own; two are built, with the same kernel name and different answers. */
int run(void) {
  int value = 0;
#pragma omp target map(tofrom : value)
  value = ANSWER;
  return value;
}
