/* The senders that a user expects, in the order of the stream: numbers, ranges of numbers, and
 * two-letter codes like those of VLBI stations. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_IDENTITIES_MOST 65536

typedef struct _AstroIdentities AstroIdentities;

/* property: named in errors. text: "0-3,7,0x20,Ef". If it is NULL or empty: the numbers 0 to n - 1,
 * or, for n = 1, whichever comes first. */
AstroIdentities *astro_identities_new(const char *property, const char *text, guint n,
                                      GError **error);
void astro_identities_free(AstroIdentities *identities);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroIdentities, astro_identities_free)

guint astro_identities_n(const AstroIdentities *identities);
/* FALSE: it is not one of them. */
gboolean astro_identities_find(AstroIdentities *identities, guint64 id, guint *index);
/* The identifier at an index. G_MAXUINT64: not known until a packet comes. */
guint64 astro_identities_at(const AstroIdentities *identities, guint index);
/* As a user would write it. */
char *astro_identity_name(guint64 id);

G_END_DECLS
