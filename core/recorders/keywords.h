/* Headers of text: a keyword and its value on each line, or on each card of 80 characters. */
#pragma once

#include "core/recorders/file.h"

G_BEGIN_DECLS

typedef struct {
  const char *file; /* for errors */
  GHashTable *values;
} AstroRecorderKeywords;

/* DADA: "KEYWORD value # comment". */
void astro_recorder_keywords_from_lines(AstroRecorderKeywords *keywords, const char *file,
                                        const guint8 *bytes, gsize n);
/* GUPPI: FITS cards up to END. Returns how many bytes they have with it; 0: there is no END, or a
 * card that is none. */
gsize astro_recorder_keywords_from_cards(AstroRecorderKeywords *keywords, const char *file,
                                         const guint8 *bytes, gsize n);
void astro_recorder_keywords_clear(AstroRecorderKeywords *keywords);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroRecorderKeywords, astro_recorder_keywords_clear)

/* NULL: it is not there, or is unset. */
const char *astro_recorder_keyword(const AstroRecorderKeywords *keywords, const char *name);
/* A number; 0 if it is not there. FALSE: it is something else, or not in the range. */
gboolean astro_recorder_keyword_number(const AstroRecorderKeywords *keywords, const char *name,
                                       double least, double most, double *value, GError **error);
gboolean astro_recorder_keyword_whole(const AstroRecorderKeywords *keywords, const char *name,
                                      guint64 most, guint64 *value, GError **error);
/* The same, but it has to be there. */
gboolean astro_recorder_keyword_needed(const AstroRecorderKeywords *keywords, const char *name,
                                       guint64 most, guint64 *value, GError **error);

G_END_DECLS
