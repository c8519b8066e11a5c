/* Reads the lists of stations, channels and the like in properties: numbers, ranges and names. */
#include "config.h"
#include "core/select/select.h"

#include <string.h>

#include "core/kit/share.h"

/* With ranks: the share of rank number first among so many. */
typedef struct {
  gboolean is_name, is_open;
  guint64 first, last, step, ranks;
} Item;

static gboolean read_number(const char **text, guint64 *number)
{
  char *end;
  if (!g_ascii_isdigit(**text))
    return FALSE;
  *number = g_ascii_strtoull(*text, &end, 10);
  *text = end;
  return TRUE;
}

/* Names may contain digits and dashes: an item that is not a range is a name. */
static Item read_item(const char *text)
{
  const Item name = { .is_name = TRUE };
  Item item = { .step = 1 };
  if (!read_number(&text, &item.first))
    return name;
  item.last = item.first;
  if (*text == '/') {
    text++;
    if (!read_number(&text, &item.ranks) || !item.ranks)
      return name;
  }
  if (*text == '-') {
    text++;
    item.is_open = !read_number(&text, &item.last);
    if (*text == ':') {
      text++;
      if (!read_number(&text, &item.step))
        return name;
    }
  }
  return *text ? name : item;
}

static gboolean refuse_range(const char *item, const AstroSelectFrom *from, GError **error)
{
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "%s: \"%s\" is beyond the %" G_GUINT64_FORMAT
                             " that there are, expected 0 to %" G_GUINT64_FORMAT,
                             from->what, item, from->extent, from->extent - 1);
}

static gboolean refuse_name(const char *item, const AstroSelectFrom *from, GError **error)
{
  const guint some = 8, n = g_strv_length((char **)from->names);
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < MIN(n, some); i++)
    g_string_append_printf(names, "%s%s", i ? ", " : "", from->names[i]);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "%s: there is no \"%s\", expected %s%s, or a number from 0 on",
                             from->what, item, names->str, n > some ? " ..." : "");
}

static gboolean add_name(GArray *list, const char *item, const AstroSelectFrom *from,
                         GError **error)
{
  guint64 found = G_MAXUINT64;
  for (guint64 i = 0; from->names && from->names[i]; i++)
    if (!strcmp(from->names[i], item)) {
      if (found != G_MAXUINT64)
        return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                   "%s: two are named \"%s\", expected a number from 0 on",
                                   from->what, item);
      found = i;
    }
  if (from->names && found == G_MAXUINT64)
    return refuse_name(item, from, error);
  if (from->names && found >= from->extent)
    return refuse_range(item, from, error);
  g_array_append_val(list, found);
  return TRUE;
}

static gboolean refuse_share(const char *item, const AstroSelectFrom *from, GError **error)
{
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "%s: \"%s\" is nothing of the %" G_GUINT64_FORMAT
                             " that there are, expected RANK/RANKS with RANK from 0 to RANKS - 1, "
                             "and at most as many ranks as there are %s",
                             from->what, item, from->extent, from->what);
}

static gboolean add_share(GArray *list, const char *text, const Item *item,
                          const AstroSelectFrom *from, GError **error)
{
  if (item->first >= item->ranks || item->ranks > from->extent)
    return refuse_share(text, from, error);
  const AstroShare share = astro_share_of(from->extent, (guint)item->first, (guint)item->ranks);
  for (guint64 i = share.first; i < share.first + share.n; i++)
    g_array_append_val(list, i);
  return TRUE;
}

static gboolean add_item(GArray *list, const char *text, const AstroSelectFrom *from,
                         GError **error)
{
  Item item = read_item(text);
  if (item.is_name)
    return add_name(list, text, from, error);
  if (item.ranks)
    return add_share(list, text, &item, from, error);
  if (item.is_open)
    item.last = from->extent - 1;
  if (item.first >= from->extent || item.last >= from->extent)
    return refuse_range(text, from, error);
  if (item.last < item.first || item.step == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s: \"%s\" is not a range, expected FIRST-LAST or FIRST-LAST:STEP, "
                               "with LAST not below FIRST and STEP at least 1",
                               from->what, text);
  for (guint64 i = item.first; i <= item.last; i += MIN(item.step, from->extent))
    g_array_append_val(list, i);
  return TRUE;
}

