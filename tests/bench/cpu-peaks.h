/* The machine's arithmetic peaks, for benchmarks: loops of a single instruction with all operands
 * in registers. Each task runs a fixed number of instructions; an operation is a multiply or an
 * add. */
#pragma once

#include "core/backend/cpu.h"
#include "core/backend/threads.h"
#include "core/correlator/x86/tile-registers.h"
#ifdef ASTRO_X86_KERNELS
#include <immintrin.h>
#endif

enum { TASKS = 64, LOOPS = 4000 };

#ifdef ASTRO_X86_KERNELS
__attribute__((target("amx-tile,amx-int8"))) static void amx_task(gpointer data, guint64 task)
{
  _tile_loadconfig(&tile_shape);
  for (guint i = 0; i < LOOPS; i++) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 5, 6);
    _tile_dpbssd(2, 4, 7);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_release();
}

/* Twenty sums hide the latency and leave registers for operands. */
#define PEAK(name, features, Vector, zero, instruction, hold)                                      \
  __attribute__((target(features))) static void name(gpointer data, guint64 task)                  \
  {                                                                                                \
    Vector s0 = zero, s1 = zero, s2 = zero, s3 = zero, s4 = zero, s5 = zero;                       \
    Vector s6 = zero, s7 = zero, s8 = zero, s9 = zero, a = zero, b = zero;                         \
    __asm__ volatile("" : "+" hold(a), "+" hold(b));                                               \
    for (guint i = 0; i < 4 * LOOPS; i++) {                                                        \
      s0 = instruction(s0, a, b);                                                                  \
      s1 = instruction(s1, a, b);                                                                  \
      s2 = instruction(s2, a, b);                                                                  \
      s3 = instruction(s3, a, b);                                                                  \
      s4 = instruction(s4, a, b);                                                                  \
      s5 = instruction(s5, a, b);                                                                  \
      s6 = instruction(s6, a, b);                                                                  \
      s7 = instruction(s7, a, b);                                                                  \
      s8 = instruction(s8, a, b);                                                                  \
      s9 = instruction(s9, a, b);                                                                  \
      __asm__ volatile(""                                                                          \
                       : "+" hold(s0), "+" hold(s1), "+" hold(s2), "+" hold(s3), "+" hold(s4),     \
                         "+" hold(s5), "+" hold(s6), "+" hold(s7), "+" hold(s8), "+" hold(s9));    \
    }                                                                                              \
  }

#define FMA_512(s, a, b) _mm512_fmadd_ps(a, b, s)
#define FMA_256(s, a, b) _mm256_fmadd_ps(a, b, s)
/* Volatile, because otherwise one product would do for all sums. */
#define ADD_PRODUCT(s, a, b, add, hold)                                                            \
  ({                                                                                               \
    __typeof__(s) product;                                                                         \
    __asm__ volatile("vpmaddwd %2, %1, %0" : "=" hold(product) : hold(a), hold(b));                \
    add(s, product);                                                                               \
  })
#define ADD_PRODUCT_512(s, a, b) ADD_PRODUCT(s, a, b, _mm512_add_epi32, "v")
#define ADD_PRODUCT_256(s, a, b) ADD_PRODUCT(s, a, b, _mm256_add_epi32, "x")
PEAK(vnni_task, "avx512f,avx512vnni", __m512i, _mm512_setzero_si512(), _mm512_dpbusd_epi32, "v")
PEAK(fma_512_task, "avx512f", __m512, _mm512_setzero_ps(), FMA_512, "v")
PEAK(fma_256_task, "avx2,fma", __m256, _mm256_setzero_ps(), FMA_256, "x")
PEAK(madd_512_task, "avx512bw", __m512i, _mm512_setzero_si512(), ADD_PRODUCT_512, "v")
PEAK(madd_256_task, "avx2", __m256i, _mm256_setzero_si256(), ADD_PRODUCT_256, "x")

typedef struct {
  const char *name;
  AstroTask task;
  double operations; /* in a task */
  AstroCpuLevel level;
} Peak;

enum { AMX, VNNI, FMA_512, FMA_256, MADD_512, MADD_256 };
static const Peak peaks[] = {
  [AMX] = { "AMX tdpbssd", amx_task, 4. * LOOPS * 2 * 16 * 16 * 64, ASTRO_CPU_AMX },
  [VNNI] = { "AVX-512 vpdpbusd", vnni_task, 40. * LOOPS * 2 * 64, ASTRO_CPU_VNNI },
  [FMA_512] = { "AVX-512 FMA", fma_512_task, 40. * LOOPS * 2 * 16, ASTRO_CPU_AVX512 },
  [FMA_256] = { "AVX2 FMA", fma_256_task, 40. * LOOPS * 2 * 8, ASTRO_CPU_AVX2 },
  [MADD_512] = { "AVX-512 vpmaddwd", madd_512_task, 40. * LOOPS * 2 * 32, ASTRO_CPU_AVX512 },
  [MADD_256] = { "AVX2 vpmaddwd", madd_256_task, 40. * LOOPS * 2 * 16, ASTRO_CPU_AVX2 },
};

static void run_peak(gpointer data)
{
  const Peak *peak = data;
  astro_parallel(TASKS, 0, peak->task, NULL);
}
#endif
