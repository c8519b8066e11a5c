/**
 * SECTION:element-astrofitssrc
 *
 * Reads FITS files as streams. The file decides what kind of stream it is.
 *
 * UVFITS gives one integration a buffer. Writers differ in the coordinate frame of the stations'
 * positions, so the frame is taken that fits the file's own (u,v,w) best, and (u,v,w) are then
 * computed from the positions. location may name several UVFITS files, separated by commas or by a
 * pattern: they make one stream in order of time. They need one phase centre, band and basis, and
 * times that do not overlap; their stations may differ. If the file's own would make another
 * picture (a source 256 beams from the phase centre moves by more than a tenth of a beam), the file
 * is refused, unless uvw says which to believe: the file's own (u,v,w), which then go with the
 * buffers to astrogridder or astrofitssink, or those of the table of stations. Values that are NaN
 * or infinite count as flagged; a warning at the end gives their number. UT1 - UTC and polar motion
 * are those recorded in files written by astrofitssink; for other files UT1UTC of the table AIPS
 * AN, or an IERS file (earth-orientation).
 *
 * Rows of the table of stations that are broken (no place, a number twice) do not matter where no
 * group uses them. IFs with gaps between them are read by band, one or some at a time, and a phase
 * centre with a wrong EPOCH by ignore-epoch.
 *
 * Images and cubes come one a buffer, with their beam and CLEAN's border. The extensions that
 * astrofitssink adds to an image (MODEL, RESIDUAL, PSF) come with it as products. An image in
 * coordinates other than RA---SIN and DEC--SIN with north up is read without its position on the
 * sky, with a warning. One channel gives layout pol:y:x, more give channel:pol:y:x.
 *
 * Catalogues are FITS tables (binary or ASCII), HDF5 or text, with positions in degrees or, in
 * text, as 13:31:08.3 and +30:30:33. Columns in HDF5 are datasets of one length in a group, or the
 * members of a dataset of records; only those that are asked for are read, and an attribute units
 * or unit may say rad. If several groups have them, a column says which, as GROUP/RA. They come one
 * a buffer, from all files that match location as a pattern, and each counts as one second of the
 * stream. In a text file a repeated heading line begins another catalogue, which is how
 * astrofitssink writes several. Distances, for pairs in space, come from distance-column, or from
 * redshift-column in a flat universe: then in Mpc/h, for any h.
 *
 * PSRFITS in search mode gives detected power, time:pol:channel with rising channels; a file with
 * IBEAM has an axis of beams too. Samples are scaled by DAT_SCL, DAT_OFFS and ZERO_OFF. DAT_WTS
 * becomes the counts of good samples, and what is missing between rows (OFFS_SUB) a gap in OFFSET.
 * V, and the imaginary part of AABBCRCI, are turned from the pulsar astronomers' sign to the IAU's.
 * All files that match location as a pattern are one stream, in the order of their names, with gaps
 * where their starts leave some.
 *
 * A file of blocks (grids, histograms, spectra, power, profiles, voltages) gives the buffers that
 * astrofitssink got.
 *
 * Files packed by gzip are unpacked into the folder of temporary files (TMPDIR). For a Measurement
 * Set, uvh5, a recording or another known kind of file that cannot be read, the error says what it
 * is, and what reads it, or how to convert it to one that can be read.
 *
 * |[
 * gst-launch-1.0 astrofitssrc location=sky.uvfits ! astrogridder size=512 cell=10 ! astrofft ! \
 *   astroimage ! astrofitssink location=sky.fits
 * gst-launch-1.0 astrofitssrc location=survey.h5 ra-column=galaxies/RA dec-column=galaxies/DEC \
 *   where="Z>0.4" ! astrofitssink location=galaxies.fits
 * ]|
 */
