/* Adds spectra to sums, or makes visibilities of them: packs panels and multiplies them, shared by
 * threads. */
#include "core/backend/threads.h"
#include "core/correlator/packing.h"
#include "core/correlator/packed-products.h"
#include "core/kit/pages.h"
#include <stdlib.h>

enum { PACKED_PANELS = 4 }; /* packed per task, if threads share channels */

struct _AstroCorrelatorPanels {
  AstroCorrelatorConfig config;
  AstroCorrelatorPlan plan;
  guint at_once; /* number of threads */
  GMutex lock;
  GPtrArray *scratches; /* those not in use */
  guint8 *shared;       /* panels that tasks share: channel:pass:panel:step */
};

/* Memory of one task. */
typedef struct {
  guint8 *packed; /* panels, pass:panel:step */
  guint8 *tiles;
  AstroCorrelatorSums sums; /* zero between uses; sums of a channel that is one strip */
} Scratch;

/* Spectra being added. */
typedef struct {
  AstroCorrelatorPanels *panels;
  AstroCorrelatorSpectra spectra;
  AstroCorrelatorSums all; /* sums of all channels */
  float *out;    /* visibilities of an integration that is complete with these spectra; else NULL */
  guint64 start; /* of the present span */
  guint at;      /* the present channel; the first one if threads share some */
  guint channels;           /* the number of channels that are shared */
  guint8 *packed;           /* panels of that channel, if it is shared */
  AstroCorrelatorSums sums; /* of that channel */
  float *means;             /* of that channel, if a span is the whole integration; else NULL */
} Work;

static gint64 *sums_of(const Work *work, guint channel)
{
  return work->all.integer + 2 * channel * astro_correlator_channel_sums(&work->panels->config);
}

static float *means_of(const Work *work, guint channel)
{
  return work->out ? work->out + 2 * channel * astro_correlator_channel_sums(&work->panels->config)
                   : NULL;
}

/* Number of passes in the present span. */
static guint passes_of(const Work *work)
{
  guint pass = work->panels->plan.pass;
  guint64 count = MIN(work->panels->plan.span, work->spectra.count - work->start);
  return (guint)((count + pass - 1) / pass);
}

/* The first time step of a pass, and the one after its last. */
static guint64 begin_of(const Work *work, guint pass)
{
  return work->start + (guint64)pass * work->panels->plan.pass;
}

static guint64 end_of(const Work *work, guint pass)
{
  const AstroCorrelatorPlan *plan = &work->panels->plan;
  return MIN(MIN(work->spectra.count, work->start + plan->span), begin_of(work, pass) + plan->pass);
}

/* Packs some panels of a pass into the slot of a pass. */
static void pack_panels(const Work *work, guint8 *packed, guint panel, guint end_panel, guint pass,
                        guint slot)
{
  const AstroCorrelatorPlan *plan = &work->panels->plan;
  const AstroCorrelatorSamples samples = { work->spectra.first + work->at * work->spectra.channel,
                                           work->spectra.time, work->spectra.count };
  astro_correlator_pack_panels(plan, &samples,
                               packed + ((gsize)slot * plan->panels + panel) * plan->panel_stride,
                               panel, end_panel, begin_of(work, pass), end_of(work, pass));
}

/* ---- tiles ---- */

static gsize strip_stride(const AstroCorrelatorPlan *plan, const AstroCorrelatorStrip *strip)
{
  return (strip->end - strip->column) * plan->kernel->tile_bytes;
}

/* Multiplies one pass of a strip. */
static void multiply_strip(const Work *work, const guint8 *packed, guint8 *tiles,
                           const AstroCorrelatorStrip *strip, guint pass, guint slot)
{
  const AstroCorrelatorPlan *plan = &work->panels->plan;
  const guint64 first = begin_of(work, pass), end = end_of(work, pass);
  for (guint column = strip->column; column < strip->end; column += plan->columns) {
    AstroCorrelatorProduct product = {
      .tiles = tiles + (column - strip->column) * plan->kernel->tile_bytes,
      .tiles_stride = strip_stride(plan, strip),
      .left = packed + ((gsize)slot * plan->panels + strip->row) * plan->panel_stride,
      .right = packed + ((gsize)slot * plan->panels + column) * plan->panel_stride,
      .panel_stride = plan->panel_stride,
      .traits = plan->traits,
      .rows = strip->rows,
      .columns = MIN(strip->end - column, plan->columns),
      .below = strip->row - column,
      .steps = (guint)((end - first + plan->kernel->samples - 1) / plan->kernel->samples),
      .first = pass == 0,
    };
    if (plan->packed_passes > 1) {
      gboolean more = column + plan->columns < strip->end;
      guint n = more ? MIN(strip->end - column - plan->columns, plan->columns) : product.rows;
      product.next = (AstroCorrelatorNext){
        .first = more ? product.right + product.columns * plan->panel_stride
                      : product.left + plan->panels * plan->panel_stride,
        .row_bytes = plan->panel_stride,
        .stride = plan->panel_stride,
        .rows = n,
      };
    } else {
      const gboolean more = end < work->spectra.count;
      guint channel = more ? work->at : work->at + work->panels->at_once;
      guint64 from = more ? end : 0;
      product.next = (AstroCorrelatorNext){
        .first = work->spectra.first + channel * work->spectra.channel + from * work->spectra.time,
        .row_bytes = plan->inputs * plan->sample_bytes,
        .stride = work->spectra.time,
        .rows = channel < work->panels->config.channels
                    ? MIN(work->spectra.count - from, plan->pass)
                    : 0,
      };
    }
    plan->kernel->multiply(&product);
  }
}

