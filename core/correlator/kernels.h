/* The kernels of the CPU backend. Private to core/correlator.
 *
 * An input is one polarisation of one station. Inputs are packed in panels of 16, several time
 * steps (samples per step, a kernel's own number) next to each other as its instructions need them;
 * padding to whole panels and steps is zero. A tile is the sums of the 256 pairs between two
 * panels.
 */
#pragma once

#include "core/backend/cpu.h"
#include "core/correlator/sums.h"
#include <string.h>

G_BEGIN_DECLS

#define PANEL 16
#define TRAITS_BYTES 320 /* size of the traits of a panel */

/* Samples of some panels before packing: inputs are contiguous, time steps are stride bytes apart.
 */
typedef struct {
  const guint8 *first;
  gsize stride;
  guint count;        /* time steps, at least 1 */
  guint panels;       /* number of panels packed together */
  guint inputs;       /* of the last panel, at most 16 */
  gsize panel_stride; /* between packed panels, and between their traits */
} AstroCorrelatorRows;

/* For kernels that must know the values in panels before packing: looks at all steps of a pass.
 * traits: what the kernel keeps about a packed panel; zero at first. */
typedef void (*AstroCorrelatorMeasure)(gpointer traits, const AstroCorrelatorRows *rows);

/* Packs some steps of a pass; called part after part. */
typedef void (*AstroCorrelatorPack)(guint8 *packed, gpointer traits,
                                    const AstroCorrelatorRows *rows);

/* Rows of memory to prefetch. */
typedef struct {
  const guint8 *first;
  gsize row_bytes, stride;
  guint64 rows;
} AstroCorrelatorNext;

/* A call that adds the products of row panels with column panels to tiles, for some steps. */
typedef struct {
  guint8 *tiles;              /* rows x columns tiles */
  gsize tiles_stride;         /* between rows */
  const guint8 *left, *right; /* packed row panels and column panels */
  gsize panel_stride;         /* between panels */
  gsize traits;               /* offset of a panel's traits from its first byte */
  guint rows, columns;
  guint below; /* how many panels the first row comes after the first column; columns beyond a row's
                  own panel are not needed */
  guint steps;
  gboolean first;           /* tiles are uninitialised */
  AstroCorrelatorNext next; /* what will be packed or multiplied next */
} AstroCorrelatorProduct;

static inline guint astro_correlator_columns(const AstroCorrelatorProduct *product, guint row)
{
  return MIN(product->columns, product->below + row + 1);
}

/* Whether the last of a row's columns is its own panel. */
static inline gboolean astro_correlator_on_diagonal(const AstroCorrelatorProduct *product,
                                                    guint row)
{
  return astro_correlator_columns(product, row) == product->below + row + 1;
}

/* Where a tile belongs among the sums of a channel, or its means. */
typedef struct {
  gpointer sums;
  float *means; /* NULL; or gets the sums times factor, if the tile has all steps of its pairs */
  double factor;
  guint pols, inputs;
  guint row, column; /* panels */
} AstroCorrelatorPlace;

typedef struct {
  AstroVariant variant;
  guint worth;       /* for integrations of fewer time steps the next kernel is faster; */
  guint worth_alone; /* the same with a single panel of inputs */
  guint samples;     /* time steps per packed step */
  guint pass; /* time steps that multiply takes at once: those of a panel stay in the cache */
  guint one_strip_panels; /* a channel of at most this many panels is one strip */
  guint one_strip_pass;   /* the pass in that case */
  guint wide;       /* columns per row in products of a channel with more than one strip; 0: one */
  guint span;       /* largest number of time steps in a tile before it is added to the sums */
  gsize step_bytes; /* size of a packed step of a panel */
  gsize traits_bytes;  /* size of a panel's traits */
  gsize panel_gap;     /* gap between packed panels, as their lines would compete for places in the
                          caches */
  guint packed_panels; /* largest number packed together; 0: one at a time */
  gsize tile_bytes;
  AstroCorrelatorMeasure measure[ASTRO_N_FORMATS]; /* or NULL */
  AstroCorrelatorPack pack[ASTRO_N_FORMATS];
  void (*multiply)(const AstroCorrelatorProduct *product);
  void (*add)(const AstroCorrelatorPlace *place, const guint8 *tile);
  AstroCorrelatorMeans means;
} AstroCorrelatorKernel;

