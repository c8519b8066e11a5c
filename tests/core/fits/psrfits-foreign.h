/* PSRFITS in search mode as others write it, by CFITSIO's own calls: what the reader has to take,
 * or to refuse. */
#pragma once

#include "core/fits/fits.h"
#include "tests/core/fits/place.h"
#include <fitsio.h>
#include <math.h>

#define FOREIGN_ROWS 3
#define FOREIGN_BLOCK 24
#define FOREIGN_TBIN 64e-6
#define FOREIGN_LOW 1400.0 /* MHz, of the lowest channel */
#define FOREIGN_WIDTH 0.5

/* Zero and NULL stand for what most files have. */
typedef struct {
  const char *name;
  const char *expect;                     /* in the error message; NULL: it is read */
  const char *notes;                      /* in the note; NULL: there is none */
  const char *products;                   /* of the stream; NULL: I */
  guint bits, pols, channels;             /* 0: 8, 1, 5 */
  const char *pol_type, *receiver;        /* NULL: AA+BB, LIN */
  gint hand, phase;                       /* 0: 1 */
  gboolean is_signed, is_falling, single; /* single: DAT_FREQ in single precision */
  double zero;                            /* ZERO_OFF */
  double column_zero;                     /* TZERO of DATA */
  double column_scale;                    /* TSCAL of DATA; 0: 1 */
  guint lost;                             /* 1 + a row of which channel 1 has weight 0 */
  double part;   /* weight of channel 2 in the last row; 0: that of the rest */
  double weight; /* of the rest; 0: 1 */
  guint gap;     /* steps missing before the last row */
  double early;  /* steps by which the last row begins early */
  guint before;  /* rows of files before it, NSUBOFFS */
  gboolean no_times, no_scales, no_weights, no_frequencies, no_start, no_rows, no_subint;
  gint64 stop;  /* NSTOT; 0: no such keyword */
  guint uneven; /* 1 + a channel that is off by a channel's width in DAT_FREQ */
  guint moved;  /* 1 + a row in which all channels are higher by one */
  const char *mode, *coordinates, *track, *beam;
  double equinox;
  guint short_data;     /* numbers that a row of DATA lacks */
  double dm, reference; /* DM, REFFREQ */
  double tbin;          /* 0: FOREIGN_TBIN */
  gsize cut;            /* bytes taken off the file's end */
} ForeignPower;

static inline guint foreign_bits(const ForeignPower *o)
{
  return o->bits ? o->bits : 8;
}

static inline guint foreign_pols(const ForeignPower *o)
{
  return o->pols ? o->pols : 1;
}

static inline guint foreign_channels(const ForeignPower *o)
{
  return o->channels ? o->channels : 5;
}

/* The number that is stored, by rising channel. */
static inline double foreign_number(const ForeignPower *o, guint64 step, guint p, guint c)
{
  const guint64 any = (step * 2654435761u + p * 40503u + c * 97u) >> 3;
  const guint bits = foreign_bits(o);
  if (bits == 32)
    return (double)(any % 10007) / 8 - 300;
  const gint64 span = (gint64)1 << bits;
  const gint64 least = o->is_signed || (bits == 16 && !o->column_zero) ? -span / 2 : 0;
  return (double)((gint64)(any % (guint64)span) + least) + (bits == 8 ? o->column_zero : 0);
}

static inline float foreign_scale(const ForeignPower *o, guint row, guint p, guint c)
{
  return o->no_scales ? 1 : 0.25f * (float)(1 + row + 2 * p + c);
}

static inline float foreign_offset(const ForeignPower *o, guint row, guint p, guint c)
{
  return o->no_scales ? 0 : 10.0f * (float)row - (float)(p + c);
}

static inline float foreign_weight(const ForeignPower *o, guint row, guint c)
{
  if (o->lost && row == o->lost - 1 && c == 1)
    return 0;
  if (o->part != 0 && row == FOREIGN_ROWS - 1 && c == 2)
    return (float)o->part;
  return o->weight != 0 ? (float)o->weight : 1;
}

/* The step at which a row begins. */
static inline guint64 foreign_first(const ForeignPower *o, guint row)
{
  return (guint64)(row + o->before) * FOREIGN_BLOCK + (row == FOREIGN_ROWS - 1 ? o->gap : 0);
}

static inline void foreign_put(const ForeignPower *o, guint8 *row, guint64 at, double number)
{
  const guint bits = foreign_bits(o);
  if (bits < 8) {
    const guint a_byte = 8 / bits, raw = (guint)(gint)number & ((1u << bits) - 1);
    row[at / a_byte] = (guint8)(row[at / a_byte] | raw << (8 - bits * (at % a_byte + 1)));
  } else if (bits == 8) {
    row[at] = (guint8)(gint)(number - o->column_zero);
  } else if (bits == 16) {
    const gint16 value = (gint16)(number - o->column_zero);
    const guint16 big = GUINT16_TO_BE((guint16)value);
    memcpy(row + 2 * at, &big, sizeof big);
  } else {
    const float value = (float)number;
    guint32 big;
    memcpy(&big, &value, sizeof big);
    big = GUINT32_TO_BE(big);
    memcpy(row + 4 * at, &big, sizeof big);
  }
}

