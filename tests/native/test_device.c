/* The CPU as a device, from made-up answers of CPUID: what the operating system must have enabled, leaves that are not there, names. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "device.h"
#include "olpick.h"
#include "olpick_tables.h"

enum { EAX, EBX, ECX, EDX };

static const uint32_t all = UINT32_MAX;
static const uint32_t osxsave = 1u << 27;

static olp_leaves cpu;

static void put(uint32_t leaf, uint32_t subleaf, uint32_t eax, uint32_t ebx, uint32_t ecx, uint32_t edx) {
  cpu.leaf[cpu.count++] = (olp_leaf){leaf, subleaf, {eax, ebx, ecx, edx}};
}

static uint32_t *at(uint32_t leaf, uint32_t subleaf) {
  for (uint32_t i = 0; i < cpu.count; i++)
    if (cpu.leaf[i].leaf == leaf && cpu.leaf[i].subleaf == subleaf)
      return cpu.leaf[i].reg;
  put(leaf, subleaf, 0, 0, 0, 0);
  return cpu.leaf[cpu.count - 1].reg;
}

/* CPUID leaf 1 EAX of a family and model. */
static uint32_t signature(uint32_t family, uint32_t model) {
  uint32_t base = family < 15 ? family : 15;
  return (family - base) << 20 | (model >> 4) << 16 | base << 8 | (model & 0xf) << 4;
}

static void call_it(const char *vendor, uint32_t family, uint32_t model) {
  uint32_t *zero = at(0, 0);
  memcpy(&zero[EBX], vendor, 4);
  memcpy(&zero[EDX], vendor + 4, 4);
  memcpy(&zero[ECX], vendor + 8, 4);
  at(1, 0)[EAX] = signature(family, model);
}

/* A CPU that says yes to everything, under a system that has enabled all registers. */
static void make_full(void) {
  memset(&cpu, 0, sizeof cpu);
  put(0, 0, 0x24, 0, 0, 0);
  put(1, 0, 0, 0, all, all);
  put(7, 0, 1, all, all, all);
  put(7, 1, all, all, all, all);
  put(0x1e, 0, 1, 0, 0, 0);
  put(0x1e, 1, all, 0, 0, 0);
  put(0x24, 0, 0, 2, 0, 0);
  put(0x80000000u, 0, 0x80000008u, 0, 0, 0);
  put(0x80000001u, 0, 0, 0, all, all);
  cpu.xcr0 = 0xe00e7;
}

static int has(const char *name) {
  olp_device device;
  olp_device_from(&cpu, &device);
  for (uint32_t i = 0; i < OLP_FEATURE_COUNT; i++)
    if (strcmp(olp_feature_table[i].name, name) == 0)
      return device.features.word[i / 64] >> i % 64 & 1;
  return -1;
}

static int is_called(const char *name) {
  olp_device device;
  olp_device_from(&cpu, &device);
  return device.cpu == OLP_CPU_UNKNOWN ? !name : name && strcmp(olp_cpu_name(device.cpu), name) == 0;
}

static uint32_t count_features(void) {
  olp_device device;
  olp_device_from(&cpu, &device);
  return (uint32_t)(__builtin_popcountll(device.features.word[0]) + __builtin_popcountll(device.features.word[1]));
}

static void test_all_and_nothing(void) {
  make_full();
  CHECK(count_features() == OLP_FEATURE_COUNT);
  memset(&cpu, 0, sizeof cpu);
  cpu.xcr0 = UINT64_MAX;
  CHECK(count_features() == 0);
  CHECK(is_called(NULL));
}