static void add_strip(const Work *work, const guint8 *tiles, const AstroCorrelatorStrip *strip)
{
  const AstroCorrelatorPlan *plan = &work->panels->plan;
  AstroCorrelatorPlace place = {
    .sums = work->sums.any,
    .means = work->means,
    .factor = 1 / (double)work->spectra.count,
    .pols = work->panels->config.pols,
    .inputs = plan->inputs,
  };
  for (guint i = 0; i < strip->rows; i++) {
    place.row = strip->row + i;
    const guint8 *tile = tiles + i * strip_stride(plan, strip);
    for (place.column = strip->column; place.column < MIN(strip->end, place.row + 1);
         place.column++, tile += plan->kernel->tile_bytes)
      plan->kernel->add(&place, tile);
  }
}

/* ---- tasks ---- */

static Scratch *take_scratch(AstroCorrelatorPanels *self)
{
  g_mutex_lock(&self->lock);
  Scratch *scratch = g_ptr_array_steal_index_fast(self->scratches, self->scratches->len - 1);
  g_mutex_unlock(&self->lock);
  return scratch;
}

static void give_scratch(AstroCorrelatorPanels *self, Scratch *scratch)
{
  g_mutex_lock(&self->lock);
  g_ptr_array_add(self->scratches, scratch);
  g_mutex_unlock(&self->lock);
}

/* Correlates a span of a channel that is one strip, pass by pass, so that neither tiles nor packed
 * panels ever leave the cache. */
static void correlate_one_strip(const Work *work, const Scratch *scratch, guint passes)
{
  const AstroCorrelatorPlan *plan = &work->panels->plan;
  AstroCorrelatorStrip strip;
  astro_correlator_plan_strip(plan, 0, &strip);
  for (guint pass = 0; pass < passes; pass++) {
    pack_panels(work, scratch->packed, 0, plan->panels, pass, 0);
    multiply_strip(work, scratch->packed, scratch->tiles, &strip, pass, 0);
  }
  add_strip(work, scratch->tiles, &strip);
}

static void correlate_strip(const Work *work, const guint8 *packed, guint8 *tiles,
                            const AstroCorrelatorStrip *strip, guint passes)
{
  for (guint pass = 0; pass < passes; pass++)
    multiply_strip(work, packed, tiles, strip, pass, pass);
  add_strip(work, tiles, strip);
}

static void correlate_channel(gpointer data, guint64 channel)
{
  Work work = *(const Work *)data;
  AstroCorrelatorPanels *self = work.panels;
  const AstroCorrelatorPlan *plan = &self->plan;
  Scratch *scratch = take_scratch(self);
  AstroCorrelatorStrip strip;
  work.at = (guint)channel;
  float *out = means_of(&work, work.at);
  const gboolean one_span = work.spectra.count <= plan->span;
  work.sums.integer = out ? scratch->sums.integer : sums_of(&work, work.at);
  work.means = one_span ? out : NULL;
  for (; work.start < work.spectra.count; work.start += plan->span) {
    guint passes = passes_of(&work);
    if (plan->one_strip) {
      correlate_one_strip(&work, scratch, passes);
      continue;
    }
    for (guint pass = 0; pass < passes; pass++)
      pack_panels(&work, scratch->packed, 0, plan->panels, pass, pass);
    for (guint n = 0; astro_correlator_plan_strip(plan, n, &strip); n++)
      correlate_strip(&work, scratch->packed, scratch->tiles, &strip, passes);
  }
  if (out && !one_span)
    plan->kernel->means(out, scratch->sums.any, 2 * astro_correlator_channel_sums(&self->config),
                        1 / (double)work.spectra.count);
  give_scratch(self, scratch);
}

/* One of the channels that threads share. */
static Work shared_channel(const Work *work, guint number)
{
  Work own = *work;
  own.at += number;
  own.packed = work->panels->shared + number * astro_correlator_packed_bytes(&work->panels->plan);
  own.sums.integer = sums_of(&own, own.at);
  own.means = means_of(&own, own.at);
  return own;
}

/* Number of tasks that pack a pass. */
static guint packed_parts(const AstroCorrelatorPlan *plan)
{
  return (plan->panels + PACKED_PANELS - 1) / PACKED_PANELS;
}

