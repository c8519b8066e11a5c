/* Validity: the number of good samples behind each value of a buffer, or behind each group of
 * values.
 *
 * The meta has counts over some of the stream's axes, in the stream's order; values that differ
 * only in the other axes share a count. A buffer without counts has no losses, unless its stream's
 * caps say counts=true (stream.h): then the counts got lost. */
#pragma once

#include "core/stream/stream.h"

ASTRO_BEGIN_DECLS

typedef struct {
  GstMeta meta;
  AstroLayout shape; /* all extents are set; no axes: one count for the whole buffer */
  guint32 full;      /* the count of a value without losses */
  guint32 *counts;   /* NULL: no losses are known */
  /* The slowest counted axis is the buffer's slowest axis, so that parts of the buffer keep their
   * counts. */
  gboolean slowest_first;
  guint32 *storage; /* holds counts; kept while the buffer waits in a pool */
  gsize capacity;   /* number of counts that fit in storage */
} AstroValidityMeta;

GType astro_validity_meta_api_get_type(void);
const GstMetaInfo *astro_validity_meta_get_info(void);
#define ASTRO_VALIDITY_META_API astro_validity_meta_api_get_type()

/* Adds counts, all set to full; replaces counts that the buffer had. */
AstroValidityMeta *astro_buffer_add_validity(GstBuffer *buffer, const AstroLayout *shape,
                                             guint32 full);
AstroValidityMeta *astro_buffer_get_validity(GstBuffer *buffer); /* NULL: no losses */
/* Drops the counts but keeps the storage; a pool does this when a buffer comes back. */
void astro_validity_meta_clear(AstroValidityMeta *meta);

/* Whether the meta counts over axes of the shape, in its order, each count for the same number of
 * neighbours; an error says what does not fit. The functions below rely on this. */
gboolean astro_validity_check(const AstroValidityMeta *meta, const AstroLayout *shape,
                              GError **error);

guint64 astro_validity_n_counts(const AstroValidityMeta *meta);
/* The count behind the value at an index of the stream's shape, which has one index per axis. */
guint32 astro_validity_at(const AstroValidityMeta *meta, const AstroLayout *shape,
                          const guint64 index[ASTRO_MAX_AXES]);

/* How to find the count behind a value: at the sum of index / group * stride over the axes of the
 * stream's shape. */
typedef struct {
  guint64 group;     /* number of neighbours that share a count */
  guint64 stride;    /* 0: all along it share one */
} AstroValidityAxis; /* 0: all values along the axis share a count */

void astro_validity_axes(const AstroValidityMeta *meta, const AstroLayout *shape,
                         AstroValidityAxis axes[ASTRO_MAX_AXES]);

/* Walks through a buffer's values in memory order, in runs of neighbours with the same count. */
typedef struct {
  guint64 first, length; /* of the run, in values */
  guint32 count;
  /* private: */
  const AstroValidityMeta *meta;
  const AstroLayout *shape;
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  guint64 index[ASTRO_MAX_AXES];
} AstroValidityRun;

void astro_validity_run_init(AstroValidityRun *run, const AstroValidityMeta *meta,
                             const AstroLayout *shape);
gboolean astro_validity_next_run(AstroValidityRun *run); /* FALSE: there are no more */

/* The axes of voltages and spectra, looked up once for all of a buffer's samples. Beams count as
 * stations. */
typedef struct {
  const AstroValidityMeta *meta;
  AstroValidityAxis time, channel, station, pol;
  guint64 pols; /* number of polarisations with counts of their own */
  guint64 steps;
  guint32 least; /* count of a sample that can be used */
} AstroValiditySamples;

void astro_validity_samples(AstroValiditySamples *samples, const AstroValidityMeta *meta,
                            const AstroLayout *shape);
/* Whether the samples at those indices can be used, in all polarisations: whether none has losses,
 * or, in a stream of beams, whether any station is behind them, as a beam is the mean of those that
 * are good. Indices of axes that the stream does not have are ignored. */
gboolean astro_validity_is_whole(const AstroValiditySamples *samples, guint64 time, guint64 channel,
                                 guint64 station);
/* Whether all samples of the block can be used. */
gboolean astro_validity_all_whole(const AstroValiditySamples *samples);
/* The same as astro_validity_is_whole for all samples of the block, 1 or 0, at
 * marks[(time * channels + channel) * stations + station]. channels: 1 where they share counts. */
void astro_validity_mark(const AstroValiditySamples *samples, guint64 steps, guint64 channels,
                         guint64 stations, guint8 *marks);
/* The next run of steps, from the previous *to on, in which the station has losses in that channel.
 * FALSE if there is none. */
gboolean astro_validity_next_loss(const AstroValiditySamples *samples, guint64 channel,
                                  guint64 station, guint64 *from, guint64 *to);

/* Some steps of a buffer, with their counts, as a new buffer, which shares memory with the old one
 * if time is the slowest axis: n of them, or all from step `first` on. NULL: no memory. */
GstBuffer *astro_buffer_of_steps(GstBuffer *buffer, const AstroStream *stream, guint64 steps,
                                 guint64 first, guint64 n);
GstBuffer *astro_buffer_from_step(GstBuffer *buffer, const AstroStream *stream, guint64 steps,
                                  guint64 first);

/* Copies the counts of src to dest, reordered to the order of axes in layout. */
gboolean astro_validity_follow(GstBuffer *dest, GstBuffer *src, const AstroLayout *layout);

ASTRO_END_DECLS
