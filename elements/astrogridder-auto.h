/* Settings of astrogridder that the data are asked for: how large an image is and its pixels. What
 * tells the stations comes behind the caps, so that these wait for it. */
#pragma once

#include "elements/astrogridder-settings.h"
#include "elements/base/astrostage.h"

G_BEGIN_DECLS

typedef struct {
  GMutex lock;                   /* caps are asked for by any thread */
  AstroObservation *observation; /* the last that came; NULL: none did */
  GQueue held;                   /* events, the caps first */
} AstroGridderAuto;

void astro_gridder_auto_init(AstroGridderAuto *self);
void astro_gridder_auto_forget(AstroGridderAuto *self); /* as it began */
void astro_gridder_auto_clear(AstroGridderAuto *self);

/* Whether the settings leave anything to the data. */
gboolean astro_gridder_auto_is_asked(const AstroGridderSettings *settings);

/* Fills in what they leave to the data, for visibilities of that band. FALSE: it is not known, and
 * the error says what lacks. */
gboolean astro_gridder_auto_fill(AstroGridderAuto *self, AstroGridderSettings *settings,
                                 double frequency, double bandwidth, GError **error);

/* Whether an event is kept until the stations are known; it is taken then. is_asked: of the
 * settings. */
gboolean astro_gridder_auto_holds(AstroGridderAuto *self, gboolean is_asked, GstEvent *event);
gboolean astro_gridder_auto_is_waiting(const AstroGridderAuto *self);
/* Of an observation: from now on it is known, and what was held is to be taken from the queue. */
void astro_gridder_auto_observe(AstroGridderAuto *self, GstEvent *event);

G_END_DECLS
