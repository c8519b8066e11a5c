/* The parts of the element astrohistogram, which its files share. */
#pragma once

#include "core/histogram/from-catalogues.h"
#include "elements/astrohistogram-devices.h"
#include "elements/astrohistogram-pad.h"
#include "elements/astrohistogram-progress.h"
#include "elements/astrohistogram-settings.h"
#include "elements/astrohistogram.h"

G_BEGIN_DECLS

struct _AstroHistogram {
  GstAggregator parent;
  AstroHistogramSettings settings;
  char *active_backend;

  GMutex work;                      /* held while it counts and sends; taken before lock */
  gboolean is_stopped;              /* under it, as all that counts */
  GMutex lock;                      /* of data: a pad may be flushed at any time */
  AstroHeld data[ASTRO_N_SIDES];    /* read from the data pads so far */
  guint64 budget;                   /* bytes, found at the start */
  AstroHeldLimit limit;             /* of a catalogue in memory */
  AstroCollector *collector;        /* made once the data is complete */
  PairTable *tables[2];             /* of weights of pairs, which the collector looks at */
  gboolean is_there[ASTRO_N_SIDES]; /* which pads existed when it was made */
  AstroHistogramDevices devices;
  guint64 n_random;
  guint64 pairs; /* counted here up to the last histogram; under the object's lock */
  /* the collector's settings: copies of the properties */
  AstroHistogramConfig config;
  guint interval, split;
  guint rank, ranks;  /* its share of the counts */
  guint64 n_whole;    /* random catalogues that are dealt out whole */
  gboolean announced; /* caps are set */
  gint stopping;      /* atomic: ends the count in progress, as do the next three */
  gint flushed;       /* atomic: all counts are dropped before the next catalogue */
  gint flushing;      /* atomic: from FLUSH_START on all pads to FLUSH_STOP */
  gint interrupted;   /* atomic: no further count begins */

  AstroCountProgress progress;
};

#define ASTRO_HISTOGRAM_CANCELLED GST_FLOW_CUSTOM_ERROR /* never returned to the base class */

/* Reports the error, which it frees, unless it is that of a count that nobody wants any more. */
GstFlowReturn astro_histogram_fail(AstroHistogram *self, GError *error);

/* Returns a reference, since a pad may be released while this element aggregates. */
AstroCataloguePad *astro_histogram_find_pad(AstroHistogram *self, AstroSide side);
/* How much memory a catalogue may take, found before the first of them is read. */
gboolean astro_histogram_share_memory(AstroHistogram *self, GError **error);
/* By the properties and pads as they are now, when all data have come. */
gboolean astro_histogram_make_collector(AstroHistogram *self, GError **error);
void astro_histogram_set_active_backend(AstroHistogram *self);

/* Whether the stream was stopped or flushed, so that no result is wanted. */
gboolean astro_histogram_is_over(AstroHistogram *self);
/* Takes what the pads have next, and counts it if it is all of a catalogue. */
GstFlowReturn astro_histogram_count_next(AstroHistogram *self);

/* Waits until a device has finished counting. */
GstFlowReturn astro_histogram_settle(AstroHistogram *self);
/* Sends the histogram of all that was counted so far. */
GstFlowReturn astro_histogram_push(AstroHistogram *self);
/* The same at the end, and after an interrupt. */
GstFlowReturn astro_histogram_finish(AstroHistogram *self);
GstFlowReturn astro_histogram_finish_interrupted(AstroHistogram *self);

G_END_DECLS
