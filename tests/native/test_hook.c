/* The registration hook: what the runtime is given, told by a stub in its place.
 *
 * argv[1] is a shared object to serve as an image. The first image of each descriptor is that one cut short, which comes last
 * whatever the CPU is; so the order always changes. */
#include <pthread.h>
#include <stdatomic.h>

#include "build.h"
#include "check.h"
#include "descriptor.h"

void __tgt_register_lib(olp_tgt_descriptor *descriptor);
void __tgt_unregister_lib(olp_tgt_descriptor *descriptor);

extern atomic_int stub_registered, stub_unregistered;
extern _Atomic(void *) stub_last;
extern int stub_replays;

enum { THREADS = 8, ROUNDS = 300, ROOM = 1 << 24 };

/* In a loaded segment, as a compiler puts containers: their strings are looked for there. */
static _Alignas(8) unsigned char segment[ROOM];
static olp_tgt_image images[THREADS][2];
static olp_tgt_descriptor descriptors[THREADS];

static olp_tgt_descriptor *last(void) { return atomic_load(&stub_last); }

static int is_swapped(const olp_tgt_descriptor *given, const olp_tgt_descriptor *original) {
  return given != original && given->count == 2 && memcmp(&given->images[0], &original->images[1], sizeof *given->images) == 0 &&
         memcmp(&given->images[1], &original->images[0], sizeof *given->images) == 0;
}

static void *come_and_go(void *which) {
  for (int i = 0; i < ROUNDS; i++) {
    __tgt_register_lib(which);
    __tgt_unregister_lib(which);
  }
  return NULL;
}

static void fill(const unsigned char *elf, size_t size) {
  size_t short_at, whole_at, first = build(segment, "x86-64", elf, 512, &short_at);
  build(segment + first, "x86-64", elf, size, &whole_at);
  for (int i = 0; i < THREADS; i++) {
    images[i][0] = (olp_tgt_image){segment + short_at, segment + short_at + 512, NULL, NULL};
    images[i][1] = (olp_tgt_image){segment + first + whole_at, segment + first + whole_at + size, NULL, NULL};
    descriptors[i] = (olp_tgt_descriptor){2, images[i], NULL, NULL};
  }
}

static void strings_are_found_around_an_image(size_t size) {
  olp_image image;
  olp_tgt_read_image(&images[0][1], &image);
  CHECK(image.size == size && image.key[OLP_KEY_ARCH].size == 6 && memcmp(image.key[OLP_KEY_ARCH].data, "x86-64", 6) == 0);
  olp_tgt_image inner = {(char *)images[0][1].start + 8, images[0][1].end, NULL, NULL};
  olp_tgt_read_image(&inner, &image); /* no entry is exactly this range */
  CHECK(image.size == size - 8 && !image.key[OLP_KEY_ARCH].data);
  olp_tgt_image reversed = {images[0][1].end, images[0][1].start, NULL, NULL};
  olp_tgt_read_image(&reversed, &image);
  CHECK(image.size == 0 && !image.data);
}

static void a_registration_is_rearranged_once(void) {
  olp_tgt_descriptor *one = &descriptors[0];
  olp_tgt_descriptor kept = *one;
  __tgt_register_lib(one);
  olp_tgt_descriptor *given = last();
  CHECK(is_swapped(given, one));
  CHECK(memcmp(one, &kept, sizeof kept) == 0);

  __tgt_register_lib(one); /* again */
  CHECK(last() == given);
  stub_replays = 1; /* and put off by the runtime */
  int before = atomic_load(&stub_registered);
  __tgt_register_lib(one);
  CHECK(last() == given && atomic_load(&stub_registered) == before + 2);

  for (int i = 0; i < 3; i++) {
    atomic_store(&stub_last, NULL);
    __tgt_unregister_lib(one);
    CHECK(last() == given);
  }
  int unregistered = atomic_load(&stub_unregistered);
  __tgt_unregister_lib(one); /* once more than it was registered */
  __tgt_unregister_lib(&descriptors[1]);
  CHECK(atomic_load(&stub_unregistered) == unregistered);

  __tgt_register_lib(one); /* the library opened again: its copy serves again */
  CHECK(last() == given);
  __tgt_unregister_lib(one);
}

static void another_library_at_the_same_place_is_judged_anew(void) {
  olp_tgt_descriptor *one = &descriptors[0];
  olp_tgt_image first = images[0][0];
  __tgt_register_lib(one);
  olp_tgt_descriptor *given = last();
  __tgt_unregister_lib(one);
  images[0][0] = images[0][1];
  images[0][1] = first;
  __tgt_register_lib(one); /* the whole image stands first already */
  CHECK(last() == one);
  __tgt_unregister_lib(one);
  CHECK(last() == one);
  images[0][1] = images[0][0];
  images[0][0] = first;
  __tgt_register_lib(one);
  CHECK(last() == given);
  __tgt_unregister_lib(one);
}

static void threads_do_not_disturb_each_other(void) {
  pthread_t threads[THREADS];
  int registered = atomic_load(&stub_registered), unregistered = atomic_load(&stub_unregistered);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, come_and_go, &descriptors[i]);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  CHECK(atomic_load(&stub_registered) - registered == THREADS * ROUNDS);
  CHECK(atomic_load(&stub_unregistered) - unregistered == THREADS * ROUNDS);
}

/* Stands before calloc for what is linked into this program, the hook among it. */
static atomic_int no_memory;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) { return atomic_load(&no_memory) ? NULL : __real_calloc(count, size); }

/* Last, since what was forgotten stays so. */
static void without_memory_everything_goes_on_as_it_came(void) {
  olp_tgt_descriptor fresh = descriptors[0];
  atomic_store(&no_memory, 1);
  __tgt_register_lib(&fresh);
  atomic_store(&no_memory, 0);
  CHECK(last() == &fresh);
  atomic_store(&stub_last, NULL);
  __tgt_unregister_lib(&fresh);
  CHECK(last() == &fresh);
}

int main(int argc, char **argv) {
  size_t size = 0;
  unsigned char *elf = argc > 1 ? read_file(argv[1], &size) : NULL;
  if (!elf || size > ROOM / 2) {
    fprintf(stderr, "usage: %s SHARED-OBJECT, of at most %d bytes\n", argv[0], ROOM / 2);
    return 2;
  }
  fill(elf, size);
  strings_are_found_around_an_image(size);
  a_registration_is_rearranged_once();
  another_library_at_the_same_place_is_judged_anew();
  threads_do_not_disturb_each_other();
  without_memory_everything_goes_on_as_it_came();
  free(elf);
  return check_result();
}
