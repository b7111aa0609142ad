/* In libomptarget's place for test_hook.c: notes what it is given, and replays a registration as the runtime does. Real programs are
 * tested on the real runtime, which is itself no place to register from several threads: 22.1.8 crashes one time in twenty. */
#include <stdatomic.h>
#include <stddef.h>

void __tgt_register_lib(void *descriptor);
void __tgt_unregister_lib(void *descriptor);

atomic_int stub_registered, stub_unregistered;
_Atomic(void *) stub_last;
int stub_replays;

/* Called through the procedure linkage table, so it comes to the hook again. */
__attribute__((visibility("default"))) void __tgt_register_lib(void *descriptor) {
  atomic_fetch_add(&stub_registered, 1);
  atomic_store(&stub_last, descriptor);
  if (stub_replays && stub_replays--)
    __tgt_register_lib(descriptor);
}

__attribute__((visibility("default"))) void __tgt_unregister_lib(void *descriptor) {
  atomic_fetch_add(&stub_unregistered, 1);
  atomic_store(&stub_last, descriptor);
}