#include "elements/astrofitssrc.h"
#include "core/fits/fits.h"
#include "core/fits/open.h"
#include "core/lib/catalogue/columns.h"
#include "core/lib/catalogue/distance.h"
#include "core/lib/files/inputs.h"
#include "core/memory/memory.h"
#include "core/memory/pool.h"
#include "core/lib/sky/earth-file.h"
#include "core/stream/absent.h"
#include "core/stream/uvw-meta.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astrostamps.h"
#include "elements/base/astrostage.h"

#include <glob.h>
#include <math.h>
#include <string.h>

typedef struct {
  char *location;
  char *ra_column, *dec_column, *weight_column, *region_column, *where;
  char *distance_column, *redshift_column, *k_column, *g1_column, *g2_column;
  char *bitweight_columns;
  double omega_m;
  AstroFitsUvw uvw;
  char *earth_orientation;
  char *band;
  gboolean ignore_epoch;
} Settings;

struct _AstroFitsSrc {
  AstroFileSrc parent;
  Settings settings;
  Settings now; /* copies of the properties, from start to stop */

  GPtrArray *files; /* names; from start to stop */
  guint next_file;  /* the one after reader's */
  GstCaps *wanted;  /* what downstream accepts, asked when the first file is opened */
  AstroFitsReader *reader;
  guint64 frames;     /* sent; under the object's lock, like reader: queries ask for both */
  guint64 not_finite; /* number of NaN or infinite visibilities in them */
  AstroStamps stamps;

  /* Files may continue the first: its caps and observation (NULL: it is another kind), and how
   * many steps later this one begins. */
  GstCaps *first_caps;
  AstroObservation *first_observation;
  guint64 shift;
  guint64 next; /* the step after the last one of these files */
};

G_DEFINE_TYPE(AstroFitsSrc, astro_fits_src, ASTRO_TYPE_FILE_SRC)
GST_ELEMENT_REGISTER_DEFINE(astrofitssrc, "astrofitssrc", GST_RANK_NONE, ASTRO_TYPE_FITS_SRC)

static const AstroField fields[] = {
  ASTRO_TEXT(Settings, location, "location", "File name",
             "Path of the file to read, or of several, separated by commas or by a pattern: "
             "catalogues, PSRFITS in the order of their names, or UVFITS in the order of time",
             NULL),
  ASTRO_TEXT(Settings, ra_column, "ra-column", "Right ascension column",
             "For a catalogue: name, in any case, or number from 1; in HDF5 also GROUP/NAME", "RA"),
  ASTRO_TEXT(Settings, dec_column, "dec-column", "Declination column",
             "For a catalogue: name, in any case, or number from 1", "DEC"),
  ASTRO_TEXT(Settings, weight_column, "weight-column", "Weight column",
             "For a catalogue: name or number from 1; NULL or empty: none", NULL),
  ASTRO_TEXT(Settings, region_column, "region-column", "Region column",
             "For a catalogue, whole numbers from 0: name or number from 1; NULL or empty: none",
             NULL),
  ASTRO_TEXT(Settings, distance_column, "distance-column", "Distance column",
             "For a catalogue, comoving distances in any unit, which bins then have too: name or "
             "number from 1; NULL or empty: none",
             NULL),
  ASTRO_TEXT(Settings, redshift_column, "redshift-column", "Redshift column",
             "For a catalogue, redshifts that become comoving distances in Mpc/h, by omega-m: name "
             "or number from 1; NULL or empty: none",
             NULL),
  ASTRO_DOUBLE(Settings, omega_m, "omega-m", "Matter density",
               "Matter in units of the critical density, in a flat universe with a cosmological "
               "constant, for distances from redshifts; -1: unset",
               -1, 1, -1),
  ASTRO_TEXT(Settings, k_column, "k-column", "Column of a scalar",
             "For a catalogue, name or number from 1 of the column of a scalar, such as the "
             "convergence, for fields of "
             "astrohistogram; NULL or empty: none",
             NULL),
  ASTRO_TEXT(Settings, g1_column, "g1-column", "Column of shear g1",
             "For a catalogue, name or number from 1 of the column of the shear stretched from "
             "east to west; NULL or empty: none",
             NULL),
  ASTRO_TEXT(Settings, bitweight_columns, "bitweight-columns", "Columns of bits",
             "For a catalogue, names or numbers from 1 of the columns of integers of 64 bits, one "
             "bit for each "
             "realisation that selects a point, separated by commas, for pair weights of "
             "astrohistogram; NULL or empty: none",
             NULL),
  ASTRO_TEXT(Settings, g2_column, "g2-column", "Column of shear g2",
             "For a catalogue, name or number from 1 of the column of the shear stretched from "
             "north-west to south-east; NULL or empty: none",
             NULL),
  ASTRO_TEXT(Settings, where, "where", "Rows",
             "Which rows of a table or text are read, by a CFITSIO row filter: MAG < 20 && "
             "FLAG == 0 (unnamed columns of text are col1, col2, ...); NULL or empty: all",
             NULL),
  ASTRO_TEXT(Settings, earth_orientation, "earth-orientation", "Earth orientation",
             ASTRO_EARTH_HELP " of a UVFITS file (unset: the file's own)", NULL),
  ASTRO_ENUM(
      Settings, uvw, "uvw", "Source of (u,v,w)",
      "For visibilities: which (u,v,w) to use if a file's own differ from those of its stations",
      astro_fits_uvw_get_type, ASTRO_FITS_UVW_AUTO),
  ASTRO_TEXT(Settings, band, "band", "Band",
             "Of UVFITS with several IFs: the number of one, from 1, or a range N-M of such that "
             "adjoin (unset: all, which have to adjoin)",
             NULL),
  ASTRO_BOOLEAN(Settings, ignore_epoch, "ignore-epoch", "Ignore EPOCH",
                "Take the phase centre of UVFITS as of J2000, whatever EPOCH or EQUINOX the file "
                "has: some programs write the date of observation",
                FALSE),
  { 0 },
};

