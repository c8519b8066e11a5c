/* For languages other than C, which reach neither into arrays of structs nor into memory of others:
 * types that they can make and keep, and what stands in the arrays. */
#pragma once

#include "core/stream/observation.h"
#include "core/stream/validity.h"

ASTRO_BEGIN_DECLS

GType astro_layout_get_type(void);
GType astro_stream_get_type(void);
GType astro_observation_get_type(void);
GType astro_earth_get_type(void);

/* Axis i of a layout, 0 is the slowest: its name, and how long it is, 0 where that follows from a
 * buffer's size. */
const char *astro_layout_get_axis(const AstroLayout *layout, guint i);
guint64 astro_layout_get_extent(const AstroLayout *layout, guint i);
/* The layout of the buffers of a stream, its free axis left open; and one with all extents set, of
 * a buffer of so many steps. */
AstroLayout *astro_stream_get_layout(const AstroStream *stream);
AstroLayout *astro_stream_get_shape(const AstroStream *stream, guint64 steps);

/* Station i of an observation: its name, and x y z, geocentric, in metres. FALSE: there are not so
 * many. */
gboolean astro_observation_get_station(const AstroObservation *observation, guint i,
                                       const char **name, double *x, double *y, double *z);
gboolean astro_observation_set_station(AstroObservation *observation, guint i, const char *name,
                                       double x, double y, double z);
void astro_observation_set_telescope(AstroObservation *observation, const char *telescope);

/* Counts of the good samples behind a buffer's values, one for each index along the axes named,
 * such as "time:station", in the order of the stream's layout and the last the fastest; full is
 * that of a value that lost nothing. An error says what does not fit. */
gboolean astro_buffer_set_counts(GstBuffer *buffer, const AstroStream *stream, const char *axes,
                                 guint32 full, const guint32 *counts, gsize n, GError **error);
/* A copy of a buffer's counts, to be freed, and how many there are; NULL where it has none, and all
 * is valid. Over which axes, and the full count, its AstroValidityMeta tells. */
guint32 *astro_buffer_get_counts(GstBuffer *buffer, gsize *n);
/* The axes of the counts, "time:station". */
char *astro_validity_meta_get_axes(const AstroValidityMeta *meta);

ASTRO_END_DECLS