static inline void foreign_samples(const ForeignPower *o, guint row, guint8 *bytes)
{
  const guint pols = foreign_pols(o), channels = foreign_channels(o);
  for (guint t = 0; t < FOREIGN_BLOCK; t++)
    for (guint p = 0; p < pols; p++)
      for (guint c = 0; c < channels; c++)
        foreign_put(o, bytes,
                    ((guint64)t * pols + p) * channels + (o->is_falling ? channels - 1 - c : c),
                    foreign_number(o, (guint64)row * FOREIGN_BLOCK + t, p, c));
}

static inline void foreign_primary(const ForeignPower *o, fitsfile *f, int *status)
{
  const struct {
    const char *key, *value;
  } texts[] = { { "FITSTYPE", "PSRFITS" },
                { "OBS_MODE", o->mode ? o->mode : "SEARCH" },
                { "TELESCOP", "Parkes" },
                { "FD_POLN", o->receiver ? o->receiver : "LIN" },
                { "COORD_MD", o->coordinates ? o->coordinates : "J2000" },
                { "TRK_MODE", o->track ? o->track : "TRACK" },
                { "RA", "08:35:20.61" },
                { "DEC", "-45:10:34.9" },
                { "IBEAM", o->beam ? o->beam : "" } };
  double place[] = { -4554231.5, 2816759.1, -3454036.3 }, equinox = o->equinox ? o->equinox : 2000,
         part = 0.25, centre = FOREIGN_LOW + FOREIGN_WIDTH * (foreign_channels(o) - 1) / 2,
         width = FOREIGN_WIDTH * foreign_channels(o) * (o->is_falling ? -1 : 1);
  int hand = o->hand ? o->hand : 1, phase = o->phase ? o->phase : 1, day = o->no_start ? 0 : 60000,
      second = 3600;
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    fits_write_key(f, TSTRING, texts[i].key, (void *)texts[i].value, NULL, status);
  fits_write_key(f, TDOUBLE, "ANT_X", &place[0], NULL, status);
  fits_write_key(f, TDOUBLE, "ANT_Y", &place[1], NULL, status);
  fits_write_key(f, TDOUBLE, "ANT_Z", &place[2], NULL, status);
  fits_write_key(f, TDOUBLE, "EQUINOX", &equinox, NULL, status);
  fits_write_key(f, TDOUBLE, "OBSFREQ", &centre, NULL, status);
  fits_write_key(f, TDOUBLE, "OBSBW", &width, NULL, status);
  fits_write_key(f, TINT, "FD_HAND", &hand, NULL, status);
  fits_write_key(f, TINT, "BE_PHASE", &phase, NULL, status);
  fits_write_key(f, TINT, "STT_IMJD", &day, NULL, status);
  fits_write_key(f, TINT, "STT_SMJD", &second, NULL, status);
  fits_write_key(f, TDOUBLE, "STT_OFFS", &part, NULL, status);
}

static inline void foreign_keys(const ForeignPower *o, fitsfile *f, int *status)
{
  int bits = (int)foreign_bits(o), pols = (int)foreign_pols(o), channels = (int)foreign_channels(o),
      block = FOREIGN_BLOCK, is_signed = o->is_signed, before = (int)o->before;
  double tbin = o->tbin ? o->tbin : FOREIGN_TBIN, zero = o->zero,
         width = o->is_falling ? -FOREIGN_WIDTH : FOREIGN_WIDTH;
  long long stop = o->stop;
  fits_write_key(f, TSTRING, "POL_TYPE", (void *)(o->pol_type ? o->pol_type : "AA+BB"), NULL,
                 status);
  fits_write_key(f, TINT, "NBITS", &bits, NULL, status);
  fits_write_key(f, TINT, "NPOL", &pols, NULL, status);
  fits_write_key(f, TINT, "NCHAN", &channels, NULL, status);
  fits_write_key(f, TINT, "NSBLK", &block, NULL, status);
  fits_write_key(f, TINT, "NSUBOFFS", &before, NULL, status);
  fits_write_key(f, TINT, "SIGNINT", &is_signed, NULL, status);
  fits_write_key(f, TDOUBLE, "ZERO_OFF", &zero, NULL, status);
  fits_write_key(f, TDOUBLE, "TBIN", &tbin, NULL, status);
  fits_write_key(f, TDOUBLE, "CHAN_BW", &width, NULL, status);
  if (o->dm != 0) {
    double dm = o->dm, reference = o->reference;
    fits_write_key(f, TDOUBLE, "DM", &dm, NULL, status);
    fits_write_key(f, TDOUBLE, "REFFREQ", &reference, NULL, status);
  }
  if (o->stop)
    fits_write_key(f, TLONGLONG, "NSTOT", &stop, NULL, status);
}

