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

/* Whether all that leaves a source pad is read by one element of that type, for what must not go
 * to anybody who does not know of it. Elements of other plugins that pass it on (queue, identity,
 * capsfilter) may stand between; a tee that sends it elsewhere too may not, whose branches' caps do
 * not tell them apart. */
gboolean astro_reader_is(GstPad *src, GType type);

/* GstBaseTransform's answer to queries, but none on allocation once the pad is being stopped. The
 * base takes its own last query in hand while it answers one; when it is stopped in between
 * (queries do not look whether their pad flushes) nobody frees that. */
gboolean astro_transform_query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query);
/* To a latency query that was answered: what the element itself holds back. */
void astro_query_add_latency(GstQuery *query, GstClockTime own);

ASTRO_END_DECLS