static void forget_files(AstroFitsSrc *self)
{
  GST_OBJECT_LOCK(self);
  g_clear_pointer(&self->reader, astro_fits_reader_close);
  GST_OBJECT_UNLOCK(self);
  g_clear_pointer(&self->files, g_ptr_array_unref);
  gst_clear_caps(&self->wanted);
  gst_clear_caps(&self->first_caps);
  g_clear_pointer(&self->first_observation, astro_observation_unref);
}

static gboolean is_catalogue(const AstroFitsReader *reader)
{
  return astro_fits_reader_contents(reader)->stream.quantity == ASTRO_QUANTITY_CATALOGUE;
}

static gboolean has_counts(const AstroFitsReader *reader)
{
  return astro_fits_reader_contents(reader)->stream.quantity == ASTRO_QUANTITY_VISIBILITIES;
}

static gboolean brings_uvw(const AstroFitsReader *reader)
{
  const AstroObservation *observation = astro_fits_reader_contents(reader)->observation;
  return observation && observation->uvw_metres > 0;
}

static guint64 n_baselines(const AstroFitsReader *reader)
{
  return astro_stream_extent(&astro_fits_reader_contents(reader)->stream, ASTRO_AXIS_BASELINE);
}

static gboolean fail(AstroFitsSrc *self, const GError *error)
{
  if (g_error_matches(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP))
    return FALSE;
  if (g_error_matches(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN))
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", error->message), (NULL));
  else if (g_error_matches(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_READ))
    GST_ELEMENT_ERROR(self, RESOURCE, READ, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  return FALSE;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static gboolean find_list(AstroFitsSrc *self)
{
  g_autoptr(GError) error = NULL;
  self->files = astro_inputs_find(self->now.location, &error);
  if (!self->files)
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("%s", error->message), (NULL));
  return self->files != NULL;
}

/* A name with commas or pattern characters may also be that of an existing file. */
static gboolean find_files(AstroFitsSrc *self)
{
  glob_t found;
  if (strchr(self->now.location, ',') && !g_file_test(self->now.location, G_FILE_TEST_EXISTS))
    return find_list(self);
  self->files = g_ptr_array_new_with_free_func(g_free);
  if (!strpbrk(self->now.location, "*?[") || g_file_test(self->now.location, G_FILE_TEST_EXISTS)) {
    g_ptr_array_add(self->files, g_strdup(self->now.location));
    return TRUE;
  }
  if (glob(self->now.location, 0, NULL, &found) == 0) {
    for (gsize i = 0; i < found.gl_pathc; i++)
      g_ptr_array_add(self->files, g_strdup(found.gl_pathv[i]));
    globfree(&found);
  }
  g_ptr_array_sort(self->files, by_name);
  if (self->files->len)
    return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file matches %s.", self->now.location), (NULL));
  return FALSE;
}

static gboolean refuse_next(AstroFitsSrc *self, const char *name, const char *found,
                            const char *expected)
{
  GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s: found %s, expected %s", name, found, expected),
                    (NULL));
  return FALSE;
}

