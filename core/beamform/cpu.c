/* The CPU backend. Samples are wanted in the order channel:station:pol:time; others are brought
 * into it first, and beams brought back. All samples of a channel are then one row for each
 * station, along which polarisations and times are alike. A task takes a piece of these rows that
 * has one set of phases, computes the weights of all beams, and goes through the piece in strips
 * (kernels.h). */
#include "config.h"
#include "core/beamform/losses.h"

#include <math.h>
#include <string.h>

#include "core/backend/instance.h"
#include "core/backend/scratch.h"
#include "core/beamform/kernels.h"
#include "core/lib/formats/samples.h"
#include "core/lib/predict/kernels.h"
#include "core/lib/transpose/kernels.h"
#include "core/lib/transpose/plan.h"

#define STRIP ASTRO_BEAMFORM_STRIP
#define PIECE                                                                                      \
  1024            /* samples, at most: a piece is worth its phases, and there are enough pieces    \
                   */
#define BATCH 192 /* beams of a task, at most, so that their weights fit the caches */

static const AstroBeamformKernels *const variants[] = ASTRO_KERNELS(astro_beamform_kernels);

/* A block in the order in which it is worked on. */
typedef struct {
  gpointer data;
  gsize bytes;
} Ordered;

typedef struct {
  AstroBeamformConfig config;
  AstroBeamformSize size;
  const AstroBeamformKernels *kernels;
  const AstroPredictKernels *phasors;
  guint threads;
  AstroLayout ordered_in, ordered_out; /* without a length of time */
  AstroBeamformSpread spread;
  gboolean is_widened; /* samples become CF32LE before they are spread */
  AstroSamples widen, narrow;
  AstroScratch *scratch; /* of tasks */
  Ordered in, out;
} Beamform;

/* A run of samples with the same phases, in each row of a channel. */
typedef struct {
  guint64 first, length;
  guint64 interval; /* of the block */
} Piece;

typedef struct {
  Beamform *self;
  const AstroBeamformArguments *arguments;
  AstroBeamformGood good;
  const Piece *pieces;
  guint n_pieces, n_batches;
  guint64 row; /* samples of a row: pol and time */
  const guint8 *in;
  guint8 *out;
  guint64 clipped; /* atomic */
} Work;

/* ---- memory of a task ---- */

typedef struct {
  float *strip, *weights, *sums;
  double *phasors;    /* of a group of stations: [beam][re, im][lane] */
  double *ones;       /* [beam] */
  double *magnitudes; /* |w| of each station */
  double lost[STRIP]; /* sums of |w| of lost samples */
  guint left[STRIP];  /* stations that are good */
  float factors[STRIP];
  float samples[2 * STRIP]; /* of a station or a beam */
  guint8 converted[8 * STRIP];
  guint8 good[STRIP];
} Room;

static gsize line(gsize bytes)
{
  return (bytes + 63) & ~(gsize)63;
}

/* Places the arrays of a task behind its room, or computes the size of both. */
static gsize share(const Beamform *self, Room *room)
{
  const gsize stations = self->size.stations;
  const gsize beams = MIN(self->size.beams, BATCH);
  const gsize bytes[] = { stations * 2 * STRIP * sizeof(float),
                          beams * stations * 2 * sizeof(float),
                          beams * 2 * STRIP * sizeof(float),
                          beams * 2 * ASTRO_PREDICT_MAX_LANES * sizeof(double),
                          beams * sizeof(double),
                          stations * sizeof(double) };
  gpointer at[G_N_ELEMENTS(bytes)];
  gsize offset = line(sizeof *room);
  for (guint i = 0; i < G_N_ELEMENTS(bytes); i++) {
    at[i] = (guint8 *)room + offset;
    offset += line(bytes[i]);
  }
  if (room) {
    room->strip = at[0];
    room->weights = at[1];
    room->sums = at[2];
    room->phasors = at[3];
    room->ones = at[4];
    room->magnitudes = at[5];
    for (gsize i = 0; i < beams; i++)
      room->ones[i] = 1;
  }
  return offset;
}

