/* What astroselect's lists keep of a stream, its caps and its observation. */
#pragma once

#include "core/select/select.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_SELECT_STATIONS,
  ASTRO_SELECT_CHANNELS,
  ASTRO_SELECT_POLS,
  ASTRO_SELECT_BEAMS,
  ASTRO_SELECT_N_LISTS
} AstroSelectList;

/* A text of each list, as a user wrote it; NULL: all are kept. */
typedef struct {
  char *text[ASTRO_SELECT_N_LISTS];
} AstroSelectTexts;

void astro_select_texts_clear(AstroSelectTexts *texts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroSelectTexts, astro_select_texts_clear)

/* The indices that are meant, and those of baselines that follow from stations; NULL: all. */
typedef struct {
  GArray *list[ASTRO_SELECT_N_LISTS], *baselines;
} AstroSelectLists;

void astro_select_lists_clear(AstroSelectLists *lists);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroSelectLists, astro_select_lists_clear)

/* Whether there are names among them, which observations and caps tell. */
gboolean astro_select_texts_have_names(const AstroSelectTexts *texts);

/* Lists of a stream with those caps. observation: NULL where none came; names of its stations, and
 * of polarisations that are no products, are unknown then, an error. */
gboolean astro_select_lists_read(AstroSelectLists *lists, const AstroSelectTexts *texts,
                                 const GstCaps *caps, const AstroStream *stream,
                                 const AstroObservation *observation, GError **error);
/* As many of each, the first ones: what stands in for lists until names are known. */
void astro_select_lists_count(AstroSelectLists *lists, const AstroSelectTexts *texts,
                              const AstroStream *stream);

/* The picks of the configuration's stream; a list that keeps all in order makes none. The lists
 * have to outlive it. Whether there is any. */
gboolean astro_select_lists_to_config(const AstroSelectLists *lists, AstroSelectConfig *config);

/* Of caps on one side to what the other may have. Where a list does not fit nothing is changed, so
 * that its error is what a user gets to see. */
void astro_select_forward(const AstroSelectTexts *texts, GstStructure *s);
void astro_select_backward(const AstroSelectTexts *texts, GstStructure *s);

/* The observation of what is kept. */
gboolean astro_select_observe(const AstroSelectLists *lists, const AstroStream *stream,
                              AstroObservation *observation, GError **error);

G_END_DECLS
