/* olpick.h - which device image a program should load.
 *
 * The public face of libolpick.so: the rules of conformance/SPEC.md as pure functions, used by C programs and, through ctypes, by
 * the olpick command. Requirement numbers (OLP-...) name the rule a declaration states.
 *
 * Nothing here allocates, blocks, writes or keeps what it is given. Every buffer may lie at any address and hold any bytes.
 * Enumerators, name tables and OLP_KEY_COUNT come from elf/data/codes.toml, features and CPU names from elf/data/targets.toml.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef OLPICK_H
#define OLPICK_H

#include <stddef.h>
#include <stdint.h>

#include "olpick_codes.h" /* generated: OLP_ERROR_*, OLP_FINDING_*, OLP_FORM_*, OLP_VERDICT_*, OLP_REASON_*, OLP_STEP_*, OLP_POLICY_*, OLP_KEY_* */

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a structure or a meaning below does. */
#define OLP_ABI 2u
uint32_t olp_abi(void);

/* Bytes that belong to somebody else. data is NULL when there are none (an absent key); a present, empty value has data and size 0. */
typedef struct olp_text {
  const char *data;
  uint64_t size;
} olp_text;

/* A set of CPU features, bit i for feature i of targets.toml. */
#define OLP_FEATURE_WORDS 2
typedef struct olp_features {
  uint64_t word[OLP_FEATURE_WORDS];
} olp_features;

/* One entry of a container. A caller without a container fills data, size and the keys that it knows. */
typedef struct olp_image {
  const unsigned char *data; /* the image's own bytes */
  uint64_t size;
  uint64_t binary;    /* where its OffloadBinary, the outermost, starts in the buffer walked */
  uint64_t offset;    /* where its bytes start in the buffer walked; OLP_NO_OFFSET when they were inflated */
  uint32_t flags;     /* OLP-CONT-015: kept as they are */
  uint16_t kind;      /* a hint only; the bytes count (OLP-FACT-001) */
  uint16_t producer;  /* bits: 1 OpenMP, 2 CUDA, 4 HIP, 8 SYCL */
  uint32_t findings;  /* bit i for OLP_FINDING_i */
  uint32_t strings;   /* number of string records */
  uint32_t metadata_only; /* not 0: the entry says that it carries no image (OLP-CONT-019) */
  olp_text key[OLP_KEY_COUNT]; /* values of the keys with a meaning; the last of equal keys */
} olp_image;

/* ---- Containers (section 1 of the specification) ---- */

#define OLP_NO_OFFSET UINT64_MAX

/* Inflates a compressed binary (OLP-CONT-017): returns size bytes, the first head_size of them those of head and the others the payload
 * inflated, or NULL when the payload does not inflate to exactly that or there is no memory. A payload that begins with 28 B5 2F FD is one
 * zstd frame, any other one zlib stream. The bytes stay the function's own and valid for as long as the images are used. */
typedef const unsigned char *olp_inflate(void *context, const unsigned char *head, uint64_t head_size, const unsigned char *payload,
                                         uint64_t payload_size, uint64_t size);

/* How deep containers may be nested, the outermost being the first (OLP-CONT-020). */
enum { OLP_DEPTH_MOST = 4 };

/* A buffer of binaries, and the binary of it that is being read. Private. */
typedef struct olp_level {
  const unsigned char *data, *binary;
  uint64_t size, base, at, next;
  uint64_t binary_size, entries, entry_count, entry;
  uint32_t version, seen, inflated, elsewhere;
} olp_level;

/* The state of a walk over a buffer of OffloadBinaries. Private. */
typedef struct olp_walk {
  olp_level level[OLP_DEPTH_MOST];
  olp_image image;
  olp_inflate *inflate;
  void *context;
  uint64_t inflated_limit, inflated, outermost;
  uint32_t depth;
} olp_walk;

enum { OLP_WALK_END = 0, OLP_WALK_IMAGE = 1, OLP_WALK_FINDING = 2, OLP_WALK_ERROR = 3 };

/* What a walk met and where, counted from the start of the buffer. code is an OLP_FINDING_ or OLP_ERROR_ number. */
typedef struct olp_problem {
  uint64_t offset;
  uint32_t code;
} olp_problem;

void olp_walk_start(olp_walk *walk, const void *buffer, uint64_t size);

