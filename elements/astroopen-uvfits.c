/* UVFITS as one of several kinds of file in an input. */
#include "elements/astroopen-uvfits.h"

#include "core/fits/uvfits/read.h"
#include "core/lib/sky/earth-file.h"
#include "elements/base/astrostage.h"

typedef struct {
  AstroRowSettings rows; /* field stays NULL: such a file has one phase centre */
  AstroFitsUvw uvw;
  char *band;
  gboolean ignore_epoch;
} Settings;

typedef struct {
  AstroRowSrc parent;
  Settings settings, now;
  AstroFitsOptions options; /* its texts are those of now */
} AstroOpenUvfits;
typedef AstroRowSrcClass AstroOpenUvfitsClass;

G_DEFINE_TYPE(AstroOpenUvfits, astro_open_uvfits, ASTRO_TYPE_FILE_SRC)

static const AstroField fields[] = {
  ASTRO_TEXT(Settings, rows.location, "location", "File name", "Path of the file to read", NULL),
  ASTRO_TEXT(Settings, rows.earth_orientation, "earth-orientation", "Earth orientation",
             ASTRO_EARTH_HELP " (unset: the file's own)", NULL),
  ASTRO_ENUM(Settings, uvw, "uvw", "Source of (u,v,w)",
             "Which (u,v,w) to use if the file's own differ from those of its stations",
             astro_fits_uvw_get_type, ASTRO_FITS_UVW_AUTO),
  ASTRO_TEXT(Settings, band, "band", "Band",
             "Number of an IF, from 1, or a range N-M (unset: all, which have to adjoin)", NULL),
  ASTRO_BOOLEAN(Settings, ignore_epoch, "ignore-epoch", "Ignore EPOCH",
                "Take the phase centre as of J2000", FALSE),
  { 0 },
};

static gboolean check(AstroRowSrc *src, const char *name)
{
  return g_file_test(name, G_FILE_TEST_EXISTS) || astro_row_src_not_found(src, name, "file");
}

static void choose(AstroRowSrc *src)
{
  AstroOpenUvfits *self = (AstroOpenUvfits *)src;
  self->options = (AstroFitsOptions){
    .uvw = self->now.uvw,
    .band = astro_field_given(self->now.band),
    .ignore_epoch = self->now.ignore_epoch,
    .earth_orientation = astro_field_given(self->now.rows.earth_orientation),
  };
}

static const AstroRowSrcKind uvfits = {
  .reader = &astro_uvfits_rows,
  .fields = fields,
  .settings = G_STRUCT_OFFSET(AstroOpenUvfits, settings),
  .now = G_STRUCT_OFFSET(AstroOpenUvfits, now),
  .bytes = sizeof(Settings),
  .check = check,
  .choose = choose,
  .options = G_STRUCT_OFFSET(AstroOpenUvfits, options),
};

static void astro_open_uvfits_init(AstroOpenUvfits *self)
{
  astro_row_src_init(&self->parent);
}

static void astro_open_uvfits_class_init(AstroOpenUvfitsClass *class)
{
  astro_row_src_install(class, &uvfits, ASTRO_UVFITS_ROWS_CAPS);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(class), "UVFITS among files of other kinds", "Source/File",
      "Says how astroopen reads UVFITS beside files of other kinds", ASTRO_AUTHOR);
}
