/* Samples as a recorder's operator looks at them: the bandpass, the distribution of levels, and the
 * power over time, of all that has come so far. A curve for each polarisation, over all stations.
 */
#include "core/render/panel.h"
#include "core/lib/fft/planner.h"
#include "core/lib/formats/kernels.h"
#include "core/render/ticks.h"
#include "core/kit/units.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>

#define BINS 256    /* of a bandpass of voltages */
#define SEGMENTS 64 /* of each input in a buffer that the bandpass is made from */
#define LEVELS 256  /* of a distribution, at most */
#define SIGMAS 5    /* shown on either side, of samples with more levels */
#define FINE 100    /* levels there */
#define TIMES 64    /* points of power over time */
#define CHUNK 4096  /* samples converted at once */
#define MOST_DB 160
#define WINDOW_POWER 0.375 /* mean square of the window */

enum { BANDPASS, DISTRIBUTION, POWER, N_PANELS };

typedef struct {
  AstroStream stream;
  guint components;
  guint64 stations, pols, channels;
  gsize bins; /* of the bandpass */
  gint n;     /* length of the transform; 0: spectra need none */
  fftw_complex *data;
  fftw_plan plan;
  double *window;
  double *band, *band_n; /* [pol][bin]: sums of powers and their numbers */

  double lowest, step; /* of the distribution; step 0: not known yet */
  guint levels;
  double *counts; /* [pol][level] */

  guint64 per_point, in_point; /* buffers that make a point of the power, and those that came */
  guint points;
  double seconds;          /* all that came */
  double *power, *power_n; /* [pol][TIMES] */
  float floats[2 * CHUNK];
} Kind;

static char *const x_y[] = { (char *)"X", (char *)"Y", NULL };
static char *const r_l[] = { (char *)"R", (char *)"L", NULL };

static void close_kind(gpointer kind)
{
  Kind *k = kind;
  if (k->n) {
    astro_fft_planner_lock();
    fftw_destroy_plan(k->plan);
    astro_fft_planner_unlock();
    fftw_free(k->data);
  }
  g_free(k->window);
  g_free(k->band);
  g_free(k->band_n);
  g_free(k->counts);
  g_free(k->power);
  g_free(k->power_n);
  g_free(k);
}

static void plan_transform(Kind *k)
{
  k->n = k->components == 2 ? BINS : 2 * BINS;
  k->data = fftw_alloc_complex((gsize)k->n);
  k->window = g_new(double, (gsize)k->n);
  for (gint i = 0; i < k->n; i++)
    k->window[i] = 0.5 - 0.5 * cos(2 * G_PI * (i + 0.5) / k->n);
  astro_fft_planner_lock();
  k->plan = fftw_plan_dft_1d(k->n, k->data, k->data, FFTW_FORWARD, FFTW_ESTIMATE);
  astro_fft_planner_unlock();
}

/* Integers of up to 8 bits have few levels, each of which is shown. */
static void set_levels(Kind *k)
{
  const gsize bits = astro_format_info(k->stream.format)->bytes * 8 / k->components;
  if (astro_format_info(k->stream.format)->is_float || bits > 8)
    return;
  k->levels = 1u << bits;
  k->lowest = -(double)(k->levels / 2) - 0.5;
  k->step = 1;
}

