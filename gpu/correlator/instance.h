/* The instance of the CUDA correlator, and what its files do for each other: groups.cu has
 * its memory and takes channels in groups where that is short, dump.cu makes
 * visibilities of sums, correlator.cu is the backend. */
#pragma once

#include "gpu/correlator/correlator.h"

extern "C" {
#include "core/correlator/counts.h"
}

enum { CORRELATOR_INT32_STEPS = 65535 }; /* whose products of bytes an int32 holds */

/* Kernels, as correlator.cu prefers them. */
enum { WGMMA, MMA, SIMT };

typedef enum { SUMS_INT32, SUMS_INT64, SUMS_DOUBLE } CorrelatorSumKind;

/* Of the sums of a channel. */
typedef struct {
  gboolean have_sums, have_carried;
  guint64 since; /* steps in sums */
} CorrelatorState;

typedef struct {
  AstroCorrelatorConfig config;
  AstroPlace place;
  gint multiprocessors;
  guint level;
  AstroFormat prepared; /* CI4 is CI8 by then */
  gsize prepared_bytes;
  guint inputs;
  guint64 products; /* of a channel */
  CorrelatorSumKind sum_kind;
  gsize sum_bytes;

  guint group;            /* channels whose sums are on the device together */
  guint first, n;         /* those in work */
  CorrelatorHeld sums;    /* complex, of sum_kind */
  CorrelatorHeld carried; /* complex gint64: what int32 sums held before they could overflow; made
                             at the first need */
  CorrelatorState state;
  gpointer given; /* visibilities of a group on their way to the host; NULL: there is one group */
  AstroCorrelatorCounts counts;

  guint8 *gathered; /* channel:input:step */
  guint64 gathered_steps, capacity, gathered_row;
  gsize gathered_bytes; /* wanted at most */

  guint8 *planes; /* halves of CF32LE */
  guint64 planes_row;
  double *scales;

  gpointer upload; /* validity, then lost samples */
  gsize upload_bytes;
  gint *failed; /* a channel whose sums do not fit, plus 1 */
} Correlator;

/* ---- room: blocks on the device, made at the first need ---- */

gboolean astro_correlator_alloc(Correlator *self, gpointer *face, gsize count, gsize bytes,
                                GError **error);
gboolean astro_correlator_need_upload(Correlator *self, gsize bytes, GError **error);
gboolean astro_correlator_need_gathered(Correlator *self, GError **error);
gboolean astro_correlator_need_carried(Correlator *self, GError **error);
gboolean astro_correlator_need_planes(Correlator *self, GError **error);

/* How many channels are in work together, and how many steps are gathered; then their sums. */
gboolean astro_correlator_pick_group(Correlator *self, GError **error);
gboolean astro_correlator_alloc_sums(Correlator *self, GError **error);

gboolean astro_correlator_splits(const Correlator *self);
guint64 astro_correlator_most_steps(const Correlator *self); /* of a run */

void astro_correlator_take_group(Correlator *self, guint first, CorrelatorState state);
gboolean astro_correlator_bring(Correlator *self, const CorrelatorHeld *held, GError **error);
gboolean astro_correlator_keep(Correlator *self, const CorrelatorHeld *held, GError **error);
/* Where a group's visibilities are written, and from where they go to the output. */
gpointer astro_correlator_target(const Correlator *self, gpointer out);
gboolean astro_correlator_give(Correlator *self, gpointer out, GError **error);

/* ---- sums ---- */

/* Before int32 sums could overflow. */
gboolean astro_correlator_carry_sums(Correlator *self, GError **error);
/* Visibilities of all groups. */
gboolean astro_correlator_dump_all(Correlator *self, gpointer out, GError **error);