/* The fastest kernel that this machine has for a configuration. */
const AstroCorrelatorKernel *astro_correlator_kernel(const AstroCorrelatorConfig *config);

#define ASTRO_CORRELATOR_MEANS(name)                                                               \
  void astro_correlator_means_##name(float *restrict out, gpointer sums, guint64 n, double factor);
#define ASTRO_CORRELATOR_FUNCTIONS(name)                                                           \
  void astro_correlator_multiply_##name(const AstroCorrelatorProduct *product);                    \
  void astro_correlator_add_##name(const AstroCorrelatorPlace *place, const guint8 *tile);
#define ASTRO_CORRELATOR_MEASURE(name)                                                             \
  void astro_correlator_measure_##name(gpointer traits, const AstroCorrelatorRows *rows);
#define ASTRO_CORRELATOR_PACK(name)                                                                \
  void astro_correlator_pack_##name(guint8 *packed, gpointer traits,                               \
                                    const AstroCorrelatorRows *rows);

ASTRO_CORRELATOR_MEANS(integer_avx512)
ASTRO_CORRELATOR_MEANS(integer_avx2)
ASTRO_CORRELATOR_MEANS(integer_c)
ASTRO_CORRELATOR_MEANS(real_avx512)
ASTRO_CORRELATOR_MEANS(real_avx2)
ASTRO_CORRELATOR_MEANS(real_c)

ASTRO_CORRELATOR_FUNCTIONS(int8_amx)
ASTRO_CORRELATOR_FUNCTIONS(int8_vnni)
ASTRO_CORRELATOR_FUNCTIONS(int8_avx512)
ASTRO_CORRELATOR_FUNCTIONS(int8_avx2)
ASTRO_CORRELATOR_FUNCTIONS(int8_c)
ASTRO_CORRELATOR_FUNCTIONS(int16_amx)
ASTRO_CORRELATOR_FUNCTIONS(int16_avx512)
ASTRO_CORRELATOR_FUNCTIONS(int16_avx2)
ASTRO_CORRELATOR_FUNCTIONS(int16_c)
ASTRO_CORRELATOR_FUNCTIONS(float_amx)
ASTRO_CORRELATOR_FUNCTIONS(float_avx512)
ASTRO_CORRELATOR_FUNCTIONS(float_avx2)
ASTRO_CORRELATOR_FUNCTIONS(float_c)

ASTRO_CORRELATOR_MEASURE(cf16_amx)
ASTRO_CORRELATOR_MEASURE(cf32_amx)

ASTRO_CORRELATOR_PACK(ci4_amx)
ASTRO_CORRELATOR_PACK(ci8_amx)
ASTRO_CORRELATOR_PACK(ci4_vnni)
ASTRO_CORRELATOR_PACK(ci8_vnni)
ASTRO_CORRELATOR_PACK(ci4_avx2)
ASTRO_CORRELATOR_PACK(ci8_avx2)
ASTRO_CORRELATOR_PACK(ci4_c)
ASTRO_CORRELATOR_PACK(ci8_c)
ASTRO_CORRELATOR_PACK(ci16_amx)
ASTRO_CORRELATOR_PACK(ci16_avx512)
ASTRO_CORRELATOR_PACK(ci16_avx2)
ASTRO_CORRELATOR_PACK(ci16_c)
ASTRO_CORRELATOR_PACK(cf16_amx)
ASTRO_CORRELATOR_PACK(cf16_avx512)
ASTRO_CORRELATOR_PACK(cf16_avx2)
ASTRO_CORRELATOR_PACK(cf16_c)
ASTRO_CORRELATOR_PACK(cf32_amx)
ASTRO_CORRELATOR_PACK(cf32_avx512)
ASTRO_CORRELATOR_PACK(cf32_avx2)
ASTRO_CORRELATOR_PACK(cf32_c)

G_END_DECLS
