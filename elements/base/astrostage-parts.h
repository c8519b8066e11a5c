/* Inside AstroStage: astrostage-backend.c has the instance that does the work and hands it blocks,
 * astrostage-input.c takes blocks in, astrostage-output.c sends blocks out, astrostage-counts.c
 * sees to counts of good samples, astrostage-events.c to caps and events, and astrostage.c is the
 * element around them. */
#pragma once

#include "core/backend/device-list.h"
#include "core/backend/device.h"
#include "core/memory/box.h"
#include "core/memory/pool.h"
#include "elements/base/astroblocklength.h"
#include "elements/base/astrodeadline.h"
#include "elements/base/astrolog.h"
#include "elements/base/astrostage.h"
#include "elements/base/astrosteps.h"
#include "elements/base/astrowork.h"

G_BEGIN_DECLS

/* Blocks that may be queued on the device before the host waits for the oldest; of short ones there
 * may be more (elements/base/astrostage-backend.c). */
#define ASTRO_STAGE_IN_FLIGHT ASTRO_POOL_DEPTH

typedef struct {
  GstBufferPool *pool;
  gsize bytes; /* size of a block */
} AstroStagePool;

/* An instance of the backend, and where it works. There is one, or one on each of several devices
 * that share the work. */
typedef struct {
  gpointer instance;
  AstroDevice *device; /* NULL: the host */
  AstroQueue *queue;
  GQueue in_flight; /* AstroEvent *, oldest first */
  AstroStagePool blocks,
      aside; /* of output, so that a block that comes back is where it was made */
} AstroStageLane;

/* The thread that waits for blocks which go out when a device has done them
 * (elements/base/astrohandout.h). */
typedef struct _AstroHandOut AstroHandOut;

typedef struct {
  gboolean tells_work;    /* it says what its work is (astroplan.h) */
  gboolean is_planned;    /* and does not do it */
  AstroWorkChoice choice; /* under the object's lock: any thread sets it */
  char *devices;          /* the same; NULL: the one of choice */

  /* what was agreed on */
  gboolean refused; /* the caps that came were refused, and an error gave the reason */
  gboolean agreed;  /* like backend and variant set under the object's lock: any thread reads it */
  guint64 memory;   /* that stages upstream are told of; the same */
  AstroStream in, out;
  AstroObservation *observation;
  gint has_settings; /* atomic: settings were set since the last block */
  gint agrees_anew;  /* atomic: caps that were agreed on before do not count */
  gboolean told;     /* amend was called, and downstream has the result */
  guint64 config[ASTRO_MAX_CONFIG_BYTES / sizeof(guint64)];
  const AstroBackend *backend;
  const char *variant;
  AstroResult result; /* what the instances give beside blocks */
  AstroStageLane lanes[ASTRO_MOST_DEVICES];
  guint n_lanes;        /* 0: there is no instance */
  AstroStageLane *lane; /* the one that gets work now */

  GstBuffer *input; /* the block in work, as long as the stage owns it */
  AstroDeadline deadline;

  /* output */
  AstroDevice *reader; /* where downstream reads; NULL: on the host */
  gboolean reads_any;  /* downstream reads blocks where they lie, and reader says where that is */
  AstroBlockLength length; /* that downstream has asked for */
  gboolean passed_length;  /* and that upstream was told */
  AstroBoxPlace boxes;     /* where a stage that only copies has done so (astroboxes.h) */
  gboolean answered_host;  /* upstream was told that this stage reads on the host */
  GQueue ready;            /* GstBuffer *, oldest first */
  GstFlowReturn pushed;    /* what downstream returned for the last blocks */
  gboolean hands_out;      /* blocks that are held back go out when they are done */
  AstroHandOut *hand_out;  /* NULL: there was none yet */
  GstFlowReturn handed;    /* what downstream said of those; under the lock of the input's stream */
  gboolean has_told;       /* and upstream knows */

  /* timing */
  AstroSteps steps;    /* steps of the input */
  gboolean sends_time; /* downstream has a TIME segment */
  gboolean is_marked;  /* the block in work came with DISCONT */
  gboolean discont;
  gboolean counting; /* out_first and next_out, the steps of the last block out, are valid */
  guint64 out_first, next_out;
  guint64 out_origin; /* the step of the input with which step 0 of the output begins */
  GstClockTime block_duration;
  GstClockTime latency; /* as last told; under the object's lock: any thread reads it */

  /* statistics */
  GstPadChainFunction chain;
  AstroWorkStats stats;  /* under the object's lock: any thread reads them */
  AstroWorkStats passed; /* of the current call, counted when it ends */
  gint64 chain_left;
} AstroStagePrivate;

AstroStagePrivate *astro_stage_parts(AstroStage *stage);

gint64 astro_stage_now(void); /* nanoseconds, of a clock that nobody sets */
void astro_stage_post_error(AstroStage *stage, GError *error);
void astro_stage_set_agreed(AstroStage *stage, gboolean agreed);

/* Forgets what is held and at which step the stream is. */
void astro_stage_reset(AstroStage *stage);
/* Posts a new latency, if it has changed. The pipeline asked before there were caps, and sinks that
 * do not know of a change take all blocks for late. */
