/* The parts of the element astrocalibrate, which its files share. */
#pragma once

#include "core/calibrate/lookup.h"
#include "core/calibrate/model.h"
#include "elements/astrocalibrate-input.h"
#include "elements/astrocalibrate-table.h"
#include "elements/astrocalibrate-told.h"
#include "elements/astrocalibrate.h"
#include "elements/base/astroearth.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_CALIBRATE_MODE_SOLVE,
  ASTRO_CALIBRATE_MODE_APPLY,
  ASTRO_CALIBRATE_MODE_BOTH
} AstroCalibrateMode;

/* A buffer that waits for the gains of its steps. */
typedef struct {
  GstBuffer *buffer;
  guint64 first, steps;
  double last; /* the middle of its last step, seconds since the observation's start */
} AstroCalibrateHeld;

struct _AstroCalibrate {
  AstroStage parent;
  /* properties */
  AstroCalibrateMode mode;
  AstroGainsType type;
  double interval, min_snr;
  guint channel_step;
  char *sky, *location, *ref_station, *earth_orientation;
  AstroEarthUse earth;

  AstroCalibrateConfig config;
  AstroCalibrateModel *model; /* NULL: not made yet */
  AstroCalibrateInput input;  /* the pad model, */
  gboolean has_input;         /* which is used in place of sky; from start to stop */
  guint reference;
  AstroCalibrateFile file;
  AstroCalibrateTold told;
  GQueue held;        /* AstroCalibrateHeld */
  gboolean open;      /* an interval has begun: */
  gint64 number;      /* which, */
  double begin, end;  /* and what has come of it, seconds */
  gboolean stale;     /* the backend still holds steps that were dropped */
  gboolean is_ending; /* EOS has come */
};

static inline gboolean astro_calibrate_solves(const AstroCalibrate *self)
{
  return self->mode != ASTRO_CALIBRATE_MODE_APPLY;
}

static inline gboolean astro_calibrate_applies(const AstroCalibrate *self)
{
  return self->mode != ASTRO_CALIBRATE_MODE_SOLVE;
}

/* astrocalibrate-observed.c: checks the observation, and makes the model and the table that belong
 * to it, unless they are made already. */
gboolean astro_calibrate_prepare(AstroCalibrate *self, GError **error);
/* AstroStage's amend: visibilities that are corrected by gains which hold their unknown scale are
 * in Jy. */
gboolean astro_calibrate_amend(AstroStage *stage, AstroObservation *observation, GError **error);
void astro_calibrate_forget_model(AstroCalibrate *self);

/* astrocalibrate-blocks.c: sends a block on, corrected. */
gboolean astro_calibrate_emit(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                              GError **error);
gboolean astro_calibrate_is_gap(GstBuffer *buffer);
gboolean astro_calibrate_find_times(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 t,
                                    guint64 steps, GstClockTime times[2], GError **error);
double astro_calibrate_middle(const GstClockTime times[2]); /* seconds */

/* astrocalibrate-intervals.c: adds a block to the interval, solves those that have ended, and sends
 * on what waited for them. */
gboolean astro_calibrate_feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps,
                              GError **error);
/* Solves the last interval, and sends all that waits on. */
gboolean astro_calibrate_finish_intervals(AstroCalibrate *self, GError **error);
void astro_calibrate_forget_blocks(AstroCalibrate *self);

G_END_DECLS
