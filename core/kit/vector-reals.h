/* The operations of vector.h on vectors of one kind of real, which the including file names: REALS
 * are the vectors, WHOLES vectors of integers of the same width, MASK the result of a comparison.
 */

/* Loads and stores are at any address. */
static inline REALS NAME(load)(gconstpointer from)
{
  REALS loaded;
  __builtin_memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

static inline void NAME(store)(gpointer to, REALS stored)
{
  __builtin_memcpy(to, &stored, sizeof stored);
}

/* The same number in every lane. */
static inline REALS NAME(all)(REAL number)
{
  return number - (REALS){ 0 };
}

/* a * b + c, rounded once where the level can. */
static inline REALS NAME(multiply_add)(REALS a, REALS b, REALS c)
{
#if defined ASTRO_LEVEL_AVX512 || defined ASTRO_LEVEL_AVX2
  return SUFFIXED(fmadd)(a, b, c);
#else
  return a * b + c;
#endif
}

/* c - a * b, as well. */
static inline REALS NAME(multiply_subtract)(REALS a, REALS b, REALS c)
{
#if defined ASTRO_LEVEL_AVX512 || defined ASTRO_LEVEL_AVX2
  return SUFFIXED(fnmadd)(a, b, c);
#else
  return c - a * b;
#endif
}

static inline REALS NAME(magnitude)(REALS a)
{
  return (REALS)((WHOLES)a & ~(WHOLES)NAME(all)((REAL)-0.0));
}

/* Comparisons with NaN do not hold. They are intrinsics where there are any: GCC takes apart the
 * masks of its own < and >=, and branches on them or blends. */
static inline MASK NAME(below)(REALS a, REALS b)
{
#if defined ASTRO_LEVEL_AVX512
  return SUFFIXED_MASK(cmp)(a, b, _CMP_LT_OQ);
#elif defined ASTRO_LEVEL_AVX2
  return (MASK)SUFFIXED(cmp)(a, b, _CMP_LT_OQ);
#elif defined __SSE2__
  return (MASK)SUFFIXED(cmplt)(a, b);
#else
  return a < b;
#endif
}

static inline MASK NAME(at_least)(REALS a, REALS b)
{
#if defined ASTRO_LEVEL_AVX512
  return SUFFIXED_MASK(cmp)(a, b, _CMP_GE_OQ);
#elif defined ASTRO_LEVEL_AVX2
  return (MASK)SUFFIXED(cmp)(a, b, _CMP_GE_OQ);
#elif defined __SSE2__
  return (MASK)SUFFIXED(cmpge)(a, b);
#else
  return a >= b;
#endif
}

/* Which lanes hold no NaN. */
static inline MASK NAME(ordered)(REALS a)
{
#ifdef ASTRO_LEVEL_AVX512
  return SUFFIXED_MASK(cmp)(a, a, _CMP_ORD_Q);
#else
  return a == a;
#endif
}

/* A bit for each lane. */
static inline guint NAME(lanes)(MASK mask)
{
#if defined ASTRO_LEVEL_AVX512
  return mask;
#elif defined __SSE2__
  return (guint)SUFFIXED(movemask)((REALS)mask);
#else
  guint lanes = 0;
  for (guint lane = 0; lane < sizeof mask / sizeof mask[0]; lane++)
    lanes |= (guint)(mask[lane] & 1) << lane;
  return lanes;
#endif
}

/* a in the lanes of the mask, b in the others. */
static inline REALS NAME(pick)(MASK mask, REALS a, REALS b)
{
#if defined ASTRO_LEVEL_AVX512
  return SUFFIXED(mask_mov)(b, mask, a);
#elif defined ASTRO_LEVEL_AVX2
  return SUFFIXED(blendv)(b, a, (REALS)mask);
#else
  return (REALS)(((WHOLES)a & mask) | ((WHOLES)b & ~mask));
#endif
}

/* The lesser and the greater of two numbers; where a is NaN, b. */
static inline REALS NAME(least)(REALS a, REALS b)
{
#ifdef __SSE2__
  return SUFFIXED(min)(a, b);
#else
  return NAME(pick)(a < b, a, b);
#endif
}

static inline REALS NAME(greatest)(REALS a, REALS b)
{
#ifdef __SSE2__
  return SUFFIXED(max)(a, b);
#else
  return NAME(pick)(a > b, a, b);
#endif
}

#undef REAL
#undef REALS
#undef WHOLES
#undef MASK
#undef NAME
#undef SUFFIXED
#undef SUFFIXED_MASK
