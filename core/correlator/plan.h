/* How a correlation on the CPU is divided into tasks. If channels are small, or enough for all
 * threads, a task is a channel; else packing, and then products of panel pairs, of some channels
 * are the tasks. In both cases every tile is summed in the same order, which depends only on the
 * configuration and the kernel.
 *
 * A span of time steps is packed and multiplied pass by pass. Private to core/correlator. */
#pragma once

#include "core/correlator/kernels.h"

G_BEGIN_DECLS

typedef struct {
  const AstroCorrelatorKernel *kernel;
  AstroFormat from;
  gsize sample_bytes;
  guint inputs, panels;
  gboolean by_channel; /* a task is a channel */
  guint shared;        /* channels at a time, if it is not; else 1 */
  gboolean one_strip;  /* a channel is one strip, packed and multiplied pass by pass */
  guint rows, columns; /* panels per product */
  guint products;      /* per strip */
  guint64 strips;      /* per channel */
  guint pass, span;    /* in time steps */
  guint packed_passes; /* number of passes packed before they are multiplied */
  gsize traits;        /* offset in a packed panel, after its steps */
  gsize panel_stride;  /* from packed panel to packed panel: a pass */
} AstroCorrelatorPlan;

void astro_correlator_plan(AstroCorrelatorPlan *plan, const AstroCorrelatorConfig *config,
                           guint threads);

/* Bytes packed for a channel before it is multiplied. */
static inline gsize astro_correlator_packed_bytes(const AstroCorrelatorPlan *plan)
{
  return plan->packed_passes * plan->panels * plan->panel_stride;
}

/* A region of panel pairs: products along a strip, with tiles stored row by row. */
typedef struct {
  guint row, rows;   /* panels */
  guint column, end; /* range of columns; those beyond a row's own panel are not needed */
} AstroCorrelatorStrip;

/* The strip with that number; FALSE after the last. The longest come first. */
gboolean astro_correlator_plan_strip(const AstroCorrelatorPlan *plan, guint64 number,
                                     AstroCorrelatorStrip *strip);

G_END_DECLS
