/* The model of the sky for elements that need one, in a file that is there until the program ends.
 */
#pragma once

#include <gst/gst.h>
#include <stdlib.h>

#include "tests/elements/model-file.h"

static char *misfit_model;

static inline void misfit_model_remove(void)
{
  g_unlink(misfit_model);
  g_free(misfit_model);
}

static inline void test_misfit_set_model(GstElement *element)
{
  if (!misfit_model) {
    g_autofree float *pixels = g_new0(float, 64 * 64);
    TestModel model = test_model(246.5, 38, pixels);
    pixels[20 * 64 + 40] = 2;
    model.pixel /= 3;
    misfit_model = test_model_write(&model);
    atexit(misfit_model_remove);
  }
  g_object_set(element, "model", misfit_model, NULL);
}
