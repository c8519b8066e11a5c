/* The base of stages with several inputs. It aligns the streams of its pads sink_%u by absolute
 * time (the observation's start plus the steps since), whatever the order, size and start of their
 * buffers; it notes what is missing on one of them, and checks what the streams must have in
 * common.
 *
 * With a live source, a pad that lags by more than the property latency (GstAggregator's, in ns) is
 * no longer waited for until it catches up. Otherwise each pad is waited for until it has data, a
 * gap or EOS, so that files always give the same result. EOS on one pad is loss for the others; EOS
 * on all pads ends the stream.
 *
 * Grids, images and histograms have no time steps: there the n-th buffers of all pads belong
 * together.
 *
 * In agree a subclass says what the output is, given the inputs; in combine it makes a block. */
#pragma once

#include <gst/base/gstaggregator.h>
#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

ASTRO_BEGIN_DECLS

#define ASTRO_TYPE_MERGE astro_merge_get_type()
G_DECLARE_DERIVABLE_TYPE(AstroMerge, astro_merge, ASTRO, MERGE, GstAggregator)

/* Large enough for the configuration struct of any stage. */
#define ASTRO_MERGE_CONFIG_BYTES 1024

/* The stream of one pad. Inputs are in the order of the pads' numbers. */
typedef struct {
  const char *pad;
  const AstroStream *stream;
  const GstCaps *caps;
  const AstroObservation *observation; /* NULL: none came */
} AstroMergeInput;

/* A piece of a block: its steps from `at` on are n steps of a buffer, from `first` on. The pieces
 * of one input follow one another without holes. */
typedef struct {
  guint input;
  GstBuffer *buffer; /* NULL: lost */
  GstEvent *told;    /* what was paired in a histogram (core/stream/histogram-summary.h), or NULL */
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
  const AstroBackend *const *backends; /* NULL-terminated */

  /* The inputs are streams of the same rate and kind. caps and observation are those of the first,
   * to be changed to those of the output (observation is NULL if there is none); config is the
   * backend's, to be filled in. An error must name the pad and the field. */
  gboolean (*agree)(AstroMerge *merge, const AstroMergeInput *inputs, guint n, GstCaps *caps,
                    AstroObservation *observation, gpointer config, GError **error);
  /* Makes a block with astro_merge_submit, and adds its counts and other metadata. Not called for a
   * block that is lost on all inputs. */
  gboolean (*combine)(AstroMerge *merge, const AstroMergeBlock *block, GstBuffer *out,
                      GError **error);
  /* Forgets earlier blocks: called at a flush and a stop. NULL: there is nothing to forget. */
  void (*reset)(AstroMerge *merge);

  AstroTellWork tell_work; /* as AstroStageClass has it; in and out are steps of the output */

  /* Room for methods to come, so that classes compiled today keep their size. */
  gpointer reserved[7];
};

const AstroStream *astro_merge_out(AstroMerge *merge);

/* Hands the blocks of the pieces, in order, and the output block to the backend. A lost piece has
 * no data. */
gboolean astro_merge_submit(AstroMerge *merge, const AstroMergeBlock *block, GstBuffer *out,
                            gconstpointer arguments, GError **error);

/* For agree: an error unless a field of the caps is the same for all inputs. */
gboolean astro_merge_check_caps(const AstroMergeInput *inputs, guint n, const char *field,
                                GError **error);

/* The same for all fields. */
gboolean astro_merge_check_all_caps(const AstroMergeInput *inputs, guint n, GError **error);
/* The same for the stations of the observations, if there are observations. */
gboolean astro_merge_check_stations(const AstroMergeInput *inputs, guint n, GError **error);

/* The same for the beams of the observations: their number, names, kinds and directions. */
gboolean astro_merge_check_beams(const AstroMergeInput *inputs, guint n, GError **error);

/* Like astro_stage_class_add_pads(). */
void astro_merge_class_add_pads(AstroMergeClass *klass, const AstroQuantity *quantities);

ASTRO_END_DECLS
