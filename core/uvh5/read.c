/* Reads uvh5: puts rows together to integrations. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "core/kit/enum.h"
#include "core/kit/units.h"
#include "core/stream/uvw.h"
#include "core/uvh5/reader.h"

void astro_uvh5_note(AstroUvh5Reader *r, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  char *before = r->contents.note;
  r->contents.note = before ? g_strdup_printf("%s; %s", before, text)
                            : g_strdup_printf("%s: %s", r->file.name, text);
  g_free(before);
}

/* ---- opening ---- */

static gboolean check_kind(AstroUvh5Reader *r, GError **error)
{
  if (astro_h5_has(&r->file, "Header") && astro_h5_has(&r->file, "Data/visdata"))
    return TRUE;
  return astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_OPEN,
                    "%s is an HDF5 file without Header and Data/visdata, expected visibilities as "
                    "pyuvdata writes them (uvh5)",
                    r->file.name);
}

/* Jy are known; for other units nothing is. */
static void describe_observation(AstroUvh5Reader *r, const char *basis)
{
  AstroObservation *o = r->contents.observation;
  g_autofree char *telescope = astro_h5_text(&r->file, "Header/telescope_name");
  g_autofree char *unit = astro_h5_text(&r->file, "Header/vis_units");
  if (telescope && *telescope) {
    g_free(o->telescope);
    o->telescope = g_steal_pointer(&telescope);
  }
  g_free(o->basis);
  o->basis = g_strdup(basis);
  o->done.scale = unit && g_ascii_strcasecmp(unit, "Jy") == 0 ? 1 : 0;
}

