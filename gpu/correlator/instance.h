/* The instance of the CUDA correlator, and functions that its files call in each other: groups.cu
 * has its memory and splits channels into groups if that is short, dump.cu makes visibilities from
 * sums, join.cu joins those of several devices, correlator.cu is the backend. */
#pragma once

#include "gpu/correlator/correlator.h"

extern "C" {
#include "core/correlator/counts.h"
}

enum {
  CORRELATOR_INT32_STEPS = 65535
}; /* an int32 holds the products of bytes of this many steps */

/* Levels of kernels, in the order that correlator.cu prefers for long runs. */
enum { THREE, WGMMA, MMA, SIMT };

typedef enum { SUMS_INT32, SUMS_INT64, SUMS_DOUBLE } CorrelatorSumKind;

/* The state of a channel's sums. */
typedef struct {
  gboolean have_sums, have_carried;
  guint64 since; /* steps in sums */
} CorrelatorState;

typedef struct {
  AstroCorrelatorConfig config;
  AstroPlace place;
  gint multiprocessors;
  guint level;
  gboolean named;       /* ASTRO_CUDA asked for a level, and every run takes it */
  AstroFormat prepared; /* CI8 for CI4, but not for the level THREE */
  gsize prepared_bytes;
  guint inputs;
  guint64 products; /* in a channel */
  CorrelatorSumKind sum_kind;
  gsize sum_bytes;

  guint group;            /* number of channels whose sums are on the device together */
  guint first, n;         /* channels of the current group */
  CorrelatorHeld sums;    /* complex, of sum_kind */
  CorrelatorHeld carried; /* complex gint64: int32 sums are added here before they could overflow;
                             allocated when first needed */
  CorrelatorState state;
  gpointer given; /* visibilities of a group, to be copied to the host; NULL: there is one group */
  AstroCorrelatorCounts counts;

  guint8 *gathered; /* channel:input:step */
  guint64 gathered_steps, capacity, gathered_row;
  gsize gathered_bytes; /* at most */

  guint8 *planes; /* halves of CF32LE */
  guint64 planes_row;
  double *scales;

  gpointer upload; /* validity, later lost samples */
  gsize upload_bytes;
  gint *failed; /* a channel whose sums do not fit, plus 1 */
} Correlator;

/* ---- memory on the device, allocated when first needed ---- */

gboolean astro_correlator_alloc(Correlator *self, gpointer *face, gsize count, gsize bytes,
                                GError **error);
gboolean astro_correlator_need_upload(Correlator *self, gsize bytes, GError **error);
gboolean astro_correlator_need_gathered(Correlator *self, GError **error);
gboolean astro_correlator_need_carried(Correlator *self, GError **error);
gboolean astro_correlator_need_planes(Correlator *self, GError **error);

/* How many channels are processed together, and how many steps are gathered; then their sums. */
gboolean astro_correlator_pick_group(Correlator *self, GError **error);
gboolean astro_correlator_alloc_sums(Correlator *self, GError **error);

gboolean astro_correlator_splits(const Correlator *self);
guint64 astro_correlator_most_steps(const Correlator *self); /* in a run */

void astro_correlator_take_group(Correlator *self, guint first, CorrelatorState state);
gboolean astro_correlator_bring(Correlator *self, const CorrelatorHeld *held, GError **error);
gboolean astro_correlator_keep(Correlator *self, const CorrelatorHeld *held, GError **error);
/* Where a group's visibilities are written, and the copy from there to the output. */
gpointer astro_correlator_target(const Correlator *self, gpointer out);
gboolean astro_correlator_give(Correlator *self, gpointer out, GError **error);

/* ---- sums ---- */

/* Called before int32 sums could overflow. */
gboolean astro_correlator_carry_sums(Correlator *self, GError **error);
/* Writes the visibilities of all groups. */
gboolean astro_correlator_dump_all(Correlator *self, gpointer out, GError **error);

/* Adds the visibilities that another device has made. */
gboolean astro_correlator_join_blocks(Correlator *self, const AstroBlock *in, guint n_in,
                                      const AstroBlock *out, guint n_out,
                                      const AstroCorrelatorPart parts[2], GError **error);