static void add_panel(GArray *panels, const AstroPanel *panel)
{
  AstroPanel copy = *panel;
  copy.is_curves = TRUE;
  g_array_append_val(panels, copy);
}

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  const gboolean is_spectra = in->stream.quantity == ASTRO_QUANTITY_SPECTRA;
  const double low = in->stream.frequency - in->stream.bandwidth / 2;
  const gboolean has_band = in->stream.frequency > 0 && in->stream.bandwidth > 0;
  Kind *k = g_new0(Kind, 1);
  (void)error;
  k->stream = in->stream;
  k->components = astro_format_info(in->stream.format)->is_complex ? 2 : 1;
  k->stations = astro_stream_extent(&in->stream, ASTRO_AXIS_STATION);
  k->pols = astro_stream_extent(&in->stream, ASTRO_AXIS_POL);
  k->channels = astro_stream_extent(&in->stream, ASTRO_AXIS_CHANNEL);
  k->bins = is_spectra ? k->channels : BINS;
  k->levels = FINE;
  k->per_point = 1;
  if (!is_spectra)
    plan_transform(k);
  set_levels(k);
  k->band = g_new0(double, k->pols * k->bins);
  k->band_n = g_new0(double, k->pols * k->bins);
  k->counts = g_new0(double, k->pols * k->levels);
  k->power = g_new0(double, k->pols *TIMES);
  k->power_n = g_new0(double, k->pols *TIMES);

  const gboolean is_circular = in->observation && !g_strcmp0(in->observation->basis, "circular");
  char *const *names = k->pols == 2 ? (is_circular ? r_l : x_y) : NULL;
  const guint pols = (guint)k->pols;
  add_panel(panels,
            &(AstroPanel){ .title = g_strdup("Bandpass"),
                           .names = names,
                           .width = (guint)k->bins,
                           .height = pols,
                           .x = has_band ? (AstroPanelAxis){ g_strdup("Frequency (MHz)"), low / 1e6,
                                                             (low + in->stream.bandwidth) / 1e6 }
                                         : (AstroPanelAxis){ g_strdup("Channel"), -0.5,
                                                             (double)k->bins - 0.5, .whole = TRUE },
                           .y = { g_strdup("Power (dB)"), 0, 1 } });
  add_panel(panels, &(AstroPanel){ .title = g_strdup("Levels"),
                                   .names = names,
                                   .width = k->levels,
                                   .height = pols,
                                   .x = { g_strdup("Level"), 0, 1 },
                                   .y = { g_strdup("Fraction of the samples"), 0, 1 } });
  add_panel(panels, &(AstroPanel){ .title = g_strdup("Power"),
                                   .names = names,
                                   .width = TIMES,
                                   .height = pols,
                                   .x = { g_strdup("Seconds"), 0, 1 },
                                   .y = { g_strdup("Power (dB)"), 0, 1 } });
  return k;
}

/* ---- samples ---- */

/* Up to CHUNK samples as floats. */
static const float *floats_at(Kind *k, gconstpointer data, guint64 sample, guint n)
{
  const guint8 *from = (const guint8 *)data + sample * astro_stream_sample_bytes(&k->stream);
  const AstroFormat to = k->components == 2 ? ASTRO_FORMAT_CF32LE : ASTRO_FORMAT_F32LE;
  if (to == k->stream.format)
    return (const float *)from;
  astro_convert_kernels_c[k->stream.format][to](k->floats, from, n * k->components, 1);
  return k->floats;
}

/* The scale of samples with many levels follows from the first good ones. */
static void learn_levels(Kind *k, const float *values, guint n)
{
  double squares = 0;
  guint finite = 0;
  for (guint i = 0; i < n * k->components; i++)
    if (isfinite(values[i])) {
      squares += (double)values[i] * values[i];
      finite++;
    }
  if (squares == 0)
    return;
  k->lowest = -SIGMAS * sqrt(squares / finite);
  k->step = -2 * k->lowest / k->levels;
}

static void add_sample(Kind *k, const float *value, guint64 pol, guint64 channel, double *square,
                       double *number)
{
  double power = 0;
  for (guint c = 0; c < k->components; c++) {
    const double level = floor((value[c] - k->lowest) / k->step);
    power += (double)value[c] * value[c];
    if (k->step > 0 && level >= 0 && level < k->levels)
      k->counts[pol * k->levels + (guint)level]++;
  }
  if (!isfinite(power))
    return;
  square[pol] += power;
  number[pol]++;
  if (k->n == 0) {
    k->band[pol * k->bins + channel] += power;
    k->band_n[pol * k->bins + channel]++;
  }
}

