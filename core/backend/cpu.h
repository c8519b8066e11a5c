/* Which instruction sets this machine has, kernels are built for and ASTRO_CPU allows. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* Each level contains those before it. */
typedef enum {
  ASTRO_CPU_C,
  ASTRO_CPU_AVX2,   /* with FMA and F16C */
  ASTRO_CPU_AVX512, /* F, BW, DQ and VL */
  ASTRO_CPU_VNNI,   /* AVX-512 VNNI */
  ASTRO_CPU_AMX,    /* AMX-INT8 tiles, permitted by the kernel */
  ASTRO_N_CPU_LEVELS
} AstroCpuLevel;

const char *astro_cpu_level_name(AstroCpuLevel level); /* "avx2", as ASTRO_CPU names it */

/* The best level that the machine has and ASTRO_CPU allows. Read once a call, so that a test may
 * set ASTRO_CPU between calls; an unknown name is reported once and ignored. */
AstroCpuLevel astro_cpu_level(void);

/* Whether the third cache belongs to a few cores and answers them nearly as fast as their second,
 * as on AMD's processors, or is spread over the die, as on Intel's for servers. */
gboolean astro_cpu_third_cache_is_near(void);

/* Every stage keeps its variants in a table, fastest first, the portable one last, each entry
 * starting with this. */
typedef struct {
  const char *name; /* "avx512", "amx-int8": what active-backend shows after "cpu/" */
  AstroCpuLevel level;
} AstroVariant;

/* The first of n entries of that size that the level allows; the last is level C, so there is one.
 */
gconstpointer astro_variant_pick(gconstpointer table, gsize n, gsize entry_bytes);
#define ASTRO_VARIANT_PICK(table)                                                                  \
  ((const void *)astro_variant_pick((table), G_N_ELEMENTS(table), sizeof((table)[0])))

/* The same of a table of pointers to what starts with a variant. */
gconstpointer astro_kernels_pick(gconstpointer table, gsize n);
#define ASTRO_KERNELS_PICK(table) (astro_kernels_pick((table), G_N_ELEMENTS(table)))

/* Such a table, of all that are built. */
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