/* The part of the work that a task does. */
typedef struct {
  guint channel;
  guint beam, beams; /* the first, and how many */
  const Piece *piece;
  double total; /* of the magnitudes of weights */
} Part;

/* ---- weights ---- */

/* Where the kernels want the weight of a beam and a station. */
static float *weight_at(const Work *work, Room *room, const Part *part, guint beam, guint i)
{
  const guint rows = work->self->kernels->rows, group = beam / rows;
  const guint in_group = MIN(rows, part->beams - group * rows);
  return room->weights + 2 * ((gsize)group * rows * work->arguments->stations->n +
                              (gsize)i * in_group + beam % rows);
}

/* Of `count` stations, from `first` on, whose phasors were computed. */
static void set_weights(const Work *work, Room *room, const Part *part, guint first, guint count)
{
  const AstroBeamformStations *stations = work->arguments->stations;
  const guint lanes = work->self->phasors->lanes;
  for (guint i = 0; i < count; i++) {
    const gsize at = (gsize)part->channel * stations->n + first + i;
    const double a = stations->weights ? (double)stations->weights[2 * at] : 1,
                 b = stations->weights ? (double)stations->weights[2 * at + 1] : 0;
    for (guint beam = 0; beam < part->beams; beam++) {
      const double *phasor = room->phasors + (gsize)beam * 2 * lanes + i;
      float *weight = weight_at(work, room, part, beam, first + i);
      weight[0] = (float)(a * phasor[0] - b * phasor[lanes]);
      weight[1] = (float)(a * phasor[lanes] + b * phasor[0]);
    }
  }
}

/* Computes the weights of all stations for the beams of a part, and the sum of their magnitudes. */
static void make_weights(const Work *work, Room *room, Part *part)
{
  const Beamform *self = work->self;
  const AstroStream *in = &self->config.in;
  const AstroBeamformStations *stations = work->arguments->stations;
  const double *offsets =
      work->arguments->offsets + 3 * (part->piece->interval * self->size.beams + part->beam);
  const double frequency =
      astro_channel_frequency(in->frequency, in->bandwidth, self->size.channels, part->channel);
  const guint lanes = self->phasors->lanes;
  for (guint first = 0; first < stations->n; first += lanes) {
    const guint count = MIN(lanes, stations->n - first);
    double positions[3 * ASTRO_PREDICT_MAX_LANES] = { 0 };
    for (guint i = 0; i < count; i++)
      for (guint k = 0; k < 3; k++)
        positions[k * lanes + i] = -frequency * stations->seconds[3 * (gsize)(first + i) + k];
    self->phasors->phasors(positions, offsets, room->ones, part->beams, room->phasors);
    set_weights(work, room, part, first, count);
  }
  part->total = 0;
  for (guint i = 0; i < stations->n; i++)
    part->total += room->magnitudes[i] = astro_beamform_magnitude(stations, part->channel, i);
}

/* ---- strips ---- */

typedef struct {
  guint64 first; /* sample of the row */
  guint length;  /* at most STRIP */
} Strip;

static void read_station(const Work *work, Room *room, const Part *part, const Strip *strip,
                         gsize tile_floats, guint i)
{
  const Beamform *self = work->self;
  const gsize bytes = astro_stream_sample_bytes(&self->config.in);
  const gsize row =
      (gsize)part->channel * self->size.stations + work->arguments->stations->index[i];
  gconstpointer from = work->in + (row * work->row + strip->first) * bytes;
  /* The next strip's part of this row, while there are many rows between: no processor guesses it.
   */
  for (gsize line = 0; line < STRIP * bytes; line += 64)
    __builtin_prefetch((const guint8 *)from + STRIP * bytes + line);
  if (strip->length < STRIP) {
    memset(room->converted, 0, STRIP * bytes);
    from = memcpy(room->converted, from, strip->length * bytes);
  }
  if (self->is_widened) {
    astro_samples_convert(&self->widen, room->samples, from, STRIP);
    from = room->samples;
  }
  self->kernels->spread[self->spread](room->strip, tile_floats, i, from);
}

