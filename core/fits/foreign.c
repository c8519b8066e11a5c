/* Recognises files of other programs. */
#include "core/fits/foreign.h"
#include "core/fits/psrfits/psrfits.h"
#include "core/lib/files/set-folder.h"

#include <string.h>

#define CARD 80
#define HDF5 "\x89HDF\r\n\x1a\n"
#define RECORDS "astrorecordsrc"
#define SAMPLES ": " RECORDS " reads it"
#define PICTURE                                                                                    \
  " picture, whose colours do not give the values: expected the FITS file that it was "            \
  "made from"
#define TO_UVFITS " converts it to UVFITS, which astrofitssrc reads"

/* ---- folders ---- */

static const struct {
  const char *files[2]; /* that it contains */
  const char *told;
} folders[] = {
  { { "table.dat" },
    "a CASA table, part of a Measurement Set: for the whole set, exportuvfits" TO_UVFITS },
  { { "visdata", "header" }, "a MIRIAD data set: its task fits with op=uvout" TO_UVFITS },
};

static gboolean has_files(const char *path, guint kind)
{
  gboolean has_all = TRUE;
  for (guint k = 0; k < G_N_ELEMENTS(folders[kind].files) && folders[kind].files[k]; k++) {
    g_autofree char *name = g_build_filename(path, folders[kind].files[k], NULL);
    has_all = has_all && g_file_test(name, G_FILE_TEST_IS_REGULAR);
  }
  return has_all;
}

const char *astro_foreign_folder(const char *path)
{
  if (astro_set_folder_is(path))
    return "a Measurement Set: astromssrc reads it";
  for (guint i = 0; i < G_N_ELEMENTS(folders); i++)
    if (has_files(path, i))
      return folders[i].told;
  return NULL;
}

/* ---- bytes ---- */

static gboolean is_card(const guint8 *card, const char *key)
{
  return memcmp(card, key, strlen(key)) == 0;
}

/* FITS-like cards without SIMPLE, up to END; one gives the bytes per block. */
static gboolean is_guppi(const guint8 *bytes, gsize n)
{
  gboolean has_block = FALSE;
  for (gsize at = 0; at + CARD <= n; at += CARD) {
    const guint8 *card = bytes + at;
    if (is_card(card, "END "))
      return has_block;
    if (card[8] != '=' || is_card(card, "SIMPLE "))
      return FALSE;
    has_block = has_block || is_card(card, "BLOCSIZE");
  }
  return FALSE;
}

/* Lines of keyword and value, padded with zeros. */
static gboolean is_dada(const guint8 *bytes, gsize n)
{
  g_autofree char *text = g_strndup((const char *)bytes, MIN(n, 4096));
  return strlen(text) < n && strstr(text, "HDR_SIZE") && strstr(text, "NBIT");
}

typedef struct {
  guint32 words[4];
} Vdif;

static gboolean vdif_at(const guint8 *bytes, gsize n, gsize at, Vdif *header)
{
  if (at > n || n - at < sizeof *header)
    return FALSE;
  memcpy(header, bytes + at, sizeof *header);
  for (guint i = 0; i < G_N_ELEMENTS(header->words); i++)
    header->words[i] = GUINT32_FROM_LE(header->words[i]);
  return TRUE;
}

/* VDIF has no magic number. But two frames with the same epoch, length, version and number of bits,
 * within a second of each other, are no accident. */
static gboolean is_vdif(const guint8 *bytes, gsize n)
{
  Vdif a, b;
  if (!vdif_at(bytes, n, 0, &a))
    return FALSE;
  const gsize frame = 8 * (gsize)(a.words[2] & 0xffffff);
  const guint32 seconds = a.words[0] & 0x3fffffff, spare = a.words[1] >> 30;
  if (frame <= 32 || seconds == 0 || spare || !vdif_at(bytes, n, frame, &b))
    return FALSE;
  return (b.words[0] & 0x3fffffff) - seconds <= 1 && a.words[1] >> 24 == b.words[1] >> 24 &&
         a.words[2] == b.words[2] && a.words[3] >> 26 == b.words[3] >> 26;
}

/* Recognised by bytes at the start, or by a function. */
static const struct {
  const char *mark;
  gsize length;
  gboolean (*is)(const guint8 *bytes, gsize n);
  const char *told;
  const char *source; /* that reads it; NULL: none */
} kinds[] = {
  { HDF5, ASTRO_HDF5_BEGINNING, NULL, ASTRO_HDF5_IS, "astrouvh5src" },
  { "\x0c\0\0\0HEADER_START", 16, NULL, "a SIGPROC file of powers" SAMPLES, RECORDS },
  { "\x89PNG\r\n\x1a\n", 8, NULL, "a PNG" PICTURE },
  { "\xff\xd8\xff", 3, NULL, "a JPEG" PICTURE },
  { "\xed\xde\xad\xab", 4, NULL, "a Mark 5B recording" SAMPLES, RECORDS },
  { NULL, 0, is_guppi, "a GUPPI raw recording" SAMPLES, RECORDS },
  { NULL, 0, is_dada, "a DADA recording" SAMPLES, RECORDS },
  { NULL, 0, is_vdif, "a VDIF recording" SAMPLES, RECORDS },
};

gboolean astro_foreign_is_hdf5(const guint8 *bytes, gsize n)
{
  return n >= ASTRO_HDF5_BEGINNING && memcmp(bytes, HDF5, ASTRO_HDF5_BEGINNING) == 0;
}

static gint find_kind(const guint8 *bytes, gsize n)
{
  for (guint i = 0; n > 0 && i < G_N_ELEMENTS(kinds); i++)
    if (kinds[i].is ? kinds[i].is(bytes, n)
                    : n >= kinds[i].length && memcmp(bytes, kinds[i].mark, kinds[i].length) == 0)
      return (gint)i;
  return -1;
}

const char *astro_foreign_bytes(const guint8 *bytes, gsize n)
{
  const gint kind = find_kind(bytes, n);
  return kind < 0 ? NULL : kinds[kind].told;
}

const char *astro_foreign_source(const guint8 *bytes, gsize n)
{
  const gint kind = find_kind(bytes, n);
  return kind < 0 ? NULL : kinds[kind].source;
}

/* ---- FITS ---- */

const char *astro_foreign_fits(const AstroFitsFile *file)
{
  const AstroFitsHeader *primary = astro_fits_file_primary(file);
  if (!primary)
    return NULL;
  if (astro_psrfits_is(primary) && !astro_psrfits_is_search(primary))
    return "a PSRFITS file of another mode than SEARCH (OBS_MODE), as of folded profiles, which "
           "cannot be read: PSRCHIVE can read them";
  if (!primary->groups && astro_fits_file_find_table(file, "UV_DATA"))
    return "a FITS-IDI file: CASA's importfitsidi and exportuvfits, or AIPS's "
           "FITLD "
           "and FITTP, convert it to UVFITS, which astrofitssrc reads";
  return NULL;
}