/* Turns the time between the starts of two observations into steps. FALSE: it is no whole number of
 * them, or less than 0. */
static gboolean find_shift(const AstroStream *stream, const AstroObservation *first,
                           const AstroObservation *next, guint64 *shift)
{
  const double days = (double)next->start_mjd - first->start_mjd;
  const double seconds = days * 86400 + ((double)next->start_ns - (double)first->start_ns) / 1e9;
  const double steps = seconds * stream->rate_n / stream->rate_d;
  *shift = steps > 0 ? (guint64)(steps + 0.5) : 0;
  return first->has_start == next->has_start && fabs(steps - (double)*shift) < 0.1;
}

/* Whether a file goes on with the stream of those before it. */
static gboolean check_continues(AstroFitsSrc *self, const char *name, AstroFitsReader *reader,
                                guint64 *shift)
{
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  const AstroObservation *first = self->first_observation, *next = contents->observation;
  g_autoptr(GstCaps) caps = astro_fits_contents_to_caps(contents);
  if (self->next_file == 0) {
    if (contents->continues) {
      self->first_caps = g_steal_pointer(&caps);
      self->first_observation = astro_observation_ref(contents->observation);
    }
    return TRUE;
  }
  if (!contents->continues && !self->first_caps)
    return TRUE;
  if (!self->first_caps || !gst_caps_is_equal(caps, self->first_caps)) {
    g_autofree char *found = gst_caps_to_string(caps);
    g_autofree char *expected = self->first_caps ? gst_caps_to_string(self->first_caps) : NULL;
    return refuse_next(self, name, found, expected ? expected : "a catalogue, as before");
  }
  if (strcmp(first->telescope, next->telescope) || first->phase_ra != next->phase_ra ||
      first->phase_dec != next->phase_dec)
    return refuse_next(self, name, "another telescope or direction than in the files before",
                       "the files of one observation");
  return find_shift(&contents->stream, first, next, shift) ||
         refuse_next(self, name, "a start that is no whole number of samples behind the first's",
                     "the files of one observation, in the order of their names");
}

