/* astroselect's lists: which part of a stream, its caps and its observation they keep. */
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

/* The text of each list, as a user wrote it; NULL: keep all. */
typedef struct {
  char *text[ASTRO_SELECT_N_LISTS];
} AstroSelectTexts;

void astro_select_texts_clear(AstroSelectTexts *texts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroSelectTexts, astro_select_texts_clear)

/* The indices in each list, and those of the baselines between listed stations; NULL: all. */
typedef struct {
  GArray *list[ASTRO_SELECT_N_LISTS], *baselines;
} AstroSelectLists;

void astro_select_lists_clear(AstroSelectLists *lists);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroSelectLists, astro_select_lists_clear)

/* Whether the elements of the axis pol have names in the caps: power, grids and images. */
gboolean astro_select_has_products(const AstroStream *stream);

/* Whether any list has names, which have to be looked up in the observation or caps. */
gboolean astro_select_texts_have_names(const AstroSelectTexts *texts);

/* Reads the lists for a stream with these caps. Without an observation (NULL) names of stations and
 * beams are an error, and so are those of polarisations that are not products. */
gboolean astro_select_lists_read(AstroSelectLists *lists, const AstroSelectTexts *texts,
                                 const GstCaps *caps, const AstroStream *stream,
                                 const AstroObservation *observation, GError **error);
/* Placeholders until names are known: as many entries in each list, numbered from 0. */
void astro_select_lists_count(AstroSelectLists *lists, const AstroSelectTexts *texts,
                              const AstroStream *stream);

/* Sets the picks of a configuration, and returns whether there are any; a list that keeps all in
 * order makes none. The lists have to outlive the configuration. */
gboolean astro_select_lists_to_config(const AstroSelectLists *lists, AstroSelectConfig *config);

/* From caps on one side to those possible on the other. A list that does not fit changes nothing
 * here, so that the user sees its own error later. */
void astro_select_forward(const AstroSelectTexts *texts, GstStructure *s);
void astro_select_backward(const AstroSelectTexts *texts, GstStructure *s);

/* Reduces the observation to the stations and beams that are kept. */
gboolean astro_select_observe(const AstroSelectLists *lists, const AstroStream *stream,
                              AstroObservation *observation, GError **error);

G_END_DECLS
