/* What the library says, and where. Internal.
 *
 * Silent unless something is wrong or the user asked (OLPICK_LOG). A line is one write, so that lines of threads and processes do not mix. */
#ifndef OLP_LOG_H
#define OLP_LOG_H

#include <stdatomic.h>

/* Lines of one kind are written only where the kind is asked for. */
typedef enum olp_log_kind { OLP_LOG_WARN, OLP_LOG_SELECT } olp_log_kind;

int olp_log_wants(olp_log_kind kind);

__attribute__((format(printf, 2, 3))) void olp_log(olp_log_kind kind, const char *format, ...);

/* As olp_log(OLP_LOG_WARN, ...), the first time only; said starts as 0. */
__attribute__((format(printf, 2, 3))) void olp_warn_once(atomic_int *said, const char *format, ...);

#endif
