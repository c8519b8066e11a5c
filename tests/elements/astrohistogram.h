/* Shared by tests of astrohistogram: where their points are, and the event that goes with
 * counts. */
#pragma once

#include "core/lib/catalogue/catalogue.h"
#include "core/stream/histogram-summary.h"
#include "tests/elements/catalogues.h"

static const AstroFootprint band = {
  .shape = ASTRO_FOOTPRINT_BAND, .ra_min = 0, .ra_max = 30, .dec_min = 0, .dec_max = 20
};

static inline void pull_summary(GstHarness *h, AstroSummary *summary)
{
  GError *error = NULL;
  GstEvent *event;
  while ((event = gst_harness_pull_event(h)) && !astro_event_is_summary(event))
    gst_event_unref(event);
  g_assert_nonnull(event);
  astro_summary_from_event(summary, event, &error);
  g_assert_no_error(error);
  gst_event_unref(event);
}
