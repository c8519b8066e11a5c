/* The base of stages with one input and one output: backends and their properties, times from the
 * sample index, each time step used once (elements/base/astrosteps.h), DISCONT, GAP, draining,
 * flushing, the observation, statistics and latency.
 *
 * A subclass says how caps map (GstBaseTransform's transform_caps and fixate_caps) and implements
 * configure and either work (one block in, one block out, of as many time steps) or feed and
 * finish. */
#pragma once

#include <gst/base/gstbasetransform.h>
#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

ASTRO_BEGIN_DECLS

#define ASTRO_AUTHOR "The gst-astro authors"

#define ASTRO_TYPE_STAGE astro_stage_get_type()
G_DECLARE_DERIVABLE_TYPE(AstroStage, astro_stage, ASTRO, STAGE, GstBaseTransform)

/* Large enough for the configuration struct of any stage. */
#define ASTRO_MAX_CONFIG_BYTES 1024

struct _AstroStageClass {
  GstBaseTransformClass parent_class;

  const char *stage;                   /* the name of its backend tables */
  const AstroBackend *const *backends; /* NULL-terminated */

  /* Called before the pads take anything, to check settings and set counters to 0. It must call the
   * parent's, which clears astro_stage_result. FALSE after an error was posted. */
  gboolean (*start)(AstroStage *stage);
  /* The streams are negotiated (astro_stage_in, astro_stage_out): fills in the backend's
   * configuration, or sets pass_through if there is nothing to do. */
  gboolean (*configure)(AstroStage *stage, gpointer config, gboolean *pass_through, GError **error);
  /* Makes one block, with astro_stage_submit. Called by the default of feed. */
  gboolean (*work)(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps, GError **error);
  /* Called after work, to give out the counts of in. The default copies them along the axes, unless
   * work has written counts. FALSE: the counts of in are over axes that out does not have. */
  gboolean (*validity)(AstroStage *stage, GstBuffer *in, GstBuffer *out);
  /* Takes a block of whole time steps; `first` is the index of the first. May call astro_stage_emit
   * any number of times. */
  gboolean (*feed)(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error);
  /* Emits what is held, half made or not: at EOS and before new caps, a new observation or a new
   * segment. */
  gboolean (*finish)(AstroStage *stage, GError **error);
  /* All submitted work is done. */
  void (*drained)(AstroStage *stage);
  /* Forgets what is held: at a flush and at the stop. */
  void (*reset)(AstroStage *stage);
  /* For stages that compute delays or (u,v,w): sets the Earth orientation of a new observation
   * before the stage gets it and sends it on. */
  gboolean (*orient)(AstroStage *stage, AstroObservation *observation, GError **error);
  /* A new observation came (astro_stage_observation). */
  gboolean (*observed)(AstroStage *stage, GError **error);
  /* Writes into a copy of the observation what this stage does to the stream, or refuses the stream
   * for what was done to it before. Called before the first block after a new observation or new
   * caps. NULL: the observation goes on as it came. */
  gboolean (*amend)(AstroStage *stage, AstroObservation *observation, GError **error);
  /* The output of an interrupted submit is a result, and the stage says itself that it is
   * incomplete. */
  gboolean keeps_part;
  /* work or feed writes counts of good samples even if the input has none. The caps of the output
   * then say counts=true, and blocks that are given no counts get them. Counts that work writes
   * without this are refused if the input has none. */
  gboolean adds_counts;
  /* Forms of the input that it takes if it is the only reader (elements/base/astroreader.h),
   * NULL-terminated; NULL: none. */
  const char *const *takes;
  /* Time steps of input that are held back, beyond blocks in flight. */
  guint64 (*latency_steps)(AstroStage *stage);

  /* Used by AstroStage: transform_caps as the class has set it. */
  GstCaps *(*own_transform_caps)(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                                 GstCaps *filter);

  /* Adds what this stage counts by itself to its statistics. Called from any thread. */
  void (*tell_stats)(AstroStage *stage, GstStructure *stats);

  /* How much there is to compute, for plans: a function of the stage's core. NULL: it is not told.
   * It stands here and not in AstroBackend, whose size is part of the API. */
  AstroTellWork tell_work;
  /* Settings that may be set while the stream runs were set, and all blocks that came before are
   * done: gets ready to work by them from the next block on, before which amend is called again.
   * FALSE: the stage goes on by the old ones, which it puts back, and a warning says why. FALSE
   * without an error: one was posted already, and the stream ends. */
  gboolean (*renew)(AstroStage *stage, GError **error);

