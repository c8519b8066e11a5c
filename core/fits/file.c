/* Opens FITS files, and reads their headers and bytes. */
#include "core/fits/file.h"
#include "core/backend/backend.h"
#include "core/backend/threads.h"
#include "core/fits/fits.h"
#include "core/fits/foreign.h"
#include "core/fits/open.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 2880
#define CARD 80
#define CACHE (1u << 20)
#define AT_ONCE (16u << 20) /* bytes; between such pieces reading can be given up */
/* Bytes to read after a seek; doubled each time reading continues from there. */
#define FIRST_AHEAD 4096

static const char file_begin[] = "SIMPLE  =";

struct _AstroFitsFile {
  char *name;
  int fd;
  guint64 bytes;
  gboolean is_hdf5, was_packed;
  GPtrArray *headers;
  /* The part of the file that was read last. */
  guint64 cached_at;
  gsize cached, ahead;
  guint8 *cache;
};

gboolean astro_fits_is_beginning(gconstpointer bytes, gsize n)
{
  return n >= 8 && memcmp(bytes, file_begin, 8) == 0;
}

static void header_free(gpointer data)
{
  AstroFitsHeader *header = data;
  g_hash_table_unref(header->values);
  g_free(header);
}

gboolean astro_fits_wrong(const AstroFitsFile *file, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT, "%s: %s", file->name, what);
  return FALSE;
}

const char *astro_fits_file_name(const AstroFitsFile *file)
{
  return file->name;
}

guint64 astro_fits_file_bytes(const AstroFitsFile *file)
{
  return file->bytes;
}

const AstroFitsHeader *astro_fits_file_header(const AstroFitsFile *file, guint index)
{
  return index < file->headers->len ? g_ptr_array_index(file->headers, index) : NULL;
}

const AstroFitsHeader *astro_fits_file_primary(const AstroFitsFile *file)
{
  return astro_fits_file_header(file, 0);
}

/* All reads of a file come through here, so that long reads can be given up. */
static gboolean fill(AstroFitsFile *file, guint64 at, guint8 *data, gsize bytes, gsize *done,
                     GError **error)
{
  for (*done = 0; *done < bytes;) {
    if (!astro_backend_goes_on(error))
      return FALSE;
    gssize n = pread(file->fd, data + *done, MIN(bytes - *done, AT_ONCE), at + *done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_READ, "cannot read %s: %s", file->name,
                  g_strerror(errno));
      return FALSE;
    }
    if (n == 0)
      break;
    *done += n;
  }
  return TRUE;
}

static gboolean check_whole(AstroFitsFile *file, guint64 at, gsize done, gsize bytes,
                            GError **error)
{
  if (done == bytes)
    return TRUE;
  return astro_fits_wrong(file, error,
                          "cut short: the file ends at %" G_GUINT64_FORMAT
                          " bytes, but its headers announce more",
                          at + done);
}

const guint8 *astro_fits_file_look(AstroFitsFile *file, guint64 at, gsize bytes, guint8 *room,
                                   GError **error)
{
  gsize done = 0;
  if (bytes > CACHE)
    return fill(file, at, room, bytes, &done, error) && check_whole(file, at, done, bytes, error)
               ? room
               : NULL;
  if (at < file->cached_at || at + bytes > file->cached_at + file->cached) {
    gboolean goes_on = at >= file->cached_at && at <= file->cached_at + file->cached;
    file->ahead = goes_on ? CLAMP(2 * file->ahead, FIRST_AHEAD, CACHE) : FIRST_AHEAD;
    file->cached = 0;
    file->cached_at = at;
    if (!fill(file, at, file->cache, MAX(file->ahead, bytes), &file->cached, error))
      return NULL;
  }
  done = MIN(bytes, file->cached_at + file->cached - at);
  return check_whole(file, at, done, bytes, error) ? file->cache + (at - file->cached_at) : NULL;
}

gboolean astro_fits_file_read(AstroFitsFile *file, guint64 at, gpointer data, gsize bytes,
                              GError **error)
{
  const guint8 *found = astro_fits_file_look(file, at, bytes, data, error);
  if (found && found != data)
    memcpy(data, found, bytes);
  return found != NULL;
}

/* A card's value as text, without quotes, trailing spaces and the comment. Strings get a quote in
 * front, to tell them from numbers. */
