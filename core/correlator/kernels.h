/* The kernels of the cpu backend. Private to core/correlator.
 *
 * An input is one polarisation of one station. Inputs are packed in panels of 16, several time
 * steps (a kernel's own number, samples in a step) side by side as its instructions want them; what
 * lacks to whole panels and steps is zero. A tile is the sums of the 256 pairs between two panels.
 */
#pragma once

#include "core/backend/cpu.h"
#include "core/correlator/sums.h"
#include <string.h>

G_BEGIN_DECLS

#define PANEL 16
#define TRAITS_BYTES 320 /* of a panel that has any */

/* Samples of some panels before packing: inputs side by side, time steps stride bytes apart. */
typedef struct {
  const guint8 *first;
  gsize stride;
  guint count;        /* time steps, at least 1 */
  guint panels;       /* those that are packed together */
  guint inputs;       /* of the last panel, at most 16 */
  gsize panel_stride; /* from packed panel to panel, and from traits to traits */
} AstroCorrelatorRows;

/* All steps of a pass, before any of them is packed, where a kernel must know what panels hold.
 * traits: what it keeps of a packed panel besides; zero at first. */
typedef void (*AstroCorrelatorMeasure)(gpointer traits, const AstroCorrelatorRows *rows);

/* Some steps of a pass, one part after the other. */
typedef void (*AstroCorrelatorPack)(guint8 *packed, gpointer traits,
                                    const AstroCorrelatorRows *rows);

/* Memory that will be wanted: rows of bytes. */
typedef struct {
  const guint8 *first;
  gsize row_bytes, stride;
  guint64 rows;
} AstroCorrelatorNext;

/* Adds the products of some steps of row panels with column panels to tiles. */
typedef struct {
  guint8 *tiles;              /* of rows x columns pairs */
  gsize tiles_stride;         /* from row to row */
  const guint8 *left, *right; /* packed row panels and column panels */
  gsize panel_stride;         /* from panel to panel */
  gsize traits;               /* from a panel's first byte to its traits */
  guint rows, columns;
  guint below; /* the first row is so many panels behind the first column; columns beyond a row's
                  own panel are not wanted */
  guint steps;
  gboolean first;           /* tiles hold nothing yet */
  AstroCorrelatorNext next; /* what will be packed or multiplied then */
} AstroCorrelatorProduct;

static inline guint astro_correlator_columns(const AstroCorrelatorProduct *product, guint row)
{
  return MIN(product->columns, product->below + row + 1);
}

/* Whether the last of these columns is the row's own panel. */
static inline gboolean astro_correlator_on_diagonal(const AstroCorrelatorProduct *product,
                                                    guint row)
{
  return astro_correlator_columns(product, row) == product->below + row + 1;
}

/* Where a tile belongs among the sums of a channel, or its means. */
typedef struct {
  gpointer sums;
  float *means; /* NULL, or takes sums times factor of a tile that is all there is of its pairs */
  double factor;
  guint pols, inputs;
  guint row, column; /* panels */
} AstroCorrelatorPlace;

typedef struct {
  AstroVariant variant;
  guint worth;       /* integrations of fewer time steps are faster by the next kernel; */
  guint worth_alone; /* these of one panel of inputs */
  guint samples;     /* time steps in a step */
  guint pass; /* time steps that multiply takes at once: panels of so many stay in the cache */
  guint one_strip_panels; /* a channel of so many panels at most is one strip */
  guint one_strip_pass;   /* the pass there */
  guint wide; /* products of a channel that is more than one strip have so many columns for a row;
                 0: one */
  guint span; /* time steps in a tile at most, before it is added to the sums */
  gsize step_bytes;   /* a packed panel's step */
  gsize traits_bytes; /* of a packed panel's traits */
  gsize panel_gap; /* between packed panels, whose lines would compete for places in the caches */
  guint packed_panels; /* that are packed together, at most; 0: each by itself */
  gsize tile_bytes;
  AstroCorrelatorMeasure measure[ASTRO_N_FORMATS]; /* or NULL */
  AstroCorrelatorPack pack[ASTRO_N_FORMATS];
  void (*multiply)(const AstroCorrelatorProduct *product);
  void (*add)(const AstroCorrelatorPlace *place, const guint8 *tile);
  AstroCorrelatorMeans means;
} AstroCorrelatorKernel;

/* The fastest that this machine has for a correlation. */
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
