/* Says how well astrocalibrate solved: in a message for each interval, in warnings, and in fields
 * of its statistics. */
#pragma once

#include <gst/gst.h>
#include "core/calibrate/calibrate.h"

G_BEGIN_DECLS

/* Kept under the lock of the element. */
typedef struct {
  guint64 intervals, unsolved; /* unsolved: without any good gain */
  AstroCalibrateTally tally;
  guint iterations;                /* the most of an interval */
  double rms;                      /* of the last interval */
  double chi_squared, unexplained; /* the most of an interval */
  guint64 applied, unknown;        /* gains applied, and those that were not known */
  guint64 unmodelled;              /* steps for which the pad model had none */
  /* warnings, once each */
  gboolean said_moved, said_open, said_unsolved, said_unmodelled, said_unexplained;
} AstroCalibrateTold;

/* An interval was solved: seconds since the observation's start, with `values` values. */
void astro_calibrate_told_add(AstroCalibrateTold *told, GstElement *element,
                              const AstroCalibrateSolved *solved, gsize values, double begin,
                              double end);
void astro_calibrate_told_apply(AstroCalibrateTold *told, GstElement *element, guint64 gains,
                                guint64 unknown);
/* A step at that time, in seconds, has no model. */
void astro_calibrate_told_unmodelled(AstroCalibrateTold *told, GstElement *element, double seconds);
void astro_calibrate_told_fill(const AstroCalibrateTold *told, GstElement *element,
                               GstStructure *to);

G_END_DECLS
