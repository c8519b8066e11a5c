#include "core/fits/uvfits-write.h"
#include "core/fits/uvfits.h"
#include "core/stream/uvw.h"

#include <math.h>
#include <string.h>

#define JD_OF_MJD_ZERO 2400000.5
#define NS_PER_DAY 86400e9
#define DEGREES (180.0 / G_PI)
#define CARD 80
#define STATION_BYTES 128 /* of a row of the station table, about */
#define BLOCK 2880
#define MAX_BASELINE_NUMBERS 255 /* stations that 256 a1 + a2 can name */
/* Groups put together before they are written: enough to read whole cache lines of the input, whose
 * baselines lie next to each other, few enough to stay in the cache. */
#define GATHER_BYTES (256u << 10)
#define GATHER_GROUPS 16
/* DATE is the sum of two floats. The first takes steps of this (0.01 s), which it holds exactly for
 * two days, the second the rest: together they are good to a nanosecond. */
#define DATE_STEPS_PER_DAY 8388608.0

typedef enum {
  UU,
  VV,
  WW,
  DATE,
  DATE_REST,
  BASELINE,
  ANTENNA1,
  ANTENNA2,
  SUBARRAY,
  INTTIM,
  N_PARAMETERS
} Parameter;
static const char *const parameter_names[N_PARAMETERS] = {
  "UU", "VV", "WW", "DATE", "DATE", "BASELINE", "ANTENNA1", "ANTENNA2", "SUBARRAY", "INTTIM"
};
static const char *const parameter_comments[N_PARAMETERS] = { "u, position 1 - position 2 (s)",
                                                              "v (s)",
                                                              "w (s)",
                                                              "Julian date, UTC, mid-integration",
                                                              "the rest of it",
                                                              "256 antenna1 + antenna2",
                                                              "antenna 1",
                                                              "antenna 2",
                                                              "subarray",
                                                              "integration time (s)" };
static const Parameter few_stations[] = { UU, VV, WW, DATE, DATE_REST, BASELINE, INTTIM };
static const Parameter many_stations[] = { UU,       VV,       WW,       DATE,  DATE_REST,
                                           ANTENNA1, ANTENNA2, SUBARRAY, INTTIM };

/* Where the count of a value stands: the sum of one entry for each of its indices. */
typedef struct {
  const AstroValidityMeta *meta; /* NULL: there are none */
  guint64 *of[ASTRO_MAX_AXES];   /* an entry an index of each axis of the shape */
  AstroLayout shape;             /* axes as in the buffer */
} CountTable;

typedef struct {
  AstroPartFile *file;
  AstroFitsContents contents;
  guint pols, products, channels;
  guint64 baselines;
  const Parameter *parameters;
  guint n_parameters;
  gsize group_floats, gather_groups;
  guint32 *gather; /* groups, big-endian */
  double *uvw;
  guint8 *tail; /* the HDUs behind the groups */
  gsize tail_bytes;
  guint64 gcount_at;
  guint64 groups;
} Writer;

static gboolean missing(GError **error, const char *what)
{
  g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_MISSING, "UVFITS needs %s", what);
  return FALSE;
}

static gboolean check_contents(const AstroFitsContents *c, GError **error)
{
  const AstroObservation *o = c->observation;
  guint64 baselines = astro_stream_extent(&c->stream, ASTRO_AXIS_BASELINE);

  if (!o)
    return missing(error, "the observation (stations, phase centre, start) and no event "
                          "\"" ASTRO_OBSERVATION_EVENT "\" came with the stream");
  if (!o->has_start)
    return missing(error, "a start time and the observation has none");
  if (!o->has_phase_centre)
    return missing(error, "a phase centre and the observation has none");
  if (c->stream.frequency <= 0 || c->stream.bandwidth <= 0)
    return missing(error, "the fields \"frequency\" and \"bandwidth\" (Hz) in the caps");
  if (c->stream.bandwidth / 2 >= c->stream.frequency) {
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_MISSING,
                "the caps' band reaches below 0 Hz: bandwidth=%g around frequency=%g",
                c->stream.bandwidth, c->stream.frequency);
    return FALSE;
  }
  if (o->n_stations < 1 || o->n_stations > ASTRO_UVFITS_MAX_STATIONS) {
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_MISSING,
                "the observation has %u stations, UVFITS takes 1 to %d", o->n_stations,
                ASTRO_UVFITS_MAX_STATIONS);
    return FALSE;
  }
  if ((c->stations && c->stations != o->n_stations) ||
      baselines != (guint64)o->n_stations * (o->n_stations + 1) / 2) {
    g_autofree char *stations =
        c->stations ? g_strdup_printf("stations=%u, ", c->stations) : g_strdup("");
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_MISSING,
                "the caps have %sbaselines=%" G_GUINT64_FORMAT
                " and the observation %u stations, which make %" G_GUINT64_FORMAT
                " baselines with autocorrelations",
                stations, baselines, o->n_stations,
                (guint64)o->n_stations * (o->n_stations + 1) / 2);
    return FALSE;
  }
  if (strcmp(o->basis, "linear") != 0 && strcmp(o->basis, "circular") != 0) {
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_MISSING,
                "the observation's polarisation basis is \"%s\", expected linear or circular",
                o->basis);
    return FALSE;
  }
  return TRUE;
}

