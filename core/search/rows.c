/* Candidates as lines of a table. */
#include "config.h"
#include "core/search/rows.h"

#include <string.h>

const char astro_search_rows_header[] =
    "time,seconds,index,dm,width,steps,snr,beam,hits,dm_low,dm_high\n";

static void append_number(GString *line, const char *format, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(text, sizeof text, format, value);
  g_string_append(line, text);
}

static void append_dm(GString *line, const AstroSearchRow *row, double dm)
{
  if (row->has_dm)
    append_number(line, "%.10g", dm);
}

/* Names with commas or quotes are quoted, as spreadsheets expect. */
static void append_name(GString *line, const char *name)
{
  if (!name)
    return;
  if (!strpbrk(name, ",\"\n")) {
    g_string_append(line, name);
    return;
  }
  g_string_append_c(line, '"');
  for (const char *c = name; *c; c++)
    g_string_append_printf(line, *c == '"' ? "\"\"" : "%c", *c);
  g_string_append_c(line, '"');
}

char *astro_search_row_to_line(const AstroSearchRow *row)
{
  GString *line = g_string_new(row->utc);
  g_string_append_c(line, ',');
  append_number(line, "%.9f", row->seconds);
  g_string_append_printf(line, ",%" G_GUINT64_FORMAT ",", row->index);
  append_dm(line, row, row->dm);
  g_string_append_c(line, ',');
  append_number(line, "%.9g", row->width);
  g_string_append_printf(line, ",%" G_GUINT64_FORMAT ",", row->steps);
  append_number(line, "%.3f", row->snr);
  g_string_append_c(line, ',');
  append_name(line, row->name);
  g_string_append_printf(line, ",%u,", row->hits);
  append_dm(line, row, row->dm_low);
  g_string_append_c(line, ',');
  append_dm(line, row, row->dm_high);
  g_string_append_c(line, '\n');
  return g_string_free(line, FALSE);
}
