/**
 * SECTION:element-astrouvh5src
 *
 * Reads visibilities from HDF5 as pyuvdata writes them (uvh5), one integration a buffer, in any
 * order of rows. Baselines that are missing at a time have the count 0, as have flagged values;
 * nsamples become counts of good samples, multiplied by a power of two where they have fractions.
 * Antennas without rows need no place in the stream.
 *
 * A file of several phase centres needs field, the name or number of one. If the array tracked
 * nothing (phase_type drift, cat_type unprojected), the visibilities are phased to what was at its
 * zenith at the middle of the file, and a message of the kind INFO says so. Where the header says
 * that X points east, X and Y change places: in our streams X points north.
 *
 * (u,v,w) are computed from the antennas. If those in the file would make another picture (a source
 * 256 beams from the phase centre moves by more than a tenth of a beam), it is refused, unless uvw
 * says which to believe. UT1 - UTC is that of the header (dut1), or of an IERS file
 * (earth-orientation).
 *
 * location may name several files, separated by commas or by a pattern: they make one stream in
 * order of time. They need one phase centre, band and basis, and times that do not overlap; their
 * stations may differ. Counts keep their ratios across files.
 *
 * Files packed by gzip, lzf or szip are read; bitshuffle and others need a plugin of HDF5
 * (HDF5_PLUGIN_PATH). Several spectral windows (flex_spw) are refused.
 *
 * |[
 * gst-launch-1.0 astrouvh5src location=sky.uvh5 ! astrogridder size=512 cell=10 ! astrofft ! \
 *   astroimage ! astrofitssink location=sky.fits
 * gst-launch-1.0 astrouvh5src location="night1.uvh5,night2.uvh5" ! \
 *   astrogridder weighting=uniform ! astrofft ! astroimage ! astrofitssink location=sky.fits
 * ]|
 */
#include "elements/astrouvh5src.h"

#include "core/lib/sky/earth-file.h"
#include "core/uvh5/uvh5.h"
#include "elements/base/astrorowsrc.h"
#include "elements/base/astrostage.h"

typedef struct {
  AstroRowSettings rows;
  AstroUvh5Uvw uvw;
} Settings;

typedef struct {
  AstroRowSrc parent;
  Settings settings, now;
  AstroUvh5Options options; /* its texts are those of now */
} AstroUvh5Src;
typedef AstroRowSrcClass AstroUvh5SrcClass;

G_DEFINE_TYPE(AstroUvh5Src, astro_uvh5_src, ASTRO_TYPE_FILE_SRC)
GST_ELEMENT_REGISTER_DEFINE(astrouvh5src, "astrouvh5src", GST_RANK_NONE, ASTRO_TYPE_UVH5_SRC)

static const AstroField fields[] = {
  ASTRO_ROW_SRC_FIELDS(Settings, "File name",
                       "Path of the file to read, or of several, separated by commas or by a "
                       "pattern",
                       "Name or number of the phase centre whose rows are read", "file"),
  ASTRO_ENUM(Settings, uvw, "uvw", "Source of (u,v,w)",
             "Which (u,v,w) to use if the file's own differ from those of its antennas",
             astro_uvh5_uvw_get_type, ASTRO_UVH5_UVW_AUTO),
  { 0 },
};

static gboolean check(AstroRowSrc *src, const char *name)
{
  return g_file_test(name, G_FILE_TEST_EXISTS) || astro_row_src_not_found(src, name, "file");
}

static void choose(AstroRowSrc *src)
{
  AstroUvh5Src *self = (AstroUvh5Src *)src;
  self->options = (AstroUvh5Options){
    .uvw = self->now.uvw,
    .field = astro_field_given(self->now.rows.field),
    .earth_orientation = astro_field_given(self->now.rows.earth_orientation),
  };
}

static const AstroRowSrcKind uvh5 = {
  .reader = &astro_uvh5_reader_kind,
  .fields = fields,
  .settings = G_STRUCT_OFFSET(AstroUvh5Src, settings),
  .now = G_STRUCT_OFFSET(AstroUvh5Src, now),
  .bytes = sizeof(Settings),
  .check = check,
  .choose = choose,
  .options = G_STRUCT_OFFSET(AstroUvh5Src, options),
};

static void astro_uvh5_src_init(AstroUvh5Src *self)
{
  astro_row_src_init(&self->parent);
}

static void astro_uvh5_src_class_init(AstroUvh5SrcClass *class)
{
  astro_row_src_install(class, &uvh5, ASTRO_UVH5_CAPS);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(class), "uvh5 file source", "Source/File",
      "Reads visibilities from HDF5 as pyuvdata, HERA and others write them (uvh5), one "
      "integration a buffer, with their observation and counts",
      ASTRO_AUTHOR);
}
