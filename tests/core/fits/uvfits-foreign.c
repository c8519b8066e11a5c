/* UVFITS of other programs is read, or refused with a reason. */
#include "tests/core/fits/foreign.h"

static const Foreign foreign_files[] = {
  { .name = "plain" },
  { .name = "one-date", .one_date = TRUE },
  { .name = "old-names", .old_names = TRUE },
  { .name = "underlined", .underlined = TRUE },
  { .name = "numbers-apart", .numbers_apart = TRUE },
  { .name = "frequency-first", .freq_before_stokes = TRUE, .channels = 5 },
  { .name = "frequency-pixel", .freq_pixel = 4.5, .channels = 3 },
  { .name = "frequency-falls", .freq_step = -1e6, .channels = 3 },
  { .name = "several-ifs", .ifs = 3 },
  { .name = "several-falling-ifs", .ifs = 3, .freq_step = -1e6 },
  { .name = "one-if-elsewhere", .if_first = 5e6 },
  { .name = "second-setup", .setup = 2, .if_first = 5e6 },
  { .name = "several-ifs-of-second-setup", .setup = 2, .if_first = 5e6, .ifs = 3 },
  { .name = "upper-sideband", .ifs = 2, .sideband = 1 },
  { .name = "lower-sideband-falls", .ifs = 2, .sideband = -1, .freq_step = -1e6 },
  { .name = "lower-sideband-rises",
    .ifs = 2,
    .sideband = -1,
    .notes = "IF 1 has SIDEBAND -1 and channels of 1e+06 Hz: frequencies are taken to rise" },
  { .name = "upper-sideband-falls",
    .ifs = 3,
    .band = "2-3",
    .sideband = 1,
    .freq_step = -1e6,
    .notes = "IF 2 has SIDEBAND 1 and channels of -1e+06 Hz: frequencies are taken to fall" },
  { .name = "other-if-left-out", .ifs = 3, .band = "1-2", .last_width = -1 },
  { .name = "linear", .first_stokes = -5 },
  { .name = "stokes-up", .first_stokes = -4, .stokes_step = 1 },
  { .name = "two-hands", .n_stokes = 2 },
  { .name = "one-hand", .n_stokes = 1, .first_stokes = -2 },
  { .name = "stokes-i", .n_stokes = 1, .first_stokes = 1 },
  { .name = "no-inttim", .no_inttim = TRUE },
  { .name = "inttim-in-days",
    .inttim = FOREIGN_STEP / 86400,
    .notes = "must be days: they are taken as 10 s" },
  { .name = "station-numbers-large", .number_step = 200 },
  { .name = "both-clocks", .timsys = "IAT", .timesys = "TAI" },
  { .name = "one-clock-empty", .timsys = "IAT", .timesys = "" },
  { .name = "subarray-not-said", .last_subarray = 1 },
  { .name = "no-weight", .no_weight = TRUE },
  { .name = "small-weights", .weight = 1e-4 },
  { .name = "whole-weight-first", .weight = 0.125, .whole_first = TRUE },
  { .name = "whole-weight-first-doubles", .weight = 0.125, .whole_first = TRUE, .bitpix = -64 },
  { .name = "heavier-later", .heavier = 100 },
  { .name = "missing-baseline", .skip = 2 },
  { .name = "by-baseline", .sorted_by_baseline = TRUE },
  { .name = "swapped", .swapped = TRUE },
  { .name = "station-numbers", .number_step = 7 },
  { .name = "station-numbers-fall", .number_step = -1, .numbers_apart = TRUE },
  { .name = "integers", .bitpix = 32, .scale = 1e6 },
  { .name = "doubles", .bitpix = -64 },
  { .name = "source-table", .sources = TRUE },
  { .name = "source-table-and-axes", .sources = TRUE, .other_axes = TRUE, .source_equinox = 2000 },
  { .name = "tai", .timsys = "IAT" },
  { .name = "left-handed", .hand = "LEFT" },
  { .name = "turned-to-meridian", .frame = "????" },
  { .name = "itrf", .frame = "ITRF" },
  { .name = "itrf-and-turned", .frame = "ITRF", .places = "turned" },
  { .name = "unknown-frame-not-turned", .frame = "????", .places = "straight" },
  { .name = "right-hand-told-left", .places = "left" },
  { .name = "left-hand-told-right", .hand = "LEFT", .places = "straight" },
  { .name = "in-wavelengths",
    .frame = "ITRF",
    .places = "turned",
    .uvw_unit = ASTRO_LIGHT_SPEED / 1e9 },
  { .name = "in-metres", .frame = "ITRF", .places = "turned", .uvw_unit = 1 },
  { .name = "turned-a-little", .places = "straight", .spread = 100, .uvw_turn = 3e-4 },
  { .name = "turned-files", .places = "straight", .uvw_turn = 0.1, .uvw = ASTRO_FITS_UVW_FILE },
  { .name = "turned-table", .places = "straight", .uvw_turn = 0.1, .uvw = ASTRO_FITS_UVW_TABLE },
  { .name = "mirrored-files", .places = "straight", .mirror = { -1 }, .uvw = ASTRO_FITS_UVW_FILE },
  { .name = "mirrored-table", .places = "straight", .mirror = { -1 }, .uvw = ASTRO_FITS_UVW_TABLE },
  { .name = "files-swapped", .places = "straight", .swapped = TRUE, .uvw = ASTRO_FITS_UVW_FILE },
  { .name = "files-from-station-2",
    .places = "straight",
    .uvw_unit = -1,
    .uvw = ASTRO_FITS_UVW_FILE },
  { .name = "files-by-baseline",
    .places = "straight",
    .sorted_by_baseline = TRUE,
    .uvw = ASTRO_FITS_UVW_FILE },
  { .name = "from-station-2", .places = "straight", .uvw_unit = -1 },
  { .name = "swapped-with-places", .swapped = TRUE, .frame = "ITRF", .places = "turned" },
  { .name = "second-array-first", .second_array_first = TRUE, .places = "straight" },
  { .name = "start-told", .date_obs = "2023-02-25T11:59:40" },
  { .name = "start-too-late", .date_obs = "2023-02-25T12:00:05" },
  { .name = "unknown-axis-of-one", .extra_axis = "SPIN", .extra_length = 1 },
  { .name = "nan", .nan = TRUE },
  { .name = "endless-weight", .endless_weight = TRUE },

  { .name = "unused-stations", .unused = 3 },
  { .name = "unused-stations-with-places", .unused = 1, .frame = "ITRF", .places = "turned" },
  { .name = "ut1", .timsys = "UT1", .ut1_utc = -0.25 },
  { .name = "broken-epoch", .equinox = 2291.34, .ignore_epoch = TRUE },
  { .name = "band-after-gap", .ifs = 3, .if_gap = 5e5, .band = "2" },
  { .name = "bands-that-adjoin", .ifs = 3, .band = "2-3" },

  { .name = "homeless-station", .homeless = 2, .expect = "station \"ST1\" (row 2) is at inf m" },
  { .name = "ut1-not-told", .timsys = "UT1", .expect = "IAT, TAI or UT1 with their offset" },
  { .name = "epoch-not-ignored", .equinox = 2291.34, .expect = "ignore-epoch=true" },
  { .name = "band-not-there",
    .ifs = 2,
    .band = "3",
    .expect = "band=3, expected one of its 2 IFs" },
  { .name = "bands-turned", .ifs = 2, .band = "2-1", .expect = "band=2-1" },
  { .name = "bands-with-gap", .ifs = 3, .if_gap = 5e5, .band = "2-3", .expect = "IF 3 begins" },
  { .name = "unknown-axis", .extra_axis = "SPIN", .extra_length = 2, .expect = "\"SPIN\" with 2" },
  { .name = "axis-twice", .extra_axis = "IF", .extra_length = 1, .expect = "a second axis" },
  { .name = "gap-between-ifs", .ifs = 2, .if_gap = 5e5, .expect = "IF 2" },
  { .name = "turned-if",
    .ifs = 2,
    .last_width = -1,
    .expect = "IF 2 has channels of -1e+06 Hz, expected 1e+06 Hz" },
  { .name = "wider-if",
    .ifs = 3,
    .last_width = 1.5,
    .expect = "IF 3 has channels of 1.5e+06 Hz, expected 1e+06 Hz" },
  { .name = "no-if-table", .ifs = 2, .no_fq = TRUE, .expect = "AIPS FQ" },
  { .name = "stokes-iquv", .first_stokes = 1, .stokes_step = 1, .expect = "STOKES" },
  { .name = "cut-groups", .cut = 1, .expect = "cut short" },
  { .name = "cut-stations", .cut = 2880, .expect = "AIPS AN" },
  { .name = "no-stations", .no_an = TRUE, .expect = "AIPS AN" },
  { .name = "unknown-station", .bad_number = 9, .expect = "group 6 has station 9" },
  { .name = "subarray", .subarray = 2, .expect = "subarray 2" },
  { .name = "subarray-apart", .subarray = 2, .numbers_apart = TRUE, .expect = "subarray 2" },
  { .name = "subarray-beside-baseline",
    .last_subarray = 2,
    .expect = "group 6 belongs to subarray 2" },
  { .name = "subarray-too-large-to-tell",
    .number_step = 200,
    .second_array_first = TRUE,
    .expect = "BASELINE of 479634, too large to tell" },
  { .name = "array-twice", .array_twice = TRUE, .expect = "two tables AIPS AN are for array 1" },
  { .name = "clocks-differ",
    .timsys = "UTC",
    .timesys = "TAI",
    .expect = "\"TAI\" in TIMESYS but \"UTC\" in TIMSYS" },
  { .name = "clocks-differ-otherwise",
    .timsys = "IAT",
    .timesys = "UTC",
    .expect = "\"UTC\" in TIMESYS but \"IAT\" in TIMSYS" },
  { .name = "twice", .repeat = TRUE, .expect = "second one for stations 1 and 3" },
  { .name = "two-sources", .sources = TRUE, .source_changes = TRUE, .expect = "SOURCE" },
  { .name = "unknown-setup", .setup = 9, .expect = "FREQSEL 9" },
  { .name = "b1950-source", .sources = TRUE, .source_equinox = 1950, .expect = "1950" },
  { .name = "b1950", .equinox = 1950, .expect = "1950" },
  { .name = "turned-by-minutes",
    .spread = 100,
    .places = "straight",
    .uvw_turn = 8e-4,
    .expect = "the edge of a picture of 512 beams" },
  { .name = "turned-by-degrees",
    .spread = 100,
    .places = "straight",
    .uvw_turn = 0.14,
    .expect = "uvw=file takes" },
  { .name = "stretched",
    .spread = 100,
    .places = "straight",
    .uvw_unit = 0.3,
    .expect = "would move by" },
  { .name = "u-mirrored",
    .spread = 100,
    .places = "straight",
    .mirror = { -1 },
    .expect = "u has the opposite sign" },
  { .name = "v-mirrored",
    .spread = 100,
    .places = "straight",
    .mirror = { 0, -1 },
    .expect = "v has the opposite sign" },
  { .name = "w-mirrored",
    .spread = 100,
    .places = "straight",
    .mirror = { 0, 0, -1 },
    .expect = "w has the opposite sign" },
  { .name = "files-not-there",
    .uvw = ASTRO_FITS_UVW_FILE,
    .expect = "longest (u,v,w) of all groups" },
  { .name = "odd-clock", .timsys = "LST", .expect = "LST" },
};

