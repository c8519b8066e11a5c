/* Loops of single instructions. Each task runs a fixed number of them. */
#include "config.h"
#include "core/machine/peaks.h"

#include "core/kit/tile-registers.h"
#ifdef ASTRO_X86_KERNELS
#include <immintrin.h>
#endif

enum { LOOPS = 4000, SUMS = 64 };

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
#define DOUBLE_512(s, a, b) _mm512_fmadd_pd(a, b, s)
#define DOUBLE_256(s, a, b) _mm256_fmadd_pd(a, b, s)
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
PEAK(double_512_task, "avx512f", __m512d, _mm512_setzero_pd(), DOUBLE_512, "v")
PEAK(double_256_task, "avx2,fma", __m256d, _mm256_setzero_pd(), DOUBLE_256, "x")
#endif

/* Enough sums to fill vectors of any width. */
#define PLAIN(name, Real)                                                                          \
  static void name(gpointer data, guint64 task)                                                    \
  {                                                                                                \
    static volatile Real factor = 1, term = 0;                                                     \
    const Real a = factor, b = term;                                                               \
    Real sums[SUMS] = { 0 };                                                                       \
    for (guint i = 0; i < LOOPS; i++)                                                              \
      for (guint j = 0; j < SUMS; j++)                                                             \
        sums[j] = sums[j] * a + b;                                                                 \
    for (guint j = 0; j < SUMS; j++)                                                               \
      term = sums[j];                                                                              \
  }
PLAIN(float_c_task, float)
PLAIN(double_c_task, double)

#ifdef ASTRO_X86_KERNELS
#define X86(task) task
#else
#define X86(task) NULL
#endif

const AstroPeak astro_peaks[ASTRO_N_PEAKS] = {
  [ASTRO_PEAK_AMX] = { "AMX tdpbssd", X86(amx_task), 4. * LOOPS * 2 * 16 * 16 * 64, ASTRO_CPU_AMX,
                       ASTRO_ARITHMETIC_INT8 },
  [ASTRO_PEAK_VNNI] = { "AVX-512 vpdpbusd", X86(vnni_task), 40. * LOOPS * 2 * 64, ASTRO_CPU_VNNI,
                        ASTRO_ARITHMETIC_INT8 },
  [ASTRO_PEAK_MADD_512] = { "AVX-512 vpmaddwd", X86(madd_512_task), 40. * LOOPS * 2 * 32,
                            ASTRO_CPU_AVX512, ASTRO_ARITHMETIC_INT16 },
  [ASTRO_PEAK_MADD_256] = { "AVX2 vpmaddwd", X86(madd_256_task), 40. * LOOPS * 2 * 16,
                            ASTRO_CPU_AVX2, ASTRO_ARITHMETIC_INT16 },
  [ASTRO_PEAK_FMA_512] = { "AVX-512 FMA", X86(fma_512_task), 40. * LOOPS * 2 * 16, ASTRO_CPU_AVX512,
                           ASTRO_ARITHMETIC_FLOAT },
  [ASTRO_PEAK_FMA_256] = { "AVX2 FMA", X86(fma_256_task), 40. * LOOPS * 2 * 8, ASTRO_CPU_AVX2,
                           ASTRO_ARITHMETIC_FLOAT },
  [ASTRO_PEAK_DOUBLE_512] = { "AVX-512 FMA of doubles", X86(double_512_task), 40. * LOOPS * 2 * 8,
                              ASTRO_CPU_AVX512, ASTRO_ARITHMETIC_DOUBLE },
  [ASTRO_PEAK_DOUBLE_256] = { "AVX2 FMA of doubles", X86(double_256_task), 40. * LOOPS * 2 * 4,
                              ASTRO_CPU_AVX2, ASTRO_ARITHMETIC_DOUBLE },
  [ASTRO_PEAK_FLOAT_C] = { "plain C", float_c_task, 2. * LOOPS *SUMS, ASTRO_CPU_C,
                           ASTRO_ARITHMETIC_FLOAT },
  [ASTRO_PEAK_DOUBLE_C] = { "plain C in doubles", double_c_task, 2. * LOOPS *SUMS, ASTRO_CPU_C,
                            ASTRO_ARITHMETIC_DOUBLE },
};

void astro_peak_run(gpointer data)
{
  const AstroPeak *peak = data;
  astro_parallel(ASTRO_PEAK_TASKS, 0, peak->task, NULL);
}
