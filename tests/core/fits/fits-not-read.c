/* Files of other kinds, which astrofitssrc and astrocatsrc do not read, and their errors. */
#include "core/fits/foreign.h"
#include "core/fits/fits.h"
#include "tests/core/fits/place.h"

#include <fitsio.h>
#include <string.h>

static void check_refused(const char *path, const char *says, const char *to_do)
{
  static const AstroCatalogueColumns columns = { "ra", "dec", NULL, NULL };
  g_autoptr(GError) error = NULL, of_text = NULL;
  AstroCatalogue catalogue;
  g_assert_null(astro_fits_reader_open(path, NULL, &error));
  g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN);
  g_test_message("%s", error->message);
  test_says(error->message, path);
  test_says(error->message, says);
  test_says(error->message, to_do);
  g_assert_false(astro_fits_read_text(path, &columns, &catalogue, NULL, &of_text));
  g_assert_error(of_text, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN);
}

static void add_card(GString *bytes, const char *card)
{
  g_string_append_printf(bytes, "%-80s", card);
}

static void add_vdif(GString *bytes, guint32 second, guint32 frame)
{
  const guint32 header[8] = { GUINT32_TO_LE(second), GUINT32_TO_LE(46u << 24 | frame),
                              GUINT32_TO_LE(3u << 24 | 129), GUINT32_TO_LE(1u << 26 | 0x4f6e) };
  g_string_append_len(bytes, (const char *)header, sizeof header);
  for (guint i = 0; i < 1000; i++)
    g_string_append_c(bytes, (char)(i * 77));
}

static GString *make_vdif(void)
{
  GString *bytes = g_string_new(NULL);
  add_vdif(bytes, 12345678, 24999);
  add_vdif(bytes, 12345679, 0);
  add_vdif(bytes, 12345679, 1);
  return bytes;
}

static GString *make_guppi(void)
{
  GString *bytes = g_string_new(NULL);
  add_card(bytes, "BACKEND = 'GUPPI   '");
  add_card(bytes, "OBSFREQ =               1500.0");
  add_card(bytes, "BLOCSIZE=                 8192");
  add_card(bytes, "END");
  while (bytes->len < 8192)
    g_string_append_c(bytes, (char)(bytes->len * 77));
  return bytes;
}

/* The header is text, and may be all there is in the first kilobytes. */
static GString *make_guppi_of_text(void)
{
  GString *bytes = g_string_new(NULL);
  add_card(bytes, "BLOCSIZE=                 8192");
  for (guint i = 0; i < 60; i++)
    add_card(bytes, "OBSFREQ =               1500.0");
  add_card(bytes, "END");
  return bytes;
}

static GString *make_dada(void)
{
  GString *bytes = g_string_new("HDR_VERSION 1.0\nHDR_SIZE 4096\nNBIT 8\nFREQ 1400\n");
  while (bytes->len < 5000)
    g_string_append_c(bytes, 0);
  return bytes;
}

static GString *make_mark5b(void)
{
  GString *bytes = g_string_new_len("\xed\xde\xad\xab", 4);
  while (bytes->len < 10016)
    g_string_append_c(bytes, (char)(bytes->len * 77));
  return bytes;
}

static GString *make_hdf5(void)
{
  return g_string_new_len("\x89HDF\r\n\x1a\n\0\0\0\0", 12);
}

static GString *make_sigproc(void)
{
  return g_string_new_len("\x0c\0\0\0HEADER_START\x0a\0\0\0machine_id", 30);
}