/* Finds out which samples of a strip are good; FALSE: all are. */
static gboolean find_lost(const Work *work, Room *room, const Part *part, const Strip *strip,
                          guint i)
{
  const guint8 *row = astro_beamform_good_row(&work->good, part->channel, i);
  guint64 step = strip->first % work->arguments->steps;
  gboolean any = FALSE;
  memset(room->good, 1, STRIP);
  for (guint k = 0; k < strip->length; k++) {
    room->good[k] = row[step];
    any |= !row[step];
    if (++step == work->arguments->steps)
      step = 0;
  }
  return any;
}

/* Removes the lost samples of a station, and all of one without weight, which may be NaN. */
static void remove_lost(const Work *work, Room *room, const Part *part, const Strip *strip,
                        gsize tile_floats, guint i)
{
  const AstroBeamformKernels *kernels = work->self->kernels;
  const double magnitude = room->magnitudes[i];
  if (magnitude == 0) {
    memset(room->good, 0, STRIP);
    kernels->blank(room->strip, tile_floats, i, room->good);
    return;
  }
  if (!work->good.map)
    return;
  if (find_lost(work, room, part, strip, i))
    kernels->blank(room->strip, tile_floats, i, room->good);
  for (guint k = 0; k < STRIP; k++) {
    room->left[k] += room->good[k];
    room->lost[k] += room->good[k] ? 0 : magnitude;
  }
}

static void find_factors(const Work *work, Room *room, const Part *part)
{
  const double scale = work->arguments->stations->scale;
  for (guint k = 0; k < STRIP; k++) {
    const gboolean is_left = work->good.map ? room->left[k] > 0 : part->total > 0;
    room->factors[k] = is_left ? (float)(scale / (part->total - room->lost[k])) : 0;
  }
}

static guint64 write_beams(const Work *work, Room *room, const Part *part, const Strip *strip)
{
  const Beamform *self = work->self;
  const gsize bytes = astro_stream_sample_bytes(&self->config.out);
  guint64 clipped = 0;
  for (guint beam = 0; beam < part->beams; beam++) {
    const gsize row = (gsize)part->channel * self->size.beams + part->beam + beam;
    self->kernels->finish(room->samples, room->sums + (gsize)beam * 2 * STRIP, room->factors);
    clipped +=
        astro_samples_convert(&self->narrow, work->out + (row * work->row + strip->first) * bytes,
                              room->samples, strip->length);
  }
  return clipped;
}

static guint64 run_strip(const Work *work, Room *room, const Part *part, const Strip *strip)
{
  const guint n = work->arguments->stations->n;
  const AstroBeamformKernels *kernels = work->self->kernels;
  const gsize tile_floats = (gsize)n * 2 * kernels->tile;
  memset(room->lost, 0, sizeof room->lost);
  memset(room->left, 0, sizeof room->left);
  for (guint i = 0; i < n; i++) {
    read_station(work, room, part, strip, tile_floats, i);
    remove_lost(work, room, part, strip, tile_floats, i);
  }
  find_factors(work, room, part);
  kernels->sum(room->sums, room->strip, tile_floats, room->weights, n, part->beams);
  return write_beams(work, room, part, strip);
}

