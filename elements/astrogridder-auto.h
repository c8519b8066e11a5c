/* Settings of astrogridder that follow from the data unless the user sets them: the size of the
 * image and of its pixels. The observation, which has the stations, comes after the caps, so that
 * caps are kept until then. */
#pragma once

#include "elements/astrogridder-settings.h"
#include "elements/base/astrostage.h"

G_BEGIN_DECLS

typedef struct {
  GMutex lock;                   /* any thread may query caps */
  AstroObservation *observation; /* the latest one; NULL: there was none */
  GQueue held;                   /* events, the caps first */
} AstroGridderAuto;

void astro_gridder_auto_init(AstroGridderAuto *self);
void astro_gridder_auto_forget(AstroGridderAuto *self); /* back to the initial state */
void astro_gridder_auto_clear(AstroGridderAuto *self);

/* Whether the settings leave anything to the data. */
gboolean astro_gridder_auto_is_asked(const AstroGridderSettings *settings);

/* Fills in such settings, for visibilities of that band. FALSE: they are not known yet, and the
 * error says what is missing. */
gboolean astro_gridder_auto_fill(AstroGridderAuto *self, AstroGridderSettings *settings,
                                 double frequency, double bandwidth, GError **error);

/* Whether to keep an event, which is taken then, until the stations are known. is_asked: the
 * settings leave something to the data. */
gboolean astro_gridder_auto_holds(AstroGridderAuto *self, gboolean is_asked, GstEvent *event);
gboolean astro_gridder_auto_is_waiting(const AstroGridderAuto *self);
/* Takes the stations from an observation event; the caller then empties the queue of events. */
void astro_gridder_auto_observe(AstroGridderAuto *self, GstEvent *event);

G_END_DECLS