  /* Bytes that an instance of the cpu backend needs beside its blocks, at most, for stages upstream
   * that plan their memory (elements/base/astromemory.h). NULL: next to nothing. */
  guint64 (*tell_memory)(gconstpointer config, guint threads);

  /* One of several devices has failed, and work has ended with an error: emits what the others have
   * of something half made, if that is a result and tells by itself what is missing. NULL: nothing
   * is. */
  void (*rescue)(AstroStage *stage);

  /* Used by AstroStage: fixate_caps as the class has set it. */
  GstCaps *(*own_fixate_caps)(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                              GstCaps *othercaps);

  /* Room for methods to come, so that classes compiled today keep their size. */
  gpointer reserved[1];
};

const AstroStream *astro_stage_in(AstroStage *stage);
const AstroStream *astro_stage_out(AstroStage *stage);
const AstroObservation *astro_stage_observation(AstroStage *stage); /* NULL: none came */
/* Sends the observation, as amend changes it now, downstream. AstroStage does so before the first
 * block; a stage calls this if only a block shows what it does to the stream. */
gboolean astro_stage_tell(AstroStage *stage, GError **error);
/* Whether the stream is stopped or flushed: a stage must not go on waiting for anything then. */
gboolean astro_stage_is_stopped(AstroStage *stage);
/* Calls configure again, with the same caps: a new observation may change what there is to do. */
gboolean astro_stage_configure_again(AstroStage *stage);
/* In feed: makes the caps of the output anew, from the same caps of the input and what was set
 * since, after what was made before is sent; configure and the backend are for what comes. FALSE
 * after an error that may have been posted already. */
gboolean astro_stage_renegotiate(AstroStage *stage, GError **error);
/* Step 0 of the output begins with that step of the input: not 0 where the output's steps have
 * changed their length in mid-stream. 0 at the start and after a flush. */
void astro_stage_begin_output(AstroStage *stage, guint64 step);
/* Whether a GPU would do the work, as far as is known before there are caps. */
gboolean astro_stage_prefers_device(AstroStage *stage);
/* For the rows of properties that may be set while the stream runs, as their `changed`: has renew
 * called before the next block. */
void astro_stage_settings_changed(GObject *stage);
/* The place where submit and drain put what they return beside blocks. It is all zeros at the
 * start, and stays the same struct through a stream; the stage resets members itself, and sets
 * pointers to the room for what it asks for. */
AstroResult *astro_stage_result(AstroStage *stage);
/* When step 0 of the input begins, counted from the observation's start, as the current block tells
 * it. */
GstClockTimeDiff astro_stage_epoch(AstroStage *stage);
/* When a step of the input begins, if the input has a rate. */
GstClockTime astro_stage_time_in(AstroStage *stage, guint64 step);

/* For configure: another thread may have set properties after the caps were made from them, and the
 * caps determine the sizes of buffers. Whether the output has that extent; if not, the error says
 * that properties were set too late. */
gboolean astro_stage_check_extent(AstroStage *stage, AstroAxis axis, guint64 expected,
                                  GError **error);
gboolean astro_stage_refuse_late(GError **error); /* sets that error; FALSE */

/* n steps of an input block of so many, from step `first` on, for a feed that takes a block in
 * parts: aligned as the backend needs them. */
GstBuffer *astro_stage_cut(AstroStage *stage, GstBuffer *in, guint64 steps, guint64 first,
                           guint64 n, GError **error);

/* A buffer from the output pool; and one from a separate pool, for data that goes with the output.
 * Where several devices share the work, the device that was taken last has pools of its own. */
GstBuffer *astro_stage_new_buffer(AstroStage *stage, gsize bytes, GError **error);
GstBuffer *astro_stage_new_aside(AstroStage *stage, gsize bytes, GError **error);

/* Hands the data of the blocks to the backend. in or out may be NULL. */
gboolean astro_stage_submit(AstroStage *stage, GstBuffer *in, GstBuffer *out,
                            gconstpointer arguments, GError **error);

/* The same for an output block that takes several calls: the first call may leave its old contents
 * undefined, and after the last call it is ready for its reader. */
gboolean astro_stage_submit_part(AstroStage *stage, GstBuffer *in, GstBuffer *out,
                                 gconstpointer arguments, gboolean first, gboolean last,
                                 GError **error);

/* The same for more than one block on a side, NULL-terminated. */
#define ASTRO_STAGE_BLOCKS 2

