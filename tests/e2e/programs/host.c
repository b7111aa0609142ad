/* Opens and closes two plugins over and over, RTLD_LOCAL as plugins are: argv[1] answers 1, argv[2] answers 2. */
#include <dlfcn.h>
#include <stdio.h>

static int ask(const char *file) {
  void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    return -1;
  }
  int (*run)(void) = (int (*)(void))dlsym(plugin, "run");
  int answer = run();
  dlclose(plugin);
  return answer;
}

int main(int argc, char **argv) {
  int bad = argc != 3;
  for (int round = 0; round < 20 && !bad; round++)
    bad = ask(argv[1]) != 1 || ask(argv[2]) != 2;
  puts(bad ? "wrong" : "right");
  return bad;
}
