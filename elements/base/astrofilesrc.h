/* The base of sources that read files: what takes long ends early when the stream is stopped or
 * flushed, or when a user asks for its end.
 *
 * A subclass implements make, in place of create; if it has a start of its own, that calls the
 * parent's first. */
#pragma once

#include <gst/base/gstpushsrc.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

#define ASTRO_TYPE_FILE_SRC astro_file_src_get_type()
G_DECLARE_DERIVABLE_TYPE(AstroFileSrc, astro_file_src, ASTRO, FILE_SRC, GstPushSrc)

struct _AstroFileSrcClass {
  GstPushSrcClass parent_class;

  /* Opens what is not open yet, and makes the next buffer. Work that asks astro_is_given_up() is
   * given up when it has to end; whatever is returned then, the stream ends or flushes. */
  GstFlowReturn (*make)(AstroFileSrc *self, GstBuffer **buffer);
};

ASTRO_END_DECLS