static void add_run(Kind *k, gconstpointer data, const AstroLayout *shape, guint64 first, guint64 n,
                    double *square, double *number)
{
  guint64 strides[ASTRO_MAX_AXES];
  astro_layout_strides(shape, strides);
  const guint64 of_pol = MAX(astro_layout_stride_of(shape, strides, ASTRO_AXIS_POL), 1);
  const guint64 of_channel = MAX(astro_layout_stride_of(shape, strides, ASTRO_AXIS_CHANNEL), 1);
  for (guint64 at = first; at < first + n;) {
    const guint now = (guint)MIN(CHUNK, first + n - at);
    const float *values = floats_at(k, data, at, now);
    if (k->step == 0)
      learn_levels(k, values, now);
    for (guint i = 0; i < now; i++)
      add_sample(k, values + i * k->components, k->pols > 1 ? (at + i) / of_pol % k->pols : 0,
                 k->channels > 1 ? (at + i) / of_channel % k->channels : 0, square, number);
    at += now;
  }
}

/* ---- the bandpass of voltages ---- */

static gboolean is_good(const AstroRenderMoment *moment, const AstroLayout *shape, guint64 first,
                        guint64 n, guint64 station, guint64 pol)
{
  const gboolean has_counts = moment->validity && moment->validity->counts;
  guint64 index[ASTRO_MAX_AXES] = { 0 };
  const gint time = astro_layout_find(shape, ASTRO_AXIS_TIME);
  for (guint i = 0; i < shape->n_axes; i++)
    index[i] = shape->axes[i] == ASTRO_AXIS_STATION ? station
               : shape->axes[i] == ASTRO_AXIS_POL   ? pol
                                                    : 0;
  for (guint64 t = first; has_counts && t < first + n; t++) {
    index[time] = t;
    if (astro_validity_at(moment->validity, shape, index) == 0)
      return FALSE;
  }
  return TRUE;
}

static void add_segment(Kind *k, gconstpointer data, guint64 first, guint64 stride, guint64 pol)
{
  for (gint i = 0; i < k->n; i++) {
    const float *value = floats_at(k, data, first + (guint64)i * stride, 1);
    k->data[i][0] = value[0] * k->window[i];
    k->data[i][1] = k->components == 2 ? value[1] * k->window[i] : 0;
  }
  fftw_execute(k->plan);
  for (guint b = 0; b < BINS; b++) {
    const guint from = k->components == 2 ? (b + BINS / 2) % BINS : b;
    const double power = k->data[from][0] * k->data[from][0] + k->data[from][1] * k->data[from][1];
    if (!isfinite(power))
      continue;
    k->band[pol * k->bins + b] += power / (k->n * WINDOW_POWER);
    k->band_n[pol * k->bins + b]++;
  }
}

static void add_bandpass(Kind *k, gconstpointer data, guint64 steps, const AstroLayout *shape,
                         const AstroRenderMoment *moment)
{
  guint64 strides[ASTRO_MAX_AXES];
  astro_layout_strides(shape, strides);
  const guint64 of_time = astro_layout_stride_of(shape, strides, ASTRO_AXIS_TIME);
  const guint64 n = (guint64)k->n, segments = MIN(steps / n, SEGMENTS);
  for (guint64 s = 0; s < k->stations; s++)
    for (guint64 p = 0; p < k->pols; p++)
      for (guint64 i = 0; i < segments; i++) {
        const guint64 begin = i * ((steps - n) / segments);
        const guint64 first = begin * of_time +
                              s * astro_layout_stride_of(shape, strides, ASTRO_AXIS_STATION) +
                              p * astro_layout_stride_of(shape, strides, ASTRO_AXIS_POL);
        if (is_good(moment, shape, begin, n, s, p))
          add_segment(k, data, first, of_time, p);
      }
}

/* ---- curves ---- */

/* Twice as many buffers to a point, when all points are used. */
static void merge_points(Kind *k)
{
  for (guint64 p = 0; p < k->pols; p++)
    for (guint i = 0; i < TIMES; i++) {
      double *power = k->power + p * TIMES, *n = k->power_n + p * TIMES;
      power[i] = i < TIMES / 2 ? power[2 * i] + power[2 * i + 1] : 0;
      n[i] = i < TIMES / 2 ? n[2 * i] + n[2 * i + 1] : 0;
    }
  k->points = TIMES / 2;
  k->per_point *= 2;
}

