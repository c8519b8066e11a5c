/* Reads the description of a header, line by line. */
#include "config.h"
#include "core/packets/describe.h"

#include <string.h>

static const struct {
  const char *name;
  AstroAxis axis;
} extents[] = {
  { "steps", ASTRO_AXIS_TIME },
  { "channels", ASTRO_AXIS_CHANNEL },
  { "stations", ASTRO_AXIS_STATION },
  { "pols", ASTRO_AXIS_POL },
};
#define N_EXTENTS G_N_ELEMENTS(extents)
G_STATIC_ASSERT(N_EXTENTS == ASTRO_PACKET_N_EXTENTS);

#define MOST_BYTES 8
#define FIRST_ITEM 7
#define LAST_ITEM 0x7fff /* item numbers have 15 bits beside 48 bits of address */

/* Reads a whole number within limits, decimal, or hexadecimal after 0x. */
static gboolean read_number(const char *text, guint64 least, guint64 most, guint64 *value)
{
  const gboolean is_hex = g_str_has_prefix(text, "0x");
  return g_ascii_string_to_unsigned(text + (is_hex ? 2 : 0), is_hex ? 16 : 10, least, most, value,
                                    NULL);
}

static gboolean take_bytes(AstroPacketDescription *d, const AstroLines *lines, guint64 offset,
                           guint64 n, GError **error)
{
  if (offset + n > ASTRO_PACKET_MAX_HEADER) {
    astro_lines_error(lines, error, "ends at byte %" G_GUINT64_FORMAT ", expected %d at most",
                      offset + n, ASTRO_PACKET_MAX_HEADER);
    return FALSE;
  }
  for (guint64 i = offset; i < offset + n; i++)
    if (d->is_taken[i]++) {
      astro_lines_error(lines, error, "byte %" G_GUINT64_FORMAT " has another meaning already", i);
      return FALSE;
    }
  return TRUE;
}

static gboolean read_place(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                           AstroPacketPlace *place, GError **error)
{
  guint64 offset, bytes;
  const gboolean is_little = strcmp(fields[1], "little") == 0;
  if ((!is_little && strcmp(fields[1], "big") != 0) ||
      !read_number(fields[2], 0, ASTRO_PACKET_MAX_HEADER, &offset) ||
      !read_number(fields[3], 1, MOST_BYTES, &bytes)) {
    astro_lines_error(lines, error,
                      "expected %s big or little, the first byte and 1 to %d bytes, as in "
                      "\"%s big 0 6\"",
                      fields[0], MOST_BYTES, fields[0]);
    return FALSE;
  }
  *place = (AstroPacketPlace){ is_little, (guint)offset, (guint)bytes };
  return take_bytes(d, lines, offset, bytes, error);
}

static gboolean read_invalid(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                             GError **error)
{
  if (!read_place(d, lines, fields, &d->invalid, error))
    return FALSE;
  const guint64 most =
      d->invalid.bytes == 8 ? G_MAXUINT64 : ((guint64)1 << 8 * d->invalid.bytes) - 1;
  if (!read_number(fields[4], 1, most, &d->invalid_bits)) {
    astro_lines_error(lines, error, "bits \"%s\" are not in %u bytes", fields[4], d->invalid.bytes);
    return FALSE;
  }
  return TRUE;
}

static gboolean read_magic(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                           GError **error)
{
  guint64 offset;
  const gsize digits = strlen(fields[2]);
  gboolean is_good = digits > 0 && digits % 2 == 0 && digits <= 2 * ASTRO_PACKET_MOST_MAGIC &&
                     read_number(fields[1], 0, ASTRO_PACKET_MAX_HEADER, &offset);
  for (gsize i = 0; is_good && i < digits; i++) {
    const gint digit = g_ascii_xdigit_value(fields[2][i]);
    is_good = digit >= 0;
    d->magic[i / 2] = (guint8)(d->magic[i / 2] << 4 | (digit & 0xf));
  }
  if (!is_good) {
    astro_lines_error(lines, error,
                      "expected the first byte and up to %d bytes in hexadecimal, as "
                      "in \"magic 8 53594e43\"",
                      ASTRO_PACKET_MOST_MAGIC);
    return FALSE;
  }
  d->magic_offset = (guint)offset;
  d->magic_bytes = (guint)digits / 2;
  return take_bytes(d, lines, offset, d->magic_bytes, error);
}

