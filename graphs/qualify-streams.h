/* Requirements on whole pipelines: losses, and runs that are cut short. */
#pragma once

#include "graphs/qualify-result.h"

G_BEGIN_DECLS

/* Loses 100 of a thousand blocks, packets, stations and dumps, and looks for each in the weights of
 * a file. */
void astro_qualify_losses(const char *folder, guint32 seed, GPtrArray *results);

/* Runs of this program that are interrupted, killed, or find the disk full. */
void astro_qualify_stops(const char *folder, GPtrArray *results);

/* Errors of images beside direct transforms, at each accuracy, and whether gridding and degridding
 * are adjoint. */
void astro_qualify_images(gboolean is_quick, guint32 seed, const char *folder, GPtrArray *results);

/* Other programs, where they are installed: what they count, and how long it takes. */
void astro_qualify_peers(const char *folder, GPtrArray *results);

/* Removes a folder with the files in it. */
void astro_qualify_remove_files(const char *folder);

G_END_DECLS