/* Says, right after the start, how to inflate and to how many bytes at most (0: 1 GiB). Without it compressed binaries are findings. */
void olp_walk_inflate_with(olp_walk *walk, olp_inflate *function, void *context, uint64_t limit);

/* One step: OLP_WALK_IMAGE fills *image, OLP_WALK_FINDING and OLP_WALK_ERROR fill *problem. An error is the last thing before the end; after
 * a finding the walk may go on. */
int olp_walk_next(olp_walk *walk, olp_image *image, olp_problem *problem);

/* ---- Facts (section 2) ---- */

enum { OLP_CPU_NONE = -1, OLP_CPU_UNKNOWN = -2 };

typedef struct olp_facts {
  uint32_t form;      /* OLP_FORM_ */
  uint32_t malformed; /* not 0: a host ELF that does not satisfy OLP-FACT-002 */
  int32_t level;      /* the ISA-needed note: 0 none, 1 to 4 for x86-64 .. x86-64-v4 */
  int32_t label;      /* index of the label's CPU name; OLP_CPU_NONE: it asks for nothing; OLP_CPU_UNKNOWN */
  olp_features features; /* what the image asks for: label, note and baseline together */
  uint32_t findings;
} olp_facts;

void olp_image_facts(const olp_image *image, olp_facts *facts);

/* Whether a well-formed host ELF defines a dynamic symbol of this name. 1 yes, 0 no, -1 its tables cannot be read. */
int olp_image_defines(const olp_image *image, const char *name);

/* ---- Devices ---- */

typedef struct olp_device {
  olp_features features; /* present and enabled by the operating system */
  int32_t cpu;           /* index of its name, or OLP_CPU_UNKNOWN */
} olp_device;

/* This machine's CPU. 0, or -1 where it is not an x86-64 one. */
int olp_device_host(olp_device *device);

/* A CPU by its level or CPU name (haswell, x86-64-v3, skx). 0, or -1 if there is no such name. */
int olp_device_named(const char *name, olp_device *device);

/* ---- Choice (sections 3 to 5) ---- */

typedef struct olp_verdict {
  uint32_t verdict; /* OLP_VERDICT_ */
  uint32_t reason;  /* OLP_REASON_ */
  uint32_t rank;    /* from 1; 0 when rejected */
  uint32_t lost_at; /* OLP_STEP_ at which it lost to the selected image; OLP_STEP_COUNT when it did not */
  uint32_t findings;
  olp_facts facts;
  olp_features missing; /* with OLP_REASON_CPU_FEATURES, _WRONG_PROCESSOR and _MISSING_FEATURE: what the device lacks */
} olp_verdict;

/* Judges count images for a device and ranks the eligible ones. Fills verdicts[0..count); order[0..count), the eligible ones by rank and
 * then the others in container order, may be NULL only if count is 0. Returns the index of the selected image or -1. */
int64_t olp_select(const olp_image *images, uint64_t count, const olp_device *device, uint32_t policy, olp_verdict *verdicts,
                   uint32_t *order);

/* In which order the images of one libomptarget descriptor should stand (OLP-REG-004 to 006): fills order[0..n) and returns n, which is
 * count unless images had to be left out, for which may_leave_out asks. symbols are the names of the descriptor's entries. verdicts,
 * order and scratch have count elements. */
uint64_t olp_arrange(const olp_image *images, uint64_t count, const olp_device *device, const char *const *symbols,
                     uint64_t symbol_count, int may_leave_out, olp_verdict *verdicts, uint32_t *order, uint64_t *scratch);

/* The index of the image that upstream would take on an x86-64 host (OLP-POL-002), or -1. */
int64_t olp_first_compatible(const olp_image *images, uint64_t count);

/* ---- Words ---- NULL where there is no such number. */

enum { OLP_LIST_ERROR, OLP_LIST_FINDING, OLP_LIST_FORM, OLP_LIST_VERDICT, OLP_LIST_REASON, OLP_LIST_STEP, OLP_LIST_POLICY, OLP_LIST_KEY };

const char *olp_word(uint32_t list, uint32_t code);
const char *olp_feature_name(uint32_t feature);
const char *olp_cpu_name(int32_t cpu);

/* The version of this library, as the package's. */
const char *olp_version(void);

#ifdef __cplusplus
}
#endif
#endif