static char *value_of(const char *card)
{
  const char *text = card + 10, *end = card + CARD;
  GString *value = g_string_new(NULL);
  gsize keep = 0;

  while (text < end && *text == ' ')
    text++;
  if (text < end && *text == '\'') {
    g_string_append_c(value, '\'');
    keep = 1;
    for (text++; text < end && (*text != '\'' || (text + 1 < end && text[1] == '\'')); text++) {
      g_string_append_c(value, *text);
      text += *text == '\'';
      if (value->str[value->len - 1] != ' ')
        keep = value->len;
    }
  } else {
    for (; text < end && *text != '/' && *text != 0; text++) {
      g_string_append_c(value, *text);
      if (*text != ' ')
        keep = value->len;
    }
  }
  g_string_truncate(value, keep);
  return g_string_free(value, FALSE);
}

/* AIPS gives the beam in HISTORY cards, in degrees: "AIPS   CLEAN BMAJ=  1.25E-02 BMIN=  1.25E-02
 * BPA=   0.00". The last one counts. */
static void take_history(AstroFitsHeader *header, const char *card)
{
  static const char *const names[] = { "BMAJ", "BMIN", "BPA" };
  g_autofree char *text = g_strndup(card + 8, CARD - 8);
  const char *at = strstr(text, "CLEAN BMAJ=");
  for (guint i = 0; at && i < G_N_ELEMENTS(names); i++) {
    g_autofree char *found = g_strconcat(names[i], "=", NULL);
    const char *value = strstr(at, found);
    if (!value)
      return;
    value += strlen(found);
    value += strspn(value, " ");
    g_hash_table_insert(header->values, g_strconcat(ASTRO_FITS_AIPS, names[i], NULL),
                        g_strndup(value, strcspn(value, " ")));
  }
}

/* TRUE for the card END. If a keyword appears twice the first counts. */
static gboolean take_card(AstroFitsHeader *header, const char *card)
{
  gsize length = 8;
  while (length > 0 && card[length - 1] == ' ')
    length--;
  g_autofree char *key = g_strndup(card, length);
  if (g_str_equal(key, "END"))
    return TRUE;
  if (g_str_equal(key, "HISTORY"))
    take_history(header, card);
  if (card[8] == '=' && card[9] == ' ' && !g_hash_table_contains(header->values, key))
    g_hash_table_insert(header->values, g_steal_pointer(&key), value_of(card));
  return FALSE;
}

gboolean astro_fits_get_string(const AstroFitsHeader *header, const char *key, const char **value)
{
  const char *text = g_hash_table_lookup(header->values, key);
  if (!text || text[0] != '\'')
    return FALSE;
  *value = text + 1;
  return TRUE;
}

gboolean astro_fits_get_double(const AstroFitsHeader *header, const char *key, double *value)
{
  const char *text = g_hash_table_lookup(header->values, key);
  char number[CARD], *end;
  if (!text || !text[0] || text[0] == '\'')
    return FALSE;
  g_strlcpy(number, text, sizeof number);
  g_strdelimit(number, "Dd", 'E'); /* exponents as Fortran writes them */
  double found = g_ascii_strtod(number, &end);
  if (*end || !isfinite(found))
    return FALSE;
  *value = found;
  return TRUE;
}

gboolean astro_fits_get_integer(const AstroFitsHeader *header, const char *key, gint64 *value)
{
  const char *text = g_hash_table_lookup(header->values, key);
  char *end;
  if (!text || !text[0] || text[0] == '\'')
    return FALSE;
  errno = 0;
  gint64 found = g_ascii_strtoll(text, &end, 10);
  if (*end || errno)
    return FALSE;
  *value = found;
  return TRUE;
}

gboolean astro_fits_get_string_n(const AstroFitsHeader *header, const char *key, guint n,
                                 const char **value)
{
  g_autofree char *name = g_strdup_printf("%s%u", key, n);
  return astro_fits_get_string(header, name, value);
}

gboolean astro_fits_get_double_n(const AstroFitsHeader *header, const char *key, guint n,
                                 double *value)
{
  g_autofree char *name = g_strdup_printf("%s%u", key, n);
  return astro_fits_get_double(header, name, value);
}

static gboolean wrong_shape(const AstroFitsFile *file, const char *key, gint64 found,
                            GError **error)
{
  return astro_fits_wrong(
      file, error, "%s is missing or has an impossible value, %" G_GINT64_FORMAT, key, found);
}

