/* What every stage with one input and one output needs once: backends and their properties, timing
 * from the sample index, each step once (elements/base/astrosteps.h), DISCONT, GAP, draining,
 * flushing, the observation, statistics and latency.
 *
 * A subclass says how streams map (GstBaseTransform's transform_caps and fixate_caps) and
 * implements configure and either work (one block in, one block out, the same time steps) or feed
 * and finish. */
#pragma once

#include <gst/base/gstbasetransform.h>
#include "core/backend/backend.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

ASTRO_BEGIN_DECLS

#define ASTRO_AUTHOR "The gst-astro authors"

#define ASTRO_TYPE_STAGE astro_stage_get_type()
G_DECLARE_DERIVABLE_TYPE(AstroStage, astro_stage, ASTRO, STAGE, GstBaseTransform)

/* The largest of the stages' configuration structs fits. */
#define ASTRO_MAX_CONFIG_BYTES 1024

struct _AstroStageClass {
  GstBaseTransformClass parent_class;

  const char *stage;                   /* the name of its backend tables */
  const AstroBackend *const *backends; /* its own, up to a NULL */

  /* Before the pads take anything, to set counters to 0 and check settings; the parent's is called
   * at the end of it. FALSE where an error was posted. */
  gboolean (*start)(AstroStage *stage);
  /* Streams are agreed on (astro_stage_in, astro_stage_out): fill in the backend's configuration,
   * or set pass_through where there is nothing to do. */
  gboolean (*configure)(AstroStage *stage, gpointer config, gboolean *pass_through, GError **error);
  /* One block, through astro_stage_submit. The default of feed calls it. */
  gboolean (*work)(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps, GError **error);
  /* After work: the counts of out from those of in. The default has them follow the axes, and
   * leaves alone what work has written. FALSE: they are over axes that out does not have. */
  gboolean (*validity)(AstroStage *stage, GstBuffer *in, GstBuffer *out);
  /* A block of whole steps beginning at time step first. Calls astro_stage_emit any number of
   * times. */
  gboolean (*feed)(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error);
  /* Emits what is held, half made or not: at EOS, at new caps, a new observation and a new segment.
   */
  gboolean (*finish)(AstroStage *stage, GError **error);
  /* All that was submitted is done. */
  void (*drained)(AstroStage *stage);
  /* Forgets what is held: at a flush and a stop. */
  void (*reset)(AstroStage *stage);
  /* Settles the Earth orientation of a new observation before the stage has it; so it goes on
   * downstream. Of what computes delays or (u,v,w). */
  gboolean (*orient)(AstroStage *stage, AstroObservation *observation, GError **error);
  /* A new observation came (astro_stage_observation). */
  gboolean (*observed)(AstroStage *stage, GError **error);
  /* Writes into a copy of the observation what this stage does to the stream, or refuses what was
   * done to it; before the first block of an observation and of caps. NULL: it goes on as it came.
   */
  gboolean (*amend)(AstroStage *stage, AstroObservation *observation, GError **error);
  /* What a submit that was interrupted has made is a result, and says so itself. */
  gboolean keeps_part;
  /* work, or feed, counts good samples where the input may have no counts. The caps of the output
   * then say counts=true, and a block that is given none gets them. A class that writes counts in
   * work without saying so here is refused. */
  gboolean adds_counts;
  /* Forms of its input that it takes where nobody else reads it (elements/base/astroreader.h), up
   * to a NULL; NULL: none. */
  const char *const *takes;
  /* Time steps of input held back beyond blocks in flight. */
  guint64 (*latency_steps)(AstroStage *stage);

  /* AstroStage's own: transform_caps as the class has set it. */
  GstCaps *(*own_transform_caps)(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                                 GstCaps *filter);

  /* Room for methods to come, so that classes compiled today keep their size. */
  gpointer reserved[7];
};

const AstroStream *astro_stage_in(AstroStage *stage);
const AstroStream *astro_stage_out(AstroStage *stage);
const AstroObservation *astro_stage_observation(AstroStage *stage); /* NULL: none came */
/* The observation is said to downstream as amend makes it now. Stages do that before the first
 * block; who does to the stream what only that block tells says it again. */
gboolean astro_stage_tell(AstroStage *stage, GError **error);
/* configure is asked once more, about the same caps: an observation says what there is to do. */
gboolean astro_stage_configure_again(AstroStage *stage);
/* Whether a GPU would do the work, as far as can be told before there are caps. */
gboolean astro_stage_prefers_device(AstroStage *stage);
/* What the backend gives beside blocks: where submit and drain put it, all through a stream. Zeros
 * at the start; members are the stage's to set again, room for what it asks for too. */
AstroResult *astro_stage_result(AstroStage *stage);
/* The time of the input's step 0 since the observation's start, as the block in work has it. */
GstClockTimeDiff astro_stage_epoch(AstroStage *stage);
/* When a step of the input begins, where it has a rate. */
GstClockTime astro_stage_time_in(AstroStage *stage, guint64 step);