/* Opens the next file. All files have to give the same columns, which the properties name. */
static gboolean open_next_file(AstroFitsSrc *self)
{
  g_autoptr(GError) error = NULL;
  const Settings *now = &self->now;
  AstroFitsOptions options = {
    .columns = { astro_field_given(now->ra_column), astro_field_given(now->dec_column),
                 astro_field_given(now->weight_column), astro_field_given(now->region_column),
                 .k = astro_field_given(now->k_column), .g1 = astro_field_given(now->g1_column),
                 .g2 = astro_field_given(now->g2_column) },
    .where = astro_field_given(now->where),
    .wanted = self->wanted,
    .uvw = now->uvw,
    .band = astro_field_given(now->band),
    .ignore_epoch = now->ignore_epoch,
    .earth_orientation = astro_field_given(now->earth_orientation),
    .has_counts = self->files->len > 1,
  };
  const char *name = self->files->pdata[self->next_file];
  if (!astro_catalogue_choose_bits(now->bitweight_columns, &options.columns, &error) ||
      !astro_catalogue_choose_distance(now->distance_column, now->redshift_column, now->omega_m,
                                       &options.columns, &error))
    return fail(self, error);
  guint n;
  g_autofree const char **names = g_new0(const char *, self->files->len + 1);
  for (guint i = self->next_file; i < self->files->len; i++)
    names[i - self->next_file] = self->files->pdata[i];
  AstroFitsReader *reader = astro_fits_reader_open_some(names, &n, &options, &error);
  if (!reader)
    return fail(self, error);
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  guint64 shift = 0;
  if (self->files->len > n && !is_catalogue(reader) && !contents->continues) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("%s: found %s among %u files, expected catalogues, PSRFITS or UVFITS: other "
                       "files are read one at a time",
                       name, astro_quantity_name(contents->stream.quantity), self->files->len),
                      (NULL));
    astro_fits_reader_close(reader);
    return FALSE;
  }
  if (!check_continues(self, name, reader, &shift)) {
    astro_fits_reader_close(reader);
    return FALSE;
  }
  self->next_file += n;
  GST_OBJECT_LOCK(self);
  g_clear_pointer(&self->reader, astro_fits_reader_close);
  self->reader = reader;
  self->shift = shift;
  GST_OBJECT_UNLOCK(self);
  if (astro_fits_reader_contents(reader)->note)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", astro_fits_reader_contents(reader)->note),
                        (NULL));
  return TRUE;
}

/* A missing file is reported at the start, as filesrc does. */
static gboolean check_first_file(AstroFitsSrc *self)
{
  g_autoptr(GError) error = NULL;
  return astro_fits_can_be_opened(self->files->pdata[0], &error) || fail(self, error);
}

static gboolean start(GstBaseSrc *src)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  if (!GST_BASE_SRC_CLASS(astro_fits_src_parent_class)->start(src))
    return FALSE;
  astro_fields_clear(fields, &self->now);
  astro_fields_copy(fields, self, &self->now, &self->settings, sizeof self->now);
  if (!self->now.location || !self->now.location[0]) {
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file name is given."),
                      ("property \"location\" is not set"));
    return FALSE;
  }
  self->frames = self->next_file = self->shift = self->next = 0;
  self->stamps = (AstroStamps){ 0 };
  self->not_finite = 0;
  if (find_files(self) && check_first_file(self))
    return TRUE;
  forget_files(self);
  return FALSE;
}

static gboolean stop(GstBaseSrc *src)
{
  forget_files(ASTRO_FITS_SRC(src));
  return TRUE;
}

static GstCaps *get_caps(GstBaseSrc *src, GstCaps *filter)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  GstCaps *caps;

  GST_OBJECT_LOCK(self);
  caps =
      self->reader ? astro_fits_contents_to_caps(astro_fits_reader_contents(self->reader)) : NULL;
  GST_OBJECT_UNLOCK(self);
  if (!caps)
    caps = gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(src));
  return astro_stage_filter_caps(caps, filter);
}

/* Caps come from the first file, so nothing is negotiated until it is open. */
static gboolean negotiate(GstBaseSrc *src)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  if (!self->reader)
    return TRUE;
  const AstroFitsContents *contents = astro_fits_reader_contents(self->reader);
  if (!GST_BASE_SRC_CLASS(astro_fits_src_parent_class)->negotiate(src)) {
    g_autoptr(GstCaps) made = astro_fits_contents_to_caps(contents);
    astro_refused_caps(GST_BASE_SRC_PAD(src), made, astro_quantity_name(contents->stream.quantity));
    return FALSE;
  }
  if (contents->observation)
    gst_pad_push_event(GST_BASE_SRC_PAD(src), astro_observation_to_event(contents->observation));
  return TRUE;
}

/* How much later the file begins than the first. */
static GstClockTime shift_ns(const AstroFitsSrc *self)
{
  const AstroStream *stream = &astro_fits_reader_contents(self->reader)->stream;
  return self->shift ? astro_stream_time(stream, self->shift) : 0;
}

