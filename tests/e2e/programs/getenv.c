/* Defines getenv itself, over a table that its own constructor makes. */
#include <stdio.h>
#include <string.h>

static char **table;

__attribute__((constructor)) static void make(void) {
  static char *made[] = {"A=1", NULL};
  table = made;
}

char *getenv(const char *name) {
  for (char **entry = table; *entry; entry++)
    if (strncmp(*entry, name, strlen(name)) == 0)
      return *entry;
  return NULL;
}

int main(void) {
  puts("fine");
  return 0;
}
