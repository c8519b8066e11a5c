/* Changes a Measurement Set as other programs might have written it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The rest of each row stays. */
void test_alter_integer(const char *set, const char *table, const char *column, guint row,
                        gint value);
void test_alter_double(const char *set, const char *table, const char *column, guint row,
                       double value);
/* The number that casacore has for the product, in a set with one. */
void test_alter_product(const char *set, gint number);
void test_alter_feeds(const char *set, double x, double y); /* angles of receptors, radians */
void test_alter_flag(const char *set, guint row);           /* FLAG_ROW */
void test_alter_scale_weights(const char *set, float factor);
void test_alter_remove_column(const char *set, const char *column);
void test_alter_remove_row(const char *set, guint row);
void test_alter_remove_rows(const char *set);
/* A table that refers to the rows of the set from `first` on. */
void test_alter_select(const char *set, guint first, const char *selection);
/* A fixed order that looks random. */
void test_alter_shuffle(const char *set);
/* The same visibilities with the antennas exchanged, in every second row. */
void test_alter_exchange(const char *set);
/* The convention in which UVW is antenna 2 minus antenna 1, with values for that. */
void test_alter_conjugate(const char *set);
void test_alter_mirror_u(const char *set);
/* Moves the phase centre in table FIELD, as if all columns had been phased to another: UVW and
 * values stay. Or lets it move: radians of right ascension a second. */
void test_alter_phase_centre(const char *set, double radians);
void test_alter_phase_moves(const char *set, double radians);
/* Adds the rows of another set, with a field or a spectral window of their own. */
void test_alter_add_field(const char *set, const char *other);
void test_alter_add_band(const char *set, const char *other);
/* Adds a column of twice the values of DATA. */
void test_alter_add_corrected(const char *set);

G_END_DECLS