static void test_system_enables_registers(void) {
  make_full();
  at(1, 0)[ECX] &= ~osxsave; /* then what stands for XCR0 is no answer */
  CHECK(!has("avx") && !has("fma") && !has("avx2") && !has("avx512f") && !has("amx-tile") && !has("egpr") && !has("xop"));
  CHECK(has("sse4.2") && has("bmi2") && has("aes") && has("lzcnt") && has("gfni") && has("sha") && has("sse4a"));

  make_full();
  for (int i = 0; i < 2; i++) {
    cpu.xcr0 = i ? 0x3 : 0x5; /* SSE without YMM, YMM without SSE */
    CHECK(!has("avx") && !has("f16c") && !has("avx2") && !has("vaes") && !has("avxvnni") && !has("sha512") && !has("fma4"));
    CHECK(!has("avx512f") && !has("avx10.1") && has("bmi") && has("pclmul"));
  }
  cpu.xcr0 = 0x7;
  CHECK(has("avx") && has("fma") && has("avx2") && has("vpclmulqdq") && has("avxifma") && has("sm4") && has("xop"));
  CHECK(!has("avx512f") && !has("avx512bf16") && !has("avx10.1") && !has("avx10.2"));
  cpu.xcr0 = 0x67; /* masks and the upper halves of 16 registers, but not the other 16 */
  CHECK(!has("avx512f") && !has("avx512vl"));
  cpu.xcr0 = 0xe1; /* as much of AVX-512, and not YMM */
  CHECK(!has("avx512f") && !has("avx"));
  cpu.xcr0 = 0xe7;
  CHECK(has("avx512f") && has("avx512vp2intersect") && has("avx512fp16") && has("avx10.2"));
  CHECK(!has("amx-tile") && !has("amx-fp8") && !has("egpr") && !has("nf"));
  cpu.xcr0 = 0x200e7; /* the tiles' configuration without their data */
  CHECK(!has("amx-tile") && !has("amx-int8"));
  cpu.xcr0 = 0x600e7;
  CHECK(has("amx-tile") && has("amx-int8") && has("amx-complex") && has("amx-movrs") && !has("egpr"));
  cpu.xcr0 = 0x800e7;
  CHECK(has("egpr") && has("ndd") && has("zu") && !has("amx-tile"));
}

static void test_leaves_that_are_not_there(void) {
  make_full();
  at(0, 0)[EAX] = 6; /* leaf 7 answers with ones all the same */
  CHECK(!has("avx2") && !has("bmi") && !has("avx512f") && !has("avxvnni") && !has("amx-fp8") && !has("avx10.1"));
  CHECK(has("avx") && has("lzcnt"));
  at(0, 0)[EAX] = 0;
  CHECK(!has("sse2") && !has("avx") && has("sahf"));

  make_full();
  at(7, 0)[EAX] = 0;
  CHECK(has("avx2") && !has("avxvnni") && !has("avx512bf16") && !has("egpr") && !has("avx10.1"));

  make_full();
  at(0x1e, 0)[EAX] = 0;
  CHECK(has("amx-tile") && !has("amx-fp8") && !has("amx-tf32") && !has("amx-avx512") && !has("amx-movrs"));
  make_full();
  at(0, 0)[EAX] = 0x1d;
  CHECK(has("amx-tile") && has("egpr") && !has("amx-fp8") && !has("avx10.1"));

  make_full();
  at(0x80000000u, 0)[EAX] = 0x80000000u;
  CHECK(!has("sahf") && !has("lzcnt") && !has("sse4a") && has("avx2"));
  at(0x80000000u, 0)[EAX] = 0; /* no such row of leaves at all */
  CHECK(!has("sahf") && !has("lzcnt"));
}

static void test_amd(void) {
  make_full();
  at(0x80000001u, 0)[ECX] = 1u << 0;
  CHECK(has("sahf") && !has("lzcnt") && !has("sse4a"));
  at(0x80000001u, 0)[ECX] = 1u << 5;
  CHECK(!has("sahf") && has("lzcnt") && !has("sse4a"));
  at(0x80000001u, 0)[ECX] = 1u << 6 | 1u << 11 | 1u << 16 | 1u << 21;
  CHECK(has("sse4a") && has("xop") && has("fma4") && has("tbm"));
  cpu.xcr0 = 0x3;
  CHECK(has("sse4a") && !has("xop") && !has("fma4") && has("tbm"));
}