/* A station listed twice would be correlated with itself as if it were two stations. */
static gboolean check_once(const GArray *list, const AstroSelectFrom *from, GError **error)
{
  g_autofree guint8 *seen = g_malloc0(from->extent);
  for (guint i = 0; i < list->len; i++) {
    const guint64 index = g_array_index(list, guint64, i);
    if (index < from->extent && seen[index]++)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "%s: number %" G_GUINT64_FORMAT
                                 " is listed twice, expected each once",
                                 from->what, index);
  }
  return TRUE;
}

static gboolean refuse_empty(const char *text, const AstroSelectFrom *from, GError **error)
{
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "%s: \"%s\" has an empty item, expected numbers from 0 on, ranges "
                             "and names joined by ','",
                             from->what, text);
}

GArray *astro_select_read_list(const char *text, const AstroSelectFrom *from, GError **error)
{
  g_auto(GStrv) items = g_strsplit(text, ",", -1);
  g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(guint64));
  gboolean ok = items[0] || refuse_empty(text, from, error);
  for (guint i = 0; ok && items[i]; i++)
    ok = *g_strstrip(items[i]) ? add_item(list, items[i], from, error)
                               : refuse_empty(text, from, error);
  return ok && check_once(list, from, error) ? g_steal_pointer(&list) : NULL;
}

guint64 astro_select_count(const char *text, guint64 extent)
{
  g_auto(GStrv) items = g_strsplit(text, ",", -1);
  guint64 n = 0;
  for (guint i = 0; items[i]; i++) {
    const Item item = read_item(g_strstrip(items[i]));
    const guint64 end = item.is_open ? extent : item.last + 1;
    if (item.is_name)
      n++;
    else if (item.ranks && (item.first >= item.ranks || item.ranks > extent))
      return 0;
    else if (item.ranks)
      n += astro_share_of(extent, (guint)item.first, (guint)item.ranks).n;
    else if (end <= item.first || item.step == 0)
      return 0;
    else
      n += (end - item.first - 1) / item.step + 1;
  }
  return n;
}

gboolean astro_select_has_names(const char *text)
{
  g_auto(GStrv) items = g_strsplit(text, ",", -1);
  for (guint i = 0; items[i]; i++)
    if (read_item(g_strstrip(items[i])).is_name)
      return TRUE;
  return FALSE;
}

/* ---- baselines and bands of a list ---- */

GArray *astro_select_baselines(const GArray *stations, guint64 of, gboolean is_full)
{
  const guint64 *kept = (const guint64 *)(gconstpointer)stations->data;
  GArray *list = g_array_new(FALSE, FALSE, sizeof(guint64));
  for (guint i = 0; i < stations->len; i++)
    for (guint j = 0; j < (is_full ? stations->len : i + 1); j++) {
      const guint64 a = kept[i], b = kept[j];
      const guint64 pair = is_full  ? a * of + b
                           : a >= b ? a * (a + 1) / 2 + b
                                    : (b * (b + 1) / 2 + a) | ASTRO_SELECT_REVERSED;
      g_array_append_val(list, pair);
    }
  return list;
}

gboolean astro_select_band(const GArray *channels, guint64 of, double *frequency, double *bandwidth,
                           GError **error)
{
  const guint64 *kept = (const guint64 *)(gconstpointer)channels->data;
  if (*bandwidth == 0)
    return TRUE;
  for (guint i = 1; i < channels->len; i++)
    if (kept[i] != kept[i - 1] + 1)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "channels: %" G_GUINT64_FORMAT " follows %" G_GUINT64_FORMAT
                                 ", but caps describe frequencies only by a centre and a width: "
                                 "expected consecutive channels, rising; several "
                                 "astroselect after a tee keep several bands",
                                 kept[i], kept[i - 1]);
  const double width = *bandwidth / (double)of;
  const double middle = (double)kept[0] + (double)channels->len / 2 - (double)of / 2;
  *frequency += middle * width;
  *bandwidth = width * (double)channels->len;
  return TRUE;
}