void astro_stage_tell_latency(AstroStage *stage);

/* ---- caps and events ---- */

/* Has caps that were agreed on stay in mid-stream. Called for an instance, since the class is set
 * up completely by then. */
void astro_stage_wrap_fixate_caps(AstroStage *stage);
gboolean astro_stage_set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out);
gboolean astro_stage_sink_event(GstBaseTransform *trans, GstEvent *event);

/* Takes settings that were set while the stream runs. FALSE after an error was posted. */
gboolean astro_stage_take_settings(AstroStage *stage);

/* ---- properties ---- */

void astro_stage_install_properties(AstroStageClass *klass);
AstroWorkChoice astro_stage_choice(AstroStage *stage);
/* Adds to the statistics. */
void astro_stage_count(AstroStage *stage, const AstroWorkStats *more);
gboolean astro_stage_post_stats(AstroStage *stage);

/* ---- the backend ---- */

gboolean astro_stage_open_backend(AstroStage *stage, GError **error);
void astro_stage_close_backend(AstroStage *stage);
/* Which devices the user has named (elements/base/astrostage-lanes.c): how many, 0 with an error.
 */
guint astro_stage_find_devices(AstroStage *stage, const AstroWorkChoice *choice,
                               gint indices[ASTRO_MOST_DEVICES], GError **error);
/* Whether the backend is there, on all of them. */
gboolean astro_stage_check_devices(AstroStage *stage, GError **error);
/* Waits for what all instances have been given. */
gboolean astro_stage_drain_lanes(AstroStage *stage, GError **error);
/* Where blocks are best read: on the first one of them; NULL: on the host. */
static inline AstroDevice *astro_stage_device(const AstroStagePrivate *priv)
{
  return priv->lanes[0].device;
}
/* Whether output blocks are written on the device. */
gboolean astro_stage_writes_on_device(const AstroStagePrivate *priv);
/* Whether output blocks are copied to the host at once. */
static inline gboolean astro_stage_is_read_on_host(const AstroStagePrivate *priv)
{
  return !priv->reader && !priv->reads_any;
}

/* ---- input ---- */

/* Replaces a block by one with samples aligned as the backend needs them. */
gboolean astro_stage_align(AstroStage *stage, GstBuffer **block, GError **error);
/* Sends a block downstream with the counts, metas and times of the input. Takes ownership of out.
 */
gboolean astro_stage_emit_like(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 first,
                               guint64 steps, GError **error);
/* Works on the block in priv->input. */
GstFlowReturn astro_stage_feed(AstroStage *stage);
/* Passes a block on as it is. Its steps count, for the time when there is work again. If downstream
 * was told to expect times and upstream counts bytes, the block gets times. Takes ownership of *in
 * and sets it to the block that passes, or NULL. */
GstFlowReturn astro_stage_pass(AstroStage *stage, GstBuffer **in);
/* One block in, one block out, of as many steps; a GAP block is not computed. */
gboolean astro_stage_default_feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps,
                                  GError **error);

/* ---- counts of good samples ---- */

/* Takes counts=true out of the answer to a query for caps of the input. */
void astro_stage_ask_no_counts(AstroStage *stage, GstQuery *query);
/* Has the caps of the output say counts=true, where the class adds counts. */
void astro_stage_wrap_transform_caps(AstroStage *stage);
gboolean astro_stage_default_validity(AstroStage *stage, GstBuffer *in, GstBuffer *out);
/* Refuses counts that work gave a block, if neither its input had any nor the caps tell of them. */
gboolean astro_stage_check_added(AstroStage *stage, gboolean had_counts, GstBuffer *out,
                                 GError **error);
/* Where every block has counts, one that lost nothing has them too, and a gap has counts of 0. */
void astro_stage_ensure_counts(const AstroStream *stream, GstBuffer *block);

/* ---- output ---- */

/* Deactivates and releases the pools: buffers that are in use return one by one. */
void astro_stage_drop_pools(AstroStagePrivate *priv);
/* Sets the times of a block: its place among the steps of that stream, input or output. */
void astro_stage_time_block(AstroStage *stage, const AstroStream *stream, GstBuffer *block,
                            guint64 first, guint64 steps);
/* How many buffers are held back until those after them are queued on the device. */
guint astro_stage_held_back(const AstroStagePrivate *priv);
/* FALSE, after an error: the next buffer to go out has been lost with a device. */
gboolean astro_stage_check_next(AstroStage *stage);
/* The next buffer to go out, which counts as sent; or NULL. */
GstBuffer *astro_stage_pop_ready(AstroStage *stage);
/* Has a block that was added to those that are ready go out when it is done, where the stage wants
 * that. */
void astro_stage_hand_out(AstroStage *stage, GstBuffer *block);
/* Before what is ready is dropped: waits for the thread. */
void astro_stage_stop_handing_out(AstroStage *stage);
/* After an error: sends what was made before it and is not lost with a device. */
void astro_stage_rescue(AstroStage *stage);
/* Waits until all submitted work is done, and sends all of it. */
gboolean astro_stage_complete(AstroStage *stage);
/* The same after finish, which emits what is held, half made or not. */
gboolean astro_stage_drain(AstroStage *stage);

G_END_DECLS
