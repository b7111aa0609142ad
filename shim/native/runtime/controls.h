/* The user's settings, from the OLPICK_* variables of the environment. Internal.
 *
 * The table of controls is shim/data/controls.toml. A value that does not parse leaves its default and is reported once, when the
 * library first acts; a process in which it never acts, it never disturbs. */
#ifndef OLP_CONTROLS_H
#define OLP_CONTROLS_H

#include <limits.h>
#include <stdint.h>

#include "olpick_tables.h"

enum { OLP_UNKNOWN_MOST = 4, OLP_SHOWN_MOST = 64 };

typedef struct olp_controls {
  uint32_t policy;        /* OLP_POLICY_ */
  unsigned log;           /* bit i for olp_log_kind i */
  int host_fallback;
  int disable;
  int32_t cpu;            /* choose as if it were this one; OLP_CPU_NONE: as the machine is */
  char log_file[PATH_MAX];

  char bad[OLP_CONTROL_COUNT][OLP_SHOWN_MOST];     /* the beginnings of values that do not parse */
  char unknown[OLP_UNKNOWN_MOST][OLP_SHOWN_MOST];  /* names that no control has */
} olp_controls;

/* Reads the environment the first time, in the library's constructor or before it. */
const olp_controls *olp_controls_get(void);

/* Says, once in a process, what was wrong with the values. */
void olp_controls_report(void);

#endif
