/* The pad `model` of astrocalibrate: visibilities that are the model of those at the pad `sink`,
 * step by step, matched by their times. They come in a thread of their own, and a few blocks wait
 * here until the steps that they are for have come. */
#pragma once

#include "core/calibrate/model.h"
#include "elements/base/astrostage.h"

G_BEGIN_DECLS

typedef struct {
  GstPad *pad; /* NULL: nobody has asked for it */
  /* under the lock: */
  GMutex lock;
  GCond changed;
  GQueue blocks; /* private to this file's functions */
  AstroStream stream;
  AstroObservation *observation;
  gboolean has_caps;
  gboolean is_ended;  /* EOS has come */
  gboolean is_closed; /* flushing, or not active */
  gboolean is_done;   /* the visibilities have ended: what still comes is for nothing */
} AstroCalibrateInput;

void astro_calibrate_input_init(AstroCalibrateInput *input);
void astro_calibrate_input_clear(AstroCalibrateInput *input);
void astro_calibrate_input_class_init(GstElementClass *klass);

/* For request_new_pad, which gets NULL once the stream runs, and release_pad. */
GstPad *astro_calibrate_input_open(AstroCalibrateInput *input, GstElement *element,
                                   GstPadTemplate *templ);
void astro_calibrate_input_close(AstroCalibrateInput *input, GstElement *element);

/* A stream of visibilities begins (READY to PAUSED, or a flush has ended), or has ended. */
void astro_calibrate_input_begin(AstroCalibrateInput *input);
void astro_calibrate_input_end(AstroCalibrateInput *input);

/* Waits for the model of a step of the stage's visibilities, which begins and ends at those times
 * since its observation's start, and sets it. *found: there was one. */
gboolean astro_calibrate_input_take(AstroCalibrateInput *input, AstroStage *stage,
                                    const GstClockTime times[2], AstroCalibrateModel *model,
                                    gboolean *found, GError **error);

G_END_DECLS
