/* Calls libomptarget's registration by hand, in orders that no compiler would: argv[1] says which, argv[2] is a host image. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  void *start, *end, *entries_begin, *entries_end;
} image;
typedef struct {
  int32_t count;
  image *images;
  void *entries_begin, *entries_end;
} descriptor;

void __tgt_register_lib(descriptor *);
void __tgt_unregister_lib(descriptor *);

enum { MOST = 8 };
static image images[MOST][2];
static descriptor descriptors[MOST];

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  FILE *file = fopen(argv[2], "rb");
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *data = malloc(size);
  if (fread(data, 1, size, file) != size)
    return 2;
  for (int i = 0; i < MOST; i++) {
    for (int j = 0; j < 2; j++)
      images[i][j] = (image){data, data + size, NULL, NULL};
    descriptors[i] = (descriptor){2, images[i], NULL, NULL};
  }

  descriptor *one = &descriptors[0];
  const char *how = argv[1];
  if (!strcmp(how, "twice")) {
    __tgt_register_lib(one);
    __tgt_register_lib(one);
    __tgt_unregister_lib(one);
    __tgt_unregister_lib(one);
  } else if (!strcmp(how, "unknown")) {
    __tgt_register_lib(one);
    __tgt_unregister_lib(&descriptors[1]);
    __tgt_unregister_lib(one);
  } else if (!strcmp(how, "unregister-first")) {
    __tgt_unregister_lib(one);
  } else if (!strcmp(how, "unregister-twice")) {
    __tgt_register_lib(one);
    __tgt_unregister_lib(one);
    __tgt_unregister_lib(one);
  } else if (!strcmp(how, "no-images")) {
    one->count = 0;
    __tgt_register_lib(one);
    __tgt_unregister_lib(one);
  } else if (!strcmp(how, "null-images")) {
    one->count = 0;
    one->images = NULL;
    __tgt_register_lib(one);
    __tgt_unregister_lib(one);
  } else if (!strcmp(how, "empty-image")) {
    images[0][0].end = images[0][0].start;
    __tgt_register_lib(one);
    __tgt_unregister_lib(one);
  } else if (!strcmp(how, "reversed-image")) {
    images[0][0] = (image){data + size, data, NULL, NULL};
    __tgt_register_lib(one);
    __tgt_unregister_lib(one);
  } else if (!strcmp(how, "again-and-again")) {
    for (int i = 0; i < 1000; i++) {
      __tgt_register_lib(one);
      __tgt_unregister_lib(one);
    }
  } else {
    return 2;
  }
  puts("done");
  return 0;
}
