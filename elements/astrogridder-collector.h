/* Dumps of visibilities gathered into grids: the part of astrogridder that drives its backend.
 *
 *   astrogridder.c             caps, properties, events, times
 *     |  a dump with its time; the end of the stream
 *   astrogridder-collector.c   which dumps make a grid, and its planes, each a buffer
 *   astrogridder-lanes.c       which device does what of it
 *     |  AstroGridCall, by astro_stage_submit
 *   core/gridder/backend.c     the same for every backend
 *     |  AstroGridderParts
 *   on the host or on a device: rows, weights, an algorithm
 */
#pragma once

#include "core/backend/device-list.h"
#include "core/gridder/backend.h"
#include "elements/base/astrostage.h"

G_BEGIN_DECLS

/* A device that works on the grid; there is one, or several that share it. */
typedef struct {
  GstBuffer *open; /* the grid that its dumps are added to as they come, or NULL */
  gboolean is_new; /* nothing has been added to it */
} AstroGridLane;

typedef struct {
  AstroStage *stage; /* its backend does the work */

  /* Set by the element. */
  AstroGridderConfig config;  /* agreed on */
  guint rank, ranks;          /* of the processes that share each grid; ranks 1: there is one */
  guint interval;             /* dumps in a grid; 0: all that come */
  gboolean reader_takes_maps; /* of touched tiles: all other cells are not even written then */
  gboolean whole_planes;      /* the caps ask for every cell all the same */
  gboolean at_end;            /* of the stream: no other grid will follow */
  AstroGridderMemory memory;  /* to plan with */
  AstroGridderPlan plan;      /* made for the latest observation */

  AstroGridLane lanes[ASTRO_MOST_DEVICES];
  gboolean at_once;        /* dumps are added to a grid as they come */
  guint64 dumps;           /* in the grid that is not sent yet */
  guint64 number;          /* of that grid */
  guint64 sent;            /* grids; those without visibilities are not */
  GstClockTime begin, end; /* of the dumps in the grid */
  GstClockTime last;       /* beginning of its latest dump; NONE: it has none */
  gboolean warned;         /* of visibilities outside the grid */
  AstroGridCounts counts;  /* of all grids, with those that were not sent */
  AstroGridCounts before;  /* of earlier caps and observations, where grids are cumulative */
} AstroGridCollector;

/* Drops the grid that is not sent yet; reset also forgets those that were. */
void astro_grid_collector_forget(AstroGridCollector *self);
void astro_grid_collector_reset(AstroGridCollector *self);
/* Whether other caps would cut a grid in two, or end one that goes on adding up. */
gboolean astro_grid_collector_is_open(const AstroGridCollector *self);

/* Before the first dump and after each change of the observation. */
gboolean astro_grid_collector_observe(AstroGridCollector *self, AstroObservation *observation,
                                      GError **error);

/* A dump that begins and ends at those times. Sends the grid if this was the last of an interval.
 * arguments say where the dump lies in the buffer and what belongs to it; a buffer that is a GAP is
 * counted as lost. */
gboolean astro_grid_collector_add(AstroGridCollector *self, GstBuffer *in,
                                  AstroGridderArguments *arguments, const GstClockTime times[2],
                                  GError **error);

/* Sends the grid of the dumps that came, if there are any; at the end of the stream an error says
 * why there was no grid at all. */
gboolean astro_grid_collector_finish(AstroGridCollector *self, GError **error);

G_END_DECLS