static gboolean describe_stream(AstroUvh5Reader *r, GError **error)
{
  AstroRowContents *c = &r->contents;
  AstroStream *s = &c->stream;
  const guint64 baselines = astro_rows_baselines(r->rows);
  guint64 bytes;
  if (baselines > G_MAXINT32 ||
      !g_uint64_checked_mul(&bytes, baselines * r->channels, 8 * r->pols * r->pols) ||
      bytes > G_MAXSSIZE)
    return astro_h5_wrong(&r->file, error,
                          "%u antennas and %u channels are too many for one integration",
                          c->stations, r->channels);
  s->quantity = ASTRO_QUANTITY_VISIBILITIES;
  s->format = ASTRO_FORMAT_CF32LE;
  s->has_counts = TRUE;
  s->layout =
      (AstroLayout){ 4,
                     { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
                     { r->channels, baselines, r->pols, r->pols } };
  c->step_ns = (guint64)r->rows->step_ns;
  c->begin_ns = astro_rows_begin(r->rows);
  c->duration_ns = astro_rows_duration(r->rows);
  s->rate_d = 1;
  gst_util_double_to_fraction(ASTRO_NS_PER_SECOND / (double)c->step_ns, &s->rate_n, &s->rate_d);
  return TRUE;
}

static gboolean read_header(AstroUvh5Reader *r, const AstroUvh5Options *options, GError **error)
{
  AstroUvh5Antennas antennas;
  AstroUvh5Field field = { 0 };
  const char *basis = NULL;
  gboolean done = check_kind(r, error);
  if (!done)
    return FALSE;
  done = astro_uvh5_read_antennas(r, &antennas, error) && astro_uvh5_read_band(r, error) &&
         astro_uvh5_read_products(r, &basis, error) &&
         astro_uvh5_read_field(r, options->field, &field, error) &&
         astro_uvh5_read_rows(r, &antennas, field.id, error);
  astro_uvh5_antennas_clear(&antennas);
  if (!done)
    return FALSE;
  describe_observation(r, basis);
  return describe_stream(r, error) && astro_uvh5_set_phase_centre(r, &field, options, error) &&
         astro_uvh5_open_data(r, error) && astro_uvh5_scale_weights(r, error);
}

AstroUvh5Reader *astro_uvh5_reader_open(const char *path, const AstroUvh5Options *options,
                                        GError **error)
{
  static const AstroUvh5Options none = { 0 };
  AstroUvh5Reader *r = g_new0(AstroUvh5Reader, 1);
  astro_h5_begin();
  const gboolean done =
      astro_h5_open(&r->file, path, error) && read_header(r, options ? options : &none, error);
  astro_h5_end();
  if (done && r->is_drift)
    r->station_uvw = g_new(double, 3 * r->contents.stations);
  if (done)
    return r;
  astro_uvh5_reader_close(r);
  return NULL;
}

const AstroRowContents *astro_uvh5_reader_contents(const AstroUvh5Reader *r)
{
  return &r->contents;
}

void astro_uvh5_reader_close(AstroUvh5Reader *r)
{
  astro_h5_begin();
  astro_uvh5_close_data(r);
  astro_h5_close(&r->file);
  astro_h5_end();
  astro_row_contents_clear(&r->contents);
  g_clear_pointer(&r->rows, astro_rows_free);
  g_free(r->row_in_file);
  g_free(r->uvw);
  g_free(r->room);
  g_free(r->station_uvw);
  g_free(r);
}

/* ---- integrations ---- */

/* The phase of a wave from the phase centre in the first channel and from one channel to the next,
 * to be taken out of a pair of stations that track nothing. */
typedef struct {
  double now[2], step[2];
} Turn;

static void begin_turn(const AstroUvh5Reader *r, guint64 row, Turn *turn)
{
  const guint a = r->rows->station[0][row], b = r->rows->station[1][row];
  const double *of = r->station_uvw;
  const double cycles = -(of[3 * MAX(a, b) + 2] - of[3 * MIN(a, b) + 2]) / ASTRO_LIGHT_SPEED;
  sincos(2 * G_PI * cycles * r->first_hertz, &turn->now[1], &turn->now[0]);
  sincos(2 * G_PI * cycles * r->step_hertz, &turn->step[1], &turn->step[0]);
}

static void turn_on(Turn *turn)
{
  const double re = turn->now[0], im = turn->now[1];
  turn->now[0] = re * turn->step[0] - im * turn->step[1];
  turn->now[1] = re * turn->step[1] + im * turn->step[0];
}

static void turn_value(const Turn *turn, float value[2])
{
  const double re = value[0], im = value[1];
  value[0] = (float)(re * turn->now[0] - im * turn->now[1]);
  value[1] = (float)(re * turn->now[1] + im * turn->now[0]);
}

/* Puts a row's values where they belong in an integration. */
static void place_row(const AstroUvh5Reader *r, guint64 row, const float *values,
                      const guint8 *flags, const float *counts, AstroRowFrame *frame)
{
  const guint64 baselines = astro_rows_baselines(r->rows),
                baseline = astro_rows_baseline(r->rows, row);
  const gboolean swapped = r->rows->station[0][row] <= r->rows->station[1][row];
  Turn turn = { { 0 } };
  if (r->is_drift)
    begin_turn(r, row, &turn);
  for (guint c = 0; c < r->channels; c++) {
    const guint64 in = (r->upside_down ? r->channels - 1 - c : c) * (guint64)r->products,
                  to = (c * baselines + baseline) * r->pols * r->pols;
    for (guint p = 0; p < ASTRO_ROW_PRODUCTS; p++) {
      if (r->place[p] < 0)
        continue;
      const guint64 from = in + (guint)r->place[p];
      const guint8 *pols = astro_row_products[p].pols;
      const guint one = r->feed[pols[swapped]], two = r->feed[pols[!swapped]];
      const guint64 at = to + (r->pols == 1 ? 0 : one * r->pols + two);
      const float *value = &values[2 * from];
      guint32 count =
          flags[from] ? 0
                      : astro_weight_count(r->has_no_counts ? 1 : counts[from], r->weight_scale);
      if (count && !(isfinite(value[0]) && isfinite(value[1]))) {
        frame->not_finite++;
        count = 0;
      }
      frame->counts[at] = count;
      float *out = &frame->data[2 * at];
      out[0] = count ? value[0] : 0;
      out[1] = count ? (swapped ? value[1] : -value[1]) : 0;
      if (r->is_drift && count)
        turn_value(&turn, out);
    }
    if (r->is_drift)
      turn_on(&turn);
  }
}

/* (u,v,w) of the file have the sign of antenna 2 minus 1; values without them cannot be used. */
static void place_uvw(const AstroUvh5Reader *r, guint64 row, AstroRowFrame *frame)
{
  const double sign = r->rows->station[0][row] <= r->rows->station[1][row] ? 1 : -1,
               *uvw = &r->uvw[3 * row];
  const guint64 baselines = astro_rows_baselines(r->rows),
                baseline = astro_rows_baseline(r->rows, row);
  const guint products = r->pols * r->pols;
  if (isfinite(uvw[0]) && isfinite(uvw[1]) && isfinite(uvw[2])) {
    for (guint k = 0; k < 3; k++)
      frame->uvw[3 * baseline + k] = sign * uvw[k];
    return;
  }
  for (guint c = 0; c < r->channels; c++)
    for (guint k = 0; k < products; k++) {
      guint32 *count = &frame->counts[(c * baselines + baseline) * products + k];
      frame->not_finite += *count > 0;
      *count = 0;
    }
}

/* Rows of an integration that follow each other in the file are read together. */
static gboolean read_run(AstroUvh5Reader *r, guint64 at, guint64 n, AstroRowFrame *frame,
                         GError **error)
{
  const guint64 *order = &r->rows->order[at], first = r->row_in_file[order[0]];
  const gsize per_row = (gsize)r->channels * r->products;
  float *values = (float *)r->room, *counts = values + 2 * r->rows_at_once * per_row;
  guint8 *flags = (guint8 *)(counts + r->rows_at_once * per_row);
  if (!astro_uvh5_read_data(r, &r->values, first, n, values, error) ||
      !astro_uvh5_read_data(r, &r->flags, first, n, flags, error) ||
      !astro_uvh5_read_data(r, &r->counts, first, n, counts, error))
    return FALSE;
  for (guint64 k = 0; k < n; k++) {
    place_row(r, order[k], values + 2 * k * per_row, flags + k * per_row, counts + k * per_row,
              frame);
    if (r->gives_uvw)
      place_uvw(r, order[k], frame);
  }
  return TRUE;
}

static gboolean read_rows(AstroUvh5Reader *r, AstroRowFrame *frame, GError **error)
{
  const guint64 *order = r->rows->order, end = r->rows->frame[r->next + 1];
  for (guint64 at = r->rows->frame[r->next]; at < end;) {
    guint64 n = 1;
    while (at + n < end && n < r->rows_at_once &&
           r->row_in_file[order[at + n]] == r->row_in_file[order[at]] + n)
      n++;
    if (!read_run(r, at, n, frame, error))
      return FALSE;
    at += n;
  }
  return TRUE;
}

gboolean astro_uvh5_reader_read(AstroUvh5Reader *r, AstroRowFrame *frame, gboolean *end,
                                GError **error)
{
  const guint64 baselines = astro_rows_baselines(r->rows),
                values = baselines * r->channels * r->pols * r->pols;
  *end = r->next == r->rows->n_frames;
  if (*end)
    return FALSE;
  const gint64 middle = astro_rows_middle(r->rows, r->next);
  memset(frame->data, 0, values * 2 * sizeof *frame->data);
  memset(frame->counts, 0, values * sizeof *frame->counts);
  if (r->gives_uvw)
    memset(frame->uvw, 0, 3 * baselines * sizeof *frame->uvw);
  if (r->is_drift)
    astro_uvw(r->contents.observation, middle, r->station_uvw);
  frame->not_finite = 0;
  astro_h5_begin();
  const gboolean done = read_rows(r, frame, error);
  astro_h5_end();
  if (frame->absent) {
    memset(frame->absent, TRUE, baselines);
    for (guint64 at = r->rows->frame[r->next]; at < r->rows->frame[r->next + 1]; at++)
      frame->absent[astro_rows_baseline(r->rows, r->rows->order[at])] = FALSE;
  }
  frame->full = r->full;
  frame->duration_ns = (guint64)astro_rows_length(r->rows, r->next);
  frame->start_ns = middle - (gint64)frame->duration_ns / 2;
  r->next++;
  return done;
}

/* ---- for sources ---- */

static gpointer kind_open(const char *location, gconstpointer options, GError **error)
{
  return astro_uvh5_reader_open(location, options, error);
}

static const AstroRowContents *kind_contents(gpointer reader)
{
  return astro_uvh5_reader_contents(reader);
}

static const AstroWeightRange *kind_weights(gpointer reader)
{
  return &((AstroUvh5Reader *)reader)->range;
}

static void kind_scale_weights(gpointer reader, double scale, guint32 full)
{
  AstroUvh5Reader *r = reader;
  r->weight_scale = scale;
  r->full = full;
}

static gboolean kind_read(gpointer reader, AstroRowFrame *frame, gboolean *end, GError **error)
{
  return astro_uvh5_reader_read(reader, frame, end, error);
}

static void kind_close(gpointer reader)
{
  astro_uvh5_reader_close(reader);
}

const AstroRowReaderKind astro_uvh5_reader_kind = {
  .name = "uvh5 file",
  .open = kind_open,
  .contents = kind_contents,
  .weights = kind_weights,
  .scale_weights = kind_scale_weights,
  .read = kind_read,
  .close = kind_close,
};

ASTRO_ENUM_TYPE(astro_uvh5_uvw_get_type, "AstroUvh5Uvw",
                { ASTRO_UVH5_UVW_AUTO, "The stations', refused if the file's differ", "auto" },
                { ASTRO_UVH5_UVW_FILE, "The file's", "file" },
                { ASTRO_UVH5_UVW_TABLE, "The stations', whatever the file's are", "table" })
