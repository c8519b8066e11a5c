/* Headers of text: a keyword and its value on each line, or on each card of 80 characters. */
#include "config.h"
#include "core/recorders/keywords.h"

#include "core/kit/lines.h"

#include <string.h>

#define CARD 80
#define CARD_NAME 8
#define CARD_VALUE 9 /* after "= " or "=" */

static void init(AstroRecorderKeywords *keywords, const char *file)
{
  keywords->file = file;
  keywords->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

void astro_recorder_keywords_clear(AstroRecorderKeywords *keywords)
{
  g_clear_pointer(&keywords->values, g_hash_table_unref);
}

void astro_recorder_keywords_from_lines(AstroRecorderKeywords *keywords, const char *file,
                                        const guint8 *bytes, gsize n)
{
  init(keywords, file);
  g_autofree char *text = g_strndup((const char *)bytes, n);
  g_auto(GStrv) lines = g_strsplit_set(text, "\r\n", -1);
  for (guint i = 0; lines[i]; i++) {
    char *comment = strchr(lines[i], '#');
    if (comment)
      *comment = 0;
    char *name = g_strstrip(lines[i]);
    const gsize length = strcspn(name, " \t");
    if (length == 0 || !name[length])
      continue;
    name[length] = 0;
    g_hash_table_insert(keywords->values, g_strdup(name), g_strdup(g_strstrip(name + length + 1)));
  }
}

/* Values in quotes may be numbers too: some recorders quote everything. */
static char *value_of(const char *card)
{
  g_autofree char *text = g_strndup(card + CARD_VALUE, CARD - CARD_VALUE);
  char *from = g_strstrip(text);
  if (*from == '\'') {
    char *end = strchr(++from, '\'');
    if (end)
      *end = 0;
  } else {
    char *comment = strchr(from, '/');
    if (comment)
      *comment = 0;
  }
  return g_strdup(g_strstrip(from));
}

gsize astro_recorder_keywords_from_cards(AstroRecorderKeywords *keywords, const char *file,
                                         const guint8 *bytes, gsize n)
{
  init(keywords, file);
  for (gsize at = 0; at + CARD <= n; at += CARD) {
    const char *card = (const char *)bytes + at;
    if (strncmp(card, "END ", 4) == 0)
      return at + CARD;
    if (card[CARD_NAME] != '=' || !g_ascii_isprint(card[0]))
      return 0;
    g_autofree char *name = g_strndup(card, CARD_NAME);
    g_hash_table_insert(keywords->values, g_strdup(g_strstrip(name)), value_of(card));
  }
  return 0;
}

const char *astro_recorder_keyword(const AstroRecorderKeywords *keywords, const char *name)
{
  const char *text = g_hash_table_lookup(keywords->values, name);
  return text && *text && g_ascii_strcasecmp(text, "unset") != 0 ? text : NULL;
}

gboolean astro_recorder_keyword_number(const AstroRecorderKeywords *keywords, const char *name,
                                       double least, double most, double *value, GError **error)
{
  const char *text = astro_recorder_keyword(keywords, name);
  *value = 0;
  if (!text)
    return TRUE;
  if (astro_number_parse(text, value) && *value >= least && *value <= most)
    return TRUE;
  return astro_recorder_fail(error, FORMAT, "%s: %s is \"%s\", expected a number from %g to %g",
                             keywords->file, name, text, least, most);
}

gboolean astro_recorder_keyword_whole(const AstroRecorderKeywords *keywords, const char *name,
                                      guint64 most, guint64 *value, GError **error)
{
  const char *text = astro_recorder_keyword(keywords, name);
  *value = 0;
  if (!text || g_ascii_string_to_unsigned(text, 10, 0, most, value, NULL))
    return TRUE;
  return astro_recorder_fail(error, FORMAT,
                             "%s: %s is \"%s\", expected a whole number up to %" G_GUINT64_FORMAT,
                             keywords->file, name, text, most);
}

gboolean astro_recorder_keyword_needed(const AstroRecorderKeywords *keywords, const char *name,
                                       guint64 most, guint64 *value, GError **error)
{
  if (!astro_recorder_keyword_whole(keywords, name, most, value, error))
    return FALSE;
  return *value > 0 ||
         astro_recorder_fail(error, FORMAT, "%s: the header has no %s above 0, which it needs",
                             keywords->file, name);
}
