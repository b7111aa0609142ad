/* The number of devices, and where a region ran: 1 on the host, 0 on a device. */
#include <omp.h>
#include <stdio.h>

int main(void) {
  int on_host = -1;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  printf("devices %d, on host %d\n", omp_get_num_devices(), on_host);
  return 0;
}