/* Finds the size of the data that follow. */
static gboolean read_shape(const AstroFitsFile *file, AstroFitsHeader *header, GError **error)
{
  gint64 bitpix = 0, n_axes = -1, parameters = 0, groups = 1;
  guint64 values = 1;

  astro_fits_get_integer(header, "BITPIX", &bitpix);
  if (bitpix != 8 && bitpix != 16 && bitpix != 32 && bitpix != 64 && bitpix != -32 && bitpix != -64)
    return wrong_shape(file, "BITPIX", bitpix, error);
  astro_fits_get_integer(header, "NAXIS", &n_axes);
  if (n_axes < 0 || n_axes > ASTRO_FITS_MAX_AXES)
    return wrong_shape(file, "NAXIS", n_axes, error);
  header->bitpix = bitpix;
  header->n_axes = n_axes;
  header->groups = g_strcmp0(g_hash_table_lookup(header->values, "GROUPS"), "T") == 0;

  for (guint i = 0; i < header->n_axes; i++) {
    g_autofree char *key = g_strdup_printf("NAXIS%u", i + 1);
    gint64 length = -1;
    astro_fits_get_integer(header, key, &length);
    if (length < 0)
      return wrong_shape(file, key, length, error);
    header->axes[i] = length;
    /* a first axis of length 0 marks random groups, and is not one of the groups' axes */
    header->groups = header->groups && (i > 0 || length == 0);
    if (!(header->groups && i == 0) && !g_uint64_checked_mul(&values, values, length))
      return wrong_shape(file, key, length, error);
  }
  header->groups = header->groups && header->n_axes > 0;
  values = header->n_axes ? values : 0;

  astro_fits_get_integer(header, "PCOUNT", &parameters);
  astro_fits_get_integer(header, "GCOUNT", &groups);
  if (parameters < 0)
    return wrong_shape(file, "PCOUNT", parameters, error);
  if (groups < 0)
    return wrong_shape(file, "GCOUNT", groups, error);
  header->n_parameters = parameters;
  header->n_groups = groups;
  if (!g_uint64_checked_add(&values, values, parameters) ||
      !g_uint64_checked_mul(&values, values, groups) ||
      !g_uint64_checked_mul(&header->bytes, values, ABS(bitpix) / 8) || header->bytes > G_MAXINT64)
    return wrong_shape(file, "GCOUNT", groups, error);
  return TRUE;
}

static AstroFitsHeader *read_header(AstroFitsFile *file, guint64 at, GError **error)
{
  AstroFitsHeader *header = g_new0(AstroFitsHeader, 1);
  gboolean end = FALSE;
  char block[BLOCK];

  header->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  for (; !end; at += BLOCK) {
    if (!astro_fits_file_read(file, at, block, BLOCK, error))
      break;
    for (guint i = 0; i < BLOCK && !end; i += CARD)
      end = take_card(header, block + i);
  }
  header->data = at;
  if (end && read_shape(file, header, error))
    return header;
  header_free(header);
  return NULL;
}

static gboolean refuse_begin(const AstroFitsFile *file, const char *start, GError **error)
{
  if (file->bytes == 0) {
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN, "%s is empty", file->name);
    return FALSE;
  }
  if (g_str_equal(start, file_begin))
    return astro_fits_wrong(file, error,
                            "cut short: the file ends at %" G_GUINT64_FORMAT
                            " bytes, within its first header",
                            file->bytes);
  g_set_error(
      error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
      "%s is not a FITS file: it does not begin with \"%s\". Samples without a header go by "
      "filesrc and astroobserve, as in the graph correlate-file",
      file->name, file_begin);
  return FALSE;
}

/* Headers after the first are read as long as they make sense: files may end in padding or rubbish.
 */
static gboolean read_headers(AstroFitsFile *file, GError **error)
{
  char start[sizeof file_begin] = "";
  guint64 at = 0;

  if (!astro_fits_file_read(file, 0, start, sizeof file_begin - 1, NULL) || file->bytes < BLOCK ||
      !g_str_equal(start, file_begin))
    return refuse_begin(file, start, error);
  while (at < file->bytes) {
    AstroFitsHeader *header = read_header(file, at, file->headers->len ? NULL : error);
    if (!header)
      break;
    g_ptr_array_add(file->headers, header);
    if (header->bytes > file->bytes - MIN(header->data, file->bytes))
      break;
    at = header->data + (header->bytes + BLOCK - 1) / BLOCK * BLOCK;
  }
  return file->headers->len > 0;
}

