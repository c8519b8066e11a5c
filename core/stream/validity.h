/* Validity: how many good samples stand behind each value of a buffer, or behind each group of
 * values.
 *
 * The meta counts over some of the stream's axes, in the stream's own order; axes that it leaves
 * out are groups that share one count. A buffer without counts is wholly valid, unless its stream's
 * caps say counts=true (stream.h): then they were lost. */
#pragma once

#include "core/stream/stream.h"

ASTRO_BEGIN_DECLS

typedef struct {
  GstMeta meta;
  AstroLayout shape; /* every extent set; no axes: one count for the whole buffer */
  guint32 full;      /* the count of a value that lost nothing */
  guint32 *counts;   /* NULL: nothing is known to be missing */
  /* The slowest counted axis is the buffer's slowest axis: parts of the buffer keep their counts.
   */
  gboolean slowest_first;
  guint32 *storage; /* of counts; kept while the buffer waits in a pool */
  gsize capacity;   /* counts that the storage holds */
} AstroValidityMeta;

GType astro_validity_meta_api_get_type(void);
const GstMetaInfo *astro_validity_meta_get_info(void);
#define ASTRO_VALIDITY_META_API astro_validity_meta_api_get_type()

/* Counts all set to full. Replaces counts that the buffer had. */
AstroValidityMeta *astro_buffer_add_validity(GstBuffer *buffer, const AstroLayout *shape,
                                             guint32 full);
AstroValidityMeta *astro_buffer_get_validity(GstBuffer *buffer); /* NULL: all is valid */
/* Forgets the counts and keeps the storage: what a pool does with a buffer that came back. */
void astro_validity_meta_clear(AstroValidityMeta *meta);

/* Whether it counts over axes of the shape, in its order, each count for so many neighbours; an
 * error says what does not fit. All below takes that for granted. */
gboolean astro_validity_check(const AstroValidityMeta *meta, const AstroLayout *shape,
                              GError **error);

guint64 astro_validity_n_counts(const AstroValidityMeta *meta);
/* The count behind the value at that index of the stream's shape (an index an axis of shape). */
guint32 astro_validity_at(const AstroValidityMeta *meta, const AstroLayout *shape,
                          const guint64 index[ASTRO_MAX_AXES]);

/* Where the count behind a value stands: at the sum of index / group * stride over the axes of the
 * stream's shape. */
typedef struct {
  guint64 group;  /* neighbours that share a count */
  guint64 stride; /* 0: all along it share one */
} AstroValidityAxis;

void astro_validity_axes(const AstroValidityMeta *meta, const AstroLayout *shape,
                         AstroValidityAxis axes[ASTRO_MAX_AXES]);

/* Walks through a buffer's values as they lie in memory, so many neighbours at a time as share a
 * count. */
typedef struct {
  guint64 first, length; /* of the run, in values */
  guint32 count;
  /* where it goes on */
  const AstroValidityMeta *meta;
  const AstroLayout *shape;
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  guint64 index[ASTRO_MAX_AXES];
} AstroValidityRun;

void astro_validity_run_init(AstroValidityRun *run, const AstroValidityMeta *meta,
                             const AstroLayout *shape);
gboolean astro_validity_next_run(AstroValidityRun *run); /* FALSE: there is none */

/* The axes of voltages and spectra, looked up once for all of a buffer's samples. */
typedef struct {
  const AstroValidityMeta *meta;
  AstroValidityAxis time, channel, station, pol;
  guint64 pols; /* with counts of their own */
  guint64 steps;
} AstroValiditySamples;

void astro_validity_samples(AstroValiditySamples *samples, const AstroValidityMeta *meta,
                            const AstroLayout *shape);
/* Whether nothing is missing in any polarisation of what is at those indices; those of axes that
 * the stream does not have are not looked at. */
gboolean astro_validity_is_whole(const AstroValiditySamples *samples, guint64 time, guint64 channel,
                                 guint64 station);
/* The next run of steps, from the old to on, in which the station's samples of a channel are not
 * whole. FALSE: there is none. */
gboolean astro_validity_next_loss(const AstroValiditySamples *samples, guint64 channel,
                                  guint64 station, guint64 *from, guint64 *to);

/* The steps of a buffer of so many from the one at first on, with their counts: a new buffer, which
 * shares memory with the old one where time is the slowest axis. NULL: no memory. */
GstBuffer *astro_buffer_from_step(GstBuffer *buffer, const AstroStream *stream, guint64 steps,
                                  guint64 first);

/* Copies src's counts to dest in the order in which the axes stand in layout. */
gboolean astro_validity_follow(GstBuffer *dest, GstBuffer *src, const AstroLayout *layout);

ASTRO_END_DECLS