static gboolean query(GstBaseSrc *src, GstQuery *query)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  GstFormat format;
  guint64 duration = 0;

  if (GST_QUERY_TYPE(query) != GST_QUERY_DURATION)
    return GST_BASE_SRC_CLASS(astro_fits_src_parent_class)->query(src, query);
  gst_query_parse_duration(query, &format, NULL);
  GST_OBJECT_LOCK(self);
  if (self->reader && is_catalogue(self->reader)) /* a file may hold several: known so far */
    duration = MAX(self->files->len, self->frames) * GST_SECOND;
  else if (self->reader)
    duration = astro_fits_reader_contents(self->reader)->duration_ns + shift_ns(self);
  GST_OBJECT_UNLOCK(self);
  if (format != GST_FORMAT_TIME || duration == 0)
    return FALSE;
  gst_query_set_duration(query, format, duration);
  return TRUE;
}

/* Pools have blocks of one size, counted in 32 bits. Catalogues and blocks of a stream are of any
 * size, and a frame may be larger: these are allocated one by one. */
static gboolean fits_pool(const AstroFitsReader *reader)
{
  const AstroStream *stream = &astro_fits_reader_contents(reader)->stream;
  return !is_catalogue(reader) && !astro_fits_reader_contents(reader)->is_blocks &&
         astro_stream_step_bytes(stream) <= G_MAXUINT;
}

/* Uses the pool that downstream offers, whose memory it reads fastest, or else one of ours. */
static gboolean decide_allocation(GstBaseSrc *src, GstQuery *query)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  guint offered = 0, min = 0, max = 0;
  g_autoptr(GstBufferPool) pool = NULL;

  if (!self->reader || !fits_pool(self->reader)) {
    while (gst_query_get_n_allocation_pools(query) > 0)
      gst_query_remove_nth_allocation_pool(query, 0);
    return TRUE;
  }
  const AstroStream *stream = &astro_fits_reader_contents(self->reader)->stream;
  const guint bytes = (guint)astro_stream_step_bytes(stream);
  if (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &offered, &min, &max);
    gst_query_set_nth_allocation_pool(query, 0, pool, MAX(bytes, offered), min, max);
  } else {
    pool = astro_buffer_pool_new(NULL);
    gst_query_add_allocation_pool(query, pool, bytes, ASTRO_POOL_DEPTH, 0);
  }
  return GST_BASE_SRC_CLASS(astro_fits_src_parent_class)->decide_allocation(src, query);
}

static GstFlowReturn new_buffer(AstroFitsSrc *self, gsize bytes, GstBuffer **buffer)
{
  g_autoptr(GstBufferPool) pool = gst_base_src_get_buffer_pool(GST_BASE_SRC(self));
  *buffer = NULL;
  if (pool && fits_pool(self->reader)) {
    GstFlowReturn flow = gst_buffer_pool_acquire_buffer(pool, buffer, NULL);
    if (*buffer)
      gst_buffer_set_size(*buffer, bytes);
    return flow;
  }
  *buffer = astro_buffer_new(bytes, NULL);
  return *buffer ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/* Finds the next frame, in the next file where this one has no more. */
static GstFlowReturn find_frame(AstroFitsSrc *self, guint64 *steps)
{
  for (;;) {
    g_autoptr(GError) error = NULL;
    gboolean end;
    if (astro_fits_reader_next(self->reader, steps, &end, &error))
      return GST_FLOW_OK;
    if (!end) {
      fail(self, error);
      return GST_FLOW_ERROR;
    }
    if (self->next_file == self->files->len)
      return GST_FLOW_EOS;
    if (!open_next_file(self))
      return GST_FLOW_ERROR;
  }
}

static GstFlowReturn end_visibilities(AstroFitsSrc *self)
{
  if (self->not_finite)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: NaN or infinite values were passed on as flagged: %" G_GUINT64_FORMAT,
                         self->now.location, self->not_finite),
                        (NULL));
  self->not_finite = 0;
  return GST_FLOW_EOS;
}

