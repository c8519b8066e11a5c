/* Finds which source reads an input, by its content. */
#include "config.h"
#include "elements/astroopen-find.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "core/fits/file.h"
#include "core/fits/foreign.h"
#include "core/fits/table/rows.h"
#include "core/kit/fail.h"
#include "core/lib/files/gzip.h"
#include "core/lib/files/inputs.h"
#include "core/lib/files/set-folder.h"
#include "core/stream/stream.h"
#include "core/stream/typed.h"

#define UDP "udp://"
#define FITS "astrofitssrc"

typedef enum {
  KIND_FITS,
  KIND_PACKED,
  KIND_RECORDING,
  KIND_UVH5,
  KIND_HDF5,
  KIND_SET,
  KIND_TEXT,
  KIND_SAMPLES,
  N_KINDS
} Kind;

static const struct {
  const char *factory, *about;
  gboolean may_mix; /* it may hold visibilities, which are read beside those of other kinds */
} kinds[N_KINDS] = {
  [KIND_FITS] = { FITS, "a FITS file", TRUE },
  [KIND_PACKED] = { FITS, "a file packed by gzip", TRUE },
  [KIND_RECORDING] = { "astrorecordsrc", "a recording" },
  [KIND_UVH5] = { "astrouvh5src", "an HDF5 file", TRUE },
  [KIND_HDF5] = { FITS, "an HDF5 file without visibilities" },
  [KIND_SET] = { "astromssrc", "a Measurement Set", TRUE },
  [KIND_TEXT] = { FITS, "text" },
  [KIND_SAMPLES] = { "filesrc", "a file without a header" },
};

#define refuse(error, ...) astro_fail(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, __VA_ARGS__)

void astro_open_found_clear(AstroOpenFound *found)
{
  g_clear_pointer(&found->properties, g_ptr_array_unref);
  g_clear_pointer(&found->first, g_free);
  g_clear_pointer(&found->mixed, g_array_unref);
  gst_clear_caps(&found->caps);
}

void astro_open_samples_clear(AstroOpenSamples *samples)
{
  char **texts[] = { &samples->format, &samples->stations,  &samples->pols,
                     &samples->rate,   &samples->frequency, &samples->bandwidth };
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_clear_pointer(texts[i], g_free);
}

static void tell(AstroOpenFound *found, const char *name, char *value)
{
  g_ptr_array_add(found->properties, g_strdup(name));
  g_ptr_array_add(found->properties, value);
}

/* ---- addresses ---- */

/* Behind the question mark stands name=value&name=value, as in any URL. */
static gboolean read_query(AstroOpenFound *found, const char *query, GError **error)
{
  g_auto(GStrv) parts = g_strsplit(query, "&", 0);
  for (guint i = 0; parts[i]; i++) {
    char *equals = strchr(parts[i], '=');
    if (!equals || equals == parts[i])
      return refuse(error, "%s: found \"%s\", expected properties of astroudpsrc as name=value",
                    found->first, parts[i]);
    *equals = 0;
    char *value = g_uri_unescape_string(equals + 1, NULL);
    if (!value)
      return refuse(error, "%s: %s=%s has a percent sign that no two hexadecimal digits follow",
                    found->first, parts[i], equals + 1);
    tell(found, parts[i], value);
  }
  return TRUE;
}

/* udp://HOST:PORT?..., with the lists and ranges of hosts and ports that astroudpsrc knows. */
static gboolean find_udp(AstroOpenFound *found, GError **error)
{
  const char *host = found->first + strlen(UDP);
  const char *query = strchr(host, '?');
  const gsize length = query ? (gsize)(query - host) : strcspn(host, "/");
  g_autofree char *place = g_strndup(host, length);
  char *port = strrchr(place, ':');
  if (!port || !port[1])
    return refuse(error, "%s: found no port, expected udp://HOST:PORT, as udp://0.0.0.0:7148",
                  found->first);
  *port++ = 0;
  const gsize end = strlen(place);
  g_autofree char *address = place[0] == '[' && end > 1 && place[end - 1] == ']'
                                 ? g_strndup(place + 1, end - 2)
                                 : g_strdup(place[0] == '@' ? place + 1 : place);
  found->factory = "astroudpsrc";
  found->about = "an address";
  if (*address && strcmp(address, "0.0.0.0"))
    tell(found, "address", g_steal_pointer(&address));
  tell(found, "port", g_strdup(port));
  return !query || read_query(found, query + 1, error);
}

/* ---- files ---- */