static gboolean read_payload(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                             GError **error)
{
  guint64 payload;
  if (!read_number(fields[1], 1, ASTRO_PACKET_MAX_HEADER, &payload)) {
    astro_lines_error(lines, error, "samples begin at \"%s\", expected 1 to %d", fields[1],
                      ASTRO_PACKET_MAX_HEADER);
    return FALSE;
  }
  d->payload = (gsize)payload;
  return TRUE;
}

static gboolean read_order(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                           GError **error)
{
  g_autoptr(GError) cause = NULL;
  if (astro_layout_parse(&d->samples.layout, fields[1], ASTRO_QUANTITY_UNKNOWN, &cause))
    return TRUE;
  astro_lines_error(lines, error, "%s", cause->message);
  return FALSE;
}

static gboolean read_extent(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                            GError **error)
{
  for (guint i = 0; i < N_EXTENTS; i++)
    if (strcmp(fields[0], extents[i].name) == 0) {
      if (read_number(fields[1], 1, ASTRO_PACKET_MAX_BYTES, &d->extents[i]))
        return TRUE;
      astro_lines_error(lines, error, "there are \"%s\" %s, expected a number from 1 on", fields[1],
                        fields[0]);
    }
  return FALSE;
}

static gboolean read_bits(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                          GError **error)
{
  guint64 bits;
  d->samples.is_complex = strcmp(fields[2], "complex") == 0;
  if (!read_number(fields[1], 1, 32, &bits) ||
      (!d->samples.is_complex && strcmp(fields[2], "real") != 0)) {
    astro_lines_error(lines, error,
                      "expected 1 to 32 bits of real or complex samples, as in "
                      "\"bits 8 complex\"");
    return FALSE;
  }
  d->samples.bits = (guint)bits;
  return TRUE;
}

/* Finds the line's value in a list of words, which ends with NULL. */
static gboolean read_word(const AstroLines *lines, char **fields, const char *const *words,
                          guint *word, GError **error)
{
  for (*word = 0; words[*word]; ++*word)
    if (strcmp(fields[1], words[*word]) == 0)
      return TRUE;
  g_autofree char *known = g_strjoinv(", ", (char **)words);
  astro_lines_error(lines, error, "%s is \"%s\", expected one of %s", fields[0], fields[1], known);
  return FALSE;
}

static gboolean read_code(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                          GError **error)
{
  static const char *const words[] = {
    [ASTRO_PACKET_SIGNED] = "signed", [ASTRO_PACKET_OFFSET] = "offset", NULL
  };
  guint word;
  if (!read_word(lines, fields, words, &word, error))
    return FALSE;
  d->samples.code = (AstroPacketCode)word;
  return TRUE;
}

static gboolean read_packing(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                             GError **error)
{
  static const char *const words[] = { [ASTRO_PACKET_BITS_LITTLE] = "little",
                                       [ASTRO_PACKET_BITS_BIG] = "big",
                                       [ASTRO_PACKET_WORDS] = "words",
                                       NULL };
  guint word;
  if (!read_word(lines, fields, words, &word, error))
    return FALSE;
  d->samples.packing = (AstroPacketPacking)word;
  return TRUE;
}

static gboolean read_counts(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                            GError **error)
{
  d->counts_packets = strcmp(fields[1], "packets") == 0;
  if (d->counts_packets || read_number(fields[1], 1, G_MAXUINT32, &d->count_step))
    return TRUE;
  astro_lines_error(lines, error,
                    "the sequence counts \"%s\", expected packets or how many of it make a step",
                    fields[1]);
  return FALSE;
}

