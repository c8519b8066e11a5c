/* UVFITS as others write it, by CFITSIO's own calls: what the reader has to take, or to refuse. */
#pragma once

#include "core/stream/uvw.h"
#include "tests/core/fits/uvfits.h"
#include <fitsio.h>

#define FOREIGN_STATIONS 3
#define FOREIGN_TIMES 2
#define FOREIGN_JD 2460000.5 /* MJD 60000 */
#define FOREIGN_STEP 10.0    /* seconds */

/* Zero and NULL stand for what most files have: see foreign_write. */
typedef struct {
  const char *name;
  const char *expect; /* in the error message; NULL: it is read */
  const char
      *notes; /* in the note of a file that is read; NULL: nothing but what other fields do */
  int bitpix; /* 0: -32 */
  guint channels, ifs;
  double if_gap;       /* Hz between IFs */
  gboolean no_fq;      /* no table of IFs */
  gint sideband;       /* of all IFs in their table; 0: no such column */
  double last_width;   /* 0: 1; times that, the width of channels in the last IF's entry */
  double if_first;     /* Hz of the first IF from the reference */
  gint setup;          /* FREQSEL of the groups; the table of IFs has 1 and 2, axis FREQ is 1's */
  double first_stokes; /* 0: -1 */
  guint n_stokes;      /* 0: 4 */
  double stokes_step;  /* 0: -1 */
  double freq_pixel;   /* 0: 1 */
  double freq_step;    /* 0: 1e6 */
  gboolean freq_before_stokes;
  const char *extra_axis; /* one more axis */
  guint extra_length;
  gboolean one_date; /* one DATE, of whole days and fraction, and PZERO */
  gboolean no_inttim, no_weight, old_names, underlined, numbers_apart, sorted_by_baseline;
  guint skip;           /* 1 + the group that is left out */
  gboolean swapped;     /* antenna 1 > antenna 2 */
  double subarray;      /* 0: 1 */
  gint number_step;     /* station numbers: 0: 1, 2, 3 */
  double bad_number;    /* of the last group's antenna 2 */
  gboolean repeat;      /* the last group names the pair before it */
  double weight;        /* 0: 10 + baseline */
  gboolean whole_first; /* the first group's weights are 1 */
  guint heavier;        /* 0: 1; times that, weights of the second time */
  double equinox;       /* 0: 2000 */
  gboolean sources, source_changes, no_an;
  gboolean second_array_first;
  gboolean other_axes;   /* RA and DEC are of another source */
  double source_equinox; /* 0: no such column */
  double inttim;         /* 0: FOREIGN_STEP */
  gboolean array_twice;  /* two tables of array 1 */
  double last_subarray;  /* SUBARRAY of the last group, beside BASELINE; 0: no such parameter */
  const char *timesys;   /* NULL: no such keyword */
  const char *timsys, *hand, *frame, *date_obs;
  const char *places;           /* of stations by (u,v,w): straight, turned, left; NULL: all
                                   (u,v,w) are 0 */
  double uvw_unit;              /* metres; 0: a second's of light */
  double spread;                /* 0: 1; times that, the stations' distances */
  double uvw_turn;              /* radians: that u and v are turned by */
  double mirror[3];             /* what u, v and w are multiplied by; 0: 1 */
  AstroFitsUvw uvw;             /* whom to believe */
  gboolean nan, endless_weight; /* of the last group's first value */
  gsize cut;                    /* bytes taken off the file's end; 1: into the groups */
  double scale;                 /* 0: 1; of parameters and values */
  guint unused;     /* rows behind those of the stations, with the number 0 and no place */
  guint homeless;   /* 1 + the station that has no place */
  double ut1_utc;   /* 0: no such keyword */
  const char *band; /* what is read of several IFs */
  gboolean ignore_epoch;
} Foreign;

static inline void foreign_value(guint baseline, guint time, guint channel, guint s, float value[2])
{
  value[0] = 1 + baseline + 10 * s + 100 * channel + 1000 * time;
  value[1] = -0.5 * (value[0] + 3);
}

/* Where a station is whose table says (100 + i, 200 + i i, 300 - i) metres from the middle, with a
 * spread of 1. */