static inline void foreign_row(const ForeignPower *o, fitsfile *f, guint row, guint64 numbers,
                               int *status)
{
  const guint pols = foreign_pols(o), channels = foreign_channels(o);
  const gsize bytes = (numbers * foreign_bits(o) + 7) / 8;
  g_autofree double *frequencies = g_new(double, channels);
  g_autofree float *weights = g_new(float, channels), *offsets = g_new(float, channels *pols),
                   *scales = g_new(float, channels *pols);
  g_autofree guint8 *data = g_malloc0(bytes + 64 * channels * pols);
  double middle = ((double)foreign_first(o, row) + FOREIGN_BLOCK / 2.0) * FOREIGN_TBIN -
                  (row == FOREIGN_ROWS - 1 ? o->early * FOREIGN_TBIN : 0);
  middle = o->no_times ? 0 : middle;
  for (guint c = 0; c < channels; c++) {
    const guint to = o->is_falling ? channels - 1 - c : c;
    const guint off = (o->uneven && c == o->uneven - 1) + (o->moved && row == o->moved - 1);
    frequencies[to] = FOREIGN_LOW + FOREIGN_WIDTH * (c + off);
    weights[to] = foreign_weight(o, row, c);
    for (guint p = 0; p < pols; p++) {
      offsets[p * channels + to] = foreign_offset(o, row, p, c);
      scales[p * channels + to] = foreign_scale(o, row, p, c);
    }
  }
  foreign_samples(o, row, data);
  fits_write_col(f, TDOUBLE, 1, row + 1, 1, 1, &middle, status);
  fits_write_col(f, TDOUBLE, 2, row + 1, 1, channels, frequencies, status);
  fits_write_col(f, TFLOAT, 3, row + 1, 1, channels, weights, status);
  fits_write_col(f, TFLOAT, 4, row + 1, 1, channels * pols, offsets, status);
  fits_write_col(f, TFLOAT, 5, row + 1, 1, channels * pols, scales, status);
  /* The bytes as they are: they end the row. */
  LONGLONG start, width = 0;
  int column = 6;
  fits_get_colnum(f, CASEINSEN, "DATA", &column, status);
  fits_flush_file(f, status);
  char key[] = "NAXIS1";
  fits_read_key(f, TLONGLONG, key, &width, NULL, status);
  fits_get_hduaddrll(f, NULL, &start, NULL, status);
  fits_write_tblbytes(f, row + 1, width - (LONGLONG)bytes + 1, (LONGLONG)bytes, data, status);
}

static inline void foreign_table(const ForeignPower *o, fitsfile *f, int *status)
{
  const guint pols = foreign_pols(o), channels = foreign_channels(o), bits = foreign_bits(o);
  const guint64 numbers = (guint64)FOREIGN_BLOCK * pols * channels - o->short_data;
  char frequencies[32], weights[32], offsets[32], data[32];
  g_snprintf(frequencies, sizeof frequencies, "%u%c", channels, o->single ? 'E' : 'D');
  g_snprintf(weights, sizeof weights, "%uE", channels);
  g_snprintf(offsets, sizeof offsets, "%uE", channels * pols);
  g_snprintf(data, sizeof data, "%u%c", (guint)(bits < 8 ? (numbers * bits + 7) / 8 : numbers),
             bits == 32   ? 'E'
             : bits == 16 ? 'I'
                          : 'B');
  char *names[] = { (char *)"OFFS_SUB",
                    (char *)(o->no_frequencies ? "X_FREQ" : "DAT_FREQ"),
                    (char *)(o->no_weights ? "X_WTS" : "DAT_WTS"),
                    (char *)(o->no_scales ? "X_OFFS" : "DAT_OFFS"),
                    (char *)(o->no_scales ? "X_SCL" : "DAT_SCL"),
                    (char *)"DATA" };
  char *forms[] = { (char *)"1D", frequencies, weights, offsets, offsets, data };
  double scale = o->column_scale ? o->column_scale : 1, zero = o->column_zero;
  fits_create_tbl(f, BINARY_TBL, 0, 6, names, forms, NULL, o->no_subint ? "OTHER" : "SUBINT",
                  status);
  foreign_keys(o, f, status);
  for (guint row = 0; row < FOREIGN_ROWS && !o->no_rows; row++)
    foreign_row(o, f, row, numbers, status);
  if (o->column_scale)
    fits_write_key(f, TDOUBLE, "TSCAL6", &scale, NULL, status);
  if (o->column_zero)
    fits_write_key(f, TDOUBLE, "TZERO6", &zero, NULL, status);
}

static inline void foreign_write_power(const ForeignPower *o, const char *path)
{
  fitsfile *f;
  int status = 0;
  g_unlink(path);
  fits_create_diskfile(&f, path, &status);
  fits_create_img(f, 8, 0, NULL, &status);
  foreign_primary(o, f, &status);
  foreign_table(o, f, &status);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
  if (o->cut) {
    g_autofree char *bytes = NULL;
    gsize n;
    g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
    g_assert_true(g_file_set_contents(path, bytes, (gssize)(n - o->cut), NULL));
  }
}
