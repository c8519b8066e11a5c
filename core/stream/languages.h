/* For languages other than C, which cannot access arrays in structs or memory owned by others:
 * boxed types, and functions for the elements of arrays. */
#pragma once

#include "core/stream/observation.h"
#include "core/stream/validity.h"

ASTRO_BEGIN_DECLS

GType astro_layout_get_type(void);
GType astro_stream_get_type(void);
GType astro_observation_get_type(void);
GType astro_earth_get_type(void);

/* Axis i of a layout, 0 being the slowest: its name, and its length, which is 0 if it follows from
 * the size of buffers. */
const char *astro_layout_get_axis(const AstroLayout *layout, guint i);
guint64 astro_layout_get_extent(const AstroLayout *layout, guint i);
/* The layout of a stream's buffers, with its free axis left open; and the same with all extents
 * set, for a buffer of that many steps. */
AstroLayout *astro_stream_get_layout(const AstroStream *stream);
AstroLayout *astro_stream_get_shape(const AstroStream *stream, guint64 steps);

/* Station i of an observation: its name, and its geocentric x y z in metres. FALSE if there is no
 * such station. */
gboolean astro_observation_get_station(const AstroObservation *observation, guint i,
                                       const char **name, double *x, double *y, double *z);
gboolean astro_observation_set_station(AstroObservation *observation, guint i, const char *name,
                                       double x, double y, double z);
/* Beam i of an observation: its name, how it was formed, and its direction. FALSE if there is no
 * such beam. */
gboolean astro_observation_get_beam(const AstroObservation *observation, guint i, const char **name,
                                    AstroBeamKind *kind, AstroBeamFrame *frame, double *x,
                                    double *y);
/* Copies of the dispersion measures that were taken out, to be freed, and their number; NULL if
 * dispersion is still in. */
double *astro_observation_get_dms(const AstroObservation *observation, gsize *n);
void astro_observation_set_telescope(AstroObservation *observation, const char *telescope);

/* Sets counts of the good samples behind a buffer's values, one for each index along the named
 * axes, such as "time:station", which must be in the order of the stream's layout (the last is the
 * fastest). full is the count of a value without losses. An error says what does not fit. */
gboolean astro_buffer_set_counts(GstBuffer *buffer, const AstroStream *stream, const char *axes,
                                 guint32 full, const guint32 *counts, gsize n, GError **error);
/* A copy of a buffer's counts, to be freed, and their number; NULL if there are none, and all
 * samples are good. Their axes and the full count are in its AstroValidityMeta. */
guint32 *astro_buffer_get_counts(GstBuffer *buffer, gsize *n);
/* Gives a buffer of visibilities (u,v,w) in metres, for each step, each of that many baselines, and
 * u, v and w: n values in all. Stages use them if the observation's uvw_metres says how long they
 * get. */
gboolean astro_buffer_set_uvw(GstBuffer *buffer, guint64 baselines, const double *uvw, gsize n,
                              GError **error);
/* A copy of a buffer's own (u,v,w), to be freed, and their number; NULL if it has none. */
double *astro_buffer_get_uvw(GstBuffer *buffer, gsize *n);
/* The axes of the counts, such as "time:station". */
char *astro_validity_meta_get_axes(const AstroValidityMeta *meta);

ASTRO_END_DECLS
