/* Several files of visibilities as one stream, with files that are only in memory: order, stations,
 * weights, the Earth, and what cannot be one stream. */
#include "core/lib/rows/files.h"

#include <math.h>
#include <string.h>

#include "core/kit/units.h"
#include "core/lib/rows/rows.h"

#define CHANNELS 2
#define POLS 2
#define SECOND ((gint64)1000000000)
#define FIRST_DAY 60000
#define MOST 8

/* Stations are letters, and each has a number that all values follow from. */
typedef struct {
  const char *stations; /* "abc" */
  gint32 day;
  guint64 start_s, begin_s, step_s; /* of the observation on its day; of the first frame after it */
  guint frames;
  float least, largest; /* weights */
  double ut1_utc;       /* 0: no Earth orientation */

  double ra, hertz, moved, scale;
  gboolean is_circular, has_uvw;
} Spec;
static Spec specs[MOST];

typedef struct {
  const Spec *spec;
  AstroRowContents contents;
  AstroWeightRange range;
  double scale;
  guint32 full;
  guint next;
  gboolean is_other; /* of the kind `other`, whose functions only take readers of their own */
} Fake;

static double number_of(const char *name)
{
  return name[0] - 'a' + 1;
}

static AstroObservation *observe(const Spec *s)
{
  AstroObservation *o = astro_observation_new((guint)strlen(s->stations));
  for (guint i = 0; i < o->n_stations; i++) {
    g_free(o->names[i]);
    o->names[i] = g_strndup(&s->stations[i], 1);
    o->positions[3 * i] = 1000 * number_of(o->names[i]) + s->moved;
  }
  o->has_phase_centre = o->has_start = TRUE;
  o->phase_ra = 1 + s->ra;
  o->start_mjd = s->day;
  o->start_ns = s->start_s * (guint64)SECOND;
  o->uvw_metres = s->has_uvw ? 1000 : 0;
  o->done.scale = s->scale;
  g_free(o->basis);
  o->basis = g_strdup(s->is_circular ? "circular" : "linear");
  if (s->ut1_utc != 0) {
    const AstroEarthDay day = { 0.1, 0.2, s->ut1_utc };
    const AstroEarthDay days[4] = { day, day, day, day };
    o->earth = astro_earth_new("table", s->day - 1, days, 4, NULL);
  }
  return o;
}

