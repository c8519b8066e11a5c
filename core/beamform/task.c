/* Forms the beams of a piece in strips (kernels.h). */
#include "config.h"
#include "core/beamform/task.h"

#include <math.h>
#include <string.h>

#define STRIP ASTRO_BEAMFORM_STRIP

static const AstroBeamformKernels *const variants[] = ASTRO_KERNELS(astro_beamform_kernels);

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
static gsize share(const AstroBeamformWorker *self, Room *room)
{
  const gsize stations = self->size.stations;
  const gsize beams = MIN(self->size.beams, ASTRO_BEAMFORM_BATCH);
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
  const AstroBeamformPiece *piece;
  double total; /* of the magnitudes of weights */
} Part;

/* ---- weights ---- */

/* Where the kernels want the weight of a beam and a station. */
static float *weight_at(const AstroBeamformWork *work, Room *room, const Part *part, guint beam,
                        guint i)
{
  const guint rows = work->worker->kernels->rows, group = beam / rows;
  const guint in_group = MIN(rows, part->beams - group * rows);
  return room->weights + 2 * ((gsize)group * rows * work->arguments->stations->n +
                              (gsize)i * in_group + beam % rows);
}

/* For `count` stations from `first` on, whose phasors were computed. */
static void set_weights(const AstroBeamformWork *work, Room *room, const Part *part, guint first,
                        guint count)
{
  const AstroBeamformStations *stations = work->arguments->stations;
  const guint lanes = work->worker->phasors->lanes;
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
static void make_weights(const AstroBeamformWork *work, Room *room, Part *part)
{
  const AstroBeamformWorker *self = work->worker;
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

static void read_station(const AstroBeamformWork *work, Room *room, const Part *part,
                         const Strip *strip, gsize tile_floats, guint i)
{
  const AstroBeamformWorker *self = work->worker;
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
static gboolean find_lost(const AstroBeamformWork *work, Room *room, const Part *part,
                          const Strip *strip, guint i)
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
static void remove_lost(const AstroBeamformWork *work, Room *room, const Part *part,
                        const Strip *strip, gsize tile_floats, guint i)
{
  const AstroBeamformKernels *kernels = work->worker->kernels;
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

static void find_factors(const AstroBeamformWork *work, Room *room, const Part *part)
{
  const double scale = work->arguments->stations->scale;
  for (guint k = 0; k < STRIP; k++) {
    const gboolean is_left = work->good.map ? room->left[k] > 0 : part->total > 0;
    room->factors[k] = is_left ? (float)(scale / (part->total - room->lost[k])) : 0;
  }
}

static guint64 write_beams(const AstroBeamformWork *work, Room *room, const Part *part,
                           const Strip *strip)
{
  const AstroBeamformWorker *self = work->worker;
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

static guint64 run_strip(const AstroBeamformWork *work, Room *room, const Part *part,
                         const Strip *strip)
{
  const guint n = work->arguments->stations->n;
  const AstroBeamformKernels *kernels = work->worker->kernels;
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
void astro_beamform_task(gpointer data, guint64 task)
{
  AstroBeamformWork *work = data;
  const AstroBeamformWorker *self = work->worker;
  const guint batch = (guint)(task % work->n_batches);
  const guint64 piece = task / work->n_batches;
  Part part = { .channel = (guint)(piece / work->n_pieces),
                .beam = batch * ASTRO_BEAMFORM_BATCH,
                .beams = MIN(ASTRO_BEAMFORM_BATCH, self->size.beams - batch * ASTRO_BEAMFORM_BATCH),
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

/* ---- instances ---- */

static void choose_spread(AstroBeamformWorker *self)
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

void astro_beamform_worker_init(AstroBeamformWorker *self)
{
  self->size = astro_beamform_size(&self->config);
  self->kernels = ASTRO_KERNELS_PICK(variants);
  self->phasors = astro_predict_kernels();
  choose_spread(self);
  astro_samples_init(&self->widen, self->config.in.format, ASTRO_FORMAT_CF32LE);
  astro_samples_init(&self->narrow, ASTRO_FORMAT_CF32LE, self->config.out.format);
  self->scratch = astro_scratch_new(share(self, NULL));
}

void astro_beamform_worker_clear(AstroBeamformWorker *self)
{
  astro_scratch_free(self->scratch);
}