static inline void foreign_place(const Foreign *o, guint i, gboolean turned, gboolean left,
                                 double place[3])
{
  const double spread = o->spread ? o->spread : 1;
  double x = 100 + spread * i, y = left ? -(200 + spread * i * i) : 200 + spread * i * i;
  place[0] = turned ? -y : x; /* the middle is at 90 degrees east */
  place[1] = (turned ? x : y) + (o->frame ? 4e6 : 0);
  place[2] = 300 - spread * i + (o->frame ? 5e6 : 0);
}

/* (u,v,w) of two stations, as the groups have them. */
static inline void foreign_uvw(const Foreign *o, guint a1, guint a2, double days, float uvw[3])
{
  g_autoptr(AstroObservation) at = astro_observation_new(2);
  double metres[6], unit = o->uvw_unit ? o->uvw_unit : ASTRO_LIGHT_SPEED;
  if (!o->places)
    return;
  gboolean turned = g_str_equal(o->places, "turned"), left = g_str_equal(o->places, "left");
  foreign_place(o, a1, turned, left, at->positions);
  foreign_place(o, a2, turned, left, at->positions + 3);
  at->phase_ra = 123 * G_PI / 180;
  at->start_mjd = 60000;
  astro_uvw(at, (gint64)(days * 86400e9), metres);
  for (guint k = 0; k < 3; k++)
    uvw[k] = (metres[k] - metres[3 + k]) / unit;
  const double u = uvw[0], v = uvw[1];
  uvw[0] = (float)(u * cos(o->uvw_turn) - v * sin(o->uvw_turn));
  uvw[1] = (float)(u * sin(o->uvw_turn) + v * cos(o->uvw_turn));
  for (guint k = 0; k < 3; k++)
    uvw[k] *= o->mirror[k] ? (float)o->mirror[k] : 1;
}

static inline void foreign_text(fitsfile *f, const char *key, guint n, const char *value,
                                int *status)
{
  g_autofree char *name = n ? g_strdup_printf("%s%u", key, n) : g_strdup(key);
  fits_write_key(f, TSTRING, name, (char *)value, NULL, status);
}

static inline void foreign_double(fitsfile *f, const char *key, guint n, double value, int *status)
{
  g_autofree char *name = n ? g_strdup_printf("%s%u", key, n) : g_strdup(key);
  fits_write_key(f, TDOUBLE, name, &value, NULL, status);
}

/* Stations of the subarray with that version number; 0: the only subarray, without a number. */
static inline void foreign_stations(fitsfile *f, const Foreign *o, int version, int *status)
{
  const char *an[] = { "ANNAME", "STABXYZ", "NOSTA" }, *an_form[] = { "8A", "3D", "1J" };
  fits_create_tbl(f, BINARY_TBL, FOREIGN_STATIONS, 3, (char **)an, (char **)an_form, NULL,
                  "AIPS AN", status);
  if (version)
    fits_write_key(f, TINT, "EXTVER", &version, NULL, status);
  foreign_double(f, "ARRAYX", 0, 0, status);
  foreign_double(f, "ARRAYY", 0, o->frame ? 4e6 : 0, status);
  foreign_double(f, "ARRAYZ", 0, o->frame ? 5e6 : 0, status);
  foreign_text(f, "TIMSYS", 0, o->timsys ? o->timsys : "UTC", status);
  if (o->timesys)
    foreign_text(f, "TIMESYS", 0, o->timesys, status);
  foreign_double(f, "IATUTC", 0, 37, status);
  foreign_text(f, "XYZHAND", 0, o->hand ? o->hand : "RIGHT", status);
  if (o->frame)
    foreign_text(f, "FRAME", 0, o->frame, status);
  if (o->ut1_utc)
    foreign_double(f, "UT1UTC", 0, o->ut1_utc, status);
  for (guint i = 0; i < o->unused; i++) {
    int row = FOREIGN_STATIONS + 1 + (int)i, number = 0;
    double xyz[3] = { NAN, NAN, NAN };
    char *name = "";
    fits_write_col(f, TSTRING, 1, row, 1, 1, &name, status);
    fits_write_col(f, TDOUBLE, 2, row, 1, 3, xyz, status);
    fits_write_col(f, TINT, 3, row, 1, 1, &number, status);
  }
  for (int i = 0; i < FOREIGN_STATIONS; i++) {
    int apart = MAX(version, 1), number = o->number_step ? 2 + o->number_step * i : 1 + i;
    const double spread = o->spread ? o->spread : 1;
    double xyz[3] = { apart * (100 + spread * i), apart * (200 + spread * i * i),
                      apart * (300 - spread * i) };
    if (o->homeless == (guint)i + 1)
      xyz[1] = INFINITY;
    char text[9] = "ST0     ", *name = text;
    text[2] += i;
    fits_write_col(f, TSTRING, 1, i + 1, 1, 1, &name, status);
    fits_write_col(f, TDOUBLE, 2, i + 1, 1, 3, xyz, status);
    fits_write_col(f, TINT, 3, i + 1, 1, 1, &number, status);
  }
}

