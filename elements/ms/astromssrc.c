/**
 * SECTION:element-astromssrc
 *
 * Reads visibilities from a Measurement Set, as CASA, LOFAR, MeerKAT and ASKAP have them, one
 * integration a buffer. Rows may be in any order, with either antenna first. Baselines that are
 * missing at a time have the count 0, as have flagged values (FLAG). WEIGHT_SPECTRUM, or WEIGHT
 * where the set lacks it, or 1 / SIGMA^2 where it lacks both, becomes counts of good samples,
 * multiplied by a power of two where weights have fractions. Antennas without rows need no place in
 * the stream.
 *
 * All spectral windows with rows make one band, if they adjoin; else band is the number of one.
 * field is the number or the name of one field of several. column is DATA, CORRECTED_DATA or
 * MODEL_DATA.
 *
 * (u,v,w) are computed from the antennas. UVW decides whether values are those of antenna 1 with
 * antenna 2 or the opposite. If it would make another picture (a source 256 beams from the phase
 * centre moves by more than a tenth of a beam), the set is refused, unless uvw says which to
 * believe. UT1 - UTC and polar motion are those recorded in sets of astromssink, or of an IERS file
 * (earth-orientation).
 *
 * location may name several sets, separated by commas or by a pattern: they make one stream in
 * order of time. They need one phase centre, band and basis, and times that do not overlap; their
 * antennas may differ. Weights keep their ratios across sets.
 *
 * Nothing is written to the set, which other programs may read at the same time. One that another
 * program has locked for writing is an error.
 *
 * |[
 * gst-launch-1.0 astromssrc location=sky.ms ! astrogridder size=512 cell=10 ! astrofft ! \
 *   astroimage ! astrofitssink location=sky.fits
 * gst-launch-1.0 astromssrc location="night1.ms,night2.ms" ! \
 *   astrogridder weighting=uniform ! astrofft ! astroimage ! astrofitssink location=sky.fits
 * ]|
 */
#include "elements/ms/astromssrc.h"

#include "core/lib/sky/earth-file.h"
#include "core/sets/sets.h"
#include "elements/base/astrorowsrc.h"
#include "elements/base/astrostage.h"

typedef struct {
  AstroRowSettings rows;
  char *column;
  gint band;
  AstroSetUvw uvw;
} Settings;

typedef struct {
  AstroRowSrc parent;
  Settings settings, now;
  AstroSetOptions options; /* its texts are those of now */
} AstroMsSrc;
typedef AstroRowSrcClass AstroMsSrcClass;

G_DEFINE_TYPE(AstroMsSrc, astro_ms_src, ASTRO_TYPE_FILE_SRC)
GST_ELEMENT_REGISTER_DEFINE(astromssrc, "astromssrc", GST_RANK_NONE, ASTRO_TYPE_MS_SRC)

static const AstroField fields[] = {
  ASTRO_ROW_SRC_FIELDS(Settings, "Set name",
                       "Path of the Measurement Set, a folder, or of several, separated by commas "
                       "or by a pattern",
                       "Number or name of the field whose rows are read", "set"),
  ASTRO_TEXT(Settings, column, "column", "Column",
             "Column of values: DATA, CORRECTED_DATA or MODEL_DATA", "DATA"),
  ASTRO_INT(Settings, band, "band", "Spectral window",
            "Number of the spectral window whose rows are read (-1: all that have rows, which must "
            "adjoin)",
            -1, G_MAXINT, -1),
  ASTRO_ENUM(Settings, uvw, "uvw", "Source of (u,v,w)",
             "Which (u,v,w) to use if the set's own differ from those of its antennas",
             astro_set_uvw_get_type, ASTRO_SET_UVW_AUTO),
  { 0 },
};

/* A missing set is reported at the start, as filesrc does. */
static gboolean check(AstroRowSrc *src, const char *name)
{
  if (astro_set_folder_is(name))
    return TRUE;
  if (!g_file_test(name, G_FILE_TEST_EXISTS))
    return astro_row_src_not_found(src, name, "set");
  GST_ELEMENT_ERROR(src, RESOURCE, OPEN_READ,
                    ("%s is no Measurement Set: it has no " ASTRO_SET_MARK, name), (NULL));
  return FALSE;
}

static void choose(AstroRowSrc *src)
{
  AstroMsSrc *self = (AstroMsSrc *)src;
  self->options = (AstroSetOptions){
    .uvw = self->now.uvw,
    .column = astro_field_given(self->now.column),
    .field = astro_field_given(self->now.rows.field),
    .band = self->now.band,
    .earth_orientation = astro_field_given(self->now.rows.earth_orientation),
  };
}

static const AstroRowSrcKind set = {
  .reader = &astro_set_reader_kind,
  .fields = fields,
  .settings = G_STRUCT_OFFSET(AstroMsSrc, settings),
  .now = G_STRUCT_OFFSET(AstroMsSrc, now),
  .bytes = sizeof(Settings),
  .check = check,
  .choose = choose,
  .options = G_STRUCT_OFFSET(AstroMsSrc, options),
};

static void astro_ms_src_init(AstroMsSrc *self)
{
  astro_row_src_init(&self->parent);
}

static void astro_ms_src_class_init(AstroMsSrcClass *class)
{
  astro_row_src_install(class, &set, ASTRO_SET_SOURCE_CAPS);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(class), "Measurement Set source", "Source/File",
      "Reads visibilities from Measurement Sets of CASA, LOFAR, MeerKAT, ASKAP and others, one "
      "integration a buffer, with their observation and counts",
      ASTRO_AUTHOR);
}
