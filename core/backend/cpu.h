/* The instruction sets for which this machine has support, kernels were built, and ASTRO_CPU allows
 * use. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* Each level includes those before it. */
typedef enum {
  ASTRO_CPU_C,
  ASTRO_CPU_AVX2,   /* with FMA and F16C */
  ASTRO_CPU_AVX512, /* F, BW, DQ and VL */
  ASTRO_CPU_VNNI,   /* AVX-512 VNNI */
  ASTRO_CPU_AMX,    /* AMX-INT8 tiles, permitted by the kernel */
  ASTRO_N_CPU_LEVELS
} AstroCpuLevel;

const char *astro_cpu_level_name(AstroCpuLevel level); /* "avx2", the word that ASTRO_CPU takes */

/* The best level that the machine has and ASTRO_CPU allows. ASTRO_CPU is read at every call, so
 * that a test may change it; an unknown name is reported once and ignored. */
AstroCpuLevel astro_cpu_level(void);

/* Whether the third-level cache belongs to a few cores and is nearly as fast as the second, as on
 * AMD's processors, or is spread over the die, as on Intel's server processors. */
gboolean astro_cpu_third_cache_is_near(void);

/* Every stage keeps its variants in a table, fastest first and the portable one last. Each entry
 * starts with this struct. */
typedef struct {
  const char *name; /* "avx512", "amx-int8": what active-backend shows after "cpu/" */
  AstroCpuLevel level;
} AstroVariant;

/* The first of n entries of entry_bytes each that the level allows; the last entry is level C, so
 * there is always one. */
gconstpointer astro_variant_pick(gconstpointer table, gsize n, gsize entry_bytes);
#define ASTRO_VARIANT_PICK(table)                                                                  \
  ((const void *)astro_variant_pick((table), G_N_ELEMENTS(table), sizeof((table)[0])))

/* The same for a table of pointers to structs that start with a variant. */
gconstpointer astro_kernels_pick(gconstpointer table, gsize n);
#define ASTRO_KERNELS_PICK(table) (astro_kernels_pick((table), G_N_ELEMENTS(table)))

/* Such a table of all levels that are built. */
#ifdef ASTRO_X86_KERNELS
#define ASTRO_KERNELS(name)                                                                        \
  {                                                                                                \
    &name##_avx512, &name##_avx2, &name##_c                                                        \
  }
#else
#define ASTRO_KERNELS(name)                                                                        \
  {                                                                                                \
    &name##_c                                                                                      \
  }
#endif

ASTRO_END_DECLS