static void test_avx10(void) {
  static const struct {
    uint32_t version;
    int one, two;
  } cases[] = {{0, 0, 0}, {1, 1, 0}, {2, 1, 1}, {3, 1, 1}, {255, 1, 1}};
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    make_full();
    at(0x24, 0)[EBX] = 0xffffff00u | cases[i].version; /* what stands above the version is not it */
    CHECK(has("avx10.1") == cases[i].one);
    CHECK(has("avx10.2") == cases[i].two);
  }
  make_full();
  at(7, 1)[EDX] &= ~(1u << 19);
  CHECK(!has("avx10.1") && !has("avx10.2"));
  make_full();
  at(0, 0)[EAX] = 0x23;
  CHECK(!has("avx10.1") && !has("avx10.2"));
}

static void test_names(void) {
  static const struct {
    const char *vendor;
    uint32_t family, model;
    const char *name;
  } cases[] = {
      {"GenuineIntel", 6, 0x3c, "haswell"},         {"GenuineIntel", 6, 0x9e, "skylake"},     {"GenuineIntel", 6, 0xcf, "emeraldrapids"},
      {"GenuineIntel", 6, 0x97, "alderlake"},       {"GenuineIntel", 6, 0xb7, "raptorlake"},  {"GenuineIntel", 15, 4, "nocona"},
      {"GenuineIntel", 18, 1, "novalake"},          {"GenuineIntel", 18, 2, NULL},            {"GenuineIntel", 19, 1, "diamondrapids"},
      {"GenuineIntel", 6, 0x0e, NULL},              {"GenuineIntel", 6, 0xff, NULL},          {"GenuineIntel", 5, 4, NULL},
      {"AuthenticAMD", 15, 0x41, "k8-sse3"},        {"AuthenticAMD", 16, 2, "amdfam10"},      {"AuthenticAMD", 21, 0x02, "bdver2"},
      {"AuthenticAMD", 21, 0x01, "bdver1"},         {"AuthenticAMD", 23, 0x01, "znver1"},     {"AuthenticAMD", 23, 0x31, "znver2"},
      {"AuthenticAMD", 25, 0x21, "znver3"},         {"AuthenticAMD", 25, 0x61, "znver4"},     {"AuthenticAMD", 26, 0x44, "znver5"},
      {"AuthenticAMD", 26, 0x50, NULL},             {"AuthenticAMD", 27, 0x00, NULL},         {"HygonGenuine", 24, 0x00, NULL},
      {"GenuineIotel", 6, 0x3c, NULL},              {"AuthenticAMD", 6, 0x3c, NULL},
  };
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    make_full();
    call_it(cases[i].vendor, cases[i].family, cases[i].model);
    if (!is_called(cases[i].name))
      fprintf(stderr, "%s family %u model %#x should be %s\n", cases[i].vendor, cases[i].family, cases[i].model,
              cases[i].name ? cases[i].name : "unknown");
    CHECK(is_called(cases[i].name));
  }
  make_full();
  call_it("AuthenticAMD", 15, 0x05);
  at(1, 0)[ECX] = 0;
  CHECK(is_called("k8"));
}

/* One model number, three processors; and what a hypervisor hides changes the features and not the name. */
static void test_names_by_features(void) {
  make_full();
  call_it("GenuineIntel", 6, 0x55);
  CHECK(is_called("cooperlake"));
  at(7, 1)[EAX] &= ~(1u << 5);
  CHECK(is_called("cascadelake"));
  at(7, 0)[ECX] &= ~(1u << 11);
  CHECK(is_called("skylake-avx512"));
  cpu.xcr0 = 0x7;
  CHECK(is_called("skylake-avx512") && !has("avx512f"));
  call_it("GenuineIntel", 6, 0xcf);
  at(7, 0)[EDX] = 0;
  CHECK(is_called("emeraldrapids") && !has("amx-tile"));
  at(0, 0)[EAX] = 1;
  CHECK(is_called("emeraldrapids") && !has("avx2"));
}

