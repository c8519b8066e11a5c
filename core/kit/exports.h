/* Which functions the library libgstastro-1.0 exports: those of headers that use these macros in
 * place of G_BEGIN_DECLS, since it is compiled with all others hidden. Functions of installed
 * headers are the API (core/api/gst-astro-1.0.symbols); those of other headers are for the plugin,
 * gst-astro, the CUDA module and the tests of the same release. */
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
