/* Where downstream reads blocks, on the host or on a device. Upstream learns it from the answer to
 * an ALLOCATION query, so that a device stage knows whether to copy blocks to the host at once, and
 * a host stage whether to write to page-locked memory. */
#pragma once

#include <gst/base/gstbasetransform.h>
#include "core/backend/handles.h"

ASTRO_BEGIN_DECLS

/* For the answer: offers the allocator (page-locking for that device) and names the device. NULL:
 * the host reads. */
void astro_reader_add(GstQuery *query, AstroDevice *device);
/* A new reference; NULL: the host reads, or the answer does not say. */
AstroDevice *astro_reader_find(GstQuery *query);

/* A reader that takes blocks where they lie, on the host or on any device, says so beside that: of
 * devices that its branches name, a tee names none. */
void astro_reader_take_any(GstQuery *query);
gboolean astro_reader_takes_any(GstQuery *query);

/* Some grids come with a map of their touched tiles, and all other tiles are undefined
 * (core/stream/grid.h). A reader that understands the map lists the grids' meta as supported in its
 * answer to an ALLOCATION query; other readers get whole grids. A tee lists what all its branches
 * support. */
void astro_reader_take_maps(GstQuery *query);
gboolean astro_reader_takes_maps(GstQuery *query);

/* The same for transformed grids that are only defined in the middle, where the image is. */
void astro_reader_take_image_only(GstQuery *query);
gboolean astro_reader_takes_image_only(GstQuery *query);

/* Forms of a stream that are possible if its only reader takes them: AstroStageClass.takes. */
#define ASTRO_TAKES_ROWS "rows"         /* grids with transformed rows only */
#define ASTRO_TAKES_WIDE_PSF "wide-psf" /* an image wider than was asked for */

/* Whether a source pad has one reader, a stage that takes that form; the form must not reach an
 * element that does not know it. Elements of other plugins that pass buffers on (queue, identity,
 * capsfilter) may stand between. A tee with another branch may not, since both branches have the
 * same caps. */
gboolean astro_reader_takes(GstPad *src, const char *form);

/* GstBaseTransform's answer to queries, but FALSE for ALLOCATION once the pad is being stopped.
 * While GstBaseTransform answers one, it keeps a reference to its own last query; if it is stopped
 * meanwhile (queries ignore that a pad is flushing), it leaks that. */
gboolean astro_transform_query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query);
/* Adds the element's own latency to an answered LATENCY query. */
void astro_query_add_latency(GstQuery *query, GstClockTime own);

ASTRO_END_DECLS
