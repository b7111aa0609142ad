/* Reading OffloadBinary containers: section 1 of the specification.
 *
 * A walk yields one image a step. It never looks for a magic: boundaries come from each binary's own Size. A binary is checked as a whole before its
 * first image is delivered, in the order of the requirement numbers, since the first check that fails names the error. */
#include "bytes.h"
#include "olpick.h"
#include "olpick_tables.h"

enum { SMALL_HEADER = 32, LARGE_HEADER = 40, ENTRY_SIZE = 40 };
enum { LAST_KIND = 6, KNOWN_PRODUCERS = 1 | 2 | 4 | 8, METADATA_ONLY = 1 };

/* OLP-CONT-010: overlapping strings may not make reading cost more than this. */
#define STRINGS_PER_BYTE 64u
#define STRINGS_LIMIT ((uint64_t)16 << 20)
#define INFLATED_LIMIT ((uint64_t)1 << 30)

#define OK UINT32_MAX

static const unsigned char magic[4] = {0x10, 0xFF, 0x10, 0xAD};

/* What is checked of a binary while its entries are read. */
typedef struct binary {
  const unsigned char *data;
  uint64_t size;
  uint64_t entries, count; /* where they begin, and how many there are */
  uint64_t header;
  uint32_t version;
  uint64_t strings; /* bytes of all so far */
  uint64_t records; /* string records */
  uint64_t nested;  /* and bytes of images that are containers */
} binary;