static void write_axis(fitsfile *file, int axis, const char *type, double value, double delta,
                       int *status)
{
  double first = 1, rotation = 0;
  char key[FLEN_KEYWORD];
  fits_make_keyn("CTYPE", axis, key, status);
  fits_write_key(file, TSTRING, key, (char *)type, NULL, status);
  fits_make_keyn("CRVAL", axis, key, status);
  fits_write_key(file, TDOUBLE, key, &value, NULL, status);
  fits_make_keyn("CDELT", axis, key, status);
  fits_write_key(file, TDOUBLE, key, &delta, NULL, status);
  fits_make_keyn("CRPIX", axis, key, status);
  fits_write_key(file, TDOUBLE, key, &first, NULL, status);
  fits_make_keyn("CROTA", axis, key, status);
  fits_write_key(file, TDOUBLE, key, &rotation, NULL, status);
}

static void write_parameters(const Writer *w, fitsfile *file, int *status)
{
  double one = 1, midnight = w->contents.observation->start_mjd + JD_OF_MJD_ZERO;
  for (guint i = 0; i < w->n_parameters; i++) {
    Parameter p = w->parameters[i];
    double zero = p == DATE ? midnight : 0;
    char key[FLEN_KEYWORD];
    fits_make_keyn("PTYPE", i + 1, key, status);
    fits_write_key(file, TSTRING, key, (char *)parameter_names[p], parameter_comments[p], status);
    fits_make_keyn("PSCAL", i + 1, key, status);
    fits_write_key(file, TDOUBLE, key, &one, NULL, status);
    fits_make_keyn("PZERO", i + 1, key, status);
    fits_write_key(file, TDOUBLE, key, &zero, NULL, status);
  }
}

static void write_text(fitsfile *file, const char *key, const char *value, int *status)
{
  fits_write_key(file, TSTRING, key, (char *)value, NULL, status);
}

static void write_header(const Writer *w, fitsfile *file, int *status)
{
  const AstroObservation *o = w->contents.observation;
  const AstroStream *stream = &w->contents.stream;
  const AstroUvfitsBasis *basis =
      &astro_uvfits_bases[strcmp(o->basis, astro_uvfits_bases[1].basis) == 0];
  long axes[7] = { 0, 3, w->products, w->channels, 1, 1, 1 };
  double one = 1, zero = 0, equinox = 2000, ra = o->phase_ra * DEGREES,
         dec = o->phase_dec * DEGREES, width = stream->bandwidth / w->channels;
  g_autofree char *start = astro_observation_get_start(o), *field = astro_fits_field_name(o),
                  *telescope = astro_fits_ascii(o->telescope);
  char *zone = start ? strchr(start, 'Z') : NULL;

  if (zone)
    *zone = 0; /* FITS dates are UTC without saying so */
  ra = ra < 0 ? ra + 360 : ra;
  fits_write_grphdr(file, TRUE, FLOAT_IMG, 7, axes, w->n_parameters, 1, TRUE, status);
  write_text(file, "OBJECT", field, status);
  write_text(file, "TELESCOP", telescope, status);
  write_text(file, "INSTRUME", telescope, status);
  write_text(file, "DATE-OBS", start ? start : "", status);
  write_text(file, "BUNIT", "UNCALIB", status);
  fits_write_key(file, TDOUBLE, "BSCALE", &one, NULL, status);
  fits_write_key(file, TDOUBLE, "BZERO", &zero, NULL, status);
  fits_write_key(file, TDOUBLE, "EQUINOX", &equinox, NULL, status);
  fits_write_key(file, TDOUBLE, "OBSRA", &ra, NULL, status);
  fits_write_key(file, TDOUBLE, "OBSDEC", &dec, NULL, status);
  write_axis(file, 2, "COMPLEX", 1, 1, status);
  write_axis(file, 3, "STOKES", basis->first, -1, status);
  write_axis(file, 4, "FREQ", stream->frequency - stream->bandwidth / 2 + width / 2, width, status);
  write_axis(file, 5, "IF", 1, 1, status);
  write_axis(file, 6, "RA", ra, 1, status);
  write_axis(file, 7, "DEC", dec, 1, status);
  write_parameters(w, file, status);
  fits_write_history(file, "Written by gst-astro", status);
  /* AIPS looks for these lines. */
  fits_write_history(file, "AIPS SORT ORDER = 'TB'", status);
  fits_write_history(file, "AIPS WTSCAL = 1.0", status);
}

