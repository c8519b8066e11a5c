/* Enumerations as GObject property types, with the names that users type. */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/* Defines GType function(void). Values are { VALUE, "description", "name" }, in the order of the
 * enumeration. */
#define ASTRO_ENUM_TYPE(function, name, ...)                                                       \
  GType function(void)                                                                             \
  {                                                                                                \
    static gsize type = 0;                                                                         \
    static const GEnumValue values[] = { __VA_ARGS__, { 0, NULL, NULL } };                         \
    if (g_once_init_enter(&type))                                                                  \
      g_once_init_leave(&type, g_enum_register_static(name, values));                              \
    return type;                                                                                   \
  }
#define ASTRO_STATIC_ENUM_TYPE(...) static ASTRO_ENUM_TYPE(__VA_ARGS__)

G_END_DECLS
