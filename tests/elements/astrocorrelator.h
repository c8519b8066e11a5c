/* Shared by tests of astrocorrelator: the element in a harness, and parts of a stream for it. */
#pragma once

#include "tests/elements/elements.h"

/* 3 stations, 2 pols, 4 channels, time outermost: 24 samples a step, 24 visibilities a channel. */
#define SPECTRA(format)                                                                            \
  "application/x-astro-spectra,format=" format                                                     \
  ",layout=time:channel:station:pol,stations=3,pols=2,channels=4"
enum { SAMPLES = 24, VALUES = 4 * 6 * 4 };

static inline GstHarness *new_harness(guint integration)
{
  GstHarness *h = test_harness("astrocorrelator");
  g_object_set(h->element, "integration", integration, NULL);
  return h;
}

static inline GstBuffer *part(const guint8 *stream, guint64 first, guint64 count)
{
  GstBuffer *buffer = gst_buffer_new_memdup(stream + first * 2 * SAMPLES, count * 2 * SAMPLES);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + count;
  return buffer;
}
