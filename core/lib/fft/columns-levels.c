/* Kernels of the transforms of columns, in both precisions, for one instruction set. */
#include "config.h"
#include "core/lib/fft/columns.h"

#include "core/backend/level.h"
#include "core/kit/shuffle.h"

#include <string.h>

#define INLINE inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")
/* Rows that are prefetched: they are so far apart that the hardware does not predict them, and so
 * many that they evict one another from the L1 cache. */
#define FETCH 32
#define NEXT_CACHE 2
#define CACHE_LINE 64

/* Cosines and sines of 2 pi k / n. */
static const double cosines3[] = { 1, -0.5, -0.5 },
                    sines3[] = { 0, 0.86602540378443864676, -0.86602540378443864676 },
                    cosines5[] = { 1, 0.30901699437494742410, -0.80901699437494742410,
                                   -0.80901699437494742410, 0.30901699437494742410 },
                    sines5[] = { 0, 0.95105651629515357212, 0.58778525229247312917,
                                 -0.58778525229247312917, -0.95105651629515357212 },
                    cosines7[] = { 1,
                                   0.62348980185873353053,
                                   -0.22252093395631440429,
                                   -0.90096886790241912624,
                                   -0.90096886790241912624,
                                   -0.22252093395631440429,
                                   0.62348980185873353053 },
                    sines7[] = { 0,
                                 0.78183148246802980871,
                                 0.97492791218182360702,
                                 0.43388373911755812048,
                                 -0.43388373911755812048,
                                 -0.97492791218182360702,
                                 -0.78183148246802980871 },
                    cosines9[] = { 1, 0.76604444311897803520, 0.17364817766693034885, -0.5,
                                   -0.93969262078590838405 },
                    sines9[] = { 0, 0.64278760968653932632, 0.98480775301220805937,
                                 0.86602540378443864676, 0.34202014332566873304 };

#define REAL float
#define INTEGER gint32
#define NAME(name) name##_single
#include "core/lib/fft/columns-body.h"
#undef REAL
#undef INTEGER
#undef NAME

#define REAL double
#define INTEGER gint64
#define NAME(name) name##_double
#include "core/lib/fft/columns-body.h"

const AstroFftColumnsKernels LEVEL_NAMED(astro_fft_columns)[2] = {
  { LEVEL_VARIANT, gather_single, begin_single, finish_single },
  { LEVEL_VARIANT, gather_double, begin_double, finish_double },
};
