/* The hook for libomptarget: __tgt_register_lib and __tgt_unregister_lib (section 6 of the specification).
 *
 * A program's own code calls them before main for each linked object that carries images. The runtime takes, for each device, the first
 * image of a descriptor that its check accepts; so what olpick decides is the order of the images in the descriptor that it hands on.
 * Whatever goes wrong here, the descriptor goes on as it came.
 *
 * No lock: registrations are kept in a list to which records are only ever added, since the runtime keeps pointers into the copies
 * until the process ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/rules.h"
#include "../runtime/controls.h"
#include "../runtime/log.h"
#include "descriptor.h"
#include "real.h"

#define EXPORT __attribute__((visibility("default")))

/* More images than this in one descriptor are no compiler's work. */
enum { IMAGES_MOST = 4096 };

void __tgt_register_lib(olp_tgt_descriptor *descriptor);
void __tgt_unregister_lib(olp_tgt_descriptor *descriptor);

/* ---- What was registered ---- */

typedef struct record {
  struct record *next;
  olp_tgt_descriptor *original; /* as the program named it */
  olp_tgt_descriptor *given;    /* as the runtime got it: the original, or a copy */
  atomic_int live;              /* registrations less unregistrations */
  int serves_host;              /* it holds an image for the host */
} record;

static _Atomic(record *) records;

/* Memory ran out for a record once: from then on an unknown descriptor may be one that was registered. */
static atomic_int forgot;

static int is_copy(const olp_tgt_descriptor *descriptor) {
  for (record *r = atomic_load(&records); r; r = r->next)
    if (r->given == descriptor && r->original != descriptor)
      return 1;
  return 0;
}

static record *find_live(const olp_tgt_descriptor *original) {
  for (record *r = atomic_load(&records); r; r = r->next)
    if (r->original == original && atomic_load(&r->live) > 0)
      return r;
  return NULL;
}

/* A library that is closed and opened again at the same place registers the same contents: its copy serves again, so that a program that
 * does so for ever needs no more memory for it. */
static record *find_equal(const olp_tgt_descriptor *original, const olp_tgt_descriptor *given) {
  for (record *r = atomic_load(&records); r; r = r->next) {
    const olp_tgt_descriptor *old = r->given;
    if (r->original != original || (old == original) != (given == original))
      continue;
    if (old == original || (old->count == given->count && old->entries_begin == given->entries_begin &&
                            old->entries_end == given->entries_end &&
                            memcmp(old->images, given->images, (size_t)old->count * sizeof *old->images) == 0))
      return r;
  }
  return NULL;
}

static int host_is_served(void) {
  for (record *r = atomic_load(&records); r; r = r->next)
    if (r->serves_host)
      return 1;
  return 0;
}

/* ---- The decision ---- */

/* Everything that one decision needs, in one allocation. */
typedef struct work {
  olp_image *images;
  olp_verdict *verdicts;
  uint32_t *order;
  uint64_t *scratch;
  const char **symbols;
  uint64_t symbol_count;
} work;

static void *take(unsigned char **from, size_t size) {
  void *taken = *from;
  *from += (size + 15) & ~(size_t)15;
  return taken;
}

static void *work_new(work *w, const olp_tgt_descriptor *descriptor) {
  size_t count = (size_t)descriptor->count, entries = olp_tgt_entry_count(descriptor);
  if (entries > SIZE_MAX / 2 / sizeof *w->symbols)
    return NULL;
  unsigned char *memory = calloc(1, count * (sizeof *w->images + sizeof *w->verdicts + sizeof *w->order + sizeof *w->scratch) +
                                        entries * sizeof *w->symbols + (size_t)5 * 16);
  if (!memory)
    return NULL;
  unsigned char *at = memory;
  w->images = take(&at, count * sizeof *w->images);
  w->verdicts = take(&at, count * sizeof *w->verdicts);
  w->scratch = take(&at, count * sizeof *w->scratch);
  w->order = take(&at, count * sizeof *w->order);
  w->symbols = take(&at, entries * sizeof *w->symbols);

  for (size_t i = 0; i < count; i++)
    olp_tgt_read_image(&descriptor->images[i], &w->images[i]);
  w->symbol_count = 0;
  for (size_t i = 0; i < entries; i++) {
    const char *name = olp_tgt_entry_name(descriptor, i);
    if (name && *name)
      w->symbols[w->symbol_count++] = name;
  }
  return memory;
}

