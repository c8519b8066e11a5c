/* Which functions the library libgstastro-1.0 exports: those of headers that say so in place of
 * G_BEGIN_DECLS, since it is compiled with all others hidden. Of the headers that are installed
 * they are the API (core/api/gst-astro-1.0.symbols), of the others what the plugin, gst-astro, the
 * CUDA module and the tests of the same release call. */
#pragma once

#include <glib.h>

#ifdef __GI_SCANNER__
#define ASTRO_BEGIN_DECLS G_BEGIN_DECLS
#define ASTRO_END_DECLS G_END_DECLS
#else
#define ASTRO_BEGIN_DECLS                                                                          \
  G_BEGIN_DECLS                                                                                    \
  _Pragma("GCC visibility push(default)")
#define ASTRO_END_DECLS _Pragma("GCC visibility pop") G_END_DECLS
#endif