static void add_power(Kind *k, const double *square, const double *number, guint64 duration_ns)
{
  if (k->in_point == 0 && k->points == TIMES)
    merge_points(k);
  if (k->in_point == 0)
    k->points++;
  for (guint64 p = 0; p < k->pols; p++) {
    k->power[p * TIMES + k->points - 1] += square[p];
    k->power_n[p * TIMES + k->points - 1] += number[p];
  }
  k->in_point = (k->in_point + 1) % k->per_point;
  k->seconds += (double)duration_ns / ASTRO_NS_PER_SECOND;
}

/* The curves of sums divided by numbers, which lie `row` apart, in dB, and the axis around them. */
static void draw_decibels(AstroPanel *panel, const double *sums, const double *numbers, gsize row)
{
  double least = INFINITY, most = -INFINITY;
  for (gsize i = 0; i < (gsize)panel->width * panel->height; i++) {
    const gsize at = i / panel->width * row + i % panel->width;
    const double power = numbers[at] > 0 ? 10 * log10(sums[at] / numbers[at]) : NAN;
    panel->own[i] = (float)power;
    if (isfinite(power)) {
      least = fmin(least, power);
      most = fmax(most, power);
    }
  }
  if (most >= least)
    astro_axis_around(&panel->y, fmax(least, most - MOST_DB), most);
}

static void draw_levels(const Kind *k, AstroPanel *panel)
{
  double most = 0;
  for (guint64 p = 0; p < k->pols; p++) {
    double all = 0;
    for (guint i = 0; i < k->levels; i++)
      all += k->counts[p * k->levels + i];
    for (guint i = 0; i < k->levels; i++) {
      const double fraction = all > 0 ? k->counts[p * k->levels + i] / all : NAN;
      panel->own[p * k->levels + i] = (float)fraction;
      most = fmax(most, fraction);
    }
  }
  panel->x.from = k->lowest;
  panel->x.to = k->lowest + k->levels * MAX(k->step, 1e-30);
  panel->y.from = 0;
  panel->y.to = most > 0 ? 1.05 * most : 1;
}

/* The curve is as wide as what has come. */
static void draw_power(const Kind *k, AstroPanel *panel)
{
  const guint64 buffers =
      (k->points - 1) * k->per_point + (k->in_point ? k->in_point : k->per_point);
  panel->width = k->points;
  draw_decibels(panel, k->power, k->power_n, TIMES);
  panel->x.to = (double)(k->points * k->per_point);
  if (k->seconds > 0)
    panel->x.to *= k->seconds / (double)buffers;
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  AstroLayout shape;
  AstroValidityRun run;
  g_autofree double *square = g_new0(double, k->pols), *number = g_new0(double, k->pols);
  astro_stream_shape(&k->stream, steps, &shape);
  if (!moment->is_gap) {
    if (moment->validity && moment->validity->counts) {
      astro_validity_run_init(&run, moment->validity, &shape);
      while (astro_validity_next_run(&run))
        if (run.count > 0)
          add_run(k, data, &shape, run.first, run.length, square, number);
    } else {
      add_run(k, data, &shape, 0, astro_layout_samples(&shape), square, number);
    }
    if (k->n && astro_layout_find(&shape, ASTRO_AXIS_TIME) >= 0)
      add_bandpass(k, data, steps, &shape, moment);
  }
  add_power(k, square, number, moment->duration_ns);
  draw_decibels(&panels[BANDPASS], k->band, k->band_n, k->bins);
  draw_levels(k, &panels[DISTRIBUTION]);
  draw_power(k, &panels[POWER]);
}

#define FORMATS                                                                                    \
  "format = (string) { CI4, CI8, CI16LE, CF16LE, CF32LE, CF64LE, I8, I16LE, F32LE, F64LE }"

const AstroRenderKind astro_render_voltages = {
  ASTRO_QUANTITY_VOLTAGES,
  ASTRO_VIEW_AUTO,
  "application/x-astro-voltages, " FORMATS,
  open_kind,
  take,
  close_kind,
  TRUE,
};

const AstroRenderKind astro_render_samples = {
  ASTRO_QUANTITY_SPECTRA,
  ASTRO_VIEW_SAMPLES,
  "application/x-astro-spectra, " FORMATS,
  open_kind,
  take,
  close_kind,
  TRUE,
};