static gboolean read_beginning(const char *name, guint8 *bytes, gsize room, gsize *n,
                               GError **error)
{
  const int fd = g_open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  gssize got = fd < 0 ? -1 : pread(fd, bytes, room, 0);
  const int cause = errno;
  if (fd >= 0)
    close(fd);
  *n = (gsize)MAX(got, 0);
  return got >= 0 || astro_fail(error, G_IO_ERROR, g_io_error_from_errno(cause),
                                "cannot open %s: %s", name, g_strerror(cause));
}

static gboolean is_text(const guint8 *bytes, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if ((bytes[i] < ' ' && !strchr("\t\n\r\f", bytes[i])) || bytes[i] == 0 || bytes[i] == 0x7f)
      return FALSE;
  return n > 0;
}

static Kind kind_of_hdf5(const char *name)
{
  const AstroTableRows *rows = astro_table_rows_of_hdf5();
  return rows && rows->may_be(name) ? KIND_HDF5 : KIND_UVH5;
}

/* may_lack: a file without a header is expected. */
static gboolean find_kind(const char *name, gboolean may_lack, Kind *kind, GError **error)
{
  g_autofree guint8 *bytes = g_malloc(ASTRO_FOREIGN_BYTES);
  gsize n;
  *kind = KIND_SET;
  if (astro_set_folder_is(name))
    return TRUE;
  if (!read_beginning(name, bytes, ASTRO_FOREIGN_BYTES, &n, error))
    return FALSE;
  const char *told = astro_foreign_bytes(bytes, n), *source = astro_foreign_source(bytes, n);
  if (n == 0)
    return refuse(error, "%s is empty", name);
  if (astro_fits_is_beginning(bytes, n))
    *kind = KIND_FITS;
  else if (astro_gzip_is_packed(bytes, n))
    *kind = KIND_PACKED;
  else if (source)
    *kind = g_str_equal(source, kinds[KIND_UVH5].factory) ? kind_of_hdf5(name) : KIND_RECORDING;
  else if (told)
    return refuse(error, "%s is %s", name, told);
  else if (is_text(bytes, n))
    *kind = KIND_TEXT;
  else if (may_lack)
    *kind = KIND_SAMPLES;
  else
    return refuse(
        error,
        "%s: found bytes of an unknown kind, expected FITS, a recording (VDIF, DADA, "
        "GUPPI, Mark 5B, SIGPROC), uvh5 or a catalogue in text. Samples without a header need "
        "format=CI8 or the like, stations, pols, rate and frequency",
        name);
  return TRUE;
}

static void clear_file(gpointer data)
{
  g_free(((AstroOpenFile *)data)->name);
}

/* All files are of one kind, or all may hold visibilities: then found->mixed lists them. kind is
 * that of the first. */
static gboolean find_kinds(AstroOpenFound *found, GPtrArray *files, gboolean may_lack, Kind *kind,
                           GError **error)
{
  g_autoptr(GArray) mixed = g_array_new(FALSE, FALSE, sizeof(AstroOpenFile));
  gboolean is_mixed = FALSE;
  g_array_set_clear_func(mixed, clear_file);
  for (guint i = 0; i < files->len; i++) {
    const char *name = files->pdata[i];
    Kind one = KIND_FITS;
    if (!find_kind(name, may_lack, &one, error))
      return FALSE;
    if (i == 0)
      *kind = one;
    const gboolean is_other = !g_str_equal(kinds[one].factory, kinds[*kind].factory);
    if (is_other && !(kinds[one].may_mix && kinds[*kind].may_mix))
      return refuse(error,
                    "%s is %s, and %s is %s: expected files of one kind, or visibilities in "
                    "UVFITS, uvh5 and Measurement Sets",
                    name, kinds[one].about, (const char *)files->pdata[0], kinds[*kind].about);
    is_mixed = is_mixed || is_other;
    const AstroOpenFile file = { kinds[one].factory, kinds[one].about, g_strdup(name) };
    g_array_append_val(mixed, file);
  }
  if (is_mixed)
    found->mixed = g_steal_pointer(&mixed);
  return TRUE;
}

/* The location that the source is told: a list, which all take, unless a name has a comma. Sources
 * of FITS take no folders. */
static char *location_of(const char *input, GPtrArray *files, Kind kind)
{
  gboolean has_comma = FALSE;
  for (guint i = 0; i < files->len; i++)
    has_comma = has_comma || strchr(files->pdata[i], ',');
  if (files->len > 1 && has_comma && g_file_test(input, G_FILE_TEST_IS_DIR) &&
      g_str_equal(kinds[kind].factory, FITS))
    return g_build_filename(input, "[!.]*", NULL);
  if (files->len > 1 && has_comma && kind != KIND_RECORDING)
    return g_strdup(input);
  g_ptr_array_add(files, NULL);
  char *list = g_strjoinv(",", (char **)files->pdata);
  g_ptr_array_remove_index(files, files->len - 1);
  return list;
}