#define FOREIGN_UVW_BYTES (FOREIGN_STATIONS * (FOREIGN_STATIONS + 1) / 2 * 3 * sizeof(double))

static const Foreign foreign_usual = { .channels = 2, .ifs = 1, .n_stokes = 4, .freq_step = 1e6 };

/* The IFs that are read: bands are "N" or "N-M" in these tests. */
static guint foreign_first_if(const Foreign *o)
{
  return o->band ? (guint)(o->band[0] - '1') : 0;
}

static guint foreign_ifs(const Foreign *o)
{
  if (o->band && o->band[1])
    return (guint)(o->band[2] - o->band[0]) + 1;
  return o->band ? 1 : MAX(o->ifs, 1);
}

/* The station that has this index in the file's table; numbers rise or fall with it. */
static void check_foreign_contents(const Foreign *o, const AstroFitsContents *c)
{
  const guint per_if = o->channels ? o->channels : foreign_usual.channels;
  guint channels = per_if * foreign_ifs(o);
  double step = o->freq_step ? o->freq_step : foreign_usual.freq_step;
  const double first_if = foreign_first_if(o) * (per_if * step + o->if_gap);
  const double *p = c->observation->positions;

  g_assert_cmpuint(c->stations, ==, FOREIGN_STATIONS);
  g_assert_cmpuint(astro_stream_extent(&c->stream, ASTRO_AXIS_CHANNEL), ==, channels);
  g_assert_cmpuint(astro_stream_extent(&c->stream, ASTRO_AXIS_POL), ==, o->n_stokes == 1 ? 1 : 2);
  g_assert_cmpfloat_with_epsilon(c->stream.bandwidth, fabs(step) * channels, 1e-3);
  g_assert_cmpfloat_with_epsilon(c->stream.frequency,
                                 1e9 + o->if_first + first_if + (channels - 1) * 0.5 * step, 1e-3);
  g_assert_cmpstr(c->observation->basis, ==,
                  o->first_stokes == -5  ? "linear"
                  : o->first_stokes == 1 ? "stokes"
                                         : "circular");
  g_assert_cmpstr(c->observation->telescope, ==, "OTHER");
  g_assert_cmpstr(c->observation->names[1], ==, "ST1");
  g_assert_cmpfloat_with_epsilon(c->observation->phase_ra, (o->sources ? 41 : 123) * G_PI / 180,
                                 1e-12);
  g_assert_cmpfloat_with_epsilon(c->observation->phase_dec, (o->sources ? 29 : 0) * G_PI / 180,
                                 1e-12);

  /* Places by the groups' (u,v,w), else by the keywords. */
  gboolean told = o->places != NULL;
  double place[3];
  foreign_place(o, 1,
                g_str_equal(told       ? o->places
                            : o->frame ? o->frame
                                       : "",
                            told ? "turned" : "????"),
                g_str_equal(told      ? o->places
                            : o->hand ? o->hand
                                      : "",
                            told ? "left" : "LEFT"),
                place);
  for (guint k = 0; k < 3; k++)
    g_assert_cmpfloat_with_epsilon(p[3 + k], place[k], 1e-6);
  const gboolean renamed = o->first_stokes == -2;
  g_assert_true((c->note != NULL) == (renamed || o->notes));
  g_assert_true((c->observation->uvw_metres > 0) == (o->uvw == ASTRO_FITS_UVW_FILE));
  if (o->notes)
    test_says(c->note, o->notes);
  if (renamed)
    test_says(c->note, "are LL");

  /* At MJD 60000 (2023-02-25) 12:00:00. */
  g_assert_cmpint(c->observation->start_mjd, ==, 60000);
  double begin = 43200;
  if (g_strcmp0(o->timsys, "IAT") == 0)
    begin -= 37;
  if (g_strcmp0(o->timsys, "UT1") == 0)
    begin -= o->ut1_utc;
  if (o->date_obs && g_str_has_suffix(o->date_obs, "40"))
    begin -= 20;
  g_assert_cmpfloat_with_epsilon(c->observation->start_ns * 1e-9, begin,
                                 o->bitpix == 32 ? 0.1 : 0.005);
}