/* Header and tables are made in memory and copied, so that the groups can be written straight to
 * the file and every failed write is seen. */
static gboolean begin_file(Writer *w, GError **error)
{
  AstroFitsScratch scratch = { 0 };
  LONGLONG start = 0, data = 0, end = 0;
  int status = 0;
  double width = w->contents.stream.bandwidth / w->channels;
  gboolean done = FALSE;

  /* It makes room for one group behind the header. */
  if (!astro_fits_scratch_open(&scratch,
                               STATION_BYTES * w->contents.observation->n_stations +
                                   w->group_floats * sizeof *w->gather,
                               error))
    goto out;
  write_header(w, scratch.file, &status);
  if (!astro_fits_check(status, "writing the header", error) ||
      !astro_uvfits_write_antennas(
          scratch.file, w->contents.observation,
          w->contents.stream.frequency - w->contents.stream.bandwidth / 2 + width / 2, error))
    goto out;
  fits_flush_file(scratch.file, &status);
  fits_get_hduaddrll(scratch.file, &start, NULL, &end, &status);
  fits_movabs_hdu(scratch.file, 1, NULL, &status);
  fits_get_hduaddrll(scratch.file, NULL, &data, NULL, &status);
  if (!astro_fits_check(status, "writing the header", error))
    goto out;

  w->tail_bytes = end - start;
  w->tail = g_memdup2((guint8 *)scratch.data + start, w->tail_bytes);
  for (LONGLONG at = 0; at < data; at += CARD)
    if (memcmp((guint8 *)scratch.data + at, "GCOUNT  =", 9) == 0)
      w->gcount_at = at;
  done = astro_part_file_write(w->file, scratch.data, data, error);
out:
  astro_fits_scratch_free(&scratch);
  return done;
}

static void destroy(gpointer writer)
{
  Writer *w = writer;
  astro_fits_contents_clear(&w->contents);
  g_free(w->gather);
  g_free(w->uvw);
  g_free(w->tail);
  g_free(w);
}

static gpointer create(AstroPartFile *file, const AstroFitsContents *contents, GError **error)
{
  if (!check_contents(contents, error))
    return NULL;

  Writer *w = g_new0(Writer, 1);
  guint n_stations = contents->observation->n_stations;
  w->file = file;
  w->contents = *contents;
  astro_observation_ref(w->contents.observation);
  w->pols = astro_stream_extent(&contents->stream, ASTRO_AXIS_POL);
  w->products = w->pols * w->pols;
  w->channels = astro_stream_extent(&contents->stream, ASTRO_AXIS_CHANNEL);
  w->baselines = astro_stream_extent(&contents->stream, ASTRO_AXIS_BASELINE);
  w->parameters = n_stations > MAX_BASELINE_NUMBERS ? many_stations : few_stations;
  w->n_parameters =
      n_stations > MAX_BASELINE_NUMBERS ? G_N_ELEMENTS(many_stations) : G_N_ELEMENTS(few_stations);
  w->group_floats = w->n_parameters + 3 * (gsize)w->products * w->channels;
  w->gather_groups = CLAMP(GATHER_BYTES / (4 * w->group_floats), 1, GATHER_GROUPS);
  w->gather = g_new(guint32, w->gather_groups * w->group_floats);
  w->uvw = g_new(double, 3 * n_stations);
  if (begin_file(w, error))
    return w;
  destroy(w);
  return NULL;
}