/* Tasks that follow each other read the same samples. */
static void run_task(gpointer data, guint64 task)
{
  Work *work = data;
  const Beamform *self = work->self;
  const guint batch = (guint)(task % work->n_batches);
  const guint64 piece = task / work->n_batches;
  Part part = { .channel = (guint)(piece / work->n_pieces),
                .beam = batch * BATCH,
                .beams = MIN(BATCH, self->size.beams - batch * BATCH),
                .piece = &work->pieces[piece % work->n_pieces] };
  Room *room = astro_scratch_take(self->scratch);
  guint64 clipped = 0;
  share(self, room);
  make_weights(work, room, &part);
  for (guint64 at = 0; at < part.piece->length; at += STRIP) {
    const Strip strip = { part.piece->first + at, (guint)MIN(STRIP, part.piece->length - at) };
    clipped += run_strip(work, room, &part, &strip);
  }
  if (clipped)
    __atomic_fetch_add(&work->clipped, clipped, __ATOMIC_RELAXED);
  astro_scratch_give(self->scratch, room);
}

/* ---- blocks ---- */

static void add_pieces(GArray *pieces, guint64 first, guint64 length, guint64 interval)
{
  for (guint64 at = 0; at < length; at += PIECE) {
    const Piece piece = { first + at, MIN(PIECE, length - at), interval };
    g_array_append_val(pieces, piece);
  }
}

/* Where the whole block has one set of phases, polarisations follow each other without a break. */
static GArray *cut_rows(const Beamform *self, const AstroBeamformArguments *arguments)
{
  const guint64 every = arguments->interval, first = arguments->first, steps = arguments->steps;
  GArray *pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
  if (astro_beamform_intervals(first, steps, every) == 1) {
    add_pieces(pieces, 0, self->size.pols * steps, 0);
    return pieces;
  }
  for (guint pol = 0; pol < self->size.pols; pol++)
    for (guint64 at = 0; at < steps;) {
      const guint64 length = MIN(every - (first + at) % every, steps - at);
      add_pieces(pieces, pol * steps + at, length, (first + at) / every - first / every);
      at += length;
    }
  return pieces;
}

static gboolean run(Beamform *self, const AstroBeamformArguments *arguments, gconstpointer in,
                    gpointer out, guint64 *clipped, GError **error)
{
  Work work = { .self = self,
                .arguments = arguments,
                .row = self->size.pols * arguments->steps,
                .in = in,
                .out = out };
  if (!astro_beamform_good_init(&work.good, &self->config, arguments, self->threads, error))
    return FALSE;
  g_autoptr(GArray) pieces = cut_rows(self, arguments);
  work.pieces = (const Piece *)(gconstpointer)pieces->data;
  work.n_pieces = pieces->len;
  work.n_batches = (self->size.beams + BATCH - 1) / BATCH;
  astro_parallel((guint64)self->size.channels * work.n_pieces * work.n_batches, self->threads,
                 run_task, &work);
  astro_beamform_good_clear(&work.good);
  *clipped = work.clipped;
  return TRUE;
}

/* Brings a block into another order. The layouts have no length of time. */
static gboolean reorder(const Beamform *self, const AstroLayout *from, const AstroLayout *to,
                        gsize sample_bytes, guint64 steps, gconstpointer in, gpointer out,
                        GError **error)
{
  AstroLayout shape = *from;
  AstroTransposeConfig config;
  AstroTransposePlan plan;
  shape.extents[astro_layout_find(&shape, ASTRO_AXIS_TIME)] = steps;
  if (!astro_transpose_config(&config, &shape, to, sample_bytes, error))
    return FALSE;
  astro_transpose_plan(&plan, NULL, &config);
  astro_transpose_run(&plan, astro_transpose_kernels(), self->threads, out, in);
  return TRUE;
}