/* ---- samples without a header ---- */

#define refuse_setting(error, ...)                                                                 \
  astro_fail(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static gboolean read_whole(const char *name, const char *text, GstCaps *caps, GError **error)
{
  guint64 value;
  if (!text || !*text)
    return refuse_setting(error, "%s is not set, and a file without a header does not tell it",
                          name);
  if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT, &value, NULL))
    return refuse_setting(error, "%s=%s, expected a whole number of at least 1", name, text);
  gst_caps_set_simple(caps, name, G_TYPE_INT, (gint)value, NULL);
  return TRUE;
}

/* 0 is not known. */
static gboolean read_hertz(const char *name, const char *text, GstCaps *caps, GError **error)
{
  char *end;
  const double value = g_ascii_strtod(text, &end);
  if (end == text || *end || !(value >= 0 && value < 1e15))
    return refuse_setting(error, "%s=%s, expected a number of Hz", name, text);
  if (value > 0)
    gst_caps_set_simple(caps, name, G_TYPE_DOUBLE, value, NULL);
  return TRUE;
}

static gboolean read_samples(AstroOpenFound *found, const AstroOpenSamples *samples, GError **error)
{
  gint rate_n, rate_d;
  found->caps =
      gst_caps_new_simple("application/x-astro-voltages", "format", G_TYPE_STRING, samples->format,
                          "layout", G_TYPE_STRING, "time:station:pol", NULL);
  if (!read_whole("stations", samples->stations, found->caps, error) ||
      !read_whole("pols", samples->pols && *samples->pols ? samples->pols : "2", found->caps,
                  error))
    return FALSE;
  if (!samples->rate || !*samples->rate || !samples->frequency || !*samples->frequency)
    return refuse_setting(error,
                          "%s has no header that tells the rate and the frequency of its "
                          "samples: set rate, in samples a second, and frequency, the centre of "
                          "the band in Hz (0: unknown)",
                          found->first);
  if (!astro_rate_parse(samples->rate, &rate_n, &rate_d))
    return refuse_setting(error, "rate=%s, expected a number above 0, as 1e6 or 390625/2",
                          samples->rate);
  gst_caps_set_simple(found->caps, "rate", GST_TYPE_FRACTION, rate_n, rate_d, NULL);
  return read_hertz("frequency", samples->frequency, found->caps, error) &&
         (!samples->bandwidth || !*samples->bandwidth ||
          read_hertz("bandwidth", samples->bandwidth, found->caps, error));
}

static gboolean find_files(AstroOpenFound *found, const char *input,
                           const AstroOpenSamples *samples, GError **error)
{
  const gboolean has_format =
      samples->format && *samples->format && strcmp(samples->format, "auto");
  const gboolean may_lack =
      has_format && astro_format_from_name(samples->format) != ASTRO_FORMAT_UNKNOWN;
  const char *told = g_file_test(input, G_FILE_TEST_IS_DIR) ? astro_foreign_folder(input) : NULL;
  Kind kind = KIND_RECORDING;
  if (told && !astro_set_folder_is(input))
    return refuse(error, "%s is %s", input, told);
  g_autoptr(GPtrArray) files = astro_inputs_find(input, error);
  if (!files || ((!has_format || may_lack) && !find_kinds(found, files, may_lack, &kind, error)))
    return FALSE;
  if (files->len > 1 && kind == KIND_SAMPLES)
    return refuse(error, "%s is %s, and such files are read one at a time: expected one file",
                  (const char *)files->pdata[0], kinds[kind].about);
  g_free(found->first);
  found->first = g_strdup(files->pdata[0]);
  found->factory = kinds[kind].factory;
  found->about = kinds[kind].about;
  found->is_file = TRUE;
  found->n_files = files->len;
  if (kind == KIND_SAMPLES)
    return read_samples(found, samples, error);
  tell(found, "location", location_of(input, files, kind));
  return TRUE;
}

gboolean astro_open_find(AstroOpenFound *found, const char *input, const AstroOpenSamples *samples,
                         GError **error)
{
  *found = (AstroOpenFound){ .first = g_strdup(input),
                             .properties = g_ptr_array_new_with_free_func(g_free) };
  return g_str_has_prefix(input, UDP) ? find_udp(found, error)
                                      : find_files(found, input, samples, error);
}