static void clear_counts(CountTable *table)
{
  for (guint i = 0; i < table->shape.n_axes; i++)
    g_free(table->of[i]);
}

/* Both layouts name their axes in one order; counts leave some out, and one may stand for several
 * neighbours along an axis. */
static gboolean make_counts(CountTable *table, const AstroStream *stream,
                            const AstroFitsFrames *frames, GError **error)
{
  guint64 strides[ASTRO_MAX_AXES];
  const AstroValidityMeta *meta = frames->validity;
  guint next = 0;

  memset(table, 0, sizeof *table);
  table->meta = meta;
  if (!meta)
    return TRUE;
  astro_stream_shape(stream, frames->frames, &table->shape);
  astro_layout_strides(&meta->shape, strides);
  for (guint i = 0; i < table->shape.n_axes; i++) {
    guint64 extent = table->shape.extents[i];
    table->of[i] = g_new0(guint64, extent);
    if (next == meta->shape.n_axes || meta->shape.axes[next] != table->shape.axes[i])
      continue;
    guint64 counted = meta->shape.extents[next];
    if (counted == 0 || extent % counted != 0)
      break;
    for (guint64 k = 0; k < extent; k++)
      table->of[i][k] = k / (extent / counted) * strides[next];
    next++;
  }
  if (next == meta->shape.n_axes)
    return TRUE;
  g_autofree char *counted = astro_layout_to_string(&meta->shape);
  g_autofree char *layout = astro_layout_to_string(&table->shape);
  g_set_error(error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_SIZE,
              "validity over \"%s\" does not fit a buffer of \"%s\" (axis %u)", counted, layout,
              next);
  clear_counts(table);
  return FALSE;
}

static inline guint32 big_endian(float value)
{
  guint32 bits;
  memcpy(&bits, &value, sizeof bits);
  return GUINT32_TO_BE(bits);
}

static void put_parameters(const Writer *w, guint32 *group, guint i, guint j, double days,
                           double seconds)
{
  float values[N_PARAMETERS];
  const double *u1 = &w->uvw[3 * j], *u2 = &w->uvw[3 * i];
  double coarse = floor(days * DATE_STEPS_PER_DAY) / DATE_STEPS_PER_DAY;

  for (guint k = 0; k < 3; k++)
    values[UU + k] = (float)((u1[k] - u2[k]) / ASTRO_LIGHT_SPEED);
  values[DATE] = (float)coarse;
  values[DATE_REST] = (float)(days - values[DATE]);
  values[BASELINE] = 256.0f * (j + 1) + (i + 1);
  values[ANTENNA1] = j + 1;
  values[ANTENNA2] = i + 1;
  values[SUBARRAY] = 1;
  values[INTTIM] = (float)seconds;
  for (guint k = 0; k < w->n_parameters; k++)
    group[k] = big_endian(values[w->parameters[k]]);
}

/* One visibility, of a sum or a mean, as the mean. FALSE: it is no number. */
static gboolean get_mean(const Writer *w, gconstpointer data, guint64 at, guint32 count,
                         float value[2])
{
  if (w->contents.stream.format == ASTRO_FORMAT_CF32LE) {
    memcpy(value, (const float *)data + 2 * at, 2 * sizeof *value);
    return isfinite(value[0]) && isfinite(value[1]);
  }
  const gint32 *sum = (const gint32 *)data + 2 * at;
  double scale = 1.0 / MAX(count, 1);
  value[0] = (float)(sum[0] * scale);
  value[1] = (float)(sum[1] * scale);
  return TRUE;
}

static void add_to_tally(AstroFitsTally *tally, const AstroFitsTally *more)
{
  tally->values += more->values;
  tally->flagged += more->flagged;
  tally->not_finite += more->not_finite;
  tally->most = MAX(tally->most, more->most);
  if (more->most)
    tally->least = tally->least ? MIN(tally->least, more->least) : more->least;
}