static gpointer fake_open(const char *location, gconstpointer options, GError **error)
{
  const Spec *s = &specs[location[0] - '0'];
  Fake *f = g_new0(Fake, 1);
  AstroRowContents *c = &f->contents;
  f->spec = s;
  c->observation = observe(s);
  c->stations = c->observation->n_stations;
  c->stream = (AstroStream){
    .quantity = ASTRO_QUANTITY_VISIBILITIES,
    .format = ASTRO_FORMAT_CF32LE,
    .layout = { 4,
                { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
                { CHANNELS, (guint64)c->stations * (c->stations + 1) / 2, POLS, POLS } },
    .rate_n = 1,
    .rate_d = (gint)s->step_s,
    .frequency = 1e8 + s->hertz,
    .bandwidth = 2e6,
    .has_counts = TRUE,
  };
  c->begin_ns = s->begin_s * (guint64)SECOND;
  c->step_ns = s->step_s * (guint64)SECOND;
  c->duration_ns = c->begin_ns + s->frames * c->step_ns;
  f->range = (AstroWeightRange)ASTRO_WEIGHT_RANGE_EMPTY;
  astro_weight_range_add(&f->range, s->least);
  astro_weight_range_add(&f->range, s->largest);
  g_free(astro_weight_range_scale(&f->range, &f->scale, &f->full));
  return f;
}

static const AstroRowContents *fake_contents(gpointer reader)
{
  return &((Fake *)reader)->contents;
}

static const AstroWeightRange *fake_weights(gpointer reader)
{
  return &((Fake *)reader)->range;
}

static void fake_scale_weights(gpointer reader, double scale, guint32 full)
{
  Fake *f = reader;
  f->scale = scale;
  f->full = full;
}

/* V_ji is the conjugate of V_ij, and (u,v,w) have the opposite sign. */
static void value_of(const char *i, guint p, const char *j, guint q, guint channel, float value[2])
{
  const double one = 10 * number_of(i) + p, two = 10 * number_of(j) + q;
  value[0] = (float)(one + two + 1000 * channel);
  value[1] = (float)(one - two);
}

static gboolean fake_read(gpointer reader, AstroRowFrame *frame, gboolean *end, GError **error)
{
  Fake *f = reader;
  const AstroObservation *o = f->contents.observation;
  gsize at = 0;
  *end = f->next == f->spec->frames;
  if (*end)
    return FALSE;
  for (guint c = 0; c < CHANNELS; c++)
    for (guint i = 0; i < o->n_stations; i++)
      for (guint j = 0; j <= i; j++) {
        const guint baseline = i * (i + 1) / 2 + j;
        for (guint p = 0; p < POLS; p++)
          for (guint q = 0; q < POLS; q++, at++) {
            value_of(o->names[i], p, o->names[j], q, c, &frame->data[2 * at]);
            frame->counts[at] =
                astro_weight_count(p == q ? f->spec->largest : f->spec->least, f->scale);
          }
        for (guint k = 0; frame->uvw && k < 3; k++)
          frame->uvw[3 * baseline + k] =
              (k + 1) * (number_of(o->names[i]) - number_of(o->names[j]));
      }
  frame->full = f->full;
  frame->not_finite = 1;
  frame->duration_ns = f->contents.step_ns;
  frame->start_ns = (gint64)(f->contents.begin_ns + f->next * f->contents.step_ns);
  f->next++;
  return TRUE;
}

static void fake_close(gpointer reader)
{
  Fake *f = reader;
  astro_row_contents_clear(&f->contents);
  g_free(f);
}

static const AstroRowReaderKind fake = {
  .name = "fake",
  .open = fake_open,
  .contents = fake_contents,
  .weights = fake_weights,
  .scale_weights = fake_scale_weights,
  .read = fake_read,
  .close = fake_close,
};

static const Spec plain = { .stations = "abc",
                            .day = FIRST_DAY,
                            .start_s = 3600,
                            .step_s = 10,
                            .frames = 2,
                            .least = 5,
                            .largest = 20,
                            .ut1_utc = 0.1,
                            .scale = 1 };

static AstroRowFiles *open_files(const char *first, const char *second, GError **error)
{
  const char *const names[] = { first, second, NULL };
  return astro_row_files_open(&fake, names, NULL, error);
}

static AstroRowFiles *open_both(void)
{
  GError *error = NULL;
  AstroRowFiles *files = open_files("1", "0", &error);
  g_assert_no_error(error);
  return files;
}

/* ---- a second kind ---- */

static gpointer other_open(const char *location, gconstpointer options, GError **error)
{
  Fake *f = fake_open(location, options, error);
  g_assert_cmpstr(options, ==, "of the other kind");
  f->is_other = TRUE;
  return f;
}

static const AstroRowContents *other_contents(gpointer reader)
{
  g_assert_true(((Fake *)reader)->is_other);
  return fake_contents(reader);
}

static const AstroWeightRange *other_weights(gpointer reader)
{
  g_assert_true(((Fake *)reader)->is_other);
  return fake_weights(reader);
}

static void other_scale_weights(gpointer reader, double scale, guint32 full)
{
  g_assert_true(((Fake *)reader)->is_other);
  fake_scale_weights(reader, scale, full);
}

static gboolean other_read(gpointer reader, AstroRowFrame *frame, gboolean *end, GError **error)
{
  g_assert_true(((Fake *)reader)->is_other);
  return fake_read(reader, frame, end, error);
}

static void other_close(gpointer reader)
{
  g_assert_true(((Fake *)reader)->is_other);
  fake_close(reader);
}

static const AstroRowReaderKind other = {
  .name = "other",
  .open = other_open,
  .contents = other_contents,
  .weights = other_weights,
  .scale_weights = other_scale_weights,
  .read = other_read,
  .close = other_close,
};

/* ---- reading ---- */

typedef struct {
  AstroRowFrame frame;
  float data[2 * CHANNELS * 64 * POLS * POLS];
  guint32 counts[CHANNELS * 64 * POLS * POLS];
  double uvw[3 * 64];
} Read;

static gboolean read_next(AstroRowFiles *files, Read *read)
{
  GError *error = NULL;
  gboolean end;
  memset(read, 0x55, sizeof *read);
  read->frame = (AstroRowFrame){ .data = read->data, .counts = read->counts };
  if (astro_row_files_contents(files)->observation->uvw_metres > 0)
    read->frame.uvw = read->uvw;
  const gboolean done = astro_row_files_read(files, &read->frame, &end, &error);
  g_assert_no_error(error);
  g_assert_true(done != end);
  return done;
}

/* Pairs of the file's stations have what follows from the names, and others nothing. */
static void check_frame(const AstroRowFiles *files, const Read *read, const Spec *spec)
{
  const AstroObservation *o = astro_row_files_contents(files)->observation;
  gsize at = 0;
  for (guint c = 0; c < CHANNELS; c++)
    for (guint i = 0; i < o->n_stations; i++)
      for (guint j = 0; j <= i; j++) {
        const guint baseline = i * (i + 1) / 2 + j;
        const gboolean is_there =
            strchr(spec->stations, o->names[i][0]) && strchr(spec->stations, o->names[j][0]);
        for (guint p = 0; p < POLS; p++)
          for (guint q = 0; q < POLS; q++, at++) {
            float wanted[2] = { 0 };
            if (is_there)
              value_of(o->names[i], p, o->names[j], q, c, wanted);
            g_assert_cmpfloat(read->data[2 * at], ==, wanted[0]);
            g_assert_cmpfloat(read->data[2 * at + 1], ==, wanted[1]);
            g_assert_cmpuint(read->counts[at] > 0, ==, is_there);
          }
        for (guint k = 0; read->frame.uvw && k < 3; k++)
          g_assert_cmpfloat(read->uvw[3 * baseline + k], ==,
                            is_there ? (k + 1) * (number_of(o->names[i]) - number_of(o->names[j]))
                                     : 0);
      }
}

/* The files are named in the opposite order. */
static void test_order(void)
{
  Read read;
  specs[0] = specs[1] = plain;
  specs[1].day++;
  specs[1].start_s = 0;
  specs[1].begin_s = 30;
  g_autoptr(AstroRowFiles) files = open_both();
  const AstroRowContents *c = astro_row_files_contents(files);
  const gint64 later = (86400 - 3600) * SECOND;
  g_assert_cmpint(c->observation->start_mjd, ==, FIRST_DAY);
  g_assert_cmpuint(c->stations, ==, 3);
  g_assert_cmpuint(c->begin_ns, ==, 0);
  g_assert_cmpuint(c->duration_ns, ==, (guint64)(later + 50 * SECOND));
  static const gint64 starts[] = { 0, 10, 86400 - 3600 + 30, 86400 - 3600 + 40 };
  for (guint i = 0; i < 4; i++) {
    g_assert_true(read_next(files, &read));
    g_assert_cmpint(read.frame.start_ns, ==, starts[i] * SECOND);
    g_assert_cmpuint(read.frame.duration_ns, ==, (guint64)(10 * SECOND));
    g_assert_cmpuint(read.frame.not_finite, ==, 1);
    check_frame(files, &read, &plain);
  }
  g_assert_false(read_next(files, &read));
  g_assert_false(read_next(files, &read));
}

/* Stations get numbers as they come, so that "ac" of the second file are in the opposite order. */
static void test_stations(void)
{
  for (guint has_uvw = 0; has_uvw < 2; has_uvw++) {
    Read read;
    specs[0] = specs[1] = plain;
    specs[0].stations = "cad";
    specs[1].stations = "abce";
    specs[1].start_s += 20;
    specs[0].has_uvw = specs[1].has_uvw = has_uvw;
    g_autoptr(AstroRowFiles) files = open_both();
    const AstroRowContents *c = astro_row_files_contents(files);
    g_autofree char *names = g_strjoinv("", c->observation->names);
    g_assert_cmpstr(names, ==, "cadbe");
    g_assert_cmpuint(c->stations, ==, 5);
    g_assert_cmpuint(astro_stream_extent(&c->stream, ASTRO_AXIS_BASELINE), ==, 15);
    g_assert_cmpfloat(c->observation->positions[3 * 3], ==, 2000);
    for (guint i = 0; i < 4; i++) {
      g_assert_true(read_next(files, &read));
      check_frame(files, &read, &specs[i / 2]);
    }
    g_assert_false(read_next(files, &read));
  }
}

/* A station that has been moved has other (u,v,w): it is another one. */
static void test_moved(void)
{
  specs[0] = specs[1] = plain;
  specs[1].start_s += 20;
  specs[1].moved = 1e-3;
  g_autoptr(AstroRowFiles) files = open_both();
  g_assert_cmpuint(astro_row_files_contents(files)->stations, ==, 6);
  specs[1].moved = 1e-7;
  g_autoptr(AstroRowFiles) rounded = open_both();
  g_assert_cmpuint(astro_row_files_contents(rounded)->stations, ==, 3);
}

/* Alone, each file would have another factor from weights to counts. */
static void test_weights(void)
{
  static const float weights[][2] = { { 5, 20 }, { 0.5f, 0.25f } };
  Read read;
  specs[0] = specs[1] = plain;
  specs[1].start_s += 20;
  specs[1].least = weights[1][0];
  specs[1].largest = weights[1][1];
  g_autoptr(AstroRowFiles) files = open_both();
  for (guint i = 0; i < 4; i++) {
    g_assert_true(read_next(files, &read));
    g_assert_cmpuint(read.counts[0], ==, (guint32)(weights[i / 2][1] * 0x1p27f));
    g_assert_cmpuint(read.counts[1], ==, (guint32)(weights[i / 2][0] * 0x1p27f));
    g_assert_cmpuint(read.frame.full, ==, 20u << 27);
  }
}

/* Weights that seem to be in other units are used, with a warning. */
static void test_units(void)
{
  specs[0] = specs[1] = plain;
  specs[1].start_s += 20;
  for (guint i = 0; i < 2; i++) {
    specs[1].least = i ? 5e3f : 5e5f;
    specs[1].largest = i ? 1e4f : 1e6f;
    g_autoptr(AstroRowFiles) files = open_both();
    const char *note = astro_row_files_contents(files)->note;
    if (i)
      g_assert_cmpstr(note, ==, NULL);
    else
      g_assert_cmpstr(
          note, ==,
          "all files: weights of 0 go up to 20 and those of 1 up to 1e+06: they are used "
          "as if they were in one unit, so that the first hardly counts");
  }
}

/* Each file is read by the functions of its kind, and weights of all have one factor. */
static void test_kinds(void)
{
  static const AstroRowInput inputs[] = { { &other, "1", "of the other kind" },
                                          { &fake, "0", NULL } };
  GError *error = NULL;
  Read read;
  specs[0] = specs[1] = plain;
  specs[1].start_s += 20;
  specs[1].least = 0.25;
  specs[1].largest = 0.5;
  g_autoptr(AstroRowFiles) files = astro_row_files_open_inputs(inputs, 2, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < 4; i++) {
    g_assert_true(read_next(files, &read));
    g_assert_cmpuint(read.counts[0], ==, (guint32)((i < 2 ? 20 : 0.5f) * 0x1p27f));
    check_frame(files, &read, &specs[i / 2]);
  }
  g_assert_false(read_next(files, &read));
}

/* Where steps differ, the stream's is the longest. */
static void test_steps(void)
{
  specs[0] = specs[1] = plain;
  specs[1].start_s += 20;
  specs[1].step_s = 60;
  g_autoptr(AstroRowFiles) files = open_both();
  const AstroRowContents *c = astro_row_files_contents(files);
  g_assert_cmpuint(c->step_ns, ==, (guint64)(60 * SECOND));
  g_assert_cmpint(c->stream.rate_d, ==, 60);
}

/* ---- the Earth ---- */

/* Each file's own values hold at its time, and the stream's clock runs through a leap second. */
static void test_earth(void)
{
  AstroEarthDay now;
  Read read;
  specs[0] = specs[1] = plain;
  specs[1].day += 30;
  specs[1].ut1_utc = 0.11;
  g_autoptr(AstroRowFiles) files = open_both();
  const AstroEarth *earth = astro_row_files_contents(files)->observation->earth;
  g_assert_cmpuint(earth->n, ==, 34);
  astro_earth_at(earth, FIRST_DAY, 0, &now);
  g_assert_cmpfloat_with_epsilon(now.ut1_utc, 0.1, 1e-9);
  astro_earth_at(earth, FIRST_DAY + 30, 0, &now);
  g_assert_cmpfloat_with_epsilon(now.ut1_utc, 0.11, 1e-9);
  for (guint i = 0; i < 3; i++)
    g_assert_true(read_next(files, &read));
  g_assert_cmpint(read.frame.start_ns, ==, 30 * 86400 * SECOND);

  specs[1].ut1_utc = 1.09;
  g_autoptr(AstroRowFiles) leaping = open_both();
  for (guint i = 0; i < 3; i++)
    g_assert_true(read_next(leaping, &read));
  g_assert_cmpint(read.frame.start_ns, ==, (30 * 86400 + 1) * SECOND);
}

/* ---- what is refused ---- */

static void assert_refused(const char *says)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroRowFiles) files = open_files("0", "1", &error);
  g_assert_null(files);
  g_assert_error(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_FORMAT);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, says));
  specs[0] = specs[1] = plain;
  specs[1].start_s += 20;
}

