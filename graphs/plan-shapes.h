/* Has a pipeline agree on caps without data, and learns what work each of its stages would have. */
#pragma once

#include "core/backend/work.h"
#include <gst/gst.h>

G_BEGIN_DECLS

/* A stage with its work, of a second of the stream or, where that has no rate, of a frame. */
typedef struct {
  GstElement *element;
  char *stage;                /* the name of its backend tables */
  char *backend;              /* the property: auto, reference, cpu or cuda */
  gboolean passes, told;      /* it only passes blocks on; its operations are known */
  double rate_in, rate_out;   /* steps a second; 0: the stream has no rate */
  double bytes_in, bytes_out; /* a second or a frame */
  double step_out;            /* bytes of one step of the output */
  double kept;                /* bytes that it holds */
  double moved;               /* bytes that it reads and writes besides its streams */
  char *besides;              /* what it computes besides, as AstroWork has it; NULL: nothing */
  double operations[ASTRO_N_ARITHMETICS];
} AstroPlanStage;

typedef struct {
  GPtrArray *stages;        /* AstroPlanStage *, from sources to sinks */
  double received, written; /* bytes a second from the network, and to files */
  double bandwidth;         /* Hz, of the first stream that tells it */
  double block;             /* seconds of the stream in a block */
} AstroPlanShapes;

/* Sinks are replaced, so that nothing is written, and no block reaches a stage. NULL: *trouble says
 * why, and is freed by the caller. */
AstroPlanShapes *astro_plan_shapes(GstElement *pipeline, char **trouble);
AstroPlanShapes *astro_plan_shapes_new(void); /* without stages */
/* Adds or replaces the stage that posted a message ASTRO_PLAN_MESSAGE. */
void astro_plan_shapes_hear(AstroPlanShapes *shapes, GstMessage *message);
/* NULL: the element has told nothing. */
AstroPlanStage *astro_plan_shapes_stage(const AstroPlanShapes *shapes, gconstpointer element);
void astro_plan_shapes_free(AstroPlanShapes *shapes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroPlanShapes, astro_plan_shapes_free)

G_END_DECLS