/* Every row names its CPU for the first and last of its models, unless an earlier row does. */
static void test_every_model(void) {
  for (uint32_t i = 0; i < OLP_MODEL_COUNT; i++) {
    const olp_model *row = &olp_models[i];
    for (int last = 0; last < 2; last++) {
      uint32_t model = last ? row->last : row->first, first = 0;
      make_full();
      call_it(olp_vendors[row->vendor], row->family, model);
      while (olp_models[first].vendor != row->vendor || olp_models[first].family != row->family || model < olp_models[first].first ||
             model > olp_models[first].last)
        first++;
      CHECK(is_called(olp_cpu_name(olp_models[first].cpu)));
    }
  }
}

static void test_named(void) {
  olp_device device, other;
  CHECK(olp_device_named("haswell", &device) == 0 && strcmp(olp_cpu_name(device.cpu), "haswell") == 0);
  CHECK(memcmp(&device.features, &olp_cpus[device.cpu].features, sizeof device.features) == 0);
  CHECK(olp_device_named("core-avx2", &other) == 0 && other.cpu == device.cpu);
  CHECK(olp_device_named("skx", &device) == 0 && strcmp(olp_cpu_name(device.cpu), "skylake-avx512") == 0);
  CHECK(olp_device_named("", &device) == -1 && olp_device_named("haswel", &device) == -1 && olp_device_named("haswell ", &device) == -1);
  CHECK(olp_device_named("Haswell", &device) == -1 && olp_device_named("generic", &device) == -1);
  for (int32_t i = 0; i < OLP_LEVELS; i++) {
    CHECK(olp_device_named(olp_cpus[i].name, &device) == 0 && device.cpu == i);
    CHECK(memcmp(&device.features, &olp_level_features[i], sizeof device.features) == 0);
  }
  for (uint32_t i = 0; i < OLP_CPU_NAME_COUNT; i++) {
    CHECK(!i || strcmp(olp_cpu_names[i - 1].name, olp_cpu_names[i].name) < 0);
    CHECK(olp_device_named(olp_cpu_names[i].name, &device) == 0 && device.cpu == olp_cpu_names[i].cpu);
  }
}

/* This machine, against the compiler's own run-time check. */
static void test_host(void) {
#if defined(__x86_64__)
  olp_device device;
  CHECK(olp_leaves_read(&cpu) == 0);
  CHECK(cpu.count < OLP_LEAVES_MOST); /* none was left out for want of room */
  CHECK(olp_device_host(&device) == 0);
  __builtin_cpu_init();
  CHECK(!!has("sse4.2") == !!__builtin_cpu_supports("sse4.2"));
  CHECK(!!has("popcnt") == !!__builtin_cpu_supports("popcnt"));
  CHECK(!!has("avx") == !!__builtin_cpu_supports("avx"));
  CHECK(!!has("avx2") == !!__builtin_cpu_supports("avx2"));
  CHECK(!!has("fma") == !!__builtin_cpu_supports("fma"));
  CHECK(!!has("bmi") == !!__builtin_cpu_supports("bmi"));
  CHECK(!!has("bmi2") == !!__builtin_cpu_supports("bmi2"));
  CHECK(!!has("avx512f") == !!__builtin_cpu_supports("avx512f"));
  CHECK(!!has("avx512vl") == !!__builtin_cpu_supports("avx512vl"));
  CHECK(!!has("avx512vbmi2") == !!__builtin_cpu_supports("avx512vbmi2"));
  CHECK(has("sse2") == 1 && has("cmov") == 1);
#endif
}

int main(void) {
  test_all_and_nothing();
  test_system_enables_registers();
  test_leaves_that_are_not_there();
  test_amd();
  test_avx10();
  test_names();
  test_names_by_features();
  test_every_model();
  test_named();
  test_host();
  return check_result();
}