static void test_refused(void)
{
  specs[0] = specs[1] = plain;
  assert_refused("0 ends at 2023-02-25T01:00:20Z, and 1 begins at 2023-02-25T01:00:00Z");
  specs[1].ra = 1e-6;
  assert_refused("the phase centres of 0 and 1 are 0.206 arcsec apart");
  specs[1].hertz = 1e4;
  assert_refused("0 has 2 channels of 1 MHz about 100 MHz, and 1 has 2 of 1 MHz about 100.01 MHz");
  specs[1].is_circular = TRUE;
  assert_refused("0 has 2 linear polarisations, and 1 2 circular");
  specs[1].scale = 0;
  assert_refused("0 and 1 differ in what was done to them");
  specs[1].has_uvw = TRUE;
  assert_refused("(u,v,w) of 1 are those of the file, and of 0 they are not");
  specs[1].ut1_utc = 0;
  assert_refused("0 has an Earth orientation (UT1 - UTC), and 1 has not");
  specs[1].ut1_utc = 0.2;
  assert_refused("the Earth orientations of the files contradict each other");
  specs[1].ut1_utc = 0.115;
  assert_refused("is 0.226 arcsec from that of the other files");
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/rows/files/order", test_order);
  g_test_add_func("/rows/files/stations", test_stations);
  g_test_add_func("/rows/files/moved", test_moved);
  g_test_add_func("/rows/files/weights", test_weights);
  g_test_add_func("/rows/files/units", test_units);
  g_test_add_func("/rows/files/kinds", test_kinds);
  g_test_add_func("/rows/files/steps", test_steps);
  g_test_add_func("/rows/files/earth", test_earth);
  g_test_add_func("/rows/files/refused", test_refused);
  return g_test_run();
}
