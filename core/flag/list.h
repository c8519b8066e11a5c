/* A file that says what to flag. A line has items key=value, separated by blanks, and flags what
 * all of them say together:
 *
 *   channels=0-3,60-          indices from 0, and ranges, as astroselect takes them
 *   stations=CS302,4          indices or names; of visibilities, every baseline with such a station
 *   beams=2                   of a stream of beams
 *   times=FROM/TO             UTC, as 2026-11-20T12:00:00.5, or seconds from the observation's
 *                             start: every step that overlaps it; one side may be left out
 *
 * '#' starts a comment. */
#pragma once

#include "core/flag/flag.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

/* A line as it was read: texts, NULL where it has no such item. */
typedef struct {
  guint line;
  char *channels, *stations, *beams, *from, *to;
} AstroFlagRule;

typedef struct {
  char *name; /* of the file, for errors */
  GArray *rules;
} AstroFlagList;

AstroFlagList *astro_flag_list_read(const char *path, GError **error);
void astro_flag_list_free(AstroFlagList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroFlagList, astro_flag_list_free)

/* Seconds from the observation's start, which is NULL if there is none. */
gboolean astro_flag_list_time(const AstroFlagList *list, const AstroFlagRule *rule,
                              const char *text, const AstroObservation *observation,
                              double *seconds, GError **error);

/* A rule whose names are known. */
typedef struct {
  guint8 *channels, *units; /* 1 for each that the rule names; NULL: all */
  double from, to;          /* seconds from the observation's start */
  gboolean has_times;
} AstroFlagKnownRule;

void astro_flag_known_rule_clear(AstroFlagKnownRule *rule);

/* Marks the units that a list of stations names: stations themselves, or the baselines of them. */
guint8 *astro_flag_mark_units(const AstroStream *stream, const GArray *stations);

/* Flags, [unit][channel], of a step from `begin` to `end`, in seconds. */
void astro_flag_by_rules(const AstroStream *stream, const AstroFlagKnownRule *rules, guint n,
                         double begin, double end, guint8 *flags);

G_END_DECLS