/* This CPU, or as much of the one that the user named as this one can do. */
static int device_for(const olp_controls *controls, olp_device *device) {
  if (olp_device_host(device) != 0)
    return -1;
  if (controls->cpu >= 0) {
    olp_device named;
    if (olp_device_named(olp_cpu_name(controls->cpu), &named) == 0) {
      device->features = olp_features_without(device->features, olp_features_without(device->features, named.features));
      device->cpu = named.cpu;
    }
  }
  return 0;
}

/* libomp takes any beginning of the word; in doubt, offload counts as mandatory, so that nothing is left out. */
static int offload_is_mandatory(void) {
  const char *value = getenv("OMP_TARGET_OFFLOAD");
  if (!value || !*value)
    return 0;
  return *value != 'd' && *value != 'D';
}

/* OLP-REG-006. */
static int may_leave_out(const olp_controls *controls) {
  return controls->host_fallback || (!offload_is_mandatory() && !host_is_served());
}

static const char *object_of(const olp_tgt_descriptor *descriptor) {
  Dl_info object;
  if (!dladdr(descriptor, &object) || !object.dli_fname || !*object.dli_fname)
    return "program";
  const char *slash = strrchr(object.dli_fname, '/');
  return slash ? slash + 1 : object.dli_fname;
}

/* ", lacks avx512fp16 amx-tile and 5 more" */
static void name_missing(char *text, size_t size, olp_features missing) {
  enum { NAMED = 4 };
  uint32_t count = olp_features_count(missing), named = 0;
  size_t at = 0;
  *text = 0;
  for (uint32_t i = 0; i < OLP_FEATURE_COUNT && named < NAMED && named < count; i++) {
    if (!(missing.word[i / 64] >> i % 64 & 1))
      continue;
    int length = snprintf(text + at, size - at, "%s %s", named ? "" : ", lacks", olp_feature_name(i));
    if (length < 0 || (size_t)length >= size - at)
      return;
    at += (size_t)length;
    named++;
  }
  if (count > named)
    snprintf(text + at, size - at, " and %u more", count - named);
}

static int text_width(olp_text text) { return text.size > 80 ? 80 : (int)text.size; }

/* What becomes of an image that was not selected, where that needs saying. */
static const char *fate(const work *w, uint64_t kept, uint32_t image) {
  uint64_t place = 0, host = 0;
  while (place < kept && w->order[place] != image)
    place++;
  if (place == kept)
    return ", left out";
  while (host < kept && !olp_upstream_accepts(&w->images[w->order[host]]))
    host++;
  return host == place && w->verdicts[image].verdict != OLP_VERDICT_SELECTED ? ", comes first all the same" : "";
}

static void log_decision(const olp_tgt_descriptor *descriptor, const work *w, uint64_t kept) {
  if (!olp_log_wants(OLP_LOG_SELECT))
    return;
  const char *object = object_of(descriptor);
  int64_t upstream = olp_first_compatible(w->images, (uint64_t)descriptor->count);
  for (int32_t i = 0; i < descriptor->count; i++) {
    const olp_verdict *verdict = &w->verdicts[i];
    olp_text triple = w->images[i].key[OLP_KEY_TRIPLE], arch = w->images[i].key[OLP_KEY_ARCH];
    char rank[24] = "", missing[128];
    if (verdict->rank)
      snprintf(rank, sizeof rank, ", rank %u", verdict->rank);
    name_missing(missing, sizeof missing, verdict->missing);
    olp_log(OLP_LOG_SELECT, "select: %s: image %d: %.*s %.*s: %s%s, %s%s%s%s", object, i, triple.size ? text_width(triple) : 9,
            triple.size ? triple.data : "no triple", arch.size ? text_width(arch) : 8, arch.size ? arch.data : "no label",
            olp_word(OLP_LIST_VERDICT, verdict->verdict), rank, olp_word(OLP_LIST_REASON, verdict->reason), missing,
            fate(w, kept, (uint32_t)i), i == upstream ? ", upstream's pick" : "");
  }
}

