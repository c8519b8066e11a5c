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
#include "elements/astrofitssrc-parts.h"

#include "core/lib/sky/earth-file.h"
#include "core/memory/pool.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astrostage.h"

G_DEFINE_TYPE(AstroFitsSrc, astro_fits_src, ASTRO_TYPE_FILE_SRC)
GST_ELEMENT_REGISTER_DEFINE(astrofitssrc, "astrofitssrc", GST_RANK_NONE, ASTRO_TYPE_FITS_SRC)

static const AstroField fields[] = {
  ASTRO_TEXT(AstroFitsSrcSettings, location, "location", "File name",
             "Path of the file to read, or of several, separated by commas or by a pattern: "
             "catalogues, PSRFITS in the order of their names, or UVFITS in the order of time",
             NULL),
  ASTRO_TEXT(AstroFitsSrcSettings, ra_column, "ra-column", "Right ascension column",
             "For a catalogue: name, in any case, or number from 1; in HDF5 also GROUP/NAME", "RA"),
  ASTRO_TEXT(AstroFitsSrcSettings, dec_column, "dec-column", "Declination column",
             "For a catalogue: name, in any case, or number from 1", "DEC"),
  ASTRO_TEXT(AstroFitsSrcSettings, weight_column, "weight-column", "Weight column",
             "For a catalogue: name or number from 1; NULL or empty: none", NULL),
  ASTRO_TEXT(AstroFitsSrcSettings, region_column, "region-column", "Region column",
             "For a catalogue, whole numbers from 0: name or number from 1; NULL or empty: none",
             NULL),
  ASTRO_TEXT(AstroFitsSrcSettings, distance_column, "distance-column", "Distance column",
             "For a catalogue, comoving distances in any unit, which bins then have too: name or "
             "number from 1; NULL or empty: none",
             NULL),
  ASTRO_TEXT(AstroFitsSrcSettings, redshift_column, "redshift-column", "Redshift column",
             "For a catalogue, redshifts that become comoving distances in Mpc/h, by omega-m: name "
             "or number from 1; NULL or empty: none",
             NULL),
  ASTRO_DOUBLE(AstroFitsSrcSettings, omega_m, "omega-m", "Matter density",
               "Matter in units of the critical density, in a flat universe with a cosmological "
               "constant, for distances from redshifts; -1: unset",
               -1, 1, -1),
  ASTRO_TEXT(AstroFitsSrcSettings, k_column, "k-column", "Column of a scalar",
             "For a catalogue, name or number from 1 of the column of a scalar, such as the "
             "convergence, for fields of "
             "astrohistogram; NULL or empty: none",
             NULL),
  ASTRO_TEXT(AstroFitsSrcSettings, g1_column, "g1-column", "Column of shear g1",
             "For a catalogue, name or number from 1 of the column of the shear stretched from "
             "east to west; NULL or empty: none",
             NULL),
  ASTRO_TEXT(AstroFitsSrcSettings, bitweight_columns, "bitweight-columns", "Columns of bits",
             "For a catalogue, names or numbers from 1 of the columns of integers of 64 bits, one "
             "bit for each "
             "realisation that selects a point, separated by commas, for pair weights of "
             "astrohistogram; NULL or empty: none",
             NULL),
  ASTRO_TEXT(AstroFitsSrcSettings, g2_column, "g2-column", "Column of shear g2",
             "For a catalogue, name or number from 1 of the column of the shear stretched from "
             "north-west to south-east; NULL or empty: none",
             NULL),
  ASTRO_TEXT(AstroFitsSrcSettings, where, "where", "Rows",
             "Which rows of a table or text are read, by a CFITSIO row filter: MAG < 20 && "
             "FLAG == 0 (unnamed columns of text are col1, col2, ...); NULL or empty: all",
             NULL),
  ASTRO_TEXT(AstroFitsSrcSettings, earth_orientation, "earth-orientation", "Earth orientation",
             ASTRO_EARTH_HELP " of a UVFITS file (unset: the file's own)", NULL),
  ASTRO_ENUM(
      AstroFitsSrcSettings, uvw, "uvw", "Source of (u,v,w)",
      "For visibilities: which (u,v,w) to use if a file's own differ from those of its stations",
      astro_fits_uvw_get_type, ASTRO_FITS_UVW_AUTO),
  ASTRO_TEXT(AstroFitsSrcSettings, band, "band", "Band",
             "Of UVFITS with several IFs: the number of one, from 1, or a range N-M of such that "
             "adjoin (unset: all, which have to adjoin)",
             NULL),
  ASTRO_BOOLEAN(AstroFitsSrcSettings, ignore_epoch, "ignore-epoch", "Ignore EPOCH",
                "Take the phase centre of UVFITS as of J2000, whatever EPOCH or EQUINOX the file "
                "has: some programs write the date of observation",
                FALSE),
  { 0 },
};

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
  if (astro_fits_src_find_files(self))
    return TRUE;
  astro_fits_src_forget_files(self);
  return FALSE;
}

static gboolean stop(GstBaseSrc *src)
{
  astro_fits_src_forget_files(ASTRO_FITS_SRC(src));
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
  if (self->reader &&
      astro_fits_src_is_catalogue(self->reader)) /* a file may hold several: known so far */
    duration = MAX(self->files->len, self->frames) * GST_SECOND;
  else if (self->reader)
    duration = astro_fits_reader_contents(self->reader)->duration_ns + shift_ns(self);
  GST_OBJECT_UNLOCK(self);
  if (format != GST_FORMAT_TIME || duration == 0)
    return FALSE;
  gst_query_set_duration(query, format, duration);
  return TRUE;
}

/* Uses the pool that downstream offers, whose memory it reads fastest, or else one of ours. */
static gboolean decide_allocation(GstBaseSrc *src, GstQuery *query)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  guint offered = 0, min = 0, max = 0;
  g_autoptr(GstBufferPool) pool = NULL;

  if (!self->reader || !astro_fits_src_fits_pool(self->reader)) {
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

/* Not opened in start: large files take longer to look through than a user waits for a change of
 * state, which cannot be interrupted. */
static GstFlowReturn open_first_file(AstroFitsSrc *self)
{
  if (self->reader)
    return GST_FLOW_OK;
  gst_clear_caps(&self->wanted);
  self->wanted = gst_pad_peer_query_caps(GST_BASE_SRC_PAD(self), NULL);
  if (!astro_fits_src_open_next_file(self))
    return GST_FLOW_ERROR;
  return gst_base_src_negotiate(GST_BASE_SRC(self)) ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

static GstFlowReturn make(AstroFileSrc *src, GstBuffer **out)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  const GstFlowReturn flow = open_first_file(self);
  return flow == GST_FLOW_OK ? astro_fits_src_create_frame(self, out) : flow;
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