/* Where the number of the named item is stored. NULL: there is no such item. */
static guint *item_of(AstroPacketDescription *d, const char *name)
{
  const struct {
    const char *name;
    guint *item;
  } items[] = {
    { "sequence", &d->spead.items.time }, { "station", &d->spead.items.station },
    { "pol", &d->spead.items.pol },       { "channel", &d->spead.items.channel },
    { "thread", &d->spead.items.thread }, { "samples", &d->spead.items.samples },
  };
  for (guint i = 0; i < G_N_ELEMENTS(items); i++)
    if (strcmp(name, items[i].name) == 0)
      return items[i].item;
  return NULL;
}

/* Numbers below FIRST_ITEM are SPEAD's own items. */
static gboolean read_item(const AstroLines *lines, char **fields, guint *item, GError **error)
{
  guint64 number;
  if (!read_number(fields[2], FIRST_ITEM, LAST_ITEM, &number)) {
    astro_lines_error(lines, error,
                      "expected %s item and its number, %d to %d, as in \"%s item 0x1600\"",
                      fields[0], FIRST_ITEM, LAST_ITEM, fields[0]);
    return FALSE;
  }
  *item = (guint)number;
  return TRUE;
}

static gboolean read_spead(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                           GError **error)
{
  guint64 address;
  if (!read_number(fields[1], 0, 64, &address) || (address != 48 && address != 40)) {
    astro_lines_error(lines, error, "SPEAD addresses have \"%s\" bits, expected 48 or 40",
                      fields[1]);
    return FALSE;
  }
  d->spead.address = (guint)address;
  return TRUE;
}

static const struct {
  const char *name;
  guint fields; /* including the name */
  gboolean (*read)(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                   GError **error);
} readers[] = {
  { "invalid", 5, read_invalid }, { "magic", 3, read_magic },  { "payload", 2, read_payload },
  { "order", 2, read_order },     { "steps", 2, read_extent }, { "channels", 2, read_extent },
  { "stations", 2, read_extent }, { "pols", 2, read_extent },  { "bits", 3, read_bits },
  { "spead", 2, read_spead },     { "code", 2, read_code },    { "packing", 2, read_packing },
  { "counts", 2, read_counts },
};
#define N_READERS G_N_ELEMENTS(readers)

static gboolean read_line(AstroPacketDescription *d, const AstroLines *lines, char **fields,
                          GHashTable *seen, GError **error)
{
  const guint n = g_strv_length(fields);
  if (!g_hash_table_add(seen, g_strdup(fields[0]))) {
    astro_lines_error(lines, error, "%s is there twice", fields[0]);
    return FALSE;
  }
  for (guint i = 0; i < ASTRO_PACKET_N_NUMBERS; i++)
    if (strcmp(fields[0], astro_packet_numbers[i].name) == 0 && n == 4)
      return read_place(d, lines, fields, &d->numbers[i], error);
  if (n == 3 && strcmp(fields[1], "item") == 0 && item_of(d, fields[0]))
    return read_item(lines, fields, item_of(d, fields[0]), error);
  for (guint i = 0; i < N_READERS; i++)
    if (strcmp(fields[0], readers[i].name) == 0 && n == readers[i].fields)
      return readers[i].read(d, lines, fields, error);
  astro_lines_error(
      lines, error,
      "\"%s\" with %u values says nothing of a packet, expected sequence, station, "
      "pol, channel, thread (each big or little, first byte, bytes), magic, invalid, "
      "payload, order, steps, channels, stations, pols, bits, code, packing or counts; of SPEAD "
      "spead, and sequence, station, pol, channel, thread and samples (each item and its number)",
      fields[0], n - 1);
  return FALSE;
}