static int all_zero(const unsigned char *at, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    if (at[i])
      return 0;
  return 1;
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

/* Whether a range of at least one byte inside the binary shares one with the header or the entries. */
static int touches_frame(const binary *b, uint64_t at, uint64_t size) {
  return at < b->header || olp_overlap(at, size, b->entries, b->count * ENTRY_SIZE);
}

/* ---- Entries ---- */

/* OLP-CONT-010. */
static uint32_t count_string(binary *b, uint64_t length) {
  uint64_t most = b->size < STRINGS_LIMIT / STRINGS_PER_BYTE ? b->size * STRINGS_PER_BYTE : STRINGS_LIMIT;
  b->strings += length;
  return b->strings > most ? OLP_ERROR_STRINGS_TOO_LONG : OK;
}

/* OLP-CONT-009: a string that a zero byte ends. */
static uint32_t read_terminated(binary *b, uint64_t at, olp_text *text) {
  if (at >= b->size || touches_frame(b, at, 1))
    return OLP_ERROR_BAD_STRING;
  const unsigned char *end = memchr(b->data + at, 0, b->size - at);
  if (!end)
    return OLP_ERROR_BAD_STRING;
  text->data = (const char *)b->data + at;
  text->size = (uint64_t)(end - (b->data + at));
  return count_string(b, text->size);
}

/* OLP-CONT-009: a value of versions 2 and 3, which has a size. */
static uint32_t read_sized(binary *b, uint64_t at, uint64_t size, olp_text *text) {
  if (!olp_inside(at, size, b->size) || (size && touches_frame(b, at, 1)))
    return OLP_ERROR_BAD_STRING;
  text->data = (const char *)b->data + at;
  text->size = size;
  return count_string(b, size);
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

static uint32_t read_strings(binary *b, uint64_t at, uint64_t count, olp_image *image) {
  uint64_t record_size = b->version == 1 ? 16 : 24;
  if (!count)
    return OK;
  if (count > b->size / record_size || !olp_inside(at, count * record_size, b->size) || touches_frame(b, at, count * record_size))
    return OLP_ERROR_BAD_STRING_TABLE;
  b->records += count; /* each count is at most size / 16, and so is their sum before: no wrap */
  if (b->records > b->size / 16)
    return OLP_ERROR_BAD_STRING_TABLE;

  for (uint64_t i = 0; i < count; i++) {
    const unsigned char *record = b->data + at + i * record_size;
    olp_text key, value;
    uint32_t error = read_terminated(b, olp_u64(record), &key);
    if (error == OK)
      error = b->version == 1 ? read_terminated(b, olp_u64(record + 8), &value)
                              : read_sized(b, olp_u64(record + 8), olp_u64(record + 16), &value);
    if (error != OK)
      return error;
    keep_value(image, key, value);
  }
  image->strings = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
  return OK;
}

/* OLP-CONT-020. */
static int is_container(const olp_image *image) {
  return !image->metadata_only && image->size >= sizeof magic && memcmp(image->data, magic, sizeof magic) == 0;
}

static uint32_t read_entry(binary *b, uint64_t index, olp_image *image) {
  const unsigned char *entry = b->data + b->entries + index * ENTRY_SIZE;
  memset(image, 0, sizeof *image);
  image->kind = olp_u16(entry);
  image->producer = olp_u16(entry + 2);
  image->flags = olp_u32(entry + 4);
  image->metadata_only = b->version > 1 && image->flags & METADATA_ONLY;
  if (image->kind > LAST_KIND || image->producer & ~KNOWN_PRODUCERS)
    image->findings |= 1u << OLP_FINDING_UNKNOWN_KIND;

  uint32_t error = read_strings(b, olp_u64(entry + 8), olp_u64(entry + 16), image);
  if (error != OK)
    return error;
  image->offset = olp_u64(entry + 24);
  image->size = olp_u64(entry + 32);
  if (!olp_inside(image->offset, image->size, b->size) || (image->size && touches_frame(b, image->offset, image->size)))
    return OLP_ERROR_BAD_IMAGE_RANGE;
  image->data = b->data + image->offset;
  if (is_container(image)) {
    b->nested += image->size; /* both at most size: no wrap */
    if (b->nested > b->size)
      return OLP_ERROR_BAD_IMAGE_RANGE;
  }
  return OK;
}

/* ---- Binaries ---- */

/* OLP-CONT-003 to 007. *size is that of the binary in its buffer, *inflated that of a compressed one, else 0. */
static uint32_t read_header(const unsigned char *data, uint64_t left, binary *b, uint64_t *size, uint64_t *inflated) {
  if (left < SMALL_HEADER)
    return OLP_ERROR_TRUNCATED;
  b->version = olp_u32(data + 4);
  if (b->version == 3 && left < LARGE_HEADER)
    return OLP_ERROR_TRUNCATED;
  if (b->version < 1 || b->version > 3)
    return OLP_ERROR_BAD_VERSION;
  b->header = b->version == 3 ? LARGE_HEADER : SMALL_HEADER;
  *inflated = b->version == 3 ? olp_u64(data + 32) : 0;
  uint64_t least = *inflated ? 1 : ENTRY_SIZE; /* after the header */

  *size = olp_u64(data + 8);
  if (*size > left || *size < b->header + least)
    return OLP_ERROR_BAD_SIZE;
  b->entries = olp_u64(data + 16);
  if (b->entries % 8 || b->entries < b->header || b->entries > *size - least)
    return OLP_ERROR_BAD_ENTRY_OFFSET;

  uint64_t field = olp_u64(data + 24), whole = *inflated ? *inflated : *size;
  if (b->version == 1 && field != ENTRY_SIZE)
    return OLP_ERROR_BAD_ENTRY_SIZE;
  b->count = b->version == 1 ? 1 : field;
  if (b->version > 1 && (!field || b->entries > whole || field > (whole - b->entries) / ENTRY_SIZE))
    return OLP_ERROR_BAD_ENTRY_COUNT;
  b->data = data;
  b->size = *size;
  b->strings = b->records = b->nested = 0;
  return OK;
}

/* OLP-CONT-017 and 018. */
static uint32_t inflate(const olp_walk *walk, binary *b, uint64_t inflated, int *cannot) {
  if (inflated > walk->inflated_limit - walk->inflated)
    return OLP_ERROR_INFLATED_TOO_LARGE;
  *cannot = !walk->inflate;
  if (*cannot)
    return OK;
  const unsigned char *whole = walk->inflate(walk->context, b->data, b->entries, b->data + b->entries, b->size - b->entries, inflated);
  if (!whole)
    return OLP_ERROR_BAD_COMPRESSION;
  b->data = whole;
  b->size = inflated;
  return OK;
}

/* Reads and checks the binary at the start of what is left of a buffer into the level, of which its image when it is the only one. */
static uint32_t open_binary(olp_walk *walk, olp_level *level, const unsigned char *data, uint64_t left, uint64_t *size, int *cannot) {
  binary b;
  uint64_t inflated;
  *cannot = 0;
  uint32_t error = read_header(data, left, &b, size, &inflated);
  if (error == OK && inflated)
    error = inflate(walk, &b, inflated, cannot);
  if (error != OK || *cannot)
    return error;
  for (uint64_t i = 0; i < b.count; i++)
    if ((error = read_entry(&b, i, &walk->image)) != OK)
      return error;

  level->binary = b.data;
  level->binary_size = b.size;
  level->entries = b.entries;
  level->entry_count = b.count;
  level->version = b.version;
  level->entry = 0;
  level->inflated = inflated != 0;
  walk->inflated += inflated;
  return OK;
}

/* ---- The walk ---- */

void olp_walk_start(olp_walk *walk, const void *buffer, uint64_t size) {
  memset(walk, 0, sizeof *walk);
  walk->inflated_limit = INFLATED_LIMIT;
  walk->depth = 1;
  walk->level[0].data = buffer;
  walk->level[0].size = size;
}

void olp_walk_inflate_with(olp_walk *walk, olp_inflate *function, void *context, uint64_t limit) {
  walk->inflate = function;
  walk->context = context;
  walk->inflated_limit = limit ? limit : INFLATED_LIMIT;
}

static int report(olp_problem *problem, int kind, uint32_t code, uint64_t offset) {
  problem->code = code;
  problem->offset = offset;
  return kind;
}

static int stop(olp_walk *walk, olp_problem *problem, int kind, uint32_t code, uint64_t offset) {
  walk->depth = 0;
  return report(problem, kind, code, offset);
}

/* What is wrong with the next binary of the innermost level. Inside an image it ends that image alone (OLP-CONT-020). */
static int refuse(olp_walk *walk, olp_problem *problem, int kind, uint32_t code, uint64_t offset) {
  if (walk->depth == 1)
    return stop(walk, problem, kind, code, offset);
  walk->depth--;
  return report(problem, OLP_WALK_FINDING, kind == OLP_WALK_ERROR ? OLP_FINDING_BAD_INNER : code, walk->outermost);
}

/* Opens the next binary of the innermost level, or leaves the level. OLP_WALK_IMAGE: go on. */
static int next_binary(olp_walk *walk, olp_problem *problem) {
  olp_level *level = &walk->level[walk->depth - 1];
  uint64_t at = level->seen ? skip_padding(level->data, level->next, level->size) : 0;
  if (at >= level->size && level->seen) {
    walk->depth--;
    return walk->depth ? OLP_WALK_IMAGE : OLP_WALK_END;
  }

  uint64_t left = level->size - at;
  const unsigned char *data = level->data + at;
  if (left && memcmp(data, magic, left < sizeof magic ? left : sizeof magic) != 0) {
    if (level->seen)
      return refuse(walk, problem, OLP_WALK_FINDING, OLP_FINDING_JUNK_AFTER_BINARY, at);
    return refuse(walk, problem, OLP_WALK_ERROR, OLP_ERROR_NOT_OFFLOAD_BINARY, at);
  }

  uint64_t size;
  int cannot;
  uint32_t error = open_binary(walk, level, data, left, &size, &cannot);
  if (error != OK)
    return refuse(walk, problem, OLP_WALK_ERROR, error, at);
  level->at = at;
  level->seen = 1;
  /* Not past the end: a last binary of odd size leaves nothing behind it. */
  level->next = left - size < 8 && olp_align(at + size, 8) > level->size ? level->size : olp_align(at + size, 8);
  if (walk->depth == 1)
    walk->outermost = at;
  if (!cannot)
    return OLP_WALK_IMAGE;
  level->entry = level->entry_count = 0;
  return report(problem, OLP_WALK_FINDING, OLP_FINDING_CANNOT_INFLATE, walk->outermost);
}

/* The next image of the binary that is open. It was checked when the binary was opened; of the only one nothing is left to read. */
static void next_image(olp_walk *walk, olp_level *level) {
  if (level->entry_count > 1) {
    binary b = {.data = level->binary, .size = level->binary_size, .entries = level->entries, .count = level->entry_count};
    b.version = level->version;
    b.header = level->version == 3 ? LARGE_HEADER : SMALL_HEADER;
    read_entry(&b, level->entry, &walk->image);
  }
  level->entry++;
  walk->image.binary = walk->outermost;
  int elsewhere = level->inflated || level->elsewhere;
  walk->image.offset = elsewhere ? OLP_NO_OFFSET : level->base + level->at + walk->image.offset;
}

int olp_walk_next(olp_walk *walk, olp_image *image, olp_problem *problem) {
  while (walk->depth) {
    olp_level *level = &walk->level[walk->depth - 1];
    if (level->entry == level->entry_count) {
      int step = next_binary(walk, problem);
      if (step != OLP_WALK_IMAGE)
        return step;
      continue;
    }
    next_image(walk, level);
    if (!is_container(&walk->image)) {
      *image = walk->image;
      return OLP_WALK_IMAGE;
    }
    if (walk->depth == OLP_DEPTH_MOST)
      return stop(walk, problem, OLP_WALK_ERROR, OLP_ERROR_NESTED_TOO_DEEP, walk->outermost);
    olp_level *inner = &walk->level[walk->depth++];
    memset(inner, 0, sizeof *inner);
    inner->data = walk->image.data;
    inner->size = walk->image.size;
    inner->base = walk->image.offset;
    inner->elsewhere = walk->image.offset == OLP_NO_OFFSET;
  }
  return OLP_WALK_END;
}
