/* Finds, before a pipeline starts, what would keep it waiting forever, overwrite a file that it
 * uses, or leave no place for its result. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* NULL: nothing wrong; else the reason. */
char *astro_check_pipeline(GstElement *pipeline);

G_END_DECLS
