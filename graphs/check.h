/* What would keep a pipeline waiting for ever, overwrite a file that it uses, or have it find no
 * place for its result, found before it starts. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* NULL where all is well, else the reason. */
char *astro_check_pipeline(GstElement *pipeline);

G_END_DECLS