/* Whether the start of the file has only bytes that occur in text. */
static gboolean begins_as_text(AstroFitsFile *file)
{
  guint8 begin[BLOCK];
  gsize bytes = MIN(file->bytes, sizeof begin);
  if (bytes == 0 || !astro_fits_file_read(file, 0, begin, bytes, NULL) ||
      astro_fits_is_beginning(begin, bytes))
    return FALSE;
  for (gsize i = 0; i < bytes; i++)
    if (begin[i] < ' ' && !(begin[i] && strchr("\t\n\r\f\v", begin[i])))
      return FALSE;
  return TRUE;
}

static gboolean begins_as_hdf5(AstroFitsFile *file)
{
  guint8 begin[ASTRO_HDF5_BEGINNING];
  return file->bytes >= sizeof begin && astro_fits_file_read(file, 0, begin, sizeof begin, NULL) &&
         astro_foreign_is_hdf5(begin, sizeof begin);
}

static gboolean check_kind(AstroFitsFile *file, GError **error)
{
  const gsize bytes = MIN(file->bytes, ASTRO_FOREIGN_BYTES);
  g_autofree guint8 *room = g_malloc(MAX(bytes, 1));
  const guint8 *begin = astro_fits_file_look(file, 0, bytes, room, NULL);
  const char *told = begin ? astro_foreign_bytes(begin, bytes) : NULL;
  return !told ||
         astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN, "%s is %s", file->name, told);
}

/* A look that was given up says nothing of what is there. */
static gboolean find_kind(AstroFitsFile *file, GError **error)
{
  file->is_hdf5 = begins_as_hdf5(file);
  const gboolean is_known = file->is_hdf5 || (check_kind(file, error) &&
                                              (begins_as_text(file) || read_headers(file, error)));
  if (!astro_is_given_up())
    return is_known;
  g_clear_error(error);
  return astro_backend_goes_on(error);
}

AstroFitsFile *astro_fits_file_open_any(const char *path, GError **error)
{
  struct stat there = { 0 };
  int fd = astro_fits_open(path, error);
  if (fd < 0)
    return NULL;
  AstroFitsFile *file = g_new0(AstroFitsFile, 1);
  file->name = g_strdup(path);
  file->fd = fd;
  file->bytes = fstat(fd, &there) == 0 ? there.st_size : 0;
  file->was_packed = there.st_nlink == 0; /* what is unpacked has no name */
  file->headers = g_ptr_array_new_with_free_func(header_free);
  file->cache = g_malloc(CACHE);
  if (find_kind(file, error))
    return file;
  astro_fits_file_close(file);
  return NULL;
}

AstroFitsFile *astro_fits_file_open(const char *path, GError **error)
{
  AstroFitsFile *file = astro_fits_file_open_any(path, error);
  if (!file || !astro_fits_file_is_hdf5(file))
    return file;
  check_kind(file, error);
  astro_fits_file_close(file);
  return NULL;
}

gboolean astro_fits_file_is_hdf5(const AstroFitsFile *file)
{
  return file->is_hdf5;
}

gboolean astro_fits_file_was_packed(const AstroFitsFile *file)
{
  return file->was_packed;
}

GMappedFile *astro_fits_file_map(const AstroFitsFile *file, GError **error)
{
  return g_mapped_file_new_from_fd(file->fd, FALSE, error);
}

void astro_fits_file_close(AstroFitsFile *file)
{
  close(file->fd);
  g_ptr_array_unref(file->headers);
  g_free(file->cache);
  g_free(file->name);
  g_free(file);
}

gboolean astro_fits_is_binary_table(const AstroFitsHeader *header)
{
  const char *type = "";
  astro_fits_get_string(header, "XTENSION", &type);
  return g_str_equal(type, "BINTABLE") || g_str_equal(type, "A3DTABLE");
}

gboolean astro_fits_is_text_table(const AstroFitsHeader *header)
{
  const char *type = "";
  return astro_fits_get_string(header, "XTENSION", &type) && g_str_equal(type, "TABLE");
}

const AstroFitsHeader *astro_fits_file_find_table(const AstroFitsFile *file, const char *name)
{
  const AstroFitsHeader *first = NULL;
  for (guint i = 1; i < file->headers->len; i++) {
    const AstroFitsHeader *header = g_ptr_array_index(file->headers, i);
    const char *found = "";
    gint64 version = 1;
    astro_fits_get_string(header, "EXTNAME", &found);
    if (!astro_fits_is_binary_table(header) || !g_str_equal(found, name))
      continue;
    astro_fits_get_integer(header, "EXTVER", &version);
    if (version == 1)
      return header;
    first = first ? first : header;
  }
  return first;
}