/* Allocates and maps a frame; *validity is set for visibilities only. */
static GstFlowReturn new_frame(AstroFitsSrc *self, guint64 steps, GstBuffer **buffer,
                               GstMapInfo *map, AstroValidityMeta **validity)
{
  const AstroStream *stream = &astro_fits_reader_contents(self->reader)->stream;
  gsize bytes = steps * astro_stream_step_bytes(stream);
  GstFlowReturn flow = new_buffer(self, bytes, buffer);
  AstroLayout shape;
  if (flow == GST_FLOW_FLUSHING)
    return flow;
  if (!*buffer || !gst_buffer_map(*buffer, map, GST_MAP_WRITE)) {
    gst_clear_buffer(buffer);
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                      ("%s: a block of %" G_GSIZE_FORMAT " bytes does not fit in memory",
                       self->now.location, bytes),
                      (NULL));
    return GST_FLOW_ERROR;
  }
  astro_stream_shape(stream, steps, &shape);
  *validity = has_counts(self->reader) ? astro_buffer_add_validity(*buffer, &shape, 0) : NULL;
  return GST_FLOW_OK;
}

static void stamp_frame(AstroFitsSrc *self, GstBuffer *buffer, AstroFitsFrame *frame)
{
  if (is_catalogue(self->reader)) {
    frame->start_ns = self->frames * GST_SECOND;
    frame->duration_ns = GST_SECOND;
  }
  astro_stamps_put(&self->stamps, buffer, frame->start_ns, frame->duration_ns,
                   astro_fits_reader_contents(self->reader)->step_ns);
  GST_OBJECT_LOCK(self);
  self->frames++;
  GST_OBJECT_UNLOCK(self);
  if (frame->has_beam || frame->border) {
    AstroImageMeta *image = astro_buffer_add_image(buffer, 0);
    image->border = frame->border;
    image->has_beam = frame->has_beam;
    image->major = frame->major;
    image->minor = frame->minor;
    image->angle = frame->angle;
  }
}

/* Not opened in start: large files take longer to look through than a user waits for a change of
 * state, which cannot be interrupted. */
