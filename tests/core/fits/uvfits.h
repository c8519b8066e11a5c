/* Shared by tests of UVFITS: an observation, and the contents of a stream. */
#pragma once

#include "core/fits/fits.h"
#include "tests/core/fits/place.h"
#include <math.h>

/* Stations some kilometres apart at 52 degrees north; place and time do not matter. */
static inline AstroObservation *test_observation(guint stations)
{
  AstroObservation *o = astro_observation_new(stations);
  for (guint i = 0; i < stations; i++) {
    o->positions[3 * i] = 3826577.5 + 137.25 * i * (i % 3 + 1);
    o->positions[3 * i + 1] = 461022.75 - 91.5 * i * (i % 5);
    o->positions[3 * i + 2] = 5064892.25 + 73.125 * i * (i % 4);
  }
  g_free(o->telescope);
  o->telescope = g_strdup("TESTARRAY");
  o->has_phase_centre = TRUE;
  o->phase_ra = 1.25;
  o->phase_dec = 0.9;
  g_assert_true(astro_observation_set_start(o, "2026-11-20T21:30:07.123456789Z", NULL));
  return o;
}

static inline AstroFitsContents test_contents(guint stations, guint pols, guint channels,
                                              AstroFormat format)
{
  AstroFitsContents c = { .stations = stations, .observation = test_observation(stations) };
  c.stream.quantity = ASTRO_QUANTITY_VISIBILITIES;
  c.stream.format = format;
  c.stream.layout = (AstroLayout){
    4,
    { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
    { channels, stations * (stations + 1) / 2, pols, pols },
  };
  c.stream.rate_n = 1;
  c.stream.rate_d = 3;
  c.stream.frequency = 150e6;
  c.stream.bandwidth = channels * 195312.5;
  return c;
}

static inline guint64 test_visibility_samples(const AstroFitsContents *c)
{
  return astro_layout_samples(&c->stream.layout);
}