/* A copy whose images stand in the decided order; the descriptor itself when nothing changes or there is no memory. */
static olp_tgt_descriptor *rearranged(olp_tgt_descriptor *descriptor, const work *w, uint64_t kept) {
  int changed = kept != (uint64_t)descriptor->count;
  for (uint64_t i = 0; i < kept; i++)
    changed |= w->order[i] != i;
  if (!changed)
    return descriptor;
  olp_tgt_descriptor *copy = malloc(sizeof *copy + (kept ? kept : 1) * sizeof *copy->images);
  if (!copy)
    return descriptor;
  *copy = *descriptor;
  copy->images = (olp_tgt_image *)(copy + 1);
  copy->count = (int32_t)kept;
  for (uint64_t i = 0; i < kept; i++)
    copy->images[i] = descriptor->images[w->order[i]];
  return copy;
}

/* What to hand on for a descriptor, and whether that serves the host. */
static olp_tgt_descriptor *decide(olp_tgt_descriptor *descriptor, const olp_controls *controls, int *serves_host) {
  *serves_host = 0;
  olp_device device;
  if (descriptor->count < 1 || descriptor->count > IMAGES_MOST || !descriptor->images || device_for(controls, &device) != 0)
    return descriptor;
  work w;
  void *memory = work_new(&w, descriptor);
  if (!memory)
    return descriptor;

  uint64_t kept = olp_arrange(w.images, (uint64_t)descriptor->count, &device, w.symbols, w.symbol_count, may_leave_out(controls),
                              w.verdicts, w.order, w.scratch);
  log_decision(descriptor, &w, kept);
  for (uint64_t i = 0; i < kept; i++)
    *serves_host |= olp_upstream_accepts(&w.images[w.order[i]]);
  olp_tgt_descriptor *given = rearranged(descriptor, &w, kept);
  free(memory);
  return given;
}

static olp_tgt_descriptor *register_descriptor(olp_tgt_descriptor *descriptor, const olp_controls *controls) {
  if (is_copy(descriptor)) /* the runtime replays a call that it had put off */
    return descriptor;
  record *known = find_live(descriptor);
  if (!known) {
    int serves_host;
    olp_tgt_descriptor *given = decide(descriptor, controls, &serves_host);
    known = find_equal(descriptor, given);
    if (known) {
      if (given != descriptor)
        free(given);
    } else {
      known = calloc(1, sizeof *known);
      if (!known) { /* a copy that nobody remembers could not be unregistered */
        if (given != descriptor)
          free(given);
        atomic_store(&forgot, 1);
        return descriptor;
      }
      known->original = descriptor;
      known->given = given;
      known->serves_host = serves_host;
      known->next = atomic_load(&records);
      while (!atomic_compare_exchange_weak(&records, &known->next, known))
        ;
    }
  }
  atomic_fetch_add(&known->live, 1);
  return known->given;
}

/* ---- The hooks ---- */

typedef void tgt_function(olp_tgt_descriptor *);

static tgt_function *real_function(const char *symbol, const void *caller, tgt_function *own) {
  tgt_function *found = (tgt_function *)olp_real(symbol, "libomptarget.so", caller, (olp_function *)own);
  if (!found) {
    static atomic_int said;
    olp_warn_once(&said, "warning: %s: no libomptarget is loaded to hand it on to; the call is dropped", symbol);
  }
  return found;
}

static int hands_on_untouched(const olp_controls *controls) { return controls->disable || controls->policy == OLP_POLICY_FIRST; }

EXPORT void __tgt_register_lib(olp_tgt_descriptor *descriptor) {
  int saved = errno;
  const olp_controls *controls = olp_controls_get();
  olp_controls_report();
  tgt_function *real = real_function("__tgt_register_lib", __builtin_return_address(0), __tgt_register_lib);
  if (real && descriptor && !hands_on_untouched(controls))
    descriptor = register_descriptor(descriptor, controls);
  errno = saved;
  if (real)
    real(descriptor);
}

EXPORT void __tgt_unregister_lib(olp_tgt_descriptor *descriptor) {
  int saved = errno;
  const olp_controls *controls = olp_controls_get();
  tgt_function *real = real_function("__tgt_unregister_lib", __builtin_return_address(0), __tgt_unregister_lib);
  if (real && descriptor && !hands_on_untouched(controls)) {
    record *known = find_live(descriptor);
    if (known) {
      atomic_fetch_sub(&known->live, 1);
      descriptor = known->given;
    } else if (!atomic_load(&forgot)) {
      /* LLVM 22.1 crashes on a descriptor that it does not know. */
      static atomic_int said;
      olp_warn_once(&said, "warning: a program unregisters a descriptor that it never registered; not handed on");
      real = NULL;
    }
  }
  errno = saved;
  if (real)
    real(descriptor);
}
