/* What an image is, by its own bytes, and what it asks for: section 2 of the specification. */
#include <string.h>

#include "bytes.h"
#include "elf64.h"
#include "olpick_tables.h"
#include "rules.h"

enum { PTX_LOOK = 4096 };
enum { NOTE_HEAD = 12, NT_GNU_PROPERTY_TYPE_0 = 5, PROPERTY_HEAD = 8 };
#define GNU_PROPERTY_X86_ISA_1_NEEDED 0xc0008002u

static int begins(const unsigned char *data, uint64_t size, const char *with, uint64_t length) {
  return size >= length && memcmp(data, with, length) == 0;
}

static int is_space(unsigned char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* PTX is text; its first directive is .version, maybe after comments. */
static int is_ptx(const unsigned char *data, uint64_t size) {
  const unsigned char *at = data, *end = data + (size < PTX_LOOK ? size : PTX_LOOK);
  while (at < end) {
    uint64_t left = (uint64_t)(end - at);
    if (is_space(*at)) {
      at++;
    } else if (begins(at, left, "//", 2)) {
      at = memchr(at, '\n', left);
      if (!at)
        return 0;
    } else if (begins(at, left, "/*", 2)) {
      for (at += 2; at + 1 < end && !(at[0] == '*' && at[1] == '/'); at++)
        ;
      if (at + 1 >= end)
        return 0;
      at += 2;
    } else {
      return left > 8 && begins(at, left, ".version", 8) && is_space(at[8]);
    }
  }
  return 0;
}

static uint32_t elf_form(const unsigned char *data, uint64_t size) {
  if (size < 20 || data[5] != 1)
    return OLP_FORM_OTHER_ELF;
  switch (olp_u16(data + 18)) {
  case OLP_EM_X86_64:
    return OLP_FORM_HOST_ELF;
  case OLP_EM_CUDA:
    return OLP_FORM_CUBIN;
  case OLP_EM_AMDGPU:
    return OLP_FORM_HSACO;
  case OLP_EM_INTELGT:
    return OLP_FORM_INTEL_ELF;
  default:
    return OLP_FORM_OTHER_ELF;
  }
}

/* OLP-FACT-001. */
static uint32_t form_of(const unsigned char *data, uint64_t size) {
  static const struct {
    const char *magic;
    uint32_t length, form;
  } magics[] = {
      {"\x03\x02\x23\x07", 4, OLP_FORM_SPIRV},        {"BC\xC0\xDE", 4, OLP_FORM_BITCODE},
      {"\xDE\xC0\x17\x0B", 4, OLP_FORM_BITCODE},      {"\x50\xED\x55\xBA", 4, OLP_FORM_FATBIN},
      {"__CLANG_OFFLOAD_BUNDLE__", 24, OLP_FORM_CLANG_BUNDLE}, {"CCOB", 4, OLP_FORM_COMPRESSED_BUNDLE},
      {"\x10\xFF\x10\xAD", 4, OLP_FORM_OFFLOAD_BINARY},
  };
  if (!size)
    return OLP_FORM_EMPTY;
  if (begins(data, size, "\x7f" "ELF", 4))
    return elf_form(data, size);
  for (uint32_t i = 0; i < sizeof magics / sizeof *magics; i++)
    if (begins(data, size, magics[i].magic, magics[i].length))
      return magics[i].form;
  return is_ptx(data, size) ? OLP_FORM_PTX : OLP_FORM_UNKNOWN;
}

/* The properties of one GNU property note. 0 when one runs past its end. */
static int read_properties(const unsigned char *data, uint64_t size, uint32_t *needed) {
  for (uint64_t at = 0; at < size;) {
    if (!olp_inside(at, PROPERTY_HEAD, size))
      return 0;
    uint32_t type = olp_u32(data + at), length = olp_u32(data + at + 4);
    if (!olp_inside(at + PROPERTY_HEAD, length, size))
      return 0;
    if (type == GNU_PROPERTY_X86_ISA_1_NEEDED && length == 4)
      *needed |= olp_u32(data + at + PROPERTY_HEAD);
    at = olp_align(at + PROPERTY_HEAD + length, 8);
  }
  return 1;
}

/* The notes of one segment. 0 when one runs past its end. */
static int read_notes(const unsigned char *data, uint64_t size, uint64_t align, uint32_t *needed) {
  for (uint64_t at = 0; at < size;) {
    if (!olp_inside(at, NOTE_HEAD, size))
      return 0;
    uint32_t name = olp_u32(data + at), length = olp_u32(data + at + 4), type = olp_u32(data + at + 8);
    uint64_t descriptor = olp_align(at + NOTE_HEAD + name, align);
    if (!olp_inside(at + NOTE_HEAD, name, size) || (length && !olp_inside(descriptor, length, size)))
      return 0;
    int gnu = name == 4 && memcmp(data + at + NOTE_HEAD, "GNU", 4) == 0;
    if (gnu && type == NT_GNU_PROPERTY_TYPE_0 && length && !read_properties(data + descriptor, length, needed))
      return 0;
    at = olp_align(descriptor + length, align);
  }
  return 1;
}

/* OLP-FACT-003: the highest level that a note asks for. */
static int32_t level_needed(const olp_elf *elf, uint32_t *findings) {
  uint32_t needed = 0;
  for (uint32_t i = 0; i < elf->count; i++) {
    olp_segment segment;
    olp_elf_segment(elf, i, &segment);
    if (segment.type != OLP_PT_NOTE && segment.type != OLP_PT_GNU_PROPERTY)
      continue;
    if (!read_notes(elf->data + segment.offset, segment.size, segment.align == 8 ? 8 : 4, &needed))
      *findings |= 1u << OLP_FINDING_BAD_NOTE;
  }
  int32_t level = OLP_LEVELS;
  while (level && !(needed & 1u << (level - 1)))
    level--;
  return level;
}

void olp_image_facts(const olp_image *image, olp_facts *facts) {
  memset(facts, 0, sizeof *facts);
  facts->form = form_of(image->data, image->data ? image->size : 0);

  if (facts->form == OLP_FORM_HOST_ELF) {
    olp_elf elf;
    if (olp_elf_open(image->data, image->size, &elf))
      facts->level = level_needed(&elf, &facts->findings);
    else
      facts->malformed = 1;
  }

  olp_text label = image->key[OLP_KEY_ARCH];
  facts->label = !label.size || olp_text_is(label, "generic") ? OLP_CPU_NONE : olp_cpu_find(label.data, label.size);

  facts->features = olp_level_features[0];
  if (facts->level)
    facts->features = olp_features_join(facts->features, olp_level_features[facts->level - 1]);
  if (facts->label >= 0) {
    olp_features asked = olp_cpus[facts->label].features;
    facts->features = olp_features_join(facts->features, asked);
    if (facts->level && !olp_features_none(olp_features_without(olp_level_features[facts->level - 1], asked)))
      facts->findings |= 1u << OLP_FINDING_LABEL_MISMATCH;
  }
}