static inline void foreign_tables(fitsfile *f, const Foreign *o, guint ifs, guint channels,
                                  double step, int *status)
{
  const char *su[] = { "ID. NO.", "RAEPO", "DECEPO", "EPOCH" },
             *su_form[] = { "1J", "1D", "1D", "1D" };
  if (o->second_array_first || o->array_twice)
    foreign_stations(f, o, o->array_twice ? 0 : 2, status);
  if (!o->no_an)
    foreign_stations(f, o, o->second_array_first, status);
  if ((ifs > 1 || o->if_first || o->setup) && !o->no_fq) {
    g_autofree char *form = g_strdup_printf("%uD", ifs), *width_form = g_strdup_printf("%uE", ifs);
    g_autofree char *sideband_form = g_strdup_printf("%uJ", ifs);
    const char *fq[] = { "FRQSEL", "IF FREQ", "CH WIDTH", "SIDEBAND" },
               *fq_form[] = { "1J", form, width_form, sideband_form };
    fits_create_tbl(f, BINARY_TBL, o->setup ? 2 : 1, o->sideband ? 4 : 3, (char **)fq,
                    (char **)fq_form, NULL, "AIPS FQ", status);
    for (int row = 1; row <= (o->setup ? 2 : 1); row++) {
      fits_write_col(f, TINT, 1, row, 1, 1, &row, status);
      for (guint i = 0; i < ifs; i++) {
        double width = step, first = o->if_first;
        if (o->setup && row == 1) { /* as the axis has it, which is not what groups are of */
          width = 2 * step;
          first = -3e6;
        }
        double offset = first + i * (channels * width + o->if_gap);
        if (o->last_width && i == ifs - 1)
          width *= o->last_width;
        fits_write_col(f, TDOUBLE, 2, row, 1 + i, 1, &offset, status);
        fits_write_col(f, TDOUBLE, 3, row, 1 + i, 1, &width, status);
        if (o->sideband)
          fits_write_col(f, TINT, 4, row, 1 + i, 1, (gint *)&o->sideband, status);
      }
    }
  }
  if (o->sources) {
    fits_create_tbl(f, BINARY_TBL, 2, o->source_equinox ? 4 : 3, (char **)su, (char **)su_form,
                    NULL, "AIPS SU", status);
    for (int i = 0; i < 2; i++) {
      double ra = 40 + i, dec = 30 - i;
      int id = 6 + i;
      fits_write_col(f, TINT, 1, i + 1, 1, 1, &id, status);
      fits_write_col(f, TDOUBLE, 2, i + 1, 1, 1, &ra, status);
      fits_write_col(f, TDOUBLE, 3, i + 1, 1, 1, &dec, status);
      if (o->source_equinox)
        fits_write_col(f, TDOUBLE, 4, i + 1, 1, 1, (double *)&o->source_equinox, status);
    }
  }
}

/* Three stations, two times, ten seconds each, no autocorrelations; circular; frequencies from 1
 * GHz on in steps of 1 MHz; date in one parameter or two. */
