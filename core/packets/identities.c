/* The senders that a user expects, in the order of the stream. */
#include "config.h"
#include "core/packets/identities.h"

#include <string.h>
#include "core/packets/packets.h"

struct _AstroIdentities {
  GArray *ids;          /* guint64 */
  GHashTable *indices;  /* index + 1 of each, by its value */
  gboolean takes_first; /* the first one to come is the only one */
};

/* VDIF stores a two-letter code as two bytes, with the first letter in the upper one. */
static gboolean is_code(const char *text)
{
  return strlen(text) == 2 && g_ascii_isalpha(text[0]) && g_ascii_isalnum(text[1]);
}

static gboolean read_one(const char *text, guint64 *id)
{
  if (is_code(text)) {
    *id = (guint64)(guint8)text[0] << 8 | (guint8)text[1];
    return TRUE;
  }
  const gboolean is_hex = g_str_has_prefix(text, "0x");
  return g_ascii_string_to_unsigned(text + (is_hex ? 2 : 0), is_hex ? 16 : 10, 0, G_MAXUINT64 - 1,
                                    id, NULL);
}

static gboolean add(AstroIdentities *self, guint64 id)
{
  if (self->ids->len >= ASTRO_IDENTITIES_MOST)
    return FALSE;
  g_array_append_val(self->ids, id);
  return g_hash_table_insert(self->indices, g_memdup2(&id, sizeof id),
                             GUINT_TO_POINTER(self->ids->len));
}

/* An item is an identifier or a range. A minus is only valid in a range. */
static gboolean add_item(AstroIdentities *self, const char *item)
{
  guint64 first, last;
  const char *minus = strchr(item, '-');
  if (!minus)
    return read_one(item, &first) && add(self, first);
  g_autofree char *from = g_strndup(item, (gsize)(minus - item));
  if (!read_one(from, &first) || !read_one(minus + 1, &last) || last < first ||
      last - first >= ASTRO_IDENTITIES_MOST)
    return FALSE;
  for (guint64 id = first; id <= last; id++)
    if (!add(self, id))
      return FALSE;
  return TRUE;
}

static gboolean read_items(AstroIdentities *self, const char *property, const char *text,
                           GError **error)
{
  g_auto(GStrv) items = g_strsplit(text, ",", -1);
  for (guint i = 0; items[i]; i++)
    if (!add_item(self, g_strstrip(items[i])))
      return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                        "%s=%s: \"%s\" is no identifier, or is there already; expected numbers "
                        "(7, 0x20), ranges (0-3) or codes of two letters (Ef), each once, at most "
                        "%d",
                        property, text, items[i], ASTRO_IDENTITIES_MOST);
  return TRUE;
}

AstroIdentities *astro_identities_new(const char *property, const char *text, guint n,
                                      GError **error)
{
  g_autoptr(AstroIdentities) self = g_new0(AstroIdentities, 1);
  self->ids = g_array_new(FALSE, FALSE, sizeof(guint64));
  self->indices = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  if (text && *text)
    return read_items(self, property, text, error) ? g_steal_pointer(&self) : NULL;
  self->takes_first = n == 1;
  for (guint i = 0; i < n && !self->takes_first; i++)
    add(self, i);
  return g_steal_pointer(&self);
}

void astro_identities_free(AstroIdentities *self)
{
  g_array_unref(self->ids);
  g_hash_table_unref(self->indices);
  g_free(self);
}

guint astro_identities_n(const AstroIdentities *self)
{
  return self->takes_first ? 1 : self->ids->len;
}

gboolean astro_identities_find(AstroIdentities *self, guint64 id, guint *index)
{
  if (self->takes_first && self->ids->len == 0)
    add(self, id);
  const guint found = GPOINTER_TO_UINT(g_hash_table_lookup(self->indices, &id));
  *index = found - 1;
  return found > 0;
}

guint64 astro_identities_at(const AstroIdentities *self, guint index)
{
  return index < self->ids->len ? g_array_index(self->ids, guint64, index) : G_MAXUINT64;
}

char *astro_identity_name(guint64 id)
{
  const char code[] = { (char)(id >> 8 & 0xff), (char)(id & 0xff), '\0' };
  if (id <= 0xffff && is_code(code))
    return g_strdup_printf("%s (%" G_GUINT64_FORMAT ")", code, id);
  return g_strdup_printf("%" G_GUINT64_FORMAT, id);
}
