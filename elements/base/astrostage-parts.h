/* Inside AstroStage: astrostage-backend.c has the instance that does the work and gives it blocks,
 * astrostage-input.c what a block in says of itself, astrostage-output.c blocks on their way out,
 * and astrostage.c the element around them. */
#pragma once

#include "core/backend/device.h"
#include "core/memory/pool.h"
#include "elements/base/astrodeadline.h"
#include "elements/base/astrolog.h"
#include "elements/base/astrostage.h"
#include "elements/base/astrosteps.h"
#include "elements/base/astrowork.h"

G_BEGIN_DECLS

/* Blocks that the device may have in work before the host waits for the oldest. */
#define ASTRO_STAGE_IN_FLIGHT ASTRO_POOL_DEPTH

typedef struct {
  GstBufferPool *pool;
  gsize bytes; /* of a block */
} AstroStagePool;

typedef struct {
  AstroWorkChoice choice; /* under the object's lock: set by any thread */

  /* what was agreed on */
  gboolean refused; /* the caps that came, and an error has said why */
  gboolean agreed;  /* set under the object's lock, as backend and variant: any thread asks */
  AstroStream in, out;
  AstroObservation *observation;
  gboolean told; /* downstream of it, by stages that amend it */
  guint64 config[ASTRO_MAX_CONFIG_BYTES / sizeof(guint64)];
  const AstroBackend *backend;
  const char *variant;
  gpointer instance;
  AstroResult result; /* the instance's, beside blocks */
  AstroDevice *device;
  AstroQueue *queue;
  GQueue in_flight; /* AstroEvent *, oldest first */

  GstBuffer *input; /* in work, while it is ours */
  AstroDeadline deadline;

  /* output */
  AstroStagePool blocks, aside;
  AstroDevice *reader;    /* where downstream reads; NULL: on the host */
  gboolean answered_host; /* upstream was told that we read on the host */
  GQueue ready;           /* GstBuffer *, oldest first */
  GstFlowReturn pushed;   /* what downstream said to the last blocks */

  /* timing */
  AstroSteps steps;    /* of the input */
  gboolean sends_time; /* the segment that downstream has counts time */
  gboolean discont;
  gboolean counting; /* out_first, next_out: of the last block out */
  guint64 out_first, next_out;
  GstClockTime block_duration;
  GstClockTime latency; /* as was told last; read by any thread, under the object's lock */

  /* statistics */
  GstPadChainFunction chain;
  AstroWorkStats stats;  /* under the object's lock: asked for by any thread */
  AstroWorkStats passed; /* by the call in work, at the end of which it is counted */
  gint64 chain_left;
} AstroStagePrivate;

AstroStagePrivate *astro_stage_parts(AstroStage *stage);

gint64 astro_stage_now(void); /* nanoseconds of a clock that is never set */
void astro_stage_post_error(AstroStage *stage, GError *error);
void astro_stage_set_agreed(AstroStage *stage, gboolean agreed);

/* Forgets what is held and where the stream is. */
void astro_stage_reset(AstroStage *stage);
/* What queries are answered from then on: the pipeline asked before there were caps, and sinks that
 * do not know of a change find all blocks late. */
void astro_stage_tell_latency(AstroStage *stage);

/* ---- caps and events ---- */

gboolean astro_stage_set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out);
gboolean astro_stage_sink_event(GstBaseTransform *trans, GstEvent *event);

/* ---- properties ---- */

void astro_stage_install_properties(AstroStageClass *klass);
AstroWorkChoice astro_stage_choice(AstroStage *stage);
/* Adds to the statistics. */
void astro_stage_count(AstroStage *stage, const AstroWorkStats *more);
gboolean astro_stage_post_stats(AstroStage *stage);

/* ---- the backend ---- */

gboolean astro_stage_open_backend(AstroStage *stage, GError **error);
void astro_stage_close_backend(AstroStage *stage);
/* Whether output blocks are written on the device. */
gboolean astro_stage_writes_on_device(const AstroStagePrivate *priv);

/* ---- input ---- */

/* Replaces a block by one whose samples lie as the backend wants them. */
gboolean astro_stage_align(AstroStage *stage, GstBuffer **block, GError **error);
/* The block in work, priv->input. */
GstFlowReturn astro_stage_feed(AstroStage *stage);
/* A block that passes as it is: its steps count, for when there is work again. Where upstream
 * counts bytes and downstream was told to expect times it gets them. Takes *in, which becomes what
 * passes, or NULL. */
GstFlowReturn astro_stage_pass(AstroStage *stage, GstBuffer **in);
/* One block in, one block out, the same steps; a block that is all gap is not computed. */
gboolean astro_stage_default_feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps,
                                  GError **error);

/* ---- counts of good samples ---- */

/* Has the caps of the output say counts=true, where the class adds counts. */
void astro_stage_wrap_transform_caps(AstroStage *stage);
gboolean astro_stage_default_validity(AstroStage *stage, GstBuffer *in, GstBuffer *out);
/* Refuses counts that work gave a block, if neither its input had any nor the caps tell of them. */
gboolean astro_stage_check_added(AstroStage *stage, gboolean had_counts, GstBuffer *out,
                                 GError **error);
/* Where every block has counts, one that lost nothing has them too, and a gap has counts of 0. */
void astro_stage_ensure_counts(const AstroStream *stream, GstBuffer *block);

/* ---- output ---- */

/* Deactivated and given up: their buffers come home one by one. */
void astro_stage_drop_pools(AstroStagePrivate *priv);
/* What a block says of its place: steps of that stream, input's or output's. */
void astro_stage_time_block(AstroStage *stage, const AstroStream *stream, GstBuffer *block,
                            guint64 first, guint64 steps);
/* Buffers that wait for those after them to be in work. */
guint astro_stage_held_back(const AstroStagePrivate *priv);
/* The next one to go out, or NULL. Counted where a buffer leaves. */
GstBuffer *astro_stage_pop_ready(AstroStage *stage);
/* Everything that is done goes out. */
gboolean astro_stage_complete(AstroStage *stage);
/* Everything that is held goes out, half made or not. */
gboolean astro_stage_drain(AstroStage *stage);

G_END_DECLS
