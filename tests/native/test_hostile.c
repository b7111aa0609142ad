/* Hostile bytes against the whole core, in buffers of exactly their size so that a sanitizer sees any read outside.
 *
 * argv[1] is a real shared object (libolpick.so itself): its headers, notes, dynamic section and hash tables are what gets damaged. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "check.h"
#include "olpick.h"

enum { IMAGES_MOST = 64 };

static uint64_t state = 88172645463325252u; /* xorshift64: the same run every time */

static uint64_t draw(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % below;
}

/* Walks, judges, arranges and asks for symbols; returns the number of images met. */
static uint64_t exercise(const unsigned char *data, size_t size) {
  static olp_image images[IMAGES_MOST];
  static olp_verdict verdicts[IMAGES_MOST];
  static uint32_t order[IMAGES_MOST];
  static uint64_t scratch[IMAGES_MOST];
  static const char *const symbols[] = {"olp_select", "nothing_of_this_name", "olp_abi"};
  uint64_t count = 0;
  olp_walk walk;
  olp_problem problem = {0, 0};
  olp_walk_start(&walk, data, size);
  for (int step; (step = olp_walk_next(&walk, &images[count], &problem)) != OLP_WALK_END;) {
    if (step != OLP_WALK_IMAGE) {
      CHECK(problem.offset <= size);
      continue;
    }
    CHECK(images[count].size <= size && images[count].data >= data && images[count].data + images[count].size <= data + size);
    if (++count == IMAGES_MOST)
      break;
  }
  olp_device device;
  if (olp_device_named("haswell", &device) != 0)
    abort();
  for (uint32_t policy = 0; policy < OLP_POLICY_COUNT; policy++) {
    int64_t selected = olp_select(images, count, &device, policy, verdicts, order);
    CHECK(selected < (int64_t)count);
    for (uint64_t i = 0; i < count; i++)
      CHECK(order[i] < count && olp_word(OLP_LIST_REASON, verdicts[i].reason));
  }
  for (int out = 0; out < 2; out++)
    CHECK(olp_arrange(images, count, &device, symbols, 3, out, verdicts, order, scratch) <= count);
  return count;
}

static void exercise_copy(const unsigned char *data, size_t size) {
  unsigned char *exact = malloc(size ? size : 1);
  memcpy(exact, data, size);
  exercise(exact, size);
  free(exact);
}

int main(int argc, char **argv) {
  size_t elf_size = 0;
  unsigned char *elf = argc > 1 ? read_file(argv[1], &elf_size) : NULL;
  if (!elf) {
    fprintf(stderr, "usage: %s SHARED-OBJECT\n", argv[0]);
    return 2;
  }
  unsigned char *buffer = malloc(4 * (elf_size + 1024));

  size_t first = build(buffer, "x86-64", elf, elf_size, NULL);
  size_t both = first + build(buffer + first, "haswell", elf, elf_size, NULL);
  CHECK(exercise(buffer, both) == 2);

  olp_image whole = {.data = elf, .size = elf_size};
  CHECK(olp_image_defines(&whole, "olp_select") == 1);
  CHECK(olp_image_defines(&whole, "olp_selec") == 0);
  CHECK(olp_image_defines(&whole, "") == 0);

  /* Every length of a small container. */
  unsigned char small[512];
  size_t small_size = build(small, "haswell", elf, 200, NULL);
  for (size_t length = 0; length <= small_size; length++)
    exercise_copy(small, length);
  /* Every byte of it set to telling values. */
  static const unsigned char telling[] = {0, 1, 7, 8, 0x7f, 0x80, 0xff};
  for (size_t at = 0; at < small_size; at++)
    for (size_t i = 0; i < sizeof telling; i++) {
      unsigned char kept = small[at];
      small[at] = telling[i];
      exercise_copy(small, small_size);
      small[at] = kept;
    }

  /* Damaged images: header, program headers and what they point at. */
  for (int round = 0; round < 20000; round++) {
    unsigned char *image = malloc(elf_size);
    memcpy(image, elf, elf_size);
    uint64_t near = draw(3) ? 0x600 : elf_size;
    if (near > elf_size)
      near = elf_size;
    for (uint64_t changes = 1 + draw(4); changes--;)
      if (draw(2))
        image[draw(near)] = (unsigned char)draw(256);
      else
        put64(image + draw(near - 8), draw(2) ? draw(2 * elf_size) : UINT64_MAX - draw(64));
    olp_image one = {.data = image, .size = draw(8) ? elf_size : draw(elf_size)};
    olp_facts facts;
    olp_image_facts(&one, &facts);
    CHECK(facts.form < OLP_FORM_COUNT);
    int defines = olp_image_defines(&one, "olp_select");
    CHECK(defines >= -1 && defines <= 1);
    free(image);
  }
  free(buffer);
  free(elf);
  return check_result();
}
