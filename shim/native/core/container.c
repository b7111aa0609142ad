/* Reading OffloadBinary containers: section 1 of the specification.
 *
 * A walk yields one image a step and never looks for a magic: boundaries come from each binary's own Size. Each check stands here
 * in the order of its requirement number, since the first that fails names the error. */
#include "bytes.h"
#include "olpick.h"
#include "olpick_tables.h"

enum { HEADER_SIZE = 32, ENTRY_SIZE = 40, RECORD_SIZE = 16 };
enum { LAST_KIND = 6, KNOWN_PRODUCERS = 1 | 2 | 4 | 8 };

/* OLP-CONT-010: overlapping strings may not make reading cost more than this. */
#define STRINGS_PER_BYTE 64u
#define STRINGS_LIMIT ((uint64_t)16 << 20)

#define OK UINT32_MAX

static const unsigned char magic[4] = {0x10, 0xFF, 0x10, 0xAD};

static int all_zero(const unsigned char *at, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    if (at[i])
      return 0;
  return 1;
}

void olp_walk_start(olp_walk *walk, const void *buffer, uint64_t size) {
  walk->data = buffer;
  walk->size = size;
  walk->next = 0;
  walk->seen = 0;
}

/* OLP-CONT-012: whole groups of eight zero bytes, and a shorter one at the end, are padding. */
static uint64_t skip_padding(const unsigned char *data, uint64_t at, uint64_t size) {
  while (at < size) {
    uint64_t group = size - at < 8 ? size - at : 8;
    if (!all_zero(data + at, group))
      break;
    at += group;
  }
  return at;
}

/* A string of the binary: OLP-CONT-009 and the sum of OLP-CONT-010. */
static uint32_t read_string(const unsigned char *binary, uint64_t size, uint64_t entry, uint64_t offset, uint64_t *sum, olp_text *text) {
  if (offset >= size || offset < HEADER_SIZE || (offset >= entry && offset < entry + ENTRY_SIZE))
    return OLP_ERROR_BAD_STRING;
  const unsigned char *end = memchr(binary + offset, 0, size - offset);
  if (!end)
    return OLP_ERROR_BAD_STRING;
  text->data = (const char *)binary + offset;
  text->size = (uint64_t)(end - (binary + offset));

  uint64_t most = size < STRINGS_LIMIT / STRINGS_PER_BYTE ? size * STRINGS_PER_BYTE : STRINGS_LIMIT;
  *sum += text->size;
  return *sum > most ? OLP_ERROR_STRINGS_TOO_LONG : OK;
}

static void keep_value(olp_image *image, olp_text key, olp_text value) {
  for (uint32_t i = 0; i < OLP_KEY_COUNT; i++) {
    const char *name = olp_word(OLP_LIST_KEY, i);
    if (strlen(name) != key.size || memcmp(name, key.data, key.size) != 0)
      continue;
    if (image->key[i].data)
      image->findings |= 1u << OLP_FINDING_DUPLICATE_KEY;
    image->key[i] = value;
    return;
  }
}

static uint32_t read_strings(const unsigned char *binary, uint64_t size, uint64_t entry, olp_image *image) {
  uint64_t at = olp_u64(binary + entry + 8);
  uint64_t count = olp_u64(binary + entry + 16);
  if (!count)
    return OK;
  if (count > size / RECORD_SIZE || !olp_inside(at, count * RECORD_SIZE, size) || at < HEADER_SIZE ||
      olp_overlap(at, count * RECORD_SIZE, entry, ENTRY_SIZE))
    return OLP_ERROR_BAD_STRING_TABLE;

  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) {
    const unsigned char *record = binary + at + i * RECORD_SIZE;
    olp_text key, value;
    uint32_t error = read_string(binary, size, entry, olp_u64(record), &sum, &key);
    if (error == OK)
      error = read_string(binary, size, entry, olp_u64(record + 8), &sum, &value);
    if (error != OK)
      return error;
    keep_value(image, key, value);
  }
  image->strings = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
  return OK;
}

/* One version 1 binary, of which at least header and entry are there. */
static uint32_t read_binary(const unsigned char *binary, uint64_t left, olp_image *image, uint64_t *size) {
  if (olp_u32(binary + 4) != 1)
    return OLP_ERROR_BAD_VERSION;
  *size = olp_u64(binary + 8);
  if (*size < HEADER_SIZE + ENTRY_SIZE || *size > left)
    return OLP_ERROR_BAD_SIZE;
  uint64_t entry = olp_u64(binary + 16);
  if (entry % 8 || entry < HEADER_SIZE || entry > *size - ENTRY_SIZE)
    return OLP_ERROR_BAD_ENTRY_OFFSET;
  if (olp_u64(binary + 24) != ENTRY_SIZE)
    return OLP_ERROR_BAD_ENTRY_SIZE;

  image->kind = olp_u16(binary + entry);
  image->producer = olp_u16(binary + entry + 2);
  image->flags = olp_u32(binary + entry + 4);
  if (image->kind > LAST_KIND || image->producer & ~KNOWN_PRODUCERS)
    image->findings |= 1u << OLP_FINDING_UNKNOWN_KIND;

  uint32_t error = read_strings(binary, *size, entry, image);
  if (error != OK)
    return error;

  uint64_t at = olp_u64(binary + entry + 24);
  image->size = olp_u64(binary + entry + 32);
  if (!olp_inside(at, image->size, *size))
    return OLP_ERROR_BAD_IMAGE_RANGE;
  if (image->size && (at < HEADER_SIZE || olp_overlap(at, image->size, entry, ENTRY_SIZE)))
    return OLP_ERROR_BAD_IMAGE_RANGE;
  image->data = binary + at;
  image->offset = at;
  return OK;
}

static int stop(olp_walk *walk, olp_problem *problem, int kind, uint32_t code, uint64_t offset) {
  walk->next = UINT64_MAX;
  problem->code = code;
  problem->offset = offset;
  return kind;
}

int olp_walk_next(olp_walk *walk, olp_image *image, olp_problem *problem) {
  if (walk->next == UINT64_MAX)
    return OLP_WALK_END;
  uint64_t at = walk->seen ? skip_padding(walk->data, walk->next, walk->size) : 0;
  if (at >= walk->size) {
    if (!walk->seen)
      return stop(walk, problem, OLP_WALK_ERROR, OLP_ERROR_TRUNCATED, 0);
    walk->next = UINT64_MAX;
    return OLP_WALK_END;
  }

  const unsigned char *binary = walk->data + at;
  uint64_t left = walk->size - at;
  if (memcmp(binary, magic, left < sizeof magic ? left : sizeof magic) != 0) {
    if (walk->seen)
      return stop(walk, problem, OLP_WALK_FINDING, OLP_FINDING_JUNK_AFTER_BINARY, at);
    return stop(walk, problem, OLP_WALK_ERROR, OLP_ERROR_NOT_OFFLOAD_BINARY, at);
  }
  if (left < HEADER_SIZE + ENTRY_SIZE)
    return stop(walk, problem, OLP_WALK_ERROR, OLP_ERROR_TRUNCATED, at);

  memset(image, 0, sizeof *image);
  uint64_t size;
  uint32_t error = read_binary(binary, left, image, &size);
  if (error != OK)
    return stop(walk, problem, OLP_WALK_ERROR, error, at);
  image->binary = at;
  image->offset += at;
  walk->seen++;
  /* Not past the end: a last binary of odd size leaves nothing behind it. */
  walk->next = left - size < 8 && olp_align(at + size, 8) > walk->size ? walk->size : olp_align(at + size, 8);
  return OLP_WALK_IMAGE;
}