static GString *make_png(void)
{
  return g_string_new_len("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
}

static GString *make_jpeg(void)
{
  return g_string_new_len("\xff\xd8\xff\xe0\0\x10JFIF\0", 11);
}

static void files(TestPlace *place, gconstpointer data)
{
  static const struct {
    GString *(*make)(void);
    const char *says, *to_do;
  } cases[] = {
    { make_vdif, "is a VDIF recording", "astrorecordsrc reads it" },
    { make_guppi, "is a GUPPI raw recording", "astrorecordsrc reads it" },
    { make_guppi_of_text, "is a GUPPI raw recording", "astrorecordsrc reads it" },
    { make_dada, "is a DADA recording", "astrorecordsrc reads it" },
    { make_mark5b, "is a Mark 5B recording", "astrorecordsrc reads it" },
    { make_hdf5, "is an HDF5 file: if it holds visibilities (uvh5)", "astrouvh5src reads it" },
    { make_sigproc, "is a SIGPROC file", "astrorecordsrc reads it" },
    { make_png, "is a PNG picture", "expected the FITS file" },
    { make_jpeg, "is a JPEG picture", "expected the FITS file" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GString) bytes = cases[i].make();
    g_assert_true(g_file_set_contents(place->path, bytes->str, (gssize)bytes->len, NULL));
    check_refused(place->path, cases[i].says, cases[i].to_do);
  }
}

static void folders(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *files[2], *says, *to_do;
  } cases[] = {
    { { "table.dat", "ANTENNA/table.dat" }, "is a Measurement Set", "astromssrc reads it" },
    { { "table.dat", "table.f0" }, "is a CASA table", "exportuvfits" },
    { { "visdata", "header" }, "is a MIRIAD data set", "op=uvout" },
    { { "readme", "notes" }, "it is not a regular file", "" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_assert_cmpint(g_mkdir(place->path, 0700), ==, 0);
    for (guint k = 0; k < 2; k++) {
      g_autofree char *name = g_build_filename(place->path, cases[i].files[k], NULL),
                      *folder = g_path_get_dirname(name);
      g_mkdir_with_parents(folder, 0700);
      g_assert_true(g_file_set_contents(name, "x", 1, NULL));
    }
    check_refused(place->path, cases[i].says, cases[i].to_do);
    for (guint k = 0; k < 2; k++) {
      g_autofree char *name = g_build_filename(place->path, cases[i].files[k], NULL);
      g_autofree char *folder = g_path_get_dirname(name);
      g_unlink(name);
      if (!g_str_equal(folder, place->path))
        g_rmdir(folder);
    }
    g_assert_cmpint(g_rmdir(place->path), ==, 0);
  }
}

/* A FITS file of a table. */
static void write_table(const char *path, const char *type, const char *table)
{
  const char *names[] = { "RA" }, *forms[] = { "1D" };
  fitsfile *f;
  int status = 0;
  g_unlink(path);
  fits_create_diskfile(&f, path, &status);
  fits_create_img(f, 8, 0, NULL, &status);
  if (type)
    fits_write_key(f, TSTRING, "FITSTYPE", (char *)type, NULL, &status);
  fits_create_tbl(f, BINARY_TBL, 1, 1, (char **)names, (char **)forms, NULL, table, &status);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
}

static void kinds_of_fits(TestPlace *place, gconstpointer data)
{
  write_table(place->path, "PSRFITS", "SUBINT");
  check_refused(place->path, "is a PSRFITS file of another mode than SEARCH",
                "PSRCHIVE can read them");
  write_table(place->path, NULL, "UV_DATA");
  check_refused(place->path, "is a FITS-IDI file", "importfitsidi");
}

/* Other bytes and texts are none of these, whatever they begin with. */
static void others(TestPlace *place, gconstpointer data)
{
  static const char *const texts[] = { "ra,dec\n1,2\n", "", "HDR_SIZE NBIT\n1 2\n", "END",
                                       "SIMPLE  = T" };
  g_autofree guint8 *zeros = g_malloc0(ASTRO_FOREIGN_BYTES);
  g_autofree guint8 *random = g_malloc(ASTRO_FOREIGN_BYTES);
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_assert_null(astro_foreign_bytes((const guint8 *)texts[i], strlen(texts[i])));
  g_assert_null(astro_foreign_bytes(zeros, ASTRO_FOREIGN_BYTES));
  g_assert_null(astro_foreign_bytes(NULL, 0)); /* like an empty file that is mapped */
  for (guint seed = 0; seed < 1000; seed++) {
    test_fill(random, ASTRO_FOREIGN_BYTES, seed);
    g_assert_null(astro_foreign_bytes(random, ASTRO_FOREIGN_BYTES));
  }
  g_autoptr(GString) vdif = make_vdif();
  for (gsize n = 0; n < 1032 + 16; n++)
    g_assert_null(astro_foreign_bytes((const guint8 *)vdif->str, n));
}

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "files", files },
    { "folders", folders },
    { "kinds-of-fits", kinds_of_fits },
    { "others", others },
  };
  test_add_places("/fits-not-read/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
