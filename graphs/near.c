/* Finds the name that is most like a mistyped one. */
#include "graphs/near.h"
#include <string.h>

#define LONGEST 64

/* Number of insertions, removals, changes and swaps of neighbours that make b from a. */
static guint distance(const char *a, const char *b)
{
  guint rows[3][LONGEST + 1];
  guint *before = rows[0], *last = rows[1], *now = rows[2];
  gsize n = strlen(b);
  for (gsize j = 0; j <= n; j++)
    last[j] = j;
  for (gsize i = 1; a[i - 1]; i++) {
    now[0] = i;
    for (gsize j = 1; j <= n; j++) {
      guint change = last[j - 1] + (a[i - 1] != b[j - 1]);
      now[j] = MIN(change, MIN(last[j], now[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = MIN(now[j], before[j - 2] + 1);
    }
    guint *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[n];
}

const char *astro_near(const char *word, const char *const *names)
{
  const char *best = NULL;
  gsize length = strlen(word);
  guint limit = MAX(1, length / 3) + 1;
  if (length < 2 || length > LONGEST)
    return NULL;
  for (; *names; names++) {
    if (strlen(*names) > LONGEST)
      continue;
    /* A name cut short, or one with an ending such as .graph, counts as near. */
    gboolean prefix =
        length >= 3 && (g_str_has_prefix(*names, word) || g_str_has_prefix(word, *names));
    guint d = prefix ? 1 : distance(word, *names);
    if (d < limit) {
      limit = d;
      best = *names;
    }
  }
  return best;
}

char *astro_near_hint(const char *word, const char *const *names)
{
  const char *near = astro_near(word, names);
  return near ? g_strdup_printf(", did you mean %s?", near) : g_strdup("");
}
