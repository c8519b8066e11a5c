/* Which senders a user expects, in the order in which the stream has them: numbers, ranges of
 * numbers, and codes of two letters as VLBI's stations have. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_IDENTITIES_MOST 65536

typedef struct _AstroIdentities AstroIdentities;

/* property: for errors. text: "0-3,7,0x20,Ef". NULL or empty: the numbers 0 to n - 1, but a single
 * one is whichever comes first. */
AstroIdentities *astro_identities_new(const char *property, const char *text, guint n,
                                      GError **error);
void astro_identities_free(AstroIdentities *identities);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroIdentities, astro_identities_free)

guint astro_identities_n(const AstroIdentities *identities);
/* FALSE: it is none of them. */
gboolean astro_identities_find(AstroIdentities *identities, guint64 id, guint *index);
/* The one at an index. G_MAXUINT64: the one that has yet to come. */
guint64 astro_identities_at(const AstroIdentities *identities, guint index);
/* As a user would write it. */
char *astro_identity_name(guint64 id);

G_END_DECLS