static void pack_task(gpointer data, guint64 task)
{
  const Work *work = data;
  const AstroCorrelatorPlan *plan = &work->panels->plan;
  const guint parts = packed_parts(plan), passes = passes_of(work);
  const Work own = shared_channel(work, (guint)(task / parts / passes));
  const guint pass = (guint)(task / parts % passes), panel = (guint)(task % parts) * PACKED_PANELS;
  pack_panels(&own, own.packed, panel, MIN(panel + PACKED_PANELS, plan->panels), pass, pass);
}

/* Tasks with the longest strips of all channels come first. */
static void strip_task(gpointer data, guint64 task)
{
  const Work *work = data;
  AstroCorrelatorPanels *self = work->panels;
  const Work own = shared_channel(work, (guint)(task % work->channels));
  Scratch *scratch = take_scratch(self);
  AstroCorrelatorStrip strip;
  if (astro_correlator_plan_strip(&self->plan, task / work->channels, &strip))
    correlate_strip(&own, own.packed, scratch->tiles, &strip, passes_of(work));
  give_scratch(self, scratch);
}

gboolean astro_correlator_panels_make_means(const AstroCorrelatorPanels *self, guint64 count)
{
  return self->plan.one_strip || count <= self->plan.span;
}

void astro_correlator_panels_add(AstroCorrelatorPanels *self, const AstroCorrelatorSpectra *spectra,
                                 AstroCorrelatorSums sums, float *out)
{
  const AstroCorrelatorPlan *plan = &self->plan;
  Work work = { .panels = self, .spectra = *spectra, .all = sums, .out = out };
  if (spectra->count == 0)
    return;
  if (plan->by_channel) {
    astro_parallel(self->config.channels, self->at_once, correlate_channel, &work);
    return;
  }
  for (; work.start < spectra->count; work.start += plan->span)
    for (work.at = 0; work.at < self->config.channels; work.at += work.channels) {
      work.channels = MIN(plan->shared, self->config.channels - work.at);
      astro_parallel((guint64)work.channels * passes_of(&work) * packed_parts(plan), self->at_once,
                     pack_task, &work);
      astro_parallel(work.channels * plan->strips, self->at_once, strip_task, &work);
    }
}

/* ---- creation ---- */

static void scratch_free(gpointer data)
{
  Scratch *scratch = data;
  free(scratch->packed);
  free(scratch->tiles);
  free(scratch->sums.any);
  g_free(scratch);
}

static gboolean add_scratch(AstroCorrelatorPanels *self, gboolean with_panels)
{
  const AstroCorrelatorPlan *plan = &self->plan;
  const AstroCorrelatorKernel *kernel = plan->kernel;
  Scratch *scratch = g_new0(Scratch, 1);
  g_ptr_array_add(self->scratches, scratch);
  scratch->tiles =
      astro_pages_alloc((gsize)plan->rows * plan->columns * plan->products * kernel->tile_bytes);
  if (!with_panels)
    return scratch->tiles != NULL;
  gsize sums_bytes = 2 * sizeof(gint64) * astro_correlator_channel_sums(&self->config);
  scratch->sums.any = plan->one_strip ? astro_pages_alloc(sums_bytes) : NULL;
  if (plan->one_strip && !scratch->sums.any)
    return FALSE;
  if (plan->one_strip)
    memset(scratch->sums.any, 0, sums_bytes);
  scratch->packed = astro_pages_alloc(plan->shared * astro_correlator_packed_bytes(plan));
  return scratch->tiles && scratch->packed;
}

void astro_correlator_panels_free(AstroCorrelatorPanels *self)
{
  g_ptr_array_unref(self->scratches);
  g_mutex_clear(&self->lock);
  g_free(self);
}

AstroCorrelatorPanels *astro_correlator_panels_new(const AstroCorrelatorConfig *config,
                                                   guint threads, GError **error)
{
  AstroCorrelatorPanels *self = g_new0(AstroCorrelatorPanels, 1);
  gboolean memory = TRUE;
  self->config = *config;
  self->at_once = threads ? MIN(threads, astro_threads()) : astro_threads();
  self->scratches = g_ptr_array_new_with_free_func(scratch_free);
  g_mutex_init(&self->lock);
  astro_correlator_plan(&self->plan, config, self->at_once);
  for (guint i = 0; i < self->at_once && memory; i++)
    memory = add_scratch(self, self->plan.by_channel || i == 0);
  self->shared = ((const Scratch *)g_ptr_array_index(self->scratches, 0))->packed;
  if (memory)
    return self;
  astro_backend_no_memory(error, "no memory to pack %u inputs on %u threads", self->plan.inputs,
                          self->at_once);
  astro_correlator_panels_free(self);
  return NULL;
}

const AstroCorrelatorPlan *astro_correlator_panels_plan(const AstroCorrelatorPanels *self)
{
  return &self->plan;
}