/* Only packets other than SPEAD have fields at fixed positions, and only SPEAD heaps have items. */
static gboolean check_kind(const AstroPacketDescription *d, const AstroLines *lines, GError **error)
{
  const gboolean is_spead = d->spead.address > 0;
  const AstroSpeadItems *items = &d->spead.items;
  const gboolean has_items = items->time || items->station || items->pol || items->channel ||
                             items->thread || items->samples;
  gboolean has_places = d->payload > 0;
  for (guint i = 0; i < ASTRO_PACKET_MAX_HEADER; i++)
    has_places |= d->is_taken[i];
  if (has_items == is_spead && has_places != is_spead)
    return TRUE;
  astro_lines_error(lines, error,
                    is_spead
                        ? "heaps of SPEAD have items, but no bytes at fixed positions"
                        : "there are items, which only SPEAD heaps have, but no line \"spead\"");
  return FALSE;
}

/* Checks that the lines make a complete description. */
static gboolean finish(AstroPacketDescription *d, const AstroLines *lines, GHashTable *seen,
                       GError **error)
{
  static const char *const needed[] = { "sequence", "payload", "order", "bits", NULL };
  static const char *const needed_of_heaps[] = { "sequence", "samples", "order", "bits", NULL };
  const gboolean is_spead = d->spead.address > 0;
  const char *const *const all = is_spead ? needed_of_heaps : needed;
  AstroLayout *layout = &d->samples.layout;
  for (guint i = 0; all[i]; i++)
    if (!g_hash_table_contains(seen, all[i])) {
      astro_lines_error(lines, error, "the description ends without a line \"%s\"", all[i]);
      return FALSE;
    }
  if (!check_kind(d, lines, error))
    return FALSE;
  for (guint i = (guint)d->payload; i < ASTRO_PACKET_MAX_HEADER; i++)
    if (d->is_taken[i]) {
      astro_lines_error(lines, error,
                        "byte %u belongs to the header and to the samples, which begin at %zu", i,
                        d->payload);
      return FALSE;
    }
  for (guint i = 0; i < layout->n_axes; i++)
    for (guint k = 0; k < N_EXTENTS; k++)
      if (layout->axes[i] == extents[k].axis)
        layout->extents[i] = d->extents[k];
  for (guint i = 0; i < layout->n_axes; i++)
    if (layout->extents[i] == 0) {
      astro_lines_error(lines, error,
                        "the order has an axis %s, but no line gives its extent (steps, "
                        "channels, stations, pols)",
                        astro_axis_name(layout->axes[i]));
      return FALSE;
    }
  for (guint k = 0; k < N_EXTENTS; k++)
    if (d->extents[k] && astro_layout_find(layout, extents[k].axis) < 0) {
      astro_lines_error(lines, error, "there are %s, but no axis %s in the order", extents[k].name,
                        astro_axis_name(extents[k].axis));
      return FALSE;
    }
  const gsize bytes = astro_packet_payload_bytes(&d->samples);
  if (bytes == 0 || bytes > ASTRO_PACKET_MAX_BYTES) {
    astro_lines_error(lines, error,
                      "the samples do not fill whole bytes, or whole words, or are more than 2^27 "
                      "bytes");
    return FALSE;
  }
  d->spead.samples = d->samples;
  d->spead.counts_packets = d->counts_packets;
  d->spead.count_step = d->count_step;
  return TRUE;
}

AstroPacketDescription *astro_packet_description_read(AstroLines *lines, GError **error)
{
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autofree AstroPacketDescription *d = g_new0(AstroPacketDescription, 1);
  char **fields;
  while ((fields = astro_lines_next(lines))) {
    const gboolean is_read = read_line(d, lines, fields, seen, error);
    g_strfreev(fields);
    if (!is_read)
      return NULL;
  }
  return finish(d, lines, seen, error) ? g_steal_pointer(&d) : NULL;
}

AstroPacketDescription *astro_packet_description_open(const char *path, GError **error)
{
  AstroLines lines;
  if (!astro_lines_open(&lines, path, error)) {
    g_prefix_error(error, "packet=@%s: ", path);
    return NULL;
  }
  AstroPacketDescription *d = astro_packet_description_read(&lines, error);
  astro_lines_clear(&lines);
  return d;
}
