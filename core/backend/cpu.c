/* Detects the machine's instruction sets and picks variants of kernels. */
#include "config.h"
#include "core/backend/cpu.h"

#include <string.h>
#ifdef ASTRO_X86_KERNELS
#include <cpuid.h>
#include <sys/syscall.h>
#endif

static const char *const names[ASTRO_N_CPU_LEVELS] = { "c", "avx2", "avx512", "vnni", "amx" };

const char *astro_cpu_level_name(AstroCpuLevel level)
{
  g_return_val_if_fail(level < ASTRO_N_CPU_LEVELS, NULL);
  return names[level];
}

#ifdef ASTRO_X86_KERNELS
/* Linux gives a process tile registers only when it asks. */
static gboolean amx_permitted(void)
{
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

/* __builtin_cpu_supports also checks that the operating system saves the registers. */
static AstroCpuLevel detect(void)
{
  unsigned a, b, c, d = 0;

  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi2") || !__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_F16C))
    return ASTRO_CPU_C;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return ASTRO_CPU_AVX2;
  if (!__builtin_cpu_supports("avx512vnni"))
    return ASTRO_CPU_AVX512;
  enum { AMX_TILE = 1u << 24, AMX_INT8 = 1u << 25 };
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
      (d & (AMX_TILE | AMX_INT8)) != (AMX_TILE | AMX_INT8) || !amx_permitted())
    return ASTRO_CPU_VNNI;
  return ASTRO_CPU_AMX;
}

gboolean astro_cpu_third_cache_is_near(void)
{
  __builtin_cpu_init();
  return __builtin_cpu_is("amd");
}
#else
static AstroCpuLevel detect(void)
{
  return ASTRO_CPU_C;
}

gboolean astro_cpu_third_cache_is_near(void)
{
  return FALSE;
}
#endif

AstroCpuLevel astro_cpu_level(void)
{
  static gsize machine = 0;
  static gint reported = 0;
  const char *cap = g_getenv("ASTRO_CPU");

  if (g_once_init_enter(&machine))
    g_once_init_leave(&machine, 1 + (gsize)detect());
  AstroCpuLevel level = (AstroCpuLevel)(machine - 1);
  if (!cap || !*cap)
    return level;
  for (AstroCpuLevel i = 0; i < ASTRO_N_CPU_LEVELS; i++)
    if (strcmp(names[i], cap) == 0)
      return MIN(i, level);
  if (g_atomic_int_compare_and_exchange(&reported, 0, 1))
    g_warning("ASTRO_CPU=%s is not a known instruction set (c, avx2, avx512, vnni, amx): ignored",
              cap);
  return level;
}

gconstpointer astro_variant_pick(gconstpointer table, gsize n, gsize entry_bytes)
{
  AstroCpuLevel level = astro_cpu_level();
  for (gsize i = 0; i < n; i++) {
    const AstroVariant *variant = (gconstpointer)((const char *)table + i * entry_bytes);
    if (variant->level <= level)
      return variant;
  }
  g_return_val_if_reached(NULL);
}

gconstpointer astro_kernels_pick(gconstpointer table, gsize n)
{
  const AstroVariant *const *variants = table;
  AstroCpuLevel level = astro_cpu_level();
  for (gsize i = 0; i < n; i++)
    if (variants[i]->level <= level)
      return variants[i];
  g_return_val_if_reached(NULL);
}
