#define _GNU_SOURCE
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "controls.h"

enum { LINE = 1024 };

int olp_log_wants(olp_log_kind kind) { return olp_controls_get()->log >> kind & 1; }

/* A log that can no longer be written, a closed pipe or a full quota, must not end the program: the signal that would is held back
 * and taken off. */
static void write_quietly(int fd, const char *line, size_t length) {
  sigset_t fatal, before, pending;
  sigemptyset(&fatal);
  sigaddset(&fatal, SIGPIPE);
  sigaddset(&fatal, SIGXFSZ);
  sigpending(&pending);
  if (pthread_sigmask(SIG_BLOCK, &fatal, &before) != 0)
    return;

  ssize_t written;
  do
    written = write(fd, line, length);
  while (written < 0 && errno == EINTR);

  if (written < 0 && (errno == EPIPE || errno == EFBIG)) {
    int raised = errno == EPIPE ? SIGPIPE : SIGXFSZ;
    if (!sigismember(&pending, raised)) {
      sigset_t one;
      struct timespec now = {0, 0};
      sigemptyset(&one);
      sigaddset(&one, raised);
      sigtimedwait(&one, NULL, &now);
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Opened for every line and closed again: a descriptor kept open could be one that the program closes and uses anew. */
static int open_file(const char *path) {
  char name[PATH_MAX];
  int length = snprintf(name, sizeof name, "%s.%ld", path, (long)getpid());
  if (length < 0 || (size_t)length >= sizeof name)
    return -1;
  return open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
}

static void write_line(const char *format, va_list arguments) {
  int saved = errno;
  char line[LINE];
  int head = snprintf(line, sizeof line, "olpick[%ld]: ", (long)getpid());
  size_t length = head > 0 ? (size_t)head : 0;
  int body = vsnprintf(line + length, sizeof line - length - 1, format, arguments);
  if (body > 0) {
    length += (size_t)body;
    if (length > sizeof line - 2)
      length = sizeof line - 2;
    /* Labels come from files, values from anywhere; a terminal must not obey them, and a reader must not trip over them. */
    for (size_t i = 0; i < length; i++)
      if ((unsigned char)line[i] < ' ' || (unsigned char)line[i] > '~')
        line[i] = '?';
    line[length++] = '\n';

    const char *path = olp_controls_get()->log_file;
    int fd = *path ? open_file(path) : -1;
    write_quietly(fd >= 0 ? fd : STDERR_FILENO, line, length);
    if (fd >= 0)
      close(fd);
  }
  errno = saved;
}

void olp_log(olp_log_kind kind, const char *format, ...) {
  if (!olp_log_wants(kind))
    return;
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

void olp_warn_once(atomic_int *said, const char *format, ...) {
  if (!olp_log_wants(OLP_LOG_WARN) || atomic_exchange(said, 1))
    return;
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}