static GstFlowReturn open_first_file(AstroFitsSrc *self)
{
  if (self->reader)
    return GST_FLOW_OK;
  gst_clear_caps(&self->wanted);
  self->wanted = gst_pad_peer_query_caps(GST_BASE_SRC_PAD(self), NULL);
  if (!open_next_file(self))
    return GST_FLOW_ERROR;
  return gst_base_src_negotiate(GST_BASE_SRC(self)) ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

/* Puts a block of a file that continues others behind theirs. */
static gboolean place_block(AstroFitsSrc *self, GstBuffer *buffer)
{
  const AstroStream *stream = &astro_fits_reader_contents(self->reader)->stream;
  if (!self->first_caps)
    return TRUE;
  const guint64 first = GST_BUFFER_OFFSET(buffer) + self->shift,
                end = GST_BUFFER_OFFSET_END(buffer) + self->shift;
  if (first < self->next)
    return refuse_next(self, self->files->pdata[self->next_file - 1],
                       "samples from before the end of the file before it",
                       "the files of one observation, in the order of their names");
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = end;
  GST_BUFFER_PTS(buffer) = astro_stream_time(stream, first);
  GST_BUFFER_DURATION(buffer) = astro_stream_time(stream, end) - GST_BUFFER_PTS(buffer);
  if (self->frames > 0 && first == self->next)
    GST_BUFFER_FLAG_UNSET(buffer, GST_BUFFER_FLAG_DISCONT);
  self->next = end;
  return TRUE;
}

/* Times and metadata are set already, as they were when the block was written. */
static void send_block(AstroFitsSrc *self, AstroFitsFrame *frame)
{
  if (frame->told)
    gst_pad_push_event(GST_BASE_SRC_PAD(self), frame->told);
  frame->told = NULL;
  GST_OBJECT_LOCK(self);
  self->frames++;
  GST_OBJECT_UNLOCK(self);
}

static GstFlowReturn create_frame(AstroFitsSrc *self, GstBuffer **out)
{
  g_autoptr(GError) error = NULL;
  AstroFitsFrame frame = { 0 };
  AstroValidityMeta *validity;
  AstroUvwMeta *uvw = NULL;
  GstMapInfo map;
  gboolean end;
  guint64 steps;
  GstBuffer *buffer;
  GstFlowReturn flow = find_frame(self, &steps);

  if (flow == GST_FLOW_OK)
    flow = new_frame(self, steps, &buffer, &map, &validity);
  if (flow != GST_FLOW_OK)
    return flow;
  frame.data = map.data;
  frame.counts = validity ? validity->counts : NULL;
  if (brings_uvw(self->reader))
    uvw = astro_buffer_add_uvw(buffer, steps, n_baselines(self->reader));
  frame.uvw = uvw ? uvw->uvw : NULL;
  g_autofree guint8 *absent = validity ? g_new(guint8, n_baselines(self->reader)) : NULL;
  frame.absent = absent;
  frame.buffer = buffer;
  gboolean done = astro_fits_reader_read(self->reader, &frame, &end, &error);
  gst_buffer_unmap(buffer, &map);
  if (done) {
    if (validity)
      validity->full = frame.full;
    self->not_finite += frame.not_finite;
    if (absent && memchr(absent, TRUE, n_baselines(self->reader)))
      memcpy(astro_buffer_add_absent(buffer, 1, n_baselines(self->reader))->is_absent, absent,
             n_baselines(self->reader));
    if (!place_block(self, buffer)) {
      gst_buffer_unref(buffer);
      return GST_FLOW_ERROR;
    }
    if (astro_fits_reader_contents(self->reader)->is_blocks)
      send_block(self, &frame);
    else
      stamp_frame(self, buffer, &frame);
    astro_log_block(self, "out", buffer);
    *out = buffer;
    return GST_FLOW_OK;
  }
  gst_buffer_unref(buffer);
  if (end)
    return end_visibilities(self);
  fail(self, error);
  return GST_FLOW_ERROR;
}

static GstFlowReturn make(AstroFileSrc *src, GstBuffer **out)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  const GstFlowReturn flow = open_first_file(self);
  return flow == GST_FLOW_OK ? create_frame(self, out) : flow;
}

static void finalize(GObject *object)
{
  astro_fields_clear(fields, &ASTRO_FITS_SRC(object)->now);
  G_OBJECT_CLASS(astro_fits_src_parent_class)->finalize(object);
}

static void astro_fits_src_init(AstroFitsSrc *self)
{
  astro_fields_set_defaults(self);
}

static void add_template(GstElementClass *class)
{
  g_autofree char *text = astro_fits_reader_caps();
  g_autoptr(GstCaps) caps = gst_caps_merge(gst_caps_new_empty(), gst_caps_from_string(text));
  gst_element_class_add_pad_template(
      class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
}

static void astro_fits_src_class_init(AstroFitsSrcClass *class)
{
  GObjectClass *object = G_OBJECT_CLASS(class);
  GstElementClass *element = GST_ELEMENT_CLASS(class);
  GstBaseSrcClass *src = GST_BASE_SRC_CLASS(class);

  astro_fields_install(object, fields, G_STRUCT_OFFSET(AstroFitsSrc, settings));
  object->finalize = finalize;

  add_template(element);
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "FITS file source", "Source/File",
      "Reads UVFITS as visibilities, one integration a buffer, with their observation, images and "
      "cubes, one a buffer, tables, HDF5 and text as catalogues, one a buffer, PSRFITS in search "
      "mode "
      "as "
      "power, tables of gains, one interval a buffer, and the streams of other quantities that "
      "astrofitssink wrote",
      ASTRO_AUTHOR);
  src->start = start;
  src->stop = stop;
  src->get_caps = get_caps;
  src->negotiate = negotiate;
  src->decide_allocation = decide_allocation;
  src->query = query;
  ASTRO_FILE_SRC_CLASS(class)->make = make;
}