/* Fills the values of n groups, baselines first ... of one frame. */
static void put_values(const Writer *w, gconstpointer frame, const CountTable *counts,
                       guint64 frame_index, guint64 first, guint n, AstroFitsTally *tally)
{
  AstroFitsTally here = { .values = (guint64)w->channels * n * w->products, .least = G_MAXUINT32 };
  guint lead = counts->shape.n_axes == 5; /* a time axis before the others */
  guint64 in_time = counts->meta && lead ? counts->of[0][frame_index] : 0;

  for (guint c = 0; c < w->channels; c++)
    for (guint b = 0; b < n; b++) {
      guint64 at = ((guint64)c * w->baselines + first + b) * w->products;
      guint32 *out = w->gather + b * w->group_floats + w->n_parameters + 3 * (gsize)w->products * c;
      guint64 counted =
          counts->meta ? in_time + counts->of[lead][c] + counts->of[lead + 1][first + b] : 0;
      for (guint s = 0; s < w->products; s++, out += 3) {
        const guint8 *pols = astro_uvfits_products[s].pols;
        guint32 count = 1;
        float value[2];
        if (counts->meta)
          count =
              counts->meta
                  ->counts[counted + counts->of[lead + 2][pols[1]] + counts->of[lead + 3][pols[0]]];
        gboolean finite = get_mean(w, frame, at + pols[1] * w->pols + pols[0], count, value);
        gboolean valid = finite && count > 0;
        here.not_finite += !finite && count > 0;
        here.flagged += !valid;
        here.least = valid ? MIN(here.least, count) : here.least;
        here.most = valid ? MAX(here.most, count) : here.most;
        out[0] = big_endian(valid ? value[0] : 0);
        out[1] = big_endian(valid ? -value[1] : 0);
        out[2] = big_endian(valid ? count : 0);
      }
    }
  add_to_tally(tally, &here);
}

static gboolean put_frame(Writer *w, const AstroFitsFrames *frames, const CountTable *counts,
                          guint64 index, AstroFitsTally *tally, GError **error)
{
  const guint8 *frame =
      (const guint8 *)frames->data + index * astro_stream_step_bytes(&w->contents.stream);
  /* Halves of nanoseconds are dropped here and by the reader alike. */
  gint64 begin = gst_util_uint64_scale(frames->duration_ns, index, frames->frames);
  gint64 end = gst_util_uint64_scale(frames->duration_ns, index + 1, frames->frames);
  gint64 middle = frames->start_ns + begin + (end - begin) / 2;
  double days = (w->contents.observation->start_ns + (double)middle) / NS_PER_DAY;
  guint i = 0, j = 0;

  astro_uvw(w->contents.observation, middle, w->uvw);
  for (guint64 first = 0; first < w->baselines; first += w->gather_groups) {
    guint n = MIN(w->gather_groups, w->baselines - first);
    for (guint b = 0; b < n; b++) {
      put_parameters(w, w->gather + b * w->group_floats, i, j, days, (end - begin) * 1e-9);
      if (++j > i) {
        i++;
        j = 0;
      }
    }
    put_values(w, frame, counts, index, first, n, tally);
    if (!astro_part_file_write(w->file, w->gather, n * w->group_floats * sizeof *w->gather, error))
      return FALSE;
    w->groups += n;
  }
  return TRUE;
}

static gboolean write_frames(gpointer writer, const AstroFitsFrames *frames, AstroFitsTally *tally,
                             GError **error)
{
  Writer *w = writer;
  CountTable counts;
  gboolean done = TRUE;
  if (!make_counts(&counts, &w->contents.stream, frames, error))
    return FALSE;
  for (guint64 k = 0; k < frames->frames && done; k++)
    done = put_frame(w, frames, &counts, k, tally, error);
  clear_counts(&counts);
  return done;
}

static gboolean finish(gpointer writer, GError **error)
{
  static const guint8 zeros[BLOCK] = { 0 };
  Writer *w = writer;
  guint64 left = astro_part_file_bytes(w->file) % BLOCK;
  g_autofree char *card =
      g_strdup_printf("GCOUNT  = %20" G_GUINT64_FORMAT " /%*s", w->groups, CARD - 32, "");
  if (w->groups == 0)
    return missing(error, "at least one integration and none came");
  return astro_part_file_write(w->file, zeros, left ? BLOCK - left : 0, error) &&
         astro_part_file_write(w->file, w->tail, w->tail_bytes, error) &&
         astro_part_file_patch(w->file, w->gcount_at, card, CARD, error);
}

const AstroFitsWriterKind astro_uvfits_writer = {
  .name = "UVFITS",
  .quantity = ASTRO_QUANTITY_VISIBILITIES,
  .caps = ASTRO_UVFITS_CAPS,
  .frame = "integration",
  .is_timed = TRUE,
  .create = create,
  .write = write_frames,
  .finish = finish,
  .destroy = destroy,
};