static void check_foreign_value(const Foreign *o, const AstroFitsFrame *frame, guint time, guint i,
                                guint j, guint c, guint channels)
{
  guint n_stokes = o->n_stokes ? o->n_stokes : 4, pols = n_stokes == 1 ? 1 : 2,
        baseline = i * (i + 1) / 2 + j, pair = j == 1 ? 2 : i - 1;
  for (guint s = 0; s < 4; s++) { /* RR LL RL LR of (j, i) are RR LL LR RL of ours, conjugated */
    static const guint ours[2][4] = { { 0, 3, 2, 1 }, { 0, 3, 1, 2 } };
    if (pols == 1 && s > 0)
      break;
    guint at = (c * 6 + baseline) * pols * pols + ours[o->swapped][s];
    const float *found = (const float *)frame->data + 2 * at;
    guint in_file = o->stokes_step > 0 ? 3 - s : s;
    guint file_channel =
        (o->freq_step < 0 ? channels - 1 - c : c) + foreign_first_if(o) * foreign_usual.channels;
    float expected[2];
    gboolean there = in_file < n_stokes && i != j &&
                     !(o->skip && o->skip - 1 == time * FOREIGN_STATIONS + pair) &&
                     !(pair == 1 && file_channel == 1 && !o->weight && !o->no_weight) &&
                     !((o->nan || o->endless_weight) && time == 1 && pair == 2 &&
                       file_channel == 0 && in_file == 0);
    foreign_value(pair, time, file_channel, in_file, expected);
    guint32 weight = o->no_weight ? 1 : (10 + pair) * (time && o->heavier ? o->heavier : 1);
    if (!there) {
      g_assert_cmpuint(frame->counts[at], ==, 0);
      g_assert_cmpfloat(found[0], ==, 0);
      continue;
    }
    /* Weights relative to the largest are those of the file, to the last digit. */
    double largest = o->whole_first ? 1 : (float)(3 * o->weight),
           fraction =
               o->whole_first && time == 0 && pair == 0 ? 1 : (float)(o->weight * (pair + 1));
    if (o->weight)
      g_assert_cmpfloat(frame->counts[at] * largest, ==, fraction * frame->full);
    else
      g_assert_cmpuint(frame->counts[at], ==, weight);
    double epsilon = o->scale ? 1e-3 : 1e-9;
    g_assert_cmpfloat_with_epsilon(found[0], expected[0], epsilon);
    /* From station 2 to 1, (u,v,w) are those of the conjugate. */
    gboolean ours_is_theirs = o->swapped != (o->uvw_unit < 0 && o->uvw != ASTRO_FITS_UVW_FILE);
    g_assert_cmpfloat_with_epsilon(found[1], ours_is_theirs ? expected[1] : -expected[1], epsilon);
  }
}

