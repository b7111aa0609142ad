/* Finding the function that a hook stands before. Internal. */
#ifndef OLP_REAL_H
#define OLP_REAL_H

typedef void olp_function(void);

/* The definition of a symbol that would have been called without olpick: the next one in the order of loading; else what the caller's
 * own object sees (a plugin opened RTLD_LOCAL); else that of a loaded library whose file name begins with `library`. NULL when there
 * is none. Never own, the hook itself. */
olp_function *olp_real(const char *symbol, const char *library, const void *caller, olp_function *own);

#endif