/* For configure: properties may be set by another thread after caps were made of them, and what was
 * agreed on says how large buffers are. Whether the output has that extent; or the error. */
gboolean astro_stage_check_extent(AstroStage *stage, AstroAxis axis, guint64 expected,
                                  GError **error);
gboolean astro_stage_refuse_late(GError **error); /* the error; FALSE */

/* A buffer of the output pool; and one of a pool of its own, for what goes with the output. */
GstBuffer *astro_stage_new_buffer(AstroStage *stage, gsize bytes, GError **error);
GstBuffer *astro_stage_new_aside(AstroStage *stage, gsize bytes, GError **error);

/* Gives the blocks' faces to the backend. in or out may be NULL. */
gboolean astro_stage_submit(AstroStage *stage, GstBuffer *in, GstBuffer *out,
                            gconstpointer arguments, GError **error);

/* The same with an output block that several calls make: what came before the first of them is
 * overwritten, and it is ready for its reader with the last. */
gboolean astro_stage_submit_part(AstroStage *stage, GstBuffer *in, GstBuffer *out,
                                 gconstpointer arguments, gboolean first, gboolean last,
                                 GError **error);

/* And with more than one block on a side, up to a NULL. */
#define ASTRO_STAGE_BLOCKS 2

typedef struct {
  GstBuffer *in[ASTRO_STAGE_BLOCKS], *out[ASTRO_STAGE_BLOCKS];
} AstroStageBlocks;

gboolean astro_stage_submit_blocks(AstroStage *stage, const AstroStageBlocks *blocks,
                                   gconstpointer arguments, gboolean first, gboolean last,
                                   GError **error);

/* Sends on a block of whole steps that begins at step first of the output's time axis. Takes the
 * buffer. */
void astro_stage_emit(AstroStage *stage, GstBuffer *out, guint64 first, guint64 steps);

/* The same of a part of the block in, which stays where it lies: nothing is copied. */
gboolean astro_stage_emit_part(AstroStage *stage, GstBuffer *in, gsize offset, gsize bytes,
                               guint64 first, guint64 steps, GError **error);

/* Pushes at once what was emitted, for a feed or finish that emits much, but for what a device
 * holds back; once downstream refuses, there is no more to do. */
GstFlowReturn astro_stage_push(AstroStage *stage);

/* The end of a transform_caps or get_caps: what of caps the filter lets through. Takes caps; filter
 * may be NULL. */
GstCaps *astro_stage_filter_caps(GstCaps *caps, GstCaps *filter);
/* A transform_caps for what is made of the input by its content: any caps of one side's template
 * may go with any of the other's. */
GstCaps *astro_stage_transform_any(GstBaseTransform *trans, GstPadDirection direction,
                                   GstCaps *caps, GstCaps *filter);

/* A transform_caps for a stage that takes one format, gives one, and leaves all else as it is.
 * Other formats go through to the stage, so that it says why it does not take them. */
GstCaps *astro_stage_transform_format(GstPadDirection direction, GstCaps *caps, GstCaps *filter,
                                      AstroFormat in, AstroFormat out);

/* Whether an element that sends something at its end must say what downstream answered. */
#define astro_flow_is_lost(flow) ((flow) == GST_FLOW_NOT_LINKED || (flow) < GST_FLOW_EOS)

/* Where nobody is linked GStreamer takes the input's caps for the output's too, and has blocks
 * passed on to find that out. An element that makes something else asks this in fixate_caps and
 * set_caps.
 */
gboolean astro_stage_is_unlinked(GstBaseTransform *trans, GstCaps *out);

/* Four fixate_caps: of othercaps what the peer on that side names first; or what caps are already,
 * where they may stay so, else the same; or CF32LE where downstream takes it, else the same; or,
 * for what is half made when somebody is linked in mid-stream, the output's caps as they are, where
 * the input's are and downstream takes them still, else the first. Take othercaps. */
GstCaps *astro_stage_fixate_preferred(GstBaseTransform *trans, GstPadDirection direction,
                                      GstCaps *caps, GstCaps *othercaps);
GstCaps *astro_stage_fixate_same(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                                 GstCaps *othercaps);
GstCaps *astro_stage_fixate_exact(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                                  GstCaps *othercaps);
GstCaps *astro_stage_fixate_agreed(GstBaseTransform *trans, GstPadDirection direction,
                                   GstCaps *caps, GstCaps *othercaps);

/* All that is an array of samples. */
extern const AstroQuantity astro_stage_any[];

/* A pad template whose caps are the media types alone: fields are checked when caps arrive, where
 * an error can say what is wrong. media_types ends with ASTRO_QUANTITY_UNKNOWN. */
void astro_stage_class_add_pads(AstroStageClass *klass, const AstroQuantity *sink,
                                const AstroQuantity *src);

ASTRO_END_DECLS