/* The file says that its values are those of (u,v,w) from a group's first station to its second;
 * ours are those of (u,v,w) from i to j. */
static void check_uvw(const Foreign *o, const AstroFitsFrame *frame, guint time, guint i, guint j)
{
  const double *found = &frame->uvw[3 * (i * (i + 1) / 2 + j)],
               days = (43200 + (time + 0.5) * FOREIGN_STEP) / 86400,
               unit = o->uvw_unit ? fabs(o->uvw_unit) : ASTRO_LIGHT_SPEED;
  float uvw[3] = { 0 };
  if (i != j)
    foreign_uvw(o, o->swapped ? i : j, o->swapped ? j : i, days, uvw);
  for (guint k = 0; k < 3; k++)
    g_assert_cmpfloat(found[k], ==, (o->swapped ? 1 : -1) * unit * uvw[k]);
}

static void foreign(TestPlace *place, gconstpointer data)
{
  const Foreign *o = data;
  g_autoptr(GError) error = NULL;
  AstroFitsFrame frame = { 0 };
  gboolean end = FALSE;
  guint time = 0, full = 0;

  const AstroFitsOptions options = { .uvw = o->uvw,
                                     .band = o->band,
                                     .ignore_epoch = o->ignore_epoch };
  foreign_write(place->path, o);
  AstroFitsReader *reader = astro_fits_reader_open(place->path, &options, &error);
  if (reader) {
    const AstroFitsContents *c = astro_fits_reader_contents(reader);
    guint channels = astro_stream_extent(&c->stream, ASTRO_AXIS_CHANNEL);
    gsize bytes = astro_stream_step_bytes(&c->stream), n = test_visibility_samples(c);
    double lead = o->date_obs && g_str_has_suffix(o->date_obs, "40") ? 20 : 0;
    if (!o->expect)
      check_foreign_contents(o, c);
    g_assert_true(!c->note || g_str_has_prefix(c->note, place->path));
    frame.data = test_alloc(bytes);
    frame.counts = test_alloc(4 * n);
    frame.uvw = test_alloc(FOREIGN_UVW_BYTES);
    for (; astro_fits_reader_read(reader, &frame, &end, &error); time++) {
      if (o->expect)
        continue;
      double slack = o->bitpix == 32 ? 0.2 : 0.01;
      g_assert_cmpfloat_with_epsilon(frame.start_ns * 1e-9, lead + time * FOREIGN_STEP, slack);
      g_assert_cmpfloat_with_epsilon(frame.duration_ns * 1e-9, FOREIGN_STEP, slack);
      /* Relative weights can be compared between frames. */
      full = time ? full : frame.full;
      g_assert_cmpuint(frame.full, ==, full);
      for (guint i = 0; i < FOREIGN_STATIONS; i++)
        for (guint j = 0; j <= i; j++) {
          for (guint k = 0; k < channels; k++)
            check_foreign_value(o, &frame, time, i, j, k, channels);
          if (o->uvw == ASTRO_FITS_UVW_FILE)
            check_uvw(o, &frame, time, i, j);
        }
    }
    test_check_guard(frame.data, bytes);
    test_check_guard(frame.counts, 4 * n);
    test_free(frame.data);
    test_free(frame.counts);
    test_check_guard(frame.uvw, FOREIGN_UVW_BYTES);
    test_free(frame.uvw);
    astro_fits_reader_close(reader);
  }
  if (o->expect) {
    g_assert_nonnull(error);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, place->path));
    g_assert_nonnull(strstr(error->message, o->expect));
  } else {
    g_assert_no_error(error);
    g_assert_true(end);
    g_assert_cmpuint(time, ==, FOREIGN_TIMES);
  }
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(foreign_files); i++) {
    g_autofree char *path = g_strconcat("/uvfits/foreign/", foreign_files[i].name, NULL);
    g_test_add(path, TestPlace, &foreign_files[i], test_place_set_up, foreign,
               test_place_tear_down);
  }
  int result = g_test_run();
  gst_deinit();
  return result;
}
