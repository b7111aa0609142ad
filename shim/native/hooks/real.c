#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static olp_function *as_function(void *symbol) {
  olp_function *function;
  memcpy(&function, &symbol, sizeof function); /* ISO C has no cast between the two */
  return function;
}

/* What a loaded object, with its dependencies, has under this name. */
static olp_function *in_object(const char *file, const char *symbol) {
  void *object = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (!object)
    return NULL;
  olp_function *found = as_function(dlsym(object, symbol));
  dlclose(object);
  return found;
}

typedef struct wanted {
  const char *library;
  char file[4096];
} wanted;

static int is_wanted(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  wanted *want = data;
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *base = slash ? slash + 1 : info->dlpi_name;
  if (strncmp(base, want->library, strlen(want->library)) != 0 || strlen(info->dlpi_name) >= sizeof want->file)
    return 0;
  memcpy(want->file, info->dlpi_name, strlen(info->dlpi_name) + 1);
  return 1;
}

olp_function *olp_real(const char *symbol, const char *library, const void *caller, olp_function *own) {
  olp_function *found = as_function(dlsym(RTLD_NEXT, symbol));
  if (found && found != own)
    return found;

  Dl_info object;
  found = dladdr(caller, &object) && object.dli_fname ? in_object(object.dli_fname, symbol) : NULL;
  if (!found || found == own) {
    wanted want = {library, ""};
    found = dl_iterate_phdr(is_wanted, &want) ? in_object(want.file, symbol) : NULL;
  }
  dlerror(); /* what failed here is not the program's business */
  return found == own ? NULL : found;
}
