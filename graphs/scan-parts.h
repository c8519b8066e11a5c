/* The text of a graph while it is scanned, for the files of graph.h that do so. */
#pragma once

#include "graphs/graph.h"

G_BEGIN_DECLS

typedef struct {
  AstroGraph *graph;
  const char *at;
  guint line;
  gboolean line_start;  /* nothing but blanks so far in this line */
  AstroParameter *when; /* within @if; NULL: not */
  guint when_line;
  gboolean otherwise; /* after its @else */
  GError **error;
} AstroScanner;

/* Returns FALSE. */
gboolean astro_scan_fail(AstroScanner *s, guint line, const char *format, ...) G_GNUC_PRINTF(3, 4);
AstroToken *astro_scan_add_token(AstroScanner *s, AstroTokenKind kind, gboolean joined);
/* Moves on by one character other than a line break. */
void astro_scan_step(AstroScanner *s);
void astro_scan_skip_comment(AstroScanner *s);
/* How long the parameter's name is that stands there; 0: none does. */
gsize astro_scan_name_length(const char *at);

/* Scans a line of conditions or rounds or a declaration, at its @. */
gboolean astro_scan_line(AstroScanner *s);

static inline gboolean astro_scan_is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

static inline gboolean astro_scan_is_reference(const char *at)
{
  return at[0] == '$' && at[1] == '{';
}

G_END_DECLS