typedef struct {
  GstBuffer *in[ASTRO_STAGE_BLOCKS], *out[ASTRO_STAGE_BLOCKS];
} AstroStageBlocks;

gboolean astro_stage_submit_blocks(AstroStage *stage, const AstroStageBlocks *blocks,
                                   gconstpointer arguments, gboolean first, gboolean last,
                                   GError **error);

/* Work shared by several devices: gives a class the property `devices`. Its instances then get what
 * it submits one after another, or as it says: submit goes to the instance that was taken last, the
 * first at the start. A stage's result tells what the instance said that was used last. */
void astro_stage_class_add_devices(AstroStageClass *klass);
guint astro_stage_n_lanes(AstroStage *stage);
void astro_stage_take_lane(AstroStage *stage, guint lane);
/* FALSE: its device has failed, and takes no more work. */
gboolean astro_stage_lane_works(AstroStage *stage, guint lane);

/* Sends a block of whole steps downstream; `first` is the index of its first step on the output's
 * time axis. Takes ownership of the buffer. */
void astro_stage_emit(AstroStage *stage, GstBuffer *out, guint64 first, guint64 steps);

/* The same for a part of the input block, without copying it. */
gboolean astro_stage_emit_part(AstroStage *stage, GstBuffer *in, gsize offset, gsize bytes,
                               guint64 first, guint64 steps, GError **error);

/* Pushes now what was emitted, for a feed or finish that emits much; what is queued on a device may
 * be held back. If downstream refuses, there is no more to do. */
GstFlowReturn astro_stage_push(AstroStage *stage);

/* The last step of a transform_caps or get_caps: intersects caps with the filter, which may be
 * NULL. Takes ownership of caps. */
GstCaps *astro_stage_filter_caps(GstCaps *caps, GstCaps *filter);
/* A transform_caps for a stage whose output caps do not follow from its input caps: any caps of one
 * template may go with any of the other. */
GstCaps *astro_stage_transform_any(GstBaseTransform *trans, GstPadDirection direction,
                                   GstCaps *caps, GstCaps *filter);

/* A transform_caps for a stage that takes one format, gives one format, and changes no other field.
 * Other formats reach the stage, so that it can say why it refuses them. */
GstCaps *astro_stage_transform_format(GstPadDirection direction, GstCaps *caps, GstCaps *filter,
                                      AstroFormat in, AstroFormat out);

/* Whether an element that pushes at EOS must post what downstream returned. */
#define astro_flow_is_lost(flow) ((flow) == GST_FLOW_NOT_LINKED || (flow) < GST_FLOW_EOS)

/* If nothing is linked downstream, GStreamer uses the caps of the input for the output too and
 * expects blocks to be passed on. An element that makes something else asks this in fixate_caps and
 * set_caps. */
gboolean astro_stage_is_unlinked(GstBaseTransform *trans, GstCaps *out);

/* Four fixate_caps, which all take ownership of othercaps. preferred: what the peer on that side
 * lists first. same: the caps of the other side, if possible; else preferred. exact: CF32LE, if
 * downstream takes it; else preferred. agreed: the current caps of the output, if those of the
 * input are unchanged and downstream still takes them; else preferred.
 *
 * After the first block all stages keep what was agreed on, as agreed does, and ask their
 * fixate_caps only if that is not possible: when an element is linked in mid-stream, or asks for
 * caps again, other caps would end what stages have half made. */
GstCaps *astro_stage_fixate_preferred(GstBaseTransform *trans, GstPadDirection direction,
                                      GstCaps *caps, GstCaps *othercaps);
GstCaps *astro_stage_fixate_same(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                                 GstCaps *othercaps);
GstCaps *astro_stage_fixate_exact(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                                  GstCaps *othercaps);
GstCaps *astro_stage_fixate_agreed(GstBaseTransform *trans, GstPadDirection direction,
                                   GstCaps *caps, GstCaps *othercaps);
/* Has caps agreed on before the next block as if the stream began there. */
void astro_stage_agree_anew(AstroStage *stage);

/* Every kind of array of samples, for astro_stage_class_add_pads. */
extern const AstroQuantity astro_stage_any[];

/* Adds pad templates whose caps are media types without fields. Fields are checked when caps
 * arrive, since an error can then say what is wrong. Each list ends with ASTRO_QUANTITY_UNKNOWN. */
void astro_stage_class_add_pads(AstroStageClass *klass, const AstroQuantity *sink,
                                const AstroQuantity *src);

ASTRO_END_DECLS
