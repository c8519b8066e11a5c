/* How a correlation on the CPU is cut. With small channels or enough of them for the threads a task
 * is a channel; else packing and the products of panel pairs of some channels are the tasks. Either
 * way every tile is summed in the same order, which the configuration and the kernel alone say.
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
  guint shared;        /* channels at a time, where it is not; else 1 */
  gboolean one_strip;  /* a channel is one, packed and multiplied pass by pass */
  guint rows, columns; /* panels of a product */
  guint products;      /* along a strip */
  guint64 strips;      /* of a channel */
  guint pass, span;    /* time steps */
  guint packed_passes; /* that are packed before they are multiplied */
  gsize traits;        /* in a packed panel, behind its steps */
  gsize panel_stride;  /* of packed panels: a pass */
} AstroCorrelatorPlan;

void astro_correlator_plan(AstroCorrelatorPlan *plan, const AstroCorrelatorConfig *config,
                           guint threads);

/* What is packed of a channel before it is multiplied. */
static inline gsize astro_correlator_packed_bytes(const AstroCorrelatorPlan *plan)
{
  return plan->packed_passes * plan->panels * plan->panel_stride;
}

/* A region of panel pairs: product by product along a strip, whose tiles lie row by row. */
typedef struct {
  guint row, rows;   /* panels */
  guint column, end; /* the columns; those beyond a row's own panel are not wanted */
} AstroCorrelatorStrip;

/* The strip of that number; FALSE behind the last one. The longest come first. */
gboolean astro_correlator_plan_strip(const AstroCorrelatorPlan *plan, guint64 number,
                                     AstroCorrelatorStrip *strip);

G_END_DECLS