static gpointer room_for(Ordered *block, gsize bytes, GError **error)
{
  if (block->bytes < bytes) {
    g_free(block->data);
    block->data = g_try_malloc(bytes);
    block->bytes = block->data ? bytes : 0;
  }
  if (!block->data)
    astro_backend_no_memory(error,
                            "no memory to bring %" G_GSIZE_FORMAT " bytes into another order: "
                            "expected smaller blocks, or layout " ASTRO_BEAMFORM_IN,
                            bytes);
  return block->data;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Beamform *self = instance;
  const AstroBeamformArguments *arguments = data;
  const AstroStream *from = &self->config.in, *to = &self->config.out;
  gpointer made = out->data;
  gconstpointer samples = in->data;
  guint64 clipped = 0;
  if (!astro_beamform_check(&self->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (arguments->steps == 0)
    return TRUE;
  const gboolean is_ordered = astro_layout_is_equal(&from->layout, &self->ordered_in);
  if (!is_ordered) {
    gpointer ordered = room_for(&self->in, arguments->steps * astro_stream_step_bytes(from), error);
    made = ordered ? room_for(&self->out, arguments->steps * astro_stream_step_bytes(to), error)
                   : NULL;
    if (!made || !reorder(self, &from->layout, &self->ordered_in, astro_stream_sample_bytes(from),
                          arguments->steps, in->data, ordered, error))
      return FALSE;
    samples = ordered;
  }
  if (!run(self, arguments, samples, made, &clipped, error) || !astro_backend_goes_on(error))
    return FALSE;
  if (result)
    result->clipped += clipped;
  return is_ordered || reorder(self, &self->ordered_out, &to->layout, astro_stream_sample_bytes(to),
                               arguments->steps, made, out->data, error);
}

/* ---- instances ---- */

/* The same axes in the order in which they are worked on. */
static AstroLayout in_order(const AstroLayout *layout, const char *wanted)
{
  AstroLayout all, ordered = { 0 };
  astro_layout_parse(&all, wanted, ASTRO_QUANTITY_SPECTRA, NULL);
  for (guint i = 0; i < all.n_axes; i++) {
    const gint at = astro_layout_find(layout, all.axes[i]);
    if (at < 0)
      continue;
    ordered.axes[ordered.n_axes] = all.axes[i];
    ordered.extents[ordered.n_axes++] = layout->extents[at];
  }
  return ordered;
}

static void choose_spread(Beamform *self)
{
  switch (self->config.in.format) {
  case ASTRO_FORMAT_CI8:
    self->spread = ASTRO_BEAMFORM_SPREAD_CI8;
    break;
  case ASTRO_FORMAT_CI16LE:
    self->spread = ASTRO_BEAMFORM_SPREAD_CI16LE;
    break;
  default:
    self->spread = ASTRO_BEAMFORM_SPREAD_CF32LE;
    self->is_widened = self->config.in.format != ASTRO_FORMAT_CF32LE;
  }
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Beamform *self = astro_instance_new(&astro_beamform_cpu, sizeof *self, config, error);
  if (!self)
    return NULL;
  self->size = astro_beamform_size(&self->config);
  self->kernels = ASTRO_KERNELS_PICK(variants);
  self->phasors = astro_predict_kernels();
  self->threads = place->threads;
  self->ordered_in = in_order(&self->config.in.layout, ASTRO_BEAMFORM_IN);
  self->ordered_out = in_order(&self->config.out.layout, ASTRO_BEAMFORM_OUT);
  choose_spread(self);
  astro_samples_init(&self->widen, self->config.in.format, ASTRO_FORMAT_CF32LE);
  astro_samples_init(&self->narrow, ASTRO_FORMAT_CF32LE, self->config.out.format);
  self->scratch = astro_scratch_new(share(self, NULL));
  *variant = self->kernels->variant.name;
  return self;
}

static void destroy(gpointer instance)
{
  Beamform *self = instance;
  astro_scratch_free(self->scratch);
  g_free(self->in.data);
  g_free(self->out.data);
  g_free(self);
}

const AstroBackend astro_beamform_cpu = {
  .stage = "beamform",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroBeamformConfig),
  .shape = astro_beamform_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_beamform_backends[] = { &astro_beamform_cpu,
                                                        &astro_beamform_reference, NULL };
