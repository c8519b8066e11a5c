/* Shared by tests of astrochannelizer: the element in a harness. */
#pragma once

#include "tests/elements/elements.h"

#define CHANNELS 16
#define TAPS 4

static inline GstHarness *harness(void)
{
  GstHarness *h = test_harness("astrochannelizer");
  g_object_set(h->element, "channels", CHANNELS, "taps", TAPS, NULL);
  return h;
}

static inline void push(GstHarness *h, GstBuffer *buffer)
{
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
}
