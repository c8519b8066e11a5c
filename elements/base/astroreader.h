/* Where downstream reads: told upstream in the answer to an ALLOCATION query, so that a device
 * stage knows whether to copy down at once and a host stage whether to write into page-locked
 * memory. */
#pragma once

#include <gst/base/gstbasetransform.h>
#include "core/backend/handles.h"

ASTRO_BEGIN_DECLS

/* Offers the allocator (page-locking for that device) and names the device; NULL: the host reads.
 */
void astro_reader_add(GstQuery *query, AstroDevice *device);
/* A new reference; NULL: the host reads, or nobody said. */
AstroDevice *astro_reader_find(GstQuery *query);

/* Grids whose buffers come with a map of their touched tiles, all others being undefined
 * (core/stream/grid.h): who reads them so says it in the answer to an ALLOCATION query, as support
 * of the grids' meta; who does not say it gets whole grids. A tee says what all its branches do. */
void astro_reader_take_maps(GstQuery *query);
gboolean astro_reader_takes_maps(GstQuery *query);

/* The same for transformed grids of which the image in the middle alone is defined. */
void astro_reader_take_image_only(GstQuery *query);
gboolean astro_reader_takes_image_only(GstQuery *query);

/* Forms of a stream that caps agree on where its one reader takes them: AstroStageClass.takes. */
#define ASTRO_TAKES_ROWS "rows"         /* grids of which rows alone are transformed */
#define ASTRO_TAKES_WIDE_PSF "wide-psf" /* more of an image than a user asked for */

/* Whether all that leaves a source pad is read by one stage that takes that form, which must not go
 * to anybody who does not know of it. Elements of other plugins that pass it on (queue, identity,
 * capsfilter) may stand between; a tee that sends it elsewhere too may not, whose branches' caps do
 * not tell them apart. */
gboolean astro_reader_takes(GstPad *src, const char *form);

/* GstBaseTransform's answer to queries, but none on allocation once the pad is being stopped. The
 * base takes its own last query in hand while it answers one; when it is stopped in between
 * (queries do not look whether their pad flushes) nobody frees that. */
gboolean astro_transform_query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query);
/* To a latency query that was answered: what the element itself holds back. */
void astro_query_add_latency(GstQuery *query, GstClockTime own);

ASTRO_END_DECLS
