/* What every stage with several inputs needs once: pads sink_%u whose streams are aligned by
 * absolute time (the observation's start and the steps since), whatever the order, the size and the
 * start of their buffers; what is missing on one of them; and what streams have to have in common.
 *
 * Where sources are live a pad that lags beyond the property latency (GstAggregator's, in ns) gives
 * way until it is back. Else each is waited for until data, a gap or its end come, so that files
 * give one answer. The end of one pad is loss for the others, the end of all is the end.
 *
 * Grids, images and histograms have no steps that count: the n-th buffers of all pads belong
 * together.
 *
 * A subclass says in agree what comes of the streams, and puts blocks together in combine. */
#pragma once

#include <gst/base/gstaggregator.h>
#include "core/backend/backend.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

ASTRO_BEGIN_DECLS

#define ASTRO_TYPE_MERGE astro_merge_get_type()
G_DECLARE_DERIVABLE_TYPE(AstroMerge, astro_merge, ASTRO, MERGE, GstAggregator)

/* The largest of the stages' configuration structs fits. */
#define ASTRO_MERGE_CONFIG_BYTES 1024

/* The stream of a pad, in the order of their numbers. */
typedef struct {
  const char *pad;
  const AstroStream *stream;
  const GstCaps *caps;
  const AstroObservation *observation; /* NULL: none came */
} AstroMergeInput;

/* Steps first to first + n of a buffer of so many, which are steps at on of the block. Of each
 * input the pieces follow one another, and leave nothing out. */
typedef struct {
  guint input;
  GstBuffer *buffer; /* NULL: lost */
  GstEvent *told; /* what a histogram's pairs are of (core/stream/histogram-summary.h), or NULL */
  guint64 steps, first, n, at;
} AstroMergePiece;

typedef struct {
  guint64 steps;
  const AstroMergePiece *pieces;
  guint n_pieces;
} AstroMergeBlock;

struct _AstroMergeClass {
  GstAggregatorClass parent_class;

  const char *stage;                   /* the name of its backend tables */
  const AstroBackend *const *backends; /* its own, up to a NULL */

  /* Streams of one rate and one kind are there. caps and observation are those of the first and
   * become the output's (observation is NULL where there is none); config the backend's. Or an
   * error that names the pad and the field. */
  gboolean (*agree)(AstroMerge *merge, const AstroMergeInput *inputs, guint n, GstCaps *caps,
                    AstroObservation *observation, gpointer config, GError **error);
  /* Fills a block, through astro_merge_submit, and adds what it says of itself. Blocks of which
   * everything is lost are not asked for. */
  gboolean (*combine)(AstroMerge *merge, const AstroMergeBlock *block, GstBuffer *out,
                      GError **error);
  /* Forgets blocks that went before: at a flush and a stop. NULL: there is nothing to forget. */
  void (*reset)(AstroMerge *merge);

  /* For methods to come: a class of others, compiled today, is then as large as ours. */
  gpointer reserved[8];
};

const AstroStream *astro_merge_out(AstroMerge *merge);

/* Gives the blocks of the pieces, in their order, and the block to the backend; what is lost has no
 * data. */
gboolean astro_merge_submit(AstroMerge *merge, const AstroMergeBlock *block, GstBuffer *out,
                            gconstpointer arguments, GError **error);

/* For agree: an error unless all inputs have the same in a field of their caps. */
gboolean astro_merge_check_caps(const AstroMergeInput *inputs, guint n, const char *field,
                                GError **error);

/* The same of all fields. */
gboolean astro_merge_check_all_caps(const AstroMergeInput *inputs, guint n, GError **error);
/* And of the observations' stations, where there are observations. */
gboolean astro_merge_check_stations(const AstroMergeInput *inputs, guint n, GError **error);

/* As astro_stage_class_add_pads(). */
void astro_merge_class_add_pads(AstroMergeClass *klass, const AstroQuantity *quantities);

ASTRO_END_DECLS
