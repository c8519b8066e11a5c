/* How products are rounded, for one precision, which the including file names: REAL is a number,
 * REALS what holds as many as are converted at once, with the operations OPERATION(...) of
 * core/kit/vector.h. */

/* Rounds the products to whole numbers, ties to even, and holds them to [low, high]; NaN becomes 0.
 * A product on the upper limit of what fits, halfway to the next whole number, rounds out of range;
 * one on the lower limit does not. Returns a bit for each component that is clipped. */
static inline guint NAME(hold)(REALS product, REAL low, REAL high, ROUNDED *whole)
{
  const MASK fits = OPERATION(at_least)(product, OPERATION(all)(low - (REAL)0.5)) &
                    OPERATION(below)(product, OPERATION(all)(high + (REAL)0.5));
  const REALS held =
      OPERATION(least)(OPERATION(greatest)(product, OPERATION(all)(low)), OPERATION(all)(high));
  *whole = NAME(nearest)(OPERATION(ordered)(product), held);
  return NAME(outside)(fits);
}

/* Every NaN becomes the one that outputs have. */
static inline REALS NAME(quiet)(REALS product)
{
  return OPERATION(pick)(OPERATION(ordered)(product), product, OPERATION(all)((REAL)NAN));
}

#undef REAL
#undef REALS
#undef MASK
#undef ROUNDED
#undef NAME
#undef OPERATION
