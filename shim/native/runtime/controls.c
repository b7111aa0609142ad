#define _GNU_SOURCE
#include "controls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "../core/rules.h"
#include "log.h"

static olp_controls controls;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- Values ---- */

static int one_of(const char *value, size_t length, const char *const *values) {
  for (int i = 0; values[i]; i++)
    if (strlen(values[i]) == length && memcmp(values[i], value, length) == 0)
      return i;
  return -1;
}

static int parse_flag(const char *value, int *flag) {
  static const char *const words[] = {"0", "1", "false", "true", "no", "yes", "off", "on"};
  for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
    if (strcasecmp(value, words[i]) == 0) {
      *flag = i & 1;
      return 1;
    }
  return 0;
}

/* A comma list of kinds of lines; `all` and `none` are no kinds but set or clear them. */
static int parse_log(const char *value, const char *const *values, unsigned *log) {
  unsigned wanted = 0;
  for (const char *at = value;; at++) {
    size_t length = strcspn(at, ",");
    int word = one_of(at, length, values);
    if (word < 0)
      return 0;
    if (strcmp(values[word], "all") == 0)
      wanted = ~0u;
    else if (strcmp(values[word], "none") == 0)
      wanted = 0;
    else
      wanted |= 1u << word;
    at += length;
    if (!*at)
      break;
  }
  if (wanted) /* who watches decisions wants to know of a wrong setting too */
    wanted |= 1u << OLP_LOG_WARN;
  *log = wanted;
  return 1;
}

static int parse_cpu(const char *value, int32_t *cpu) {
  int32_t found = olp_cpu_find(value, strlen(value));
  if (found < 0)
    return 0;
  *cpu = found;
  return 1;
}

static int parse_path(const char *value, char *path) {
  size_t length = strlen(value);
  if (length >= PATH_MAX - 16) /* room for the process id */
    return 0;
  memcpy(path, value, length + 1);
  return 1;
}

static int parse(int control, const char *value, olp_controls *into) {
  const char *const *values = olp_control_table[control].values;
  int choice;
  switch (control) {
  case OLP_CONTROL_POLICY:
    choice = one_of(value, strlen(value), values);
    if (choice >= 0)
      into->policy = (uint32_t)choice;
    return choice >= 0;
  case OLP_CONTROL_LOG:
    return parse_log(value, values, &into->log);
  case OLP_CONTROL_LOG_FILE:
    return parse_path(value, into->log_file);
  case OLP_CONTROL_CPU:
    return parse_cpu(value, &into->cpu);
  case OLP_CONTROL_HOST_FALLBACK:
    return parse_flag(value, &into->host_fallback);
  case OLP_CONTROL_DISABLE:
    return parse_flag(value, &into->disable);
  default:
    return 1;
  }
}

/* ---- The environment ---- */

static void show(char *shown, const char *value) {
  /* An empty string would mean that nothing is wrong; an empty value never gets here. */
  snprintf(shown, OLP_SHOWN_MOST, "%s", value);
}

/* Not getenv, which a program may define itself: in a constructor its own is not ready. */
static const char *value_of(const char *name) {
  size_t length = strlen(name);
  for (char **variable = environ; variable && *variable; variable++)
    if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=')
      return *variable + length + 1;
  return NULL;
}

static void collect_unknown(void) {
  static const char prefix[] = "OLPICK_";
  int found = 0;
  for (char **variable = environ; variable && *variable && found < OLP_UNKNOWN_MOST; variable++) {
    if (strncmp(*variable, prefix, sizeof prefix - 1) != 0)
      continue;
    size_t length = strcspn(*variable, "=");
    int known = 0;
    for (int i = 0; i < OLP_CONTROL_COUNT; i++)
      known |= strlen(olp_control_table[i].name) == length && memcmp(*variable, olp_control_table[i].name, length) == 0;
    if (!known && (*variable)[length] == '=' && (*variable)[length + 1])
      snprintf(controls.unknown[found++], OLP_SHOWN_MOST, "%.*s", (int)(length < OLP_SHOWN_MOST ? length : OLP_SHOWN_MOST - 1), *variable);
  }
}

static void read_environment(void) {
  controls.cpu = OLP_CPU_NONE;
  for (int i = 0; i < OLP_CONTROL_COUNT; i++) {
    const char *fallback = olp_control_table[i].initial;
    if (*fallback)
      parse(i, fallback, &controls);
    /* A setuid program must not be made to write where its caller may not. */
    const char *value = i == OLP_CONTROL_LOG_FILE && getauxval(AT_SECURE) ? NULL : value_of(olp_control_table[i].name);
    if (value && *value && !parse(i, value, &controls))
      show(controls.bad[i], value);
  }
  collect_unknown();
}

/* Before the program can change its environment in one thread while another registers. */
__attribute__((constructor)) static void read_early(void) { pthread_once(&once, read_environment); }

const olp_controls *olp_controls_get(void) {
  pthread_once(&once, read_environment);
  return &controls;
}

/* ---- What was wrong ---- */

static void list_values(int control, char *text, size_t size) {
  const char *const *values = olp_control_table[control].values;
  *text = 0;
  for (size_t at = 0, i = 0; values[i] && at < size; i++) {
    int length = snprintf(text + at, size - at, "%s%s", i ? ", " : "; it takes ", values[i]);
    if (length < 0)
      return;
    at += (size_t)length;
  }
}

void olp_controls_report(void) {
  static atomic_int reported;
  if (atomic_exchange(&reported, 1))
    return;
  const olp_controls *now = olp_controls_get();
  for (int i = 0; i < OLP_CONTROL_COUNT; i++) {
    char values[128];
    if (!now->bad[i][0])
      continue;
    list_values(i, values, sizeof values);
    olp_log(OLP_LOG_WARN, "warning: %s: no such value: '%s'%s; the default holds (olpick controls lists them)",
            olp_control_table[i].name, now->bad[i], values);
  }
  for (int i = 0; i < OLP_UNKNOWN_MOST && now->unknown[i][0]; i++)
    olp_log(OLP_LOG_WARN, "warning: %s: there is no such control; it is ignored (olpick controls lists them)", now->unknown[i]);
}
