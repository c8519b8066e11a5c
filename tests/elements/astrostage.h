/* Shared by tests of the base of elements: astrotranspose in a harness, and blocks for it. */
#pragma once

#include "tests/elements/elements.h"

#define FIELDS "application/x-astro-voltages,format=CI8,stations=3,pols=2,rate=1000/3"
#define IN_CAPS FIELDS ",layout=time:station:pol"
#define OUT_CAPS FIELDS ",layout=station:pol:time"
#define STEP 12

static inline GstHarness *new_harness(void)
{
  GstHarness *h = test_harness("astrotranspose");
  gst_harness_set_caps_str(h, IN_CAPS, OUT_CAPS);
  return h;
}

static inline GstBuffer *stamped(guint64 first, guint64 steps)
{
  GstBuffer *buffer = test_buffer(steps * STEP, (guint32)first);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  return buffer;
}