static inline void foreign_write(const char *path, const Foreign *o)
{
  guint channels = o->channels ? o->channels : 2, ifs = o->ifs ? o->ifs : 1;
  guint n_stokes = o->n_stokes ? o->n_stokes : 4, complex = o->no_weight ? 2 : 3;
  double step = o->freq_step ? o->freq_step : 1e6, scale = o->scale ? o->scale : 1;
  const char *types[8], *parameters[12];
  double zeros[12] = { 0 };
  long axes[9] = { 0, complex };
  guint n_axes = 1, n = 0;
  fitsfile *f;
  int status = 0, bitpix = o->bitpix ? o->bitpix : -32;

  types[n_axes++] = "COMPLEX";
  for (guint k = 0; k < 2; k++) {
    gboolean freq = (k == 0) == o->freq_before_stokes;
    axes[n_axes] = freq ? channels : n_stokes;
    types[n_axes++] = freq ? "FREQ" : "STOKES";
  }
  axes[n_axes] = ifs;
  types[n_axes++] = "IF";
  axes[n_axes] = 1;
  types[n_axes++] = "RA";
  axes[n_axes] = 1;
  types[n_axes++] = "DEC";
  if (o->extra_axis) {
    axes[n_axes] = o->extra_length;
    types[n_axes++] = o->extra_axis;
  }

  parameters[n++] = o->old_names ? "UU---SIN" : "UU";
  parameters[n++] = o->old_names ? "VV---SIN" : "VV";
  parameters[n++] = o->old_names ? "WW---SIN" : "WW";
  zeros[n] = FOREIGN_JD;
  parameters[n++] = "DATE";
  if (!o->one_date)
    parameters[n++] = o->underlined ? "_DATE" : "DATE";
  guint first_number = n;
  if (o->numbers_apart) {
    parameters[n++] = "ANTENNA1";
    parameters[n++] = "ANTENNA2";
    parameters[n++] = "SUBARRAY";
  } else {
    parameters[n++] = "BASELINE";
  }
  guint subarray_at = n;
  if (o->last_subarray)
    parameters[n++] = "SUBARRAY";
  guint source_at = n;
  if (o->sources)
    parameters[n++] = "SOURCE";
  guint setup_at = n;
  if (o->setup)
    parameters[n++] = "FREQSEL";
  guint inttim_at = n;
  if (!o->no_inttim)
    parameters[n++] = "INTTIM";

  guint groups = FOREIGN_TIMES * FOREIGN_STATIONS - (o->skip ? 1 : 0);
  remove(path);
  fits_create_diskfile(&f, path, &status);
  fits_write_grphdr(f, TRUE, bitpix, n_axes, axes, n, groups, TRUE, &status);
  for (guint i = 1; i < n_axes; i++) {
    gboolean freq = g_str_equal(types[i], "FREQ"), stokes = g_str_equal(types[i], "STOKES"),
             place = g_str_equal(types[i], "RA") && (!o->sources || o->other_axes);
    foreign_text(f, "CTYPE", i + 1, types[i], &status);
    foreign_double(f, "CRVAL", i + 1,
                   freq     ? 1e9 + ((o->freq_pixel ? o->freq_pixel : 1) - 1) * step
                   : stokes ? (o->first_stokes ? o->first_stokes : -1)
                   : place  ? 123
                            : 0,
                   &status);
    foreign_double(f, "CDELT", i + 1,
                   freq     ? (o->setup ? 2 * step : step)
                   : stokes ? (o->stokes_step ? o->stokes_step : -1)
                            : 1,
                   &status);
    foreign_double(f, "CRPIX", i + 1, freq && o->freq_pixel ? o->freq_pixel : 1, &status);
  }
  for (guint i = 0; i < n; i++) {
    foreign_text(f, "PTYPE", i + 1, parameters[i], &status);
    foreign_double(f, "PSCAL", i + 1, 1 / scale, &status);
    foreign_double(f, "PZERO", i + 1, zeros[i], &status);
  }
  foreign_double(f, "BSCALE", 0, 1 / scale, &status);
  foreign_double(f, "BZERO", 0, 0, &status);
  foreign_double(f, "EPOCH", 0, o->equinox ? o->equinox : 2000, &status);
  foreign_text(f, "TELESCOP", 0, "OTHER", &status);
  foreign_text(f, "DATE-OBS", 0, o->date_obs ? o->date_obs : "25/02/23", &status);
  fits_set_bscale(f, 1, 0, &status);

  guint values = complex * n_stokes * channels * ifs * MAX(o->extra_length, 1), written = 0;
  g_autofree float *group = g_new0(float, values);
  for (guint index = 0; index < FOREIGN_TIMES * FOREIGN_STATIONS; index++) {
    guint pair = o->sorted_by_baseline ? index / FOREIGN_TIMES : index % FOREIGN_STATIONS;
    guint time = o->sorted_by_baseline ? index % FOREIGN_TIMES : index / FOREIGN_STATIONS;
    guint a1 = pair == 2, a2 = pair == 0 ? 1 : 2; /* 0-1 0-2 1-2 */
    if (o->skip == index + 1)
      continue;
    gboolean last = index + 1 == FOREIGN_TIMES * FOREIGN_STATIONS;
    if (o->repeat && last)
      a1 = 0;
    double days = (43200 + (time + 0.5) * FOREIGN_STEP) / 86400, n1 = 1 + a1, n2 = 1 + a2;
    if (o->number_step) {
      n1 = 2 + o->number_step * (gint)a1;
      n2 = 2 + o->number_step * (gint)a2;
    }
    if (last && o->bad_number)
      n2 = o->bad_number;
    if (o->swapped) {
      double was = n1;
      n1 = n2;
      n2 = was;
    }
    float p[12] = { 0 };
    foreign_uvw(o, o->swapped ? a2 : a1, o->swapped ? a1 : a2, days, p);
    p[3] = o->one_date ? days : 0.25;
    if (!o->one_date)
      p[4] = days - 0.25;
    p[first_number] = (n1 > 255 || n2 > 255 ? 65536 + 2048 * n1 : 256 * n1) + n2 +
                      (o->subarray ? (o->subarray - 1) * 0.01 : 0);
    if (o->last_subarray)
      p[subarray_at] = last ? o->last_subarray : 1;
    if (o->numbers_apart) {
      p[first_number] = n1;
      p[first_number + 1] = n2;
      p[first_number + 2] = o->subarray ? o->subarray : 1;
    }
    if (o->sources)
      p[source_at] = o->source_changes && last ? 6 : 7;
    if (o->setup)
      p[setup_at] = o->setup;
    if (!o->no_inttim)
      p[inttim_at] = o->inttim ? o->inttim : FOREIGN_STEP;
    for (guint c = 0; c < channels * ifs; c++)
      for (guint s = 0; s < n_stokes; s++) {
        guint at = o->freq_before_stokes ? c + channels * ifs * s : s + n_stokes * c;
        float value[2];
        foreign_value(pair, time, c, s, value);
        group[complex * at] = (o->nan && last && c == 0 && s == 0 ? NAN : value[0]) * scale;
        group[complex * at + 1] = value[1] * scale;
        if (complex == 3)
          group[complex * at + 2] = (o->whole_first && index == 0                    ? 1
                                     : o->endless_weight && last && c == 0 && s == 0 ? INFINITY
                                     : o->weight           ? o->weight * (pair + 1)
                                     : pair == 1 && c == 1 ? -5.0
                                                           : 10.0 + pair) *
                                    (time && o->heavier ? o->heavier : 1) * scale;
      }
    for (guint i = 0; i < n; i++)
      p[i] *= scale;
    written++;
    fits_write_grppar_flt(f, written, 1, n, p, &status);
    fits_write_img_flt(f, written, 1, values, group, &status);
  }
  foreign_tables(f, o, ifs, channels, step, &status);
  fits_close_file(f, &status);
  fits_report_error(stderr, status);
  g_assert_cmpint(status, ==, 0);
  if (o->cut) {
    g_autofree char *bytes = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
    g_assert_true(
        g_file_set_contents(path, bytes, o->cut == 1 ? 2880 * 2 + 100 : length - o->cut, NULL));
  }
}
